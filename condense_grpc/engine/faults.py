"""How a defect that costs nobody else anything gets into the log: by its class and its place.

What an error says may hold content, which logs never do.
"""

import logging


def log_fault(logger: logging.Logger, what: str, error: Exception) -> None:
    """Tell of an error that is not ours, without what it says."""
    unnamed = RuntimeError(type(error).__name__).with_traceback(error.__traceback__)
    logger.error(what, exc_info=unnamed)
