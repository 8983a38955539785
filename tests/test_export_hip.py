# SPDX-License-Identifier: MIT
"""Test RPD and rocpd files of a real HIP program: launches, copies and a graph have the names that
RPD's tools expect."""

import collections
import contextlib
import csv
import shutil
import sqlite3
import subprocess

import pytest

from conftest import run_command
from test_export_rpd import python, upstream # a fixture  # noqa: F401
from truth import Capture, Truth, number


@pytest.fixture(scope="session")
def capture(tmp_path_factory, repo, gputap, hip_headers, softgpu):
    """Export a run of tests/hip/graph.hip, which has 4 launches, 3 captured launches that run
    twice, a memset and two memcpys."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder = tmp_path_factory.mktemp("graph")
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O2", "-w", repo / "tests/hip/graph.hip", "-o",
        folder / "graph"
    ],
                   check=True)
    result = run_command([gputap, "run", "-q", "-o", folder / "t.gputap", folder / "graph"],
                         env=softgpu)
    assert result.out == "10\n"
    return folder / "t.gputap"


@pytest.fixture
def rpd(capture, gputap, work):
    run_command([gputap, "export", capture, "-o", work / "t.rpd"])
    return work / "t.rpd"


def query(path, sql):
    with sqlite3.connect(path) as db:
        return db.execute(sql).fetchall()


def test_rpd_has_every_call_and_work_item_and_is_sound(rpd):
    assert query(rpd, "PRAGMA integrity_check") == [("ok", )
                                                    ] and not query(rpd, "PRAGMA foreign_key_check")
    calls = dict(query(rpd, "SELECT apiName, count(*) FROM api WHERE domain = 'hip' GROUP BY 1"))
    assert (
        calls["hipLaunchKernel"] == 7 and calls["hipGraphLaunch"] == 2 and calls["hipMemcpy"] == 2
    )
    assert query(rpd, "SELECT count(*) FROM op WHERE description LIKE '%add%'") == [(10,)]
    assert {"FillBuffer", "CopyHostToDevice",
            "CopyDeviceToHost"} <= {row[0] for row in query(rpd, "SELECT DISTINCT opType FROM op")}


def test_rpd_links_all_kernels_of_a_graph_to_their_launch(rpd):
    rows = query(
        rpd,
        "SELECT a.apiName, count(*) FROM rocpd_api_ops l JOIN api a ON a.id = l.api_id JOIN op o ON"
        " o.id = l.op_id WHERE o.description LIKE '%add%' GROUP BY a.id ORDER BY a.id",
    )
    assert rows == [("hipLaunchKernel", 1)] * 4 + [("hipGraphLaunch", 3)] * 2


def test_rpd_has_a_launch_row_of_every_launch_captured_ones_too(rpd):
    rows = query(
        rpd,
        "SELECT a.apiName, k.stream, k.gridX, k.workgroupX, s.string FROM rocpd_kernelapi k JOIN"
        " api a ON a.id = k.api_ptr_id JOIN rocpd_string s ON s.id = k.kernelName_id ORDER BY a.id",
    )
    [(stream, graph)] = query(
        rpd,
        "SELECT substr(args, instr(args, 'stream=') + 7), substr(args, 11, instr(args, ' |') - 11)"
        " FROM api WHERE apiName = 'hipGraphLaunch' LIMIT 1",
    )
    assert [row[:4] for row in rows
            ] == [("hipLaunchKernel", stream, 4, 64)] * 7 + [("hipGraphLaunch", stream, 0, 0)] * 2
    assert all("add" in row[4]
               for row in rows[:7]) and {row[4] for row in rows[7:]} == {f"Graph Kernel ({graph})"}


def test_rpd_names_arguments_as_rpd_does(rpd):
    args = dict(
        query(rpd, "SELECT apiName, args FROM api WHERE domain = 'hip' AND apiName != 'hipMemcpy'"))
    address = args["hipFree"].removeprefix("ptr=")
    assert args["hipMalloc"] == f"ptr={address} | size=0x400" and address.startswith("0x")
    assert args["hipStreamEndCapture"].split(" | ")[1].startswith("graph=0x")
    assert args["hipGraphInstantiate"].startswith(
        "graphExec=0x") and " | graph=0x" in args["hipGraphInstantiate"]


def test_rpd_copies_say_whether_the_call_waited(rpd):
    assert query(rpd, "SELECT kind, size, sync FROM rocpd_copyapi ORDER BY 1") == [(1, 1024, 1),
                                                                                   (2, 1024, 1)]


def test_rocpd_has_allocations_dispatches_copies_and_kernels_with_their_code_objects(
        capture, gputap, work):
    run_command([gputap, "export", capture, "-o", work / "t.rocpd"])
    path = work / "t.rocpd"
    assert query(path, "PRAGMA integrity_check") == [
        ("ok", )
    ] and not query(path, "PRAGMA foreign_key_check")
    [(address, _), (freed, _)] = allocations = query(
        path, "SELECT address, size FROM memory_allocations ORDER BY start")
    assert [size for _, size in allocations] == [1024, 1024] and address == freed
    assert query(
        path,
        "SELECT count(*) FROM kernels WHERE name LIKE '%add%' AND category = 'KERNEL_DISPATCH'"
    ) == [(10, )]
    assert query(path, "SELECT name, size FROM memory_copies ORDER BY start") == \
        [("MEMORY_COPY_HOST_TO_DEVICE", 1024), ("MEMORY_COPY_DEVICE_TO_HOST", 1024)]
    rows = query(
        path,
        "SELECT r.name, count(*) FROM kernels k JOIN regions r ON r.stack_id = k.stack_id WHERE"
        " k.name LIKE '%add%' GROUP BY 1",
    )
    assert sorted(rows) == [("hipGraphLaunch", 6), ("hipLaunchKernel", 4)]
    assert query(path,
                 "SELECT DISTINCT category FROM regions ORDER BY 1") == [("HIP_COMPILER_API", ),
                                                                         ("HIP_RUNTIME_API", )]


def test_rocpd_graph_of_rpd_finds_the_graph_and_its_kernels(rpd, upstream): # noqa: F811
    python(upstream, "-m", "rocpd.graph", rpd)
    [(graph, instance)] = query(rpd, "SELECT graph, graphExec FROM ext_graph")
    assert query(rpd,
                 "SELECT DISTINCT graph, graphExec FROM rocpd_graphapi WHERE graphExec != ''") == [
                     (graph, instance)
                 ]
    assert query(
        rpd,
        "SELECT count(*) FROM ext_graph_kernelapis e JOIN api a ON a.id = e.api_id WHERE a.apiName"
        " = 'hipLaunchKernel'",
    ) == [(3,)]


# rocpd against the known actions of the program -----------------------------------

TRUTH = Truth(threads=2, streams=3, launches=20, copies=2, graphs=3, nodes=6)


@pytest.fixture(scope="module")
def known(hip_program, softgpu, gputap, tmp_path_factory):
    """Return the path of the rocpd file of tests/hip/truth.hip, and the contents of the same
    capture as the CSV export shows them."""
    folder = tmp_path_factory.mktemp("known")
    run_command([
        gputap, "run", "-q", "-o", folder / "t.gputap", "--", *TRUTH.command(hip_program("truth"))
    ],
                env=softgpu)
    for name in ("t.rocpd", "t.csv"):
        run_command([gputap, "export", folder / "t.gputap", "-o", folder / name])
    found = Capture(folder / "t.csv")
    TRUTH.check(found)
    return folder / "t.rocpd", found


def test_rocpd_views_give_every_dispatch_of_launches_and_graphs_with_its_sizes(known):
    path, found = known
    rows = query(
        path,
        "SELECT k.name, k.start, k.end, k.grid_x / k.workgroup_x, k.grid_y / k.workgroup_y,"
        " k.grid_z / k.workgroup_z, k.workgroup_x, k.workgroup_y, r.name, r.start FROM kernels k"
        " JOIN regions r ON r.stack_id = k.stack_id WHERE k.name IN ('numbered', 'node')",
    )
    seen = collections.Counter((name, number(sizes[:3], sizes[3:]), start, end, call, at)
                               for name, start, end, *sizes, call, at in rows)
    assert seen == collections.Counter(
        (row["name"], row["number"], row["start"], row["end"], found.call_of(row)["operation"],
         found.call_of(row)["start"])
        for name in ("numbered", "node")
        for row in found.kernels(name))
    assert query(path, "SELECT count(*) FROM kernels") == query(
        path, "SELECT count(*) FROM rocpd_kernel_dispatch")
    assert dict(query(
        path, "SELECT name, total_calls FROM top_kernels"))["node"] == TRUTH.replayed.total()


def test_rocpd_views_give_every_copy_with_its_bytes_and_agents(known):
    path, found = known
    words = {"memcpy H2D": "HOST_TO_DEVICE", "memcpy D2H": "DEVICE_TO_HOST",
             "memcpy D2D": "DEVICE_TO_DEVICE"}
    copies = collections.Counter(
        (f"MEMORY_COPY_{words[row['operation']]}", row["start"], row["end"], int(row["bytes"]),
         found.call_of(row)["start"]) for row in found.device if row["operation"] in words)
    assert copies.total() >= TRUTH.lanes * TRUTH.copies * 4
    assert collections.Counter(
        query(
            path, "SELECT m.name, m.start, m.end, m.size, r.start FROM memory_copies m "
            "JOIN regions r ON r.stack_id = m.stack_id")) == copies
    assert set(query(path, "SELECT name, src_agent_type, dst_agent_type FROM memory_copies")) == {
        ("MEMORY_COPY_HOST_TO_DEVICE", "CPU", "GPU"), ("MEMORY_COPY_DEVICE_TO_HOST", "GPU", "CPU"),
        ("MEMORY_COPY_DEVICE_TO_DEVICE", "GPU", "GPU")}


def test_rocpd_has_each_call_once_and_loses_no_work(known):
    path, found = known
    assert collections.Counter(
        query(path, "SELECT name, start, end, tid FROM regions")
    ) == collections.Counter(
        (call["operation"], call["start"], call["end"], int(call["tid"]))
        for call in found.calls.values()
    )
    assert sum(
        query(path, f"SELECT count(*) FROM {view}")[0][0]
        for view in ("kernels", "memory_copies")) == len(found.device)
    assert query(path, "PRAGMA integrity_check") == [
        ("ok", )
    ] and not query(path, "PRAGMA foreign_key_check")


def test_a_copy_between_devices_has_both(softgpu, build, tap, work):
    tap("run",
        "-q",
        "-o",
        "p.gputap",
        "--",
        build / "tests/soft/hip_soft",
        "peers",
        env={**softgpu, "SOFT_AMDGPU_GPUS": "3"})
    for name in ("p.rpd", "p.rocpd", "p.csv"):
        tap("export", "p.gputap", "-o", name)
    with contextlib.closing(sqlite3.connect("p.rpd")) as db:
        assert db.execute(
            "SELECT c.srcDevice, c.dstDevice FROM rocpd_copyapi c JOIN rocpd_api a ON a.id ="
            " c.api_ptr_id JOIN rocpd_string s ON s.id = a.apiName_id WHERE s.string ="
            " 'hipMemcpyPeer' ORDER BY a.start"
        ).fetchall() == [(0, 1), (1, 2)]
    with contextlib.closing(sqlite3.connect("p.rocpd")) as db:
        assert db.execute(
            "SELECT f.type_index, t.type_index FROM rocpd_memory_copy c JOIN rocpd_info_agent f ON"
            " f.id = c.src_agent_id JOIN rocpd_info_agent t ON t.id = c.dst_agent_id WHERE f.type ="
            " 'GPU' AND t.type = 'GPU' ORDER BY c.start"
        ).fetchall() == [(0, 1), (1, 2)]
    with open("p.csv", newline="") as file:
        copies = [
            row for row in csv.DictReader(file)
            if row["kind"] == "device" and row["operation"] == "memcpy D2D"
        ]
    assert len(copies) == 2 and not any(row["local_x"] or row["local_y"] for row in copies)
