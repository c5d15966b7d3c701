"""Shared by all tests: the table of golden vectors at the end of a run in which they took part."""

import pytest

from tests.vectorkit.run import RESULTS, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if RESULTS:
        terminalreporter.section("golden vectors")
        for line in table(RESULTS):
            terminalreporter.write_line(line)
