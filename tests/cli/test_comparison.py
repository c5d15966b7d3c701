"""The same is decided about a session in whatever shape it comes, and a difference would be seen."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from condense_grpc.cli.replay.command import ReplayFile, replay
from condense_grpc.cli.replay.comparison import compare
from condense_grpc.cli.replay.run import ReplayReport
from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import CondenseClient
from condense_grpc.native.formats import NativeFormat
from condense_grpc.testing.pi_conversion import carried, converted
from tests.cli.drawn_session import Drawn
from tests.cli.session_sample import sample_session, write_session

Json = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CondenseClient]:
    with (
        ServerProcess(tmp_path_factory.mktemp("comparison") / "shapes.db") as server,
        CondenseClient(server.address) as client,
    ):
        yield client


@pytest.mark.parametrize("seed", range(6))
def test_every_shape_decides_the_same(client: CondenseClient, seed: int) -> None:
    """Stubs, purges, summaries, blocks and what becomes of every result; everything comes back, all views are valid."""
    run = ReplayFile(client, Path(f"drawn-{seed}"), Console(quiet=True))
    found = compare("drawn", Drawn(seed).messages, run)
    assert found.differences == {}
    assert found.holds, {name: report.as_json() for name, report in found.reports.items()}


@pytest.mark.parametrize("form", NativeFormat)
@pytest.mark.parametrize("seed", range(30))
def test_what_is_carried_is_the_same_in_the_shape(form: NativeFormat, seed: int) -> None:
    """Nothing is left out that the shape would hold: otherwise the comparison would compare too little."""
    messages = Drawn(seed).messages
    flat = [element for group in converted(messages, form) for element in group]
    assert [element for group in converted(carried(messages, form), form) for element in group] == flat


def test_what_shapes_cannot_say() -> None:
    """Error flags where results have none, and who speaks when it is a notice."""
    user, asked, result, answer = (sample_session()[at] for at in (0, 1, 2, 6))
    flagged = {**result, "isError": True}
    for form, left in (
        (NativeFormat.PI, flagged),
        (NativeFormat.ANTHROPIC, flagged),
        (NativeFormat.GEMINI, flagged),
        (NativeFormat.OPENAI_CHAT, {name: flagged[name] for name in flagged if name != "isError"}),
        (NativeFormat.OPENAI_RESPONSES, {name: flagged[name] for name in flagged if name != "isError"}),
    ):
        assert carried([user, asked, flagged, answer], form) == [user, asked, left, answer]


class Decided:
    """Replays that decide by a rule of the test."""

    def __init__(self, differing: NativeFormat | None = None, *, holds: bool = True) -> None:
        self.differing, self.holds = differing, holds
        self.baselines = 0

    def __call__(self, messages: Sequence[Json], form: NativeFormat | None) -> ReplayReport:
        self.baselines += form is None
        last = "other" if form is self.differing and form is not None else "end"
        return ReplayReport("one", results=1, recovered_exact=int(self.holds), decisions=["a", "b", last])


def test_a_shape_that_decides_otherwise_is_named() -> None:
    """With its first view that differs."""
    found = compare("one", sample_session(), Decided(NativeFormat.GEMINI))
    assert found.differences == {"gemini": 2} and not found.holds
    told = found.as_json()["shapes"]
    assert told["gemini"] == {"equal": False, "views": 2, "holds": True, "first_difference": 2}
    assert told["anthropic"] == {"equal": True, "views": 2, "holds": True}


def test_equal_decisions_do_not_excuse_a_failed_check() -> None:
    """Every other check counts as well."""
    found = compare("one", sample_session(), Decided(holds=False))
    assert not found.differences and not found.holds


def test_shapes_that_carry_the_same_share_a_baseline() -> None:
    """Two: with and without error flags."""
    replays = Decided()
    compare("one", sample_session(), replays)
    assert replays.baselines == 2


def test_the_command_tells_every_shape(tmp_path: Path) -> None:
    """As a table, or as JSON; one shape alone cannot be compared."""
    path = str(write_session(tmp_path / "one.jsonl", sample_session()))
    table = CliRunner().invoke(replay, [path, "--compare"], catch_exceptions=False)
    assert table.exit_code == 0 and "every shape decides the same" in table.output
    told = CliRunner().invoke(replay, [path, "--compare", "--json"], catch_exceptions=False)
    [report] = [json.loads(line) for line in told.stdout.splitlines()]
    assert set(report["shapes"]) == {form.value for form in NativeFormat}
    assert all(shape == {"equal": True, "views": 9, "holds": True} for shape in report["shapes"].values())
    refused = CliRunner().invoke(replay, [path, "--compare", "--format", "gemini"])
    assert refused.exit_code == 2 and "--compare" in refused.output
