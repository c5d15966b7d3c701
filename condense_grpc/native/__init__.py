"""Histories in the JSON of providers: read element by element, written back byte for byte except where they change."""
