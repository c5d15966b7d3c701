"""Java: the package `io.condense.v1`, below `clients/java/src/main/java`.

The protoc that is pinned for the other languages has no Java in it. Maven fetches one, and the plugin for services,
in the versions of the libraries that `pom.xml` names: generated code and library have to fit each other.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from languages.language import REPOSITORY, CannotGenerate, Contract, Language, run

PROJECT = REPOSITORY / "clients" / "java"
PACKAGE = Path("io") / "condense" / "v1"

_SYSTEMS = {"linux": "linux", "darwin": "osx", "win32": "windows"}
_MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch_64", "arm64": "aarch_64"}


def generate(contract: Contract, output: Path) -> None:
    """Writes the classes of the package directly into `output`."""
    tools, sources = contract.folder / "java-tools", contract.folder / "java"
    sources.mkdir()
    options = [f"-Dgenerators.platform={_platform()}", f"-Dgenerators.folder={tools}"]
    maven = ["mvn", "--batch-mode", "--quiet", "--file", PROJECT / "pom.xml"]
    run([*maven, "--activate-profiles", "generators", *options, "dependency:copy@generators"])
    for tool in tools.iterdir():
        tool.chmod(0o755)
    plugin = f"--plugin=protoc-gen-grpc-java={tools / 'protoc-gen-grpc-java.exe'}"
    outputs = [f"--java_out={sources}", f"--grpc-java_out=@generated=omit:{sources}"]
    run(
        [
            tools / "protoc.exe",
            f"--descriptor_set_in={contract.descriptor_set}",
            plugin,
            *outputs,
            *contract.files,
        ]
    )
    for source in (sources / PACKAGE).iterdir():
        source.rename(output / source.name)


def _platform() -> str:
    """The machine, as the names of the published programs say it."""
    system, machine = _SYSTEMS.get(sys.platform), _MACHINES.get(platform.machine().lower())
    if system is None or machine is None:
        raise CannotGenerate(f"java: there is no protoc for {sys.platform} on {platform.machine()}: use --without java")
    return f"{system}-{machine}"


JAVA = Language("java", PROJECT / "src" / "main" / "java" / PACKAGE, generate, tools=("mvn",))
