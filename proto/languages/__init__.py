"""The languages in which the contract is generated, one module each."""

from languages.go import GO
from languages.language import Language
from languages.python import PYTHON

LANGUAGES: tuple[Language, ...] = (PYTHON, GO)
