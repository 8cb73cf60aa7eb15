"""The reference runtime over real containers on a real engine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.live
PASSWORD = "live-password"
IDLE = ("sh", "-c", "while :; do sleep 1; done")
LABEL = "com.pulse.intelligence-lab.run"


@dataclass
class Lab:
    """Containers of one test, made and removed with the Docker client."""

    context: str
    image: str
    tag: str

    def docker(self, *arguments: str) -> str:
        done = subprocess.run(
            ["docker", "--context", self.context, *arguments],
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        )
        return done.stdout.strip()

    def name(self, role: str) -> str:
        return f"pulse-qual-{self.tag}-{role}"

    def run(self, role: str, *options: str, command: tuple[str, ...] = IDLE) -> str:
        name = self.name(role)
        self.docker(
            "run", "-d", "--name", name, "--label", f"{LABEL}={self.tag}", *options, self.image, *command
        )
        return name

    def checked(self, role: str, test: str = "test ! -e /tmp/bad", *options: str) -> str:
        check = ("--health-cmd", test, "--health-interval", "1s", "--health-retries", "1")
        return self.run(role, *check, *options)

    def wait(self, role: str, form: str, expected: Callable[[str], bool]) -> None:
        pause = threading.Event()
        for _ in range(300):
            if expected(self.docker("inspect", "-f", form, self.name(role))):
                return
            pause.wait(0.1)
        pytest.fail(f"{role} never came to the expected {form}")

    def wait_health(self, role: str, health: str) -> None:
        self.wait(role, "{{.State.Health.Status}}", lambda seen: seen == health)

    def states(self) -> str:
        form = "{{.Id}} {{.State.StartedAt}} {{.RestartCount}}"
        ids = self.docker("ps", "-aq").split()
        return self.docker("inspect", "-f", form, *ids) if ids else ""


@pytest.fixture
def lab(docker_context: str, lab_image: str) -> Iterator[Lab]:
    made = Lab(docker_context, lab_image, uuid.uuid4().hex[:12])
    yield made
    mine = made.docker("ps", "-aq", "--filter", f"label={LABEL}={made.tag}").split()
    if mine:
        made.docker("rm", "-fv", *mine)


class Runtime:
    """A `patrol-runtime serve` process and a client to it."""

    def __init__(
        self,
        context: str,
        data: Path,
        model: str = "control:reference",
        *,
        options: tuple[str, ...] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        arguments = ["serve", "--listen", "127.0.0.1:0", "--docker-context", context, "--model", model]
        arguments += ["--data", str(data), "--interval", "500ms", "--json", "--exit-with-stdin", *options]
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from patrol.cli import main; main()", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PATROL_RUNTIME_PASSWORD": PASSWORD, **(environ or {})},
        )
        assert self.process.stdout is not None
        self.ready: dict[str, str] = json.loads(self.process.stdout.readline() or b"{}")
        self.http = httpx.Client(base_url=self.ready["url"], trust_env=False, timeout=60)

    def request(self, method: str, path: str, **options: Any) -> Any:
        self.http.cookies.clear()
        answer = self.http.request(method, path, auth=("admin", PASSWORD), **options)
        answer.raise_for_status()
        return answer.json()

    def get(self, path: str) -> Any:
        return self.request("GET", path)

    def resource(self, name: str) -> dict[str, Any]:
        found = self.get(f"/api/resources?q={name}")["data"]
        return next((one for one in found if one["name"] == name), {})

    def wait_for(self, name: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        pause = threading.Event()
        for _ in range(200):
            one = self.resource(name)
            if holds(one):
                return one
            pause.wait(0.1)
        pytest.fail(f"{name} was never shown as expected")

    def patrol(self, *names: str, seconds: float = 30) -> dict[str, Any]:
        ids = [self.resource(name)["id"] for name in names]
        run_id = self.request("POST", "/api/ai/patrol/run", json={"resource_ids": ids})["run_id"]
        pause = threading.Event()
        for _ in range(round(seconds * 20)):
            with contextlib.suppress(httpx.HTTPStatusError):
                return dict(self.get(f"/api/ai/patrol/runs/{run_id}?include=tool_calls"))
            pause.wait(0.05)
        pytest.fail("the run left no record")

    def end(self) -> int:
        self.http.close()
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture
def runtime(lab: Lab, tmp_path: Path) -> Iterator[Runtime]:
    made = Runtime(lab.context, tmp_path / "data")
    yield made
    assert made.end() == 0


def unhealthy(one: dict[str, Any]) -> bool:
    return bool(one) and one["docker"]["health"] == "unhealthy"


def test_the_unhealthy_container_is_found_and_its_neighbour_left_alone(lab: Lab, runtime: Runtime) -> None:
    api, web = lab.checked("api"), lab.checked("web", "test ! -e /tmp/bad", "--label", "app=web")
    lab.wait_health("web", "healthy")
    lab.docker("exec", api, "touch", "/tmp/bad")
    lab.wait_health("api", "unhealthy")
    runtime.wait_for(api, unhealthy)
    runtime.wait_for(web, lambda one: bool(one) and one["docker"]["health"] == "healthy")
    before = lab.states()
    record = runtime.patrol(api, web)
    assert lab.states() == before
    assert (record["status"], record["new_findings"], record["resources_checked"]) == ("issues_found", 1, 2)
    findings = runtime.get("/api/ai/patrol/findings")
    assert [(one["resource_name"], one["key"]) for one in findings] == [(api, "health-check-failed")]
    assert record["finding_ids"] == [findings[0]["id"]]
    again = runtime.patrol(api, web)
    assert (again["new_findings"], again["existing_findings"]) == (0, 1)
    assert [one["verdict"] for one in again["finding_assessments"]] == ["present"]
    lab.docker("exec", api, "rm", "/tmp/bad")
    lab.wait_health("api", "healthy")
    healed = runtime.patrol(api, web)
    assert (healed["resolved_findings"], healed["findings_summary"]) == (1, "All healthy")
    assert runtime.get("/api/ai/patrol/findings") == []


def test_a_restart_loop_is_found_by_its_count(lab: Lab, runtime: Runtime) -> None:
    worker = lab.run("worker", "--restart", "always", command=("sh", "-c", "exit 3"))
    lab.wait("worker", "{{.RestartCount}}", lambda seen: int(seen) >= 3)
    runtime.wait_for(worker, lambda one: bool(one) and one["docker"]["restartCount"] >= 3)
    record = runtime.patrol(worker)
    found = runtime.get("/api/ai/patrol/findings")
    assert [(one["resource_name"], one["key"]) for one in found] == [(worker, "restart-loop")]
    assert "restart" in found[0]["evidence"]
    assert record["status"] == "issues_found"


def test_a_stopped_dependency_is_shown_with_who_calls_it_and_not_filed(lab: Lab, runtime: Runtime) -> None:
    store = lab.run("store")
    target = f"http://{store}:8080/"
    web = lab.checked("web", f"timeout 1 wget -q -O /dev/null {target}")
    lab.docker("stop", "-t", "0", store)
    lab.wait_health("web", "unhealthy")
    shown = runtime.wait_for(web, unhealthy)
    assert shown["docker"]["healthcheckTargets"] == [store]
    runtime.wait_for(store, lambda one: bool(one) and one["docker"]["containerState"] == "exited")
    record = runtime.patrol(web, store)
    assert [one["resource_name"] for one in runtime.get("/api/ai/patrol/findings")] == [web]
    assert record["new_findings"] == 1


def test_nothing_of_the_lab_is_shown(lab: Lab, runtime: Runtime) -> None:
    name = lab.run("api", "--label", "app=shop", "--env", "SECRET=hidden", "-v", "/hidden-volume")
    one = runtime.wait_for(name, bool)
    assert one["labels"] == {"app": "shop"}
    text = json.dumps(one)
    assert not [word for word in ("intelligence-lab", "hidden", "SECRET") if word in text]
    said = json.dumps(runtime.patrol(name)["tool_calls"])
    assert "intelligence-lab" not in said


def test_a_removed_container_disappears(lab: Lab, runtime: Runtime) -> None:
    name = lab.run("api")
    runtime.wait_for(name, bool)
    lab.docker("rm", "-fv", name)
    runtime.wait_for(name, lambda one: not one)


def test_docker_host_never_chooses_the_engine(lab: Lab, tmp_path: Path) -> None:
    name = lab.run("api")
    runtime = Runtime(lab.context, tmp_path / "data", environ={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert runtime.wait_for(name, bool)["name"] == name
    assert runtime.end() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_being_told_to_end_is_a_success(lab: Lab, tmp_path: Path, number: signal.Signals) -> None:
    runtime = Runtime(lab.context, tmp_path / "data")
    runtime.http.close()
    runtime.process.send_signal(number)
    _, errors = runtime.process.communicate(timeout=30)
    assert (runtime.process.returncode, errors) == (0, b"")


class MuteServer:
    """A model's server that takes a request and never answers."""

    def __init__(self, bound: socket.socket) -> None:
        self._bound = bound
        self._held: list[socket.socket] = []
        self.environ = {"PATROL_OPENAI_BASE_URL": f"http://127.0.0.1:{bound.getsockname()[1]}/v1"}

    def wait_until_asked(self) -> None:
        held, _ = self._bound.accept()
        held.settimeout(20)
        self._held.append(held)
        assert held.recv(4)

    def close(self) -> None:
        for one in self._held:
            one.close()


