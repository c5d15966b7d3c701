"""`condense-grpc replay`: recorded sessions through a real server, with every check."""

import json
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from condense_grpc.cli.console import wide_console
from condense_grpc.cli.replay.comparison import Comparison
from condense_grpc.cli.replay.comparison import compare as compare_shapes
from condense_grpc.cli.replay.run import Replay, ReplayReport
from condense_grpc.cli.replay.session_file import read_session
from condense_grpc.cli.replay.shapes import shape_of
from condense_grpc.cli.replay.tables import print_comparisons, print_requests, print_totals
from condense_grpc.cli.replay.tool_calls import lister
from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import CondenseClient
from condense_grpc.client.errors import CondenseError
from condense_grpc.native.formats import NativeFormat

Json = dict[str, Any]


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per session instead of tables.")
@click.option("--requests", "show_requests", is_flag=True, help="Also print the tokens of every request.")
@click.option(
    "--flush-above",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Also flush in the middle of the work when a request would be larger than this.",
)
@click.option(
    "--format",
    "shape",
    type=click.Choice([form.value for form in NativeFormat]),
    help="Send the sessions in the shape of a provider instead of messages of the contract.",
)
@click.option(
    "--compare", is_flag=True, help="Replay in every shape, and check that the same is decided in all of them."
)
@click.option("--target", help="A running server (host:port). Without it one is started on a temporary store.")
def replay(
    files: Sequence[Path],
    as_json: bool,
    show_requests: bool,
    flush_above: int | None,
    shape: str | None,
    compare: bool,
    target: str | None,
) -> None:
    """Replay recorded sessions (Pi JSONL) turn by turn, as their hosts would have sent them.

    A flush runs at every final answer. Afterwards every original is read back and compared byte for byte, and every
    view is checked by a strict validator. Exits with 1 if any check failed.
    """
    if compare and (shape is not None or show_requests):
        raise click.UsageError("--compare replays in every shape: it goes without --format and --requests")
    console = wide_console(sys.stderr if as_json else sys.stdout)
    form = None if shape is None else NativeFormat(shape)
    reports: list[ReplayReport] = []
    comparisons: list[Comparison] = []
    with _server(target) as address, CondenseClient(address) as client:
        for path in files:
            run, messages = ReplayFile(client, path, console, flush_above), read_session(path)
            try:
                told = compare_shapes(path.name, messages, run) if compare else run(messages, form)
            except CondenseError as error:
                raise click.ClickException(f"{path.name} could not be replayed: {error}") from error
            if isinstance(told, Comparison):
                comparisons.append(told)
            else:
                reports.append(told)
            if as_json:
                click.echo(json.dumps(told.as_json()))
            elif show_requests and isinstance(told, ReplayReport):
                print_requests(console, told)
    if not as_json and comparisons:
        print_comparisons(console, comparisons)
    elif not as_json:
        print_totals(console, reports)
    if not (all(report.holds for report in reports) and all(one.holds for one in comparisons)):
        raise SystemExit(1)


@contextmanager
def _server(target: str | None) -> Iterator[str]:
    if target is not None:
        yield target
        return
    with (
        tempfile.TemporaryDirectory(prefix="condense-replay-") as folder,
        ServerProcess(Path(folder) / "replay.db") as server,
    ):
        yield server.address


@dataclass(frozen=True, slots=True)
class ReplayFile:
    """Replays one session file."""

    client: CondenseClient
    path: Path
    console: Console
    flush_above: int | None = None

    def __call__(self, messages: Sequence[Json], form: NativeFormat | None) -> ReplayReport:
        """One replay in one shape, in a session of its own that is deleted afterwards."""
        shape = shape_of(messages, form)
        session = self.client.session(f"replay-{self.path.stem}-{secrets.token_hex(4)}", adapter=shape.adapter)
        records = lister(self.client.channel, session.session_id)
        run = Replay(
            self.path.name,
            messages,
            session,
            flush_above_tokens=self.flush_above,
            shape=shape,
            records=records,
        )
        total = sum(message.get("role") == "assistant" for message in messages)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        try:
            with Progress(
                *columns, console=self.console, transient=True, disable=not self.console.is_terminal
            ) as progress:
                task = progress.add_task(f"{self.path.name} {form or ''}", total=total)
                for _ in run.steps():
                    progress.advance(task)
        finally:
            session.delete()
        return run.report
