"""A host that sends back what it was shown: its history now holds our stubs, summaries and blocks.

That is another branch, on which nothing was decided. But the model sees the refs in it, so that they go on to mean
what they meant: the records come along, those of results that arrive as their stubs under the keys that these have
now, and new refs get other numbers. A host that merely goes back has been shown nothing of it, and gets nothing.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import groupby

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

    Each stands right behind the message that shows it, those that are shown by summaries and blocks behind the first
    message that shows anything, so that they stay as long as the message does. `before`: what was known on that
    branch; `arrived`: the new messages by position.
    """
    if not before.known_count:
        return
    moved = dict(_stubs(state, before, arrived))
    texts = set(before.every_summary_text())
    shown = [position for position, message in arrived.items() if _is_ours(message, before, texts)]
    shown += [position for position, _ in moved.values()]
    if not shown:
        return
    here = state.decisions.index
    keys = [key for key in before.known_keys() if before.short_ref(key) and not here.is_summarized(key)]
    names = {key: _key(moved[key][1]) for key in moved}
    places = sorted((moved[key][0] if key in moved else min(shown), at) for at, key in enumerate(keys))
    for position, group in groupby(places, key=lambda place: place[0]):
        carried = [keys[at] for _, at in group]
        entries = _entries(before, {key: moved[key][1] if key in moved else None for key in carried}, names)
        state.decide(entries, now_ms, anchor=position + 1)


def _stubs(
    state: SessionState, before: SessionIndex, arrived: Mapping[int, Message]
) -> Iterator[tuple[str, tuple[int, ParsedKey]]]:
    """The keys of results that arrive as their stubs, with where they are and what identifies them now."""
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
            identity = ParsedKey(message.tool_call_id, time_ms, state.transcript.numbers[position])
            yield (same_id or fitting)[0], (position, identity)


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


def _entries(before: SessionIndex, carried: Mapping[str, ParsedKey | None], names: Mapping[str, str]) -> list[Entry]:
    """Records with their refs as one entry, and one for each duplicate. `names`: the new keys of all that have some."""
    records: list[Record] = []
    refs: list[Ref] = []
    aliases: list[Entry] = []
    for key, identity in carried.items():
        record, ref, original = before.record_of_key(key), before.short_ref(key), before.original_of(key)
        if record is None or ref is None:
            continue
        if identity is not None:
            record = record._replace(
                tool_call_id=identity.tool_call_id,
                result_timestamp_ms=identity.result_timestamp_ms,
                occurrence=identity.occurrence,
            )
        if original is None:
            records.append(record)
            refs.append(Ref(ref, record.tool_call_id, record.result_timestamp_ms, record.occurrence))
        else:
            aliases.append(AliasEntry(names.get(key, key), names.get(original, original), record, identity))
    return [*([IndexEntry(tuple(records), tuple(refs))] if records else []), *aliases]


def _key(identity: ParsedKey) -> str:
    return occurrence_key(identity.tool_call_id, identity.result_timestamp_ms, identity.occurrence)