@pytest.fixture
def mute() -> Iterator[MuteServer]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen(8)
        bound.settimeout(20)
        server = MuteServer(bound)
        yield server
        server.close()


def test_being_killed_leaves_one_error_record(lab: Lab, tmp_path: Path, mute: MuteServer) -> None:
    name = lab.run("api")
    killed = Runtime(lab.context, tmp_path / "data", "openai:slow", environ=mute.environ)
    ids = [killed.resource(name)["id"]]
    run_id = killed.request("POST", "/api/ai/patrol/run", json={"resource_ids": ids})["run_id"]
    mute.wait_until_asked()
    assert killed.get("/api/ai/patrol/status")["current_run_id"] == run_id
    killed.http.close()
    killed.process.kill()
    killed.process.communicate()
    again = Runtime(lab.context, tmp_path / "data", "openai:slow", environ=mute.environ)
    runs = again.get("/api/ai/patrol/runs")
    assert [(one["id"], one["status"], one["error_cause"]) for one in runs] == [
        (run_id, "error", "interrupted")
    ]
    assert runs[0]["scope_resource_ids"] == ids
    assert again.end() == 0


def test_ending_during_a_run_does_not_wait_for_the_model(lab: Lab, tmp_path: Path, mute: MuteServer) -> None:
    name = lab.run("api")
    runtime = Runtime(lab.context, tmp_path / "data", "openai:slow", environ=mute.environ)
    runtime.request("POST", "/api/ai/patrol/run", json={"resource_ids": [runtime.resource(name)["id"]]})
    mute.wait_until_asked()
    began = time.monotonic()
    assert runtime.end() == 0
    assert time.monotonic() - began < 10


