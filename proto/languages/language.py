"""What every generator works on and what it has to say about itself.

A generator gets the contract as one descriptor set, in which every file has the options of all languages (`OPTIONS`),
and writes into an empty folder. The proto files themselves carry no such options: a package name of one language is
no part of the contract, and could not be changed later.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from google.protobuf import descriptor_pb2

PROTO_ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = PROTO_ROOT.parent
SERVICE_SUFFIX = "_service.proto"

OPTIONS = {
    "go_package": "github.com/condense-grpc/condense-grpc/clients/go/gen/condense/v1;condensev1",
    "java_package": "io.condense.v1",
    "java_multiple_files": True,
}


class CannotGenerate(Exception):
    """A toolchain is missing or has failed. The message says which one and what to do."""


@dataclass(frozen=True)
class Contract:
    """The contract as a descriptor set in a file, with comments; and a folder for what generators need meanwhile."""

    folder: Path

    @cached_property
    def files(self) -> list[str]:
        """The names of the contract's own files, such as `condense/v1/message.proto`."""
        return sorted(path.relative_to(PROTO_ROOT).as_posix() for path in PROTO_ROOT.glob("condense/**/*.proto"))

    @cached_property
    def descriptor_set(self) -> Path:
        """The file: a `google.protobuf.FileDescriptorSet` of the contract and of everything that it imports."""
        path = self.folder / "contract.binpb"
        self.protoc_from_sources(f"--descriptor_set_out={path}", "--include_imports", "--include_source_info")
        contract = descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes())
        for file in contract.file:
            if file.name in self.files:
                for name, value in OPTIONS.items():
                    setattr(file.options, name, value)
        path.write_bytes(contract.SerializeToString(deterministic=True))
        return path

    def protoc(self, *arguments: str) -> None:
        """Runs the pinned protoc over all files of the contract, with the options of all languages."""
        _protoc(f"--descriptor_set_in={self.descriptor_set}", *arguments, *self.files)

    def protoc_from_sources(self, *arguments: str) -> None:
        """The same without any options: for code that holds the descriptors and shows them to others."""
        _protoc(f"--proto_path={PROTO_ROOT}", *arguments, *self.files)


@dataclass(frozen=True)
class Language:
    """How the code of one language is generated.

    `generate` writes the files into an empty folder. `output` is the folder of this repository that holds nothing but
    them; files there that it does not write are removed. `tools` are the programs that must be on the search path.
    """

    name: str
    output: Path
    generate: Callable[[Contract, Path], None]
    tools: Sequence[str] = ()

    def check_tools(self) -> None:
        """Raises `CannotGenerate` if a program is missing."""
        for tool in self.tools:
            if shutil.which(tool) is None:
                raise CannotGenerate(
                    f"{self.name}: {tool} is not installed. Install it, or leave this language out: --without "
                    f"{self.name} (with make: LANGUAGES='--without {self.name}')"
                )


def run(command: Sequence[str | Path], *, cwd: Path | None = None, **environment: str) -> None:
    """Runs a program of a toolchain, silent unless it fails. Raises `CannotGenerate` with its last words."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CannotGenerate(f"{command[0]} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def _protoc(*arguments: str) -> None:
    # The plugins stand beside the interpreter, also if its environment is not activated.
    search_path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    run([sys.executable, "-m", "grpc_tools.protoc", *arguments], PATH=search_path)
