"""Labels and placeholders under input that nobody should write."""

from condense_grpc.domain.batches import Ref
from condense_grpc.domain.labels import substitute_block_placeholders, substitute_labels

REFS = (Ref("t7", "a"), Ref("t8", "b"))
NAMES = ("bash", "read")


def test_thousands_of_digits_are_no_number_of_a_call() -> None:
    assert substitute_labels(f"x [[{'9' * 5000}:bash]] y", REFS, NAMES) == f"x [[{'9' * 5000}:bash]] y"
    assert substitute_labels(f"- [[{'0' * 5000}2:read]] y", REFS, NAMES) == "- `t8` y"


def test_number_zero_names_nothing() -> None:
    assert substitute_labels("[[0:read]] y", REFS, NAMES) == "y"


def test_openings_without_closing_do_not_cost_their_square() -> None:
    """Quadratic time would not come back here; the label behind them still goes."""
    text = "x " + "[[1:" * 200_000
    assert substitute_labels(f"{text}] [[1:bash]] y", REFS, NAMES) == f"{text}] y"


def test_a_call_without_ref_has_no_label() -> None:
    assert substitute_labels("x [[2:read]] y", REFS[:1], NAMES) == "x [[2:read]] y"


def test_placeholders_are_looked_up_only_where_they_stand() -> None:
    asked: list[str] = []

    def lookup(block_id: str) -> str | None:
        asked.append(block_id)
        return {"b2": "{b3}"}.get(block_id)

    assert substitute_block_placeholders("{b1} {b2} {b9} {b٣}", lookup, "b1") == "{b1} {b3} {b9} {b٣}"
    assert asked == ["b2", "b9"]
