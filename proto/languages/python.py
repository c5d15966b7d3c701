"""Python: messages, services and their type stubs, importable as `condense_grpc.api.condense.v1`.

The generator is grpcio-tools, pinned in pyproject.toml low enough that its code runs on every runtime we support.
"""

from __future__ import annotations

import re
from pathlib import Path

from languages.language import REPOSITORY, SERVICE_SUFFIX, Contract, Language

PACKAGE = "condense_grpc.api"

_PACKAGE_DOCS = {
    Path("__init__.py"): '"""Generated code of the contract. Made by proto/generate.py; do not edit."""\n',
    Path("condense/__init__.py"): '"""Generated code of the contract. Made by proto/generate.py; do not edit."""\n',
    Path("condense/v1/__init__.py"): (
        '"""Generated code of the package condense.v1. Made by proto/generate.py; do not edit.\n\n'
        "One module per proto file: `from condense_grpc.api.condense.v1 import message_pb2`. Nothing is imported\n"
        'here, so that a program loads only what it uses.\n"""\n'
    ),
}

# `condense.v1` as the path of a Python module, also as text (the `__module__` of the messages). As the name of the
# protobuf package, which no `…_pb2` follows, it must stay.
_IMPORT_FROM = re.compile(r"^(\s*from )condense\.v1( import )", re.MULTILINE)
_IMPORT_MODULE = re.compile(r"^(\s*import )condense\.v1\.", re.MULTILINE)
_QUALIFIED_NAME = re.compile(r"(?<![\w./])condense\.v1\.(?=[a-z_]+_pb2\b)")


def rewrite_imports(source: str) -> str:
    """Moves the imports between generated modules into this project's package."""
    source = _IMPORT_FROM.sub(rf"\1{PACKAGE}.condense.v1\2", source)
    source = _IMPORT_MODULE.sub(rf"\1{PACKAGE}.condense.v1.", source)
    return _QUALIFIED_NAME.sub(f"{PACKAGE}.condense.v1.", source)


def generate(contract: Contract, output: Path) -> None:
    """Writes the package below `output`."""
    contract.protoc_from_sources(
        f"--python_out={output}",
        f"--grpc_python_out={output}",
        f"--mypy_out=quiet:{output}",
        f"--mypy_grpc_out=quiet:{output}",
    )
    services = {name.removesuffix(".proto") for name in contract.files if name.endswith(SERVICE_SUFFIX)}
    for path in sorted(output.rglob("*_pb2_grpc.py*")):
        if path.relative_to(output).as_posix().split("_pb2_grpc.")[0] not in services:
            path.unlink()  # the generator writes an empty module for files without a service
    for path in [*output.rglob("*.py"), *output.rglob("*.pyi")]:
        path.write_text(rewrite_imports(path.read_text("utf-8")), "utf-8")
    for name, text in _PACKAGE_DOCS.items():
        (output / name).write_text(text, "utf-8")


PYTHON = Language("python", REPOSITORY / "condense_grpc" / "api", generate)
