"""Runs the golden vectors: reads them, hands each input to the runner of its operation, compares the answers.

`python -m tests.vectorkit [operation ...] [--show ID]` is the quick way; `tests/test_vectors.py` is the test.
"""
