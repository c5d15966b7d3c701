"""Refs and block numbers read from ids that others wrote."""

import pytest

from condense_grpc.domain.refs import next_block_number, ref_number


@pytest.mark.parametrize(
    ("short_id", "number"), [("t12", 12), ("t", None), ("t1x", None), ("t1\n", None), ("t٣", None)]
)
def test_only_our_own_form_has_a_number(short_id: str, number: int | None) -> None:
    assert ref_number(short_id) == number


def test_absurd_ids_do_not_stop_the_numbering() -> None:
    assert next_block_number(["b3", "b" + "9" * 5000, "b\u0663", "b4\n"]) == 4
