"""What is carried over for messages that show refs of other branches, in the order of the messages.

Each record stands right behind the message that shows it first, so that it stays as long as the message does. Those
that nothing shows come with the first message of their branch: the model may have seen them before. No duplicate
stands before its original, and no record takes the key of a result that is not its own, nor one that such a result
may come to have.

A ref that means something else where the session is now keeps that meaning. A stub with it gets another ref, and is
shown with that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from condense_grpc.domain.batches import Record, Ref
from condense_grpc.domain.entries import AliasEntry, Entry, IndexEntry
from condense_grpc.domain.occurrence import DISPLACED, ParsedKey, parse_key
from condense_grpc.domain.refs import ref_number
from condense_grpc.engine.known_refs import Grade, KnownRefs, Stub, original_of
from condense_grpc.engine.shown_refs import Shown


@dataclass
class Found:
    """What is to be taken from one branch: the refs that messages show, by position, and the stubs among these."""

    branch: KnownRefs
    refs: dict[int, list[str]] = field(default_factory=dict)
    stubs: dict[int, Stub] = field(default_factory=dict)
    stub_keys: set[str] = field(default_factory=set)
    is_begun: bool = False
    _results: list[Shown] = field(default_factory=list)
    _likely: set[int] = field(default_factory=set)

    def take(self, shown: Shown, ref: str, grade: Grade) -> None:
        """One ref of a message was most likely shown on this branch."""
        self.refs.setdefault(shown.position, []).append(ref)
        if shown.identity is not None:
            self._results.append(shown)
        if grade > Grade.UNLIKELY:
            self._likely.add(shown.position)

    def is_likely(self, position: int) -> bool:
        """Whether the message was not merely taken for one of this branch because no other knows its ref."""
        return position in self._likely

    def find_stubs(self) -> None:
        """Find out which key each of the results stands for."""
        self.stubs = self.branch.find_stubs(self._results)
        self.stub_keys = {stub.key for stub in self.stubs.values() if stub.key not in self.branch.present}


class Carrying:
    """What is carried over in one append. `found`: the branches that it comes from, those that explain most first."""

    def __init__(self, here: KnownRefs, nodes: Mapping[str, int], found: Sequence[Found]) -> None:
        self._here, self._nodes, self._found = here, nodes, found
        self._taken: set[str] = set()
        self._owners = {ref: keys[0] for ref, keys in here.keys.items()}
        self._known = here.originals()
        self._meant: dict[str, KnownRefs] = {}
        self._renamed: dict[tuple[int, str], str] = {}
        self._records: list[Record] = []
        self._refs: list[Ref] = []
        self._aliases: list[AliasEntry] = []
        for one in found:
            one.find_stubs()
            for refs in one.refs.values():
                self._mean(one.branch, refs)
        for one in found:
            self._mean(one.branch, one.branch.keys)
        self._next_number = max([here.index.next_ref_number, *(1 + (ref_number(ref) or 0) for ref in self._meant)])

    def _mean(self, branch: KnownRefs, refs: Iterable[str]) -> None:
        for ref in refs:
            self._meant.setdefault(ref, branch)

    def entries_for(self, shown: Shown) -> list[Entry]:
        """What stands behind a message, originals first. To be asked for one message after another."""
        for one in self._found:
            for ref in one.refs.get(shown.position, ()):
                if not one.is_begun:
                    one.is_begun = True
                    self._take_all_without_stub(one)
                stub = one.stubs.get(shown.position)
                if stub is not None:
                    self._take_stub(one, stub)
                elif self._is_free(one.branch, ref):
                    self._take_original(one, ref, ref)
        found: list[Entry] = [IndexEntry(tuple(self._records), tuple(self._refs))] if self._records else []
        found += self._aliases
        self._records, self._refs, self._aliases = [], [], []
        return found

    def _is_free(self, branch: KnownRefs, ref: str) -> bool:
        """Whether a ref means here what it means on a branch, or nothing yet."""
        original = branch.original(ref)
        if ref in self._owners:
            return (ref, original) in self._known
        meant = self._meant[ref]
        return meant is branch or meant.original(ref) == original

    def _take_all_without_stub(self, found: Found) -> None:
        """The originals that arrive as no stub, with their duplicates, and further duplicates of what is known."""
        for ref, (owner, *_) in found.branch.keys.items():
            if not self._is_free(found.branch, ref):
                continue
            if ref in self._owners:
                self._take_duplicates(found, ref, ref)
            elif owner not in found.stub_keys:
                self._take_original(found, ref, ref)

    def _take_original(self, found: Found, ref: str, name: str, stub: Stub | None = None) -> None:
        """The original of a ref, unless it is here; `name` is its ref here. It is filed as its stub if there is one."""
        if name in self._owners:
            return
        old_key = found.branch.keys[ref][0]
        record = self._record(found.branch, old_key, stub)
        self._owners[name] = record.key
        self._known.add((name, original_of(record)))
        self._records.append(record)
        self._refs.append(Ref(name, record.tool_call_id, record.result_timestamp_ms, record.occurrence))
        self._take_duplicates(found, ref, name)

    def _take_stub(self, found: Found, stub: Stub) -> None:
        """The result that arrives as a stub: it is the original, or repeats it."""
        if self._here.index.is_summarized(stub.key_now) or stub.key_now in self._taken:
            return
        ref = name = stub.ref
        if not self._is_free(found.branch, ref):
            if not found.is_likely(stub.shown.position):
                return
            name = self._other_name(found.branch, ref)
        is_original = stub.key == found.branch.keys[ref][0] and stub.key not in found.branch.present
        self._take_original(found, ref, name, stub if is_original else None)
        if stub.key_now not in self._taken:
            self._take_duplicate(name, self._record(found.branch, stub.key, stub))

    def _other_name(self, branch: KnownRefs, ref: str) -> str:
        """The ref here of an original whose own ref means something else here."""
        name = self._renamed.get((id(branch), ref))
        if name is None:
            name = self._renamed[id(branch), ref] = f"t{self._next_number}"
            self._next_number += 1
        return name

    def _take_duplicates(self, found: Found, ref: str, name: str) -> None:
        for key in found.branch.keys[ref][1:]:
            if key not in found.stub_keys and (name, original_of(found.branch.records[key])) not in self._known:
                self._take_duplicate(name, self._record(found.branch, key))

    def _take_duplicate(self, name: str, record: Record) -> None:
        identity = ParsedKey(record.tool_call_id, record.result_timestamp_ms, record.occurrence)
        written = None if parse_key(record.key) == identity else identity
        self._known.add((name, original_of(record)))
        self._aliases.append(AliasEntry(record.key, self._owners[name], record, written))

    def _record(self, branch: KnownRefs, key: str, stub: Stub | None = None) -> Record:
        """The record of a key as it is filed here: as its stub, as the result that is here, or beside all results."""
        record = branch.records[key]
        if stub is not None:
            identity = stub.shown.identity
            assert identity is not None
            record = record._replace(
                tool_call_id=identity.tool_call_id,
                result_timestamp_ms=identity.result_timestamp_ms,
                occurrence=identity.occurrence,
            )
        elif key not in branch.present or self._is_taken(record.key):
            number = max(record.occurrence or 0, DISPLACED)
            record = record._replace(occurrence=number)
            while record.key in self._nodes or self._is_taken(record.key):
                number += 1
                record = record._replace(occurrence=number)
        self._taken.add(record.key)
        return record

    def _is_taken(self, key: str) -> bool:
        return key in self._taken or self._here.index.is_summarized(key)
