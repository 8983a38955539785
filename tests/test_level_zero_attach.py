# SPDX-License-Identifier: MIT
"""Test attaching to Level Zero in an unprepared process: preloaded tools, tools that a running
program loads when its loader already has its tables, and a loader linked into the program. The
driver of tests/level_zero counts the calls that it receives.

GPUTAP_LEVEL_ZERO_LOADER names a folder with a loader newer than the distribution's.
GPUTAP_LEVEL_ZERO_STATIC names the libze_loader.a of a build with -DBUILD_STATIC=1."""
import json
import os
import pathlib
import shutil

import pytest

from conftest import REPO, run_command
from test_level_zero import (COMMANDS, calls, capture, counts,  # noqa: F401 (fixtures)
                             environment, level_zero)

LAYERS = ["LZ_DLOPEN", "ZE_ENABLE_TRACING_LAYER", "ZE_ENABLE_VALIDATION_LAYER",
          "ZE_ENABLE_LOADER_INTERCEPT"]
# functions that only the program calls, after it has loaded a tool
AFTERWARDS = ["zeCommandListCreateImmediate", "zeCommandListAppendMemoryFill",
              "zeCommandListAppendMemoryCopy", "zeCommandListAppendLaunchKernel",
              "zeCommandListAppendBarrier", "zeEventHostSynchronize", "zeCommandListDestroy",
              "zeMemFree", "zeKernelDestroy", "zeModuleDestroy", "zeContextDestroy"]


@pytest.fixture(scope="session")
def tools(level_zero, build):  # noqa: F811
    """Return {"early": a library to preload, "late": a library that a program opens}."""
    made = {name: level_zero / f"lz_{name}.so" for name in ("early", "late")}
    for name, path in made.items():
        run_command(["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                     *(["-DBY_CALL"] if name == "late" else []), f"-I{REPO}/include",
                     REPO / "tests/level_zero/lz_tool.c", "-o", path, f"-L{build}",
                     "-l:libgputap.so.0", f"-Wl,-rpath,{build}"])
    return made


@pytest.fixture(scope="session")
def static_program(level_zero):  # noqa: F811
    """Build the test program with Level Zero's static loader and return its path."""
    archive = pathlib.Path(os.environ.get("GPUTAP_LEVEL_ZERO_STATIC", ""))
    if not archive.is_file():
        pytest.skip("needs Level Zero's static loader, named by GPUTAP_LEVEL_ZERO_STATIC")
    program = level_zero / "lz_static"
    run_command(["cc", "-O1", "-c", REPO / "tests/level_zero/lz_program.c", "-o",
                 level_zero / "lz_static.o"])
    run_command(["c++", level_zero / "lz_static.o", archive,
                 *archive.parent.glob("liblevel_zero_utils.a"), "-o", program, "-ldl",
                 "-lpthread"])
    return program


@pytest.fixture(params=["distribution", "newer"])
def loader(request):
    """Return the environment that selects a loader."""
    folder = os.environ.get("GPUTAP_LEVEL_ZERO_LOADER")
    if request.param == "newer" and not folder:
        pytest.skip("needs a newer Level Zero loader, named by GPUTAP_LEVEL_ZERO_LOADER")
    return {"LD_LIBRARY_PATH": folder} if request.param == "newer" else {}


@pytest.fixture
def tell(run, level_zero, environment, work):  # noqa: F811
    """Return a function: tell(words..., env=..., program=..., before=...) runs a program and
    returns the tool's notifications as {function: calls, "work": activities, "timed": ...,
    "linked": ...}."""
    def run_it(*words, env, program=None, before=()):
        run([*before, program or level_zero / "lz_program", *words],
                       env=environment | env | {"LZ_TOOL": work / "tool"})
        lines = (work / "tool").read_text().splitlines()
        return {name: int(n) for name, n in (line.split() for line in lines)}

    return run_it


def is_all_that_came_after(told, driver, names=AFTERWARDS):
    ran = sum(driver[kind] for kind in ("kernels", "copies", "fills", "barriers"))
    return ({name: told.get(name) for name in names} == {name: driver[name] for name in names} and
            told["work"] == told["timed"] == told["linked"] == ran > 0)


