"""What a host has sent back of a view: every ref that such a message names goes on to mean what it meant."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from condense_grpc.domain.messages import Message, Role, text_of
from condense_grpc.engine.state import SessionState
from tests.engine.harness import World

_STUB = re.compile(r"ref `(t[0-9]+)`")
_NAMED = re.compile(r"`(t[0-9]+)`")
_BLOCK = re.compile(r'<compressed-chain id="b[0-9]+" tools="([^"]*)">')


def named_in(message: Message) -> list[str]:
    """The refs that a message of ours names to a model, whatever else its text says."""
    text = text_of(message)
    if message.role is Role.TOOL_RESULT:
        return _STUB.findall(text)[-1:]
    if text.startswith("<compressed-chain"):
        return [ref for ref in _BLOCK.findall(text)[0].split(",") if ref]
    return _NAMED.findall(text.rpartition("**Summarized tool refs**")[2])


@dataclass
class FedBack:
    """The messages of ours in the histories of one host, each with what its refs meant when it was sent back."""

    meant: dict[int, tuple[Message, dict[str, str]]] = field(default_factory=dict)

    async def learn(
        self, world: World, state: SessionState, shown: "Shown", sent: Sequence[Message], history: Sequence[Message]
    ) -> None:
        """A view is about to be sent back; `sent` is what its messages are then."""
        for message, one in zip(shown.view, sent, strict=True):
            place = next((at for at, raw in enumerate(shown.raw) if raw == message), None)
            if place is not None:
                known = self.meant.get(id(history[place]))
                if known is not None:
                    self.meant[id(one)] = (one, known[1])
            elif refs := named_in(message):
                texts = {ref: await text_of_ref(world, state, ref) for ref in refs}
                self.meant[id(one)] = (one, {ref: text for ref, text in texts.items() if text is not None})

    async def check(self, world: World, state: SessionState, shown: "Shown", history: Sequence[Message]) -> None:
        """What is shown names nothing that cannot be asked for, and what was sent back means what it meant."""
        for message in shown.view:
            refs = named_in(message)
            if refs and message not in shown.raw:
                assert not [ref for ref in refs if await text_of_ref(world, state, ref) is None], message
        means: dict[str, str | None] = {}
        for place, message in enumerate(history):
            for ref, text in self.meant.get(id(message), (message, {}))[1].items():
                if ref not in means:
                    means[ref] = await text_of_ref(world, state, ref)
                assert means[ref] == text, (place, ref, message)


async def text_of_ref(world: World, state: SessionState, ref: str) -> str | None:
    """The original that a ref stands for."""
    index = state.decisions.index
    key = index.key_of_ref(ref)
    record = None if key is None else index.record_of_key(key)
    return None if record is None else await world.engine.read_text(state.row.session_id, record)


class Shown(Protocol):
    """A session as it was found."""

    raw: list[Message]
    view: list[Message]
