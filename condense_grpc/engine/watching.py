"""Watching a session: who is told what, and when.

What changes under a session's lock is told when the lock is let go: one event for a new transcript or view, one for
other costs. Diagnostics are told when they are durable, events of flushes when they happen. Sessions that nobody
watches cost nothing here.
"""

import logging

from condense_grpc.domain.stats import stats_since
from condense_grpc.engine.bodies import BodyCache
from condense_grpc.engine.feed import Feeds, RevisionChanged, SessionFeed, StatsChanged, Watch, WatchedEvent
from condense_grpc.engine.live_session import LiveSession
from condense_grpc.engine.ports import Changes
from condense_grpc.engine.registry import Registry
from condense_grpc.engine.revision import current_revision
from condense_grpc.engine.state import SessionState
from condense_grpc.errors import CondenseError

logger = logging.getLogger(__name__)


class Announcer:
    """Tells what the registry sees. See `live_session.Listener`."""

    def __init__(self, feeds: Feeds, bodies: BodyCache) -> None:
        self._feeds = feeds
        self._bodies = bodies

    def listens_to(self, session_id: str) -> bool:
        """Whether somebody watches a session, or did lately."""
        return self._feeds.find(session_id) is not None

    async def released(self, live: LiveSession) -> None:
        """Tell what has changed while somebody held the lock. It is still held."""
        feed = self._feeds.find(live.session_id)
        if feed is None:
            return
        try:
            changed = await _compare(feed, live.state, self._bodies)
        except CondenseError as error:
            # The change is told together with the next one.
            logger.warning("a change could not be told to those who watch: %s", error.reason)
            return
        for event in changed:
            feed.publish(event)

    def written(self, session_id: str, changes: Changes) -> None:
        """Tell what was noticed and is durable now."""
        for diagnostic in changes.diagnostics:
            self._feeds.publish(session_id, diagnostic)

    def deleted(self, session_id: str) -> None:
        """Tell that a session is gone."""
        self._feeds.end(session_id)


class Watching:
    """The use case. Safe to share."""

    def __init__(self, registry: Registry, feeds: Feeds, bodies: BodyCache) -> None:
        self._registry = registry
        self._feeds = feeds
        self._bodies = bodies

    async def watch(self, session_id: str, cursor: str) -> Watch:
        """The events from now on, or behind a cursor. What happens once this has returned is among them."""
        async with self._registry.locked(session_id) as live:
            known = self._feeds.find(session_id)
            feed = self._feeds.open(live.state.row)
            if known is None:
                await _compare(feed, live.state, self._bodies)
            return feed.subscribe(cursor)


async def _compare(feed: SessionFeed, state: SessionState, bodies: BodyCache) -> list[WatchedEvent]:
    """What is to be told of a state; afterwards it counts as told."""
    transcript, decisions = state.transcript, state.decisions
    now = transcript.head_node, decisions.head, state.config
    if now == feed.told_state:
        return []
    revision = RevisionChanged(await current_revision(bodies, state), transcript.element_count, transcript.etag)
    changed: list[WatchedEvent] = []
    if revision != feed.told_revision:
        changed.append(revision)
    if decisions.stats != feed.told_stats:
        changed.append(StatsChanged(decisions.stats, stats_since(decisions.baseline, decisions.stats)))
    feed.told_state, feed.told_revision, feed.told_stats = now, revision, decisions.stats
    return changed
