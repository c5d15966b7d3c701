"""Frozen values: compared, hashed and replaced by their members."""

from dataclasses import field, fields, replace

import pytest

from condense_grpc.domain.frozen import frozen


@frozen
class Point:
    """Somewhere."""

    x: int
    y: int = 0
    names: tuple[str, ...] = field(default=())


def test_equal_members_make_equal_values() -> None:
    assert Point(1) == Point(1, 0)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert Point(1) != Point(2)


def test_a_replaced_member_leaves_the_value_as_it_was() -> None:
    before = Point(1, 2, ("a",))
    assert replace(before, y=3) == Point(1, 3, ("a",))
    assert before == Point(1, 2, ("a",))


def test_there_is_no_place_for_other_members() -> None:
    assert [one.name for one in fields(Point)] == ["x", "y", "names"]
    with pytest.raises(AttributeError):
        setattr(Point(1), "z", 1)  # noqa: B010
