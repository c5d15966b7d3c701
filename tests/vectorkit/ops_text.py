"""Runners of the text helpers."""

from typing import Any

from condense_grpc.domain.occurrence import occurrence_key
from tests.vectorkit.registry import operation


@operation("occ_key")
def occ_key(given: dict[str, Any]) -> str:
    return occurrence_key(given["toolCallId"], given.get("resultTimestamp"), given.get("occurrence"))
