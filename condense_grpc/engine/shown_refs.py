"""Which refs the messages of a host show: results that are our stubs, and summaries and blocks of ours.

They are known by what they look like and by the refs that they name, not by who decided them: a host can have sent
them back before, and then nothing was decided about them where it did. Text that merely looks like a stub is none: its
call must be one of the calls that the ref stands for.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message, Role, TextPart, text_of
from condense_grpc.domain.occurrence import ParsedKey, occurrence_key
from condense_grpc.domain.refs import refs_in_footer
from condense_grpc.domain.render import is_stub_of
from condense_grpc.engine.transcript import Transcript

KeysByRef = Mapping[str, Sequence[str]]
_BEFORE_REF = "ref `"
_STUB_REF = re.compile(_BEFORE_REF + "(t[0-9]+)`")
_BLOCK = re.compile(r'<compressed-chain id="b[0-9]+" tools="([^"]*)">\n')
_QUOTED_REF = re.compile(r"`(t[0-9]+)`")


@frozen
class Stub:
    """A result that arrives as a stub: the ref in it, the key that it stands for, and what identifies it now."""

    ref: str
    key: str
    identity: ParsedKey

    @property
    def key_now(self) -> str:
        """The key that the result has."""
        return occurrence_key(self.identity.tool_call_id, self.identity.result_timestamp_ms, self.identity.occurrence)


def keys_by_ref(index: SessionIndex) -> dict[str, list[str]]:
    """The keys that each ref stands for: first the one that it was given to, then those of duplicates."""
    found: dict[str, list[str]] = {}
    for key in index.known_keys():
        ref = index.short_ref(key)
        owner = None if ref is None else index.key_of_ref(ref)
        if ref is None or owner is None or index.record_of_key(owner) is None:
            continue
        keys = found.setdefault(ref, [owner])
        if key != owner:
            keys.append(key)
    return found


def named_refs(message: Message) -> list[str]:
    """The refs that a message names if it is what it looks like: a stub, a summary, a block. Each once."""
    if message.role is Role.TOOL_RESULT:
        text = text_of(message)
        # A stub names its ref behind everything else that it shows.
        found = _STUB_REF.match(text, max(text.rfind(_BEFORE_REF), 0))
        return [] if found is None else [found[1]]
    if message.role not in (Role.USER, Role.CUSTOM):
        return []
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    return list(dict.fromkeys(ref for text in texts for ref in _named_in(text)))


def _named_in(text: str) -> Iterable[str]:
    block = _BLOCK.match(text)
    if block is not None:
        return [*block[1].split(","), *_QUOTED_REF.findall(text, block.end())]
    return refs_in_footer(text)


def find_stubs(
    transcript: Transcript,
    named: Mapping[int, tuple[Message, str]],
    index: SessionIndex,
    known: KeysByRef,
    present: Collection[str],
) -> dict[int, Stub]:
    """The stubs among results that name a known ref, by position. Each stands for a key of its own while there is one.

    One that has come with its time is known by it; of the others the first stands for the original. `present` keys
    have their own result here and are left out. Those in excess stand for a key that has a stub already.
    """
    found: dict[int, Stub] = {}
    free = {ref: {key: None for key in known[ref] if key not in present} for _, ref in named.values()}
    stubs = {at: Stub(ref, "", _identity(transcript, at)) for at, (_, ref) in named.items()}
    for is_timed in (True, False):
        for position, stub in stubs.items():
            if position in found:
                continue
            message, own = named[position][0], free[stub.ref]
            if is_timed:
                key = _key_of_stub(message, stub.ref, [stub.key_now], index) if stub.key_now in own else None
            else:
                key = _key_of_stub(message, stub.ref, own, index)
                key = key or _key_of_stub(message, stub.ref, known[stub.ref], index)
            if key is not None:
                own.pop(key, None)
                found[position] = replace(stub, key=key)
    return found


def _identity(transcript: Transcript, position: int) -> ParsedKey:
    skeleton = transcript.skeletons[position]
    return ParsedKey(skeleton.tool_call_id, skeleton.timestamp_ms, transcript.numbers[position])


def _key_of_stub(message: Message, ref: str, keys: Iterable[str], index: SessionIndex) -> str | None:
    """The first of these keys that a result is the stub of.

    Where calls have no ids, what names them changes with their place: then the tool must be the same.
    """
    other = None
    for key in keys:
        record = index.record_of_key(key)
        if record is None or not is_stub_of(text_of(message), record, ref):
            continue
        if record.tool_call_id == message.tool_call_id:
            return key
        if other is None and record.tool_name == message.tool_name:
            other = key
    return other
