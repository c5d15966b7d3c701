"""Size budgets: modules, functions, parameters and contract files stay small enough to be read at once.

Run as a command it prints every breach and fails when there is one.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE_LINES = 500
FUNCTION_LINES = 50
POSITIONAL_PARAMETERS = 6
PROTO_LINES = 300
DRAWERS = {"utils", "helpers", "common", "misc", "manager", "types"}


def python_files() -> Iterator[Path]:
    for path in sorted((ROOT / "condense_grpc").rglob("*.py")):
        if "api" not in path.relative_to(ROOT).parts and "versions" not in path.parts:
            yield path


def breaches_of_module(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT)
    if path.stem in DRAWERS:
        yield f"{name}: a drawer: name it after what is in it"
    lines = text.count("\n")
    if lines > MODULE_LINES:
        yield f"{name}: {lines} lines (limit {MODULE_LINES}): split it by topic"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from breaches_of_function(name, node)


def breaches_of_function(name: Path, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if length > FUNCTION_LINES:
        yield f"{name}:{node.lineno}: {node.name} has {length} lines (limit {FUNCTION_LINES})"
    positional = [arg for arg in node.args.posonlyargs + node.args.args if arg.arg not in ("self", "cls")]
    is_click = any("click" in ast.unparse(item) or "command" in ast.unparse(item) for item in node.decorator_list)
    if len(positional) > POSITIONAL_PARAMETERS and not is_click:
        yield f"{name}:{node.lineno}: {node.name} takes {len(positional)} positional parameters"


def breaches_of_contract() -> Iterator[str]:
    for path in sorted((ROOT / "proto").rglob("*.proto")):
        lines = path.read_text(encoding="utf-8").count("\n")
        if lines > PROTO_LINES:
            yield f"{path.relative_to(ROOT)}: {lines} lines (limit {PROTO_LINES}): give the noun its own file"


def all_breaches() -> list[str]:
    found = [breach for path in python_files() for breach in breaches_of_module(path)]
    return found + list(breaches_of_contract())


if __name__ == "__main__":
    breaches = all_breaches()
    print("\n".join(breaches) or "sizes: all within their budgets")
    sys.exit(bool(breaches))
