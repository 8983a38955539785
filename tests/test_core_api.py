# SPDX-License-Identifier: MIT
"""Test the public C API, the libraries' exports and imports, and tools that install functions in
tables."""

import re
import shutil
import subprocess

import pytest

from rings import Session


def dynamic(path):
    return subprocess.run(["readelf", "-dW", path], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def exports(path):
    text = subprocess.run(["readelf", "--dyn-syms", "-W", path],
                          stdout=subprocess.PIPE,
                          text=True,
                          check=True).stdout
    found = set()
    for line in text.splitlines():
        parts = line.split()
        if len(parts) >= 8 and parts[4] in ("GLOBAL", "WEAK") and parts[6] not in ("UND", "ABS"):
            found.add(parts[7])
    return found


def test_the_injected_library_needs_libc_only(build):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic(build / "libgputap.so.0"))
    assert set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2"}
    assert "libgputap.so.0" in re.findall(r"\(SONAME\).*\[(.*)\]", dynamic(
        build / "libgputap.so.0"))


def test_the_audit_library_needs_nothing_and_exports_what_the_linker_and_hsa_call(build):
    assert "(NEEDED)" not in dynamic(build / "libgputap-audit.so")
    assert exports(build / "libgputap-audit.so") == {
        "la_version", "la_objopen", "la_objclose", "la_objsearch", "OnLoad"
    }


def test_exported_symbols_are_those_of_the_list(build, repo):
    listed = {
        line.split()[0]
        for line in (repo / "docs/reference/symbols.txt").read_text().partition(
            "# libgputap-plugin")[0].splitlines() if line and line[0] != "#"
    }
    found = exports(build / "libgputap.so.0")
    assert {name.split("@")[0] for name in found} == listed
    public = {
        name for name in listed
        if name.startswith("gputap_") and not name.startswith("gputap_attach")
    }
    assert {name.split("@")[0] for name in found if name.endswith("@@GPUTAP_0")} == public


def test_a_context_records_while_it_is_started(build):
    with Session(build, noops=1, device=0) as session:
        result = session.run([build / "tests/core/api_program", "contexts"])
        assert result.out.splitlines() == ["create 0", "create 0", "number 1", "newer 1", "null 1"]
        assert session.calls("api_program") == ["clGetPlatformIDs"] * 4
        assert session.counts("api_program") == (4, 4, 0)


def test_without_a_session_contexts_say_so(build, run):
    result = run([build / "tests/core/api_program", "contexts"])
    assert result.out.splitlines() == [
        "create -107", "create -107", "number 1", "newer 1", "null 1"
    ]


def test_external_ids_are_recorded_around_calls(build):
    with Session(build) as session:
        result = session.run([build / "tests/core/api_program", "externals"])
        assert result.out.splitlines() == [
            "push 0", "push 0", "push 0", "pop 0 33", "pop 0 22", "empty 1", "pop 0", "stack 1",
            "deep 1"
        ]
        story = [(r["kind"], r.get("op") if r["kind"] == "external" else None, r["depth"],
                  r.get("value"))
                 for r in session.records("api_program")
                 if r["kind"] in ("call", "external")]
        assert story[:8] == [
            ("external", 0, 1, 11), ("external", 1, 1, 22), ("call", None, 0, None),
            ("external", 1, 1, 33), ("call", None, 0, None), ("external", 1, 0, 33),
            ("external", 1, 0, 22), ("external", 0, 0, 11)
        ]
        assert len(story) == 8 + 2 * 250


def test_external_stacks_work_the_same_without_a_session(build, run):
    with Session(build) as session:
        assert run([build / "tests/core/api_program", "externals"]).out == \
            session.run([build / "tests/core/api_program", "externals"]).out


def test_events_are_notified_to_subscribers(build):
    with Session(build) as session:
        program = build / "tests/core/static_program"
        result = session.run([build / "tests/core/api_program", "events", program], status=7)
        assert result.out.splitlines() == [
            "subscribe 0", "subscribe 1", f"event 4 {program}: it is statically linked heard"
        ]


@pytest.mark.parametrize("order", [("first", "second"), ("second", "first")], ids="-".join)
def test_two_tools_chain_in_the_order_in_which_they_subscribed(build, order):
    with Session(build, device=0) as session:
        tools = ":".join(str(build / f"tests/core/libtool_{name}.so") for name in order)
        result = session.run([build / "tests/interception/way_linked"],
                             env={"LD_PRELOAD": f"{session.library}:{tools}"})
        lines = [line for line in result.out.splitlines() if not line.startswith("cl")]
        inner, outer = [line.split()[0] for line in lines[:2]]
        assert {inner, outer} == {"first", "second"}
        # the dynamic linker runs the constructor of the last preloaded library first
        assert [inner, outer] == list(reversed(order))
        assert lines[2:] == [
            f"{outer} before", f"{inner} before", f"{inner} after", f"{outer} after"
        ]
        made = [line for line in result.out.splitlines() if line.startswith("cl")]
        assert session.calls("way_linked") == made


def test_a_tool_works_where_nothing_is_asked_for(build):
    with Session(build, noops=1, device=0) as session:
        tools = str(build / "tests/core/libtool_first.so")
        result = session.run([build / "tests/interception/way_linked"],
                             env={"LD_PRELOAD": f"{session.library}:{tools}"})
        assert "first before" in result.out and "first after" in result.out
        assert session.calls() == []


@pytest.mark.parametrize("compiler, name", [("cc", "use.c"), ("c++", "use.cc")])
def test_the_header_compiles_alone(repo, run, work, compiler, name):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    (work /
     name).write_text("#include <gputap/gputap.h>\nint main() { return (int)gputap_version(); }\n")
    run([compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{repo}/include", "-c", name])
