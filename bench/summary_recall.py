"""How much of what an agent needed later survives in the built-in summaries.

    python bench/summary_recall.py SESSION.jsonl ... [--by-turn] [--call-chars 1200] [--by-file]

Each file is one recorded session, one message per line in Pi shape. The calls of one stretch of work (up to a
text-only answer) or, with `--by-turn`, of one assistant message form a batch. A *fact* of a batch is a path, an
identifier or an error string in its results that the agent wrote later (text or call arguments) and that stood
nowhere else in the context up to that moment. Recall is the share of the facts present in the summary, as a
whole token. Head and tail of each result, cut to the very same size, is the yardstick. Two looks at it:

- *own*: every fact of every batch must be in the summary of that batch;
- *context*: every distinct fact of a session must be in some summary written before it was used, and the
  summaries made so far count as known (so they need not repeat each other).

It prints ratios, sizes and speed; it does not judge.
"""

import argparse
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from condense_grpc.domain.batches import Batch, Call
from condense_grpc.summarize.extractive import summarize_batch
from condense_grpc.summarize.fact_index import words_in

_TOKEN = re.compile(r"[\w~/.@][\w./@+-]*")
_WORD = re.compile(r"\w{6,}")
_MARK = re.compile(r"[/._\-0-9]|[a-z][A-Z]")
_ERROR = re.compile(
    r"^(?:\S{1,200} )?\w*(?:Error|Exception|error|fatal|panic|FAIL(?:ED)?): ?(\S.{8,160}[^\s{}();,])$", re.M
)
_MIN_BATCH_CHARS = 1000
# Sessions with fewer facts say little on their own.
_MIN_FACTS = 20


@dataclass
class Moment:
    """One message: what it says outside of results, and the batch that is closed behind it."""

    said: set[str] = field(default_factory=set)
    said_text: str = ""
    by_agent: bool = False
    batch: Batch | None = None


@dataclass
class Tally:
    facts: int = 0
    kept: int = 0
    head_tail: int = 0

    def add(self, other: "Tally") -> None:
        self.facts += other.facts
        self.kept += other.kept
        self.head_tail += other.head_tail

    def line(self) -> str:
        total = max(self.facts, 1)
        return f"{self.kept / total:6.1%} of {self.facts:5} facts (head+tail {self.head_tail / total:6.1%})"


def facts_in(text: str) -> set[str]:
    """Paths and identifiers of at least six characters that look like names, not like prose."""
    found = {token.strip(".-+/@") for token in _TOKEN.findall(text)}
    found.update(_WORD.findall(text))
    return {token for token in found if 6 <= len(token) <= 200 and _MARK.search(token)}


def error_strings(text: str) -> set[str]:
    """What follows `error:` on lines that are messages; lines of source code that speak of errors are not."""
    return {match.strip() for match in _ERROR.findall(text) if not re.search(r"[{}$`]|\w\(", match)}


def leaves(value: Any) -> Iterator[str]:
    """The strings and numbers of a JSON value, keys left out: escapes would glue themselves to the words."""
    if isinstance(value, dict):
        for member in value.values():
            yield from leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member)
    elif value is not None:
        yield str(value)


