"""The reduction of long results: what is shown, what is left out, and that both add up."""

import re

from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.domain.payload import reduce_text, serialize_batch

MARK = re.compile(r"…\[(\d+) characters omitted\]…")


def log(lines: int, **special: str) -> str:
    named = {int(number[1:]): text for number, text in special.items()}
    return "".join(f"{named.get(n, 'all quiet here, nothing to tell')}\n" for n in range(lines))


def test_a_text_within_the_budget_is_untouched() -> None:
    text = log(100)
    assert reduce_text(text, len(text)) == text


def test_head_and_tail_are_whole_lines() -> None:
    text = "".join(f"head line {n}\n" for n in range(50)) + "".join(f"tail line {n}\n" for n in range(50))
    reduced = reduce_text(text, 500)
    assert reduced.startswith("head line 0\nhead line 1\n")
    assert reduced.endswith("tail line 48\ntail line 49\n")
    assert all(line in text.split("\n") or MARK.fullmatch(line) for line in reduced.split("\n"))


def test_telling_lines_of_the_middle_are_kept_in_order() -> None:
    text = log(400, _150="see src/app/main.py for it", _200="Error: it broke", _250="took 17 turns")
    reduced = reduce_text(text, 1000)
    places = [reduced.index(line) for line in ("see src/app/main.py", "Error: it broke", "took 17 turns")]
    assert places == sorted(places)
    assert len(MARK.findall(reduced)) == 4


def test_errors_come_before_the_numbers_that_stand_before_them() -> None:
    text = "".join(f"step {n} of many, and so on\n" for n in range(500)) + "fatal: the end\n" + log(500)
    assert "fatal: the end" in reduce_text(text, 1000)


def test_neighbours_share_one_gap() -> None:
    text = log(400, _200="Traceback (most recent call last):", _201="error in line", _202="error again")
    assert "last):\nerror in line\nerror again\n" in reduce_text(text, 1000)


def test_lines_too_long_for_their_share_are_cut() -> None:
    reduced = reduce_text("a" * 5000 + "b" * 5000, 1000)
    head, mark, tail = reduced.split("\n")
    assert (head, tail) == ("a" * 400, "b" * 400)
    assert mark == "…[9200 characters omitted]…"


def test_blank_lines_at_the_edges_are_kept() -> None:
    reduced = reduce_text("\n" + "x" * 500 + "\n\n", 10)
    assert reduced == "\n…[501 characters omitted]…\n\n"


WORDS = st.sampled_from(["ok", "error: no", "a/b.c", "17", "語😀", "\ud800", ""])
LINES = st.lists(st.tuples(WORDS, st.integers(0, 40)).map(lambda pair: pair[0] * pair[1]), max_size=60)


@given(LINES.map("\n".join), st.integers(1, 900))
def test_kept_and_omitted_characters_add_up(text: str, budget: int) -> None:
    reduced = reduce_text(text, budget)
    if len(text) <= budget:
        assert reduced == text
        return
    assert len(reduced) <= len(text)
    if budget >= 200:
        assert len(reduced) <= budget
    if reduced == text:
        return
    assert len(text) in positions_reached(text, re.split(r"\n?(…\[\d+ characters omitted\]…)\n?", reduced))


def positions_reached(text: str, pieces: list[str]) -> set[int]:
    """Where the pieces and gaps of a reduced text can end in the whole one.

    The line feed before a mark is the text's own after a whole line, and not after a line that was cut.
    """
    positions = {0}
    for piece in pieces:
        mark = MARK.fullmatch(piece)
        if mark is None:
            positions = {at + len(piece) for at in positions if text.startswith(piece, at)}
        else:
            starts = positions | {at + 1 for at in positions if text.startswith("\n", at)}
            positions = {at + int(mark[1]) for at in starts}
    return positions


def test_arguments_that_are_no_json_are_shown_as_a_text() -> None:
    batch = Batch(0, 0, "", (Call("x", "bash", '{"cut', "out", is_error=True),))
    assert serialize_batch(batch, 100) == '[[1:bash]] Tool: bash("{\\"cut")\nResult (ERROR): out'
