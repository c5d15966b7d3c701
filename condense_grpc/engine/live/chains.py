"""Compressed chains in a session: which of them count, which turns they reach, and the blocks that stand for them.

A chain reaches from behind the user message that opened it, in whose turn what follows lies inside, over whole turns
up to the turn of its final message. Accepted chains never overlap.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_

from condense_grpc.domain.chain_ranges import (
    ChainRange,
    ResultBody,
    accept_ranges,
    collect_names,
    make_block,
    range_mismatch,
)
from condense_grpc.domain.chains import Boundaries
from condense_grpc.domain.entries import ChainEntry
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import ASSISTANT, USER
from condense_grpc.domain.multimap import MultiMap
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Block, Diagnostic, Element
from condense_grpc.engine.decisions import PlacedSummary
from condense_grpc.engine.live.layout import Layout
from condense_grpc.engine.live.pieces import Pieces


class NotLocal(Exception):
    """The effect of a change cannot be told from the turns that it touches: everything is to be read again."""


@dataclass(slots=True)
class Reach:
    """One accepted chain; positions are those of the transcript. `block` is made when a plan needs it."""

    entry: ChainEntry
    start: int
    start_turn: int
    final_turn: int
    keys: Sequence[str]
    mismatch: Sequence[Diagnostic]
    protected_turns: Sequence[int]
    block: Block | None = None

    @property
    def turns(self) -> Iterable[int]:
        """All turns that look different because of it."""
        return range(self.start_turn, self.final_turn + 1)


class Chains:
    """The chains of one live view. `keys` and `ids` are those of the calls inside of any of them."""

    def __init__(self, layout: Layout, pieces: Pieces) -> None:
        self._layout = layout
        self._pieces = pieces
        self.keys: set[str] = set()
        self.ids: set[str] = set()
        self.watched_times: set[int | None] = set()
        """Messages with these times change what entries without digests stand for."""
        self._starts: dict[int, Reach] = {}
        self._finals: dict[int, Reach] = {}
        self._start_turns: list[int] = []
        self._by_entry: dict[int, Reach] = {}
        self._by_name = MultiMap[Reach]()
        self._naming_others: list[Reach] = []
        self._entries: Sequence[ChainEntry] = ()
        self._rejected: Sequence[Diagnostic] = ()
        self._mismatches: list[Diagnostic] = []
        self._end = -1
        self._spans: dict[int, _Span] = {}
        self._boundaries: Boundaries | None = None
        self._positions: Mapping[str, int] = {}

    # What they reach

    @property
    def has_any(self) -> bool:
        """Whether there is an accepted chain."""
        return bool(self._by_entry)

    def starting_in(self, turn: int) -> Reach | None:
        """The chain whose first message stands in a turn."""
        return self._starts.get(turn)

    def starting_in_any(self, turns: Collection[int]) -> list[Reach]:
        """The chains whose first messages stand in these turns."""
        if len(turns) < len(self._starts):
            return [reach for reach in map(self._starts.get, turns) if reach is not None]
        return [reach for turn, reach in self._starts.items() if turn in turns]

    def ending_in(self, turn: int) -> Reach | None:
        """The chain whose final message opens a turn."""
        return self._finals.get(turn)

    def around(self, turn: int) -> Reach | None:
        """The chain inside of which a whole turn lies."""
        at = bisect_left(self._start_turns, turn) - 1
        if at < 0:
            return None
        reach = self._starts[self._start_turns[at]]
        return reach if turn < reach.final_turn else None

    @property
    def diagnostics(self) -> Sequence[Diagnostic]:
        """What is odd about them, as a render reports it."""
        return [*self._rejected, *self._mismatches]

    def refresh(self, entries: Sequence[ChainEntry]) -> list[Reach]:
        """Accept what is to be accepted of these entries; the new ones. Raises NotLocal when one counts no more."""
        known = len(self._entries)
        goes_on = len(entries) >= known and all(map(is_, entries, self._entries))
        fresh = entries[known:] if goes_on else entries
        digests = {
            digest
            for entry in fresh
            if self._span_of(entry) is None
            for digest in (entry.start_digest, entry.final_digest)
            if digest
        }
        self._positions = self._layout.transcript.find_digests(digests)
        accepted = self._accept_behind(fresh) if goes_on else None
        new = self._accept_all(entries) if accepted is None else accepted
        self._boundaries, self._positions, self._entries = None, {}, entries
        return new

    def _accept_behind(self, entries: Sequence[ChainEntry]) -> list[Reach] | None:
        """Accept entries whose ranges follow each other behind all that are known; None: they may touch others."""
        ranges: list[ChainRange] = []
        end = self._end
        for entry in entries:
            places = self.resolve(entry)
            if places is None or places[0] < end:
                return None
            ranges.append(ChainRange(entry, *places))
            end = places[1]
        new = [self._reach(chain) for chain in ranges]
        for reach in new:
            self._by_entry[id(reach.entry)] = reach
            self._mismatches += reach.mismatch
        self._start_turns += [reach.start_turn for reach in new]
        self._end = end
        return new

    def _accept_all(self, entries: Sequence[ChainEntry]) -> list[Reach]:
        accepted, self._rejected = accept_ranges(entries, self)
        before = self._by_entry
        self._by_entry = {}
        new: list[Reach] = []
        for chain in accepted:
            reach = before.pop(id(chain.entry), None)
            if reach is None:
                reach = self._reach(chain)
                new.append(reach)
            self._by_entry[id(chain.entry)] = reach
        if before:
            raise NotLocal
        self._start_turns = sorted(self._starts)
        self._mismatches = [one for reach in self._by_entry.values() for one in reach.mismatch]
        self._end = max((span.places[1] for span in self._spans.values() if span.places), default=-1)
        return new

    def _reach(self, chain: ChainRange) -> Reach:
        """Take in one more chain."""
        entry, layout = chain.entry, self._layout
        transcript = layout.transcript
        start, final = self._spans[id(entry)].positions
        start_turn, final_turn = layout.turn_of(start), layout.turn_of(final)
        behind, whole = self._behind(start_turn, start), slice(layout.firsts[start_turn + 1], final)
        messages = [*(message for _, message, _ in behind), *transcript.skeletons[whole]]
        own_keys: set[str] = set()
        ids = collect_names(messages, [*(key for _, _, key in behind), *transcript.keys[whole]], own_keys)
        protected = set(entry.protected_tool_call_ids)
        turns: set[int] = set()
        if protected:
            turns = {start_turn for _, message, _ in behind if message.tool_call_id in protected}
            inside = enumerate(transcript.skeletons[whole], whole.start)
            turns.update(layout.turn_of(position) for position, one in inside if one.tool_call_id in protected)
        self.keys |= own_keys
        self.ids |= ids
        mismatch = range_mismatch(entry, ids)
        reach = Reach(entry, start, start_turn, final_turn, tuple(own_keys), mismatch, sorted(turns))
        self._starts[start_turn] = self._finals[final_turn] = reach
        if entry.range_summary_text is None:
            self._by_name.add_to_all(entry.dropped_occurrence_keys or entry.dropped_tool_call_ids, reach)
        elif entry.is_fused and "{b" in entry.range_summary_text:
            self._naming_others.append(reach)
        return reach

    def _behind(self, turn: int, start: int) -> list[tuple[int | PlacedSummary, MessageSkeleton, str]]:
        """What stands behind a message in its turn, in view order."""
        listed = self._pieces.ordered(turn)
        at = next(place for place, (origin, _, _) in enumerate(listed) if origin == start)
        return listed[at + 1 :]

    # Where they are

    def resolve(self, entry: ChainEntry) -> tuple[int, int] | None:
        """The places of start and final message in the rendered list. They never change once both are there."""
        span = self._span_of(entry)
        if span is None:
            found = self._find(entry)
            places = found and (self._place(found[0]), self._place(found[1]))
            span = self._spans[id(entry)] = _Span(entry, found or (0, 0), places)
        return span.places

    def _span_of(self, entry: ChainEntry) -> "_Span | None":
        """Where an entry was found, if it was looked for."""
        span = self._spans.get(id(entry))
        return None if span is None or span.entry is not entry else span

    def _find(self, entry: ChainEntry) -> tuple[int, int] | None:
        if not entry.start_digest:
            self.watched_times |= {entry.start_user_timestamp_ms, entry.final_assistant_timestamp_ms}
            if self._boundaries is None:
                self._boundaries = Boundaries(self._layout.transcript.skeletons[: self._layout.length])
            return self._boundaries.resolve(entry)
        start, final = map(self._positions.get, (entry.start_digest, entry.final_digest))
        if start is None or final is None or start >= final:
            return None
        skeletons = self._layout.transcript.skeletons
        if skeletons[start].role is not USER or skeletons[final].role is not ASSISTANT:
            raise NotLocal
        return start, final

    def _place(self, position: int) -> int:
        turn = self._layout.turn_of(position)
        place = self._layout.places_before(turn)
        if turn and position == self._layout.firsts[turn]:
            return place
        return place + [origin for origin, _, _ in self._pieces.ordered(turn)].index(position)

    # Their blocks

    def touch(self, turn: int) -> Reach | None:
        """A result in a turn may look different: the block that shows it is made again. The chain of that block."""
        for reach in (self.around(turn), self.starting_in(turn)):
            if reach is not None and turn in reach.protected_turns:
                reach.block = None
                return reach
        return None

    def touch_bodies(self, names: Iterable[str]) -> list[Reach]:
        """There is a new summary of these keys: the chains whose blocks are to be made again."""
        touched = {id(reach): reach for reach in self._naming_others}
        touched.update((id(reach), reach) for name in names for reach in self._by_name.get(name))
        for reach in touched.values():
            reach.block = None
        return list(touched.values())

    def protected_elements(self, reach: Reach) -> list[Element]:
        """The protected results inside of a chain, in order, with positions of the transcript."""
        found: list[Element] = []
        protected = set(reach.entry.protected_tool_call_ids)
        for turn in reach.protected_turns:
            elements = self._pieces.placed(turn)
            first = 0
            if turn == reach.start_turn:
                first = next(place for place, (origin, _) in enumerate(elements) if origin == reach.start) + 1
            found += [
                replace(element, position=origin)
                for origin, element in elements[first:]
                if isinstance(origin, int) and element.skeleton.tool_call_id in protected
            ]
        return found

    def make_block(self, reach: Reach, body: str, bodies: Mapping[int, ResultBody]) -> Block:
        """The block of a chain; made once until it is touched."""
        if reach.block is None:
            reach.block = make_block(reach.entry, body, self.protected_elements(reach), bodies.__getitem__)
        return reach.block


@frozen
class _Span:
    """Where an entry was found. `places` None: it was not."""

    entry: ChainEntry
    positions: tuple[int, int]
    places: tuple[int, int] | None
