"""The scripted agent: which tools it calls in each turn. It looks at real results to choose the next calls."""

import re
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from condense_grpc.cli.demo.tools import ToolOutput

_LONG_NOTE = "# Findings\n\n" + "\n".join(
    f"{number}. Finding number {number}: what was read has to be written down somewhere, at length."
    for number in range(1, 13)
)
_COUNT_LINES = """
import pathlib, collections
counts = collections.Counter()
for path in sorted(pathlib.Path('.').rglob('*')):
    if any(part.startswith('.') or part in ('node_modules', '__pycache__') for part in path.parts):
        continue
    if path.is_file() and path.stat().st_size < 300_000:
        counts[path.suffix or '(none)'] += path.read_bytes().count(b'\\n')
        print(f'{path}: {path.stat().st_size} bytes')
for suffix, lines in counts.most_common():
    print(f'{lines:>8} lines of {suffix}')
"""


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call that the agent makes."""

    tool: str
    arguments: dict[str, Any]


Turn: TypeAlias = Generator[list[PlannedCall], list[ToolOutput], str]


def _sizes(listing: str) -> list[tuple[int, str]]:
    found = re.findall(r"^ *(\d+)  (.+)$", listing, re.MULTILINE)
    return sorted(((int(size), path) for size, path in found), reverse=True)


def look_around() -> Turn:
    """What is in the folder, and what its first documents say."""
    (listing,) = yield [PlannedCall("list_files", {"path": "."})]
    documents = [path for _, path in _sizes(listing.text) if path.lower().endswith((".md", ".rst", ".txt", ".toml"))]
    chosen = documents[:2] or [path for _, path in _sizes(listing.text)[:2]]
    yield [PlannedCall("read_file", {"path": path}) for path in chosen]
    return f"There are {len(listing.text.splitlines())} text files; I read {', '.join(chosen) or 'none'}."


def read_the_largest() -> Turn:
    """The largest files, in parallel."""
    (listing,) = yield [PlannedCall("list_files", {"path": "."})]
    files = [path for size, path in _sizes(listing.text) if 500 < size < 120_000][:4]
    yield [PlannedCall("read_file", {"path": path}) for path in files]
    yield [PlannedCall("search", {"pattern": r"^\s*(def|class|func|fn|function|public|struct) "})]
    return f"The largest files are {', '.join(files) or 'none'}; I looked at what they define."


def follow_the_errors() -> Turn:
    """Where errors are spoken of; the file with the most of them is read, perhaps again."""
    (matches,) = yield [PlannedCall("search", {"pattern": r"(?i)\b(error|exception|fail)"})]
    paths = [line.split(":", 1)[0] for line in matches.text.splitlines() if ":" in line]
    if paths:
        most = max(dict.fromkeys(paths), key=paths.count)
        yield [PlannedCall("read_file", {"path": most})]
    return f"{len(paths)} lines speak of errors."


def run_something() -> Turn:
    """A command, a write that fails with long arguments, and the write done right by a smaller step."""
    (counted,) = yield [PlannedCall("run", {"script": _COUNT_LINES})]
    (failed,) = yield [PlannedCall("write_file", {"path": "no-such-folder/notes.md", "content": _LONG_NOTE})]
    (checked,) = yield [PlannedCall("run", {"script": "import sys; print(sys.version); sys.exit(3)"})]
    return f"Counted {len(counted.text.splitlines())} lines of output. {failed.text}. {checked.text.splitlines()[-1]}."


def read_again() -> Turn:
    """The same files once more: an agent forgets, and the service notices that nothing is new."""
    (listing,) = yield [PlannedCall("list_files", {"path": "."})]
    files = [path for size, path in _sizes(listing.text) if 500 < size < 120_000][:2]
    yield [PlannedCall("read_file", {"path": path}) for path in files]
    return "Nothing has changed in these files."


def last_look() -> Turn:
    """One more search before the end."""
    (matches,) = yield [PlannedCall("search", {"pattern": r"(?i)\b(todo|fixme|note)\b"})]
    return f"{len(matches.text.splitlines())} lines are notes for later."


TURNS: list[tuple[str, Any]] = [
    ("What is in this folder?", look_around),
    ("Read the largest files and tell me what they define.", read_the_largest),
    ("Where are errors handled?", follow_the_errors),
    ("Count the lines, and write your findings down.", run_something),
    ("Read the two largest files once more.", read_again),
    ("Is anything left to do?", last_look),
]
