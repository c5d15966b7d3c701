"""Shared by all tests: how thoroughly properties are searched, and the table of golden vectors.

CONDENSE_HYPOTHESIS names a profile: `default`, or `thorough` for many more examples. Where CI is set the default is
`repeatable`: the same examples every time, so that a change is judged by itself.
"""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.vectorkit.run import RESULTS, table

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]

settings.register_profile("default", deadline=None, suppress_health_check=_SLOW)
settings.register_profile("thorough", deadline=None, suppress_health_check=_SLOW, max_examples=3_000)
settings.register_profile("repeatable", deadline=None, suppress_health_check=_SLOW, derandomize=True, database=None)
settings.load_profile(os.environ.get("CONDENSE_HYPOTHESIS", "repeatable" if os.environ.get("CI") else "default"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if RESULTS:
        terminalreporter.section("golden vectors")
        for line in table(RESULTS):
            terminalreporter.write_line(line)
