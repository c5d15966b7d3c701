"""The one tool that the agents of these examples have, next to the recovery tool."""

import subprocess
from typing import Any

FUNCTION: dict[str, Any] = {
    "name": "bash",
    "description": "Runs a shell command and returns what it prints.",
    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


def run(command: str) -> str:
    """What a command prints, or a note that it prints nothing."""
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr or "(no output)"
