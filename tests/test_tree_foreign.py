# SPDX-License-Identifier: MIT
"""Test programs with another word size, and programs that use the musl C library. They start
without libraries that their dynamic linker would complain about, and are named as not traced.

The tests need no 32-bit C library, because they provide the dynamic linker of these programs, which
writes the environment that it received."""

import json
import os
import pathlib
import platform
import shutil
import subprocess

import pytest

import conftest
from processes import Tree
from rings import Session
from test_core_exec import WAYS as EXEC_WAYS

WHY = "it is built for another architecture or word size"
MUSL = "it uses the musl C library, which cannot load gputap's libraries"


@pytest.fixture
def tree(build, work):
    return Tree(build)


@pytest.fixture
def programs(tree, work, run):
    """Build a program with a 32-bit dynamic linker, and a statically linked program."""
    if platform.machine() != "x86_64":
        pytest.skip("needs a processor that runs 32-bit x86 programs")
    compile_it = [
        "gcc", "-m32", "-O1", "-nostdlib", "-ffreestanding", "-fno-stack-protector",
        "-fcf-protection=none", conftest.REPO / "tests/tree/foreign.c"
    ]
    run([*compile_it, "-static", "-no-pie", "-o", "static32"])
    run([*compile_it, "-fPIE", "-pie", f"-Wl,--dynamic-linker={work}/static32", "-o", "dynamic32"])
    try:
        subprocess.run([work / "dynamic32"], stdout=subprocess.DEVNULL)
    except OSError:
        pytest.skip("the kernel runs no 32-bit programs")
    return work / "dynamic32", work / "static32"


def variables(result):
    return dict(line.split("=", 1) for line in result.out.splitlines() if "=" in line)


def untraced(tap):
    """Return info's text about programs that were not traced, and the count in the headline."""
    found = json.loads(tap("info", "c.gputap", "--json").out)
    report = json.loads(tap("report", "c.gputap", "--json").out)
    return [e["text"]
            for e in found["events"]
            if e["event"] == "not traced"], report["files"][0]["untraced"]


