"""Protection: calls whose results are never summarized, stubbed or purged, by tool name or by path.

The same few names and paths are asked about over and over, so verdicts are remembered.
"""

from collections.abc import Iterable
from dataclasses import field

from condense_grpc.domain.frozen import frozen
from condense_grpc.domain.globs import glob_matches

_REMEMBERED = 4096


@frozen
class Protection:
    """What a session protects: tool names (or globs of them) and globs of paths. Safe to share between threads."""

    tools: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    _tool_verdicts: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)
    _path_verdicts: dict[str, bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def tool(self, name: str) -> bool:
        """Whether the tool name alone protects."""
        return bool(self.tools) and _verdict(self._tool_verdicts, self.tools, name)

    def path(self, path: str) -> bool:
        """Whether a path protects; it has `/` for every backslash."""
        return bool(self.paths) and _verdict(self._path_verdicts, self.paths, path)

    def call(self, name: str, paths: Iterable[str]) -> bool:
        """Whether a call is protected; `paths` are its path arguments with `/` for every backslash."""
        if self.tools and _verdict(self._tool_verdicts, self.tools, name):
            return True
        if self.paths:
            for path in paths:
                if _verdict(self._path_verdicts, self.paths, path):
                    return True
        return False


def _verdict(verdicts: dict[str, bool], patterns: tuple[str, ...], text: str) -> bool:
    verdict = verdicts.get(text)
    if verdict is None:
        verdict = text in patterns or any(glob_matches(pattern, text) for pattern in patterns)
        if len(verdicts) >= _REMEMBERED:
            verdicts.clear()
        verdicts[text] = verdict
    return verdict
