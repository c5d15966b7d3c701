"""What is known of refs on one branch of a session, and how well it explains what a host has sent back.

Refs are numbered anew on every branch, so that the same ref may stand for one original here and for another one there.
What a message shows beside its refs tells which branch it was made on: the id and the time of a result, the text of a
summary or a block.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping
from enum import IntEnum
from functools import cached_property

from condense_grpc.domain.batches import Record
from condense_grpc.domain.chain_body import block_body, opening_tag
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.occurrence import DISPLACED
from condense_grpc.domain.refs import body_of_summary
from condense_grpc.domain.render import is_stub_of
from condense_grpc.engine.shown_refs import Shown


class Grade(IntEnum):
    """How well a branch explains a ref that a message shows."""

    UNKNOWN = 0
    UNLIKELY = 1
    """The ref is known, but was shown with something else: another id, another summary."""
    KNOWN = 2
    """Nothing speaks against it. For a ref that a summary or a block names that is enough."""
    SAID = 3
    """A stub with this id, the text of this summary or block."""
    EXACT = 4
    """The stub of this very key."""


def sure_grade(shown: Shown) -> Grade:
    """The grade from which on a message is surely of a branch: other branches need not be looked at."""
    if shown.identity is None:
        return Grade.KNOWN
    return Grade.SAID if shown.message.timestamp_ms is None else Grade.EXACT


@frozen
class Stub:
    """A result that arrives as a stub of a key. The key is that of the original, or of a duplicate."""

    shown: Shown
    key: str

    @property
    def ref(self) -> str:
        """The ref in it."""
        return self.shown.refs[0]

    @property
    def key_now(self) -> str:
        """The key that the result has."""
        return self.shown.key_now


class KnownRefs:
    """The refs of one branch. `nodes`: the nodes of the results that there are now, by key.

    `keys`: those that each ref stands for, first the one that it was given to, then those of duplicates. `present`:
    those of which the very result is there now. `is_here`: it is the branch that the session is on. `is_trusted`: it
    was left by the very call, so that what is shown is most likely of this branch.
    """

    def __init__(
        self, index: SessionIndex, nodes: Mapping[str, int], *, is_here: bool = False, is_trusted: bool = False
    ) -> None:
        self.index, self.is_here, self.is_trusted = index, is_here, is_trusted
        self.keys = _keys_by_ref(index)
        self.records: dict[str, Record] = {
            key: record
            for keys in self.keys.values()
            for key in keys
            if (record := index.record_of_key(key)) is not None
        }
        self.present = {
            key
            for key, record in self.records.items()
            if record.source is not None and nodes.get(key) == record.source.result_node
        }

    @cached_property
    def _blocks(self) -> dict[str, list[str]]:
        """How the blocks begin that name each ref, up to what may stand in them beside summaries."""
        found: dict[str, list[str]] = {}
        for entry in self.index.chains:
            text = f"{opening_tag(entry)}\n{block_body(entry, self.index)}"
            for ref in entry.tool_refs:
                found.setdefault(ref, []).append(text)
        return found

    @property
    def has_carried(self) -> bool:
        """Whether it certainly has originals of other branches: a host has sent back what it was shown."""
        displaced = any((record.occurrence or 0) >= DISPLACED for record in self.records.values())
        return displaced or (
            self.is_here and any(self.records[key].source for key in self.records.keys() - self.present)
        )

    def originals(self) -> set[tuple[str, Hashable]]:
        """Every ref with every original that it stands for."""
        return {(ref, original_of(self.records[key])) for ref, keys in self.keys.items() for key in keys}

    def original(self, ref: str) -> Hashable:
        """The original of a ref."""
        return original_of(self.records[self.keys[ref][0]])

    def grade(self, shown: Shown, ref: str) -> Grade:
        """How well this branch explains one of the refs of a message."""
        keys = self.keys.get(ref)
        if keys is None:
            return Grade.UNKNOWN
        return self._grade_of_mention(shown, ref) if shown.identity is None else self._grade_of_stub(shown, keys)

    def _grade_of_stub(self, shown: Shown, keys: Collection[str]) -> Grade:
        # Results that are here as they are have stubs of ours. One that repeats them is what its tool has said.
        if self.is_here and self.present.issuperset(keys):
            return Grade.UNKNOWN
        key = self._key_of_stub(shown, keys)
        if key is None:
            return Grade.UNKNOWN
        if self.records[key].tool_call_id != shown.message.tool_call_id:
            return Grade.UNLIKELY
        return Grade.EXACT if self._key_of_stub(shown, keys, exactly=True) else Grade.SAID

    def _grade_of_mention(self, shown: Shown, ref: str) -> Grade:
        said = [body_of_summary(text) for text in self.index.summary_texts(self.keys[ref])]
        said += self._blocks.get(ref, ())
        if any(text in shown.text for text in said):
            return Grade.SAID
        return Grade.UNLIKELY if said else Grade.KNOWN

    def find_stubs(self, shown: Iterable[Shown]) -> dict[int, Stub]:
        """The keys of which these results are the stubs, by position; each a key of its own while there is one.

        One that has come with its time is known by it; of the others the first stands for the original. `present` keys
        have their own result and are left out. Those in excess stand for a key that has a stub already.
        """
        looked_at = list(shown)
        found: dict[int, Stub] = {}
        free = {
            ref: {key: None for key in self.keys[ref] if key not in self.present}
            for ref in {one.refs[0] for one in looked_at}
        }
        for exactly in (True, False):
            for one in looked_at:
                if one.position in found:
                    continue
                ref, own = one.refs[0], free[one.refs[0]]
                key = self._key_of_stub(one, own, exactly=exactly)
                if key is None and not exactly:
                    key = self._key_of_stub(one, self.keys[ref])
                if key is not None:
                    own.pop(key, None)
                    found[one.position] = Stub(one, key)
        return found

    def _key_of_stub(self, shown: Shown, keys: Iterable[str], *, exactly: bool = False) -> str | None:
        """The first of these keys that a result is the stub of; `exactly`: the one that it still has.

        Where calls have no ids, what names them changes with their place: then the tool must be the same.
        """
        message, other = shown.message, None
        for key in keys:
            record = self.records[key]
            if (exactly and key != shown.key_now) or not is_stub_of(shown.text, record, shown.refs[0]):
                continue
            if record.tool_call_id == message.tool_call_id:
                return key
            if other is None and record.tool_name == message.tool_name:
                other = key
        return other


def original_of(record: Record) -> Hashable:
    """What the copies of a record on all branches share."""
    return record.source or (record.tool_name, record.text, record.args_json)


def _keys_by_ref(index: SessionIndex) -> dict[str, list[str]]:
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
