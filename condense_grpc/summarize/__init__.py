"""Summarizers: the built-in extractive one, behind the engine's Summarizer port."""
