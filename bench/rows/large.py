"""Large requests and answers: a whole history at once, an original of a megabyte, and what they do to others."""

import random
import subprocess
import sys
import threading
from itertools import cycle
from statistics import median
from typing import IO

from bench.ground import ENVIRONMENT, Ground
from bench.histories import Shape, call, result, tool_output
from bench.rows.turns import turns_of, warmed
from bench.sender import StatelessSender
from bench.table import Row
from bench.timing import Call, interleaved, percentile, ratio
from condense_grpc.api.condense.v1.query_pb2 import CharRange, QueryToolCallRequest, Slice

MEGABYTE = 1024 * 1024
BLOCK_CHARS = 50_000
SENDS_BESIDE = 5


class Words:
    """Counts the lines that another process writes."""

    def __init__(self, stream: IO[str]) -> None:
        self._lines = threading.Semaphore(0)
        self.count = 0
        threading.Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for _ in stream:
            self.count += 1
            self._lines.release()

    def wait_for(self, lines: int) -> None:
        """Wait until so many more have come."""
        for _ in range(lines):
            self._lines.acquire()


def stateless_full_send(rounds: int) -> Row:
    """A history of 10 MB at once, and the view of it as a whole."""
    with Ground() as ground:
        session = ground.session(2, Shape(), flushed=False)
        sender = StatelessSender(session)
        echo = ground.yardstick["EchoRequest"]
        request = sender.next_request()

        def prepare() -> Call:
            nonlocal request
            request = sender.next_request()
            return lambda: session.prune(request)

        count = max(rounds // 20, 8)
        measured, echoed = interleaved(count, prepare, lambda: lambda: echo(request), warm_up=2)
    return Row(
        "full-send",
        "stateless send of 10 MB with the full view / protobuf echo of the same bytes",
        ratio(measured, echoed),
        2,
        facts={"send_ms": 1000 * median(measured), "echo_ms": 1000 * median(echoed)},
    )


def query_of_a_megabyte(rounds: int) -> Row:
    """An original of a megabyte, read back whole in one answer."""
    with Ground() as ground:
        session = ground.session(100, Shape())
        text = tool_output(random.Random(7), MEGABYTE)
        session.prune(session.turn_request([call("call_large", "large.txt"), result("call_large", text)]))
        # A block shows 50 KB at most, so that all of it takes some twenty blocks.
        starts = range(1, MEGABYTE, BLOCK_CHARS)
        slices = [
            Slice(ref="call_large", chars=CharRange(start_char=at, end_char=at + BLOCK_CHARS - 1)) for at in starts
        ]
        request = QueryToolCallRequest(session_id=session.name, refs=["call_large"], slices=slices)
        query, echo = ground.condense.QueryToolCall, ground.yardstick["EchoAnswer"]
        answer = query(request)
        assert "".join(block.text for block in answer.results[0].blocks) == text, "the answer is not the original"
        count = max(rounds // 5, 20)
        measured, echoed = interleaved(count, lambda: lambda: query(request), lambda: lambda: echo(answer))
    return Row(
        "query",
        "QueryToolCall of an original of 1 MB / echo of the answer",
        ratio(measured, echoed),
        1.5,
        facts={"query_ms": 1000 * median(measured), "echo_ms": 1000 * median(echoed)},
    )


def small_turns_beside_large_ones(rounds: int) -> Row:
    """Small turns of many sessions while another client sends 10 MB over and over."""
    with Ground() as ground:
        first = ground.session(100, Shape())
        sessions = [warmed(ground.fork(first)) for _ in range(20)]
        (alone,) = interleaved(rounds, turns_of(cycle(sessions)))
        command = [sys.executable, "-m", "bench.sender", ground.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as sender:
            assert sender.stdout is not None
            words = Words(sender.stdout)
            words.wait_for(1)
            beside: list[float] = []
            while len(beside) < 2 * rounds or words.count <= SENDS_BESIDE:
                beside += interleaved(rounds, turns_of(cycle(sessions)))[0]
            sender.terminate()
            sent = words.count - 1
    return Row(
        "fairness",
        "small turns while another session sends 10 MB: p99 / p50",
        percentile(beside, 0.99) / median(beside),
        10,
        facts={
            "p50_ms": 1000 * median(beside),
            "p99_ms": 1000 * percentile(beside, 0.99),
            "p50_alone_ms": 1000 * median(alone),
            "large_sends": sent,
        },
    )
