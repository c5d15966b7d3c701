"""Where commands print for people."""

from typing import TextIO

from rich.console import Console

_PIPE_WIDTH = 160


def wide_console(file: TextIO) -> Console:
    """A console; where no terminal says how wide it is, wide enough for a table of totals."""
    console = Console(file=file, highlight=False)
    return console if console.is_terminal else Console(file=file, highlight=False, width=_PIPE_WIDTH)
