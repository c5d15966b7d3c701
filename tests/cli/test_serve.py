"""The command line starts a real server in a process of its own, says where it is, and stops when it is told to."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest
from click.testing import CliRunner

from condense_grpc.api.condense.v1 import (
    capabilities_pb2,
    capabilities_service_pb2_grpc,
    condense_service_pb2_grpc,
    session_pb2,
    session_service_pb2_grpc,
    view_pb2,
)
from condense_grpc.cli import main
from condense_grpc.cli.serve import serve
from condense_grpc.settings import SERVER_KNOBS
from tests.server.running import delta, user

WAIT = 30


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "condense_grpc.cli.main", *arguments]


def environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONDENSE_")}
    return {**kept, **variables}


@contextmanager
def served(*arguments: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """A process that serves on a free port: the process, its first line, its address."""
    process = subprocess.Popen(
        command("serve", "--listen", "127.0.0.1:0", *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(**variables),
    )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield process, line, line.partition("listening on ")[2].partition(" ")[0]
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def ended(process: subprocess.Popen[str], how: signal.Signals) -> tuple[int, str]:
    process.send_signal(how)
    _, log = process.communicate(timeout=WAIT)
    return process.returncode, log


def run(arguments: Sequence[str], **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=WAIT, check=False, env=environment(**variables)
    )


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_server_says_where_it_is_and_stops_when_told_to(how: signal.Signals) -> None:
    with served("--store", "memory:") as (process, line, address):
        with grpc.insecure_channel(address) as channel:
            stub = capabilities_service_pb2_grpc.CapabilitiesServiceStub(channel)
            answer = stub.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest(), wait_for_ready=True, timeout=WAIT)
        code, log = ended(process, how)
    assert line == f"condense-grpc {answer.version} listening on {address} (store memory, summarizer extractive)\n"
    assert answer.store_kind == capabilities_pb2.STORE_KIND_MEMORY
    assert (code, "stopping" in log, "Traceback" in log) == (0, True, False)


def test_what_was_appended_is_there_after_a_restart(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/condense.db"
    for expected in (1, 2):
        with served("--store", store) as (process, _, address):
            with grpc.insecure_channel(address) as channel:
                condense = condense_service_pb2_grpc.CondenseServiceStub(channel)
                request = view_pb2.PruneMessagesRequest(session_id="s", delta=delta(user("x"), base=expected - 1))
                condense.PruneMessages(request, wait_for_ready=True, timeout=WAIT)
                sessions = session_service_pb2_grpc.SessionServiceStub(channel)
                found = sessions.GetSession(session_pb2.GetSessionRequest(session_id="s"), timeout=WAIT)
            code, log = ended(process, signal.SIGTERM)
        assert found.session.transcript_length == expected
        assert (code, "Traceback" in log) == (0, False)


def test_settings_come_from_flags_environment_and_file(tmp_path: Path) -> None:
    file = tmp_path / "condense.toml"
    file.write_text('store = "memory:"\nmax_delta_messages = 7\n[session]\nmin_batch_chars = 9\n')
    arguments = ("--config", str(file), "--max-delta-bytes", "2000")
    with (
        served(*arguments, CONDENSE_MAX_STREAM_BYTES="3000") as (_, _, address),
        grpc.insecure_channel(address) as channel,
    ):
        stub = capabilities_service_pb2_grpc.CapabilitiesServiceStub(channel)
        answer = stub.GetCapabilities(capabilities_pb2.GetCapabilitiesRequest(), wait_for_ready=True, timeout=WAIT)
    limits = answer.limits
    assert (limits.max_delta_messages, limits.max_delta_bytes, limits.max_stream_bytes) == (7, 2000, 3000)
    assert answer.default_config.min_batch_chars == 9


def test_a_database_has_one_server(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/condense.db"
    with served("--store", store):
        second = run(["serve", "--listen", "127.0.0.1:0", "--store", store])
    assert second.returncode == 1
    assert "owned by another running process" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_port_has_one_server() -> None:
    with served("--store", "memory:") as (_, _, address):
        second = run(["serve", "--listen", address, "--store", "memory:"])
    assert second.returncode == 1
    assert f"cannot listen on {address}" in second.stderr
    assert "Traceback" not in second.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--worker-threads", "0"], "--worker-threads: must be a number, at least 1, at most 64, not 0"),
        (["--worker-threads", "many"], "--worker-threads: must be a number"),
        (["--store", "mysql://x"], "store: must be sqlite:///"),
        (["--summarizer", "acme"], "summarizer: there is no summarizer 'acme'"),
        (["--store", "sqlite:///no/such/folder/x.db"], "check that its folder exists"),
    ],
)
def test_a_mistake_is_explained(arguments: list[str], words: str) -> None:
    done = run(["serve", "--listen", "127.0.0.1:0", *arguments])
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_every_setting_of_the_server_has_a_flag_that_is_explained() -> None:
    text = " ".join(CliRunner().invoke(serve, ["--help"], terminal_width=200).output.split())
    for knob in SERVER_KNOBS:
        assert knob.flag in text
        assert knob.env in text
        assert knob.sentence in text


def test_the_version_is_told() -> None:
    done = run(["--version"])
    assert (done.returncode, done.stdout.split()[0]) == (0, "condense-grpc")


def test_the_help_lists_the_commands_without_importing_them() -> None:
    code = (
        "import sys; from condense_grpc.cli.main import build\n"
        "try: build()(['--help'], prog_name='condense-grpc')\n"
        "except SystemExit: pass\n"
        "print('imported', 'grpc' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT, check=True)
    assert all(name in done.stdout for name in main.COMMANDS)
    assert "imported False" in done.stdout


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_exists(name: str) -> None:
    result = CliRunner().invoke(main.build(), [name, "--help"])
    assert result.exit_code == 0, result.output


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(main.COMMANDS, "serve", ("no_such_package.serve:serve", "x"))
    with pytest.raises(SystemExit, match=r"no_such_package is missing; install it with: pip install 'condense-grpc"):
        main.build()(["serve"])


def test_a_missing_command_line_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "click", None)
    with pytest.raises(SystemExit, match="the command line is not installed"):
        main.main()
