#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the checks that need an NVIDIA GPU, and measure the cost of gputap there.

    tests/gpu/check_gpu.py [-k WORD ...] [--list] [--quick] [--out FOLDER] [--soft] [--jobs N]

    -k WORD       run only checks whose part or name contains a WORD
    --list        list the checks
    --quick       use fewer calls and rounds
    --out FOLDER  write report.json, report.md and some exports to FOLDER (default gpu-report)
    --soft        use the software driver and --quick; skip checks that need a GPU, and do not judge
                  costs
    --jobs N      number of parallel checks (default 3); checks of costs run alone, after the others

Each check prints lines with a verdict, a subject and a figure. The verdict `missed` means that a
figure is worse than promised; it does not fail a check. GPUTAP_BUILD names a build folder (default
build), an installed prefix, or the output of tools/pack-gpu. Run this script with the Python that
has torch, CuPy and JAX. The exit status is 1 if a check fails, and 2 if the GPU or gputap is
missing.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import gpu_harness as harness  # noqa: E402
import gpu_calls  # noqa: E402,F401
import gpu_activity  # noqa: E402,F401
import gpu_ends  # noqa: E402,F401
import gpu_beside  # noqa: E402,F401
import gpu_attach  # noqa: E402,F401
import gpu_runtime  # noqa: E402,F401
import gpu_said  # noqa: E402,F401
import gpu_several  # noqa: E402,F401
import gpu_exports  # noqa: E402,F401
import gpu_answers  # noqa: E402,F401
import gpu_causes  # noqa: E402,F401
import gpu_costs  # noqa: E402,F401
import gpu_costs_jax  # noqa: E402,F401

CELL = 160  # characters in a table cell


def run_check(machine, part, function):
    """Run one check and return its lines."""
    machine, begin = machine.for_check(part, function.__name__), time.monotonic()
    report = machine.report
    try:
        function(machine)
    except harness.Missing as why:
        report.skip("whole check", str(why))
    except (harness.Broken, LookupError, ValueError, OSError) as why:
        report.judge("whole check", f"{type(why).__name__}: {why}", False)
    print(f"        {report.part}: {time.monotonic() - begin:.1f} s", flush=True)
    shutil.rmtree(machine.work)
    return report.lines


def run_checks(machine, chosen, jobs):
    """Run the chosen checks and return all lines in the order of checks."""
    beside = [(part, function) for part, function in chosen if part != "costs"]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        lines = sum(pool.map(lambda check: run_check(machine, *check), beside), [])
    for part, function in chosen:
        if part == "costs":
            lines += run_check(machine, part, function)
    return lines


def write_reports(machine, lines, seconds):
    described = machine.describe()
    (machine.output / "report.json").write_text(json.dumps(
        {"machine": described, "seconds": round(seconds), "lines": lines}, indent=1) + "\n",
        encoding="utf-8")
    text = [", ".join(f"{name} {value}" for name, value in described.items()), "",
            "| check | what | figure | |", "| --- | --- | --- | --- |"]
    for line in lines:
        cells = (line["part"], line["what"], line["figure"], line["verdict"])
        text.append("| " + " | ".join(str(c).replace("|", "\\|")[:CELL] for c in cells) + " |")
    (machine.output / "report.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    verdicts = [line["verdict"] for line in lines]
    print(", ".join(f"{name} {verdicts.count(name)}" for name in
                    ("ok", "info", "missed", "skipped", "FAILS")) + f"; {seconds:.0f} s")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("-k", metavar="WORD", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--soft", action="store_true")
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("gpu-report"))
    return parser.parse_args(arguments)


def main(arguments):
    options, begin = parse(arguments), time.monotonic()
    chosen = [(part, function) for part, function in harness.CHECKS
              if not options.k or any(word in f"{part}/{function.__name__}" for word in options.k)]
    if options.list:
        for part, function in chosen:
            print(f"{part}/{function.__name__}: {(function.__doc__ or '').split(chr(10))[0]}")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="check_gpu.") as work:
        try:
            machine = harness.Machine(pathlib.Path(os.environ.get("GPUTAP_BUILD", "build"))
                                      .absolute(), options.out.absolute(), pathlib.Path(work),
                                      options.soft, options.quick or options.soft)
        except LookupError as why:
            print(f"check_gpu: {why} with GPUTAP_BUILD", file=sys.stderr)
            return 2
        if not machine.devices:
            print("check_gpu: no NVIDIA GPU or driver found; --soft checks what "
                  "the software driver can show", file=sys.stderr)
            return 2
        lines = run_checks(machine, chosen, options.jobs)
        write_reports(machine, lines, time.monotonic() - begin)
        return int(any(line["verdict"] == "FAILS" for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
