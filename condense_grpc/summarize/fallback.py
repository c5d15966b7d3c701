"""What happens when the chosen model is down: the session's own model steps in.

After the first outage batches go straight to the session's model; every ten minutes one of them probes the chosen
one, and a probe that succeeds ends the outage. Pure: the time comes in with each call, and what people should hear
of comes out as a signal. A warning is owed as long as an outage has begun in which nothing has worked yet.

Invariant: all states lead back. No failure keeps the chosen model from being probed after the cooldown.
"""

from enum import Enum, auto

from condense_grpc.domain.frozen import frozen
from condense_grpc.summarize.model_choice import Model

PROBE_COOLDOWN_MS = 600_000


class Signal(Enum):
    """What has just become true."""

    ENTER = auto()  # the session's model does the work from now on
    RECOVER = auto()  # the chosen model is back


class Ending(Enum):
    """How one attempt ended. AUTH: credentials failed before anything was sent."""

    OK = auto()
    AUTH = auto()
    TRANSIENT = auto()


@frozen
class Target:
    """Where a batch goes first. A probe is an attempt on the chosen model in the middle of an outage."""

    is_primary: bool
    is_probe: bool = False


def has_distinct_fallback(primary: Model | None, session_model: Model | None) -> bool:
    """Whether there is a second model to fall back on; a name does not make a model another one."""
    if primary is None or session_model is None:
        return False
    return (primary.provider, primary.model_id) != (session_model.provider, session_model.model_id)


class FallbackController:
    """The outage of one session's chosen model. Shared by all batches of the session, on one event loop.

    Failures of credentials, and failures on the session's model alone, change nothing and are not reported to it.
    """

    def __init__(self) -> None:
        self.reset()

    @property
    def in_fallback(self) -> bool:
        """Whether the chosen model is thought to be down."""
        return self._in_fallback

    @property
    def last_probe_at_ms(self) -> int | None:
        """When the chosen model was last tried in an outage, or last failed; None if it never has."""
        return self._last_probe_at_ms or None

    @property
    def owes_warning(self) -> bool:
        """Whether both models have failed, so that nobody was told of a switch yet."""
        return self._owed_warning

    def reset(self) -> None:
        """Forget everything, as when a session is loaded."""
        self._in_fallback = False
        self._last_probe_at_ms = 0
        self._owed_warning = False

    def choose_target(self, now_ms: int) -> Target:
        """Where the next batch goes. A probe that is handed out counts, whatever becomes of it."""
        if not self._in_fallback:
            return Target(is_primary=True)
        if now_ms - self._last_probe_at_ms < PROBE_COOLDOWN_MS:
            return Target(is_primary=False)
        self._last_probe_at_ms = now_ms
        return Target(is_primary=True, is_probe=True)

    def primary_succeeded(self, *, was_probe: bool) -> Signal | None:
        """The chosen model answered. Only a probe ends an outage: other replies may be older than it."""
        if not (was_probe and self._in_fallback):
            return None
        self._in_fallback = False
        self._owed_warning = False
        return Signal.RECOVER

    def retry_succeeded(self, now_ms: int) -> Signal | None:
        """The chosen model failed, the session's model answered."""
        self._last_probe_at_ms = now_ms
        is_news = self._owed_warning or not self._in_fallback
        self._owed_warning = False
        self._in_fallback = True
        return Signal.ENTER if is_news else None

    def both_failed(self, now_ms: int) -> None:
        """The chosen model failed, and so did the session's."""
        self._last_probe_at_ms = now_ms
        if not self._in_fallback:
            self._in_fallback = True
            self._owed_warning = True

    def fallback_succeeded(self) -> Signal | None:
        """The session's model answered a batch that was sent to it in the first place."""
        if not self._owed_warning:
            return None
        self._owed_warning = False
        return Signal.ENTER


@frozen
class Settled:
    """What follows from an attempt: another one on the session's model, or none, and what to tell people."""

    retry: bool = False
    signal: Signal | None = None


class Route:
    """The way of one batch: at most two models, in order. Made when the batch is issued, used by one task.

    Without a controller, or without a second model, it is one attempt on the chosen model.
    """

    def __init__(
        self, primary: Model, session_model: Model | None, controller: FallbackController | None, now_ms: int
    ) -> None:
        self._controller = controller if has_distinct_fallback(primary, session_model) else None
        self._target = self._controller.choose_target(now_ms) if self._controller else Target(is_primary=True)
        self._session_model = session_model
        self._is_retry = False
        self.model = primary if self._target.is_primary or session_model is None else session_model

    def settle(self, ending: Ending, now_ms: int) -> Settled:
        """Take note of how the attempt on `model` ended; when it is to be retried, `model` is the next one."""
        controller = self._controller
        if controller is None or self._session_model is None:
            return Settled()
        if self._is_retry:
            return Settled(signal=self._settle_retry(controller, ending, now_ms))
        if ending is Ending.OK:
            return Settled(signal=self._settle_first(controller))
        if ending is Ending.TRANSIENT and self._target.is_primary:
            self._is_retry = True
            self.model = self._session_model
            return Settled(retry=True)
        return Settled()

    def _settle_first(self, controller: FallbackController) -> Signal | None:
        if self._target.is_primary:
            return controller.primary_succeeded(was_probe=self._target.is_probe)
        return controller.fallback_succeeded()

    def _settle_retry(self, controller: FallbackController, ending: Ending, now_ms: int) -> Signal | None:
        if ending is Ending.OK:
            return controller.retry_succeeded(now_ms)
        controller.both_failed(now_ms)
        return None
