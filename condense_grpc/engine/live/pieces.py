"""The messages of one turn with what the rules say about each of them, before any compressed chain counts."""

from collections.abc import Callable, Iterable, Sequence

from condense_grpc.domain.chains import RECOVERY_TOOL
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import TOOL_RESULT, USER, Message
from condense_grpc.domain.pairing import Pairs, view_order
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.purge import purges_of
from condense_grpc.domain.render import find_stub
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import Element, Stub
from condense_grpc.engine.decisions import PlacedSummary
from condense_grpc.engine.live.layout import Layout


@frozen
class Piece:
    """The list of one turn: its messages from position `first` on, with the summaries in it.

    Places are indexes into it; `origins` says for each the position in the transcript, or the summary.
    """

    first: int
    end: int
    skeletons: Sequence[MessageSkeleton]
    origins: Sequence[int | PlacedSummary]
    keys: Sequence[str]
    numbers: Sequence[int | None]

    @property
    def chars(self) -> int:
        """Size of what stands in it."""
        return sum(skeleton.json_chars for skeleton in self.skeletons)

    def origins_of(self, elements: Iterable[Element]) -> Sequence[int | Message]:
        """The origins of these elements by place, with messages for summaries; what others say does not count."""
        origins: list[int | Message] = [origin if isinstance(origin, int) else -1 for origin in self.origins]
        for element in elements:
            origin = self.origins[element.position] if element.position >= 0 else 0
            if isinstance(origin, PlacedSummary):
                origins[element.position] = origin.message
        return origins


class Pieces:
    """Reads turns. `on_grace` is told the turn of a result in recovery grace, and how many users stand before it."""

    def __init__(
        self, layout: Layout, config: SessionConfig, protection: Protection, on_grace: Callable[[int, int], None]
    ) -> None:
        self._layout = layout
        self._config = config
        self._protection = protection
        self._on_grace = on_grace

    def stubs(self, turn: int) -> Sequence[Stub | None] | None:
        """The stubs of a turn's results, where nothing else can be different in it: a quick look at what most are.

        The turn is one without chains. None: more may be different in it.
        """
        layout, transcript = self._layout, self._layout.transcript
        results = layout.count_aligned(turn)
        if results is None or layout.has_summary(turn):
            return None
        index, first, is_due = layout.decisions.index, layout.firsts[turn] + 1, self.is_due(turn)
        found: list[Stub | None] = []
        for position in range(first, first + results):
            message = transcript.skeletons[position]
            if is_due and message.is_error:
                return None
            stub = find_stub(message, transcript.keys[position], transcript.numbers[position], index, self._protection)
            if stub is not None and message.tool_name == RECOVERY_TOOL:
                return None
            found.append(stub)
        return found

    def read(self, turn: int) -> Piece:
        """The list of a turn."""
        layout, transcript = self._layout, self._layout.transcript
        first, end = layout.bounds(turn)
        skeletons, keys, numbers = (
            transcript.skeletons[first:end],
            transcript.keys[first:end],
            transcript.numbers[first:end],
        )
        origins: list[int | PlacedSummary] = list(range(first, end))
        for summary in reversed(layout.summaries(turn)):
            place = summary.anchor_length - first
            skeletons.insert(place, summary.skeleton)
            origins.insert(place, summary)
            keys.insert(place, "")
            numbers.insert(place, None)
        return Piece(first, end, skeletons, origins, keys, numbers)

    def elements(self, turn: int, piece: Piece) -> list[Element]:
        """The elements of a turn in view order, with stubs and purged arguments."""
        pairs = Pairs(piece.skeletons)
        elements: list[Element] = []
        users = self._layout.users_before[turn]
        for place in view_order(piece.skeletons, pairs):
            message = piece.skeletons[place]
            element = Element(place, message, piece.keys[place], piece.numbers[place])
            if message.role is USER:
                users += 1
            elif message.role is TOOL_RESULT and not self._is_in_grace(message, turn, users):
                index = self._layout.decisions.index
                element.stub = find_stub(message, element.key, element.number, index, self._protection)
            elements.append(element)
        if turn and self.is_due(turn):
            elements[0].purged = purges_of(
                piece.skeletons[0],
                lambda ordinal: self._has_failed(piece, pairs, ordinal),
                self._config.purge_errors,
            )
        return elements

    def ordered(self, turn: int) -> list[tuple[int | PlacedSummary, MessageSkeleton, str]]:
        """What stands in a turn in view order, before anything is done to it: what it is, its skeleton, its key."""
        piece = self.read(turn)
        listed = list(zip(piece.origins, piece.skeletons, piece.keys, strict=True))
        return [listed[place] for place in view_order(piece.skeletons)]

    def placed(self, turn: int) -> list[tuple[int | PlacedSummary, Element]]:
        """The elements of a turn, each with what it stands for."""
        piece = self.read(turn)
        return [(piece.origins[element.position], element) for element in self.elements(turn, piece)]

    def is_due(self, turn: int) -> bool:
        """Whether the arguments of failed calls of a turn are purged by now."""
        config = self._config.purge_errors
        return config.enabled and turn <= self._layout.last - config.cooldown_turns

    def _has_failed(self, piece: Piece, pairs: Pairs, ordinal: int) -> bool:
        result = pairs.result_of.get((0, ordinal))
        return result is not None and piece.skeletons[result].is_error

    def _is_in_grace(self, message: MessageSkeleton, turn: int, users: int) -> bool:
        grace_turns = self._config.recovery_grace_turns
        if message.tool_name != RECOVERY_TOOL or grace_turns <= 0 or self._layout.users - users > grace_turns:
            return False
        self._on_grace(turn, users)
        return True
