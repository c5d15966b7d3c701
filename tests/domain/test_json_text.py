"""Reading JSON that nobody vouches for."""

import pytest

from condense_grpc.domain.json_text import compact, parse_object, parse_or_text, pretty


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('["]",', "]"), ('[{"[": 1}, ', "]")])
def test_what_is_nested_beyond_the_limit_is_a_text(opening: str, closing: str) -> None:
    """What could be read here could be too deep to be written elsewhere, nearer to the end of the stack."""
    read = [depth for depth in range(390, 410) if _is_read(f"{opening * depth}1{closing * depth}")]
    assert read in (list(range(390, 401)), list(range(390, 400)))
    deepest = f"{opening * read[-1]}1{closing * read[-1]}"
    assert parse_or_text(compact(parse_or_text(deepest))) == parse_or_text(deepest)
    assert pretty(parse_or_text(deepest))


def _is_read(text: str) -> bool:
    return not isinstance(parse_or_text(text), str)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "]" * 1_000, '"' + "[" * 1_000, "1" * 10_000, ""])
def test_what_is_no_json_is_a_text(text: str) -> None:
    """However long."""
    assert parse_or_text(text) == text
    assert parse_object(text) == {}


def test_many_brackets_are_not_deep() -> None:
    """Only nesting counts, and brackets in strings do not."""
    assert len(parse_or_text("[" + "[1],[[2]]," * 1_000 + '"[[[\\"["]')) == 2_001
