"""The allocator's thresholds, tuned for large messages.

By default glibc maps every large block anew and gives it back at once, and the page faults of that dominate the cost
of a large request. With higher thresholds freed memory stays with the process, until it is given back in a pause.
"""

import ctypes
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_MMAP_BYTES = 32 * 1024 * 1024  # The highest that glibc takes.
_TRIM_BYTES = 256 * 1024 * 1024


def tune_allocator() -> bool:
    """Set the thresholds; False where the allocator is another one."""
    library = _glibc()
    if library is None:
        return False
    maps_later: int = library.mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
    keeps_more: int = library.mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
    return maps_later == keeps_more == 1


def give_back() -> bool:
    """Return freed memory to the operating system; False where the allocator is another one. Takes milliseconds."""
    library = _glibc()
    return library is not None and library.malloc_trim(0) in (0, 1)


def _glibc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return library if hasattr(library, "gnu_get_libc_version") else None
