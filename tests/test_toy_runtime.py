# SPDX-License-Identifier: MIT
"""Test that a runtime needs one description and one folder: copy the source, add the toy runtime of
tests/toy, and build the copy.

The copy reuses the objects of the build under test that the toy runtime does not change;
`make test-deep` compiles all of them."""
import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import REPO

TOY = REPO / "tests" / "toy"
STEPS = 5


def sh(*words, cwd=None):
    done = subprocess.run(list(map(str, words)),
                          cwd=cwd,
                          text=True,
                          errors="replace",
                          capture_output=True,
                          timeout=1200)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


# A compiler that copies an object if the folder `reuse` has it, and otherwise runs the real one.
REUSING_COMPILER = """#!/bin/sh
before= object=
for word; do
	[ "$before" != -o ] || object=$word
	before=$word
done
[ ! -f "REUSED/$object" ] || exec cp "REUSED/$object" "$object"
exec cc "$@"
"""


def compile_commands(build):
    """Return {object: (its name in the folder, command without the compiler)} of a build folder.
    Keys and commands are without the folder's path and that of the source tree."""
    def neutral(text):
        for path, name in ((build, "BUILD"), (build.parent, "TREE")):
            text = text.replace(str(path), name).replace(str(path).replace("/", "_"), f"_{name}")
        return text
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        command = entry["command"][entry["command"].index(" -I"):]
        found[neutral(entry["output"])] = entry["output"], neutral(command)
    return found


