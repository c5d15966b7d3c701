"""The recovery query: everything can be read back, in pieces that say how to go on."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Call, Record, RecordContext, Ref, record_of
from condense_grpc.domain.entries import IndexEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.matching_lines import cut_pattern
from condense_grpc.domain.messages import ImagePart, TextPart
from condense_grpc.domain.recovery import QueryAnswer, RecordBody, answer, requested_records
from condense_grpc.domain.slices import (
    MAX_BYTES,
    MAX_LINES,
    CharSlice,
    Cut,
    LineSlice,
    PatternSlice,
    Slice,
    cut_chars,
    cut_lines,
    cut_whole,
)
from condense_grpc.domain.text import lines_of, utf8_bytes

REST = re.compile(r"ask for (lines|chars) (\d+)-(\d+)\]$")
TEXTS = st.text(st.sampled_from("aé語\n\n \ud800\u2028\r"), max_size=40)
LIMITS = st.none() | st.integers(1, 12)


def index_of(text: str, **changes: object) -> tuple[SessionIndex, Callable[[Record], RecordBody]]:
    """One filed result `a@1` with ref t1, as the service holds it: without its text."""
    whole = record_of(Call("a", "bash", '{"cmd":"ls"}', text, result_timestamp_ms=1), RecordContext(3, 1))
    lean = whole._replace(text=None, args_json=None, **changes)
    return SessionIndex.rebuild([IndexEntry((lean,), (Ref("t1", "a", 1),))]), lambda _: RecordBody(text, '{"cmd":"ls"}')


def ask(text: str, *slices: Slice, requests: tuple[str, ...] = ("t1",)) -> QueryAnswer:
    index, body_of = index_of(text)
    return answer(requests, slices, index, body_of)


def next_cut(text: str, cut: Cut, max_chars: int | None) -> Cut | None:
    """What a reader gets who does what the note says."""
    if not cut.truncated:
        return None
    rest = REST.search(cut.note)
    assert rest is not None
    first, last = int(rest[2]), int(rest[3])
    if rest[1] == "lines":
        return cut_lines(text, LineSlice(first, last), max_chars)
    return cut_chars(text, CharSlice(first, last), max_chars)


@given(TEXTS, LIMITS)
def test_following_the_notes_brings_back_the_whole_text(text: str, max_chars: int | None) -> None:
    """Whatever the limit, nothing is lost between the pieces, and no piece is empty for ever."""
    cut: Cut | None = cut_whole(text, max_chars)
    seen = ""
    for _ in range(len(text) + 2):
        if cut is None or cut.is_empty:
            break
        assert max_chars is None or len(cut.text) <= max_chars
        chars_follow = "for chars" in cut.note
        seen += cut.text if chars_follow or not cut.truncated else f"{cut.text}\n"
        cut = next_cut(text, cut, max_chars)
    else:
        pytest.fail("the notes lead in a circle")
    assert seen.rstrip("\n") == text.rstrip("\n")


@given(TEXTS, st.integers(-2, 9), st.none() | st.integers(-2, 9))
def test_slices_are_what_a_list_says(text: str, start: int, end: int | None) -> None:
    """Positions count from 1, both ends belong to the slice, and outside of the text there is nothing."""
    lines = lines_of(text)
    chosen = lines[max(1, start) - 1 : len(lines) if end is None else max(0, end)]
    cut = cut_lines(text, LineSlice(start, end))
    assert (cut.text, cut.is_empty) == ("\n".join(chosen), not chosen)
    piece = text[max(1, start) - 1 : len(text) if end is None else max(0, end)]
    cut = cut_chars(text, CharSlice(start, end))
    assert (cut.text, cut.is_empty) == (piece, not piece)


def grep(text: str, part: str, context: int) -> list[str]:
    """Lines around matches, the slow way."""
    lines = lines_of(text)
    hits = [number for number, line in enumerate(lines) if part in line]
    near = sorted({n for hit in hits for n in range(hit - context, hit + context + 1) if 0 <= n < len(lines)})
    shown: list[str] = []
    for place, number in enumerate(near):
        if context and place and near[place - 1] != number - 1:
            shown.append("--")
        shown.append(f"{number + 1}{':' if number in hits else '-'} {lines[number]}")
    return shown


@given(st.lists(st.text("ab", max_size=2), max_size=14), st.sampled_from(["a", "ab", "", "c", "\n"]), st.integers(0, 3))
def test_patterns_select_what_grep_selects(lines: list[str], part: str, context: int) -> None:
    """For a literal text and for an expression alike."""
    text = "\n".join(lines)
    expected = grep(text, part, context) if part != "\n" else []
    literal = cut_pattern(text, PatternSlice(part, context_lines=context))
    assert (literal.text, literal.is_empty) == ("\n".join(expected), not expected)
    expression = PatternSlice(re.escape(part), regex=True, context_lines=context)
    by_matcher = cut_pattern(text, expression, None, lambda source: lambda line: bool(re.search(source, line)))
    assert by_matcher.text == literal.text
    if expected:
        hits = sum(part in line for line in lines_of(text))
        around = f", {context} around each" if context else ""
        assert literal.what == f'lines with "{part}"{around}, {hits} of {len(lines_of(text))}'
        assert literal.shown_lines == len(expected)


@given(st.lists(st.sampled_from(["hit", "x"]), min_size=1, max_size=12), st.integers(0, 2), st.integers(4, 30))
def test_a_capped_pattern_tells_the_first_line_that_is_missing(lines: list[str], context: int, cap: int) -> None:
    """Counts are of matching lines; the rest starts where the shown part ends."""
    text = "\n".join(lines)
    whole = cut_pattern(text, PatternSlice("hit", context_lines=context))
    cut = cut_pattern(text, PatternSlice("hit", context_lines=context), cap)
    assert cut.is_empty or (whole.text.startswith(cut.text) and len(cut.text) <= cap)
    if cut.truncated and "first line cut" not in cut.note:
        missing = [line for line in whole.text.split("\n")[cut.shown_lines :] if line != "--"]
        rest = REST.search(cut.note)
        assert rest is not None and int(rest[2]) == int(re.split("[:-]", missing[0])[0])
        shown = sum(": hit" in line for line in cut.text.split("\n"))
        assert cut.note.startswith(f"[Output truncated: {shown}/{lines.count('hit')} matching lines shown; ")


def test_context_is_shown_as_grep_shows_it() -> None:
    """Each line once, `:` for matches and `-` for context, `--` between groups."""
    text = "\n".join(["a", "hit", "b", "c", "d", "hit", "hit", "e"])
    cut = cut_pattern(text, PatternSlice("hit", context_lines=1))
    assert cut.text == "1- a\n2: hit\n3- b\n--\n5- d\n6: hit\n7: hit\n8- e"
    assert cut.what == 'lines with "hit", 1 around each, 3 of 8'
    nothing = ask(text, Slice("t1", PatternSlice("HIT")))
    assert nothing.text.endswith("Turn: 3\n\n(no line contains the pattern; the output has 8 lines)")


def test_an_expression_needs_a_matcher() -> None:
    with pytest.raises(ValueError, match="matcher_of"):
        cut_pattern("x", PatternSlice("x", regex=True))


@pytest.mark.parametrize("char", ["x", "é", "語", "\ud800"])
def test_a_line_of_ten_megabytes_is_cut_and_can_be_read_on(char: str) -> None:
    """In every kind of slice; the limit is bytes, the cut a whole character."""
    text = char * 10_000_000 + "\nend"
    fits = MAX_BYTES // utf8_bytes(char)
    whole = cut_whole(text)
    assert (whole.text, whole.shown_lines) == (char * fits, 1)
    assert whole.note.endswith(
        f"after {fits} of {len(text)} characters; for the rest ask for chars {fits + 1}-{len(text)}]"
    )
    assert cut_lines(text, LineSlice(1, 1)).note.endswith(f"ask for chars {fits + 1}-10000000]")
    assert cut_chars(text, CharSlice(2, None)).note.endswith(f"ask for chars {fits + 2}-{len(text)}]")
    hit = cut_pattern(text, PatternSlice(char))
    assert hit.text.startswith(f"1: {char}") and hit.note.endswith(
        "of 10000003 characters; for the rest ask for lines 1-2]"
    )
    assert cut_pattern(text, PatternSlice("end")).text == "2: end"


def test_a_million_lines() -> None:
    """Counting, jumping and matching go through the text once, whatever is asked for."""
    count = 1_000_000
    text = "ab\n" * count
    assert cut_whole(text).shown_lines == MAX_LINES
    assert cut_lines(text, LineSlice(count - 1, None)).text == "ab\nab"
    assert cut_pattern(text, PatternSlice("b")).what == f'lines with "b", {count} of {count}'
    cut = cut_pattern(f"{text}needle\n{text}", PatternSlice("needle", context_lines=10**9))
    assert cut.what.endswith(f"1 of {2 * count + 1}") and cut.note.endswith(f"ask for lines 2001-{2 * count + 1}]")
    assert cut_pattern("\n" * count, PatternSlice("", context_lines=3)).shown_lines == MAX_LINES


def test_empty_missing_and_absent_are_three_answers() -> None:
    """An empty result, a file that did not come along, and a ref that names nothing."""
    assert ask("").text.endswith("Turn: 3\n\n")
    index, body_of = index_of("", spill_path="/f")
    assert answer(["t1"], [], index, body_of).text.endswith("\n\n(spilled output unavailable — sidecar file missing)")
    assert answer(["t1"], [], index, body_of, files={"/f": ""}).text.endswith("Turn: 3\n\n")
    index, body_of = index_of("", spill_path="/f", result_preview="head")
    assert answer(["t1"], [], index, body_of).text.endswith("\n\nhead")
    assert answer(["t1"], [], index, body_of, files={"/f": "all"}).text.endswith("\n\nall")
    assert "(not found in index" in ask("", requests=(" t1",)).text
    assert ask("", requests=()) == QueryAnswer()


def test_slices_belong_to_the_request_that_they_name() -> None:
    """Each repeats the heading, is numbered over the whole query, and may cap the whole text."""
    slices = (
        Slice("a", LineSlice(2, 2)),
        Slice("t1", CharSlice(1, 3)),
        Slice("t9", LineSlice()),
        Slice("a", None, max_chars=4),
        Slice("a", PatternSlice("o"), max_chars=6),
    )
    found = ask("one\ntwo\nthree", *slices, requests=("t1", "a"))
    assert [(block.label, block.slice_index) for block in found.blocks] == [("t1", 1), ("a", 0), ("a", 3), ("a", 4)]
    assert [block.cut.text for block in found.blocks if block.cut] == ["one", "two", "one", "1: one"]
    assert found.blocks[1].text.endswith("Turn: 3\nSlice: lines 2-2 of 3\n\ntwo")
    assert found.blocks[2].text.endswith(
        "Turn: 3\n\none\n[Output truncated: 1/3 lines shown; for the rest ask for lines 2-3]"
    )
    assert {(block.total_lines, block.total_chars) for block in found.blocks} == {(3, 13)}
    assert found.found == {"t1": "a@1", "a": "a@1"}


def test_parts_come_with_the_whole_only() -> None:
    """In order, and said to be attached."""
    index, _ = index_of("see")
    picture = ImagePart("image/png", b"x")

    def body_of(record: Record) -> RecordBody:
        return RecordBody("see", "not json {", (TextPart("see"), picture, picture))

    whole = answer(["t1"], [], index, body_of)
    assert whole.parts == {"t1": (picture, picture)}
    assert whole.text.endswith("see\n[Attached: 2 image(s)]") and 'Args: "not json {"\n' in whole.text
    assert answer(["t1"], [Slice("t1", LineSlice())], index, body_of).parts == {}


def test_arguments_that_nest_deeply_are_shown() -> None:
    """How deep Python can indent is no reason to withhold a result."""
    index, _ = index_of("out")
    deep = "[" * 5000 + "]" * 5000
    assert answer(["t1"], [], index, lambda _: RecordBody("out", deep)).text.endswith("out")


def test_each_record_is_fetched_once() -> None:
    """Also if several names of a query lead to it."""
    index, _ = index_of("out")
    assert [record.key for record in requested_records(index, ["t1", "a", "a@1", "t1", "t9"])] == ["a@1"]
