# SPDX-License-Identifier: MIT
"""Test the ways in which programs reach OpenCL, through the layer method and through interposition:
every call is seen exactly once."""

import csv
import json
import shutil
import subprocess

import pytest

from rings import Session

WAYS = {
    "linked": ["way_linked"],
    "dlopen_global": ["way_plugin", "libway_plugin_linked.so", "global"],
    "dlopen_local": ["way_plugin", "libway_plugin_linked.so", "local"],
    "dlopen_deepbind": ["way_plugin", "libway_plugin_linked.so", "deepbind"],
    "dlsym": ["way_dlsym"],
    "pointer_table": ["way_table"],
}


@pytest.fixture(params=["layer", "interposition"])
def method(request):
    return request.param


def command(build, way):
    folder = build / "tests/interception"
    return [folder / part if part.startswith(("way", "lib")) else part for part in WAYS[way]]


def environment(build, method):
    """Return the environment that selects the program's libOpenCL.so.1: Debian's, which supports
    layers, or the test library, which does not."""
    return {} if method == "layer" else {"LD_LIBRARY_PATH": build / "tests/interception"}


@pytest.mark.parametrize("way", WAYS)
def test_every_call_is_recorded_once(build, method, way):
    with Session(build) as session:
        result = session.run(command(build, way), env=environment(build, method))
        made = [line for line in result.out.splitlines() if line.startswith("cl")]
        assert made
        assert session.calls() == made
        assert session.counts() == (len(made), len(made), 0)
        writes = [name for name in made if name == "clEnqueueWriteBuffer"]
        assert [c["device"] for c in session.kind("counts")] == [{
            "seen": len(writes), "recorded": len(writes), "dropped": 0
        }]
        modules = [m["text"] for m in session.kind("module")]
        assert [m for m in modules if f"method={method}\0" in m and "libOpenCL.so" in m], modules
        assert [m for m in modules if "method=driver\0" in m and "libpocl.so" in m], modules
        assert not [
            m for m in modules
            if "method=" in m and f"method={method}\0" not in m and "method=driver\0" not in m
        ]


@pytest.mark.parametrize("way",
                         ["linked", "dlopen_local", "dlopen_deepbind", "dlsym", "pointer_table"])
@pytest.mark.parametrize("options, args", [([], "num_entries=1"), (["--no-args"], "")])
def test_the_call_that_finds_no_driver_is_recorded_once(build, tap, work, way, options, args):
    """The loader answers the call without calling a layer."""
    result = tap("run",
                 *options,
                 "-o",
                 "c.gputap",
                 *command(build, way),
                 env={"OCL_ICD_VENDORS": work},
                 status=None)
    assert (
        "Failed   1 x clGetPlatformIDs CL_PLATFORM_NOT_FOUND_KHR" in result.err
        and "gputap doctor" in result.err
    ), result
    tap("export", "c.gputap", "-o", "c.csv")
    (call,) = csv.DictReader(open(work / "c.csv", newline=""))
    assert (call["operation"], call["error"]) == ("clGetPlatformIDs", "CL_PLATFORM_NOT_FOUND_KHR")
    assert args in call["arguments"] and bool(args) == bool(call["arguments"])
    info = json.loads(tap("info", "--json", "c.gputap").out)
    assert info["complete"] and [(m["domain"], m["method"])
                                 for m in info["runtimes"]] == [("opencl", "interposition")]


def test_a_call_that_finds_no_driver_and_was_not_asked_for_is_not_recorded(build, tap, work):
    tap("run",
        "--ops",
        "clFinish",
        "-o",
        "c.gputap",
        *command(build, "linked"),
        env={"OCL_ICD_VENDORS": work},
        status=None)
    tap("export", "c.gputap", "-o", "c.csv")
    assert not list(csv.DictReader(open(work / "c.csv", newline="")))


def test_a_library_opened_and_closed_many_times_keeps_being_seen(build, method):
    with Session(build) as session:
        folder = build / "tests/interception"
        result = session.run(
            [folder / "way_plugin", folder / "libway_plugin_linked.so", *["local"] * 12],
            env=environment(build, method))
        made = [line for line in result.out.splitlines() if line.startswith("cl")]
        assert len(made) == 12 * 11
        assert session.calls() == made


def test_only_operations_that_were_asked_for_are_recorded(build, method):
    finish = 1 << 16 | 47
    with Session(build, op=finish, device=0) as session:
        session.run(command(build, "linked"), env=environment(build, method))
        assert session.calls() == ["clFinish"]
        assert session.counts() == (1, 1, 0)


