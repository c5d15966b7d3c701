"""What the benchmarks say about what they measured: marks, tables, ratios and the chart. Nothing here takes time."""

import json
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from bench.chart import Point, as_svg
from bench.chart import as_text as bars
from bench.histories import Shape, history
from bench.table import Row, as_json, as_text
from bench.timing import percentile, ratio


@pytest.mark.parametrize(
    ("value", "at_least", "mark"),
    [
        (2.0, False, "ok"),
        (2.6, False, "near"),
        (2.7, False, "MISSED"),
        (2.0, True, "ok"),
        (1.6, True, "near"),
        (1.4, True, "MISSED"),
    ],
)
def test_a_mark_says_how_far_a_row_is_from_its_target(value: float, at_least: bool, mark: str) -> None:
    """Up to a third beyond it is near; a floor counts the other way round."""
    row = Row("turn", "a turn", value, 2.0, at_least=at_least)
    assert row.mark == mark
    assert row.is_failed == (mark == "MISSED")


def test_both_forms_of_the_table_hold_every_row() -> None:
    """With its mark."""
    rows = [Row("turn", "a turn", 1.25, 1.5, facts={"turn_ms": 0.5}), Row("memory", "a session", 400, 300, unit="KB")]
    assert [(one["name"], one["mark"]) for one in json.loads(as_json(rows))] == [("turn", "ok"), ("memory", "near")]
    text = as_text(rows)
    assert "1.25 x" in text and "<= 300 KB" in text and "turn_ms 0.5" in text


def test_a_ratio_is_not_moved_by_one_noisy_stretch() -> None:
    """Both measures are slow there, or only one is: the median over blocks stays what it is elsewhere."""
    yardstick = [1.0] * 80
    measured = [2.0] * 70 + [90.0] * 10
    assert ratio(measured, yardstick) == 2
    assert percentile([*range(100)], 0.99) == 99


def test_a_history_is_the_same_for_the_same_seed_and_calls_are_answered() -> None:
    """Each call by the message behind it; no two results say the same, so that none is a duplicate."""
    messages = list(history(300, Shape(256)))
    assert messages == list(history(300, Shape(256)))
    texts = [one.tool_result.parts[0].text.text for one in messages if one.HasField("tool_result")]
    assert len(set(texts)) == len(texts) > 100
    for asked, answered in pairwise(messages):
        ids = [part.tool_call.id for part in asked.assistant.parts if part.HasField("tool_call")]
        assert ids == ([answered.tool_result.tool_call_id] if answered.HasField("tool_result") else [])


def test_the_chart_is_a_picture_and_bars() -> None:
    """With every length in both."""
    points = [Point(100, 0.9, 0.6), Point(10_000, 0.92, 0.6), Point(100_000, 0.95, 0.6)]
    ElementTree.fromstring(as_svg(points))
    for drawn in (as_svg(points), bars(points)):
        assert all(f"{point.messages:,}" in drawn for point in points)
