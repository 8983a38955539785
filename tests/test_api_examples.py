# SPDX-License-Identifier: MIT
"""Test the programs of examples/api, which docs/reference/main.md lists as examples of the public
headers."""
import csv
import io
import os
import re
import subprocess

import pytest

from conftest import REPO

FOLDER = REPO / "examples/api"
TOOLS = ("objects", "retirement")


@pytest.fixture(scope="module")
def example(tmp_path_factory, build):
    """Return a function: example("ranges") compiles a program or tool and returns its path."""
    folder = tmp_path_factory.mktemp("examples")

    def compiled(name):
        if not (build / "examples/demo").exists():
            pytest.skip("needs OpenCL: apt install ocl-icd-opencl-dev pocl-opencl-icd")
        subprocess.run([
            "cc", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{REPO}/include",
            *(["-shared", "-fPIC"] if name in TOOLS else []), FOLDER / f"{name}.c", "-o",
            folder / name, f"-L{build}", f"-L{build}/src/plugin",
            *(["-l:libgputap-plugin.so.0", f"-Wl,-rpath,{build}/src/plugin"]
              if name.startswith("plugin") else ["-l:libgputap.so.0"]), f"-Wl,-rpath,{build}",
            "-lOpenCL", "-ldl"
        ], check=True)
        return folder / name
    return compiled


@pytest.fixture
def calls(tap, work):
    """Return a function that runs a program under `gputap run` and returns its output and the
    recorded calls."""
    def run(*words):
        out = tap("run", "-q", "-f", "-o", "a.gputap", *words).out
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = csv.DictReader(io.StringIO((work / "a.csv").read_text()))
        return out, [r for r in rows if r["kind"] == "call"]
    return run


def test_each_section_of_the_public_headers_has_an_example_that_exists():
    page = (REPO / "docs/reference/main.md").read_text()
    named = dict(re.findall(r"^\| .*?\\ref (\w+).* \| .* \| `(examples/\S+)` \|$", page, re.M))
    page_names = set(re.findall(r"\\ref (\w+)", page))
    for header in ("gputap", "tool", "plugin", "capture"):
        text = (REPO / f"include/gputap/{header}.h").read_text()
        for section in re.findall(r"^/\* (.*) -{5,} \*/$", text, re.M):
            assert re.sub(r"\W+", "_", section.lower()) in page_names, (header, section)
    assert len(named) >= 16 and [n for n in named.values() if not (REPO / n).exists()] == []
    written = {f"examples/api/{p.name}" for p in FOLDER.glob("*.c")}
    assert written <= set(named.values())


def test_the_examples_are_short():
    assert all(p.read_text().count("\n") < 90 for p in FOLDER.glob("*.c"))


def test_an_external_id_is_in_the_export(example, calls):
    _, rows = calls("--", example("external_ids"))
    ids = [r["external_user"] for r in rows if r["operation"] == "clGetPlatformIDs"]
    assert ids == ["4711", ""]


def test_the_ranges_are_recorded(example, calls):
    _, rows = calls("--", example("ranges"))
    assert [(r["operation"], r["arguments"].split('"')[1]) for r in rows] == [
        ("range_user", "load"), ("range_operator", "mm"), ("range_user", "step")] * 3
    assert "shapes=[2, 64, 32, 2, 32, 16], shape_count=6" in rows[1]["arguments"]


def test_a_window_leaves_out_a_hundred_calls(example, calls):
    out, rows = calls("--", example("windows"))
    assert out == "" and [r["operation"] for r in rows].count("clGetPlatformIDs") == 2


def test_a_context_records_the_call_between_its_start_and_its_stop(example, calls):
    out, rows = calls("--ops", "clFinish", "--", example("contexts"))
    assert out.splitlines() == ["started: 1", "started: 0"]
    assert [r["operation"] for r in rows] == ["clGetPlatformIDs"]


def test_a_table_is_wrapped(example, run):
    assert run([example("tables")]).out.splitlines() == ["1 + 2 = 3", "calls: 1"]


def test_an_event_names_the_tool_that_refuses(example, run):
    lines = run([example("events")], env={"GPUTAP_QUIET": "1"}).out.splitlines()
    assert lines[-1] == "gputap_tool_add: -1" and "reluctant" in lines[0]


def test_objects_and_retired_launches_are_printed(example, build, run):
    told = run([build / "examples/demo"], env={
        "LD_PRELOAD": build / "libgputap.so.0",
        "GPUTAP_TOOLS": os.pathsep.join(str(example(t)) for t in TOOLS)}).err
    assert re.search(r"^queue \d+ ?$", told, re.M) and "heat_step" in told
    retired = re.findall(r"^call (\d+) retired after [\d.]+ us$", told, re.M)
    assert len(retired) == len(set(retired)) > 100


def test_a_thread_of_gputap_is_announced(example, run):
    assert run([example("threads")]).out.splitlines()[:2] == [
        "gputap starts a thread", "the thread exists"]


def test_plugins_records_are_read_after_a_session_and_meanwhile(example, build, run):
    plugin = build / "soft/refdev/librefdev_pu1.so"
    out = run([example("plugin_session")], env={"KINETO_PLUGIN_PATH": plugin}).out
    assert "session is open: 1" in out and "plug-in refdev: submits" in out
    assert re.search(r"^kernel \S+ ran [\d.]+ us$", out, re.M) and "invalid records: 0" in out
    assert int(run([example("plugin_stream"), plugin]).out.split()[0]) >= 1
