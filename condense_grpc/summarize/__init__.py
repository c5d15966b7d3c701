"""Summarizers behind the port of the engine: the built-in extractive one, and models of any provider."""