# Repairs --------------------------------------------------------------------------------------------------

HELPER = ("sh", "-c", "trap 'exit 0' TERM; sleep 3600 & echo $! >/tmp/helper.pid; while :; do sleep 1; done")
LOOK = 'kill -0 "$(cat /tmp/helper.pid)"'


class Repair:
    """A runtime with its command channel open, and one service whose helper has died."""

    def __init__(self, lab: Lab, data: Path, mode: str, command: tuple[str, ...] = HELPER) -> None:
        self.lab, self.data, self.mode = lab, data, mode
        check = ("--health-cmd", LOOK, "--health-interval", "1s", "--health-retries", "1")
        self.name = lab.run("api", *check, "--restart", "unless-stopped", command=command)
        lab.wait_health("api", "healthy")
        self.runtime = self.start()

    def start(self) -> Runtime:
        options = ("--mode", self.mode, "--enable-commands")
        return Runtime(self.lab.context, self.data, options=options, environ={"PATROL_VERIFY_SECONDS": "8"})

    def break_it(self) -> None:
        self.lab.docker("exec", self.name, "sh", "-c", 'kill "$(cat /tmp/helper.pid)"')
        self.lab.wait_health("api", "unhealthy")
        self.runtime.wait_for(self.name, unhealthy)

    def proposed(self) -> dict[str, Any]:
        """The action that a patrol of the service has led to."""
        record = self.runtime.patrol(self.name)
        pause = threading.Event()
        for _ in range(200):
            with contextlib.suppress(httpx.HTTPStatusError):
                told = self.runtime.get(f"/api/ai/findings/{record['finding_ids'][0]}/investigation")
                if told["status"] == "completed":
                    return dict(told["action"])
            pause.wait(0.05)
        pytest.fail("no action was proposed")

    def post(self, action: dict[str, Any], verb: str, **body: str) -> Any:
        body["planHash"] = action["plan"]["planHash"]
        return self.runtime.request("POST", f"/api/actions/{action['action_id']}/{verb}", json=body)

    def ended(self, action: dict[str, Any]) -> dict[str, Any]:
        pause = threading.Event()
        for _ in range(900):
            told = self.runtime.get(f"/api/actions/{action['action_id']}")
            if told["audit"]["state"] in ("completed", "failed", "rejected"):
                return dict(told["audit"])
            pause.wait(0.1)
        pytest.fail("the action did not end")

    def started(self) -> str:
        return self.lab.docker("inspect", "-f", "{{.State.StartedAt}}", self.name)


