"""`condense-grpc demo`: the main job from end to end, with no key and no network."""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from condense_grpc.api.condense.v1.flush_pb2 import BatchOutcome
from condense_grpc.cli.console import wide_console
from condense_grpc.cli.demo.conversation import Conversation, Request
from condense_grpc.cli.demo.script import TURNS, PlannedCall
from condense_grpc.cli.demo.tools import Toolbox, ToolOutput
from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.client import OPENAI, Answer, CondenseClient, FlushStream, Session, recovery_tool


@click.command()
@click.option(
    "--path",
    "folder",
    default=".",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder that the agent works on. Nothing in it is changed.",
)
def demo(folder: Path) -> None:
    """Run a real server and a scripted agent with real tools over a folder, and check everything.

    Exits with 1 if any check failed.
    """
    console = wide_console(sys.stdout)
    with (
        tempfile.TemporaryDirectory(prefix="condense-demo-") as store,
        ServerProcess(Path(store) / "demo.db") as server,
        CondenseClient(server.address) as client,
    ):
        console.print(f"[bold]server[/]  {escape(server.greeting)}")
        console.print(f"[bold]agent[/]   works on {escape(str(folder.resolve()))}; its recovery tool is ", end="")
        console.print(recovery_tool("openai")["function"]["name"])
        story = _Story(console, server, client.session("demo", adapter=OPENAI), Toolbox(folder))
        story.run()
    if not all(story.checks.values()):
        raise SystemExit(1)


