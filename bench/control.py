#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""control.py BUILD [PROCESSES [TURNS [LOOPS]]]: measure how long a whole session takes to follow a
change.

Runs a program on the reference accelerator, whose PROCESSES child processes (100) continuously
launch kernels. Stops and starts the session TURNS times (20), with the command and directly through
the session's socket, while LOOPS (0) endless loops run. Prints the median and the maximum of these
times:
    command        `gputap stop` including its start; returns when every process has followed
    until changed  from a request at the socket to the change of the session's word
    until known    from then until every process has followed and the session reports so"""

import json
import os
import pathlib
import socket
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


def ask(folder, request):
    with socket.socket(socket.AF_UNIX) as c:
        c.connect(f"{folder}/control")
        c.sendall(request.encode() + b"\n")
        with c.makefile() as f:
            return dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)


def time_request(folder, request):
    """Return two times in ms: until the word changed, and from then until all have followed."""
    begin = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    said = ask(folder, request)
    changed = int(said["changed_ns"])
    while int(said["behind"]):
        time.sleep(0.001)
        said = ask(folder, "session")
    return (changed - begin) / 1e6, (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - changed) / 1e6


def describe(times):
    return f"median {statistics.median(times):.1f} ms, largest {max(times):.1f} ms"


def take_turns(gputap, pid, turns):
    said = subprocess.run([gputap, "status", "--json", str(pid)], check=True, text=True,
                          capture_output=True)
    folder = json.loads(said.stdout)["sessions"][0]["folder"]
    for command in ("command", "request"):
        times = {"stop": [], "start": []}
        for _ in range(turns):
            for word, found in times.items():
                found.append(time_command(gputap, word, str(pid)) if command == "command" else
                             time_request(folder, word))
                time.sleep(0.1)
        for word, found in times.items():
            if command == "command":
                print(f"{word}, command: {describe(found)}")
            else:
                print(f"{word}, until changed: {describe([x for x, _ in found])}")
                print(f"{word}, until known: {describe([x for _, x in found])}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    processes, turns, loops = [int(x) for x in sys.argv[2:]] + [100, 20, 0][len(sys.argv) - 2:]
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
            busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(loops)]
            print(f"{processes + 1} processes, {turns} turns, {loops} loops")
            try:
                take_turns(gputap, run.pid, turns)
            finally:
                for loop in busy:
                    loop.kill()
                    loop.wait()
            pathlib.Path("stop").touch()
            run.communicate("wait\n")


main()
