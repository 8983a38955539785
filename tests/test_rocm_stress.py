# SPDX-License-Identifier: MIT
"""Threads, streams, graphs and modes in all their combinations: nothing fails, nothing is lost, results are as untraced."""

import itertools
import json
import os

import pytest

from truth import Truth, read_capture

WORK = ((1, 0), (2, 1), (4, 0), (8, 2), (3, 3))  # streams, replays
RUNS = [(threads, *work, mode) for threads, work, mode in
        itertools.product((1, 2, 3, 4, 8), WORK, ("lite", "standard", "hip", "hsa", "default"))]
CHOSEN = RUNS if os.environ.get("GPUTAP_SLOW") else RUNS[7::16]  # 125, or 8 of them, each thread count and mode among them


@pytest.mark.parametrize("threads, streams, graphs, mode", CHOSEN)
def test_results_are_as_untraced_and_nothing_is_lost(hip_program, softgpu, run, tap, work, threads, streams, graphs, mode):
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
        assert info["linked"] == info["device_work"]
        truth.check(found)