class _Story:
    """The demonstration on its way. `checks`: what was to hold, and whether it did."""

    def __init__(
        self, console: Console, server: ServerProcess, session: Session[dict[str, object]], toolbox: Toolbox
    ) -> None:
        self.checks: dict[str, bool] = {}
        self._console = console
        self._server = server
        self._session = session
        self._talk = Conversation(session, toolbox)
        self._refs: list[str] = []
        self._summary = ""

    def run(self) -> None:
        """All of it."""
        for number, (question, plan) in enumerate(TURNS, start=1):
            self._console.rule(f"turn {number}: {escape(question)}", align="left")
            self._talk.ask(question)
            self._play(plan())
        self._recover_by_tool()
        name = self._refs[0] if self._refs else next(iter(self._talk.outputs))
        before = self._query(name, "a ref queried back is what the tool returned, byte for byte")
        self._console.rule("the server is killed and started again", align="left")
        self._server.kill()
        self._server.start()
        self._console.print(f"[bold]server[/]  {escape(self._server.greeting)}")
        after = self._query(name, "the same after the restart")
        self.checks["the answer is the same before and after the restart"] = before.text == after.text
        self._read_everything()
        self._diagnose()
        self._conclude()

    def _play(self, turn) -> None:  # type: ignore[no-untyped-def]
        """One turn: requests and tool calls until the answer, then the flush."""
        self._talk.request()
        try:
            calls = next(turn)
            while True:
                results = self._talk.act(calls, self._tell_call)
                self._talk.request()
                calls = turn.send(results)
        except StopIteration as end:
            self._console.print(f"  [green]{escape(str(end.value))}[/]")
            self._watch(self._talk.answer(str(end.value)))
        last = self._talk.requests[-1]
        self._tell_tokens(last)

    def _tell_call(self, call: PlannedCall, result: ToolOutput) -> None:
        told = next((str(value) for value in call.arguments.values()), "").strip().splitlines()
        outcome = "[red]failed[/]" if result.is_error else "ok"
        self._console.print(
            f"  {call.tool} [dim]{escape(told[0][:60] if told else '')}[/]: {outcome}, {len(result.text):,} characters"
        )

    def _tell_tokens(self, request: Request) -> None:
        left = 100 * request.sent_tokens / max(request.raw_tokens, 1)
        self._console.print(
            f"  context of the last request: {request.raw_tokens:,} tokens raw, "
            f"[bold]{request.sent_tokens:,} sent[/] ({left:.0f}%)"
        )

    def _watch(self, events: FlushStream) -> None:
        """The flush, as its events arrive."""
        bars: dict[int, TaskID] = {}
        columns = (TextColumn("  {task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[note]}"))
        summary = ""
        with Progress(*columns, console=self._console) as progress:
            for event in events:
                kind = event.WhichOneof("event")
                if kind == "started":
                    for batch in event.started.batches:
                        names = ", ".join(dict.fromkeys(batch.tool_names))
                        bars[batch.batch_index] = progress.add_task(
                            f"batch {batch.batch_index + 1}: {names}",
                            total=None,
                            note=f"{batch.raw_chars:,} characters",
                        )
                elif kind == "batch_progress":
                    note = f"{event.batch_progress.received_chars:,} of a summary"
                    progress.update(bars[event.batch_progress.batch_index], note=note)
                elif kind == "batch_finished":
                    done = event.batch_finished
                    note = f"{done.source_chars:,} -> {done.summary_chars:,} {' '.join(done.refs)}" if done.refs else ""
                    word = BatchOutcome.Name(done.outcome).removeprefix("BATCH_OUTCOME_").lower()
                    progress.update(bars[done.batch_index], total=1, completed=1, note=f"{word} {note}")
                    self._refs += done.refs
                    summary = summary or done.summary_text
                elif kind == "chain_compressed":
                    block = event.chain_compressed
                    progress.console.print(f"  chain {block.block_id} holds {', '.join(block.refs)}")
        if summary and not self._summary:
            self._summary = summary
            self._console.print("  [bold]the first summary, as the model will see it:[/]")
            self._console.print(
                "\n".join(f"    {line[:150]}" for line in summary.splitlines()), markup=False, style="dim"
            )

    def _recover_by_tool(self) -> None:
        """The model wants a detail back, and asks for it with the recovery tool."""
        if not self._refs:
            return
        ref = self._refs[-1]
        self._console.rule(f"the model asks for {ref}", align="left")
        self._talk.ask("What exactly did that say?")
        self._talk.request()
        (result,) = self._talk.act([PlannedCall("context_tree_query", {"toolCallIds": [ref]})], self._tell_call)
        self._talk.request()
        self._watch(self._talk.answer("That is what it said."))
        self.checks["the recovery tool answers with the original"] = f"## toolRef: {ref}" in result.text

    def _query(self, name: str, check: str) -> Answer:
        answer = self._session.query([name])
        record = answer.records[0] if answer.records else None
        original = self._talk.outputs.get(record.tool_call_id if record else name)
        text = "".join(self._session.read(name))
        self.checks[check] = text == original
        self._console.print(f"  {name}: {len(text):,} characters, {'identical' if text == original else 'DIFFERENT'}")
        return answer

    def _read_everything(self) -> None:
        exact = sum("".join(self._session.read(name)) == text for name, text in self._talk.outputs.items())
        count = len(self._talk.outputs)
        self.checks[f"all {count} originals come back byte for byte"] = exact == count

    def _diagnose(self) -> None:
        self._console.rule("diagnostics", align="left")
        answer = self._session.diagnostics()
        self._talk.request()
        self._console.print(f"  {escape(self._session.diagnostics().status_line)}")
        self._console.print(f"  flushes: {len(answer.last_flushes)}, refs: {len(self._refs)}")

    def _conclude(self) -> None:
        requests = self._talk.requests
        self.checks["every view is valid for the strictest provider"] = all(one.is_valid for one in requests)
        if self._refs:
            sent, raw = sum(one.sent_tokens for one in requests), sum(one.raw_tokens for one in requests)
            self.checks["less was sent than the raw history"] = sent < raw
        self._console.print(_table(requests))
        for check, held in self.checks.items():
            self._console.print(f"  {'[green]held[/]  ' if held else '[red]FAILED[/]'} {check}")


def _table(requests: Sequence[Request]) -> Table:
    table = Table(title="Tokens sent to the model (characters / 4)")
    for name in ("turn", "requests", "raw", "sent", "left"):
        table.add_column(name, justify="right")
    turns = sorted({request.turn for request in requests})
    rows = [(str(turn), [one for one in requests if one.turn == turn]) for turn in turns]
    for name, group in (*rows, ("all", list(requests))):
        raw, sent = sum(one.raw_tokens for one in group), sum(one.sent_tokens for one in group)
        table.add_row(name, str(len(group)), f"{raw:,}", f"{sent:,}", f"{100 * sent / max(raw, 1):.0f}%")
    return table
