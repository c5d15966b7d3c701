"""The runners: one function per operation, found in the modules `ops_*` beside this one.

A runner gets the input of a vector and returns the answer as a JSON value. Where equality is not what the
operation asks for, its registration brings a comparison of its own, which returns None or what is wrong.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import tests.vectorkit
from tests.vectorkit.compare import difference

Run: TypeAlias = Callable[[dict[str, Any]], Any]
Compare: TypeAlias = Callable[[Any, Any], str | None]


@dataclass(frozen=True, slots=True)
class Runner:
    """How one operation is run and judged."""

    run: Run
    compare: Compare


_runners: dict[str, Runner] = {}
_broken: dict[str, str] = {}


def operation(name: str, compare: Compare = difference) -> Callable[[Run], Run]:
    """Register the decorated function as the runner of an operation.

    `compare(expected, actual)` judges its answers.
    """

    def register(run: Run) -> Run:
        if name in _runners:
            raise ValueError(f"operation {name} has two runners")
        _runners[name] = Runner(run, compare)
        return run

    return register


def load_runners() -> dict[str, Runner]:
    """All runners, after every `ops_*` module has been imported.

    A module that cannot be imported is named by `broken_modules`; its operations have no runner.
    """
    for module in pkgutil.iter_modules(tests.vectorkit.__path__):
        if not module.name.startswith("ops_") or module.name in _broken:
            continue
        try:
            importlib.import_module(f"tests.vectorkit.{module.name}")
        except Exception as error:
            _broken[module.name] = f"{type(error).__name__}: {error}"
    return _runners


def broken_modules() -> dict[str, str]:
    """Modules of runners that could not be imported, with the reason."""
    return dict(_broken)
