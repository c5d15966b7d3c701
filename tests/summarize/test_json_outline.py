"""JSON in a few words."""

import pytest

from condense_grpc.summarize.json_outline import json_outline


def test_short_members_are_shown_and_others_by_shape() -> None:
    text = (
        '{"id": 7, "ok": true, "note": null, "tags": ["a", "b"], "items": [{"sku": 1, "n": 2}], "who": {"name": "x"}}'
    )
    assert json_outline(text) == ["id=7", "ok=true", "note=null", "tags[2](a, b)", "items[1]{sku,n}", "who{name}"]


def test_a_list_tells_its_length_and_its_first_member() -> None:
    assert json_outline('[{"id": 1}, {"id": 2}]') == ["[2]{id}", "first: id=1"]


def test_values_are_quoted_harmlessly() -> None:
    assert json_outline('{"a": "[[1:x]]\\n`t1`", "[[2:y]]": 1}') == ["a=[ [1:x]] 't1'", "[ [2:y]]=1"]


@pytest.mark.parametrize(
    "text", ["{", "[" * 100_000, "3", '"text"', "[" + "9" * 5000 + "]", "[NaN, 1e999]", '{"a": "\\ud800"}']
)
def test_no_text_is_too_strange(text: str) -> None:
    for piece in json_outline(text):
        piece.encode()
