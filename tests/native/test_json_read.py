"""Native JSON at the door: every element keeps its text, and what is no JSON is named by its place."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.native.json_deep import MAX_DEPTH, read_deep
from condense_grpc.native.json_edit import edited_member, with_member, without_members, written
from condense_grpc.native.json_read import JsonFault, read_elements, read_value
from condense_grpc.native.json_scan import depth_of, end_of_value, items_at, member_at, members_at

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=20,
)
styles = st.sampled_from([{}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (" ,", ":\t")}])


@given(st.lists(st.dictionaries(st.text(max_size=4), values, max_size=4), max_size=5), styles)
def test_elements_keep_their_text(objects: list[object], style: dict[str, object]) -> None:
    """Whatever stands between them is no part of them."""
    texts = [json.dumps(one, **style) for one in objects]  # type: ignore[arg-type]
    elements = read_elements(f" [\n{' , '.join(texts)} ]\t".encode("utf-8", "surrogatepass"))
    assert [element.text for element in elements] == texts
    assert [element.value for element in elements] == objects


@given(values, styles)
def test_the_deep_reader_reads_what_the_fast_one_reads(value: object, style: dict[str, object]) -> None:
    """Below the depth at which it stops they agree."""
    text = json.dumps(value, **style)  # type: ignore[arg-type]
    assert read_deep(text, 0) == (value, len(text))
    assert end_of_value(text, 0) == len(text)


@pytest.mark.parametrize(
    ("text", "element", "words"),
    [
        ("", None, "is no JSON array (at byte 0)"),
        ('{"role": "user"}', None, "is no JSON array"),
        ("[{}] []", None, "goes on behind its array (at byte 4)"),
        ("[1]", 0, "is no object (at byte 1)"),
        ("[{}, null]", 1, "is no object (at byte 5)"),
        ("[{},]", 1, "is no JSON: Expecting value (at byte 4)"),
        ("[{}", 0, "is not followed by a comma or the end of the array (at byte 3)"),
        ('[{"é": NaN}]', 0, "is no JSON: Expecting value (at byte 8)"),
        ('[{"a": "\n"}]', 0, "Invalid control character"),
        ('[{"a": 01}]', 0, "is no JSON"),
        ('[{}, {"a": tru}]', 1, "is no JSON: Expecting value (at byte 11)"),
        ("\ufeff[]", None, "is no JSON array"),
        ("[" + '{"a":' * 5000, 0, "is no JSON"),
    ],
)
def test_what_is_no_json_is_named(text: str, element: int | None, words: str) -> None:
    """By the element, the byte, and what is wrong."""
    with pytest.raises(JsonFault) as caught:
        read_elements(text.encode())
    assert words in str(caught.value)
    assert caught.value.element_index == element


def test_bytes_that_are_no_utf8_are_named() -> None:
    """By the first of them."""
    with pytest.raises(JsonFault, match=r"is not UTF-8 \(at byte 8\)"):
        read_elements(b'[{"a": "\xff"}]')


def test_later_chunks_count_on() -> None:
    """Elements are named by their place in the whole stream."""
    with pytest.raises(JsonFault, match="element 7"):
        read_elements(b"[{}, 2]", first_index=6)


def test_no_depth_is_too_deep() -> None:
    """What is nested more deeply than rules look stays a text, and the element is whole."""
    deep = "[" * 50_000 + "1" + "]" * 50_000
    text = f'{{"role":"user","x":{deep}}}'
    [element] = read_elements(f"[{text}]".encode())
    assert element.text == text and element.value["role"] == "user"
    inner: object = element.value["x"]
    for _ in range(MAX_DEPTH - 1):
        assert isinstance(inner, list)
        [inner] = inner
    assert isinstance(inner, str) and inner.startswith("[[[")
    assert depth_of(text) == 50_001
    with pytest.raises(JsonFault, match="element 0"):
        read_elements(f"[{text[:-3]}]]".encode())


def test_numbers_that_nobody_can_hold_stay_texts() -> None:
    """Integers of thousands of digits, and floats without end."""
    value = read_value('{"a": ' + "9" * 5000 + ', "b": 1e999, "c": 1.0, "d": -0}')
    assert value == {"a": "9" * 5000, "b": "1e999", "c": 1.0, "d": 0}


def test_members_and_items_by_their_places() -> None:
    """Names may be escaped, may repeat, and the last one counts."""
    text = '{ "a" : [1, {"b":"]"} ], "\\u0061":2 }'
    assert [(one.name, text[one.start : one.end]) for one in members_at(text)] == [
        ("a", '[1, {"b":"]"} ]'),
        ("a", "2"),
    ]
    last = member_at(text, "a")
    assert last is not None and text[last.start : last.end] == "2"
    first = members_at(text)[0]
    assert [text[start:end] for start, end in items_at(text, first.start)] == ["1", '{"b":"]"}']
    for odd in ("", "7", "[", '{"a"'):
        with pytest.raises(ValueError):
            members_at(odd)
            end_of_value(odd, 0)
            items_at(odd)


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ('{"a":1, "b":2, "c":3}', ["b"], '{"a":1, "c":3}'),
        ('{"a":1, "b":2, "c":3}', ["a"], '{"b":2, "c":3}'),
        ('{"a":1, "b":2, "c":3}', ["c"], '{"a":1, "b":2}'),
        ('{ "a":1 }', ["a"], "{ }"),
        ('{"a":1,"a":2}', ["a", "x"], "{}"),
        ('{"a":1}', ["x"], '{"a":1}'),
        ("{}", ["x"], "{}"),
    ],
)
def test_members_go_with_their_commas(text: str, names: list[str], left: str) -> None:
    """And nothing else changes."""
    changed = without_members(text, names)
    assert json.loads(changed) == json.loads(left)
    assert changed.replace(" ", "") == left.replace(" ", "")


def test_members_change_in_their_places() -> None:
    """New ones go to the end; what stands around stays."""
    assert with_member('{"a" : 1.0 , "b":2}', "a", "[]") == '{"a" : [] , "b":2}'
    assert with_member('{"a" : 1.0 }', "b", "2") == '{"a" : 1.0,"b":2 }'
    assert with_member("{ }", "b", "2") == '{"b":2 }'
    assert edited_member('{"f": {"n": 1}}', ("f", "x"), "2") == '{"f": {"n": 1,"x":2}}'
    assert written("a\ud800é") == '"a\\ud800é"'
