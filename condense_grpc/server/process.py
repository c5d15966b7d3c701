"""What a server process wants of its interpreter and its allocator.

By default glibc maps every large block anew and gives it back at once, and the page faults of that dominate the cost
of a large request. With higher thresholds freed memory stays with the process.

The event loop asks for the interpreter's lock several times per call. A thread that converts a large message gives it
away only when the switch interval is over, by default 5 ms, which every one of these times a small call would wait.

What a session keeps has no cycles, but there is much of it, and a collector that looks at it often costs every turn.
"""

import ctypes
import gc
import sys

_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_MMAP_BYTES = 32 * 1024 * 1024  # The highest that glibc takes.
_TRIM_BYTES = 256 * 1024 * 1024


_SWITCH_SECONDS = 0.0005
_YOUNG_OBJECTS = 20_000


def tune_process() -> None:
    """Set everything; once, before serving."""
    tune_allocator()
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(_YOUNG_OBJECTS, 20, 20)


def tune_allocator() -> bool:
    """Set the thresholds; False where the allocator is another one."""
    if not sys.platform.startswith("linux"):
        return False
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return False
    maps_later: int = library.mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
    keeps_more: int = library.mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
    return maps_later == keeps_more == 1
