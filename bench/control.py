#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""control.py BUILD [PROCESSES [TURNS]]: how long until a whole session has followed.

A program of the reference accelerator and PROCESSES children (100) that launch kernels all the
time; `gputap stop` and `gputap start` TURNS times (20). Each command returns when every process has
followed: its whole time, with its own start, is printed (median, largest)."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

REPO = pathlib.Path(__file__).resolve().parent.parent


sys.path.insert(0, str(REPO / "tests"))
import control_programs  # noqa: E402


def count_followers(gputap, pid):
    said = subprocess.run([gputap, "status", "--json", str(pid)], check=False, text=True,
                          capture_output=True)
    return 0 if said.returncode else json.loads(said.stdout)["sessions"][0]["following"]


def time_command(gputap, *words):
    begin = time.monotonic()
    subprocess.run([gputap, *words], check=True, capture_output=True)
    return (time.monotonic() - begin) * 1000


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    processes = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    turns = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    gputap = build / "gputap"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        control_programs.Program("refdev", build, pathlib.Path(folder))
        with subprocess.Popen([gputap, "run", "-q", "-o", "w.gputap", "--wait", "./program"],
                              text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
            run.stdin.write(f"run b 1\nspawn {processes}\n")
            run.stdin.flush()
            while count_followers(gputap, run.pid) <= processes:
                time.sleep(0.05)
            times = {"stop": [], "start": []}
            for _ in range(turns):
                for command, found in times.items():
                    found.append(time_command(gputap, command, str(run.pid)))
                    time.sleep(0.1)
            pathlib.Path("stop").touch()
            run.communicate("wait\n")
        for command, found in times.items():
            print(f"{command}: {processes + 1} processes, {turns} turns: median "
                  f"{statistics.median(found):.1f} ms, largest {max(found):.1f} ms")


main()
