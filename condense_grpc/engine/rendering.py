"""Rendering of a live session: the list that the rules see, the bodies they need, and what becomes of the view."""

from collections.abc import Iterable, Mapping

from condense_grpc.domain.chain_ranges import ResultBody
from condense_grpc.domain.chains import Boundaries
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.messages import Message, Role, TextPart, text_of
from condense_grpc.domain.render import RenderInput, render
from condense_grpc.domain.skeleton import MessageSkeleton
from condense_grpc.domain.view import View
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.state import SessionState


@frozen
class ViewList:
    """The list to render: the transcript with each summary where it was made.

    `origins`: for each place the position in the transcript, or the summary's message. `marks` name the content of
    each place. `digests`: the rolling digest (hex) of a message -> its place.
    """

    skeletons: list[MessageSkeleton]
    origins: list[int | Message]
    marks: list[bytes | str]
    digests: Mapping[str, int]


def view_list(state: SessionState) -> ViewList:
    """The list of a session. Chains are found by digest, so these are needed only when there are some."""
    transcript, decisions = state.transcript, state.decisions
    skeletons: list[MessageSkeleton] = []
    origins: list[int | Message] = []
    marks: list[bytes | str] = []
    digests: dict[str, int] = {}
    with_digests = bool(decisions.index.chains)
    position = 0
    for summary in (*decisions.summaries, None):
        end = len(transcript) if summary is None else summary.anchor_length
        for index in range(position, end):
            if with_digests:
                digests[transcript.digests[index].hex()] = len(skeletons)
            skeletons.append(transcript.skeletons[index])
            origins.append(index)
            marks.append(transcript.digests[index])
        position = max(position, end)
        if summary is not None:
            skeletons.append(summary.skeleton)
            origins.append(summary.message)
            marks.append(summary.message.source_json)
    return ViewList(skeletons, origins, marks, digests)


def protected_places(state: SessionState, shown: ViewList) -> list[int]:
    """The places whose bodies a render shows inside of blocks: protected results of compressed chains."""
    chains = [chain for chain in state.decisions.index.chains if chain.protected_tool_call_ids]
    if not chains or not state.config.chain_compression.enabled:
        return []
    boundaries = Boundaries(shown.skeletons, shown.digests)
    places: list[int] = []
    for chain in chains:
        found = boundaries.resolve(chain)
        if found is None:
            continue
        protected = set(chain.protected_tool_call_ids)
        # View order moves only other messages, and only forward: this stretch holds at least what the view's does.
        places += [
            place
            for place in range(found[0] + 1, found[1])
            if shown.skeletons[place].role is Role.TOOL_RESULT and shown.skeletons[place].tool_call_id in protected
        ]
    return places


def render_session(state: SessionState, shown: ViewList, bodies: Mapping[int, ResultBody]) -> View:
    """The view of a session, or its plain transcript when it is disabled. `bodies` by place."""
    source = RenderInput(
        messages=shown.skeletons,
        index=state.decisions.index,
        config=state.config,
        digests=shown.digests,
        result_body=bodies.__getitem__,
    )
    return render(source)


async def result_bodies(bodies: BodyCache, state: SessionState, positions: Iterable[int]) -> dict[int, ResultBody]:
    """What blocks show of these results, by position."""
    wanted = list(positions)
    if not wanted:
        return {}
    found: dict[int, ResultBody] = {}
    for position, message in (await bodies.messages(state, wanted)).items():
        others = tuple(part for part in message.parts if not isinstance(part, TextPart))
        found[position] = ResultBody(text_of(message), others)
    return found
