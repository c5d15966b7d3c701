"""The members of a JSON object by their places."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.domain.json_spans import members_of, with_member

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(), VALUES, max_size=4)
SEPARATORS = st.sampled_from([(",", ":"), (" , ", " : "), (",\t", ":\n")])


@given(OBJECTS, SEPARATORS, st.booleans())
def test_every_member_is_where_it_says(value: dict[str, Any], separators: tuple[str, str], escaped: bool) -> None:
    """The text at a member's place is its JSON, however the object is written."""
    text = json.dumps(value, separators=separators, ensure_ascii=escaped)
    members = members_of(f"  {text}\r")
    assert {name: member.value for name, member in members.items()} == value
    for member in members.values():
        assert json.loads(f"  {text}"[member.start : member.end]) == member.value


@given(OBJECTS.filter(bool), VALUES)
def test_a_member_is_replaced_and_nothing_else(value: dict[str, Any], other: Any) -> None:
    """Writing another value changes one member; the text around it stays."""
    text = json.dumps(value)
    name = next(iter(value))
    assert json.loads(with_member(text, members_of(text), name, other)) == value | {name: other}


def test_of_equal_names_the_last_counts() -> None:
    """As in JavaScript."""
    assert members_of('{"a":1,"a":2}')["a"].value == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "{",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        '{"a":1} x',
        "{1:2}",
        '{"a":NaN}',
        '{"a":"\x01"}',
        '{"a":1 "b":2}',
    ],
)
def test_what_is_no_object_is_refused(text: str) -> None:
    """Never a wrong answer, never another error than ValueError."""
    with pytest.raises(ValueError):
        members_of(text)
