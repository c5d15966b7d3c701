"""The two programs that the driver talks to: the server, and the runner of a language."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PATIENCE_SECONDS = 120.0
CONTROL = "/condense.conformance.v1.Control/Do"
_ADDRESS = re.compile(r"listening on (127\.0\.0\.1:[0-9]+)")


class Server:
    """A real server in a process of its own, over a file. A restart uses the same file and the same port."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.address = "127.0.0.1:0"
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Starts it and waits until it listens."""
        database = Path(self._folder.name) / "conformance.db"
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "server_main.py"), self.address, str(database)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        found = _ADDRESS.search(self._process.stdout.readline())
        if found is None:
            raise RuntimeError("the server did not start: see its words above")
        self.address = found[1]
        self._channel = grpc.insecure_channel(self.address)
        self._do: Any = self._channel.unary_unary(CONTROL)

    def order(self, **order: Any) -> Any:
        """Tells the pieces between its parts what to do."""
        return json.loads(self._do(json.dumps(order).encode(), timeout=10))

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._channel.close()
            self._process.send_signal(how)
            self._process.communicate()
            self._process = None

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end(signal.SIGTERM)
        self._folder.cleanup()


class RunnerDied(Exception):
    """The runner has ended, or has said something that is no report."""


class Runner:
    """The runner of a language: a process that reads one order per line and answers each by one line."""

    def __init__(self, command: Sequence[str], target: str) -> None:
        self._process = subprocess.Popen(
            [*command, target], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def order(self, **order: Any) -> dict[str, Any]:
        """Has it carry out an order. The report has `result` or `error`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        too_slow = threading.Timer(PATIENCE_SECONDS, self._process.kill)
        too_slow.start()
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            raise RunnerDied("the runner has ended") from None
        finally:
            is_late = not too_slow.is_alive()
            too_slow.cancel()
        if is_late:
            raise RunnerDied(f"the runner has not answered for {PATIENCE_SECONDS} seconds")
        try:
            report = json.loads(line)
        except ValueError:
            raise RunnerDied(f"the runner said {line[:200]!r}" if line else "the runner has ended") from None
        if not isinstance(report, dict) or report.keys() not in ({"result"}, {"error"}):
            raise RunnerDied(f"the runner said {line[:200]!r}, which is neither a result nor an error")
        return report

    def close(self) -> None:
        """Closes its input, upon which it has to end by itself."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            code = self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise RunnerDied(
                "the runner does not end when its input does: something of the client stays open"
            ) from None
        if code:
            raise RunnerDied(f"the runner has ended with code {code}")
