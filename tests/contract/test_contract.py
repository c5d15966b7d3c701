"""The contract holds what it promises: calls, comments, reasons, presence; and the committed code is made from it."""

import dataclasses
import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import grpc_tools
import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import FieldDescriptor, FileDescriptor

from condense_grpc.api.condense.v1 import (
    capabilities_service_pb2,
    condense_service_pb2,
    config_pb2,
    edit_pb2,
    error_pb2,
    message_pb2,
    session_service_pb2,
    transcript_pb2,
    view_pb2,
)
from condense_grpc.domain import config

ROOT = Path(__file__).resolve().parents[2]
PROTO_ROOT = ROOT / "proto"
PROTO_FILES = sorted(path.relative_to(PROTO_ROOT).as_posix() for path in PROTO_ROOT.glob("condense/v1/*.proto"))

MethodOptions = descriptor_pb2.MethodOptions
UNSAFE, PURE, IDEMPOTENT = (
    MethodOptions.IDEMPOTENCY_UNKNOWN,
    MethodOptions.NO_SIDE_EFFECTS,
    MethodOptions.IDEMPOTENT,
)

# name -> (client streams, server streams, may be repeated)
CALLS = {
    "CondenseService": {
        "PruneMessages": (False, False, IDEMPOTENT),
        "FlushBatches": (False, True, IDEMPOTENT),
        "QueryToolCall": (False, False, PURE),
        "ReadToolResult": (False, True, PURE),
        "SearchToolCalls": (False, True, PURE),
        "GetDiagnostics": (False, False, PURE),
        "AppendMessages": (True, False, IDEMPOTENT),
        "CompactChains": (False, True, IDEMPOTENT),
    },
    "SessionService": {
        "CreateSession": (False, False, UNSAFE),
        "GetSession": (False, False, PURE),
        "ListSessions": (False, False, PURE),
        "UpdateSession": (False, False, IDEMPOTENT),
        "DeleteSession": (False, False, IDEMPOTENT),
        "ForkSession": (False, False, UNSAFE),
        "ListToolCalls": (False, False, PURE),
        "ListSummaries": (False, False, PURE),
        "WatchSession": (False, True, PURE),
        "ExportSession": (False, True, PURE),
        "ImportSession": (True, False, UNSAFE),
        "RecordUsage": (False, False, IDEMPOTENT),
        "PinToolCalls": (False, False, IDEMPOTENT),
    },
    "CapabilitiesService": {"GetCapabilities": (False, False, PURE)},
}

REASONS = [
    "SESSION_NOT_FOUND",
    "SESSION_ALREADY_EXISTS",
    "SESSION_ID_INVALID",
    "TRANSCRIPT_MISMATCH",
    "MESSAGE_INVALID",
    "MESSAGE_TOO_LARGE",
    "DELTA_TOO_LARGE",
    "NATIVE_JSON_INVALID",
    "CONFIG_INVALID",
    "FLUSH_IN_PROGRESS",
    "REVISION_CONFLICT",
    "PAGE_TOKEN_INVALID",
    "PATTERN_INVALID",
    "QUOTA_EXCEEDED",
    "SUMMARIZER_UNKNOWN",
    "UNAUTHENTICATED",
    "PERMISSION_DENIED",
    "STORE_UNAVAILABLE",
    "SHUTTING_DOWN",
    "REQUEST_INVALID",
    "NOT_IMPLEMENTED",
    "INTERNAL",
]

CODES = {
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "INVALID_ARGUMENT",
    "FAILED_PRECONDITION",
    "ABORTED",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
}

UNUSUAL_TEXT = "\U0001f469\u200d\U0001f680 e\u0301 \x00 \u2028\u2029 \x1b[31m \ufeff\r\n \U00020bb7 \u202e [[1:bash]]"


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[descriptor_pb2.FileDescriptorProto]:
    """The proto files as they are now, with their comments."""
    output = tmp_path_factory.mktemp("contract") / "sources.binpb"
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={PROTO_ROOT}", f"--proto_path={well_known}"),
            *("--include_source_info", f"--descriptor_set_out={output}", *PROTO_FILES),
        ],
        check=True,
    )
    return list(descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes()).file)


