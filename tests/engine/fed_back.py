"""What a host has sent back of a view: every ref that such a message names goes on to mean what it meant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol

from condense_grpc.domain.entries import IndexEntry, SummaryEntry
from condense_grpc.domain.messages import Message, Role, TextPart, text_of
from condense_grpc.engine.state import SessionState
from tests.engine.harness import World

_STUB = re.compile(r"ref `(t[0-9]+)`")
_NAMED = re.compile(r"`(t[0-9]+)`")
_BLOCK = re.compile(r'<compressed-chain id="b[0-9]+" tools="([^"]*)">')
_FOOTER_END = "\nUse `context_tree_query`"


class Manner(StrEnum):
    """What a host makes of a view before it sends it back."""

    AS_IT_IS = "as it is"
    UNTIMED = "without times"
    EDITED = "with other words around what we say, and the end of it cut off"
    JOINED = "with neighbouring texts in one message"
    WITHOUT_SUMMARIES = "without our summaries"
    RAW_RESULTS = "with every second stub replaced by the result as it was"
    TWICE = "twice, one behind the other"


def named_in(message: Message) -> list[str]:
    """The refs that a message of ours names to a model, whatever else its text says."""
    text = text_of(message)
    if message.role is Role.TOOL_RESULT:
        return _STUB.findall(text)[-1:]
    if text.startswith("<compressed-chain"):
        return [ref for ref in _BLOCK.findall(text)[0].split(",") if ref]
    return _NAMED.findall(text.rpartition("**Summarized tool refs**")[2])


@dataclass(frozen=True)
class SentBack:
    """A message as it is sent back, and those of the view that it is made of; none of a stub that is not sent."""

    message: Message
    of: tuple[Message, ...]


def sent_back(shown: "Shown", manner: Manner) -> list[SentBack]:
    """A view as a host sends it back."""
    pairs = [SentBack(message, (message,)) for message in shown.view]
    match manner:
        case Manner.UNTIMED:
            return [SentBack(replace(one.message, timestamp_ms=None, source_json=""), one.of) for one in pairs]
        case Manner.EDITED:
            return [SentBack(_edited(one.message), one.of) if _is_told(one, shown) else one for one in pairs]
        case Manner.JOINED:
            return _joined(pairs)
        case Manner.WITHOUT_SUMMARIES:
            return [one for one in pairs if one.message.role is not Role.CUSTOM or not _is_told(one, shown)]
        case Manner.RAW_RESULTS:
            return _with_raw_results(pairs, shown)
        case Manner.TWICE:
            return pairs + [SentBack(replace(one.message, timestamp_ms=None, source_json=""), one.of) for one in pairs]
        case _:
            return pairs


def _is_told(one: SentBack, shown: "Shown") -> bool:
    """Whether a message is a summary or a block of ours."""
    return one.message.role is not Role.TOOL_RESULT and one.message not in shown.raw and bool(named_in(one.message))


def _edited(message: Message) -> Message:
    text = text_of(message)
    text = text[: text.rfind(_FOOTER_END)] if message.role is Role.CUSTOM else text
    return replace(message, parts=(TextPart(f"The host says:\n{text} and so on"),), source_json="")


def _joined(pairs: Sequence[SentBack]) -> list[SentBack]:
    joined: list[SentBack] = []
    for one in pairs:
        is_text = one.message.role in (Role.USER, Role.CUSTOM)
        if is_text and joined and joined[-1].message.role in (Role.USER, Role.CUSTOM):
            before = joined.pop()
            text = f"{text_of(before.message)}\n\n{text_of(one.message)}"
            one = SentBack(Message(Role.USER, (TextPart(text),)), (*before.of, *one.of))
        joined.append(one)
    return joined


def _with_raw_results(pairs: Sequence[SentBack], shown: "Shown") -> list[SentBack]:
    raw = {(one.tool_call_id, one.timestamp_ms): one for one in shown.raw if one.role is Role.TOOL_RESULT}
    found: list[SentBack] = []
    stubs = 0
    for one in pairs:
        message = one.message
        if message.role is Role.TOOL_RESULT and message not in shown.raw:
            stubs += 1
            if stubs % 2:
                one = SentBack(raw[message.tool_call_id, message.timestamp_ms], ())
        found.append(one)
    return found


@dataclass
class FedBack:
    """The messages of ours in the histories of one host, each with what its refs meant when it was sent back."""

    meant: dict[int, tuple[Message, dict[str, str]]] = field(default_factory=dict)

    def learn(self, shown: "Shown", sent: Sequence[SentBack]) -> None:
        """A view is about to be sent back."""
        for one in sent:
            meant: dict[str, str] = {}
            for message in one.of:
                place = next((at for at, raw in enumerate(shown.raw) if raw == message), None)
                if place is not None:
                    meant |= self.meant.get(id(shown.sent[place]), (None, {}))[1]
                else:
                    meant |= {ref: shown.texts[ref] for ref in named_in(message)}
            if meant:
                self.meant[id(one.message)] = (one.message, meant)

    async def check(self, world: World, state: SessionState, shown: "Shown") -> None:
        """What is shown names nothing that cannot be asked for, and what was sent back means what it meant.

        That is: unless the ref was given to something else on the history before the message. Then a stub has another.
        """
        for message in shown.view:
            if message not in shown.raw:
                for ref in named_in(message):
                    text = await text_of_ref(world, state, ref)
                    assert text is not None, message
                    shown.texts[ref] = text
        means: dict[str, str | None] = {}
        given = _given(state)
        for place, message in enumerate(shown.sent):
            for ref, text in self.meant.get(id(message), (message, {}))[1].items():
                if ref not in means:
                    means[ref] = await text_of_ref(world, state, ref)
                if means[ref] == text:
                    continue
                assert means[ref] is not None and given[ref] <= place, (place, ref, message)
                if message.role is Role.TOOL_RESULT:
                    other = state.decisions.index.short_ref(state.transcript.keys[place])
                    assert other is not None, (place, ref, message)
                    assert await text_of_ref(world, state, other) == text, (place, ref, other, message)


def _given(state: SessionState) -> dict[str, int]:
    """How long the history was when each ref was given to what it means."""
    given: dict[str, int] = {}
    for commit in state.decisions.commits:
        for entry in commit.entries:
            if isinstance(entry, IndexEntry):
                given |= {ref.short_id: commit.anchor_length for ref in entry.refs or ()}
            elif isinstance(entry, SummaryEntry):
                given |= {ref.short_id: commit.anchor_length for ref in entry.details.refs}
    return given


async def text_of_ref(world: World, state: SessionState, ref: str) -> str | None:
    """The original that a ref stands for."""
    index = state.decisions.index
    key = index.key_of_ref(ref)
    record = None if key is None else index.record_of_key(key)
    return None if record is None else await world.engine.read_text(state.row.session_id, record)


class Shown(Protocol):
    """A session as it was found: what was sent, the same with its times, the view, and what the refs in it mean."""

    sent: list[Message]
    raw: list[Message]
    view: list[Message]
    texts: dict[str, str]
