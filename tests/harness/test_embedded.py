"""The reference runtime as a process: started with the right words, watched, always stopped."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.clock import Cancellation, CancelledRunError, SystemClock
from harness.embedded import EmbeddedError, RuntimePlan, embedded_runtime

GOOD = """
import http.server, json, os, sys, threading
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
threading.Thread(target=s.serve_forever, daemon=True).start()
seen = {"words": sys.argv[1:], "env": dict(os.environ), "pid": os.getpid()}
open(os.environ["SEEN"], "w").write(json.dumps(seen))
url = "http://127.0.0.1:%d" % s.server_address[1]
print(json.dumps({"event": "ready", "url": url, "version": "x"}), flush=True)
print("hello from the runtime", file=sys.stderr, flush=True)
sys.stdin.read()
open(os.environ["SEEN"] + ".ended", "w").write("by stdin")
"""
DIES = "import sys; print('no Docker engine answers', file=sys.stderr); sys.exit(3)"
TALKS = "print('starting up ...', flush=True); import sys; sys.stdin.read()"

Fake = Callable[[str], RuntimePlan]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """A program in the place of patrol-runtime."""

    def install(program: str) -> RuntimePlan:
        script = tmp_path / "patrol-runtime"
        script.write_text(f"#!{sys.executable}\n{program}")
        script.chmod(0o700)
        monkeypatch.setattr("harness.embedded._executable", lambda: str(script))
        return RuntimePlan(
            docker_context="lab",
            model="control:reference",
            mode="autonomous",
            enable_commands=False,
            log=tmp_path / "artifacts" / "runtime.log",
            environment={
                "SEEN": str(tmp_path / "seen.json"),
                "PATH": os.environ["PATH"],
                "PATROL_OPENAI_BASE_URL": "http://127.0.0.1:8081/v1",
                "PULSE_QUALIFY_PASSWORD": "of the other server",
                "PULSE_QUALIFY_LAB_IMAGE": "pulse-qual-lab:1",
                "DOCKER_HOST": "unix:///elsewhere",
            },
        )

    return install


def seen(tmp_path: Path) -> dict[str, object]:
    return dict(json.loads((tmp_path / "seen.json").read_text()))


def test_the_runtime_is_started_with_the_manifests_mode_and_ended_through_its_input(
    fake: Fake, tmp_path: Path
) -> None:
    with embedded_runtime(fake(GOOD), SystemClock()) as runtime:
        words = " ".join(map(str, seen(tmp_path)["words"]))  # type: ignore[call-overload]
        assert runtime.url.startswith("http://127.0.0.1:")
        assert words.startswith("serve --listen 127.0.0.1:0 --docker-context lab --model control:reference")
        assert "--mode full" in words
        assert "--exit-with-stdin" in words
        assert "--enable-commands" not in words
    assert (tmp_path / "seen.json.ended").read_text() == "by stdin"


def test_the_password_is_fresh_and_goes_by_environment_only(fake: Fake, tmp_path: Path) -> None:
    passwords = set()
    for _ in range(2):
        with embedded_runtime(fake(GOOD), SystemClock()) as runtime:
            known = seen(tmp_path)
            assert known["env"]["PATROL_RUNTIME_PASSWORD"] == runtime.password  # type: ignore[index]
            assert runtime.password not in str(known["words"])
            passwords.add(runtime.password)
    assert len(passwords) == 2


def test_the_runtime_does_not_learn_what_is_the_harness_own(fake: Fake, tmp_path: Path) -> None:
    with embedded_runtime(fake(GOOD), SystemClock()):
        names = set(seen(tmp_path)["env"])  # type: ignore[call-overload]
    assert "PATROL_OPENAI_BASE_URL" in names
    assert not any(name.startswith(("PULSE_QUALIFY_", "DOCKER_HOST")) for name in names)


def test_its_log_is_kept_for_its_owner_and_its_state_is_not(fake: Fake, tmp_path: Path) -> None:
    plan = fake(GOOD)
    with embedded_runtime(plan, SystemClock()):
        words = list(seen(tmp_path)["words"])  # type: ignore[call-overload]
        state = Path(words[words.index("--data") + 1])
        assert state.is_dir()
    assert not state.exists()
    assert "hello from the runtime" in plan.log.read_text()
    assert stat.S_IMODE(plan.log.stat().st_mode) == 0o600


def test_it_is_stopped_when_the_run_breaks(fake: Fake, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="in the middle"), embedded_runtime(fake(GOOD), SystemClock()):
        raise RuntimeError("in the middle")
    assert (tmp_path / "seen.json.ended").exists()


@pytest.mark.parametrize("program", [DIES, "", "print('{}', flush=True)", TALKS])
def test_a_runtime_that_does_not_become_ready_is_an_environment_error(fake: Fake, program: str) -> None:
    plan = fake(program)
    with pytest.raises(EmbeddedError) as caught, embedded_runtime(plan, SystemClock()):
        pass
    assert caught.value.exit_code == 3
    assert str(plan.log) in caught.value.hint


def test_the_last_line_of_its_log_tells_why(fake: Fake) -> None:
    with (
        pytest.raises(EmbeddedError, match="no Docker engine answers"),
        embedded_runtime(fake(DIES), SystemClock()),
    ):
        pass


def test_a_signal_ends_the_wait_for_a_runtime_that_says_nothing(fake: Fake) -> None:
    cancellation = Cancellation()
    cancellation.request()
    plan = fake("import sys; sys.stdin.read()")
    with pytest.raises(CancelledRunError), embedded_runtime(plan, SystemClock(cancellation)):
        pass