def comment_of(file: descriptor_pb2.FileDescriptorProto, *path: int) -> str:
    """The comment above the element at this path of a file."""
    found = [location.leading_comments for location in file.source_code_info.location if list(location.path) == [*path]]
    return found[0] if found else ""


def rpc_comments(files: list[descriptor_pb2.FileDescriptorProto]) -> Iterator[tuple[str, str]]:
    """The name of every call with its comment."""
    for file in files:
        for i, service in enumerate(file.service):
            for j, method in enumerate(service.method):
                yield f"{service.name}.{method.name}", comment_of(file, 6, i, 2, j)


@cache
def file_descriptors() -> list[FileDescriptor]:
    """The generated modules' descriptors, one per proto file."""
    names = ["condense_grpc.api." + name.removesuffix(".proto").replace("/", ".") + "_pb2" for name in PROTO_FILES]
    return [importlib.import_module(name).DESCRIPTOR for name in names]


def test_every_call_is_there_and_says_how_it_streams_and_whether_it_may_be_repeated() -> None:
    found = {}
    for module in (condense_service_pb2, session_service_pb2, capabilities_service_pb2):
        proto = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(proto)
        for service in proto.service:
            found[service.name] = {
                call.name: (call.client_streaming, call.server_streaming, call.options.idempotency_level)
                for call in service.method
            }
    assert found == CALLS


def test_every_call_has_a_request_and_a_response_of_its_own() -> None:
    used = []
    for file in file_descriptors():
        for service in file.services_by_name.values():
            for call in service.methods:
                assert (call.input_type.name, call.output_type.name) == (f"{call.name}Request", f"{call.name}Response")
                used += [call.input_type.full_name, call.output_type.full_name]
    assert len(used) == len(set(used)) == 2 * sum(len(calls) for calls in CALLS.values())


def test_every_call_says_what_happens_on_repeat_and_how_it_fails(sources) -> None:
    comments = dict(rpc_comments(sources))
    assert len(comments) == sum(len(calls) for calls in CALLS.values())
    for name, comment in comments.items():
        assert "On repeat:" in comment, name
        assert "Errors:" in comment, name


def test_every_reason_that_a_comment_names_exists(sources) -> None:
    for name, comment in rpc_comments(sources):
        errors = comment.partition("Errors:")[2]
        named = set(re.findall(r"`([A-Z][A-Z_]+)`", errors)) - CODES
        assert named <= set(REASONS), name


def test_the_reasons_are_complete() -> None:
    assert error_pb2.ErrorReason.keys() == ["ERROR_REASON_UNSPECIFIED", *(f"ERROR_REASON_{name}" for name in REASONS)]


def test_every_reason_has_a_code_and_a_worked_example(sources) -> None:
    [file] = [file for file in sources if file.name.endswith("/error.proto")]
    for number, value in enumerate(file.enum_type[0].value):
        comment = comment_of(file, 5, 0, 2, number)
        if number:
            reason = value.name.removeprefix("ERROR_REASON_")
            assert f'"reason": "{reason}"' in comment
            assert '"domain": "condense.v1"' in comment
            assert len(set(re.findall(r"Code\s+`([A-Z_]+)`", comment))) == 1, reason


@pytest.mark.parametrize("message", [config_pb2.SessionConfig, config_pb2.ChainCompression, config_pb2.PurgeErrors])
def test_every_knob_knows_whether_it_was_set(message) -> None:
    assert all(field.has_presence for field in message.DESCRIPTOR.fields)


@pytest.mark.parametrize(
    ("message", "settings"),
    [
        (config_pb2.SessionConfig, config.SessionConfig),
        (config_pb2.ChainCompression, config.ChainCompressionConfig),
        (config_pb2.PurgeErrors, config.PurgeErrorsConfig),
    ],
)
def test_the_knobs_are_those_of_the_domain(message, settings) -> None:
    assert sorted(message.DESCRIPTOR.fields_by_name) == sorted(field.name for field in dataclasses.fields(settings))


def test_a_trigger_set_to_0_differs_from_one_that_is_absent() -> None:
    cleared = config_pb2.SessionConfig(auto_budget_threshold=0)
    again = config_pb2.SessionConfig.FromString(cleared.SerializeToString())
    assert again.HasField("auto_budget_threshold")
    assert not again.HasField("budget_turn_delta")


