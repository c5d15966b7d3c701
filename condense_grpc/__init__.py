"""condense_grpc keeps the context of LLM agents small and loses nothing."""
