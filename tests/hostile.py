"""Judges the crashing and the hanging fake of each op: the report must name the op and miss no case."""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tffs_conformance.harness.tables import TABLES

#: A hanging plugin gets its report within so many seconds, at a call time-out of 1 s.
LONGEST = 300
AT_ONCE = 2


def judge(plugin: str, tier: str, fault: str | None = None) -> tuple[int, dict[str, object], float]:
    """Exit code, report and duration in seconds of one run."""
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider",
                   f"--plugin={plugin}", f"--report-dir={directory}", "--call-timeout=1", f"--tier={tier}"]  # fmt: skip
        command += [f"--env=TFFS_FAULT={fault}"] if fault else []
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, check=False, cwd=directory)
        report = json.loads((Path(directory) / "report.json").read_text())
    return done.returncode, report, time.monotonic() - started


def problems(fault: str, op: str, exit_code: int, report: dict[str, object], seconds: float, cases: int) -> list[str]:
    """What is wrong with the report on a fault."""
    found = []
    named = [
        check
        for case in report["cases"]  # type: ignore[attr-defined]
        for check in case["checks"]
        if check["verdict"] == "violation" and op in check["got"]
    ]
    if exit_code != 1 or report["verdict"] != "not conformant":
        found.append(f"exit {exit_code}, verdict {report['verdict']}")
    if not named:
        found.append("no violation names the op")
    if len(report["cases"]) != cases:  # type: ignore[arg-type]
        found.append(f"{len(report['cases'])} cases, posix has {cases}")  # type: ignore[arg-type]
    if fault.startswith("hang") and seconds > LONGEST:
        found.append(f"took {seconds:.0f} s")
    return found


def main() -> None:
    """All ops and all cases, or two ops of each table and the MUST tier."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--few", action="store_true", help="two ops of each table, and the MUST tier")
    few = parser.parse_args().few
    ops = (
        [op for table in TABLES.values() for op in (table[2:4] if len(table) > 6 else table[:2])]
        if few
        else [op for table in TABLES.values() for op in table]
    )
    tier = "must" if few else "full"
    _, posix, _ = judge("posix", tier)
    cases = len(posix["cases"])  # type: ignore[arg-type]
    faults = [(f"{kind}:{op}", op) for op in ops for kind in ("crash", "hang")]
    bad = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        judged = pool.map(lambda fault: judge("fakes/faulty", tier, fault[0]), faults)
        for (fault, op), (exit_code, report, seconds) in zip(faults, judged, strict=True):
            found = problems(fault, op, exit_code, report, seconds, cases)
            bad += bool(found)
            print(f"{fault:<50} {seconds:5.1f} s  {'; '.join(found) or 'caught'}", flush=True)
    print(f"{len(faults) - bad} passed, {bad} failed")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
