"""The tool's definition never changes, and its arguments are understood however a model writes them."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.client import recovery_tool as make_tool
from condense_grpc.client.recovery import NAME, ArgumentsUnclear, read_arguments
from condense_grpc.domain.recovery import TOOL_NAME

DIGESTS: dict[Any, str] = {
    "openai": "652dc2d7cdc0c49d",
    "openai_responses": "2f2ee87a276de85e",
    "anthropic": "1b92ad0eb53a6909",
    "gemini": "bff03bd1c4cb1a58",
}


@pytest.mark.parametrize("provider", DIGESTS)
def test_the_definition_is_constant_to_the_byte(provider: Any) -> None:
    """A definition that changes breaks the prompt cache of every running session: change it knowingly."""
    data = json.dumps(make_tool(provider)).encode()
    assert hashlib.sha256(data).hexdigest()[:16] == DIGESTS[provider]
    make_tool(provider).clear()
    assert json.dumps(make_tool(provider)).encode() == data


def test_the_definition_has_the_form_of_its_provider() -> None:
    """Where each one wants name and schema."""
    assert make_tool("openai")["function"]["name"] == NAME == TOOL_NAME
    assert make_tool("openai_responses")["name"] == NAME
    assert make_tool("anthropic")["input_schema"]["required"] == ["toolCallIds"]
    assert make_tool("gemini")["parameters"]["properties"]["toolCallIds"]["type"] == "array"
    with pytest.raises(ValueError, match="no provider"):
        make_tool("other")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "refs"),
    [
        ({"toolCallIds": ["t1", "t2"]}, ["t1", "t2"]),
        ('{"toolCallIds": ["t1"]}', ["t1"]),
        ({"toolCallIds": "t1"}, ["t1"]),
        ({"toolCallIds": '["t1", "t2"]'}, ["t1", "t2"]),
        ({"toolCallIds": ["`t1` "]}, ["`t1` "]),
        ({"toolCallIds": None, "slices": [{"ref": "t3", "lines": [1, 2]}]}, ["t3"]),
        ({"slices": {"ref": "t3"}}, ["t3"]),
    ],
)
def test_refs_are_taken_as_they_are(arguments: Any, refs: list[str]) -> None:
    """Without cleaning; a query of slices alone is about their refs."""
    assert read_arguments(arguments).refs == refs


def test_slices() -> None:
    """Lines, characters and patterns, ranges in the ways that models write them."""
    wanted = [
        {"ref": "t1", "lines": [10, 40]},
        {"ref": "t1", "lines": "10-40"},
        {"ref": "t1", "lines": [10]},
        {"ref": "t1", "lines": 10},
        {"ref": "t1", "chars": [5, 9]},
        {"ref": "t1", "pattern": "err", "regex": True, "contextLines": 2},
        {"ref": "t1"},
    ]
    slices = read_arguments({"toolCallIds": ["t1"], "slices": wanted}).slices
    lines = [
        (it.lines.start_line, it.lines.line_count if it.lines.HasField("line_count") else None) for it in slices[:4]
    ]
    assert lines == [(10, 31), (10, 31), (10, None), (10, 1)]
    assert (slices[4].chars.start_char, slices[4].chars.end_char) == (5, 9)
    assert (slices[5].pattern.pattern, slices[5].pattern.regex, slices[5].pattern.context_lines) == ("err", True, 2)
    assert slices[6].WhichOneof("selection") is None


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        "",
        "{",
        "[]",
        "null",
        "[" * 100_000,
        {},
        {"toolCallIds": []},
        {"toolCallIds": [1]},
        {"toolCallIds": ["\ud800"]},
        {"toolCallIds": "[1"},
        {"toolCallIds": ["t1"], "slices": ["t1"]},
        {"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": [1, 2, 3]}]},
        {"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": "a-b"}]},
        {"toolCallIds": ["t1"], "slices": [{"ref": "t1", "pattern": 5}]},
        {"toolCallIds": ["t1"], "slices": [{"ref": "t1", "pattern": "x", "contextLines": 10**30}]},
        {"toolCallIds": ["t1"], "slices": [{"ref": "t1", "lines": [10**30]}]},
    ],
)
def test_unclear_arguments_are_answered_with_the_way_out(arguments: Any) -> None:
    """The sentence shows how it should look."""
    with pytest.raises(ArgumentsUnclear, match="t12"):
        read_arguments(arguments)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["toolCallIds", "slices", "ref", "lines", "chars", "pattern", "contextLines"])


@given(st.one_of(JSON_VALUES, st.dictionaries(KEYS, JSON_VALUES | st.lists(st.dictionaries(KEYS, JSON_VALUES)))))
def test_no_arguments_raise_anything_else(arguments: Any) -> None:
    """A model may write whatever it likes."""
    try:
        assert read_arguments(arguments).refs
    except ArgumentsUnclear as unclear:
        assert str(unclear)
