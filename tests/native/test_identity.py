"""What makes an element the same: its bytes, but for the marks by which its host asks for caching."""

import json
from typing import Any

import pytest

from condense_grpc.native.formats import NativeFormat
from condense_grpc.native.identity import key_of, style_of
from condense_grpc.native.json_read import RawElement
from condense_grpc.native.shapes import SHAPES

MARK = {"cache_control": {"type": "ephemeral"}}


def key(element: Any, form: NativeFormat = NativeFormat.ANTHROPIC, **style: Any) -> bytes:
    return key_of(SHAPES[form], RawElement(json.dumps(element, **style), element))


def marked(block: Any) -> Any:
    return block | MARK


TEXT = {"type": "text", "text": "a \u2028"}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": [TEXT]}


@pytest.mark.parametrize(
    ("plain", "with_marks"),
    [
        ([RESULT, TEXT], [RESULT, marked(TEXT)]),
        ([RESULT, TEXT], [marked(RESULT), TEXT]),
        ([RESULT, TEXT], [MARK | RESULT, TEXT]),
        ([RESULT], [RESULT | {"content": [marked(TEXT)]}]),
        ([TEXT], [marked(TEXT)]),
        ("a \u2028", [marked(TEXT)]),
        ("a \u2028", [TEXT]),
    ],
)
@pytest.mark.parametrize("style", [{}, {"separators": (",", ":")}, {"ensure_ascii": False}, {"indent": 1}])
def test_marks_are_no_content(plain: Any, with_marks: Any, style: Any) -> None:
    """On blocks, within results, wherever in their object; a text that becomes a list to carry one is the same text."""
    first, second = {"role": "user", "content": plain}, {"role": "user", "content": with_marks}
    assert key(first, **style) == key(second, **style)


def test_everything_else_is_content() -> None:
    """White space within an element, order, escapes, other members, the shape itself."""
    element = {"role": "user", "content": [RESULT, TEXT]}
    others = [
        key(element, separators=(",", ":")),
        key(element, ensure_ascii=False),
        key({"content": [RESULT, TEXT], "role": "user"}),
        key(element | {"id": 1}),
        key(element, NativeFormat.GEMINI),
    ]
    assert key(element) not in others and len(set(others)) == len(others)


def test_a_tool_may_have_such_an_argument() -> None:
    """What a model writes is no mark of the host."""
    call = {"type": "tool_use", "id": "c", "name": "x", "input": {"cache_control": 1}}
    other = call | {"input": {}}
    assert key({"role": "assistant", "content": [call]}) != key({"role": "assistant", "content": [other]})


def test_the_style_tells_texts_apart() -> None:
    """So that the newest bytes are kept."""
    assert style_of("{}") == style_of("{}") != style_of("{ }")
