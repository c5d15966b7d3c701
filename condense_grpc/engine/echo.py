"""A host that sends back what it was shown: its history now holds our stubs, summaries and blocks.

That is another branch, on which nothing was decided. But the model sees the refs in it, so that they go on to mean
what they meant: the records come along, those of results that arrive as their stubs under the keys that these have
now, and new refs get other numbers. A host that merely goes back has been shown nothing of it, and gets nothing.

Each record stands right behind the message that shows it first, so that it stays as long as the message does. No
duplicate stands before its original, and no record takes the key of a result that is not its own.
"""

from collections.abc import Collection, Hashable, Mapping

from condense_grpc.domain.batches import Record, Ref
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.messages import Message, Role
from condense_grpc.domain.occurrence import ParsedKey, parse_key
from condense_grpc.engine.shown_refs import Stub, find_stubs, keys_by_ref, named_refs
from condense_grpc.engine.state import SessionState

# A record whose key another result has gets a number that no result comes to.
_OUT_OF_REACH = 1_000_000_000


def keep_refs(state: SessionState, before: SessionIndex, arrived: Mapping[int, Message], now_ms: int) -> None:
    """Carry over the records of a branch that was left, if the new messages show refs of it.

    Those that none of them shows come with the first that shows anything: the model may have seen them before.
    `before`: what was known on that branch; `arrived`: the new messages by position.
    """
    if not before.known_count:
        return
    named = {position: refs for position, message in arrived.items() if (refs := named_refs(message))}
    if not named:
        return
    left = _Left(state, before)
    results = {at: refs[0] for at, refs in named.items() if arrived[at].role is Role.TOOL_RESULT}
    fitting = {at: (arrived[at], ref) for at, ref in results.items() if ref in left.keys}
    stubs = find_stubs(state.transcript, fitting, before, left.keys, left.present)
    mentions = {at: [ref for ref in refs if ref in left.keys] for at, refs in named.items() if at not in results}
    shown = sorted({*stubs, *(at for at, refs in mentions.items() if refs)})
    if not shown:
        return
    carrying = _Carrying(left, stubs.values())
    carrying.take_all_without_stub()
    for position in shown:
        for ref in mentions.get(position, ()):
            carrying.take_original(ref)
        if position in stubs:
            carrying.take_stub(stubs[position])
        state.decide(carrying.entries(), now_ms, anchor=position + 1)


class _Left:
    """What was known on the branch that was left and can be carried over: the keys of every ref, their records.

    A ref that means something else here is none of them. `present`: the keys of which the very result is here too.
    """

    def __init__(self, state: SessionState, before: SessionIndex) -> None:
        self.here = state.decisions.index
        self.keys = keys_by_ref(before)
        self.records = {
            key: record
            for keys in self.keys.values()
            for key in keys
            if (record := before.record_of_key(key)) is not None
        }
        self.nodes = dict(zip(state.transcript.keys, state.transcript.nodes, strict=True))
        self.present = {
            key
            for key, record in self.records.items()
            if record.source is not None and self.nodes.get(key) == record.source.result_node
        }
        self.known_here = self._known_here()
        for ref, (owner, *_) in list(self.keys.items()):
            if self.here.key_of_ref(ref) is not None and not self.is_known_here(ref, owner):
                del self.keys[ref]

    def _known_here(self) -> set[tuple[str, Hashable]]:
        here = self.here
        records = [(here.short_ref(key), here.record_of_key(key)) for key in here.known_keys()]
        return {(ref, _original(record)) for ref, record in records if ref is not None and record is not None}

    def is_known_here(self, ref: str, key: str) -> bool:
        """Whether the ref stands for the same original here, under whatever key."""
        return (ref, _original(self.records[key])) in self.known_here


class _Carrying:
    """What is carried over in one append, in the order of the messages."""

    def __init__(self, left: _Left, stubs: Collection[Stub]) -> None:
        self._left = left
        self._stub_keys = {stub.key for stub in stubs if stub.key not in left.present}
        self._keys_now = {stub.key_now: stub.key for stub in stubs}
        self._taken: set[str] = set()
        self._owners: dict[str, str] = {}
        for ref, (owner, *_) in left.keys.items():
            if left.is_known_here(ref, owner):
                self._owners[ref] = left.here.key_of_ref(ref) or owner
        self._records: list[Record] = []
        self._refs: list[Ref] = []
        self._aliases: list[AliasEntry] = []

    def entries(self) -> list[Entry]:
        """What was taken since the last time, originals first."""
        found: list[Entry] = [IndexEntry(tuple(self._records), tuple(self._refs))] if self._records else []
        found += self._aliases
        self._records, self._refs, self._aliases = [], [], []
        return found

    def take_all_without_stub(self) -> None:
        """The originals that arrive as no stub, with their duplicates, and further duplicates of what is known."""
        for ref, (owner, *_) in self._left.keys.items():
            if ref in self._owners:
                self._take_duplicates(ref)
            elif owner not in self._stub_keys:
                self.take_original(ref)

    def take_original(self, ref: str, stub: Stub | None = None) -> None:
        """The original of a ref, unless it is here: under the key of its stub, else under its old one."""
        if ref in self._owners:
            return
        record = self._record(self._left.keys[ref][0], stub)
        self._owners[ref] = record.key
        self._records.append(record)
        self._refs.append(Ref(ref, record.tool_call_id, record.result_timestamp_ms, record.occurrence))
        self._take_duplicates(ref)

    def take_stub(self, stub: Stub) -> None:
        """The result that arrives as a stub: it is the original, or repeats it."""
        if self._left.here.is_summarized(stub.key_now):
            return
        if stub.key == self._left.keys[stub.ref][0] and stub.key not in self._left.present:
            self.take_original(stub.ref, stub)
        else:
            self.take_original(stub.ref)
        if stub.key_now not in self._taken:
            self._take_duplicate(stub.ref, self._record(stub.key, stub))

    def _take_duplicates(self, ref: str) -> None:
        for key in self._left.keys[ref][1:]:
            if key not in self._stub_keys and not self._left.is_known_here(ref, key):
                self._take_duplicate(ref, self._record(key))

    def _take_duplicate(self, ref: str, record: Record) -> None:
        identity = ParsedKey(record.tool_call_id, record.result_timestamp_ms, record.occurrence)
        written = None if parse_key(record.key) == identity else identity
        self._aliases.append(AliasEntry(record.key, self._owners[ref], record, written))

    def _record(self, key: str, stub: Stub | None = None) -> Record:
        """The record of a key as it is filed here."""
        record, number = self._left.records[key], _OUT_OF_REACH
        if stub is not None:
            record = record._replace(
                tool_call_id=stub.identity.tool_call_id,
                result_timestamp_ms=stub.identity.result_timestamp_ms,
                occurrence=stub.identity.occurrence,
            )
        else:
            while self._is_taken(record.key, key):
                record, number = record._replace(occurrence=number), number + 1
        self._taken.add(record.key)
        return record

    def _is_taken(self, key: str, old_key: str) -> bool:
        """Whether another result has this key here."""
        if key in self._taken or self._left.here.is_summarized(key):
            return True
        is_own = old_key in self._left.present or self._keys_now.get(key) == old_key
        return key in self._left.nodes and not (key == old_key and is_own)


def _original(record: Record) -> Hashable:
    """What the copies of a record on all branches share."""
    return record.source or (record.tool_name, record.text, record.args_json)
