"""A host that sends back what it was shown: its history now holds our stubs, summaries and blocks.

That is another branch, on which nothing was decided. But the model sees the refs in it, so that they go on to mean
what they meant: the records come along, those of results that arrive as their stubs under the keys that these have
now, and new refs get other numbers. A host that merely goes back has been shown nothing of it, and gets nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from condense_grpc.domain.batches import Record, Ref
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message, Role, TextPart, text_of
from condense_grpc.domain.occurrence import ParsedKey, occurrence_key
from condense_grpc.domain.render import is_stub_of
from condense_grpc.engine.state import SessionState

_REF = re.compile(r"ref `(t[0-9]+)`")
_BLOCK = re.compile(r'<compressed-chain id="(b[0-9]+)" tools="')


def keep_refs(state: SessionState, before: SessionIndex, arrived: Mapping[int, Message], now_ms: int) -> None:
    """Carry over the records of a branch that was left, if the new messages show refs of it.

    `before`: what was known on that branch; `arrived`: the new messages by position.
    """
    if not before.known_count:
        return
    moved = dict(_stubs(state, before, arrived))
    texts = set(before.every_summary_text())
    if moved or any(_is_ours(message, before, texts) for message in arrived.values()):
        state.decide(_entries(before, moved), now_ms)


def _stubs(
    state: SessionState, before: SessionIndex, arrived: Mapping[int, Message]
) -> Iterator[tuple[str, ParsedKey]]:
    """The keys of results that arrive as their stubs, with what identifies them now."""
    for position, message in arrived.items():
        text = text_of(message) if message.role is Role.TOOL_RESULT else ""
        found = _REF.search(text)
        if found is None:
            continue
        named = {key: before.record_of_key(key) for key in before.keys_of_ref(found[1])}
        fitting = [
            key for key, record in named.items() if record is not None and _stands_for(message, record, found[1])
        ]
        if fitting:
            same_id = [key for key in fitting if named[key].tool_call_id == message.tool_call_id]  # type: ignore[union-attr]
            time_ms = state.transcript.skeletons[position].timestamp_ms
            yield (same_id or fitting)[0], ParsedKey(message.tool_call_id, time_ms, state.transcript.numbers[position])


def _stands_for(message: Message, record: Record, ref: str) -> bool:
    """Whether a result is the stub of a record. Where calls have no ids, what names them changes with their place."""
    is_same_call = message.tool_call_id == record.tool_call_id or message.tool_name == record.tool_name
    return is_same_call and is_stub_of(text_of(message), record, ref)


def _is_ours(message: Message, before: SessionIndex, summaries: Collection[str]) -> bool:
    """Whether a message shows a summary or a block."""
    if message.role not in (Role.USER, Role.CUSTOM):
        return False
    texts = [part.text for part in message.parts if isinstance(part, TextPart)]
    blocks = [match[1] for match in map(_BLOCK.match, texts) if match is not None]
    return any(text in summaries for text in texts) or any(before.chain_by_block(block) for block in blocks)


def _entries(before: SessionIndex, moved: Mapping[str, ParsedKey]) -> list[Entry]:
    """Everything with a ref, as one entry of records and one for each duplicate."""
    keys = {key: _key(moved[key]) if key in moved else key for key in before.known_keys()}
    records: list[Record] = []
    refs: list[Ref] = []
    aliases: list[Entry] = []
    for key, new_key in keys.items():
        record, ref = before.record_of_key(key), before.short_ref(key)
        if record is None or ref is None:
            continue
        if key in moved:
            identity = moved[key]
            record = replace(
                record,
                tool_call_id=identity.tool_call_id,
                result_timestamp_ms=identity.result_timestamp_ms,
                occurrence=identity.occurrence,
            )
        original = before.original_of(key)
        if original is not None:
            aliases.append(AliasEntry(new_key, keys.get(original, original), record, moved.get(key)))
            continue
        records.append(record)
        refs.append(Ref(ref, record.tool_call_id, record.result_timestamp_ms, record.occurrence))
    return [IndexEntry(tuple(records), tuple(refs)), *aliases]


def _key(identity: ParsedKey) -> str:
    return occurrence_key(identity.tool_call_id, identity.result_timestamp_ms, identity.occurrence)
