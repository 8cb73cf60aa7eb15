# Two commands do it all: `make site` verifies the evidence and builds the site, `make test` runs every check.
SHELL := /bin/sh
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.complete
export NO_MKDOCS_2_WARNING := 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help site test check setup lab lab-down model lock format clean

help: ## say what there is to make
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

site: setup ## verify the evidence, build the site, say where to look
	@$(BIN)/patrol-evidence check
	@$(BIN)/mkdocs build --strict --quiet
	@echo "The site is built: open build/site/index.html"

test: setup ## every check: format, lint, types, imports, evidence, site, tests
	@tools/test.sh

check: setup ## the checks without the tests (seconds)
	@tools/test.sh --quick

setup: $(STAMP) ## make .venv with everything in it (seconds when nothing changed)

$(STAMP): requirements/lock.txt requirements/local-model.txt pyproject.toml
	@tools/setup.sh "$(PYTHON)" "$(VENV)"

lab: setup ## a private Docker engine, the lab image and a context named lab (root on Debian)
	@tools/lab.sh up

lab-down: ## stop and remove that engine
	@tools/lab.sh down

model: setup ## serve the small local language model on 127.0.0.1:8081
	@$(BIN)/python tools/local_model.py

lock: ## resolve the locked requirements anew (needs uv)
	uv pip compile -q --universal --python-version 3.11 --all-extras --generate-hashes --no-emit-index-url \
		--no-header -o requirements/lock.txt pyproject.toml
	uv pip compile -q --universal --python-version 3.11 --no-deps --generate-hashes --no-emit-index-url \
		--no-header -o requirements/local-model.txt requirements/local-model.in

format: setup ## write the code in its one format
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

clean: ## remove everything that was built (not the evidence)
	rm -rf build tmp .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
