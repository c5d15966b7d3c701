"""Stock tools can call the service: every request of docs/stock-tools.md by `buf curl` and reflection, and health."""

import base64
import json
import re
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.rpc import error_details_pb2

from condense_grpc.cli.server_process import ServerProcess
from condense_grpc.server.app import CAPABILITIES, CONDENSE, SERVICES, SESSIONS

PAGE = (Path(__file__).parents[2] / "docs" / "stock-tools.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(\w+/\w+)` \| [^|]+ \| `(.*)` \|$", PAGE, re.MULTILINE)
BUF = Path(sysconfig.get_path("scripts")) / "buf"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ServerProcess(tmp_path_factory.mktemp("stock") / "stock.db") as server:
        yield server.address


def command(address: str, method: str, request: str) -> list[str]:
    return [str(BUF), "curl", "--protocol", "grpc", "-d", request, f"http://{address}/{method}"]


def curl(address: str, method: str, request: str) -> list[Any]:
    """The answers, in order."""
    done = subprocess.run(command(address, method, request), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, f"{method}: {done.stderr}"
    return list(documents(done.stdout))


def documents(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def test_the_page_has_every_call_once() -> None:
    methods = [
        f"{service.name}/{method.name}" for service in (CAPABILITIES, SESSIONS, CONDENSE) for method in service.methods
    ]
    assert sorted(method for method, _ in ROWS) == sorted(methods)


def test_every_call_of_the_page_works_through_reflection(address: str) -> None:
    answers: dict[str, list[Any]] = {}
    watch = None
    for method, request in ROWS:
        if method == "SessionService/WatchSession":
            watching = [*command(address, f"condense.v1.{method}", request), "-v"]
            watch = subprocess.Popen(watching, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            assert watch.stderr is not None
            assert any("200" in line for line in watch.stderr), "the watch has not begun"
            continue
        answers[method] = curl(address, f"condense.v1.{method}", request)
    assert watch is not None
    events, _ = watch.communicate(timeout=60)
    assert watch.returncode == 0
    assert list(documents(events))[-1]["event"].keys() >= {"deleted"}

    assert answers["CapabilitiesService/GetCapabilities"][0]["recoveryTool"]["name"] == "context_tree_query"
    assert answers["CondenseService/PruneMessages"][0]["transcriptLength"] == "3"
    assert answers["CondenseService/AppendMessages"][0]["transcriptLength"] == "5"
    assert answers["CondenseService/FlushBatches"][-1]["event"]["completed"]["outcome"] == "FLUSH_OUTCOME_SUMMARIZED"
    assert answers["CondenseService/QueryToolCall"][0]["results"][0]["blocks"][0]["text"] == "compiled"
    assert answers["CondenseService/ReadToolResult"][0]["found"] is True
    assert answers["CondenseService/SearchToolCalls"][0]["record"]["ref"] == "t1"
    assert answers["CondenseService/CompactChains"][-1]["event"]["completed"]["blockIds"] == ["b1"]
    assert answers["SessionService/ListToolCalls"][0]["groups"][0]["records"][0]["ref"] == "t1"
    assert answers["SessionService/ForkSession"][0]["session"]["sessionId"] == "demo-2"
    assert answers["SessionService/ImportSession"][0]["session"]["sessionId"] == "demo-3"
    assert answers["SessionService/DeleteSession"] == [{"deleted": True}]
    assert all(answers.values()), [method for method, answer in answers.items() if not answer]


def test_health_can_be_probed(address: str) -> None:
    """As `grpc_health_probe` and Kubernetes do: the whole server, and each service by its name."""
    for name in ("", *SERVICES):
        assert curl(address, "grpc.health.v1.Health/Check", json.dumps({"service": name})) == [{"status": "SERVING"}]


def test_an_error_reaches_a_stock_tool_with_its_reason(address: str) -> None:
    request = '{"session_id": "nobody"}'
    refused = subprocess.run(
        command(address, "condense.v1.SessionService/GetSession", request), capture_output=True, text=True, timeout=60
    )
    error = json.loads(refused.stderr)
    assert error["code"] == "not_found"
    (detail,) = error["details"]
    info = error_details_pb2.ErrorInfo.FromString(base64.b64decode(detail["value"] + "=="))
    assert (detail["type"], info.reason) == ("google.rpc.ErrorInfo", "SESSION_NOT_FOUND")


def test_the_tool_lists_every_call(address: str) -> None:
    listed = subprocess.run(
        [str(BUF), "curl", "--protocol", "grpc", "--list-methods", f"http://{address}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert all(f"condense.v1.{method}" in listed.stdout for method, _ in ROWS)
