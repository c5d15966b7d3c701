"""The chains of one transcript as compression sees them: which are eligible, what they would lose, what to fetch.

Looking changes nothing. Everything is in view order, where nothing stands between a call and its results; callers
give and get positions in the stored order.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from condense_grpc.domain.archive import Bodies, Candidate, archive_candidates, record_time
from condense_grpc.domain.batches import Record
from condense_grpc.domain.capture import MessageAt, SourceOf
from condense_grpc.domain.chain_body import blocks_in_place
from condense_grpc.domain.chains import Boundaries, Chain, detect_chains, in_grace, select_eligible
from condense_grpc.domain.config import SessionConfig
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.index import SessionIndex
from condense_grpc.domain.pairing import keys_of, view_order
from condense_grpc.domain.protection import Protection
from condense_grpc.domain.provider_tools import without_torn
from condense_grpc.domain.skeleton import MessageSkeleton


@frozen
class CompressionInput:
    """One transcript with its decisions. Positions are those of `messages`, the stored order.

    `args_of` gives the arguments, as JSON text, of a record that does not hold them. With `source_of` new records name
    their stored messages and hold no bodies. `digest_at` gives the digest of a message; without it ranges are found by
    timestamps. `pending`: keys that the next flush takes again.
    `keyed`: keys and numbers as `pairing.keys_of` gives them, where `messages` are the end of a longer list.
    `protection`: that of the configuration, from who has asked it before and knows the verdicts.
    """

    messages: Sequence[MessageSkeleton]
    index: SessionIndex
    config: SessionConfig
    now_ms: int
    rolling_window: int
    message_at: MessageAt
    args_of: Callable[[Record], str]
    source_of: SourceOf | None = None
    pending: Collection[str] = ()
    digest_at: Callable[[int], str] | None = None
    keyed: tuple[Sequence[str], Sequence[int | None]] | None = None
    protection: Protection | None = None


@frozen
class FusibleChain:
    """The summaries of one chain, to be written as one text. `start_key` names the chain in the answers."""

    start_key: str
    text: str


@frozen
class BodiesWanted:
    """What `compress` will read: messages by position, and records whose arguments a body shows."""

    positions: tuple[int, ...]
    records: tuple[Record, ...]


class ChainSurvey:
    """The transcript in view order, and the chains in it. Chains and candidates have positions in that order."""

    def __init__(self, source: CompressionInput) -> None:
        self.source = source
        keys, numbers = source.keyed or keys_of(source.messages)
        self.order = view_order(source.messages)
        self.messages = [source.messages[position] for position in self.order]
        self.keys = [keys[position] for position in self.order]
        self.numbers = [numbers[position] for position in self.order]
        self._find_chains()

    @cached_property
    def id_of_key(self) -> Mapping[str, str]:
        """The bare id of every result by its key."""
        return {key: message.tool_call_id for key, message in zip(self.keys, self.messages, strict=True) if key}

    @cached_property
    def _boundaries(self) -> Boundaries:
        """What finds the range of an entry. Most surveys need it for nothing."""
        digests = {self.digest_at(place): place for place in range(len(self.order))} if self.source.digest_at else {}
        return Boundaries(self.messages, digests)

    def _find_chains(self) -> None:
        source, index = self.source, self.source.index
        own = blocks_in_place(self.messages, index.chains, lambda entry: self._boundaries.resolve(entry), index)
        protection = source.protection or Protection(source.config.protected_tools, source.config.protected_paths)
        detected = detect_chains(self.messages, self.keys, protection, own.__contains__)
        detected = without_torn(detected, self.messages)
        self.chains = [self._with_pins(chain) for chain in detected] if index.pins else detected
        closed = [chain for chain in self.chains if chain.final is not None and self._has_name(chain)]
        self.registered = [chain for chain in closed if self.is_registered(chain)]
        grace = in_grace(self.messages, self.keys, source.config.recovery_grace_turns)
        window = source.rolling_window
        self.eligible = select_eligible(closed, window, self.is_registered, grace, source.pending)

    def _with_pins(self, chain: Chain) -> Chain:
        """The chain with its pinned results protected, so that they are shown inside of its block."""
        index, id_of_key = self.source.index, self.id_of_key
        pinned = [id_of_key[key] for key in chain.middle_occurrence_keys if index.is_pinned(key, id_of_key[key])]
        ids = dict.fromkeys((*chain.protected_tool_call_ids, *pinned))
        return replace(chain, protected_tool_call_ids=tuple(ids))

    def _has_name(self, chain: Chain) -> bool:
        """Whether a later render could find the chain again."""
        times = chain.start_user_timestamp_ms, chain.final_assistant_timestamp_ms
        return self.source.digest_at is not None or None not in times

    def is_registered(self, chain: Chain) -> bool:
        """Whether a chain is compressed by now."""
        start = chain.start_user_timestamp_ms
        return self.source.index.chain_at(self.digest_at(chain.start), start) is not None

    def digest_at(self, place: int | None) -> str:
        """The digest of a message; empty where there are none."""
        digest_at = self.source.digest_at
        return "" if digest_at is None or place is None else digest_at(self.order[place])

    def start_key(self, chain: Chain) -> str:
        """The name of a chain in the answers of a fuser."""
        return self.digest_at(chain.start) or str(chain.start_user_timestamp_ms)

    def candidates(self, chain: Chain) -> list[Candidate]:
        """What of a chain is not archived yet. Without digests its timestamps must be unique."""
        if self.source.digest_at is not None and chain.final is not None:
            span: tuple[int, int] | None = chain.start, chain.final
        else:
            span = self._boundaries.between(chain.start_user_timestamp_ms, chain.final_assistant_timestamp_ms)
        if span is None:
            return []
        protected = set(chain.protected_tool_call_ids)
        is_filed = self.source.index.is_summarized
        return archive_candidates(self.messages, (self.keys, self.numbers), span, protected, is_filed)

    def bodies(self) -> Bodies:
        """How records are made of candidates."""
        source, order = self.source, self.order
        source_of = source.source_of
        return Bodies(
            message_at=lambda place: source.message_at(order[place]),
            source_of=source_of and (lambda call, ordinal, result: source_of(order[call], ordinal, order[result])),
            path_arguments=source.config.path_arguments,
            spill_threshold=source.config.spill_threshold,
            spill_preview_bytes=source.config.spill_preview_bytes,
        )


def survey_of(source: CompressionInput | ChainSurvey) -> ChainSurvey:
    """The survey of a source, unless it is one already."""
    return source if isinstance(source, ChainSurvey) else ChainSurvey(source)


def fusible_chains(source: CompressionInput | ChainSurvey) -> list[FusibleChain]:
    """The chains whose block would gain from a fused text: those with several summaries. Changes nothing."""
    survey = survey_of(source)
    found = []
    for chain in survey.eligible:
        texts = survey.source.index.summary_texts(chain.lookup_keys)
        if len(texts) >= 2:
            found.append(FusibleChain(survey.start_key(chain), "\n\n".join(texts)))
    return found


def bodies_wanted(source: CompressionInput | ChainSurvey) -> BodiesWanted:
    """Which bodies must be at hand for `compress`. Changes nothing."""
    survey = survey_of(source)
    index = survey.source.index
    positions: set[int] = set()
    records: dict[str, Record] = {}
    for chain in survey.eligible:
        fresh = {candidate.key: candidate for candidate in survey.candidates(chain)}
        positions.update(survey.order[place] for one in fresh.values() for place in (one.call, one.result))
        if index.covers_any(chain.lookup_keys):
            continue
        known = (fresh.get(key) or index.record_of_key(key) for key in chain.lookup_keys)
        shown = sorted((one for one in known if one is not None), key=_time_of)
        records.update((one.key, one) for one in (*shown[:1], *shown[-1:]) if isinstance(one, Record))
    return BodiesWanted(tuple(sorted(positions)), tuple(records.values()))


def _time_of(item: Candidate | Record) -> int:
    return record_time(item) if isinstance(item, Record) else item.timestamp_ms or 0
