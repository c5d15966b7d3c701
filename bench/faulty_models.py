"""Recorded sessions with a model that misbehaves: what is summarized, and that nothing is lost.

    python bench/faulty_models.py SESSION.jsonl... [--behaviours normal,storm,...]

For each behaviour of the fake provider a server is started with it as its model, and the sessions are replayed
against it: flushes at every final answer, then every original read back and compared, every view checked. The table
says how many requests the model got, how many results got a summary, and what failed. Exits with 1 if anything did.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.testing.fake_llm import BEHAVIOURS, FakeLlm

DEFAULT = "normal,flapping,storm,cut,rate-limited,truncated,wrong-labels,injected,huge,dead-after-10"
COLUMNS = ("behaviour", "asked", "flushes", "results", "refs", "recovered", "invalid views", "tokens", "seconds")


@contextmanager
def fake(behaviour: str) -> Iterator[FakeLlm]:
    """A fake provider in a loop and a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    llm = FakeLlm(BEHAVIOURS[behaviour]())
    asyncio.run_coroutine_threadsafe(llm.__aenter__(), loop).result()
    try:
        yield llm
    finally:
        asyncio.run_coroutine_threadsafe(llm.__aexit__(None, None, None), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


def replay(llm: FakeLlm, files: list[str]) -> tuple[list[dict[str, int]], int]:
    """What the replay says of each session, and its exit code."""
    model = ["--summarizer", "openai-chat:fake", "--summarizer-base-url", llm.base_url(), "--summarizer-retries", "1"]
    with tempfile.TemporaryDirectory() as folder, ServerProcess(Path(folder) / "faulty.db", *model) as server:
        command = [sys.executable, "-m", "condense_grpc.cli.main", "replay", "--json", "--target", server.address]
        done = subprocess.run([*command, *files], stdout=subprocess.PIPE, text=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")], done.returncode


def row(behaviour: str, files: list[str]) -> tuple[list[str], bool]:
    """One line of the table, and whether everything held."""
    started = time.monotonic()
    with fake(behaviour) as llm:
        reports, code = replay(llm, files)
        asked = len(llm.received)

    def total(name: str) -> int:
        return sum(report[name] for report in reports)

    recovered = f"{total('recovered_exact')}/{total('results')}"
    saved = f"{100 * total('condensed_tokens') / max(total('raw_tokens'), 1):.0f}%"
    holds = code == 0 and len(reports) == len(files) and total("recovered_exact") == total("results")
    numbers = (asked, total("flushes"), total("results"), total("refs"), recovered, total("invalid_views"), saved)
    return [behaviour, *map(str, numbers), f"{time.monotonic() - started:.0f}"], holds


def main() -> None:
    """Run all behaviours and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--behaviours", default=DEFAULT)
    given = parser.parse_args()
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    holds = True
    for behaviour in given.behaviours.split(","):
        cells, held = row(behaviour, given.files)
        holds &= held
        print("| " + " | ".join(cells) + " |" + ("" if held else " FAILED"), flush=True)
    sys.exit(not holds)


if __name__ == "__main__":
    main()
