"""Which refs the messages of a host show: results that are our stubs, and summaries and blocks of ours.

They are known by what they look like and by the refs that they name, not by who decided them: a host can have sent
them back before, and then nothing was decided about them where it did. Hosts trim texts and join them, so that a
summary or a block counts wherever it stands in a text. Text that merely looks like a stub is none: its call must be one
of the calls that the ref stands for.
"""

import re
from collections.abc import Sequence

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import CUSTOM, TOOL_RESULT, USER, Message, TextPart, text_of
from condense_grpc.domain.occurrence import ParsedKey, occurrence_key
from condense_grpc.domain.refs import refs_in_footers
from condense_grpc.domain.skeleton import BLOCK_OPENING, STUB_OPENINGS
from condense_grpc.engine.transcript import Transcript

_BEFORE_REF = "ref `"
_STUB_REF = re.compile(_BEFORE_REF + "(t[0-9]+)`")
_BLOCK = re.compile(BLOCK_OPENING + r'b[0-9]+" tools="([^"]*)">\n')
_QUOTED_REF = re.compile(r"`(t[0-9]+)`")


@frozen
class Shown:
    """A message that shows refs. `identity`: what identifies a result now, if it is one that looks like a stub."""

    position: int
    message: Message
    refs: Sequence[str]
    identity: ParsedKey | None

    @property
    def text(self) -> str:
        """What it says."""
        return text_of(self.message)

    @property
    def key_now(self) -> str:
        """The key that the result has."""
        assert self.identity is not None
        return occurrence_key(self.identity.tool_call_id, self.identity.result_timestamp_ms, self.identity.occurrence)


def shown_at(transcript: Transcript, position: int, message: Message) -> Shown | None:
    """What the message at a position shows; None if it names no ref."""
    refs = named_refs(message)
    if not refs:
        return None
    if message.role is not TOOL_RESULT:
        return Shown(position, message, refs, None)
    skeleton = transcript.skeletons[position]
    identity = ParsedKey(skeleton.tool_call_id, skeleton.timestamp_ms, transcript.numbers[position])
    return Shown(position, message, refs, identity)


def named_refs(message: Message) -> list[str]:
    """The refs that a message names if it is what it looks like: a stub, a summary, a block. Each once."""
    role = message.role
    if role is TOOL_RESULT:
        return _named_by_stub(message)
    if role is not USER and role is not CUSTOM:
        return []
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return list(dict.fromkeys([ref for text in texts for ref in _named_in(text)]))


def _named_by_stub(message: Message) -> list[str]:
    first = message.parts[0] if message.parts else None
    if not isinstance(first, TextPart) or not first.text.startswith(STUB_OPENINGS):
        return []
    text = text_of(message)
    # A stub names its ref behind everything else that it shows.
    found = _STUB_REF.match(text, max(text.rfind(_BEFORE_REF), 0))
    return [] if found is None else [found[1]]


def _named_in(text: str) -> list[str]:
    found = refs_in_footers(text)
    if BLOCK_OPENING not in text:
        return found
    for block in _BLOCK.finditer(text):
        found += [ref for ref in block[1].split(",") if ref]
        found += _QUOTED_REF.findall(text, block.end())
    return found
