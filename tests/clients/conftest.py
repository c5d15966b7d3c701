"""Makes the programs of clients/conformance importable: they are run as a folder, not installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "conformance"))
