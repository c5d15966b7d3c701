"""A host that sends back what it was shown: its history now holds our stubs, summaries and blocks.

That is another branch, on which nothing was decided. But the model sees the refs in it, so that they go on to mean
what they meant: their records are carried over from the branch on which they were shown. That is the branch that the
same call has left, or one that was left at any time before: a host may go back first and send its view later, in
pieces, and have other things done in between. All that was ever decided stays in the log, so that it does not matter
what has happened since. A host that merely goes back has been shown nothing of it, and gets nothing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from condense_grpc.domain.index import SessionIndex
from condense_grpc.engine.arrival import Arrival
from condense_grpc.engine.carrying import Carrying, Found
from condense_grpc.engine.known_refs import Grade, KnownRefs, sure_grade
from condense_grpc.engine.offloading import offloaded
from condense_grpc.engine.shown_refs import Shown, shown_at
from condense_grpc.engine.state import SessionState


async def keep_refs(
    state: SessionState, before: SessionIndex, arrivals: Sequence[Arrival], position: int, now_ms: int
) -> None:
    """Carry over what the messages that have just arrived show and the session does not know where it is now.

    `before`: what was known before the call; `position`: that of the first of `arrivals` that are new.
    """
    here = state.decisions.index
    if not arrivals or not (here.known_count or before.known_count or state.has_left_decisions):
        return
    found = (shown_at(state.transcript, at, arrival.message) for at, arrival in enumerate(arrivals, position))
    shown = [one for one in found if one is not None and not _is_settled(here, one)]
    if shown:
        await offloaded(len(state.transcript), lambda: _keep(state, before, shown, now_ms))


def _is_settled(here: SessionIndex, shown: Shown) -> bool:
    """Whether all that a message shows is known where the session is now."""
    if shown.identity is not None:
        return here.is_summarized(shown.key_now)
    return all(_is_known(here, ref) for ref in shown.refs)


def _is_known(here: SessionIndex, ref: str) -> bool:
    key = here.key_of_ref(ref)
    return key is not None and here.record_of_key(key) is not None


def _keep(state: SessionState, before: SessionIndex, shown: Sequence[Shown], now_ms: int) -> None:
    transcript, here = state.transcript, state.decisions.index
    nodes = dict(zip(transcript.keys, transcript.nodes, strict=True))
    wanted = [(one, ref) for one in shown for ref in one.refs if one.identity is not None or not _is_known(here, ref)]
    known_here = KnownRefs(here, nodes, is_here=True)
    found = _assign(wanted, chain([known_here], _others(state, before, nodes)))
    carrying = Carrying(known_here, nodes, found)
    for one in shown:
        state.decide(carrying.entries_for(one), now_ms, anchor=one.position + 1)


def _others(state: SessionState, before: SessionIndex, nodes: Mapping[str, int]) -> Iterator[KnownRefs]:
    """What was known on other branches: on the one that this call has left, then on all that were left before."""
    if before is not state.decisions.index and before.known_count:
        yield KnownRefs(before, nodes, is_trusted=True)
    for index in state.left_indexes():
        yield KnownRefs(index, nodes)


def _assign(wanted: Sequence[tuple[Shown, str]], branches: Iterable[KnownRefs]) -> list[Found]:
    """The branch that each ref was most likely shown on; those that explain most come first, the newest of equal ones.

    Once one surely explains everything, those that were left before it are not looked at.
    """
    is_echo = False
    ranked: list[tuple[KnownRefs, dict[tuple[int, str], Grade]]] = []
    for branch in branches:
        grades = {(one.position, ref): grade for one, ref in wanted if (grade := branch.grade(one, ref))}
        is_echo = is_echo or (branch.is_here and branch.has_carried)
        # A user may write what looks like a block. Where nothing was sent back so far, it must be one of ours to count.
        counts = is_echo or branch.is_trusted or branch.has_carried
        if not grades or not (counts or max(grades.values()) >= Grade.SAID):
            continue
        ranked.append((branch, grades))
        if all(grades.get((one.position, ref), Grade.UNKNOWN) >= sure_grade(one) for one, ref in wanted):
            break
    ranked.sort(key=lambda one: -sum(one[1].values()))
    found = [Found(branch) for branch, _ in ranked]
    for one, ref in wanted:
        grades_of_it = [grades.get((one.position, ref), Grade.UNKNOWN) for _, grades in ranked]
        best = max(grades_of_it, default=Grade.UNKNOWN)
        if best:
            found[grades_of_it.index(best)].take(one, ref, best)
    return [one for one in found if one.refs]
