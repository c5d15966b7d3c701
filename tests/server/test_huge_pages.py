"""Which parts of the memory are asked to lie on huge pages."""

import subprocess
import sys
from pathlib import Path

import pytest

from condense_grpc.server import huge_pages
from condense_grpc.server.huge_pages import use_huge_pages, whole_pages

_PAGE = 0x200000

_MAPS = """\
55d0c0000000-55d0c0200000 r--p 00000000 08:01 131 /usr/bin/python3.11
55d0c1234000-55d0c1a34000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000400000 rw-p 00000000 00:00 0
7f0000500000-7f0000600000 rw-p 00000000 00:00 0
7f0001000000-7f0001400000 rw-p 00000000 08:01 132 /usr/lib/libfoo.so
7f0002000000-7f0002400000 ---p 00000000 00:00 0
7f0003000000-7f0003400000 rw-s 00000000 00:01 9 /dev/shm/x
7ffc00000000-7ffc00400000 rw-p 00000000 00:00 0                          [stack]
"""


def test_whole_pages_of_the_heap_and_nothing_else() -> None:
    assert whole_pages(_MAPS.splitlines(), _PAGE) == [
        (0x55D0C1400000, 0x55D0C1A00000),
        (0x7F0000000000, 0x7F0000400000),
    ]


def test_a_process_goes_on_with_what_it_has() -> None:
    code = """
from condense_grpc.server.huge_pages import use_huge_pages
kept = [str(number) * 10 for number in range(200_000)]
assert use_huge_pages() >= 0
assert kept == [str(number) * 10 for number in range(200_000)]
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("size", ["0", "-1", "much", ""])
def test_a_system_that_says_nothing_sensible_has_none(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: str
) -> None:
    (tmp_path / "enabled").write_text("always [madvise] never")
    (tmp_path / "hpage_pmd_size").write_text(size)
    monkeypatch.setattr(huge_pages, "_SETTINGS", tmp_path)
    assert use_huge_pages() == 0


def test_where_it_is_forbidden_nothing_is_asked_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "enabled").write_text("always madvise [never]")
    (tmp_path / "hpage_pmd_size").write_text(str(_PAGE))
    monkeypatch.setattr(huge_pages, "_SETTINGS", tmp_path)
    assert use_huge_pages() == 0