def is_all(told, driver):
    """Return true if tool and driver saw the same calls, apart from those of events and properties,
    which gputap also makes."""
    mine = {name: n for name, n in told.items() if name not in ("work", "timed", "linked")}
    ours = ("zeEvent", "zeDeviceGetGlobalTimestamps", "zeDeviceGetProperties",
            "zeKernelGetProperties")
    return ({n for n in mine.items() if not n[0].startswith(ours)} ==
            {n for n in driver.items() if not n[0].startswith(ours) and n[0] not in COMMANDS})


def test_a_preloaded_tool_is_notified_of_all_calls_and_work(tell, tools, work, loader):
    told = tell("immediate", "5", env=loader | {"LD_PRELOAD": tools["early"]})
    assert is_all(told, counts(work)) and is_all_that_came_after(told, counts(work))


@pytest.mark.parametrize("layer", [None, *LAYERS])
def test_a_tool_that_comes_into_a_running_program_is_notified_of_what_follows(
        tell, tools, work, loader, layer):
    told = tell("immediate", "5", env=loader | {"LZ_LATE": tools["late"]} |
                ({layer: "1", "ZE_ENABLE_PARAMETER_VALIDATION": "1"} if layer else {}))
    assert is_all_that_came_after(told, counts(work))
    assert "zeContextCreate" not in told and "zeKernelCreate" not in told


@pytest.mark.parametrize("how", ["events", "regular", "signalled", "threads"])
def test_such_a_tool_is_notified_of_work_of_all_kinds_of_lists(tell, tools, work, how):
    told = tell(how, "5", env={"LZ_LATE": tools["late"]})
    assert is_all_that_came_after(told, counts(work), ["zeMemFree", "zeContextDestroy"])


def test_such_a_tool_is_notified_where_the_kernel_refuses_one_way_to_read_memory(
        tell, tools, work):
    told = tell("immediate", "5", env={"LZ_LATE": tools["late"], "LZ_FORBID": "1"})
    assert is_all_that_came_after(told, counts(work)) and "not_traced" not in told


def test_where_memory_cannot_be_read_an_event_says_so_and_the_program_works(
        tell, tools, run, level_zero, environment, work):  # noqa: F811
    env = {"LZ_LATE": tools["late"], "LZ_FORBID": "2"}
    told = tell("immediate", "5", env=env)
    assert told["not_traced"] == 1 and told["work"] == 0
    assert run([level_zero / "lz_program", "immediate", "5"],
               env=environment | env | {"LZ_TOOL": work / "tool"}).out == "driver 0: 3.5 3.5\n"


def test_such_a_tool_is_notified_of_several_drivers(tell, tools, level_zero, work):  # noqa: F811
    other = work / "libother_driver.so"
    shutil.copy(level_zero / "liblz_driver.so", other)
    told = tell("immediate", "2", env={
        "LZ_LATE": tools["late"],
        "ZE_ENABLE_ALT_DRIVERS": f"{level_zero}/liblz_driver.so,{other}"
    })
    assert told["zeContextDestroy"] == 2 and told["zeCommandListAppendLaunchKernel"] == 8
    assert told["work"] == told["timed"] == 22


@pytest.mark.parametrize("options", [[], ["-d", "level_zero_sysman"], ["--ops", "zeMemFree"]])
def test_where_a_session_asks_for_little_such_a_tool_is_notified_of_all(
        tell, tools, gputap, work, options):
    told = tell("immediate", "5", env={"LZ_LATE": tools["late"]},
                before=[gputap, "run", "-q", "-f", "-o", "r.gputap", *options])
    assert is_all_that_came_after(told, counts(work))


@pytest.fixture
def own_loader(run, level_zero):  # noqa: F811
    """Build a program that requests tables directly from drivers, and return its path."""
    program = level_zero / "lz_loader"
    if not program.exists():
        run(["cc", "-O1", "-Wall", "-Wextra", "-Werror", REPO / "tests/level_zero/lz_loader.c",
             "-o", program, "-ldl"])
    return program


# Handles with their own tables --------------------------------------------------------------

@pytest.mark.parametrize("how, told", [("1", 1), ("read-only", 1), ("strange", 0)])
def test_calls_through_tables_of_handles_are_recorded_once(
        tap, own_loader, level_zero, work, how, told):  # noqa: F811
    """Tables that share no entry with the driver's table are not used."""
    result = tap("run", "-q", "-f", "--no-device", "-o", "r.gputap", own_loader, "handles",
                 level_zero / "liblz_driver.so",
                 env={"LZ_HANDLES": how, "LZ_COUNTS": work / "counts"})
    assert result.out == f"handles have tables: {told}\n"
    assert calls(tap) == {n: c for n, c in counts(work).items() if n not in COMMANDS}


