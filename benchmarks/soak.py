"""Many threads read and write through the dragonfly plugin while its services fail: `python benchmarks/soak.py`.

One process has all readers and writers. Every 20 seconds Dragonfly's client or the store is killed and started again.
Every read has to give right bytes, or an error that tells the truth. At the end the process has closed everything, and
its memory did not grow. Prints a table, and ends with 1 where anything of this does not hold.

It needs docker and the images of the services. With `--stub` it talks to the stubs of the project's tests, which break
transfers in the middle and refuse requests besides. With `--sanitizer=thread` (or `address,undefined`) the plugin that
TFFS_NATIVE_DIR names has to be built with it, too: `cmake -DTFFS_SANITIZE=thread`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from soak_services import Docker, Failing, Stubs

from tffs_conformance.harness.native import RUNTIME_NAME, include_directory, native_directory
from tffs_conformance.harness.ops.codes import Code
from tffs_conformance.harness.targets.shipped import plugin_path

#: What may be told of services that were killed, and of an object that is overwritten while it is read.
TRUE = {Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED}
#: By so many bytes the process may be larger in the last quarter of its time than in the second.
MOST_GROWTH = 64 << 20


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--stub", action="store_true", help="without docker")
    parser.add_argument("--every", type=float, help="seconds from one failure to the next (20; with --stub 4)")
    parser.add_argument("--readers", type=int, default=32)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--objects", type=int, default=500)
    parser.add_argument(
        "--largest", type=int, default=8 << 20, metavar="BYTES", help="a tenth of the objects has so many"
    )
    parser.add_argument("--read-ahead", type=int, default=0, metavar="BYTES", help="the plugin's read_ahead")
    parser.add_argument("--sanitizer", metavar="KINDS", help="the driver is built with this, as the plugin is")
    return parser.parse_args(given)


def built(folder: Path, sanitizer: str | None) -> Path:
    """The driver, compiled."""
    native, program = native_directory(), folder / "soak"
    flags = [f"-fsanitize={sanitizer}", "-g"] if sanitizer else []
    subprocess.run(
        ["c++", "-std=c++17", "-O2", *flags, f"-I{include_directory()}", str(Path(__file__).with_name("soak.cc")), "-o",
         str(program), str(native / RUNTIME_NAME), f"-Wl,-rpath,{native}", "-Wl,--no-as-needed", "-ldl", "-pthread"],
        check=True,
    )  # fmt: skip
    return program


def configured(folder: Path, services: Failing, read_ahead: int) -> Path:
    """The plugin's configuration: objects of 1 MiB and more grow, and the cache has room for few."""
    spools = folder / "spools"
    spools.mkdir()
    more = {"cache_dir": str(spools), "cache_max_bytes": 32 << 20, "whole_object_below": 1 << 20}
    path = folder / "dragonfly.json"
    path.write_text(json.dumps(services.config | more | {"read_ahead": read_ahead}), encoding="utf-8")
    return path


