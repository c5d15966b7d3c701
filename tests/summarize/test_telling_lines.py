"""Which lines are quoted, by kind of content."""

import time

import pytest

from condense_grpc.summarize.content_kind import Kind
from condense_grpc.summarize.telling_lines import Line, choose, telling_lines


def texts(kind: Kind, text: str, *, is_error: bool = False) -> list[str]:
    return [line.text for line in telling_lines(kind, text, is_error=is_error)]


def test_a_log_tells_its_errors_then_its_end() -> None:
    log = "start\nwarning: old style\n0 errors so far\nmake: *** [all] Error 2\n"
    log += "ld: error: undefined symbol: foo\nmore\nDone: 1 failed"
    lines = texts(Kind.LOG, log)
    assert lines[:3] == ["ld: error: undefined symbol: foo", "make: *** [all] Error 2", "Done: 1 failed"]
    assert lines.index("warning: old style") > lines.index("0 errors so far") > 2


def test_messages_that_differ_in_numbers_only_are_told_once() -> None:
    log = "\n".join(f"worker {n}: error: timed out" for n in range(500))
    assert texts(Kind.LOG, log) == ["worker 0: error: timed out"]


def test_a_stack_trace_tells_the_exception_and_the_innermost_frame() -> None:
    trace = 'Traceback (most recent call last):\n  File "a.py", line 1, in a\n    b()\n'
    trace += '  File "b.py", line 9, in b\n    raise X\nValueError: bad'
    assert texts(Kind.TRACE, trace)[:2] == ["ValueError: bad", 'File "b.py", line 9, in b']


def test_a_file_tells_outer_definitions_first() -> None:
    code = "import os\n\nclass A:\n    def method(self):\n        pass\n\nasync def outer(x):\n    y = 1\n"
    assert texts(Kind.FILE, code) == ["class A:", "async def outer(x):", "def method(self):"]


def test_line_numbers_of_a_file_view_are_kept() -> None:
    assert texts(Kind.FILE, "  479→}\n  480→func (s *Store) Load(id string) error {") == [
        "480: func (s *Store) Load(id string) error {"
    ]


def test_a_search_tells_definitions_first() -> None:
    found = "a.go:3: Load()\na.go-4- context\nb.go:9:func Load() error {"
    assert texts(Kind.SEARCH, found) == ["b.go:9:func Load() error {", "a.go:3: Load()"]


def test_a_page_tells_its_headings() -> None:
    assert texts(Kind.PAGE, "# Title\n\ntext\n## Part\nmore")[:2] == ["# Title", "## Part"]


def test_json_that_is_none_tells_its_ends() -> None:
    assert texts(Kind.JSON, '{"broken": \nmiddle\nend}') == ["end}", '{"broken":', "middle"]


def test_a_rewritten_line_shows_what_stood_last() -> None:
    assert texts(Kind.LISTING, "progress 10%\rprogress 100% done") == ["progress 100% done"]


def test_a_hit_in_a_very_long_line_is_shown_with_what_surrounds_it() -> None:
    (first, *_) = texts(Kind.LOG, "x" * 5000 + " error: deep inside " + "y" * 5000)
    assert "error: deep inside" in first
    assert len(first) <= 180


def test_chosen_lines_stand_in_the_order_of_the_text() -> None:
    lines = [Line(50, "second"), Line(10, "first"), Line(0, "does not fit in here")]
    assert choose(lines, 16) == "first ⏎ second"
    assert choose([Line(0, "z" * 100)], 50) == "z" * 49 + "…"
    assert choose([Line(0, "z" * 100)], 30) == ""


@pytest.mark.parametrize(
    "piece", [" ", "\n", "#\n", "   12→\tx\n", "error\n", "@@ -\n", "\r", "public static \n", "0", "a.b", "("]
)
@pytest.mark.parametrize("kind", list(Kind))
def test_the_work_stays_linear_on_texts_made_to_be_slow(kind: Kind, piece: str) -> None:
    """A quadratic step would take minutes here; the bound is far above what is needed."""
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    telling_lines(kind, text, is_error=True)
    assert time.process_time() - start < 10