@pytest.fixture
def two_drivers(level_zero, work):  # noqa: F811
    """Return the environment that selects two drivers. Newer loaders call both through tables in
    handles."""
    folder = os.environ.get("GPUTAP_LEVEL_ZERO_LOADER")
    if not folder or b"Driver DDI Handles Supported" not in pathlib.Path(
            folder, "libze_loader.so.1").read_bytes():
        pytest.skip("needs a newer Level Zero loader, named by GPUTAP_LEVEL_ZERO_LOADER")
    other = work / "libother_driver.so"
    shutil.copy(level_zero / "liblz_driver.so", other)
    return {
        "LD_LIBRARY_PATH": folder, "ZE_ENABLE_LOADER_DEBUG_TRACE": "1", "LZ_DEFAULT": "1",
        "ZE_ENABLE_ALT_DRIVERS": f"{level_zero}/liblz_driver.so,{other}"
    }


@pytest.mark.parametrize("how", ["1", "read-only"])
def test_a_newer_loader_calls_several_drivers_through_their_handles(
        capture, tap, run, level_zero, two_drivers, environment, work, how):  # noqa: F811
    """With several drivers, zeDriverGetDefaultContext() works only through handles with their own
    tables."""
    env = two_drivers | {"LZ_HANDLES": how}
    bare = run([level_zero / "lz_program", "immediate", "3"], env=environment | env)
    assert "Driver DDI Handles Supported" in bare.err
    info = capture("immediate", "3", env=env)
    assert capture.out == bare.out
    assert info["activities"] == info["linked"] == 2 * 16 and info["untimed"] == 0
    made = calls(tap)
    assert made["zeDriverGetDefaultContext"] == 2
    assert made["zeCommandListAppendLaunchKernel"] == 2 * 6


@pytest.mark.parametrize("how", ["1", "read-only"])
def test_a_late_tool_is_notified_of_calls_through_handles_of_a_newer_loader(
        tell, tools, two_drivers, how):
    told = tell("immediate", "3", env=two_drivers | {"LZ_HANDLES": how, "LZ_LATE": tools["late"]})
    assert told["zeCommandListAppendLaunchKernel"] == 2 * 6
    assert told["work"] == told["timed"] == 32


@pytest.mark.parametrize("domain", ["tools", "sysman", "runtime"])
def test_handles_are_asked_for_where_another_domain_alone_is_recorded(
        tap, own_loader, level_zero, domain):  # noqa: F811
    result = tap("run", "-q", "-f", "-d", f"level_zero_{domain}", "--no-device", "-o", "r.gputap",
                 own_loader, "handles", level_zero / "liblz_driver.so",
                 env={"LZ_HANDLES": "strange"})
    assert result.out == "handles have tables: 0\n"


# Calls that cannot be traced, and broken drivers -------------------------------------------

def unknown(tap):
    """Return the names of unknown entry points in the capture's events, in order."""
    return [event["text"] for event in json.loads(tap("info", "--json", "r.gputap").out)["events"]
            if event["event"] == "unknown entry point"]


@pytest.mark.parametrize("options", [[], ["--no-device"], ["--ops", "zeMemFree"]])
def test_a_function_by_name_that_nobody_knows_is_named_once(capture, tap, options):
    capture("names", "3", options=options, env={"LZ_FAULT": "names"})
    assert capture.out == "0x0\n" * 3
    assert unknown(tap) == ["zexOfTomorrow"]


def test_entries_of_a_table_that_nobody_knows_are_named_and_work(
        tap, run, own_loader, level_zero):  # noqa: F811
    words = [own_loader, "unknown", level_zero / "liblz_driver.so"]
    bare = run(words, env={"LZ_FAULT": "entries"})
    result = tap("run", "-q", "-f", "-o", "r.gputap", *words, env={"LZ_FAULT": "entries"})
    assert result.out == bare.out == "unknown: 1\n" * 3
    assert unknown(tap) == [f"zeGetFenceProcAddrTable, entry {n}" for n in (10, 20)]


@pytest.fixture
def compile_driver(run, work):
    def compile_it(*flags):
        run(["cc", "-O1", "-shared", "-fPIC", "-fvisibility=hidden", *flags,
             REPO / "tests/level_zero/lz_driver.c", "-o", "libmade_driver.so", "-lpthread"])
        return work / "libmade_driver.so"
    return compile_it


