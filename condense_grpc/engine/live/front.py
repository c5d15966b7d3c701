"""How far the chains of a session are finished: what lies before needs no second look by a compression."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from condense_grpc.domain.chain_survey import ChainSurvey
from condense_grpc.domain.compression import SkippedChain, SkippedChainReason
from condense_grpc.domain.skeleton import MessageSkeleton


@dataclass(slots=True)
class ChainFront:
    """Owned by one live plan.

    `base`: the position of an answer before which every closed chain is compressed or has nothing in it to compress.
    `passed`: what a report says of the compressed chains before it.
    """

    base: int = 0
    passed: list[SkippedChain] = field(default_factory=list)

    def advance(self, survey: ChainSurvey, messages: Sequence[MessageSkeleton]) -> None:
        """Move on after a compression, given its survey of the messages from the base on."""
        first = len(messages)
        registered: list[SkippedChain] = []
        for chain in survey.chains:
            start = self.base + survey.order[chain.start]
            if chain.final is None or not chain.middle_tool_call_ids:
                continue
            if not survey.is_registered(chain):
                first = start
                break
            reason = SkippedChainReason.ALREADY_COMPRESSED
            registered.append(SkippedChain(chain.start_user_timestamp_ms, reason, start))
        answers = (at for at in range(first - 1, self.base, -1) if messages[at].is_text_only_assistant)
        self.base = next(answers, self.base)
        self.passed += [one for one in registered if one.start < self.base]

    def all_skipped(self, skipped: Sequence[SkippedChain]) -> tuple[SkippedChain, ...]:
        """What a compression skipped, with positions in the whole transcript, and what lies before its base."""
        return (*self.passed, *(replace(one, start=self.base + one.start) for one in skipped))
