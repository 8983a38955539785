# SPDX-License-Identifier: MIT
"""Test the reference accelerator as a runtime that gputap traces. Such a runtime needs one
description and one folder."""
import json
import re

import pytest
from test_refdev import library, plugin, program  # noqa: F401: fixtures


def nodes(export, name="kernel"):
    return [e for e in export["traceEvents"] if e.get("cat") == name]


@pytest.fixture
def capture(tap, program, work):
    def make(*words, env=None):
        tap("run", "-q", "-f", "-o", "r.gputap", program, *words, env=env)
        return json.loads(tap("info", "--json", "r.gputap").out)
    return make


@pytest.mark.parametrize("words, device_work", [
    (["steps", "50"], 50 * 9),
    (["driver", "10"], 20),
    (["threads", "500"], 2000),
])
@pytest.mark.parametrize("clock", ["hz=1000000000", "hz=19200000,epoch=5s"])
def test_all_its_device_work_is_recorded_and_linked(capture, words, device_work, clock):
    info = capture(*words, env={"REFDEV_CLOCK": clock})
    assert info["activities"] == info["linked"] == device_work
    assert info["seen"] == info["recorded"] and info["untimed"] == 0


def test_devices_streams_and_the_library_are_listed(capture, tap):
    info = capture("steps", "2")
    assert info["runtimes"][0]["domain"] == "refdev"
    assert [d["name"] for d in info["devices"]] == ["refdev 0"]


def test_kernels_copies_fills_and_graphs_are_in_the_report(capture, tap):
    capture("steps", "4")
    rows = json.loads(tap("report", "--json", "--top", "0", "r.gputap").out)
    text = json.dumps(rows)
    assert all(name in text for name in ("scale", "add", "refdevGraphLaunch", "refdev 0"))
    csv = tap("report", "--csv", "--table", "kernels,copies,graphs", "r.gputap").out
    assert re.search(r"scale", csv) and re.search(r"memcpy H2D", csv)
    assert re.search(r"^graphs,.*", csv, re.M)


def test_calls_that_wait_are_split_into_their_parts(capture, tap):
    capture("steps", "4")
    rows = json.loads(tap("report", "--json", "--top", "0", "r.gputap").out)["operations"]
    waits = {o["name"]: o for o in rows if o["wait_ns"] is not None}
    for name in ("refdevStreamSynchronize", "refdevDeviceSynchronize"):
        assert waits[name]["unattributed_ns"] == 0 and waits[name]["total_ns"] > 0


def test_a_graphs_nodes_are_told_apart_in_exports(capture, tap, work):
    capture("steps", "4")
    tap("export", "r.gputap", "-o", "r.json")
    export = json.loads((work / "r.json").read_text())
    kernels = nodes(export)
    assert len(kernels) == 4 * 4
    calls = {
        e["args"]["correlation"]: e["name"]
        for e in export["traceEvents"]
        if e.get("name", "").startswith("refdev") and "correlation" in e.get("args", {})
    }
    of = [calls[e["args"]["correlation"]] for e in kernels]
    assert sorted(of) == ["refdevGraphLaunch"] * 8 + ["refdevLaunchKernel"] * 8
    assert all(e["args"]["grid"] == [8, 1, 1] and e["args"]["block"] == [32, 1, 1]
               for e in kernels)


@pytest.mark.parametrize("form", ["pftrace", "rpd", "db", "csv"])
def test_it_is_exported_in_all_formats(capture, tap, work, form):
    capture("steps", "2")
    format_of = {"pftrace": "perfetto", "rpd": "rpd", "db": "rocpd", "csv": "csv"}[form]
    tap("export", "r.gputap", "--format", format_of, "-o", f"r.{form}")
    assert (work / f"r.{form}").stat().st_size > 0


def test_kernels_lie_inside_of_their_calls_wait(capture, tap, work):
    capture("driver", "20", env={"REFDEV_CLOCK": "hz=1000000000,drift=500ppm"})
    tap("export", "r.gputap", "-o", "r.json")
    events = json.loads((work / "r.json").read_text())["traceEvents"]
    launches = {e["args"]["correlation"]: e for e in events
                if e.get("name") == "refdevDrvLaunchKernel"}
    for kernel in [e for e in events if e.get("cat") == "kernel"]:
        assert kernel["ts"] >= launches[kernel["args"]["correlation"]]["ts"]


def test_a_program_gives_the_same_with_and_without_gputap(run, tap, program, work):
    env = {"REFDEV_FAULTS": "malloc:3"}
    bare = run([program, "errors"], env=env)
    assert tap("run", "-q", "-f", "-o", "r.gputap", program, "errors", env=env).out == bare.out


def test_its_calls_that_fail_have_the_name_of_their_status(capture, tap):
    capture("errors", env={"REFDEV_FAULTS": "malloc:3"})
    assert "refdevErrorInvalid" in tap("report", "r.gputap", "--top", "0").out


def test_gputap_and_the_plugin_may_both_listen(tap, run, plugin, build, repo, work):
    """One library has two subscribers, as with the torch bridge under gputap run."""
    host, library = work / "host", build / "src/plugin/libgputap-plugin.so.0"
    run([
        "cc", "-D_GNU_SOURCE", f"-I{repo}/include", repo / "tests/plugin/host.c", "-o", host,
        library, f"-Wl,-rpath,{library.parent}", "-ldl"
    ])
    copies = work / "plugins"
    copies.mkdir()
    for file in (plugin, plugin.parent / "librefdev.so.1"):
        (copies / file.name).write_bytes(file.read_bytes())
    result = tap("run", "-q", "-f", "-o", "both.gputap", host, "pieces=30", "list",
                 env={
                     "KINETO_PLUGIN_PATH": copies / plugin.name,
                     "HOME": work,
                     "LD_LIBRARY_PATH": copies
                 })
    assert "name=refdev" in result.out and "kind 1 11\nkind 2 11\nkind 3 11" in result.out
    info = json.loads(tap("info", "--json", "both.gputap").out)
    assert info["activities"] == info["linked"] == 33
