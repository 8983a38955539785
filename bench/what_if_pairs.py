#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare predictions of `gputap what-if` with programs that were really changed: the scenes of
tests/refdev/what_if_program.c on the reference accelerator, whose kernels have the length that the
program asks for.

    bench/what_if_pairs.py [-b BUILD] [-n RUNS] [SCENE ...]

Each scene runs RUNS times as it is and with kernel "gemm" at half and twice its time, and without
it. The shortest run counts, because other programs of the machine only make runs longer. Prints one
line per pair. Exit status 1 if a prediction is off by more than 5 % and outside of its range."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parent.parent
SCENES = ("synchronous", "queued", "host_bound", "mixed", "events", "two_streams", "graph",
          "threads", "lock", "two_ahead", "blocking_copy")
FACTORS = (0.5, 2, 0)
LIMIT = 0.05


def compile_program(build, path):
    refdev = build / "soft/refdev/librefdev.so.1"
    subprocess.run([
        "cc", "-O1", "-D_GNU_SOURCE", f"-I{REPO}", f"-I{REPO}/include",
        REPO / "tests/refdev/what_if_program.c", "-o", path, refdev,
        f"-Wl,-rpath,{refdev.parent}", build / "libgputap.so.0", f"-Wl,-rpath,{build}", "-lpthread"
    ], check=True)


def what_if(build, path, *words):
    done = subprocess.run([build / "gputap", "what-if", path, "--json", *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def record(build, program, scene, factor, runs):
    """Return the shortest of several runs: (length, capture)."""
    found = []
    for number in range(runs):
        path = program.parent / f"{scene}-{factor}-{number}.gputap"
        subprocess.run([build / "gputap", "run", "-q", "-f", "-o", path, "--", program, scene,
                        str(factor)], check=True)
        found.append((what_if(build, path)["recorded_ns"], path))
    return min(found)


def compare(build, program, scene, runs):
    recorded, path = record(build, program, scene, 1, runs)
    good = True
    for factor in FACTORS:
        if (scene, factor) == ("graph", 0):
            continue  # the nodes of the graph stay
        measured, _ = record(build, program, scene, factor, runs)
        w = what_if(build, path, "--scale", "name=gemm", str(factor))
        error = w["predicted_ns"] / measured - 1
        fits = abs(error) <= LIMIT or w["predicted_low_ns"] <= measured <= w["predicted_high_ns"]
        good &= fits
        print(f"{scene:14} x{factor:<4} recorded {recorded / 1e6:6.1f} ms  "
              f"predicted {w['predicted_ns'] / 1e6:6.1f} ms "
              f"({w['predicted_low_ns'] / 1e6:.1f} to {w['predicted_high_ns'] / 1e6:.1f})  "
              f"measured {measured / 1e6:6.1f} ms  error {error:+6.1%}{'' if fits else '  WRONG'}",
              flush=True)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-b", "--build", type=pathlib.Path, default=REPO / "build")
    parser.add_argument("-n", "--runs", type=int, default=5)
    parser.add_argument("scenes", nargs="*", metavar="SCENE", default=SCENES,
                        help=", ".join(SCENES))
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "what_if_program"
        compile_program(words.build.resolve(), program)
        results = [compare(words.build.resolve(), program, scene, words.runs)
                   for scene in words.scenes]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
