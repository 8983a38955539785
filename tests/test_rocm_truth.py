# SPDX-License-Identifier: MIT
"""Test HIP programs with known GPU activities. Exactly those activities are recorded, each linked
to its call."""

import json
import os
import subprocess

import pytest

from processes import child_of
from conftest import clean_environment
from truth import Truth, read_capture

SLOW = bool(os.environ.get("GPUTAP_SLOW"))


@pytest.fixture
def traced(hip_program, softgpu, tap, work):
    """Return a function: traced(truth) records the program, checks the counts of the recording, and
    returns its contents, info's answer and the result of the run."""
    def run(truth, *options, env=None):
        result = tap("run",
                     "-q",
                     "-o",
                     "a.gputap",
                     *options,
                     "--",
                     *truth.command(hip_program("truth")),
                     env={**softgpu, **(env or {})})
        info = json.loads(tap("info", "--json", "a.gputap").out)
        assert info["complete"] and info["dropped"] == 0 and info["seen"] == info["recorded"]
        return read_capture(tap, "a.gputap"), info, result
    return run


def test_two_threads_of_eight_streams_are_recorded_whole_and_linked_right(traced):
    truth = Truth(threads=2, streams=8, launches=40)
    found, info, _ = traced(truth)
    assert info["linked"] == info["activities"] >= truth.kernels()
    truth.check(found)


def test_copies_and_fills_have_their_bytes_and_their_calls(traced):
    truth = Truth(threads=2, streams=4, launches=2, copies=6)
    found, info, _ = traced(truth)
    assert info["linked"] == info["activities"]
    truth.check(found)


def test_every_kernel_of_every_replay_is_recorded_in_its_order(traced):
    truth = Truth(threads=3, streams=2, launches=5, graphs=7, nodes=12)
    found, info, _ = traced(truth)
    assert info["linked"] == info["activities"]
    truth.check(found)


def test_cooperative_launches_are_linked_right_among_others(traced):
    truth = Truth(threads=2, streams=8, launches=20, copies=1, graphs=2, cooperative=4)
    found, info, _ = traced(truth)
    assert info["linked"] == info["activities"] > truth.kernels()
    truth.check(found)
    assert len(found.kernels("__amd_rocclr_gwsInit")) == 2 * 8 * 5


def test_work_of_four_devices_is_told_apart(traced):
    truth = Truth(threads=2, streams=4, launches=20, gpus=4)
    found, info, _ = traced(truth, env={"SOFT_AMDGPU_GPUS": 4})
    assert len(found.device_numbers) == 4
    truth.check(found)


def test_times_are_in_order_also_with_a_device_clock_that_is_late_and_drifts(traced):
    """The times must not show an epoch of 5 s and a drift of 50 ppm. (They would show a skew,
    because gputap cannot measure a skew.)"""
    truth = Truth(threads=1, streams=2, launches=30)
    found, _, _ = traced(truth,
                         env={"SOFT_AMDGPU_CLOCK_EPOCH": "5s", "SOFT_AMDGPU_CLOCK_DRIFT": "50ppm"})
    truth.check(found)


def resident(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def sampled(process, seconds=0.1):
    """Sample the memory of gputap and of its program until both have ended. Return [(collector,
    program)]."""
    samples, child = [], child_of(process)
    while True:
        try:
            samples.append((resident(process.pid), resident(child)))
        except (OSError, IndexError):
            pass
        try:
            process.wait(seconds)
            return samples
        except subprocess.TimeoutExpired:
            continue


def test_a_million_dispatches_on_eight_queues_of_four_devices(gputap, hip_program, softgpu, tap,
                                                              work):
    """Run 1/20 of the dispatches, or all of them with GPUTAP_SLOW=1."""
    truth = Truth(threads=4, streams=2, launches=125_000 if SLOW else 6_250, gpus=4, verify=0)
    command = [
        gputap, "run", "-q", "-o", "m.gputap", "--when-full", "60s", "--",
        *truth.command(hip_program("truth"))
    ]
    env = {**clean_environment(), **softgpu, "SOFT_AMDGPU_GPUS": "4", "SOFT_AMDGPU_EXECUTE": "0"}
    process = subprocess.Popen([str(c) for c in command],
                               env={k: str(v) for k, v in env.items()},
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    samples = sampled(process)
    assert process.returncode == 0
    info = json.loads(tap("info", "--json", "m.gputap").out)
    assert info["dropped"] == 0 and info["seen"] == info["recorded"]
    assert info["linked"] == info["activities"] >= truth.kernels()
    truth.check(read_capture(tap, "m.gputap", timeout=600))
    settled = samples[len(samples) // 4:]
    for side, limit in (("collector", 16 << 20), ("program", 64 << 20)):
        sizes = [sample[side == "program"] for sample in settled]
        print(f"{side}: {min(sizes) >> 20} to {max(sizes) >> 20} MiB over {len(samples)} samples")
        if SLOW:
            assert max(sizes[len(sizes) // 2:]) <= max(sizes[:len(sizes) // 2]) + limit, side
    print(
        f"{info['activities']} GPU activities, {info['calls']} calls, {info['bytes']}"
        f" bytes, {info['wall_ns'] / 1e9:.1f} s"
    )