@pytest.mark.parametrize("hash_style", ["gnu", "sysv"])
def test_a_table_that_nobody_knows_is_named(tap, own_loader, compile_driver, hash_style):
    driver = compile_driver("-DTOMORROW", f"-Wl,--hash-style={hash_style}")
    tap("run", "-q", "-f", "-o", "r.gputap", own_loader, "handles", driver)
    assert unknown(tap) == ["zeGetTomorrowProcAddrTable"]


def test_a_late_tool_is_notified_although_the_driver_is_older_than_we_are(tell, tools, work):
    told = tell("immediate", "5", env={"LZ_LATE": tools["late"], "LZ_LATEST": "5"})
    assert is_all_that_came_after(told, counts(work))


@pytest.mark.parametrize("what", ["missing", "refused"])
def test_without_some_tables_the_program_gets_the_same(
        capture, tap, run, level_zero, compile_driver, environment, work, loader,  # noqa: F811
        what):
    """Loader 1.8 requires all tables."""
    env = loader | ({"LZ_FAULT": "tables"} if what == "refused" else
                    {"ZE_ENABLE_ALT_DRIVERS": compile_driver("-DSMALL")})
    bare = run([level_zero / "lz_program", "immediate", "2"], env=environment | env, status=None)
    traced = tap("run", "-q", "-f", "-o", "r.gputap", level_zero / "lz_program", "immediate", "2",
                 env=environment | env, status=None)
    assert (traced.out, traced.status) == (bare.out, bare.status)
    if bare.status == 0:
        info = json.loads(tap("info", "--json", "r.gputap").out)
        assert info["activities"] == info["linked"] == 11 and unknown(tap) == []
        assert info["seen"] == info["recorded"]


def test_versions_that_there_are_not_and_no_table_have_the_drivers_status(
        tap, run, own_loader, level_zero):  # noqa: F811
    words = [own_loader, "versions", level_zero / "liblz_driver.so"]
    bare = run(words, env={"LZ_LATEST": "4"})
    result = tap("run", "-q", "-f", "-o", "r.gputap", *words, env={"LZ_LATEST": "4"})
    assert result.out == bare.out
    assert "0x1000f: 0x78000002, 0 entries\n" in bare.out and "NULL: 0x78000007\n" in bare.out


def test_handles_of_another_driver_and_none_have_the_drivers_status(
        tap, run, own_loader, level_zero, work):  # noqa: F811
    other = work / "libother_driver.so"
    shutil.copy(level_zero / "liblz_driver.so", other)
    words = [own_loader, "strangers", level_zero / "liblz_driver.so", other]
    bare = run(words)
    result = tap("run", "-q", "-f", "-o", "r.gputap", *words)
    assert result.out == bare.out and "nothing: 0x78000005" in bare.out
    info = json.loads(tap("info", "--json", "r.gputap").out)
    assert info["activities"] == info["linked"] == 11 and info["seen"] == info["recorded"]


def test_a_function_that_the_driver_does_not_have_has_the_loaders_status(
        capture, run, level_zero, environment, tap):  # noqa: F811
    bare = run([level_zero / "lz_program", "absent", "2"], env=environment)
    info = capture("absent", "2")
    assert capture.out == bare.out == "absent 0x78000003\n" * 2
    assert info["seen"] == info["recorded"]
    assert "zeKernelSetIndirectAccess" not in calls(tap)


# A loader in the program ---------------------------------------------------------------------

def test_a_program_with_a_loader_in_it_is_recorded(
        tap, run, static_program, environment, loader, work):  # noqa: F811
    bare = run([static_program, "events", "5"], env=environment | loader)
    tap("run", "-q", "-f", "--no-device", "-o", "r.gputap", static_program, "events", "5",
        env=environment | loader)
    assert calls(tap) == {n: c for n, c in counts(work).items() if n not in COMMANDS}
    traced = tap("run", "-q", "-f", "-o", "r.gputap", static_program, "events", "5",
                 env=environment | loader)
    assert traced.out == bare.out


@pytest.mark.parametrize("how", ["early", "late"])
def test_tools_are_notified_of_a_program_with_a_loader_in_it(tell, tools, static_program, work,
                                                             loader, how):
    variable = {"early": "LD_PRELOAD", "late": "LZ_LATE"}[how]
    told = tell("immediate", "5", env=loader | {variable: tools[how]}, program=static_program)
    assert is_all_that_came_after(told, counts(work))
