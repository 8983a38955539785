# SPDX-License-Identifier: MIT
"""Test all combinations of threads, streams, graphs and modes. No run fails, no record is lost, and
the results equal those of an untraced run."""

import itertools
import json
import os
import re
import subprocess

import pytest

from truth import Truth, read_capture

WORK = ((1, 0), (2, 1), (4, 0), (8, 2), (3, 3))  # streams, graph replays
RUNS = [(threads, *work, mode) for threads, work, mode in
        itertools.product((1, 2, 3, 4, 8), WORK, ("lite", "standard", "hip", "hsa", "default"))]
# all 125 runs, or 8 of them that cover each thread count and mode
CHOSEN = RUNS if os.environ.get("GPUTAP_SLOW") else RUNS[7::16]


@pytest.mark.parametrize("threads, streams, graphs, mode", CHOSEN)
def test_results_are_as_untraced_and_nothing_is_lost(hip_program, softgpu, run, tap, work, threads,
                                                     streams, graphs, mode):
    truth = Truth(threads=threads, streams=streams, graphs=graphs, launches=20)
    command = truth.command(hip_program("truth"))
    options = [] if mode == "default" else ["--mode", mode]
    result = tap("run", "-q", "-o", "a.gputap", *options, "--", *command, env=softgpu)
    assert result.out == run(command, env=softgpu).out
    info = json.loads(tap("info", "--json", "a.gputap").out)
    assert info["complete"] and info["dropped"] == 0 and info["seen"] == info["recorded"]
    found = read_capture(tap, "a.gputap")
    assert len(found.kernels("numbered")) == truth.launched.total()
    if mode in ("hip", "hsa", "default"):
        assert info["linked"] == info["activities"]
        truth.check(found)


@pytest.fixture(scope="session")
def leaks(tmp_path_factory, repo):
    library = tmp_path_factory.mktemp("leaks") / "leaks.so"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", repo / "tests/hip/leaks.c", "-o", library],
                   check=True)
    return library


@pytest.mark.parametrize("mode", ["lite", "hip", "hsa"])
def test_descriptors_and_threads_of_the_program_do_not_grow_with_its_work(
        hip_program, softgpu, leaks, run, tap, work, mode):
    def at_exit(rounds, *before):
        command = Truth(threads=2, streams=4, graphs=2, copies=1, launches=20,
                        rounds=rounds).command(hip_program("truth"))
        result = (tap if before else run)(*before or [command],
                                          *(command if before else ()),
                                          env={**softgpu, "LD_PRELOAD": leaks})
        return [
            tuple(int(n)
                  for n in found)
            for found in re.findall(r"descriptors (\d+) threads (\d+)", result.err)
        ][-1]
    traced = ["run", "-q", "-f", "-o", "a.gputap", "--mode", mode, "--"]
    bare, once, often = at_exit(1), at_exit(1, *traced), at_exit(5, *traced)
    assert once == often
    assert once[0] <= bare[0] + 2 and once[1] <= bare[1] + 1  # + segment, GPU helper thread


def test_no_signal_of_the_runtime_s_pool_is_left_when_it_shuts_down(hsa_dispatches, softgpu, build,
                                                                    run, tap, work):
    """Debian's ROCr reports the number of leaked signals. Only those that the program itself leaks
    remain, one per queue."""
    command = [hsa_dispatches, build / "tests/soft/soft_kernels.co", "6", "3000"]
    env = {**softgpu, "SOFT_AMDGPU_EXECUTE": "0"}
    result = tap("run", "-q", "-o", "a.gputap", "--", *command, env=env)
    assert result.err == run(command, env=env).err
