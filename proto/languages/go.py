"""Go: the package `condensev1`, below `clients/go/gen`.

The plugins are built from the versions that are pinned here. They run on any machine with Go; nothing of them gets
into the module's own requirements.
"""

from __future__ import annotations

from pathlib import Path

from languages.language import REPOSITORY, Contract, Language, run

PLUGINS = {
    "protoc-gen-go": "google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12",
    "protoc-gen-go-grpc": "google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2",
}


def generate(contract: Contract, output: Path) -> None:
    """Writes the package below `output`."""
    binaries = contract.folder / "go-plugins"
    for package in PLUGINS.values():
        run(["go", "install", package], GOBIN=str(binaries), GOFLAGS="-mod=mod")
    contract.protoc(
        *(f"--plugin={name}={binaries / name}" for name in PLUGINS),
        f"--go_out={output}",
        "--go_opt=paths=source_relative",
        f"--go-grpc_out={output}",
        "--go-grpc_opt=paths=source_relative",
    )


GO = Language("go", REPOSITORY / "clients" / "go" / "gen", generate, tools=("go",))
