# SPDX-License-Identifier: MIT
"""Test CUDA's GPU activities, with the driver and CUPTI in software: every kernel, memcpy and
memset of a program is recorded and linked to its call, even if the program ends abnormally."""
import csv
import json
import re
import subprocess

import pytest

from conftest import REPO

ITEMS = 300


@pytest.fixture(scope="session")
def driver(build):
    return build / "soft/cuda/libcuda.so.1"


@pytest.fixture(scope="session")
def program(driver, tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda_work")
    common = ["cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}"]
    for command in ([
            *common, "-shared", "-fPIC", REPO / "tests/cuda/driver_kernels.c", "-o",
            folder / "kernels.so"
    ], [
            *common, REPO / "tests/cuda/activity_program.c", "-o", folder / "program", driver,
            "-lpthread"
    ]):
        subprocess.run(list(map(str, command)), check=True)
    return [folder / "program", folder / "kernels.so"]


@pytest.fixture
def trace(run, gputap, program, work):
    """Return a function: trace("scene", ...) runs a scene of the program and returns its report, or
    with rows=True the capture's rows."""

    def call(*scene, status=0, options=(), soft=(), env=None, rows=False):
        run([
            gputap, "run", "-q", "-f", "-o", "w.gputap", *options, "--", gputap, "soft", "cuda",
            *soft, "--", *program, *scene
        ], status=status, env=env, timeout=60)
        if not rows:
            return json.loads(run([gputap, "report", "--json", "--top", "0", "w.gputap"]).out)
        run([gputap, "export", "-f", "w.gputap", "-o", "w.csv"])
        with open("w.csv", newline="") as file:
            return list(csv.DictReader(file))

    return call


def device(rows):
    return sorted((row for row in rows if row["kind"] == "device"),
                  key=lambda row: int(row["start_ns"]))


def events(run, gputap):
    info = json.loads(run([gputap, "info", "--json", "w.gputap"]).out)
    return [event["text"] for event in info["events"]]


def identity(call):
    """Return the operation of the activity that @call submits, and a number that identifies the
    activity: the block size, or the size of the memcpy or memset."""
    name, arguments = call["operation"], call["arguments"]
    if name == "cuLaunchKernel":
        return "kernel", int(re.search(r"blockDimX=(\d+)", arguments)[1])
    number = int(re.search(r"(?:ByteCount|N)=(\d+)", arguments)[1])
    return ("memcpy H2D" if name.startswith("cuMemcpy") else "memset"), number


def seen(row):
    return row["operation"], int(row["local_x"] if row["operation"] == "kernel" else row["bytes"])


def test_each_item_is_linked_to_its_own_call_from_threads_that_share_streams(trace):
    rows = trace("identities", str(ITEMS), rows=True)
    calls = {row["correlation"]: row for row in rows if row["kind"] == "call"}
    found = device(rows)
    assert len(found) == 4 * ITEMS
    for row in found:
        assert identity(calls[row["correlation"]]) == seen(row)
    assert len({row["correlation"] for row in found}) == 4 * ITEMS
    kernels = [row for row in found if row["operation"] == "kernel"]
    assert {row["name"] for row in kernels} == {"add_numbers"}
    assert len({row["queue"] for row in found}) == 3


def test_work_lies_behind_its_calls_begin_and_within_the_program(trace):
    rows = trace("identities", "20", rows=True)
    calls = {row["correlation"]: row for row in rows if row["kind"] == "call"}
    last = max(int(row["end_ns"]) for row in calls.values())
    for row in device(rows):
        start, end = int(row["start_ns"]), int(row["end_ns"])
        assert int(calls[row["correlation"]]["start_ns"]) <= start <= end <= last


@pytest.mark.parametrize("version", ["11.8", "12.9", "13.0", "13.5"])
def test_every_release_has_its_own_sizes_of_records(trace, version):
    report = trace("identities", "30", soft=["--cupti", version])
    assert report["activities"] == report["linked"] == 120
    assert report["dropped"] == 0


def test_device_and_streams_are_named(trace, run, gputap):
    trace("identities", "5")
    info = json.loads(run([gputap, "info", "--json", "w.gputap"]).out)
    (found, ) = info["devices"]
    assert found["name"] == "gputap software CUDA device"
    assert found["clock"] == "host's own"


def test_no_device_asks_nothing_of_cupti(trace):
    report = trace("identities", "5", options=["--no-device"], env={"GPUTAP_CUPTI": "/nonexistent"})
    assert report["activities"] == 0


def test_calls_alone_without_launches_ask_nothing_of_cupti(trace, run, gputap):
    report = trace("identities", "5", options=["--ops", "cuStreamCreate"],
                   env={"GPUTAP_CUPTI": "/nonexistent"})
    assert report["activities"] == 0
    assert events(run, gputap) == []


def test_without_cupti_calls_are_recorded_and_a_sentence_says_why(trace, run, gputap):
    report = trace("identities", "5", env={"GPUTAP_CUPTI": "/nonexistent"})
    assert report["activities"] == 0 and report["dropped"] == 0
    (text, ) = events(run, gputap)
    assert "cannot open /nonexistent (GPUTAP_CUPTI)" in text


@pytest.mark.parametrize("fault, text", [
    ("subscribe", "another tool in this program uses CUPTI"),
    ("register", "another tool in this program uses CUPTI"),
    ("privileges", "NVreg_RestrictProfilingToAdminUsers=0"),
    ("compatible", "CUPTI is incompatible with the driver"),
])
def test_what_cupti_refuses_is_said_and_the_program_runs(trace, run, gputap, fault, text):
    report = trace("identities", "5", soft=["--cupti-fail", fault])
    assert report["activities"] == 0 and report["dropped"] == 0
    assert [text in event for event in events(run, gputap)] == [True]


def test_records_that_cupti_dropped_are_counted(trace):
    report = trace("identities", "5", soft=["--cupti-fail", "buffers"])
    assert report["activities"] == 0 and report["dropped"] == 20


def test_children_of_a_fork_leave_cupti_alone_and_the_parent_goes_on(trace):
    rows = device(trace("fork", rows=True))
    assert [row["local_x"] for row in rows] == ["11", "12"]


def test_a_program_that_kills_itself_has_lost_nothing_of_before(trace):
    report = trace("kill", status=-9)
    assert report["activities"] == report["linked"] == 200
    assert report["dropped"] == 0


def test_exit_without_handlers_loses_nothing_of_before(trace):
    report = trace("leave")
    assert report["activities"] == report["linked"] == 200
    assert report["dropped"] == 0


def test_a_context_that_goes_takes_no_record_with_it(trace):
    rows = device(trace("destroy", rows=True))
    assert [row["local_x"] for row in rows] == ["31"] * 3


@pytest.mark.parametrize("ms", ["0", "3000"])
def test_what_is_launched_in_a_pause_is_not_recorded(trace, run, gputap, build, ms):
    """gputap removes CUPTI from the process in a long pause, and loads CUPTI again after the
    pause."""
    roctx = build / "src/compat/roctx/libroctx64.so.4"
    rows = device(trace("pauses", str(roctx), ms, rows=True))
    assert [row["local_x"] for row in rows] == ["21", "23"]
    report = json.loads(run([gputap, "report", "--json", "w.gputap"]).out)
    assert report["linked"] == 2 and report["dropped"] == 0


def test_in_lite_cupti_stays_in_a_long_pause(trace, build):
    """With NVIDIA's driver, graph launches fault once GRAPH_TRACE has been disabled. The stand-in
    aborts in a cuptiFinalize() that would disable GRAPH_TRACE."""
    roctx = build / "src/compat/roctx/libroctx64.so.4"
    rows = device(trace("pauses", str(roctx), "3000", options=["--mode", "lite"], rows=True))
    assert [row["local_x"] for row in rows] == ["21", "23"]


def test_a_graphs_nodes_are_linked_to_their_launch_and_have_places_in_it(trace, run, gputap):
    """A captured call submits no activity, so nothing is counted as unfinished."""
    rows = trace("graph", "3", rows=True)
    calls = {row["correlation"]: row for row in rows if row["kind"] == "call"}
    found = device(rows)
    assert len(found) == 2 * 3 * 3
    assert {calls[row["correlation"]]["operation"] for row in found} == {"cuGraphLaunch"}
    graphs = {}
    for row in found:
        nodes = graphs.setdefault(row["graph"], {}).setdefault(row["graph_replay"], [])
        nodes.append((int(row["graph_node"]), row["operation"]))
    assert len(graphs) == 2
    for replays in graphs.values():
        assert sorted(replays) == ["1", "2", "3"]
        assert [sorted(nodes) for nodes in replays.values()
                ] == [[(0, "kernel"), (1, "memcpy H2D"), (2, "memset")]] * 3
    assert json.loads(run([gputap, "report", "--json", "w.gputap"]).out)["dropped"] == 0


def test_lite_has_a_graphs_launch_as_one(trace, run, gputap):
    rows = device(trace("graph", "3", options=["--mode", "lite"], rows=True))
    assert [row["operation"] for row in rows] == ["graph"] * 6
    assert len({row["name"] for row in rows}) == 2 and all(row["name"] for row in rows)
    assert json.loads(run([gputap, "report", "--json", "w.gputap"]).out)["dropped"] == 0


def test_a_copy_between_devices_is_linked_and_named(trace, run, gputap):
    (row, ) = device(trace("peer", soft=["--devices", "2"], rows=True))
    assert row["operation"] == "memcpy D2D" and row["bytes"] == "4000"
    assert row["name"] == "Memcpy PtoP (Device -> Device)"
    report = json.loads(run([gputap, "report", "--json", "w.gputap"]).out)
    assert report["linked"] == 1 and report["dropped"] == 0


def test_what_moves_nothing_and_nodes_that_are_off_are_not_missed(trace):
    report = trace("nothing")
    assert report["dropped"] == 0


def test_a_long_kernel_is_linked_though_many_came_and_went_meanwhile(trace):
    report = trace("long", "70000", options=["--no-args"])
    assert report["activities"] == report["linked"] == 280001
    assert report["dropped"] == 0


def test_lite_has_kernels_and_no_copies(trace):
    rows = device(trace("identities", "20", options=["--mode", "lite"], rows=True))
    assert {row["operation"] for row in rows} == {"kernel"} and len(rows) == 64


def test_kernels_that_were_not_chosen_are_not_recorded_and_not_counted(trace):
    report = trace("identities", "20", options=["--kernels", "nothing_like_it"])
    assert report["activities"] == 16 and report["dropped"] == 0


def test_doctor_names_the_device_and_the_cupti(run, gputap, build, driver):
    folders = f"{driver.parent}:{build / 'soft/cuda/cupti'}"
    out = run([gputap, "doctor"], status=None, env={"LD_LIBRARY_PATH": folders}).out
    assert "gputap software CUDA device (driver for CUDA 13.0)" in out
    assert f"{build / 'soft/cuda/cupti/libcupti.so.13'} is used to record GPU activities" in out
    found = run([gputap, "doctor"], status=None,
                env={"LD_LIBRARY_PATH": folders, "SOFT_CUDA_DEVICES": "0"}).out
    assert "the driver has no device: cuInit() returns 100" in found