WAYS = {
    "exec": "{}",
    "fork": "sh -c '{}; exit $?'",
    "cleaned environment": "env -i {}",
    "posix_spawn": (
        "python3 -c 'import subprocess, sys; sys.exit(subprocess.run([\"{}\"]).returncode)'"
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_dynamic_linker_of_another_word_size_gets_no_library_of_ours(tree, run, programs, way):
    result = tree.run("-c", f"exec {WAYS[way].format(programs[0])}", program="sh", status=5)
    got = variables(result)
    assert "LD_PRELOAD" not in got and "LD_AUDIT" not in got, got
    assert "GPUTAP_SESSION" in got


def test_run_itself_starts_it_without_and_says_so(tree, tap, programs):
    result = tree.run(program=programs[0], status=5)
    assert "LD_PRELOAD" not in variables(result) and "LD_AUDIT" not in variables(result)
    note = " ".join(result.err.split())
    assert (
        "cannot be traced because it is a 32-bit program and gputap's libraries are 64-bit" in note
    )
    assert "can still be traced" not in note and "1 process not traced" not in note
    assert untraced(tap) == ([
        f"{programs[0]}: it is a 32-bit program and gputap's libraries are 64-bit"
    ], 1)


def test_what_the_user_had_there_stays(tree, programs):
    users = {"LD_PRELOAD": "libm.so.6", "LD_AUDIT": "/nowhere/audit.so"}
    assert users.items() <= variables(tree.run(program=programs[0], env=users, status=5)).items()
    script = f"LD_PRELOAD=$LD_PRELOAD:libm.so.6 exec {programs[0]}"
    result = tree.run("-c", script, program="sh", capture="d.gputap", status=5)
    assert variables(result)["LD_PRELOAD"] == "libm.so.6"


def test_it_is_named_and_counted(tree, tap, programs):
    result = tree.run("-c", f"{programs[0]} >&-; exit 3", program="sh", options=["-q"], status=3)
    assert " ".join(result.err.split()) == f"gputap: 1 process not traced: dynamic32 ({WHY})"
    assert untraced(tap) == ([f"{programs[0]}: {WHY}"], 1)


def test_a_statically_linked_one_keeps_what_traces_its_children(tree, tap, programs):
    """A statically linked program has no dynamic linker that could complain, and passes the
    environment on."""
    tree.run("-c", f"{programs[1]} {tree.caller} calls:3 exit:4", program="sh", status=4)
    assert untraced(tap) == ([f"{programs[1]}: {WHY}, and statically linked"], 1)
    assert sum(p["calls"] for p in tree.read()["processes"]) == 4
    result = tree.run(programs[1],
                      tree.caller,
                      "calls:3",
                      "exit:4",
                      program=programs[1],
                      capture="d.gputap",
                      status=4)
    assert "programs that it starts can still be traced" in " ".join(result.err.split())
    assert sum(p["calls"] for p in tree.read("d.gputap")["processes"]) == 4


def test_a_program_for_another_machine_is_refused_as_without_us(tree, run, programs, work):
    """The kernel refuses the program. The shell's message and status do not change."""
    image = bytearray(programs[0].read_bytes())
    image[18:20] = (22).to_bytes(2, "little")  # EM_S390
    (work / "foreign").write_bytes(image)
    (work / "foreign").chmod(0o755)
    bare = run(["sh", "-c", f"{work}/foreign; exit $?"], status=None)
    assert tree.run("-c", f"{work}/foreign; exit $?", program="sh",
                    status=None).status == bare.status


@pytest.fixture
def musl(tree, work, run):
    """Build a program that is dynamically linked with musl."""
    if not shutil.which("musl-gcc"):
        pytest.skip("needs musl's C library: apt install musl-tools")
    run(["musl-gcc", "-o", "musl", conftest.REPO / "tests/tree/musl.c"])
    return work / "musl"


def without_libraries(result):
    got = variables(result)
    return "GPUTAP_SESSION" in got and "LD_PRELOAD" not in got and "LD_AUDIT" not in got


@pytest.mark.parametrize("way", EXEC_WAYS)
def test_a_program_of_musl_starts_whoever_executes_it(build, musl, way):
    with Session(build) as session:
        result = session.run([build / "tests/core/exec_ways", way, musl], status=5)
        assert without_libraries(result), result
        (event,) = [e for e in session.kind("event") if e["op"] == 4]
        assert event["text"] == (MUSL if way == "fexecve" else f"{musl}: {MUSL}")


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_a_script_that_a_program_of_musl_runs_starts(tree, tap, musl, work, levels):
    """The kernel follows a chain of interpreters that are scripts."""
    interpreter = f"{musl} -e"
    for level in range(levels):
        script = work / f"script{level}"
        script.write_text(f"#!{interpreter}\n")
        script.chmod(0o755)
        interpreter = script
    result = tree.run("-c", f"{script}; exit $?", program="sh", options=["-q"], status=5)
    assert without_libraries(result), result
    assert f"{script}: {MUSL}" in untraced(tap)[0]


def test_run_itself_starts_a_program_of_musl_and_says_that_it_is_not_traced(tree, tap, musl):
    result = tree.run(program=musl, status=5)
    assert without_libraries(result), result
    assert f"cannot be traced because {MUSL}" in " ".join(result.err.split())
    assert "programs that it starts can still be traced" not in result.err
    assert untraced(tap) == ([f"{musl}: {MUSL}"], 1)


def test_musls_dynamic_linker_as_a_program_gets_no_library_of_ours(tree, tap, musl):
    (linker,) = [
        p for p in pathlib.Path("/lib").glob("ld-musl-*.so.1") if platform.machine() in p.name
    ]
    assert without_libraries(tree.run(musl, program=linker, status=5))
    assert without_libraries(
        tree.run("-c", f"{linker} {musl}; exit $?", program="sh", options=["-f"], status=5))
    assert untraced(tap) == ([f"{linker}: {MUSL}"], 1)


def test_the_dynamic_linker_of_glibc_as_a_program_is_traced(tree, tap):
    """`ld.so PROGRAM` has no interpreter but is not a static program."""
    linker = f"/lib64/ld-linux-{platform.machine().replace('_', '-')}.so.2"
    if not os.path.exists(linker):
        linker = f"/lib/ld-linux-{platform.machine()}.so.1"
    tree.run("-c", f"{linker} {tree.caller} calls:3 exit:4; exit $?", program="sh", status=4)
    assert untraced(tap) == ([], 0)
    assert sum(p["calls"] for p in tree.read()["processes"]) == 4


def test_what_a_program_of_musl_starts_is_named(tree, tap, musl):
    """The started program lacks LD_PRELOAD, which no library in its parent could restore. OpenCL's
    own variable is set, so OpenCL calls are recorded."""
    tree.run("-c", f"{musl} {tree.caller} sleep:3000 calls:3 exit:4; exit $?", program="sh",
             status=4)
    why = "it was started without LD_PRELOAD, so only runtimes that load gputap are traced"
    texts, count = untraced(tap)
    assert sorted(texts) == sorted([f"{musl}: {MUSL}", f"{tree.caller}: {why}"]) and count == 2
    assert sum(p["calls"] for p in tree.read()["processes"]) == 4
