"""What happens to a session, for whoever watches it.

A session that was never watched has no feed and costs nothing. A feed keeps the latest events, so that a reader whose
connection broke goes on where it was; what a reader misses because it is slow, or because a feed is gone, it learns
as a gap. Nobody ever waits for a reader.

A cursor names a place: it says which session and which feed it belongs to and how far its reader has come.
"""

import asyncio
import base64
import hashlib
import secrets
from collections import OrderedDict, deque
from typing import TypeAlias
from weakref import WeakSet

from condense_grpc.domain.entries import Stats
from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.stats import StatsDelta
from condense_grpc.engine.events import NumberedEvent
from condense_grpc.engine.ports import Clock, SessionRow, StoredDiagnostic
from condense_grpc.errors import PageTokenInvalid, ShuttingDown

KEPT_EVENTS = 256
# Feeds that nobody reads just now: so many wait for their readers to come back.
KEPT_FEEDS = 100
_DIGEST_BYTES = 8
_ID_BYTES = 8
_PLACE_BYTES = 8


@frozen
class StatsChanged:
    """The costs are others now."""

    stats: Stats
    since_load: StatsDelta


@frozen
class RevisionChanged:
    """The transcript or the view is another one now."""

    revision: str
    length: int
    etag: str


@frozen
class Gap:
    """Events are missing here. `missed` None: nobody knows how many."""

    missed: int | None


@frozen
class Deleted:
    """The session is gone. Nothing comes behind it."""


WatchedEvent: TypeAlias = NumberedEvent | StoredDiagnostic | StatsChanged | RevisionChanged | Gap | Deleted


@frozen
class SessionEvent:
    """One event with its place."""

    cursor: str
    time_ms: int
    event: WatchedEvent


class SessionFeed:
    """The events of one session from the moment on when it was first watched. For one event loop."""

    def __init__(self, row: SessionRow, clock: Clock) -> None:
        # What was told last, and the state of the session behind it.
        self.told_revision: RevisionChanged | None = None
        self.told_stats = Stats()
        self.told_state: object = None
        self._readers: WeakSet[Watch] = WeakSet()
        self._clock = clock
        self._session = _digest_of(row)
        self._id = secrets.token_bytes(_ID_BYTES)
        self._events: deque[tuple[int, int, WatchedEvent]] = deque(maxlen=KEPT_EVENTS)
        self._last = 0
        self._ended = False
        self._closing = False
        self._changed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def publish(self, event: WatchedEvent) -> None:
        """Tell an event to all readers."""
        if not self._ended:
            self._last += 1
            self._events.append((self._last, self._clock.now_ms(), event))
            self._ended = isinstance(event, Deleted)
            self._wake()

    def close(self) -> None:
        """Send all readers away: the server stops."""
        self._closing = True
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.get_running_loop().create_future()
        changed.set_result(None)

    @property
    def has_readers(self) -> bool:
        """Whether somebody reads, or is about to."""
        return bool(self._readers)

    def subscribe(self, cursor: str) -> "Watch":
        """The events from now on, or behind a cursor. Raises PageTokenInvalid for one of another session."""
        watch = Watch(self, *self._start(cursor))
        self._readers.add(watch)
        return watch

    def leave(self, watch: "Watch") -> None:
        """A reader has gone."""
        self._readers.discard(watch)

    def _start(self, cursor: str) -> tuple[int, bool]:
        """The place behind which to begin, and whether nobody knows what was there before."""
        if not cursor:
            return self._last, False
        session, feed, place = _read_cursor(cursor)
        if session != self._session:
            raise PageTokenInvalid("cursor")
        if feed != self._id:
            return self._last, True
        if place > self._last:
            raise PageTokenInvalid("cursor")
        return place, False

    async def next_behind(self, place: int) -> tuple[int, SessionEvent]:
        """The next event behind a place, with its own place; waits for it. Raises ShuttingDown at a stop."""
        while place >= self._last:
            if self._closing:
                raise ShuttingDown
            await asyncio.shield(self._changed)
        first = self._events[0][0]
        if place + 1 < first:
            return first - 1, self.gap(first - 1, first - 1 - place)
        place, time_ms, event = self._events[place + 1 - first]
        return place, SessionEvent(self._cursor(place), time_ms, event)

    def gap(self, place: int, missed: int | None) -> SessionEvent:
        """The word that events up to this place are missing."""
        return SessionEvent(self._cursor(place), self._clock.now_ms(), Gap(missed))

    def _cursor(self, place: int) -> str:
        data = self._session + self._id + place.to_bytes(_PLACE_BYTES)
        return base64.urlsafe_b64encode(data).decode()


class Watch:
    """One reader's events, in order. To be closed by whoever has asked for it."""

    def __init__(self, feed: SessionFeed, place: int, is_lost: bool) -> None:
        self._feed = feed
        self._place = place
        self._is_lost = is_lost
        self._ended = False

    def __aiter__(self) -> "Watch":
        return self

    async def __anext__(self) -> SessionEvent:
        if self._ended:
            raise StopAsyncIteration
        if self._is_lost:
            self._is_lost = False
            return self._feed.gap(self._place, None)
        self._place, event = await self._feed.next_behind(self._place)
        self._ended = isinstance(event.event, Deleted)
        return event

    async def aclose(self) -> None:
        """Read no more."""
        self._ended = True
        self._feed.leave(self)


def _digest_of(row: SessionRow) -> bytes:
    """What tells a session from all others, one of the same id that was deleted before included."""
    name = f"{row.create_time_ms} {row.session_id}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(name, digest_size=_DIGEST_BYTES).digest()


def _read_cursor(cursor: str) -> tuple[bytes, bytes, int]:
    try:
        data = base64.b64decode(cursor, altchars=b"-_", validate=True)
    except ValueError:
        raise PageTokenInvalid("cursor") from None
    if len(data) != _DIGEST_BYTES + _ID_BYTES + _PLACE_BYTES:
        raise PageTokenInvalid("cursor")
    feed_end = _DIGEST_BYTES + _ID_BYTES
    return data[:_DIGEST_BYTES], data[_DIGEST_BYTES:feed_end], int.from_bytes(data[feed_end:])


class Feeds:
    """The feeds of one engine, by session."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._closing = False
        # The least recently opened first.
        self._feeds: OrderedDict[str, SessionFeed] = OrderedDict()

    def find(self, session_id: str) -> SessionFeed | None:
        """The feed of a session that is or was watched."""
        return self._feeds.get(session_id)

    def open(self, row: SessionRow) -> SessionFeed:
        """The feed of a session, from now on. Raises ShuttingDown."""
        if self._closing:
            raise ShuttingDown
        feed = self._feeds.pop(row.session_id, None) or SessionFeed(row, self._clock)
        self._feeds[row.session_id] = feed
        idle = [session_id for session_id, one in self._feeds.items() if not one.has_readers and one is not feed]
        for session_id in idle[: max(0, len(idle) - KEPT_FEEDS)]:
            del self._feeds[session_id]
        return feed

    def publish(self, session_id: str, event: WatchedEvent) -> None:
        """Tell an event to whoever watches the session."""
        feed = self._feeds.get(session_id)
        if feed is not None:
            feed.publish(event)

    def end(self, session_id: str) -> None:
        """The session is deleted: its readers learn it and go."""
        feed = self._feeds.pop(session_id, None)
        if feed is not None:
            feed.publish(Deleted())

    def close(self) -> None:
        """The server stops: send all readers away, and let nobody in any more."""
        self._closing = True
        for feed in self._feeds.values():
            feed.close()