def test_an_empty_list_differs_from_one_that_is_absent() -> None:
    cleared = config_pb2.SessionConfig(protected_paths=config_pb2.StringList())
    again = config_pb2.SessionConfig.FromString(cleared.SerializeToString())
    assert again.HasField("protected_paths")
    assert not again.HasField("protected_tools")


def test_a_message_at_time_0_differs_from_one_without_time() -> None:
    assert message_pb2.Message.FromString(message_pb2.Message(timestamp_ms=0).SerializeToString()).HasField(
        "timestamp_ms"
    )
    assert not message_pb2.Message().HasField("timestamp_ms")


def test_an_empty_payload_differs_from_none() -> None:
    cut = transcript_pb2.TranscriptDelta(base_length=3, messages=transcript_pb2.MessageList())
    assert transcript_pb2.TranscriptDelta.FromString(cut.SerializeToString()).WhichOneof("payload") == "messages"
    assert transcript_pb2.TranscriptDelta(base_length=3).WhichOneof("payload") is None


def test_unusual_text_survives() -> None:
    call = message_pb2.ToolCallPart(id="\x00", name="bash", arguments_json='{"n":1.0,"big":9007199254740993,"n":2')
    message = message_pb2.Message(
        assistant=message_pb2.AssistantMessage(
            parts=[
                message_pb2.Part(
                    text=message_pb2.TextPart(text=UNUSUAL_TEXT), extra_json='{ "b" : 1.0, "a":"\\u00e9" }'
                ),
                message_pb2.Part(tool_call=call),
            ]
        )
    )
    edit = edit_pb2.Edit(message_index=-1, insert_after=edit_pb2.InsertAfter(message=message))
    answer = view_pb2.PruneMessagesResponse(edits=[edit], messages=[message])
    again = view_pb2.PruneMessagesResponse.FromString(answer.SerializeToString())
    assert again == answer
    assert again.messages[0].assistant.parts[0].text.text == UNUSUAL_TEXT
    assert again.messages[0].assistant.parts[1].tool_call.arguments_json == call.arguments_json
    assert again.edits[0].message_index == -1


def test_lone_surrogates_are_refused_before_they_reach_the_wire() -> None:
    with pytest.raises((ValueError, UnicodeEncodeError)):
        message_pb2.TextPart(text="\ud800").SerializeToString()


def test_numbers_are_signed_and_enums_begin_with_unspecified() -> None:
    unsigned = {
        FieldDescriptor.TYPE_UINT32,
        FieldDescriptor.TYPE_UINT64,
        FieldDescriptor.TYPE_FIXED32,
        FieldDescriptor.TYPE_FIXED64,
    }
    for file in file_descriptors():
        for message in file.message_types_by_name.values():
            assert not [field.name for field in message.fields if field.type in unsigned], message.name
        for enum in file.enum_types_by_name.values():
            assert enum.values_by_number[0].name.endswith("_UNSPECIFIED")


def test_lists_hold_their_items_in_field_1_and_the_next_page_in_field_2() -> None:
    paged = [
        message
        for file in file_descriptors()
        for message in file.message_types_by_name.values()
        if "next_page_token" in message.fields_by_name
    ]
    assert len(paged) == 4
    for message in paged:
        assert message.fields_by_name["next_page_token"].number == 2
        assert message.fields_by_number[1].is_repeated
        request = message.file.message_types_by_name[message.name.replace("Response", "Request")]
        assert {"page_size", "page_token"} <= set(request.fields_by_name)


def test_proto_files_are_short_enough_to_read() -> None:
    for name in PROTO_FILES:
        assert len((PROTO_ROOT / name).read_text("utf-8").splitlines()) <= 300, name


def test_the_committed_code_is_what_the_contract_generates() -> None:
    """The other languages, whose toolchains a test run need not have, are looked at by `make check-generate`."""
    subprocess.run([sys.executable, str(PROTO_ROOT / "generate.py"), "--check", "--only", "python"], check=True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("lint", "proto"),
        ("format", "--diff", "--exit-code", "proto"),
        ("breaking", "proto", "--against", "proto/condense.v1.binpb"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_buf_accepts_the_contract(arguments: tuple[str, ...]) -> None:
    buf = Path(sys.executable).parent / "buf"
    if not buf.exists():
        pytest.skip("buf is not installed beside the interpreter")
    done = subprocess.run([str(buf), *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
