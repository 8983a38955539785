# SPDX-License-Identifier: MIT
"""Test `--mode lite`, in which a launch of a known graph submits its packets to the device in runs.
Regardless of other threads, each node is executed once, in order, and as soon as a thread waits for
the node (tests/hip/graph_runs.hip checks this)."""

import json
import shutil
import signal
import subprocess

import pytest

from conftest import run_command

SPANS = {"exits": 2, "killed": 2}  # launches that complete before the end; otherwise all 4 do


@pytest.fixture(scope="session")
def program(tmp_path_factory, repo, hip_headers):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    path = tmp_path_factory.mktemp("runs") / "graph_runs"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-w", "-rdynamic", "-o", path,
        repo / "tests/hip/graph_runs.hip", "-ldl", "-lhsa-runtime64"
    ],
                   check=True)
    return path


@pytest.mark.parametrize("kind, nodes, packets", [
    ("plain", 1000, 16384),
    ("plain", 1000, 64),  # the queue is smaller than the graph
    ("host", 200, 16384),
    ("waits", 200, 16384),
    ("indices", 200, 16384),
    ("shares", 200, 16384),
    ("behind", 200, 16384),
    ("waits", 200, 64),
    ("shares", 200, 64),
    ("forks", 200, 16384),
    ("exits", 200, 16384),
    ("killed", 200, 16384),
])
def test_nodes_that_are_handed_on_in_runs_are_executed_in_time(program, softgpu, gputap, work, kind,
                                                               nodes, packets):
    env = {**softgpu, "GPU_MAX_HW_QUEUES": "1", "ROC_AQL_QUEUE_SIZE": str(packets),
           "DEBUG_HIP_GRAPH_BATCH_SIZE": "1"}  # otherwise HIP 7.2 makes its own runs
    status = -signal.SIGKILL if kind == "killed" else 0
    run_command([
        gputap, "run", "-q", "-f", "-o", "a.gputap", "--mode", "lite", "--", program, kind,
        str(nodes), "4"
    ],
                env=env,
                status=status)
    info = json.loads(run_command([gputap, "info", "--json", "a.gputap"]).out)
    report = json.loads(run_command([gputap, "report", "--json", "a.gputap"]).out)
    launches = sum(g["launches"] for g in report["graphs"])
    assert info["end"] == "complete"
    assert launches == SPANS.get(kind, 4)
    if kind not in SPANS:
        assert info["dropped"] == 0
