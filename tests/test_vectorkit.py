"""The kit judges answers as the vectors ask for it."""

import pytest

from tests.vectorkit.compare import as_multiset, difference
from tests.vectorkit.load import Vector, expand_expected
from tests.vectorkit.registry import Runner
from tests.vectorkit.run import judge


@pytest.mark.parametrize(
    ("expected", "actual"),
    [(5, 5.0), ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ([1, [2]], (1, (2,))), (None, None), ("x", "x")],
)
def test_equal_values(expected: object, actual: object) -> None:
    assert difference(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "place"),
    [
        (1, True, "$"),
        (False, 0, "$"),
        (None, False, "$"),
        ([1, 2], [2, 1], "$[0]"),
        ([1], [1, 2], "$"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, "$.a[0].b"),
        ({"a": 1}, {"a": 1, "b": None}, "$.b"),
        ({"a": None}, {}, "$.a"),
        ("ab", "ac", "$"),
    ],
)
def test_different_values_are_placed(expected: object, actual: object, place: str) -> None:
    found = difference(expected, actual)
    assert found is not None
    assert found.startswith(f"{place}:")


def test_multisets_ignore_order() -> None:
    assert as_multiset([{"b": 1}, {"a": 1}]) == as_multiset([{"a": 1}, {"b": 1}])


def test_message_lists_are_written_out() -> None:
    raw = {
        "op": "prune",
        "input": {"messages": ["m0", "m1"]},
        "expected": {"messages": [{"$in": 1}, {"role": "user"}]},
    }
    assert expand_expected(raw) == {"messages": ["m1", {"role": "user"}]}
    assert expand_expected({**raw, "expected": {"messages": "$input"}}) == {"messages": ["m0", "m1"]}


def test_scenarios_refer_to_the_branch_at_each_step() -> None:
    steps = [
        {"do": "append", "messages": ["m0", "m1"]},
        {"do": "fork", "to": "side"},
        {"do": "rewind", "to_length": 1},
        {"do": "render"},
        {"do": "render", "session": "side"},
    ]
    expected = {"steps": [{}, {}, {}, {"messages": "$input"}, {"messages": [{"$in": 1}]}]}
    written = expand_expected({"op": "scenario", "input": {"steps": steps}, "expected": expected})
    assert written["steps"][3:] == [{"messages": ["m0"]}, {"messages": ["m1"]}]


def test_a_runner_that_raises_gave_a_wrong_answer() -> None:
    wrong = judge(Runner(lambda given: given["absent"], difference), Vector("x", "op", {}, 1))
    assert wrong is not None
    assert "KeyError" in wrong
