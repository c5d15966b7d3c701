"""The way of one batch between two models. The controller's own table of events is covered by the vectors."""

import pytest

from condense_grpc.summarize.fallback import (
    PROBE_COOLDOWN_MS,
    Ending,
    FallbackController,
    Route,
    Settled,
    Signal,
)
from condense_grpc.summarize.model_choice import Model

SMALL = Model("prov", "small", "Small")
MAIN = Model("p", "main")
START = 1_760_000_000_000


def route(controller: FallbackController | None, now_ms: int = START) -> Route:
    return Route(SMALL, MAIN, controller, now_ms)


def in_outage(now_ms: int = START) -> FallbackController:
    controller = FallbackController()
    controller.retry_succeeded(now_ms)
    return controller


def test_an_outage_is_announced_once() -> None:
    """Of several batches that fail together only the first one that is rescued says so."""
    controller = FallbackController()
    routes = [route(controller) for _ in range(3)]
    assert [one.settle(Ending.TRANSIENT, START) for one in routes] == [Settled(retry=True)] * 3
    assert [one.model for one in routes] == [MAIN] * 3
    assert [one.settle(Ending.OK, START).signal for one in routes] == [Signal.ENTER, None, None]


def test_one_probe_per_cooldown() -> None:
    """The batches of one flush share one probe; the others go to the model that works."""
    controller = in_outage()
    due = START + PROBE_COOLDOWN_MS
    assert [route(controller, due).model for _ in range(3)] == [SMALL, MAIN, MAIN]
    assert route(controller, due + PROBE_COOLDOWN_MS - 1).model is MAIN


def test_a_probe_that_succeeds_ends_the_outage() -> None:
    """And the next batch goes to the chosen model without being a probe."""
    controller = in_outage()
    assert route(controller, START + PROBE_COOLDOWN_MS).settle(Ending.OK, START) == Settled(signal=Signal.RECOVER)
    assert not controller.in_fallback
    assert route(controller).settle(Ending.OK, START) == Settled()


def test_a_late_success_does_not_end_an_outage() -> None:
    """A reply to a request from before the outage says nothing about now."""
    controller = FallbackController()
    early, failing = route(controller), route(controller)
    failing.settle(Ending.TRANSIENT, START)
    failing.settle(Ending.OK, START)
    assert early.settle(Ending.OK, START) == Settled()
    assert controller.in_fallback


def test_warning_is_owed_until_something_works() -> None:
    """With both models down nothing is announced; the first success of the second one does it."""
    controller = FallbackController()
    first = route(controller)
    first.settle(Ending.TRANSIENT, START)
    assert first.settle(Ending.AUTH, START) == Settled()
    assert controller.in_fallback
    assert route(controller).settle(Ending.TRANSIENT, START) == Settled()
    assert route(controller).settle(Ending.OK, START) == Settled(signal=Signal.ENTER)
    assert route(controller).settle(Ending.OK, START) == Settled()


@pytest.mark.parametrize("controller", [FallbackController(), in_outage()])
def test_credentials_change_nothing(controller: FallbackController) -> None:
    """Missing credentials are not an outage: no other model is tried."""
    before = controller.in_fallback
    assert route(controller).settle(Ending.AUTH, START) == Settled()
    assert controller.in_fallback is before


@pytest.mark.parametrize("ending", Ending)
def test_without_a_controller_there_is_one_attempt(ending: Ending) -> None:
    """Nothing is retried and nothing announced."""
    alone = route(None)
    assert alone.model is SMALL
    assert alone.settle(ending, START) == Settled()


@pytest.mark.parametrize("session_model", [None, Model("prov", "small", "Another name")])
def test_without_a_second_model_there_is_no_fallback(session_model: Model | None) -> None:
    """The same model under another name is no second model."""
    controller = FallbackController()
    alone = Route(SMALL, session_model, controller, START)
    assert alone.settle(Ending.TRANSIENT, START) == Settled()
    assert not controller.in_fallback


def test_reset_forgets_the_outage() -> None:
    """A session that is loaded starts with its chosen model."""
    controller = in_outage()
    controller.reset()
    assert route(controller).model is SMALL
