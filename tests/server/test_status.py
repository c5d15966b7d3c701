"""The table from reasons to statuses is complete, and a status is never too large."""

import inspect

import grpc
import pytest
from google.rpc import error_details_pb2

from condense_grpc import errors
from condense_grpc.api.condense.v1 import error_pb2
from condense_grpc.errors import CondenseError, ConfigInvalid, FieldViolation, QuotaExceeded, SessionNotFound
from condense_grpc.server.status import TREATMENTS, internal_status, status_of

REASONS = [name.removeprefix("ERROR_REASON_") for name in error_pb2.ErrorReason.keys()[1:]]
CLASSES = [
    one
    for one in vars(errors).values()
    if inspect.isclass(one) and issubclass(one, CondenseError) and one is not CondenseError
]
HOSTILE = "\U0001f469" * 100_000


def details(status, kind):
    found = []
    for detail in status.details:
        if detail.Is(kind.DESCRIPTOR):
            found.append(kind())
            detail.Unpack(found[-1])
    return found


def test_every_reason_of_the_contract_has_one_code() -> None:
    assert list(TREATMENTS) == REASONS


@pytest.mark.parametrize("one", CLASSES, ids=lambda one: one.__name__)
def test_every_error_class_has_a_reason_of_the_contract(one: type[CondenseError]) -> None:
    assert one.reason in TREATMENTS


def test_every_reason_but_that_of_defects_has_a_class() -> None:
    assert {one.reason for one in CLASSES} == set(REASONS) - {"INTERNAL"}


@pytest.mark.parametrize(("reason", "seconds"), [("FLUSH_IN_PROGRESS", 1), ("STORE_UNAVAILABLE", 2)])
def test_waiting_is_advised_where_it_helps(reason: str, seconds: int) -> None:
    assert TREATMENTS[reason].retry_seconds == seconds


def test_a_full_server_is_worth_another_try_and_a_full_answer_is_not() -> None:
    busy = status_of(QuotaExceeded("calls", 1, 1, "wait", waiting_helps=True))
    large = status_of(QuotaExceeded("bytes", 2, 1, "ask for less"))
    assert busy.code == large.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert details(busy, error_details_pb2.RetryInfo)
    assert not details(large, error_details_pb2.RetryInfo)


def test_all_settings_at_fault_are_named() -> None:
    error = ConfigInvalid.of([FieldViolation("config.a", "must be 1"), FieldViolation("config.b", "must be 2")])
    status = status_of(error)
    [info] = details(status, error_details_pb2.ErrorInfo)
    [bad] = details(status, error_details_pb2.BadRequest)
    assert (info.reason, dict(info.metadata)) == ("CONFIG_INVALID", {"field": "config.a"})
    assert [violation.field for violation in bad.field_violations] == ["config.a", "config.b"]


def test_the_server_adds_what_the_error_does_not_know() -> None:
    [info] = details(status_of(SessionNotFound("s"), {"store": "x"}), error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"sessionId": "s", "store": "x"}


@pytest.mark.parametrize(
    "error",
    [
        SessionNotFound(HOSTILE),
        ConfigInvalid.of([FieldViolation(HOSTILE, HOSTILE)] * 200),
        errors.SummarizerUnknown(HOSTILE, HOSTILE, [HOSTILE] * 100),
        errors.NotImplementedYet(HOSTILE),
        errors.RequestInvalid("\ud800", "\ud800"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_status_comes_near_the_limit_for_metadata(error: CondenseError) -> None:
    status = status_of(error)
    percent_encoded = sum(1 if 32 <= byte < 127 else 3 for byte in status.message.encode())
    assert status.ByteSize() * 4 / 3 + percent_encoded < 8 * 1024
    assert len(details(status, error_details_pb2.ErrorInfo)) == 1


def test_a_defect_says_its_number_and_nothing_else() -> None:
    status = internal_status("abc")
    [info] = details(status, error_details_pb2.ErrorInfo)
    assert dict(info.metadata) == {"incidentId": "abc"}
    assert status.message == internal_status("def").message
