"""One reading of a session: all of its turns with their plans, and what every further message or decision changes.

First everything new is read, which tells the turns that look different; then these are planned.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from condense_grpc.domain.chain_body import block_body
from condense_grpc.domain.chain_ranges import ResultBody, is_in_place, is_work, overlaps
from condense_grpc.domain.entries import ContextMetrics
from condense_grpc.domain.messages import ASSISTANT, CUSTOM, TOOL_RESULT, USER
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Diagnostic, Element, block_element, chars_of_list
from condense_grpc.engine.decisions import Commit
from condense_grpc.engine.edit_list import EditList
from condense_grpc.engine.edit_sums import revision_name, wide_gain_of
from condense_grpc.engine.live.chains import Chains, NotLocal, Reach
from condense_grpc.engine.live.cycle import Cycle
from condense_grpc.engine.live.front import ChainFront
from condense_grpc.engine.live.grace import GraceWatch
from condense_grpc.engine.live.layout import Layout
from condense_grpc.engine.live.pieces import Piece, Pieces
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.live.totals import Totals
from condense_grpc.engine.live.touched import Touched, seen_first, touched_by
from condense_grpc.engine.live.turn_plan import DroppedTurns, TurnPlan, plan_inside, plan_of, plan_of_stubs
from condense_grpc.engine.live.waiting import Waiting
from condense_grpc.engine.requests import Applied

if TYPE_CHECKING:
    from condense_grpc.engine.state import SessionState


class LivePlan:
    """The plans of a session's turns, as far as they were read. Owned by one live view; ends with a rewind."""

    def __init__(self, state: "SessionState") -> None:
        self.transcript, self.decisions, self.config = state.transcript, state.decisions, state.config
        self.digests = state.transcript.digests
        self.layout = Layout(self.transcript, self.decisions)
        self.totals = Totals()
        self.waiting = Waiting(self.layout, state.protection)
        self.cycle = Cycle()
        self.front = ChainFront()
        self._grace = GraceWatch(self.config.recovery_grace_turns)
        self._pieces = Pieces(self.layout, self.config, state.protection, self._grace.watch)
        self._chains = Chains(self.layout, self._pieces)
        self._commits_read = 0
        self._positions: dict[str, int] = {}
        self._aliases: dict[str, list[str]] = {}
        self._odd_summaries: set[int] = set()
        self._dirty = {0}
        self._unseen = {0}
        self._raw_sum = 0
        self._is_first_reading = True

    def is_of(self, state: "SessionState") -> bool:
        """Whether this is still the session that was read: no rewind, no other decisions or settings."""
        same_path = self.digests is state.transcript.digests and self.decisions is state.decisions
        return same_path and self.config is state.config

    def is_current(self) -> bool:
        """Whether everything was read."""
        is_complete = self.layout.length == len(self.transcript.nodes)
        return is_complete and self._commits_read == len(self.decisions.commits)

    @property
    def unread(self) -> int:
        """How many messages and decisions were not read yet."""
        unread, commits = len(self.transcript.nodes) - self.layout.length, self.decisions.commits
        if self._commits_read == len(commits):
            return unread
        return unread + sum([len(commit.entries) for commit in commits[self._commits_read :]])

    # Reading

    def read(self) -> None:
        """Read what is new. Raises NotLocal when everything is to be read again."""
        commits = self.decisions.commits
        has_chains = self._is_first_reading and bool(self.decisions.index.chains)
        while True:
            read = self._commits_read
            if read < len(commits) and commits[read].anchor_length <= self.layout.length:
                has_chains |= self._read_commit(commits[read])
            elif self.layout.length < len(self.transcript.nodes):
                if self._is_first_reading:
                    self._read_first(commits[read].anchor_length if read < len(commits) else len(self.transcript))
                else:
                    self._read_message()
            else:
                break
        if has_chains and self.config.chain_compression.enabled:
            self._refresh_chains()
        if self._is_first_reading:
            self._dirty.update(range(len(self.layout)))
            self.waiting.look_at_all(self._positions)
            self._is_first_reading = False
        else:
            for turn in sorted(self._unseen):
                self.waiting.look_at(turn)
        self._unseen.clear()

    def _read_first(self, length: int) -> None:
        """Read up to so many messages of the transcript. As every turn is looked at afterwards, they touch nothing."""
        layout, first, end = self.layout, self.layout.length, min(length, len(self.transcript))
        skeletons, keys = self.transcript.skeletons, self.transcript.keys
        roles = layout.read_until(end)
        results = [position for position, role in enumerate(roles, first) if role is TOOL_RESULT]
        self._positions.update(zip(map(keys.__getitem__, results), results, strict=True))
        others = [position for position, role in enumerate(roles, first) if role is CUSTOM]
        self._odd_summaries.update(layout.turn_of(position) for position in others if skeletons[position].summary_refs)
        messages = skeletons[first:end]
        self.cycle.read_all(messages)
        self._raw_sum += sum([message.json_chars for message in messages])

    def _read_message(self) -> None:
        layout, position = self.layout, self.layout.length
        message = self.transcript.skeletons[position]
        role = layout.read()
        self._dirty.add(layout.last)
        self._unseen.add(layout.last)
        self._raw_sum += message.json_chars
        self.cycle.read(message)
        if role is TOOL_RESULT:
            self._positions[self.transcript.keys[position]] = position
            return
        if message.timestamp_ms in self._chains.watched_times:
            raise NotLocal
        if role is USER:
            for turn in self._grace.expired(layout.users):
                self._touch_turn(turn)
        elif role is ASSISTANT:
            self._dirty.update(self._just_due())
        elif message.summary_refs:
            self._odd_summaries.add(layout.last)

    def _just_due(self) -> Iterable[int]:
        """The turn whose failed calls are purged from now on, unless it has no arguments that are long enough."""
        config = self.config.purge_errors
        turn = self.layout.last - config.cooldown_turns
        if turn <= 0 or not self._pieces.is_due(turn) or self._is_first_reading:
            return ()
        calls = self.transcript.skeletons[self.layout.firsts[turn]].calls
        return (turn,) if any((call.args_chars or 0) >= config.min_arg_chars for call in calls) else ()

    def _read_commit(self, commit: Commit) -> bool:
        """Read decisions; whether chains are among them."""
        self._commits_read += 1
        has_chains = False
        for entry in commit.entries:
            is_first = self._is_first_reading
            touched = seen_first(entry) if is_first else touched_by(entry, self.decisions.index)
            has_chains |= touched.has_chain
            if touched.is_summary:
                self._place_summary(commit)
            for original, alias in touched.aliases:
                self._aliases.setdefault(original, []).append(alias)
            if not is_first:
                self._touch(touched)
        return has_chains

    def _place_summary(self, commit: Commit) -> None:
        layout = self.layout
        if commit.anchor_length != layout.length:
            raise NotLocal
        summary = layout.place_summary()
        self._dirty.add(layout.last)
        self.cycle.read(summary.skeleton)
        if any(ref.result_timestamp_ms is None for ref in summary.skeleton.summary_refs):
            self._odd_summaries.add(layout.last)

    def _touch(self, touched: Touched) -> None:
        if touched.is_everything:
            raise NotLocal
        for key in touched.keys:
            for name in (key, *self._aliases.get(key, ())):
                position = self._positions.get(name)
                if position is not None:
                    self._touch_turn(self.layout.turn_of(position))
                elif touched.must_be_there or self.decisions.index.legacy_bare(name):
                    raise NotLocal
        if touched.summarized:
            self._dirty.update(reach.start_turn for reach in self._chains.touch_bodies(touched.summarized))

    def _touch_turn(self, turn: int) -> None:
        self._dirty.add(turn)
        self._unseen.add(turn)
        reach = self._chains.touch(turn)
        if reach is not None:
            self._dirty.add(reach.start_turn)

    def _refresh_chains(self) -> None:
        chains, index = self._chains, self.decisions.index
        new = chains.refresh(index.chains)
        if self._is_first_reading:
            return  # when every turn is looked at anyway
        for reach in new:
            self._dirty.update(reach.turns)
            self._dirty.update(self._odd_summaries)
            placed = len(self.layout.anchors)
            numbers = (number for number in index.summaries_sharing(reach.keys) if number < placed)
            self._dirty.update(map(self.layout.turn_of_summary, numbers))
        self._dirty.update(reach.start_turn for reach in chains.touch_bodies(()))

    # Planning

    def wanted_bodies(self) -> set[int]:
        """The positions whose bodies `plan` needs."""
        return {
            element.position
            for reach in self._chains.starting_in_any(self._dirty)
            if reach.block is None and reach.protected_turns
            for element in self._chains.protected_elements(reach)
            if element.stub is None
        }

    @property
    def turns_to_plan(self) -> int:
        """How many turns look different."""
        return len(self._dirty)

    def plan(self, bodies: Mapping[int, ResultBody], shown: LiveShown | None) -> None:
        """Plan the turns that look different; `shown` keeps what they were."""
        for _ in self.planning(bodies, shown):
            pass

    def planning(self, bodies: Mapping[int, ResultBody], shown: LiveShown | None) -> Iterator[None]:
        """The same step by step. Who does not go to the end begins anew the next time."""
        dirty = sorted(self._dirty)
        at = 0
        while at < len(dirty):
            dropped = self._dropped_together(dirty, at)
            if dropped is None:
                self._plan_one(dirty[at], bodies, shown)
                at += 1
            else:
                self._drop(dropped, shown)
                at += len(dropped.turns)
            yield
        self._dirty.clear()

    def _dropped_together(self, dirty: Sequence[int], at: int) -> DroppedTurns | None:
        """The plan of a turn of which nothing stays, and of those that follow it in its chain if the same holds."""
        turn = dirty[at]
        reach = self._chains.around(turn) if self._chains.has_any else None
        if reach is None:
            return None
        end = reach.final_turn
        is_row = at + end - turn <= len(dirty) and dirty[at + end - turn - 1] == end - 1
        return (self._dropped(range(turn, end)) if is_row else None) or self._dropped(range(turn, turn + 1))

    def _dropped(self, turns: range) -> DroppedTurns | None:
        """The plan of turns inside of a chain, if they are nothing but work."""
        first, end = self.layout.firsts[turns.start], self.layout.firsts[turns.stop]
        messages = self.transcript.skeletons[first:end]
        roles = [message.role for message in messages]
        work = roles.count(ASSISTANT) + roles.count(TOOL_RESULT)
        if (work < len(roles) and not all(map(is_work, messages))) or self.layout.has_summary_between(first, end):
            return None
        return DroppedTurns.of(turns, first, messages)

    def _drop(self, dropped: DroppedTurns, shown: LiveShown | None) -> None:
        totals, turns = self.totals, dropped.turns
        known = totals.plans[turns.start : turns.stop]
        if len(known) == len(turns) and all(isinstance(plan, DroppedTurns) for plan in known):
            return  # once and for all: nothing comes to such a turn any more
        if shown is not None:
            for turn, plan in enumerate(known, turns.start):
                shown.keep(turn, plan)
        messages = self.transcript.skeletons[dropped.first : dropped.end]
        totals.drop(len(messages), sum([message.json_chars for message in messages]), dropped)

    def _plan_one(self, turn: int, bodies: Mapping[int, ResultBody], shown: LiveShown | None) -> None:
        stubs = None if self._has_chain(turn) else self._pieces.stubs(turn)
        plan: TurnPlan | None
        if stubs is None:
            piece = self._pieces.read(turn)
            count, chars, plan = len(piece.skeletons), piece.chars, self._plan(turn, piece, bodies)
            if plan is not None:
                plan.wide_gain = wide_gain_of(plan.edits, self.transcript.skeletons)
        else:
            first, end = self.layout.bounds(turn)
            messages = self.transcript.skeletons[first:end]
            count, chars = end - first, sum([one.json_chars for one in messages])
            plan = plan_of_stubs(first, messages, stubs) if any(stubs) else None
        if shown is not None and turn < len(self.totals.plans):
            shown.keep(turn, self.totals.plans[turn])
        self.totals.set(turn, count, chars, plan)

    def _has_chain(self, turn: int) -> bool:
        chains = self._chains
        if not chains.has_any:
            return False
        return (chains.around(turn) or chains.starting_in(turn) or chains.ending_in(turn)) is not None

    def _plan(self, turn: int, piece: Piece, bodies: Mapping[int, ResultBody]) -> TurnPlan | None:
        if self._chains.around(turn) is not None:
            return plan_inside(piece, self._is_hidden)
        elements = self._pieces.elements(turn, piece)
        strips = self.config.chain_compression.strip_final_assistant_thinking
        if strips and self._chains.ending_in(turn) is not None:
            elements[0].stripped = elements[0].skeleton.thinking is not None
        reach = self._chains.starting_in(turn)
        if reach is not None:
            elements = self._with_block(reach, piece, elements, bodies)
        if self._chains.has_any:
            elements = [element for element in elements if not self._is_hidden(element.skeleton)]
        return plan_of(piece, elements)

    def _with_block(
        self, reach: Reach, piece: Piece, elements: list[Element], bodies: Mapping[int, ResultBody]
    ) -> list[Element]:
        """The turn in which a chain begins: its first message, the block, and what stays of the rest."""
        at = next(place for place, element in enumerate(elements) if piece.origins[element.position] == reach.start) + 1
        behind = elements[at:]
        body = block_body(reach.entry, self.decisions.index)
        block: list[Element] = []
        if not behind or not is_in_place(behind[0].skeleton, reach.entry, body):
            block = [block_element(self._chains.make_block(reach, body, bodies))]
        return [*elements[:at], *block, *(element for element in behind if not is_work(element.skeleton))]

    def _is_hidden(self, message: MessageSkeleton) -> bool:
        """Whether it is a summary of what lies in a compressed chain."""
        return bool(message.summary_refs) and overlaps(message.summary_refs, self._chains.keys, self._chains.ids)

    # What they come to, once everything is planned

    @property
    def revision(self) -> str:
        """The name of the edits."""
        return revision_name(self.totals.edit_sum, is_empty=not self.totals.edit_count)

    @property
    def edits(self) -> EditList:
        """All edits, put together."""
        plans = self.totals.plans
        pieces = [plan for plan, before in zip(plans, (None, *plans), strict=False) if plan and plan is not before]
        return EditList(pieces, self.totals.edit_count)

    @property
    def wide_gain(self) -> int:
        """How many more characters of wide scripts the view has than the transcript."""
        return self.totals.wide_gain

    @property
    def has_edits(self) -> bool:
        """Whether there are any."""
        return self.totals.edit_count > 0

    @property
    def is_pruned(self) -> bool:
        """Whether the view differs from the list that was rendered."""
        return self.totals.changed_turns > 0

    @property
    def before_chars(self) -> int:
        """Size of the list that was rendered."""
        return chars_of_list(self.totals.raw_count, self.totals.raw_sum)

    @property
    def chars(self) -> int:
        """Size of the view."""
        return chars_of_list(self.totals.shown_count, self.totals.shown_sum)

    @property
    def transcript_chars(self) -> int:
        """Size of the raw transcript."""
        return chars_of_list(self.layout.length, self._raw_sum)

    @property
    def applied(self) -> Applied:
        """How many edits there are of each kind."""
        return Applied(*self.totals.counts)

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What a render reports."""
        return [*self._chains.diagnostics, *self.totals.orphan_diagnostics()]

    @property
    def metrics(self) -> ContextMetrics:
        """The context metrics, if `cycle` is exact. They need no plan."""
        cycle = self.cycle
        return ContextMetrics(cycle.open_thinking_tokens, cycle.largest_share_pct, self.waiting.gap_tokens)

    def shown(self, *, is_plain: bool) -> LiveShown:
        """What a client sees that is shown the view, or the plain transcript."""
        return LiveShown(self.layout, self.totals, self._raw_sum, is_plain=is_plain)
