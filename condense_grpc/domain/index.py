"""The index of a session: which results are filed, under which refs, covered by which summaries and chains.

It is a replay of the session's entries and nothing else. Applying entries one by one as they are made gives the same
answers as rebuilding from the whole log, and every lookup costs about the same however long the session is.
Texts and arguments of records may be absent (they lie in the stored messages); no rule here needs them.
"""

from collections.abc import Iterable, Sequence
from operator import eq

from condense_grpc.domain.batches import Record, Ref
from condense_grpc.domain.chain_registry import ChainRegistry
from condense_grpc.domain.entries import (
    AliasEntry,
    ChainEntry,
    Entry,
    IndexEntry,
    PinEntry,
    SkipEntry,
    SummaryEntry,
)
from condense_grpc.domain.multimap import MultiMap
from condense_grpc.domain.occurrence import DISPLACED, ParsedKey, occurrence_key, occurrence_keys, parse_key
from condense_grpc.domain.pins import PinBoard
from condense_grpc.domain.refs import ref_number


class SessionIndex:
    """The index of one session, owned by it. Mutable and not thread-safe.

    Names that lookups accept: occurrence keys, bare ids, short refs. None is an error; what is unknown gives None,
    False or nothing.
    """

    def __init__(self) -> None:
        self.pins = PinBoard()
        self._chains = ChainRegistry()
        self._next_ref_number = 1
        self._filed: dict[str, Record] = {}
        self._filed_by_id = MultiMap[str]()
        # Duplicates stand apart from filed records, so that neither the order of lookups by id nor who wins depends
        # on whether an alias was applied when it was made or after everything else.
        self._original_of: dict[str, str] = {}
        self._own_record: dict[str, Record] = {}
        self._own_by_id = MultiMap[str]()
        self._without_record: dict[str, ParsedKey] = {}
        self._without_by_id = MultiMap[str]()
        self._key_of_ref: dict[str, str] = {}
        self._ref_of_key: dict[str, str] = {}
        self._first_by_content: dict[tuple[str, bool], str] = {}
        self._summaries: list[tuple[tuple[str, ...], str]] = []
        self._summaries_of_key = MultiMap[int]()
        self._skipped: set[str] = set()
        # What only a flush or a look-up by id asks for is put in order when it is asked for: a load does without.
        self._not_listed: list[tuple[Sequence[Record], Sequence[str]]] = []
        self._not_compared: list[Record] = []
        self._not_counted: list[str] = []

    @classmethod
    def rebuild(cls, entries: Iterable[Entry]) -> "SessionIndex":
        """The index after these entries. Aliases come last: an imported one may stand before its original."""
        index = cls()
        aliases: list[AliasEntry] = []
        for entry in entries:
            if isinstance(entry, AliasEntry):
                aliases.append(entry)
            else:
                index.apply(entry)
        for alias in aliases:
            index.apply(alias)
        return index

    def apply(self, entry: Entry) -> None:
        """Take in one entry; kinds that the index does not know change nothing."""
        match entry:
            case IndexEntry():
                self._file(entry.records, register_content=not entry.backfilled)
                self.register_refs(entry.refs or ())
            case SummaryEntry():
                keys = occurrence_keys(entry.details.refs)
                self._map_refs(entry.details.refs, keys)
                self.remember_summary(keys, entry.text)
            case SkipEntry():
                self.mark_skipped(
                    occurrence_key(call.tool_call_id, call.result_timestamp_ms, call.occurrence) for call in entry.calls
                )
            case ChainEntry():
                self.add_chain(entry)
            case AliasEntry():
                self.add_alias(entry)
            case PinEntry():
                self.pins.apply(entry)
            case _:
                pass

    def file_record(self, record: Record, register_content: bool) -> None:
        """File a record under its key, in place of an earlier one. The first record of a content stays its original."""
        self._file((record,), register_content=register_content)

    def _file(self, records: Sequence[Record], *, register_content: bool) -> None:
        filed, keys = self._filed, occurrence_keys(records)
        new = dict(zip(keys, records, strict=True))
        if len(new) == len(keys) and filed.keys().isdisjoint(new):
            self._not_listed.append((records, keys))
            filed.update(new)
        else:
            for key, record in zip(keys, records, strict=True):
                earlier = filed.get(key)
                if earlier is None or earlier.tool_call_id != record.tool_call_id:
                    self._not_listed.append(((record,), (key,)))
                filed[key] = record
        if register_content:
            self._not_compared += records

    def register_refs(self, refs: Iterable[Ref]) -> None:
        """Map refs to keys and back (later wins), and take their numbers."""
        listed = tuple(refs)
        self._map_refs(listed, occurrence_keys(listed))

    def _map_refs(self, refs: Sequence[Ref], keys: Sequence[str]) -> None:
        """The same for refs with their keys."""
        short_ids: Sequence[str] = [ref.short_id for ref in refs]
        self._not_counted += short_ids
        if not all(short_ids) or any(map(eq, short_ids, keys)):
            pairs = [(one, key) for one, key in zip(short_ids, keys, strict=True) if one and one != key]
            short_ids, keys = [one for one, _ in pairs], [key for _, key in pairs]
        self._key_of_ref.update(zip(short_ids, keys, strict=True))
        self._ref_of_key.update(zip(keys, short_ids, strict=True))

    def remember_summary(self, keys: Iterable[str], text: str) -> None:
        """Remember which text covers these keys; an empty text covers nothing."""
        if not text:
            return
        covered = tuple(dict.fromkeys(keys))
        self._summaries_of_key.add_to_all(covered, len(self._summaries))
        self._summaries.append((covered, text))

    def mark_skipped(self, keys: Iterable[str]) -> None:
        """Settle keys that were looked at and left alone."""
        self._skipped.update(keys)

    def add_alias(self, alias: AliasEntry) -> None:
        """Register a duplicate. One without a record of its own counts only if its original is filed."""
        key, identity = alias.new_key, alias.new_identity or _identity(alias)
        if alias.record is not None:
            if key not in self._own_record:
                self._own_by_id.add(identity.tool_call_id, key)
            self._own_record[key] = _under(alias.record, key, identity)
        elif not self._has_record(alias.original_key):
            return
        elif key not in self._without_record:
            self._without_by_id.add(identity.tool_call_id, key)
            self._without_record[key] = identity
        self._original_of[key] = alias.original_key

    def add_chain(self, entry: ChainEntry) -> None:
        """Register a compressed chain in place of an earlier one with the same start."""
        self._chains.add(entry)

    def is_summarized(self, key: str) -> bool:
        """Whether the key is filed or an alias; never by its bare id."""
        return key in self._filed or key in self._original_of

    def is_alias(self, key: str) -> bool:
        """Whether the key is that of a duplicate."""
        return key in self._original_of

    def is_settled(self, key: str) -> bool:
        """Whether capture leaves the key alone: filed, an alias, or skipped."""
        return key in self._filed or key in self._original_of or key in self._skipped

    def unsettled(self, keys: Iterable[str]) -> list[str]:
        """Those of these keys that are not settled, in their order."""
        filed, originals, skipped = self._filed, self._original_of, self._skipped
        return [key for key in keys if key not in filed and key not in originals and key not in skipped]

    def is_skipped(self, key: str) -> bool:
        """Whether the key carries a skip mark."""
        return key in self._skipped

    def is_pinned(self, key: str, tool_call_id: str) -> bool:
        """Whether a result is pinned: by its key, or by its id where an old record has nothing else."""
        return key in self.pins or (tool_call_id in self.pins and self.legacy_bare(tool_call_id))

    def original_of(self, key: str) -> str | None:
        """The key that a duplicate repeats; None for any other key."""
        return self._original_of.get(key)

    def legacy_bare(self, tool_call_id: str) -> bool:
        """Whether the bare id itself is a filed key and the only one with this id.

        An id may look like the key of another one: a key counts only where it belongs to the id.
        """
        return self._has_record(tool_call_id) and list(self._keys_of_id(tool_call_id)) == [tool_call_id]

    def resolve(self, name: str) -> str | None:
        """The key that a name stands for: a filed key, an alias, a short ref, or an id with exactly one key."""
        if self._has_record(name):
            return name
        for known in (self._original_of, self._key_of_ref):
            if name in known:
                return known[name]
        keys = self._keys_of_id(name)
        return keys[0] if len(keys) == 1 else None

    def key_of_ref(self, ref: str) -> str | None:
        """The key that a short ref was given to."""
        return self._key_of_ref.get(ref)

    def known_keys(self) -> list[str]:
        """The keys of all results that are filed or repeat one, each once."""
        return list(dict.fromkeys((*self._filed, *self._original_of)))

    @property
    def known_count(self) -> int:
        """How many results are filed or repeat one."""
        return len(self._filed) + len(self._original_of)

    def record(self, name: str) -> Record | None:
        """The record that a name resolves to."""
        key = self.resolve(name)
        return None if key is None else self._stored(key)

    def record_of_key(self, key: str) -> Record | None:
        """The key's own record; for a duplicate without one the original's under the duplicate's identity."""
        own = self._stored(key)
        if own is not None or key not in self._original_of:
            return own
        original = self._stored(self._original_of[key])
        return None if original is None else _under(original, key, self._without_record[key])

    def records(self, name: str) -> list[Record]:
        """All records with this bare id by time, duplicates included; else what the name resolves to."""
        copies = (key for key in self._without_by_id.get(name) if not self._has_record(key))
        keys = [*self._keys_of_id(name), *copies]
        found = [record for record in map(self.record_of_key, keys) if record is not None]
        if not found:
            single = self.record(name)
            return self._displaced(name) if single is None else [single]
        return sorted(found, key=_time)

    def _displaced(self, key: str) -> list[Record]:
        """The records of results that had this key, and are not in the history any more."""
        had = parse_key(key)
        kept = [self._stored(one) for one in self._keys_of_id(had.tool_call_id)]
        return [
            record
            for record in kept
            if record is not None
            and (record.occurrence or 0) >= DISPLACED
            and record.result_timestamp_ms == had.result_timestamp_ms
        ]

    def short_ref(self, key: str) -> str | None:
        """The ref of a key; a duplicate has that of its original."""
        original = self._original_of.get(key)
        shared = None if original is None else self._ref_of_key.get(original)
        return self._ref_of_key.get(key) if shared is None else shared

    def refs_for(self, keys: Iterable[str]) -> list[str]:
        """The refs of keys in their order; unknown ones are left out, repeated ones stay."""
        return [ref for ref in map(self.short_ref, keys) if ref is not None]

    def covers_any(self, keys: Iterable[str]) -> bool:
        """Whether some summary covers one of the keys."""
        return any(key in self._summaries_of_key for key in keys)

    def summaries_sharing(self, keys: Iterable[str]) -> list[int]:
        """The numbers of the summaries that cover one of the keys, in the order in which they were remembered."""
        return sorted(self._summaries_of_key.of_any(keys))

    def summary_texts(self, keys: Iterable[str]) -> list[str]:
        """The distinct texts of the summaries that cover one of the keys, in remembered order."""
        return list(dict.fromkeys(self._summaries[number][1] for number in self.summaries_sharing(keys)))

    def summary_keys(self, number: int) -> Sequence[str]:
        """The keys that a summary covers."""
        return self._summaries[number][0]

    def by_content(self, content_hash: str, is_error: bool) -> str | None:
        """The first key that was registered for a content."""
        first = self._first_by_content
        for record in self._not_compared:
            content = record.content_key
            if content is not None and content not in first:
                first[content] = record.key
        self._not_compared.clear()
        return first.get((content_hash, is_error))

    @property
    def next_ref_number(self) -> int:
        """The number of the next short ref: one more than the highest that was registered."""
        if self._not_counted:
            highest = max((ref_number(short_id) or 0 for short_id in self._not_counted), default=0)
            self._next_ref_number = max(self._next_ref_number, highest + 1)
            self._not_counted.clear()
        return self._next_ref_number

    @property
    def chains(self) -> tuple[ChainEntry, ...]:
        """The compressed chains by start timestamp."""
        return self._chains.by_start()

    def chain_by_block(self, block_id: str) -> ChainEntry | None:
        """The chain with a block id."""
        return self._chains.by_block(block_id)

    def chain_at(self, start_digest: str, start_timestamp_ms: int | None) -> ChainEntry | None:
        """The chain that starts with this message: by its digest, or by its time if the chain has no digest."""
        return self._chains.at(start_digest, start_timestamp_ms)

    @property
    def next_block_number(self) -> int:
        """The number of the next block: one more than the highest among ids of the form `b<digits>`."""
        return self._chains.next_block_number

    def _has_record(self, key: str) -> bool:
        return key in self._filed or key in self._own_record

    def _stored(self, key: str) -> Record | None:
        own = self._own_record.get(key)
        return self._filed.get(key) if own is None else own

    def _keys_of_id(self, tool_call_id: str) -> Sequence[str]:
        """The keys with a record, filed ones first, each once."""
        for records, keys in self._not_listed:
            for record, key in zip(records, keys, strict=True):
                self._filed_by_id.add(record.tool_call_id, key)
        self._not_listed.clear()
        filed, own = self._filed_by_id.get(tool_call_id), self._own_by_id.get(tool_call_id)
        return list(dict.fromkeys([*filed, *own])) if own else filed


def _identity(alias: AliasEntry) -> ParsedKey:
    """The identity of a duplicate: that of its record, or what the key says as text."""
    record = alias.record
    if record is None or record.key != alias.new_key:
        return parse_key(alias.new_key)
    return ParsedKey(record.tool_call_id, record.result_timestamp_ms, record.occurrence)


def _under(record: Record, key: str, identity: ParsedKey) -> Record:
    """The record under another identity."""
    if record.key == key:
        return record
    return record._replace(
        tool_call_id=identity.tool_call_id,
        result_timestamp_ms=identity.result_timestamp_ms,
        occurrence=identity.occurrence,
    )


def _time(record: Record) -> int:
    own = record.result_timestamp_ms
    return own if own is not None else record.timestamp_ms or 0
