# SPDX-License-Identifier: MIT
"""Test AMD_DIRECT_DISPATCH=0, with which HIP submits from one thread per stream, after the
program's call. Each activity is linked to the right call or to no call.

HIP 7 (ROCr 18), however, submits the ready parts of a graph, including branches, in the thread that
launches the graph. These parts overtake earlier requests of the program that a stream's thread has
not yet reached. Graphs therefore sometimes give wrong results, even untraced."""

import collections
import json
import re
import subprocess

import pytest

from truth import Truth, check_held, check_order, read_capture

QUEUED = {"AMD_DIRECT_DISPATCH": "0"}
MAY_BE_WRONG = 18  # version of ROCr
BYTES = re.compile(r"sizeBytes=(\d+)")
GRID = re.compile(r"numBlocks=\{x=(\d+), y=(\d+), ")


@pytest.fixture
def traced(hip_program, softgpu, tap, work, rocr):
    def run(truth, env=None):
        tap("run",
            "-q",
            "-f",
            "-o",
            "a.gputap",
            "--",
            *truth.command(hip_program("truth")),
            env={**softgpu, **QUEUED, **(env or {})},
            status=None if rocr >= MAY_BE_WRONG and truth.graphs else 0)
        info = json.loads(tap("info", "--json", "a.gputap").out)
        assert info["complete"] and info["dropped"] == 0 and info["seen"] == info["recorded"]
        return read_capture(tap, "a.gputap"), info
    return run


@pytest.mark.parametrize("options", [
    dict(threads=2, streams=8, launches=40),
    dict(threads=3, streams=4, launches=5, copies=4),
    dict(threads=2, streams=2, launches=5, graphs=4, nodes=9),
    dict(threads=2, streams=4, launches=10, rounds=3),
    dict(threads=2, streams=2, launches=10, gpus=2)
],
                         ids=lambda o: "_".join(o))
def test_all_work_is_linked_to_the_call_that_asked_for_it(traced, options, rocr):
    """HIP 7 turns small copies into kernels. If several threads copy on the default stream, the
    arguments do not always distinguish their copies."""
    truth = Truth(**options)
    found, info = traced(truth, env={"SOFT_AMDGPU_GPUS": str(options.get("gpus", 1))})
    assert info["activities"] >= truth.kernels() and not info["events"]
    if rocr >= 18 and truth.copies:
        truth.check_launches(found)
        for row in found.device:
            call = found.call_of(row)
            assert not call or row["operation"] == "kernel" or int(
                row["bytes"] or 0) in (0, int(BYTES.search(call["arguments"])[1])), (row, call)
        return
    assert info["linked"] == info["activities"]
    truth.check(found)


@pytest.fixture(scope="session")
def shared_stream(tmp_path_factory, hip_headers, repo):
    program = tmp_path_factory.mktemp("programs") / "shared_stream"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-pthread", repo / "tests/hip/shared_stream.hip",
        "-o", program
    ],
                   check=True)
    return program


def test_launches_of_two_threads_on_one_stream_are_linked_right_or_not_at_all(
        shared_stream, softgpu, tap, work, rocr):
    """Each thread launches its own kernel, so that the kernel's name identifies the thread. A
    kernel that both threads launch cannot be assigned while both launches are active.
    tests/unit/submit_order_model.c tests every order of such steps."""
    tap("run", "-q", "-o", "a.gputap", "--", shared_stream, "300", env={**softgpu, **QUEUED},
        status=None if rocr >= MAY_BE_WRONG else 0)
    found = read_capture(tap, "a.gputap")
    linked = collections.Counter()
    for row in found.device:
        call = found.call_of(row)
        if row["operation"] == "kernel" and call:
            x, y = GRID.search(call["arguments"]).groups()
            assert (row["global_x"], row["global_y"]) == (x, y), (row, call)
            linked[row["name"]] += 1
            check_order(found, row)
    assert linked["left"] == linked["right"] == 300


def test_calls_that_are_not_recorded_take_no_others_work(hip_program, softgpu, tap, work):
    truth = Truth(threads=1, streams=2, launches=5, copies=2)
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--ops",
        "hipLaunchKernel",
        "--",
        *truth.command(hip_program("truth")),
        env={**softgpu, **QUEUED})
    found = read_capture(tap, "a.gputap")
    truth.check_launches(found)
    assert [row["operation"]
            for row in found.device
            if found.call_of(row)] == ["kernel"] * truth.kernels()


