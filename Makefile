# Everything a developer or a user does with this repository. `make help` lists it.
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
SHELL := /bin/bash

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  %-16s %s\n", $$1, $$2}'

setup: $(STAMP) ## Make the virtual environment with everything in it

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

generate: setup ## Write the generated code of all languages (LANGUAGES="--only python,go" picks some)
	$(BIN)/python proto/generate.py $(LANGUAGES)

check-generate: setup ## Check that the generated code is what the contract gives
	$(BIN)/python proto/generate.py --check $(LANGUAGES)

contract: setup check-generate ## Lint the contract and check that it breaks no client
	$(BIN)/buf lint proto
	$(BIN)/buf format proto --diff --exit-code
	$(BIN)/buf breaking proto --against proto/condense.v1.binpb

format: setup ## Format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/buf format proto --write

lint: setup ## Check format and style
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup ## Check types
	$(BIN)/mypy

imports: setup ## Check that imports go one way
	$(BIN)/lint-imports

sizes: setup ## Check the sizes of modules, functions and contract files
	$(BIN)/python tests/house/sizes.py

test: setup ## Run all tests
	$(BIN)/python -m pytest --cov --cov-report=term:skip-covered

test-vectors: setup ## Run the vectors alone (CONDENSE_VECTORS names another folder of them)
	$(BIN)/python -m pytest tests/test_vectors.py

bench: setup ## Measure against yardsticks and print the table (BENCH="--rows turn,flush --json" passes options)
	$(BIN)/python -m bench $(BENCH)

bench-check: setup ## The same, failing when a ratio misses its target by more than a third
	$(BIN)/python -m bench --check $(BENCH)

bench-chart: setup ## Measure turns over the length of a session and draw docs/scaling.svg
	$(BIN)/python -m bench --chart docs/scaling.svg $(BENCH)

# The languages that can be checked and played; CLIENTS="go java" picks some.
CLIENTS ?= $(patsubst clients/%/check,%,$(wildcard clients/*/check))
comma := ,
empty :=

clients: clients-check clients-conformance ## Build and test the clients of all languages (CLIENTS="go java": of some)

clients-check: setup ## Build and test the client of each language by itself
	@set -e; for language in $(CLIENTS); do \
	  echo "== $$language"; CONDENSE_PYTHON="$(CURDIR)/$(BIN)/python" clients/$$language/check; \
	done

clients-conformance: setup ## Play the same scenarios with all clients against one server, and print the table
	CONDENSE_PYTHON="$(CURDIR)/$(BIN)/python" $(BIN)/python clients/conformance \
	  --languages "$(subst $(empty) $(empty),$(comma),$(strip $(CLIENTS)))" $(CONFORMANCE)

pi: setup ## Play sessions of the real Pi coding agent on the service, with the extension in clients/typescript
	CONDENSE_PYTHON="$(CURDIR)/$(BIN)/python" clients/typescript/pi-extension/check

demo: setup ## Run the main job: a real server, an agent with real tools, a restart, checks
	$(BIN)/condense-grpc demo $(if $(DEMO_PATH),--path "$(DEMO_PATH)")

serve: setup ## Run a server
	$(BIN)/condense-grpc serve

check: lint types imports sizes contract test ## Everything that must hold before a change is done

clean: ## Remove what was made here
	rm -rf $(VENV) build dist .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help setup generate check-generate contract format lint types imports sizes test test-vectors bench bench-check bench-chart clients clients-check clients-conformance pi demo serve check clean