def soaked(options: argparse.Namespace, services: Failing, folder: Path) -> tuple[list[dict[str, Any]], int, int]:
    """What the driver told, second by second; how often something failed; the driver's exit code."""
    settings = dict.fromkeys(("ASAN_OPTIONS", "TSAN_OPTIONS"), "exitcode=99:halt_on_error=0")
    environment = {**os.environ, **settings}
    environment["DRAGONFLY_CONFIG_PATH"] = str(configured(folder, services, options.read_ahead))
    command = [built(folder, options.sanitizer), plugin_path("dragonfly"), services.root, options.minutes * 60,
               options.readers, options.writers, options.objects, options.largest]  # fmt: skip
    lines: list[dict[str, Any]] = []
    filled, over = threading.Event(), threading.Event()
    with subprocess.Popen([str(one) for one in command], env=environment, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None

        def listen(stream: Any = driver.stdout) -> None:
            for line in stream:
                if line == "filled\n":
                    filled.set()
                else:
                    lines.append(json.loads(line))
            filled.set()
            over.set()

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        filled.wait()
        every = options.every or (4 if options.stub else 20)
        failures = 0
        while not over.wait(every):
            # The driver's last word is told when nothing fails any more.
            if lines[-1]["seconds"] + every < options.minutes * 60:
                services.fail(failures)
                failures += 1
        listener.join()
    return lines, failures, driver.returncode


def told(lines: Sequence[Mapping[str, Any]]) -> tuple[Counter[str], Counter[tuple[str, Code]]]:
    """How many ops of each kind went well, and how many ended with which code."""
    well: Counter[str] = Counter()
    codes: Counter[tuple[str, Code]] = Counter()
    for name, count in lines[-1]["ops"].items():
        op, _, number = name.partition(" ")
        if number:
            codes[op, Code(int(number))] = count
        elif op != "wrong":
            well[op] = count
    return well, codes


def growth(lines: Sequence[Mapping[str, Any]]) -> int:
    """By how many bytes the process was larger in the last quarter of its time than in the second."""
    sizes: list[int] = [line["resident"] for line in lines[1:-1]]
    quarter = max(1, len(sizes) // 4)
    return max(sizes[-quarter:]) - max(sizes[quarter : 2 * quarter], default=sizes[0])


def judged(options: argparse.Namespace, lines: Sequence[Mapping[str, Any]], failures: int, exit_code: int,
           left: int) -> list[str]:  # fmt: skip
    """What does not hold, a sentence each. Prints the table."""
    begin, end = lines[0], lines[-1]
    well, codes = told(lines)
    print(f"{'op':<10} {'right':>10}  errors")
    for op in sorted(well | Counter(op for op, _ in codes)):
        errors = ", ".join(f"{count} {code}" for (named, code), count in sorted(codes.items()) if named == op)
        print(f"{op:<10} {well[op]:>10}  {errors or 'none'}")
    print(f"wrong answers: {end['ops']['wrong']}; times that something failed: {failures}")
    print(f"descriptors: {begin['descriptors']} at the beginning, at most {max(n['descriptors'] for n in lines)},"
          f" {end['descriptors']} at the end; threads: {begin['threads']}, at most {max(n['threads'] for n in lines)},"
          f" {end['threads']}; files left in cache_dir: {left}")  # fmt: skip
    print(f"resident memory: at most {max(n['resident'] for n in lines) >> 20} MiB,"
          f" from the second quarter of the time to the last {growth(lines) / (1 << 20):+.1f} MiB")  # fmt: skip
    findings = {
        "the driver, or its sanitizer, complained": exit_code != 0,
        "an answer was wrong": end["ops"]["wrong"] != 0,
        "a code does not tell the truth": any(code not in TRUE for _, code in codes),
        "nothing was read, or written": min(well["read"], well["close"]) == 0,
        "nothing failed, so nothing was tried": failures == 0,
        "descriptors are left open": end["descriptors"] != begin["descriptors"],
        # A sanitizer has a thread of its own.
        "threads are left": end["threads"] != begin["threads"] and not options.sanitizer,
        "files are left in cache_dir": left != 0,
        # Sanitizers keep what is freed.
        "memory grew": growth(lines) > MOST_GROWTH and not options.sanitizer,
    }
    return [sentence for sentence, holds in findings.items() if holds]


def main() -> int:
    options = arguments()
    with tempfile.TemporaryDirectory() as name, Stubs() if options.stub else Docker() as services:
        folder = Path(name)
        lines, failures, exit_code = soaked(options, services, folder)
        left = len(list((folder / "spools").iterdir()))
    if not lines or "wrong" not in lines[-1].get("ops", {}):
        print("the driver told nothing")
        return 1
    findings = judged(options, lines, failures, exit_code, left)
    print("\n".join(f"NOT SO: {sentence}" for sentence in findings) or "all of it holds")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
