"""The agent's tools: they list, read, search, write and run, for real, inside one folder."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SKIPPED_FOLDERS = {"node_modules", "__pycache__", "target", "dist", "build", "vendor"}
_MAX_READ_BYTES = 256 * 1024
_MAX_LISTED = 400
_MAX_MATCHES = 250
_TIMEOUT_SECONDS = 60


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returned, word for word."""

    text: str
    is_error: bool = False


class Toolbox:
    """The tools over one folder. Paths are relative to it and cannot leave it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._tools: dict[str, Callable[..., ToolOutput]] = {
            "list_files": self.list_files,
            "read_file": self.read_file,
            "search": self.search,
            "write_file": self.write_file,
            "run": self.run,
        }

    def call(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Run a tool; whatever goes wrong is its output."""
        try:
            return self._tools[name](**arguments)
        except (OSError, ValueError, TypeError, KeyError, re.error, subprocess.SubprocessError) as error:
            return ToolOutput(f"{type(error).__name__}: {error}", is_error=True)

    def files(self) -> Iterator[Path]:
        """The text files of the folder, by path."""
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(name for name in folders if name not in SKIPPED_FOLDERS and name[0] != ".")
            for name in sorted(names):
                if not _is_writable_name(name):
                    continue
                path = Path(folder) / name
                if path.is_file() and not path.is_symlink() and _is_text(path):
                    yield path

    def list_files(self, path: str = ".") -> ToolOutput:
        """Sizes and names of the text files below a path."""
        base = self._inside(path)
        lines = [
            f"{found.stat().st_size:>9}  {found.relative_to(self.root)}"
            for found in self.files()
            if found.is_relative_to(base)
        ]
        shown = lines[:_MAX_LISTED]
        if len(lines) > len(shown):
            shown.append(f"... and {len(lines) - len(shown)} more")
        return ToolOutput("\n".join(shown))

    def read_file(self, path: str) -> ToolOutput:
        """The content of a file, up to a limit."""
        with self._inside(path).open("rb") as file:
            return ToolOutput(file.read(_MAX_READ_BYTES).decode("utf-8", "replace"))

    def search(self, pattern: str) -> ToolOutput:
        """Lines of the text files that match a regular expression."""
        expression = re.compile(pattern)
        found: list[str] = []
        for path in self.files():
            with path.open(encoding="utf-8", errors="replace") as file:
                for number, line in enumerate(file, start=1):
                    if expression.search(line[:2000]):
                        found.append(f"{path.relative_to(self.root)}:{number}: {line.rstrip()[:300]}")
                        if len(found) >= _MAX_MATCHES:
                            return ToolOutput("\n".join([*found, "... (more matches not shown)"]))
        return ToolOutput("\n".join(found) or "no match")

    def write_file(self, path: str, content: str) -> ToolOutput:
        """Write a file into an existing folder."""
        target = self._inside(path)
        if not target.parent.is_dir():
            return ToolOutput(f"there is no folder {target.parent.relative_to(self.root)}", is_error=True)
        if target.exists():
            return ToolOutput(f"{path} exists already", is_error=True)
        target.write_text(content, encoding="utf-8")
        return ToolOutput(f"wrote {len(content)} characters to {path}")

    def run(self, script: str) -> ToolOutput:
        """Run a Python script in the folder; its output and its exit code."""
        done = subprocess.run(
            [sys.executable, "-c", script],
            cwd=self.root,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        text = (done.stdout + done.stderr).decode("utf-8", "replace")
        return ToolOutput(f"{text}exit code {done.returncode}", is_error=done.returncode != 0)

    def _inside(self, path: str) -> Path:
        resolved = (self.root / path).resolve()
        if not resolved.is_relative_to(self.root):
            raise ValueError(f"{path} lies outside of the folder")
        return resolved


def _is_writable_name(name: str) -> bool:
    """Whether a name is UTF-8: what is not cannot stand in a message."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def _is_text(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"\0" not in file.read(4096)
    except OSError:
        return False
