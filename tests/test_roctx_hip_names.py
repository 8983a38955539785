# SPDX-License-Identifier: MIT
"""Test names that a HIP program sets with ROCTx. Reports and exports use these names for threads,
devices and streams."""

import json
import sqlite3
import subprocess

import pytest


@pytest.fixture(scope="module")
def program(hip_headers, tmp_path_factory, repo, build):
    path = tmp_path_factory.mktemp("names") / "names"
    subprocess.run([
        "hipcc", "--offload-arch=gfx906", "-O1", "-w", f"-I{repo}/include",
        repo / "tests/rocm/names.hip", "-o", path, f"-L{build}/src/compat/roctx",
        "-l:libroctx64.so.4", "-lhsa-runtime64"
    ],
                   check=True)
    return path


@pytest.fixture
def info(program, softgpu, tap):
    def run(*words):
        tap("run", "-q", "-f", "-o", "a.gputap", "--", program, *words, env=softgpu)
        return json.loads(tap("info", "--json", "a.gputap").out)
    return run


@pytest.mark.parametrize("words, name", [([], "card of ours"), (["agent"], "agent of ours")])
def test_a_device_is_called_as_the_program_calls_it(info, tap, work, words, name):
    found = info(*words)
    assert [d["label"] for d in found["devices"]] == [name]
    assert found["devices"][0]["name"].startswith("Software GPU")  # the device type is still shown
    assert name in tap("report", "--all", "a.gputap").out
    tap("export", "a.gputap", "-o", "a.rpd")
    with sqlite3.connect("a.rpd") as db:
        assert {row[0]
                for row in db.execute("SELECT device FROM gputap_queue")} == {f"device 0: {name}"}


def test_a_stream_is_called_as_the_program_calls_it(info):
    streams = [s for s in info()["streams"] if s["handle"] != "0x0"]
    assert [s["name"] for s in sorted(streams, key=lambda s: s["created_ns"])] == [None, "compute"]
    assert all(s["flags"] == "0" for s in streams)


def test_a_thread_is_called_by_the_last_name_it_got_whole(info, tap, work):
    info()
    name = "the launching thread with a long name"
    for out in ("a.rpd", "a.json"):
        tap("export", "a.gputap", "-o", out)
    with sqlite3.connect("a.rpd") as db:
        assert (name,) in db.execute("SELECT name FROM gputap_thread").fetchall()
    events = json.loads((work / "a.json").read_text())["traceEvents"]
    assert any(
        e["name"] == "thread_name" and name in e["args"]["name"] for e in events if e["ph"] == "M")
    assert name in tap("report", "a.gputap", "--table", "threads").out
