"""Errors are told apart by their reason, and details are read as googleapis writes them."""

from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc import error_details_pb2, status_pb2
from hypothesis import given
from hypothesis import strategies as st

from condense_grpc.api.condense.v1 import error_pb2
from condense_grpc.client import errors
from condense_grpc.client.status_details import FieldViolation, StatusDetails, read_details
from tests.client.fake_server import FakeBackend, Refusal
from tests.client.messages import turn

PREFIX = "ERROR_REASON_"
NAMES = [name.removeprefix(PREFIX) for name in dict(error_pb2.ErrorReason.items())]
REASONS = [name for name in NAMES if name != "UNSPECIFIED"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_of_the_contract_has_its_class(reason: str) -> None:
    """A new reason in the contract fails here until the client knows it."""
    assert errors.BY_REASON[reason].default_reason == reason


def test_reasons_arrive_with_their_facts(session: Any, backend: FakeBackend) -> None:
    """Metadata, code and the wish of the server come along, and the transport's error is the cause."""
    refusal = Refusal("QUOTA_EXCEEDED", grpc.StatusCode.RESOURCE_EXHAUSTED, {"limit": "5"}, sentence="full")
    backend.before["PruneMessages"].append(refusal)
    with pytest.raises(errors.QuotaExceeded, match="full") as caught:
        session.prune(turn())
    assert caught.value.reason == "QUOTA_EXCEEDED"
    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.metadata == {"limit": "5"}
    assert caught.value.retry_after_seconds is None
    assert isinstance(caught.value.__cause__, grpc.RpcError)


def test_a_reason_of_a_newer_server_is_kept(session: Any, backend: FakeBackend) -> None:
    """It has no class, but a program can still read it."""
    backend.before["PruneMessages"].append(Refusal("BRAND_NEW", grpc.StatusCode.INTERNAL))
    with pytest.raises(errors.CondenseError) as caught:
        session.prune(turn())
    assert type(caught.value) is errors.CondenseError and caught.value.reason == "BRAND_NEW"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (grpc.StatusCode.UNAVAILABLE, errors.Unavailable),
        (grpc.StatusCode.DEADLINE_EXCEEDED, errors.DeadlineExceeded),
        (grpc.StatusCode.UNAUTHENTICATED, errors.Unauthenticated),
        (grpc.StatusCode.CANCELLED, errors.Cancelled),
        (grpc.StatusCode.DATA_LOSS, errors.CondenseError),
    ],
)
def test_errors_of_the_transport_stay_recognisable(
    session: Any, backend: FakeBackend, code: grpc.StatusCode, kind: type[Exception]
) -> None:
    """Without details the code decides."""
    backend.before["PruneMessages"].extend([Refusal(code=code)] * 4)
    with pytest.raises(kind) as caught:
        session.prune(turn())
    assert type(caught.value) is kind


def test_store_and_shutdown_are_kinds_of_unavailable() -> None:
    """One `except` catches everything that waiting may help."""
    assert issubclass(errors.StoreUnavailable, errors.Unavailable)
    assert issubclass(errors.ShuttingDown, errors.Unavailable)


@given(
    reason=TEXTS.filter(bool),
    domain=TEXTS,
    metadata=st.dictionaries(TEXTS, TEXTS, max_size=3),
    nanos=st.none() | st.integers(min_value=-(10**15), max_value=10**15),
    violations=st.lists(st.tuples(TEXTS, TEXTS), max_size=3),
    number=st.integers(min_value=-(2**31), max_value=2**31 - 1),
    noise=st.booleans(),
)
def test_details_are_read_as_googleapis_writes_them(
    reason: str,
    domain: str,
    metadata: dict[str, str],
    nanos: int | None,
    violations: list[tuple[str, str]],
    number: int,
    noise: bool,
) -> None:
    """Whatever the reference writes, with details of other kinds between, the client reads."""
    status = status_pb2.Status(code=number, message=domain)
    if noise:
        status.details.add().Pack(error_details_pb2.DebugInfo(detail="x", stack_entries=["y"]))
    status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=domain, metadata=metadata))
    if nanos is not None:
        delay = Duration()
        delay.FromNanoseconds(nanos)
        status.details.add().Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    bad = error_details_pb2.BadRequest()
    for name, description in violations:
        bad.field_violations.add(field=name, description=description, reason="R")
    status.details.add().Pack(bad)
    read = read_details(status.SerializeToString())
    assert (read.reason, read.domain, read.metadata) == (reason, domain, metadata)
    assert read.violations == tuple(FieldViolation(*it) for it in violations)
    if nanos is None:
        assert read.retry_after_seconds is None
    else:
        assert read.retry_after_seconds == pytest.approx(max(0.0, nanos / 1e9))


@given(st.binary(max_size=60))
def test_garbage_counts_as_no_details(data: bytes) -> None:
    """Reading never fails: the error itself matters more than its details."""
    assert isinstance(read_details(data), StatusDetails)


@given(st.data())
def test_details_that_are_cut_off_never_fail(data: st.DataObject) -> None:
    """A proxy that shortens headers must not turn an error into another one."""
    status = Refusal("TRANSCRIPT_MISMATCH", metadata={"a": "b"}, retry_seconds=2, fields={"f": "d"}).status()
    raw = status.SerializeToString()
    assert isinstance(read_details(raw[: data.draw(st.integers(0, len(raw)))]), StatusDetails)
