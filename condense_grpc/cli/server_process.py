"""A server in a process of its own, for commands that need one for a while."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

_ADDRESS = re.compile(r"listening on (127\.0\.0\.1:[0-9]+)")


class ServerProcess:
    """A server over an SQLite file on a free loopback port. A restart uses the same file and the same port.

    Use it as a context manager; leaving it stops the server.
    """

    def __init__(self, database: Path, *arguments: str) -> None:
        self._database = database
        self._arguments = arguments
        self._process: subprocess.Popen[str] | None = None
        self._listen = "127.0.0.1:0"
        self.greeting = ""

    @property
    def address(self) -> str:
        """Where it listens."""
        return self._listen

    def start(self) -> None:
        """Start it and wait until it says that it listens. Raises RuntimeError with its last words otherwise."""
        command = [sys.executable, "-m", "condense_grpc.cli.main", "serve", "--listen", self._listen]
        command += ["--store", f"sqlite:///{self._database}", *self._arguments]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL
        )
        assert self._process.stdout is not None
        heard: list[str] = []
        for line in self._process.stdout:
            heard.append(line)
            found = _ADDRESS.search(line)
            if found:
                self._listen, self.greeting = found[1], line.strip()
                return
        raise RuntimeError(f"the server did not start: {''.join(heard).strip() or 'it said nothing'}")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Have it finish what it does."""
        self._end(signal.SIGTERM)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.communicate()

    def __enter__(self) -> "ServerProcess":
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
