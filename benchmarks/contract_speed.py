"""How fast the contract reads and counts, as ratios of one run (the machine's own speed cancels out).

    python benchmarks/contract_speed.py [--runs 100000] [--intervals 1000000]

- Reading: typed decode and recomputed evidence digest of many contribution runs, against `sha256sum -c` over
  the same bytes. Wanted: at most 2.0 times as long; a single process does not get there.
- Counting: Wilson intervals, against scipy one by one. Wanted: at least 300 times as fast.

The runs are those of the committed evidence, repeated: the work of reading does not depend on whose they are.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from contract.contribution import decode_contribution, evidence_digest
from contract.wilson import wilson_bounds

EVIDENCE = Path(__file__).parents[1] / "evidence"
SCIPY_SAMPLE = 300


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def read_all(documents: list[bytes]) -> None:
    """Decode each document and recompute the digest of each of its runs."""
    for document in documents:
        for run in decode_contribution(document).runs or ():
            assert evidence_digest(run) == run.evidence_digest_sha256


def sums_of(documents: list[bytes], folder: Path) -> Path:
    """Write the documents and a list of their checksums; returns the list."""
    lines = []
    for at, document in enumerate(documents):
        name = f"{at:06}.json"
        (folder / name).write_bytes(document)
        lines.append(f"{hashlib.sha256(document).hexdigest()}  {name}\n")
    listed = folder / "SHA256SUMS"
    listed.write_text("".join(lines), encoding="ascii")
    return listed


def reading(runs: int) -> float:
    """Time of typed reading over the time of `sha256sum -c`."""
    documents: list[bytes] = []
    committed = [path.read_bytes() for path in sorted(EVIDENCE.glob("*/**/contribution.json"))]
    counted = 0
    while counted < runs:
        document = committed[len(documents) % len(committed)]
        documents.append(document)
        counted += len(decode_contribution(document).runs or ())
    with tempfile.TemporaryDirectory() as name:
        listed = sums_of(documents, Path(name))
        command = ["sha256sum", "--quiet", "-c", listed.name]
        hashing = seconds(lambda: subprocess.run(command, cwd=name, check=True))
    return seconds(lambda: read_all(documents)) / hashing


def counting(intervals: int) -> float:
    """Time of scipy per interval over the time of ours."""
    from scipy.stats import binomtest

    samples = [(at % 400, 400) for at in range(intervals)]
    ours = seconds(lambda: [wilson_bounds(k, n) for k, n in samples]) / intervals
    some = samples[:SCIPY_SAMPLE]
    theirs = seconds(lambda: [binomtest(k, n).proportion_ci(method="wilson") for k, n in some]) / SCIPY_SAMPLE
    return theirs / ours


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=100_000, help="contribution runs to read")
    parser.add_argument("--intervals", type=int, default=1_000_000, help="Wilson intervals to compute")
    options = parser.parse_args()
    print(f"reading:  {reading(options.runs):.2f} times sha256sum -c (wanted: at most 2.0)")
    print(f"counting: {counting(options.intervals):.0f} times as fast as scipy (wanted: at least 300)")


if __name__ == "__main__":
    main()