def dependencies(build):
    """Return {object: paths of the files that it was compiled from}."""
    found = {}
    for line in sh("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith("    "):
            files.append(build / line.strip())
        elif line:
            files = found[line.split(": ")[0]] = []
    return found


def list_reusable(build, other):
    """Return {object of @other: object of @build} for objects that the toy runtime does not change.
    It appends one entry to the list of domains in domains.h. Objects that do not expand this list
    remain the same."""
    have, compiled_from = compile_commands(build), dependencies(build)

    @functools.cache
    def is_unchanged(file):
        parts = os.path.relpath(file, build), os.path.relpath(file, build.parent)
        twin = other / parts[0] if not parts[0].startswith("..") else other.parent / parts[1]
        return parts[1].startswith("..") or twin.is_file() and (
            twin.read_bytes() == file.read_bytes())

    def is_reusable(object):
        files = compiled_from.get(object)
        return files and (build / object).exists() and all(
            file.name == "domains.h" and "GT_DOMAINS(" not in files[0].read_text()
            or is_unchanged(pathlib.Path(os.path.normpath(file))) for file in files)

    return {
        output: build / have[name][0]
        for name, (output, command) in compile_commands(other).items()
        if name in have and have[name][1] == command and is_reusable(have[name][0])
    }


def make_tree(folder, reused):
    """Build a copy of the source with the toy runtime. Return the copy. changed.json names the
    changed files."""
    for name in filter(
            None,
            sh("git", "-C", REPO, "ls-files", "-co", "--exclude-standard", "-z").split("\0")):
        if (REPO / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPO / name, folder / name)
    before = contents(folder)
    shutil.copy(TOY / "toy.api", folder / "api")
    shutil.copytree(TOY / "runtime", folder / "src" / "runtime" / "toy")
    sh(sys.executable, "-B", "tools/generate", cwd=folder)
    changed = sorted(name for name, text in contents(folder).items() if before.get(name) != text)
    library, build, compiler = TOY / "library", folder / "build", folder / "reusing-cc"
    compiler.write_text(REUSING_COMPILER.replace("REUSED", str(folder / "reused")))
    compiler.chmod(0o755)
    sh("env", f"CC={compiler}", "meson", "setup", "build", "-Dtests=false", cwd=folder)
    if reused:
        for name, object in list_reusable(reused, build).items():
            (folder / "reused" / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "reused" / name).symlink_to(object)
    sh("ninja", "-C", "build", cwd=folder)
    sh("cc", "-shared", "-fPIC", "-O2", library / "toy.c", "-o", build / "libtoy.so", "-lpthread")
    sh("cc", "-O2", library / "program.c", "-o", build / "toy_program", "-L", build, "-ltoy",
       f"-Wl,-rpath,{build}")
    sh("cc", "-shared", "-fPIC", f"-I{folder}/include", library / "tool.c", "-o",
       build / "toy_tool.so", "-L", build, build / "libgputap.so.0")
    (folder / "changed.json").write_text(json.dumps(changed))


@pytest.fixture(scope="session", params=["reused", pytest.param("compiled",
                                                                marks=pytest.mark.deep)])
def tree(request, tmp_path_factory, build):
    """Return a tree that all workers share and the first worker makes."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / f"toy-{request.param}"
    with open(base / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "changed.json").exists():
            make_tree(folder, build if request.param == "reused" else None)
    return folder


@pytest.fixture
def capture(tree, run, work):
    run([
        tree / "build/gputap", "run", "-q", "-f", "-o", "toy.gputap", tree / "build/toy_program",
        str(STEPS)
    ])
    return work / "toy.gputap"


def test_a_runtime_is_added_by_one_description_and_one_folder(tree):
    changed = json.loads((tree / "changed.json").read_text())
    by_hand = [
        name for name in changed if not name == "include/gputap/domains.h"
    ]
    assert by_hand == [
        "api/toy.api", "src/runtime/toy/meson.build", "src/runtime/toy/toy_activity.c",
        "src/runtime/toy/toy_doctor.c"
    ]


def test_its_calls_and_its_device_work_are_recorded_and_linked(tree, run, capture):
    info = json.loads(run([tree / "build/gputap", "info", "--json", capture]).out)
    assert info["seen"] == info["recorded"] == 2 + 3 * STEPS + 6 * STEPS + 3


def test_its_variable_names_us_in_programs_and_in_what_they_execute(tree, run, work):
    lines = run([
        tree / "build/gputap", "run", "-q", "-f", "-o", "toy.gputap", "sh", "-c",
        "echo \"$TOY_TOOLS\"; exec env -i sh -c 'echo \"$TOY_TOOLS\"'"
    ], env={"TOY_TOOLS": "/their/tool.so"}).out.split()
    ours = str(tree / "build/libgputap.so.0")
    assert lines == [f"{ours}:/their/tool.so", ours]


def test_it_is_listed(tree, run):
    out = run([tree / "build/gputap", "list"]).out
    assert "toy runtime" in out and "the dynamic linker's audit interface" in out


def test_its_mode_stands_beside_those_of_other_runtimes(tree, run, work):
    assert "and every call of the toy" in run([tree / "build/gputap", "run", "--help"]).out
    run([
        tree / "build/gputap", "run", "-q", "-f", "-m", "toy", "-o", "toy.gputap",
        tree / "build/toy_program",
        str(STEPS)
    ])
    info = json.loads(run([tree / "build/gputap", "info", "--json", "toy.gputap"]).out)
    assert info["mode"] == "toy"
    assert info["seen"] == info["recorded"] == 2 + 3 * STEPS + 6 * STEPS + 3


def doctor(tree, run, **env):
    report = json.loads(run([tree / "build/gputap", "doctor", "--json"], status=None, env=env).out)
    return report, {f["what"]: f for f in report["findings"] if f["area"] == "toy"}


def test_doctor_says_how_to_get_its_library(tree, run):
    report, toy = doctor(tree, run)
    assert toy["runtime"]["level"] == "note"
    assert toy["runtime"]["text"] == "libtoy.so is not installed"
    assert toy["runtime"]["hint"] == "cc -shared toy.c -o libtoy.so"
    assert toy["device"]["level"] == "bad" and "toy" not in report["traceable"]


def test_doctor_tries_it_in_its_own_way(tree, run):
    """src/runtime/toy/toy_doctor.c runs in a child of doctor."""
    report, toy = doctor(tree, run, LD_LIBRARY_PATH=str(tree / "build"))
    assert toy["runtime"]["text"] == f"{tree}/build/libtoy.so: interposition is used"
    assert (toy["device"]["level"], toy["device"]["text"]) == ("ok", "a thread of libtoy.so")
    assert "toy" in report["traceable"]


def test_it_is_among_the_runtimes_that_a_run_may_use(tree, run, work):
    err = run([tree / "build/gputap", "run", "-f", "-o", "none.gputap", "true"]).err
    assert re.search(r"no runtime that gputap can trace \(OpenCL, .*, Toy\)", err), err


def test_its_kernels_are_reported_by_name(tree, run, capture):
    rows = json.loads(run([tree / "build/gputap", "report", "--json", capture]).out)
    text = json.dumps(rows)
    assert "scale" in text and "toy_launch" in text and "TOY_BAD_STREAM" in text


def test_its_ranges_and_links_are_exported(tree, run, capture, work):
    run([tree / "build/gputap", "export", capture, "-o", "toy.json"])
    events = json.loads((work / "toy.json").read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    calls = {
        e["args"]["correlation"]
        for e in events
        if e.get("name") == "toy_launch" and "correlation" in e.get("args", {})
    }
    assert len(kernels) == 2 * STEPS and {e["args"]["correlation"] for e in kernels} <= calls
    assert sum(e.get("name") == "step" and e.get("ph") == "X" for e in events) == STEPS


def test_a_tool_is_notified_of_it(tree, run, work):
    done = run([
        tree / "build/gputap", "run", "-q", "-f", "-o", "toy.gputap", "--tool",
        tree / "build/toy_tool.so", tree / "build/toy_program",
        str(STEPS)
    ])
    assert (
        f"{2 + 6 * STEPS + 3} calls, {2 * STEPS} kernels, {STEPS} of them scale, {STEPS} copies"
        in done.out
    )
