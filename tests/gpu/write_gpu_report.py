#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write docs/internals/cuda-report.md from reports of tests/gpu/check_gpu.py.

    tests/gpu/write_gpu_report.py REPORT.json ... > docs/internals/cuda-report.md

If several reports of one kind of machine contain a check, the last of these reports is used."""

import json
import sys

CELL = 160
HEAD = """# CUDA: the last report of `make test-gpu`

`tests/gpu/write_gpu_report.py` generates this report, and
[cuda.md](../runtimes/cuda.md#on-a-machine-with-a-gpu) explains each part and how to run it.
*Missed* means that a figure is worse than its goal; figures marked *info* have no goal. Cost
figures are medians, with quartiles in parentheses. Costs not marked *between processes* are
differences within one process, because figures from different processes differ by more than most
costs. *On minus off* compares alternating recorded and paused rounds. *On minus never* compares
recorded rounds with rounds before the first recording. *Off minus never* compares paused rounds
with rounds before the first recording.
"""
PARTS = ("calls", "work", "ends", "beside", "runtime", "said", "several", "exports", "answers",
         "costs")


def read(paths):
    """Return {(GPU, number of devices): ([machine of each report], {check: lines of the
    check})}."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        machine = report["machine"]
        machines, checks = found.setdefault((machine["gpu"], machine["devices"]), ([], {}))
        machines.append(machine)
        fresh = {}
        for line in report["lines"]:
            fresh.setdefault(line["part"], []).append(line)
        checks.update(fresh)
    return found


def show_cell(text):
    text = str(text).replace("|", "\\|")
    return text if len(text) <= CELL else text[:CELL - 3] + ".."


def is_kept(line):
    """Return false for lines with paths of the measured machine."""
    return not (line["part"] == "said/doctor" and line["verdict"] in ("info", "said"))


def show_part(part, checks):
    lines = [line for name, found in checks.items() if name.split("/")[0] == part
             for line in found if is_kept(line)]
    if not lines:
        return []
    text = ["", f"### {part}", "", "| check | what | figure | |", "| --- | --- | --- | --- |"]
    for line in lines:
        cells = (line["part"].split("/")[1], line["what"], line["figure"], line["verdict"])
        text.append("| " + " | ".join(map(show_cell, cells)) + " |")
    return text


def main(paths):
    text = [HEAD.rstrip()]
    for (gpu, devices), (machines, checks) in read(paths).items():
        last = machines[-1]
        text += ["", f"## {devices} x {gpu.replace(', ', ', driver ')}", "",
                 f"{last['date']}; {last['processor']}, {last['cores']} cores, Linux "
                 f"{last['kernel'].split('-')[0]},", f"Python {last['python']}, torch "
                 f"{last.get('torch', '-')}, gputap {last['gputap']}."]
        for part in PARTS:
            text += show_part(part, checks)
    print("\n".join(text))


main(sys.argv[1:])
