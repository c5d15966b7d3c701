"""The replay command: what it measures and checks, and that a server may die between any two calls."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from condense_grpc.cli.replay.command import replay
from condense_grpc.cli.replay.run import Replay
from condense_grpc.cli.replay.session_file import read_session
from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import PI, CondenseClient
from tests.cli.session_sample import sample_session, write_session

FIELDS = {
    "file",
    "requests",
    "raw_tokens",
    "condensed_tokens",
    "raw_peak_tokens",
    "condensed_peak_tokens",
    "cache_breaks",
    "flushes",
    "refs",
    "results",
    "recovered_exact",
    "invalid_views",
    "violations",
}


def test_one_json_object_per_session_with_every_check_held(tmp_path: Path) -> None:
    first = write_session(tmp_path / "one.jsonl", sample_session())
    second = write_session(tmp_path / "two.jsonl", sample_session()[:7])
    result = CliRunner().invoke(replay, [str(first), str(second), "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert [report["file"] for report in reports] == ["one.jsonl", "two.jsonl"]
    assert all(set(report) == FIELDS for report in reports)
    whole = reports[0]
    assert (whole["requests"], whole["results"], whole["recovered_exact"]) == (9, 6, 6)
    assert whole["condensed_tokens"] < whole["raw_tokens"]
    assert whole["condensed_peak_tokens"] < whole["raw_peak_tokens"]
    assert (whole["invalid_views"], whole["violations"]) == (0, 0)


def test_the_tables_name_every_session_and_the_total(tmp_path: Path) -> None:
    path = write_session(tmp_path / "one.jsonl", sample_session())
    result = CliRunner().invoke(replay, [str(path), "--requests"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "one.jsonl: tokens per request" in result.output
    assert "every original came back, every view is valid" in result.output


@pytest.mark.parametrize(
    ("content", "words"),
    [("", "has no messages"), ('{"role": "user"}\nnot json\n', "line 2"), ("[1]\n", "not a JSON object")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content, encoding="utf-8")
    result = CliRunner().invoke(replay, [str(path)])
    assert result.exit_code != 0
    assert "bad.jsonl" in result.output
    assert words in result.output


def test_entries_of_a_pi_session_file_and_bare_messages_are_the_same(tmp_path: Path) -> None:
    messages = sample_session()
    wrapped = [{"type": "session", "id": "s"}, *({"type": "message", "message": message} for message in messages)]
    assert read_session(write_session(tmp_path / "wrapped.jsonl", wrapped)) == messages


class Interference:
    """Kills the server before every call, or before the calls of some numbers, and starts it again."""

    def __init__(self, server: ServerProcess, every: int = 1) -> None:
        self.calls = 0
        self._server = server
        self._every = every

    def __call__(self) -> None:
        self.calls += 1
        if self.calls % self._every == 0:
            self._server.kill()
            self._server.start()


def replay_with_crashes(path: Path, folder: Path, every: int) -> Replay:
    with ServerProcess(folder / "crash.db") as server, CondenseClient(server.address) as client:
        session = client.session("crashing", adapter=PI)
        run = Replay(path.name, read_session(path), session, Interference(server, every))
        for _ in run.steps():
            pass
        return run


def test_a_server_killed_before_every_call_loses_nothing(tmp_path: Path) -> None:
    path = write_session(tmp_path / "one.jsonl", sample_session())
    crashed = replay_with_crashes(path, tmp_path, every=1).report
    with ServerProcess(tmp_path / "calm.db") as server, CondenseClient(server.address) as client:
        calm = Replay(path.name, read_session(path), client.session("calm", adapter=PI), lambda: None)
        for _ in calm.steps():
            pass
    assert crashed.recovered_exact == crashed.results == 6
    assert crashed.invalid_views == 0
    assert crashed.as_json() == calm.report.as_json()


@pytest.mark.skipif("CONDENSE_SESSIONS" not in os.environ, reason="no folder of recorded sessions was named")
def test_recorded_sessions_survive_crashes(tmp_path: Path) -> None:
    folder = Path(os.environ["CONDENSE_SESSIONS"])
    for path in sorted(folder.glob("tau*.jsonl")):
        report = replay_with_crashes(path, tmp_path, every=7).report
        assert report.holds, report.as_json()
