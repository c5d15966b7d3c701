"""Live sessions and the use cases on them, behind the ports for storage, summarizing and time."""
