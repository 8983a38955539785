#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keep.py BUILD [SECONDS]: measure the cost of a flight recorder at 2 x 5 million calls a second.

Runs bench/opencl_paced under `gputap run` without and with --keep, with a snapshot in the middle
and with a trigger. Prints for each run the numbers of calls seen, lost and retained, the maximum
bytes on disk, and the collector's memory and CPU time."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

RATE = 5_000_000
WINDOW = ["--keep", "3s,256M"]
CASES = {
    "plain": [],
    "keep": WINDOW,
    "keep, snapshot": [*WINDOW, "--snapshot-signal", "USR2"],
    "keep, trigger": [*WINDOW, "--trigger", "duration>1h and name=clGetContextInfo"],
    "keep, trigger failed": [*WINDOW, "--trigger", "failed"],
}


def bytes_of_files():
    total = 0
    for path in pathlib.Path(".").glob(".*.keep"):
        try:
            total += sum(entry.stat().st_size for entry in os.scandir(path))
        except FileNotFoundError:
            pass
    return total


def sample(pid):
    """Return a process's CPU time in seconds and its anonymous memory in KiB."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        anonymous = int(status.split("RssAnon:")[1].split()[0])
    except (OSError, IndexError):
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), anonymous


def info(gputap, path):
    out = subprocess.run([gputap, "info", "--json", path], stdout=subprocess.PIPE, check=False)
    return json.loads(out.stdout)


def describe(found):
    kept = found["kept"] or {"begin_ns": 0, "end_ns": 0}
    return (f"seen {found['seen'] / 1e6:6.1f} M, lost {found['dropped']}, "
            f"kept {found['recorded'] / 1e6:6.1f} M, "
            f"window {(kept['end_ns'] - kept['begin_ns']) / 1e9:.2f} s")


def run(build, name, options, seconds):
    gputap = build / "gputap"
    process = subprocess.Popen([gputap, "run", "-q", "-f", "-o", "k.gputap", *options, "--",
                                build / "bench/opencl_paced", "2", str(RATE), str(seconds)],
                               stdout=subprocess.DEVNULL)
    begin, disk, memory, cpu, asked = time.monotonic(), 0, 0, 0.0, False
    while process.poll() is None:
        disk = max(disk, bytes_of_files())
        found = sample(process.pid)
        if found:
            cpu, memory = found[0], max(memory, found[1])
        if "--snapshot-signal" in options and not asked and time.monotonic() - begin > seconds / 2:
            process.send_signal(signal.SIGUSR2)
            asked = True
        time.sleep(0.02)
    found = info(gputap, "k.gputap")
    print(f"{name:22} {describe(found)}, "
          f"disk {disk / 2**20:6.1f} MiB, file {os.path.getsize('k.gputap') / 2**20:6.1f} MiB, "
          f"memory {memory / 1024:.1f} MiB, CPU {cpu:.2f} s", flush=True)
    if asked:
        print(f"{'  its snapshot':22} {describe(info(gputap, 'k.1.gputap'))}", flush=True)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30
    with tempfile.TemporaryDirectory(dir=".") as folder:
        os.chdir(folder)
        for name, options in CASES.items():
            run(build, name, options, seconds)
        os.chdir("..")


main()