def parts_of(message: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [part for part in content or [] if isinstance(part, dict) and part.get("type") == kind]


def text_of(message: dict[str, Any]) -> str:
    return "\n".join(part.get("text") or "" for part in parts_of(message, "text"))


def moments_of(path: Path, by_turn: bool) -> list[Moment]:
    """The session as moments; a batch hangs on the moment after which a summary would replace it."""
    messages = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    moments: list[Moment] = []
    open_calls: dict[str, dict[str, Any]] = {}
    calls: list[Call] = []
    texts: list[str] = []

    def close() -> None:
        if calls and moments:
            moments[-1].batch = Batch(len(moments), 0, "\n\n".join(filter(None, texts)), tuple(calls))
        calls.clear()
        texts.clear()

    for message in messages:
        if message["role"] == "toolResult":
            part = open_calls.pop(message.get("toolCallId") or "", {})
            args = json.dumps(part.get("arguments") or {}, ensure_ascii=False)
            name = part.get("name") or message.get("toolName") or "unknown"
            flag = bool(message.get("isError"))
            calls.append(Call(message.get("toolCallId") or "", name, args, text_of(message), flag))
            continue
        tool_calls = parts_of(message, "toolCall")
        if by_turn or not tool_calls:
            close()
        said = [text_of(message), *(leaf for part in tool_calls for leaf in leaves(part.get("arguments")))]
        texts.append(text_of(message) if message["role"] == "assistant" else "")
        open_calls.update((part.get("id") or "", part) for part in tool_calls)
        whole = "\n".join(said)
        moments.append(Moment(facts_in(whole), whole, message["role"] == "assistant"))
    close()
    return moments


def first_uses(moments: list[Moment], start: int, candidates: set[str]) -> dict[str, int]:
    """For each fact the agent wrote after `start` before anybody else did: the index of that moment."""
    uses: dict[str, int] = {}
    left = set(candidates)
    for index in range(start + 1, len(moments)):
        for fact in left & moments[index].said:
            if moments[index].by_agent:
                uses[fact] = index
        left -= moments[index].said
    return uses


def head_and_tail(call: Call, chars: int) -> str:
    text = call.result_text
    return text if len(text) <= chars else text[: chars // 2] + "\n" + text[len(text) - (chars - chars // 2) :]


def yardstick(batch: Batch, chars: int) -> str:
    """Head and tail of each result, together as large as the summary."""
    total = sum(len(call.result_text) for call in batch.calls) or 1
    return "\n".join(head_and_tail(call, chars * len(call.result_text) // total) for call in batch.calls)


@dataclass
class Report:
    own: Tally = field(default_factory=Tally)
    context: Tally = field(default_factory=Tally)
    errors: Tally = field(default_factory=Tally)
    batches: int = 0
    source_chars: int = 0
    summary_chars: int = 0
    oversized: int = 0
    seconds: float = 0.0

    def add(self, other: "Report") -> None:
        for mine, theirs in zip(
            (self.own, self.context, self.errors), (other.own, other.context, other.errors), strict=True
        ):
            mine.add(theirs)
        for name in ("batches", "source_chars", "summary_chars", "oversized", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def text(self) -> str:
        ratio = self.summary_chars / max(self.source_chars, 1)
        speed = self.source_chars / 1e6 / max(self.seconds, 1e-9)
        return (
            f"own {self.own.line()}\n  context {self.context.line()}\n  error strings {self.errors.line()}\n"
            f"  {self.batches} batches, {self.source_chars} -> {self.summary_chars} chars ({ratio:.1%}), "
            f"{self.oversized} oversized, {speed:.1f} M chars/s"
        )


Summarize = Callable[[Batch, set[str]], str]


def measure(
    moments: list[Moment], summarize: Summarize, known_summaries: bool
) -> Iterable[tuple[int, Batch, str, float]]:
    """Each batch that is large enough, with its summary and the seconds it took, in order."""
    seen: set[str] = set()
    for index, moment in enumerate(moments):
        seen.update(words_in(moment.said_text))
        batch = moment.batch
        if batch is None or sum(len(call.result_text) for call in batch.calls) < _MIN_BATCH_CHARS:
            continue
        start = time.process_time()
        summary = summarize(batch, seen)
        yield index, batch, summary, time.process_time() - start
        if known_summaries:
            seen.update(words_in(summary))


def report_on(moments: list[Moment], summarize: Summarize) -> Report:
    report = Report()
    said: set[str] = set()
    said_until = -1
    for index, batch, summary, seconds in measure(moments, summarize, known_summaries=False):
        while said_until < index:
            said_until += 1
            said |= moments[said_until].said
        results = "\n".join(call.result_text for call in batch.calls)
        uses = first_uses(moments, index, facts_in(results) - said)
        kept, plain = facts_in(summary), facts_in(yardstick(batch, len(summary)))
        report.own.add(Tally(len(uses), len(uses.keys() & kept), len(uses.keys() & plain)))
        later = "\n".join(moment.said_text for moment in moments[index + 1 :] if moment.by_agent)
        earlier = "\n".join(moment.said_text for moment in moments[: index + 1])
        errors = [line for line in sorted(error_strings(results)) if line in later and line not in earlier]
        plain_text = yardstick(batch, len(summary))
        report.errors.add(
            Tally(len(errors), sum(line in summary for line in errors), sum(line in plain_text for line in errors))
        )
        report.batches += 1
        report.source_chars += sum(len(call.result_text) for call in batch.calls)
        report.summary_chars += len(summary)
        report.oversized += len(summary) > len(results)
        report.seconds += seconds
    report.context = context_tally(moments, summarize)
    return report


def context_tally(moments: list[Moment], summarize: Summarize) -> Tally:
    """Distinct facts of the session that were used before anybody repeated them outside of results and summaries."""
    available: set[str] = set()
    summarized: set[str] = set()
    plain: set[str] = set()
    said: set[str] = set()
    tally = Tally()
    batches = {
        index: (batch, summary) for index, batch, summary, _ in measure(moments, summarize, known_summaries=True)
    }
    for index, moment in enumerate(moments):
        if moment.by_agent:
            used = (moment.said & available) - said
            tally.add(Tally(len(used), len(used & summarized), len(used & plain)))
        said |= moment.said
        if index in batches:
            batch, summary = batches[index]
            for call in batch.calls:
                available |= facts_in(call.result_text)
            summarized |= facts_in(summary)
            plain |= facts_in(yardstick(batch, len(summary)))
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sessions", nargs="+", type=Path)
    parser.add_argument("--by-turn", action="store_true", help="one batch per assistant message")
    parser.add_argument("--call-chars", type=int, default=1200, help="most characters a call may take")
    parser.add_argument("--by-file", action="store_true", help="also print every file on its own")
    options = parser.parse_args()
    total, shares = Report(), []

    def summarize(batch: Batch, seen: set[str]) -> str:
        return summarize_batch(batch, seen, call_chars=options.call_chars)

    for path in options.sessions:
        report = report_on(moments_of(path, options.by_turn), summarize)
        total.add(report)
        if report.own.facts >= _MIN_FACTS:
            shares.append((report.own.kept / report.own.facts, report.own.head_tail / report.own.facts))
        if options.by_file:
            print(f"{path.name}: {report.text()}")
    print(f"TOTAL: {total.text()}")
    if shares:
        ours, plain = (sum(column) / len(shares) for column in zip(*shares, strict=True))
        print(f"  mean over {len(shares)} sessions: own {ours:.1%} (head+tail {plain:.1%})")


if __name__ == "__main__":
    main()