@pytest.mark.parametrize("shape, linked", [("chain", True), ("capture", False), ("shuffle", False)])
def test_nodes_of_a_graph_are_linked_where_it_is_a_chain(hip_program, softgpu, tap, work, rocr,
                                                         shape, linked):
    """HIP before 7 runs branches in separate threads. In this mode it hangs with some graphs,
    traced or not."""
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--",
        hip_program("graphs"),
        shape,
        "5",
        env={**softgpu, **QUEUED},
        status=None if rocr >= MAY_BE_WRONG else 0)
    found = read_capture(tap, "a.gputap")
    kernels = [row for row in found.device if row["name"].startswith("count")]
    calls = collections.Counter(call["operation"] for call in map(found.call_of, kernels) if call)
    assert kernels and set(calls) <= {"hipGraphLaunch"}
    if linked or rocr >= 18:
        assert calls["hipGraphLaunch"] == len(kernels)
        assert all(row["graph_node"] for row in kernels)
        for row in kernels if linked else ():
            assert int(row["global_x"]) // int(row["local_x"]) == int(row["graph_node"]) + 1
    else:
        assert calls["hipGraphLaunch"] == 0
        assert [e["event"] for e in json.loads(tap("info", "--json", "a.gputap").out)["events"]
                ] == ["not linked"]


def spans(found):
    return [row for row in found.device if row["operation"] == "graph"]


def test_lite_records_one_span_a_launch_from_its_first_node_to_its_last(
        hip_program, softgpu, tap, work, rocr):
    """Launches of plain kernels and of graphs are interleaved on the same streams."""
    truth = Truth(threads=2, streams=2, launches=5, graphs=4, nodes=9)
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--mode",
        "lite",
        "--",
        *truth.command(hip_program("truth")),
        env={**softgpu, **QUEUED},
        status=None if rocr >= MAY_BE_WRONG else 0)
    found, info = read_capture(tap, "a.gputap"), json.loads(tap("info", "--json", "a.gputap").out)
    assert collections.Counter(row["number"] for row in found.kernels("numbered")) == truth.launched
    assert collections.Counter(
        (row["operation"], row["name"][:5])
        for row in found.device) == {("kernel", "numbe"): truth.launched.total(),
                                     ("graph", "graph"): truth.threads * truth.graphs}
    assert sorted(int(row["graph_replay"]) for row in spans(found)) == sorted([1, 2, 3, 4] * 2)
    assert info["complete"] and info["dropped"] == 0 and info["calls"] == 0 and not info["events"]


def test_a_span_of_lite_begins_with_the_first_node_and_ends_with_the_last(
        hip_program, softgpu, tap, work, rocr):
    ran = tap("run",
              "-q",
              "-o",
              "a.gputap",
              "--mode",
              "lite",
              "--",
              hip_program("graphs"),
              "held",
              "3",
              "1",
              "400",
              env={**softgpu, **QUEUED},
              status=None if rocr >= MAY_BE_WRONG else 0)
    check_held(ran.out, spans(read_capture(tap, "a.gputap")))


@pytest.mark.parametrize("shape", ["capture", "shuffle"])
def test_lite_records_the_kernels_of_a_graph_with_branches_one_by_one(hip_program, softgpu, tap,
                                                                      work, rocr, shape):
    """With HIP 7, only the kernels of graphs with copies or fills are recorded one by one, because
    threads of streams might submit these graphs."""
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--mode",
        "lite",
        "--",
        hip_program("graphs"),
        shape,
        "5",
        env={**softgpu, **QUEUED},
        status=None if rocr >= MAY_BE_WRONG else 0)
    found, info = read_capture(tap, "a.gputap"), json.loads(tap("info", "--json", "a.gputap").out)
    whole = rocr >= 18 and shape == "shuffle"
    assert found.device and {row["operation"] for row in found.device
                             } == {"graph" if whole else "kernel"} and info["dropped"] == 0
    assert [e["event"] for e in info["events"]] == ["not linked"] * (rocr < 18)


def test_standard_has_the_nodes_of_graphs(hip_program, softgpu, tap, work, rocr):
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--mode",
        "standard",
        "--",
        hip_program("graphs"),
        "chain",
        "2",
        env={**softgpu, **QUEUED},
        status=None if rocr >= MAY_BE_WRONG else 0)
    found = read_capture(tap, "a.gputap")
    assert {
        (row["graph_replay"], row["graph_node"]) for row in found.device if row["graph_replay"]
    } == {(str(replay), str(node)) for replay in (1, 2) for node in range(20)}
