"""`condense-grpc diagnostics`: how a session is doing."""

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from condense_grpc.api.condense.v1.diagnostics_pb2 import DiagnosticKind, GetDiagnosticsResponse
from condense_grpc.cli.connection import connected, connection_options
from condense_grpc.client.errors import CondenseError


@click.command()
@click.argument("session")
@click.option("--json", "as_json", is_flag=True, help="Print the whole answer as JSON.")
@connection_options
def diagnostics(session: str, as_json: bool, target: str, token: str | None) -> None:
    """Print counters, measures, statistics and the last flushes of SESSION."""
    with connected(target, token) as client:
        try:
            answer = client.session(session).diagnostics()
        except CondenseError as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        from google.protobuf.json_format import MessageToJson

        click.echo(MessageToJson(answer))
    else:
        _print(Console(highlight=False), session, answer)


def _print(console: Console, session: str, answer: GetDiagnosticsResponse) -> None:
    console.print(escape(answer.status_line or f"session {session}"))
    table = Table(show_header=False, box=None)
    reclaim, metrics, stats = answer.reclaim, answer.metrics, answer.stats
    rows = {
        "revision": answer.revision,
        "context": f"{reclaim.before_tokens:,} tokens raw, {reclaim.after_tokens:,} sent",
        "pending": f"{answer.advice.pending_batches} batches, {answer.advice.pending_chars:,} characters",
        "open thinking": f"{metrics.open_cycle_thinking_tokens:,} tokens",
        "largest chain": f"{metrics.largest_chain_share_pct}% of the context",
        "not settled": f"{metrics.frontier_gap_tokens:,} tokens",
        "summarizer": answer.summarizer.primary,
        "chains compressed": str(stats.chains_compressed),
    }
    for name, value in rows.items():
        table.add_row(name, escape(value))
    for counter in answer.counters:
        kind = DiagnosticKind.Name(counter.kind).removeprefix("DIAGNOSTIC_KIND_").lower().replace("_", "-")
        table.add_row(kind, str(counter.count))
    console.print(table)
    for entry in answer.entries:
        console.print(f"  {escape(entry.detail)}", style="dim")