@pytest.fixture
def repair(lab: Lab, tmp_path: Path) -> Iterator[Callable[..., Repair]]:
    made: list[Repair] = []

    def begin(mode: str, command: tuple[str, ...] = HELPER) -> Repair:
        made.append(Repair(lab, tmp_path / "data", mode, command))
        made[-1].break_it()
        return made[-1]

    yield begin
    for one in made:
        assert one.runtime.end() == 0


def test_an_approved_restart_heals_and_is_verified(repair: Callable[..., Repair], lab: Lab) -> None:
    one = repair("approval")
    before = one.started()
    action = one.proposed()
    assert one.started() == before
    one.post(action, "decision", outcome="approved")
    assert one.started() == before
    ended = one.post(action, "execute")
    assert (ended["state"], ended["audit"]["verificationOutcome"]["status"]) == ("completed", "verified")
    assert one.started() != before
    assert lab.docker("inspect", "-f", "{{.State.Health.Status}}", one.name) == "healthy"


def test_a_rejected_restart_leaves_the_container_alone(repair: Callable[..., Repair], lab: Lab) -> None:
    one = repair("approval")
    before = one.started()
    assert one.post(one.proposed(), "decision", outcome="rejected")["state"] == "rejected"
    assert one.started() == before
    assert lab.docker("inspect", "-f", "{{.State.Health.Status}}", one.name) == "unhealthy"


def test_in_full_mode_the_restart_needs_no_decision(repair: Callable[..., Repair]) -> None:
    one = repair("full")
    ended = one.ended(one.proposed())
    assert (ended["state"], ended["verificationOutcome"]["status"]) == ("completed", "verified")
    assert [approval["actor"]["kind"] for approval in ended["approvals"]] == ["policy"]


def test_a_restart_that_does_not_heal_is_never_called_verified(repair: Callable[..., Repair]) -> None:
    first = "sleep 3600 & echo $! >/tmp/helper.pid; touch /tmp/seen"
    later = "echo 999999 >/tmp/helper.pid"
    start = (
        f"trap 'exit 0' TERM; if [ -e /tmp/seen ]; then {later}; else {first}; fi; while :; do sleep 1; done"
    )
    one = repair("approval", ("sh", "-c", start))
    action = one.proposed()
    one.post(action, "decision", outcome="approved")
    ended = one.post(action, "execute")
    assert (ended["state"], ended["audit"]["verificationOutcome"]["status"]) == ("completed", "failed")
    assert len(one.runtime.get("/api/ai/patrol/findings")) == 1


def test_a_kill_during_an_execution_is_read_back_and_not_sent_again(
    repair: Callable[..., Repair], lab: Lab
) -> None:
    one = repair("approval")
    action = one.proposed()
    one.post(action, "decision", outcome="approved")
    executing = threading.Thread(target=attempt, args=(one, action))
    executing.start()
    pause = threading.Event()
    while one.runtime.get(f"/api/actions/{action['action_id']}")["audit"]["state"] != "executing":
        pause.wait(0.02)
    one.runtime.process.kill()
    executing.join()
    one.runtime.http.close()
    one.runtime.process.communicate()
    lab.wait("api", "{{.State.StartedAt}}", lambda seen: seen != action["plan"]["preflight"]["startedAt"])
    after = one.started()
    one.runtime = one.start()
    told = one.runtime.get(f"/api/actions/{action['action_id']}")
    assert told["audit"]["state"] in ("completed", "failed")
    assert [event["kind"] for event in told["events"]].count("dispatch") == 1
    assert [event["kind"] for event in told["events"]].count("verification") == 1
    assert one.started() == after


def attempt(one: Repair, action: dict[str, Any]) -> None:
    """Ask for the execution on a connection of its own; the server dies before it answers."""
    url = one.runtime.ready["url"]
    with (
        httpx.Client(base_url=url, trust_env=False, timeout=60) as http,
        contextlib.suppress(httpx.HTTPError),
    ):
        http.post(f"/api/actions/{action['action_id']}/execute", json={}, auth=("admin", PASSWORD))
