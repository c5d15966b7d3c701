"""The view that a client was shown last, over a restart.

A view is a function of transcript, decisions and settings, so that it is enough to keep where these stood. From that
it is made again when the session is loaded and something is about to change.
"""

import logging

from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.config_codec import config_from_json
from condense_grpc.engine.decisions import Decisions
from condense_grpc.engine.live.shown import LiveShown
from condense_grpc.engine.revision import current_view
from condense_grpc.engine.shown_view import ShownView, plain_view
from condense_grpc.engine.state import SessionState
from condense_grpc.engine.whole_view import whole_view
from condense_grpc.errors import CondenseError

logger = logging.getLogger(__name__)


async def recall_shown(bodies: BodyCache, state: SessionState) -> None:
    """Have the last view in memory, if there was one and its branch was not left since. To be called before a change.

    That it cannot be made is no failure: the next report then has nothing to compare with.
    """
    if state.view.has_shown or state.shown_at is None:
        return
    try:
        shown = await _made_again(bodies, state)
        if shown is not None:
            state.view.remember(shown)
    except CondenseError as error:
        logger.warning("the last view could not be made again: %s", error.reason)


async def _made_again(bodies: BodyCache, state: SessionState) -> LiveShown | ShownView | None:
    at = state.shown_at
    assert at is not None
    if (at.length, at.commit, at.config_json) == (len(state.transcript), state.decisions.head, ""):
        # Nothing has changed since, as it usually is. (Lengths alone would not do: another branch may be as long.)
        is_there = state.transcript.head_node == at.node
        return (await current_view(bodies, state)).shown(is_plain=at.is_plain) if is_there else None
    commits = [commit for commit in state.decisions.commits if commit.number <= at.commit]
    if at.length > len(state.transcript) or state.transcript.node_at(at.length) != at.node:
        return None
    if (commits[-1].number if commits else 0) != at.commit:
        return None
    then = state.copy()
    then.transcript.rewind(at.length)
    then.decisions = Decisions(commits)
    if at.config_json:
        then.take_config(config_from_json(at.config_json))
    if at.is_plain:
        return plain_view(then.transcript)
    return (await whole_view(bodies, then)).shown(is_plain=False)
