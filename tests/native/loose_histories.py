"""Histories that nobody put in order: calls, results and what is said stand in any order, with few ids for many calls.

What can happen to a history that a host cuts, joins, repeats or interrupts is in here; most of it is broken.
"""

from collections.abc import Sequence

from hypothesis import strategies as st

from condense_grpc.native.formats import NativeFormat
from tests.native.histories import WRITERS, Answer, Call, Json, User, Work

IDS = ["a", "b", "c", ""]
_short = st.sampled_from(["ok", "hm", "so"])
_output = st.sampled_from(["ok", "日本語" * 5, "line 1\nline 2\n" * 20, "x" * 1300])


@st.composite
def _calls(draw: st.DrawFn, number: int, ids: Sequence[str]) -> list[Call]:
    found = []
    for one in draw(st.lists(st.sampled_from(ids), min_size=1, max_size=3)):
        call_id = f"{one}{number}" if one and draw(st.booleans()) else one
        name, is_error = draw(st.sampled_from(["bash", "bash", "read", "keep", "context_tree_query"])), draw(st.booleans())
        found.append(Call(call_id, name, {"path": "x" * 20}, draw(_output), is_error, draw(st.booleans())))
    return found


def _halves(form: NativeFormat, work: Work) -> tuple[list[Json], list[Json]]:
    """The elements that ask, and those that answer."""
    elements = WRITERS[form](work)
    if form is NativeFormat.OPENAI_RESPONSES:
        at = next(at for at, item in enumerate(elements) if item["type"] == "function_call_output")
    else:
        at = 1
    return elements[:at], elements[at:]


def _notice(form: NativeFormat) -> Json:
    return {"role": "system", "parts": [{"text": "note"}]} if form is NativeFormat.GEMINI else {"role": "system", "content": "note"}


@st.composite
def loose_elements(draw: st.DrawFn, form: NativeFormat) -> list[Json]:
    """Up to some twenty pieces."""
    ids = IDS if draw(st.integers(0, 3)) == 0 else IDS[:3]
    kinds = st.sampled_from(["user", "answer", "turn", "turn", "turn", "asks", "answers", "notice"])
    elements: list[Json] = []
    for number, kind in enumerate(draw(st.lists(kinds, min_size=1, max_size=16))):
        if kind == "user":
            elements += WRITERS[form](User(draw(_short), draw(st.booleans())))
        elif kind == "answer":
            elements += WRITERS[form](Answer(draw(_short), draw(st.sampled_from(["", "so"]))))
        elif kind == "notice":
            elements.append(_notice(form))
        else:
            maybe = st.sampled_from(["", "", "hm"])
            work = Work(draw(_calls(number, ids)), draw(maybe), draw(maybe), draw(maybe))
            asks, answers = _halves(form, work)
            elements += [] if kind == "answers" else asks
            elements += [] if kind == "asks" else answers
    return elements