def test_the_output_is_the_same_without_a_session(build, method):
    with Session(build) as session:
        traced = session.run(command(build, "linked"), env=environment(build, method)).out
        bare = session.run(command(build, "linked"),
                           env={**environment(build, method), "GPUTAP_SESSION": None}).out
        assert traced == bare


def test_a_library_in_front_of_a_loader_with_layers_is_not_seen_twice(build):
    """Both methods apply: gputap interposes the library, whose loader loads the layer."""
    with Session(build) as session:
        env = {"LD_LIBRARY_PATH": build / "tests/interception/shim", "SHIM_LOADER": system_loader()}
        result = session.run(command(build, "linked"), env=env)
        made = [line for line in result.out.splitlines() if line.startswith("cl")]
        assert session.calls() == made
        assert session.counts() == (len(made), len(made), 0)
        assert session.kind("counts")[0]["device"] == {"seen": 1, "recorded": 1, "dropped": 0}


def system_loader():
    for line in subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE,
                               text=True).stdout.splitlines():
        if line.strip().startswith("libOpenCL.so.1 "):
            return line.rsplit(" ", 1)[1]
    raise AssertionError("no libOpenCL.so.1")


def copies(work, count, source=None):
    """Copy the system's loader to @count files, which the dynamic linker treats as different
    libraries, and return their paths."""
    made = []
    for i in range(count):
        made.append(work / f"libloader{i}.so")
        shutil.copy(source or system_loader(), made[-1])
    return made


@pytest.mark.parametrize("loaders", ["two_with_layers", "one_with_one_without", "two_without"])
def test_several_loaders_in_one_process_are_told_apart(build, work, loaders):
    without = [
        build / "tests/interception/libOpenCL.so.1",
        shutil.copy(build / "tests/interception/libOpenCL.so.1", work / "libother.so")
    ]
    paths = {
        "two_with_layers": copies(work, 2), "one_with_one_without": [*copies(work, 1), without[0]],
        "two_without": without
    }[loaders]
    with Session(build) as session:
        result = session.run([build / "tests/interception/two_loaders", *paths])
        made = result.out.splitlines()
        assert len(made) == 8
        assert session.calls() == made
        methods = [m["text"].split("method=")[1].split("\0")[0] for m in session.kind("module")]
        assert sorted(d for d in methods if d != "driver") == sorted(
            {"two_with_layers": ["layer"] * 2, "one_with_one_without": ["layer", "interposition"],
             "two_without": ["interposition"] * 2}[loaders])


@pytest.mark.parametrize("layers", [True, False], ids=["with_layers", "without"])
def test_one_loader_too_many_works_untraced_and_is_reported(build, work, layers):
    with Session(build) as session:
        source = system_loader() if layers else build / "tests/interception/libOpenCL.so.1"
        result = session.run([build / "tests/interception/two_loaders", *copies(work, 9, source)])
        assert len(result.out.splitlines()) == 36
        assert len(session.calls()) == 32
        assert ["too many copies are loaded" in e["text"] for e in session.kind("event")] == [True]


@pytest.mark.parametrize("first", ["loader", "driver"])
def test_a_driver_that_is_opened_without_a_loader_is_traced_or_reported(build, tap, work, first):
    """A driver that is opened after a loader may belong to that loader. In this case calls to the
    driver are not seen, and an event reports this."""
    driver = build / "tests/interception/libdirect_driver.so"
    libraries = [system_loader(), driver] if first == "loader" else [driver, system_loader()]
    result = tap("run", "-o", "c.gputap", build / "tests/interception/two_loaders", *libraries)
    found = json.loads(tap("info", "c.gputap", "--json").out)
    told = [e["text"] for e in found["events"] if e["event"] == "not traced"]
    why = (
        "the program calls this driver directly, not through a loader, so these calls are not"
        " recorded"
    )
    assert told == ([f"{driver}: {why}"] if first == "loader" else [])
    assert (" ".join(why.split()) in " ".join(result.err.split())) is (first == "loader")


@pytest.mark.parametrize("way", ["linked", "dlsym"])
def test_a_driver_behind_a_loader_is_reported_by_nobody(build, tap, work, way):
    (work / "direct.icd").write_text(f"{build}/tests/interception/libdirect_driver.so\n")
    tap("run", "-o", "c.gputap", *command(build, way), env={"OCL_ICD_VENDORS": work})
    found = json.loads(tap("info", "c.gputap", "--json").out)
    assert [p["seen"] > 0 for p in found["processes"]] == [True]
    assert found["events"] == []
