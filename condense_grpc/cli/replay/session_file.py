"""Recorded sessions in Pi's JSONL: one message per line, or Pi's own session entries with messages among them."""

import json
from pathlib import Path
from typing import Any

import click

Json = dict[str, Any]


def read_session(path: Path) -> list[Json]:
    """The messages of a session file in order. Entries that are not messages are passed over.

    Raises click.ClickException with the line that cannot be read.
    """
    messages: list[Json] = []
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{path.name} is not UTF-8 text (byte {error.start})") from error
    # Only line feeds end a line: texts may hold other line separators unescaped.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        value = _parsed(path, number, line)
        message = value.get("message") if value.get("type") == "message" else value
        if isinstance(message, dict) and isinstance(message.get("role"), str):
            messages.append(_writable(message))
    if not messages:
        raise click.ClickException(f"{path.name} has no messages: a session file holds one JSON message per line")
    return messages


def _parsed(path: Path, number: int, line: str) -> Json:
    try:
        value = json.loads(line)
    except ValueError as error:
        raise click.ClickException(f"{path.name}, line {number}: not JSON ({error})") from error
    if not isinstance(value, dict):
        raise click.ClickException(f"{path.name}, line {number}: not a JSON object")
    return value


def _writable(value: Any) -> Any:
    """The value with U+FFFD for lone surrogates, which no UTF-8 text can hold (a host would send the same)."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, list):
        return [_writable(item) for item in value]
    if isinstance(value, dict):
        return {_writable(name): _writable(member) for name, member in value.items()}
    return value
