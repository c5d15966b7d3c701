"""Where the turns of a session are: the list that is rendered, cut at every assistant message.

Turn 0 is what comes before the first assistant message, turn n the n-th assistant message and everything up to the
next one, summaries of ours included. Whatever a render does to a message it decides within the message's turn, given
which compressed chains reach into the turn. Only the last turn grows.
"""

from bisect import bisect_left, bisect_right

from condense_grpc.domain.messages import ASSISTANT, TOOL_RESULT, USER, Role
from condense_grpc.domain.pairing import Pairs
from condense_grpc.engine.decisions import Decisions, PlacedSummary
from condense_grpc.engine.transcript import Transcript


class Layout:
    """The turns of a transcript, as far as they were read. Owned by one live view."""

    def __init__(self, transcript: Transcript, decisions: Decisions) -> None:
        self.transcript = transcript
        self.decisions = decisions
        self.length = 0
        """How many messages were read."""
        self.users = 0
        """How many of them are user messages."""
        self.anchors: list[int] = []
        """Of each summary that was placed: how many messages stand before it."""
        self.firsts = [0]
        self.users_before = [0]

    def __len__(self) -> int:
        return len(self.firsts)

    @property
    def last(self) -> int:
        """The turn that grows."""
        return len(self.firsts) - 1

    def read(self) -> Role:
        """Take in the next message; its role."""
        role = self.transcript.skeletons[self.length].role
        if role is ASSISTANT:
            self.firsts.append(self.length)
            self.users_before.append(self.users)
        elif role is USER:
            self.users += 1
        self.length += 1
        return role

    def read_until(self, end: int) -> list[Role]:
        """Take in the messages before a position; their roles."""
        first = self.length
        roles = [message.role for message in self.transcript.skeletons[first:end]]
        assistants = [position for position, role in enumerate(roles, first) if role is ASSISTANT]
        self.firsts += assistants
        placed = 0
        for user in [position for position, role in enumerate(roles, first) if role is USER]:
            before = bisect_left(assistants, user)
            self.users_before += [self.users] * (before - placed)
            placed, self.users = before, self.users + 1
        self.users_before += [self.users] * (len(assistants) - placed)
        self.length = end
        return roles

    def place_summary(self) -> PlacedSummary:
        """Take in the next summary, which stands behind all messages that were read."""
        summary = self.decisions.summaries[len(self.anchors)]
        self.anchors.append(summary.anchor_length)
        return summary

    def turn_of(self, position: int) -> int:
        """The turn of a message."""
        return bisect_right(self.firsts, position) - 1

    def turn_of_summary(self, number: int) -> int:
        """The turn of a summary by its number, from 0."""
        anchor = self.anchors[number]
        return self.turn_of(anchor - 1) if anchor else 0

    def bounds(self, turn: int) -> tuple[int, int]:
        """The first position of a turn and the one behind its last."""
        behind = turn + 1
        return self.firsts[turn], self.firsts[behind] if behind < len(self.firsts) else self.length

    def count_aligned(self, turn: int) -> int | None:
        """How many results a turn has, if it is as most are: its calls, then their results in the order of the calls.

        None for any other turn. A message that only answers is such a turn too.
        """
        first, end = self.bounds(turn)
        skeletons = self.transcript.skeletons
        if not turn or end - first - 1 > len(skeletons[first].calls):
            return None
        for position, call in zip(range(first + 1, end), skeletons[first].calls, strict=False):
            message = skeletons[position]
            if message.role is not TOOL_RESULT or message.tool_call_id != call.id:
                return None
        return end - first - 1

    def pairs(self, turn: int) -> Pairs:
        """Who answers whom in a turn, by position."""
        return Pairs(self.transcript.skeletons, *self.bounds(turn))

    def has_summary(self, turn: int) -> bool:
        """Whether a summary stands in a turn."""
        if not self.anchors or self.anchors[-1] <= self.firsts[turn]:
            return bool(self.anchors) and not turn and self.anchors[-1] == 0
        return bool(self.summaries(turn))

    def has_summary_between(self, first: int, end: int) -> bool:
        """Whether a summary stands behind the message at `first` and not behind that at `end`."""
        return bisect_right(self.anchors, first) < bisect_right(self.anchors, end)

    def summaries(self, turn: int) -> list[PlacedSummary]:
        """The summaries in a turn."""
        if not self.anchors:
            return []
        first, end = self.bounds(turn)
        low = bisect_right(self.anchors, first) if turn else 0
        return self.decisions.summaries[low : bisect_right(self.anchors, end)]

    def places_before(self, turn: int) -> int:
        """How many messages and summaries stand before a turn."""
        first = self.firsts[turn]
        return first + (bisect_right(self.anchors, first) if turn else 0)
