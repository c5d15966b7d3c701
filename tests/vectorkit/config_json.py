"""Settings as the vectors spell them, as changes of a session's settings."""

import re
from typing import Any

from condense_grpc.domain.config import BatchingMode, PruneOn


def config_changes(patch: dict[str, Any]) -> dict[str, Any]:
    return {_snake(name): _value(name, value) for name, value in patch.items()}


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def _value(name: str, value: Any) -> Any:
    if name == "pruneOn":
        return PruneOn(value)
    if name == "batchingMode":
        return BatchingMode(value) if value in ("turn", "agent-message") else BatchingMode.TURN
    if isinstance(value, dict):
        return config_changes(value)
    return tuple(value) if isinstance(value, list) else value
