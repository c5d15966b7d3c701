"""`condense-grpc replay`: recorded sessions through a real server, with every check."""

import json
import secrets
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from condense_grpc.cli.console import wide_console
from condense_grpc.cli.replay.run import Replay, ReplayReport
from condense_grpc.cli.replay.session_file import read_session
from condense_grpc.cli.replay.shapes import shape_of
from condense_grpc.cli.replay.tool_calls import lister
from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import CondenseClient
from condense_grpc.client.errors import CondenseError
from condense_grpc.native.formats import NativeFormat


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
@click.option("--target", help="A running server (host:port). Without it one is started on a temporary store.")
def replay(
    files: Sequence[Path],
    as_json: bool,
    show_requests: bool,
    flush_above: int | None,
    shape: str | None,
    target: str | None,
) -> None:
    """Replay recorded sessions (Pi JSONL) turn by turn, as their hosts would have sent them.

    A flush runs at every final answer. Afterwards every original is read back and compared byte for byte, and every
    view is checked by a strict validator. Exits with 1 if any check failed.
    """
    console = wide_console(sys.stderr if as_json else sys.stdout)
    reports: list[ReplayReport] = []
    with _server(target) as address, CondenseClient(address) as client:
        for path in files:
            form = None if shape is None else NativeFormat(shape)
            try:
                report = _replay_file(client, path, console, flush_above, form)
            except CondenseError as error:
                raise click.ClickException(f"{path.name} could not be replayed: {error}") from error
            reports.append(report)
            if as_json:
                click.echo(json.dumps(report.as_json()))
            elif show_requests:
                _print_requests(console, report)
    if not as_json:
        _print_totals(console, reports)
    if not all(report.holds for report in reports):
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


def _replay_file(
    client: CondenseClient, path: Path, console: Console, flush_above: int | None, form: NativeFormat | None
) -> ReplayReport:
    messages = read_session(path)
    shape = shape_of(messages, form)
    session = client.session(f"replay-{path.stem}-{secrets.token_hex(4)}", adapter=shape.adapter)
    keys = lister(client.channel, session.session_id)
    run = Replay(path.name, messages, session, flush_above_tokens=flush_above, shape=shape, keys=keys)
    total = sum(message.get("role") == "assistant" for message in messages)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(path.name, total=total)
            for _ in run.steps():
                progress.advance(task)
    finally:
        session.delete()
    return run.report


def _print_requests(console: Console, report: ReplayReport) -> None:
    table = Table(title=f"{report.file}: tokens per request")
    for name in ("request", "raw", "condensed", "left"):
        table.add_column(name, justify="right")
    for number, (raw, condensed) in enumerate(report.per_request, start=1):
        table.add_row(str(number), f"{raw:,}", f"{condensed:,}", _percent(condensed, raw))
    console.print(table)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f}%" if whole else "-"


def _print_totals(console: Console, reports: Sequence[ReplayReport]) -> None:
    table = Table(title="Tokens (characters / 4): raw history against what was sent instead")
    names = ("session", "requests", "raw", "condensed", "left", "raw peak", "peak", "left", "breaks", "flushes", "refs")
    for name in (*names, "recovered", "invalid", "violations"):
        table.add_column(name, justify="left" if name == "session" else "right")
    for report in (*reports, _total(reports)):
        table.add_row(
            report.file,
            f"{report.requests:,}",
            f"{report.raw_tokens:,}",
            f"{report.condensed_tokens:,}",
            _percent(report.condensed_tokens, report.raw_tokens),
            f"{report.raw_peak_tokens:,}",
            f"{report.condensed_peak_tokens:,}",
            _percent(report.condensed_peak_tokens, report.raw_peak_tokens),
            str(report.cache_breaks),
            str(report.flushes),
            str(report.refs),
            f"{report.recovered_exact}/{report.results}",
            str(report.invalid_views),
            str(report.violations),
        )
    console.print(table)
    held = all(report.holds for report in reports)
    console.print("every original came back, every view is valid" if held else "NOT every check held", style="bold")


def _total(reports: Sequence[ReplayReport]) -> ReplayReport:
    """The sum of everything; peaks are the largest single ones."""
    total = ReplayReport("total")
    for report in reports:
        for name, value in report.as_json().items():
            if name.endswith("peak_tokens"):
                setattr(total, name, max(getattr(total, name), value))
            elif name != "file":
                setattr(total, name, getattr(total, name) + value)
    return total
