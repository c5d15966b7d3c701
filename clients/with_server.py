"""`python clients/with_server.py COMMAND…` runs a command with the address of a real server in `CONDENSE_TARGET`.

The server is `condense-grpc serve` over a file of its own, and ends with the command. The exit code is the command's.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from condense_grpc.cli.server_process import ServerProcess


def main() -> int:
    """Runs the command."""
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "sessions.db") as server:
        return subprocess.run(sys.argv[1:], env={**os.environ, "CONDENSE_TARGET": server.address}).returncode


if __name__ == "__main__":
    sys.exit(main())
