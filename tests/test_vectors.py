"""Every golden vector, one test per operation."""

import pytest

from tests.vectorkit.load import vectors_by_operation
from tests.vectorkit.run import RESULTS, run_operation


def test_there_are_vectors() -> None:
    assert vectors_by_operation()


@pytest.mark.parametrize("op", vectors_by_operation())
def test_operation(op: str) -> None:
    outcome = run_operation(op)
    RESULTS.append(outcome)
    if not outcome.is_clean:
        pytest.fail(outcome.report(), pytrace=False)
