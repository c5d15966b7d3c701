"""Huge pages under what a server has in memory when it begins.

A small call runs through code and data that lie all over the heap. Between two calls the processor forgets where the
pages of it are, and to look each of them up again costs a virtual machine more than the work itself. Once everything
is loaded, the kernel is asked to put the heap on pages of two megabytes; it does so where it can and is allowed to.
"""

import ctypes
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

_SETTINGS = Path("/sys/kernel/mm/transparent_hugepage")
_MAPS = Path("/proc/self/maps")
_ADVISE = 14  # MADV_HUGEPAGE
_COLLAPSE = 25  # MADV_COLLAPSE, from Linux 6.1 on: now instead of some day
_HEAP = re.compile(r"([0-9a-f]+)-([0-9a-f]+) rw-p [0-9a-f]+ 00:00 0 *(\[heap\])?")


def use_huge_pages() -> int:
    """Ask for huge pages under the whole heap; for how many bytes they were asked for, 0 where there are none."""
    if not sys.platform.startswith("linux"):
        return 0
    with suppress(OSError, ValueError):
        if "[never]" in (_SETTINGS / "enabled").read_text():
            return 0
        size = int((_SETTINGS / "hpage_pmd_size").read_text())
        if size <= 0:
            return 0
        return sum(_advised(first, end) for first, end in whole_pages(_MAPS.read_text().splitlines(), size))
    return 0


def whole_pages(maps: Iterable[str], size: int) -> list[tuple[int, int]]:
    """The parts of the heap that are whole pages of a size, by address, given the lines of a process's `maps`."""
    found = []
    for line in maps:
        heap = _HEAP.fullmatch(line.rstrip())
        if heap is not None:
            first, end = -(-int(heap[1], 16) // size) * size, int(heap[2], 16) // size * size
            if first < end:
                found.append((first, end))
    return found


def _advised(first: int, end: int) -> int:
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if advise(first, end - first, _ADVISE):
        return 0
    advise(first, end - first, _COLLAPSE)
    return end - first
