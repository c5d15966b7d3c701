"""The languages in which the contract is generated, one module each."""

from languages.go import GO
from languages.java import JAVA
from languages.language import Language
from languages.python import PYTHON
from languages.rust import RUST
from languages.typescript import TYPESCRIPT

LANGUAGES: tuple[Language, ...] = (PYTHON, GO, RUST, JAVA, TYPESCRIPT)
