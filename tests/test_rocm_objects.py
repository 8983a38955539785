# SPDX-License-Identifier: MIT
"""Test streams, code objects and kernels as objects: their lifetime in each process that creates
them."""

import json
import sqlite3

from truth import Truth


def streams_of(tap, capture):
    return json.loads(tap("info", "--json", capture).out)["streams"]


def test_each_stream_is_reported_with_its_device_from_its_creation_to_its_end(
        hip_program, softgpu, tap, work):
    truth = Truth(threads=2, streams=4, launches=3, gpus=2)
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--",
        *truth.command(hip_program("truth")),
        env={**softgpu, "SOFT_AMDGPU_GPUS": "2"})
    streams = streams_of(tap, "a.gputap")
    made = [s for s in streams if s["handle"] != "0x0"]
    assert sorted(s["device"] for s in streams if s["handle"] == "0x0") == [0, 1]
    assert sorted(s["device"] for s in made) == [0] * 4 + [1] * 4
    assert len({s["handle"] for s in made}) <= 8
    assert all(s["flags"] == "1" and 0 < s["created_ns"] < s["destroyed_ns"] for s in made)


def test_a_child_of_a_fork_has_its_parent_s_objects_in_its_part_of_the_capture(
        hip_program, softgpu, tap, work):
    result = tap("run",
                 "-q",
                 "-o",
                 "a.gputap",
                 "--",
                 hip_program("ends"),
                 "kernels:3",
                 "fork-look",
                 "kernels:4",
                 env=softgpu)
    assert f"child {6 << 8}" in result.out
    handles = {}
    for s in streams_of(tap, "a.gputap"):
        handles.setdefault(s["pid"], []).append((s["handle"], s["device"]))
    parent, child = handles.values()
    assert sorted(parent) == sorted(child) and len(parent) == 2
    tap("export", "a.gputap", "-o", "a.rocpd")
    with sqlite3.connect("a.rocpd") as db:
        loaded = db.execute(
            "select pid, count(*) from rocpd_info_code_object group by pid").fetchall()
    assert len(loaded) == 2 and loaded[0][1] == loaded[1][1] > 0
    assert [d["processes"]
            for d in json.loads(tap("info", "--json", "a.gputap").out)["devices"]] == [2]


def test_device_code_and_its_kernels_are_reported_with_what_they_ask_for(hip_program, softgpu, tap,
                                                                     work):
    truth = Truth(threads=1, streams=1, launches=2, gpus=2)
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--",
        *truth.command(hip_program("truth")),
        env={**softgpu, "SOFT_AMDGPU_GPUS": "2"})
    info = json.loads(tap("info", "--json", "a.gputap").out)
    mine = [c for c in info["code_objects"] if "truth" in c["uri"]]
    assert mine and all(c["storage"] in ("file", "memory") and c["bytes"] > 0 and c["loaded_ns"] > 0
                        for c in mine)
    assert all(c["unloaded_ns"] is None or c["unloaded_ns"] > c["loaded_ns"] for c in mine)
    for c in mine:
        kernels = [k for k in info["kernel_symbols"] if k["code"] == c["code"]]
        assert {k["name"] for k in kernels} == {"numbered", "node"} and len(kernels) == c["kernels"]
        assert {k["device"] for k in kernels} == {c["device"]}
        # granule sizes of gfx906
        assert all(
            k["vgprs"] == 4 * k["vgpr_granules"] > 0 and k["sgprs"] == 8 * k["sgpr_granules"] > 0
            for k in kernels)
        assert all(k["kernarg_bytes"] >= 28 and k["object"].startswith("0x") and k["loaded_ns"] > 0
                   for k in kernels)
    text = tap("info", "a.gputap").out
    assert "Loaded device code" in text and " more (--all shows them)" in text
    assert "  numbered\n" in tap("info", "--all", "a.gputap").out


def test_report_has_the_code_as_info_has_it_and_how_often_its_kernels_ran(
        hip_program, softgpu, tap, work):
    truth = Truth(threads=2, streams=2, launches=5, gpus=2)
    tap("run",
        "-q",
        "-o",
        "a.gputap",
        "--",
        *truth.command(hip_program("truth")),
        env={**softgpu, "SOFT_AMDGPU_GPUS": "2"})
    info, report = (json.loads(tap(command, "--json", "a.gputap").out)
                    for command in ("info", "report"))
    for table in ("code_objects", "kernel_symbols"):
        bare = [{k: v for k, v in row.items() if k not in ("dispatches", "symbols")}
                for row in report[table]]
        assert sorted(bare, key=str) == sorted(info[table], key=str) and len(bare) > 2
        counts = [row["dispatches"] for row in report[table]]
        assert counts == sorted(counts, reverse=True)
    times = {}
    for k in report["kernel_symbols"]:
        times[k["name"], k["device"]] = times.get((k["name"], k["device"]), 0) + k["dispatches"]
    ran = {(k["name"].removesuffix(".kd"), k["device"]): k["count"] for k in report["kernels"]}
    assert {k: n for k, n in times.items() if n} == ran and {d for _, d in ran} == {0, 1}
    for c in report["code_objects"]:
        assert c["dispatches"] == sum(k["dispatches"]
                                      for k in report["kernel_symbols"]
                                      if (k["pid"], k["code"]) == (c["pid"], c["code"]))
    rows = tap("report", "--csv", "-t", "kernel_symbols", "-w", "device=1",
               "a.gputap").out.splitlines()
    assert rows[0].startswith(
        "dispatches,symbols,pid,code,device,kernarg_bytes,group_bytes,private_bytes,vgprs,sgprs")
    assert sum(int(r.split(",")[0]) for r in rows[1:]) == sum(
        n for (_, d), n in ran.items() if d == 1)
    text = tap("report", "--all", "a.gputap").out
    assert (
        "Loaded device code\n  dispatches" in text
        and "Kernels in loaded code, and the resources they use\n  dispatches" in text
    )


def test_report_of_opencl_has_no_tables_of_device_code(gputap, run, build, work, tap):
    run([build / "tests/synth/synth", "-o", "a.gputap"])
    assert "Device code" not in tap("report", "--all", "a.gputap").out
    report = json.loads(tap("report", "--json", "a.gputap").out)
    assert report["code_objects"] == report["kernel_symbols"] == []
