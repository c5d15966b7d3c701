"""Models of providers: their names, how they are reached, and the client that speaks to them.

Names, keys and settings are standard library; the client of providers needs the extra `llm` and is imported when a
server is set up to use one (`client.py`, `connection.py`).
"""
