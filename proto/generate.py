"""Generates the Python code of the contract.

`python proto/generate.py` writes `condense_grpc/api/`: messages, services and their type stubs, one module per proto
file, importable as `condense_grpc.api.condense.v1`. Files that no proto file accounts for are removed. The result
depends on nothing but the proto files and the pinned generators, and it is committed.

`python proto/generate.py --check` generates into a temporary folder instead and exits with 1 if the committed files
differ from that, naming them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PROTO_ROOT = Path(__file__).resolve().parent
OUTPUT_ROOT = PROTO_ROOT.parent / "condense_grpc" / "api"
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


def generate(output: Path) -> None:
    """Writes all generated files below the empty folder `output`."""
    protos = sorted(path.relative_to(PROTO_ROOT).as_posix() for path in PROTO_ROOT.glob("condense/**/*.proto"))
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"--proto_path={PROTO_ROOT}",
        f"--python_out={output}",
        f"--grpc_python_out={output}",
        f"--mypy_out=quiet:{output}",
        f"--mypy_grpc_out=quiet:{output}",
        *protos,
    ]
    # The plugins stand beside the interpreter, also if its environment is not activated.
    search_path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    subprocess.run(command, check=True, env={**os.environ, "PATH": search_path})

    services = {name.removesuffix(".proto") for name in protos if name.endswith("_service.proto")}
    for path in sorted(output.rglob("*_pb2_grpc.py*")):
        if path.relative_to(output).as_posix().split("_pb2_grpc.")[0] not in services:
            path.unlink()  # the generator writes an empty module for files without a service
    for path in [*output.rglob("*.py"), *output.rglob("*.pyi")]:
        path.write_text(rewrite_imports(path.read_text("utf-8")), "utf-8")
    for name, text in _PACKAGE_DOCS.items():
        (output / name).write_text(text, "utf-8")


def read_tree(root: Path) -> dict[str, bytes]:
    """Returns the content of every file below `root` by its relative path, without what Python leaves there."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def main() -> int:
    """Generates, or checks what was generated; returns the exit code."""
    parser = argparse.ArgumentParser(description="Generate the Python code of the contract.")
    parser.add_argument("--check", action="store_true", help="only compare with the committed files")
    check_only = parser.parse_args().check

    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        wanted, present = read_tree(Path(folder)), read_tree(OUTPUT_ROOT)
    different = sorted(name for name in wanted.keys() | present.keys() if wanted.get(name) != present.get(name))

    if check_only:
        for name in different:
            print(f"{(OUTPUT_ROOT / name).relative_to(PROTO_ROOT.parent)} is not what the contract generates")
        if different:
            print("Run `python proto/generate.py` and commit the result.")
        return 1 if different else 0

    for name in different:
        path = OUTPUT_ROOT / name
        if name in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted[name])
        else:
            path.unlink()
    for cache in OUTPUT_ROOT.rglob("__pycache__"):
        shutil.rmtree(cache, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
