#!/bin/sh
# Every check, in the order in which it is quickest to fail. --quick leaves the tests out.
set -eu
bin=.venv/bin
step() { printf '== %s\n' "$*"; }

step "format and lint"
"$bin/ruff" format --check --quiet .
"$bin/ruff" check --quiet .
step "types"
"$bin/mypy"
step "who may import whom"
"$bin/lint-imports" --no-cache | tail -n 3
step "scenarios"
"$bin/patrol-qualify" validate --quiet
step "evidence"
"$bin/patrol-evidence" check
step "site"
"$bin/mkdocs" build --strict --quiet
[ "${1:-}" != --quick ] || exit 0
step "tests (what this machine cannot run is listed with its reason)"
exec "$bin/pytest" -q
