# SPDX-License-Identifier: MIT
"""Test Level Zero with a test program, Debian's real loader, and a test driver (tests/level_zero)
that counts the calls that it receives."""
import ctypes.util
import json
import pathlib
import re
import shutil
import sqlite3
import sys

import pytest

from conftest import REPO, run_command

HEADERS = pathlib.Path("/usr/include/level_zero")
MODES = ["immediate", "events", "regular", "replays"]
# the driver's counts of executed commands, which it writes together with its counts of calls
COMMANDS = ("kernels", "copies", "fills", "barriers", "signals", "waits", "resets", "queries")


@pytest.fixture(scope="session")
def level_zero(tmp_path_factory):
    """Build the test program and the test driver, and return their folder."""
    if not (HEADERS / "ze_ddi.h").exists() or not ctypes.util.find_library("ze_loader"):
        pytest.skip("needs Level Zero: apt install libze-dev")
    folder = tmp_path_factory.mktemp("level_zero")
    source = REPO / "tests/level_zero"
    flags = ["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    run_command(flags + ["-shared", "-fPIC", "-fvisibility=hidden", source / "lz_driver.c", "-o",
                         folder / "liblz_driver.so", "-lpthread"])
    run_command(flags + [source / "lz_program.c", "-o", folder / "lz_program", "-lze_loader",
                         "-ldl", "-lpthread"])
    return folder


@pytest.fixture
def environment(level_zero, work):
    return {"ZE_ENABLE_ALT_DRIVERS": level_zero / "liblz_driver.so", "LZ_COUNTS": work / "counts"}


@pytest.fixture
def capture(tap, level_zero, environment):
    """Return a function: capture(words..., options=..., env=...) traces the program and returns the
    output of `gputap info` for r.gputap."""
    def make(*words, options=(), env=None):
        result = tap("run", "-q", "-f", "-o", "r.gputap", *options, level_zero / "lz_program",
                     *words, env=environment | (env or {}))
        make.out = result.out
        return json.loads(tap("info", "--json", "r.gputap").out)
    return make


def counts(work):
    lines = (work / "counts").read_text().splitlines()
    return {name: int(n) for name, n in (line.split() for line in lines)}


def calls(tap):
    rows = json.loads(tap("report", "--json", "--top", "0", "r.gputap").out)["operations"]
    return {o["name"]: o["calls"] for o in rows}


# Calls -------------------------------------------------------------------------------

@pytest.mark.parametrize("words", [(how, "7") for how in MODES] + [("errors",), ("sysman",)])
def test_every_call_that_reaches_the_driver_is_recorded_once(capture, tap, work, words):
    info = capture(*words, options=["--no-device"])
    driver = counts(work)
    assert calls(tap) == {name: n for name, n in driver.items() if name not in COMMANDS}
    assert info["seen"] == info["recorded"] == info["calls"]


@pytest.mark.parametrize("variable", [
    "ZE_ENABLE_TRACING_LAYER", "ZE_ENABLE_VALIDATION_LAYER", "ZE_ENABLE_LOADER_INTERCEPT",
    "LZ_DLOPEN"
])
def test_beside_the_loaders_layers_and_in_a_loader_that_the_program_opens(
        capture, tap, work, variable):
    capture("events", "3", options=["--no-device"],
            env={variable: "1", "ZE_ENABLE_PARAMETER_VALIDATION": "1"})
    driver = counts(work)
    assert calls(tap) == {name: n for name, n in driver.items() if name not in COMMANDS}
    assert capture.out == "driver 0: 3.5 3.5\n"


def test_several_drivers_are_recorded_each(capture, tap, level_zero, work):
    other = work / "libother_driver.so"
    shutil.copy(level_zero / "liblz_driver.so", other)
    info = capture("immediate", "2", options=["--no-device"],
                   env={"ZE_ENABLE_ALT_DRIVERS": f"{level_zero}/liblz_driver.so,{other}"})
    assert capture.out == "driver 0: 3.5 3.5\ndriver 1: 3.5 3.5\n"
    assert {pathlib.Path(r["path"]).name for r in info["runtimes"]} == {
        "liblz_driver.so", "libother_driver.so"
    }
    assert calls(tap)["zeMemAllocShared"] == 2


def test_calls_that_fail_have_the_name_of_their_status(capture, tap):
    capture("errors")
    assert capture.out == "kernel 0x78000011\nmemory 0x78000009\n"
    out = tap("report", "r.gputap", "--top", "0").out
    assert "ZE_RESULT_ERROR_INVALID_KERNEL_NAME" in out
    assert "ZE_RESULT_ERROR_UNSUPPORTED_SIZE" in out


def arguments(tap, work, name):
    tap("export", "-f", "r.gputap", "-o", "r.rpd")
    with sqlite3.connect(work / "r.rpd") as db:
        rows = db.execute("select apiName, args from api where apiName = ?", (name,)).fetchall()
    db.close()
    return [args for _, args in rows]


def test_arguments_are_recorded_with_their_structs_and_names(capture, tap, work):
    capture("immediate", "1")
    launch, _ = arguments(tap, work, "zeCommandListAppendLaunchKernel")
    assert "groupCountX=8" in launch.replace(" ", "")
    pool = arguments(tap, work, "zeEventPoolCreate")[0]
    assert "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP" in pool
    sizes = [arguments(tap, work, f"zeMemAlloc{kind}")[0] for kind in ("Shared", "Device", "Host")]
    assert [f"size={n}" in text.replace(" ", "")
            for n, text in zip((1024, 2048, 3072), sizes)] == [True] * 3


def test_doubles_are_passed_on_and_recorded(capture, tap, work):
    capture("sysman")
    text, = arguments(tap, work, "zesFrequencyOcSetVoltageTarget")
    assert "1.25" in text and "-0.5" in text


@pytest.mark.parametrize("how", MODES + ["errors"])
def test_a_program_gives_the_same_with_and_without_gputap(capture, run, level_zero, environment,
                                                          how):
    bare = run([level_zero / "lz_program", how, "5"], env=environment)
    capture(how, "5")
    assert capture.out == bare.out


@pytest.mark.parametrize("form", ["pftrace", "json", "rpd", "csv"])
def test_it_is_exported(capture, tap, work, form):
    capture("immediate", "1")
    tap("export", "r.gputap", "-o", f"r.{form}")
    assert b"zeCommandListAppendLaunchKernel" in (work / f"r.{form}").read_bytes()


def test_only_its_calls_are_recorded_if_asked_for(capture):
    assert capture("sysman", options=["-d", "level_zero_sysman"])["calls"] == 1


# Memory ------------------------------------------------------------------------------

def test_memory_is_told_by_its_kind_and_a_free_by_what_it_frees(capture, tap, work):
    capture("immediate", "2")
    rows = json.loads(tap("report", "--json", "--table", "memory", "r.gputap").out)["memory"]
    told = {row["memory"]: (row["allocations"], row["bytes"], row["frees"], row["freed_bytes"],
                            row["peak_bytes"], row["left_bytes"]) for row in rows}
    assert told == {kind: (1, n, 1, n, n, 0)
                    for kind, n in (("shared", 1024), ("device", 2048), ("host", 3072))}
    tap("export", "-f", "r.gputap", "-o", "r.rocpd")
    with sqlite3.connect(work / "r.rocpd") as db:
        rows = db.execute("select type, level, size from rocpd_memory_allocate "
                          "order by type, size").fetchall()
    db.close()
    assert rows == [(how, "REAL", n) for how in ("ALLOC", "FREE") for n in (1024, 2048, 3072)]


# GPU activities ----------------------------------------------------------------------

def ran(work):
    return {name: n for name, n in counts(work).items() if name in COMMANDS[:4]}


def device_rows(tap, work):
    tap("export", "-f", "r.gputap", "-o", "r.json")
    events = json.loads((work / "r.json").read_text())["traceEvents"]
    calls_by_id = {e["args"]["correlation"]: e for e in events
                   if e.get("name", "").startswith("ze") and "correlation" in e.get("args", {})}
    return events, calls_by_id


@pytest.mark.parametrize("how", ["immediate", "events", "regular"])
@pytest.mark.parametrize("plain", [None, "1"])
def test_all_that_the_device_ran_is_recorded_with_times_and_linked(capture, tap, work, how, plain):
    info = capture(how, "20", env={"LZ_PLAIN": plain} if plain else {})
    driver = ran(work)
    assert driver["kernels"] == 40 and driver["copies"] == driver["fills"] == 20
    assert info["activities"] == info["linked"] == sum(driver.values())
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]
    rows = tap("report", "--csv", "--table", "kernels,copies", "r.gputap").out
    assert "scale" in rows and "add" in rows and "memset" in rows


def test_kernels_have_their_sizes_and_copies_their_bytes(capture, tap, work):
    capture("immediate", "1")
    events, _ = device_rows(tap, work)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert [e["name"] for e in kernels] == ["scale", "add"]
    assert all(e["args"]["grid"] == [8, 1, 1] and e["args"]["block"] == [32, 1, 1]
               for e in kernels)
    copies = [e for e in events if e.get("cat") in ("gpu_memcpy", "gpu_memset")]
    assert sorted(e["args"]["bytes"] for e in copies) == [1024, 1024]


# rate of the counter in Hz, bits of its timestamps, ms until it wraps around; "old": the driver
# reports the rate as older drivers do
@pytest.mark.parametrize("clock", [("12500000", "32", "0"), ("1000000000", "32", "25"),
                                   ("12500000", "32", "25"), ("19200000", "36", "25"),
                                   ("1000000000", "64", "0"), ("12500000", "32", "0", "old")])
@pytest.mark.parametrize("how", ["immediate", "events", "regular"])
def test_kernels_lie_behind_their_calls_and_last_as_long_as_they_did(capture, tap, work, clock,
                                                                     how):
    env = dict(zip(("LZ_HZ", "LZ_BITS", "LZ_WRAP_MS", "LZ_OLD"), clock))
    info = capture(how, "30", env=env | {"LZ_BUSY_US": "1000"})
    assert info["untimed"] == 0
    events, calls_by_id = device_rows(tap, work)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert len(kernels) == 60
    for kernel in kernels:
        assert kernel["ts"] >= calls_by_id[kernel["args"]["correlation"]]["ts"] - 1
        assert 999 <= kernel["dur"] < 1000000
    begun = [e["ts"] for e in kernels]
    assert begun == sorted(begun)


def kernels_in_turn(tap, work):
    """Return [(start, duration)] of kernels in us, after checking that kernels do not overlap."""
    events, _ = device_rows(tap, work)
    kernels = sorted((e["ts"], e["dur"]) for e in events if e.get("cat") == "kernel")
    for (begin, took), (after, _) in zip(kernels, kernels[1:]):
        assert begin + took <= after + 1
    return kernels


def events_of(tap):
    return json.loads(tap("info", "--json", "r.gputap").out)["events"]


# per run of the list: number of kernels, number of other commands
@pytest.mark.parametrize("how, kernels, others", [("replays", 2, 3), ("resets", 2, 0),
                                                  ("signalled", 2, 3)])
@pytest.mark.parametrize("bits", ["32", "64"])
def test_each_run_of_a_list_has_its_own_times(capture, tap, work, how, kernels, others, bits):
    """The device has one event for each command, regardless of the number of runs in progress."""
    info = capture(how, "6", env={"LZ_BUSY_US": "3000", "LZ_BITS": bits})
    assert info["activities"] == info["linked"] == 6 * (kernels + others)
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]
    times = kernels_in_turn(tap, work)
    assert len(times) == 6 * kernels and all(took >= 2999 for _, took in times)


@pytest.mark.parametrize("how", ["reused", "stale"])
def test_an_event_that_is_signalled_again_tells_of_each_of_its_commands(capture, tap, work, how):
    info = capture(how, "6", env={"LZ_BUSY_US": "3000"})
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]
    times = kernels_in_turn(tap, work)
    assert len(times) == 6 and all(took >= 2999 for _, took in times)


@pytest.mark.parametrize("how, why", [
    ("again", "a list was run twice in one call"),
    ("elsewhere", "a list was run again before its previous run was known to have completed"),
])
def test_times_that_cannot_be_known_are_counted_and_named(capture, tap, work, how, why):
    info = capture(how, "1", env={"LZ_BUSY_US": "100000"})
    assert info["activities"] == info["linked"] == sum(ran(work).values()) == 10
    assert 0 < info["untimed"] <= 5 and info["seen"] == info["recorded"]
    assert why in tap("info", "r.gputap").out


@pytest.mark.parametrize("how", ["ipc", "mapped"])
def test_times_are_known_with_events_for_other_processes_in_order_and_of_mapped_times(
        capture, tap, work, how):
    info = capture(how, "6", env={"LZ_BUSY_US": "1000"})
    assert info["activities"] == info["linked"] == 7 * 5 == sum(ran(work).values())
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]
    times = kernels_in_turn(tap, work)
    assert len(times) == 14 and all(took >= 999 for _, took in times)


def test_events_for_other_processes_on_lists_that_are_not_in_order_have_no_times_and_are_named(
        capture, tap, work):
    info = capture("unordered", "6")
    assert info["activities"] == info["linked"] == info["untimed"] == sum(ran(work).values()) == 35
    assert "the event is for other processes" in tap("info", "r.gputap").out


def test_a_list_that_is_built_in_a_pause_has_its_work_in_runs_after_it(capture, tap, build, work):
    info = capture("paused", "4", env={"LZ_BUSY_US": "3000",
                                       "LZ_ROCTX": build / "src/compat/roctx/libroctx64.so.4"})
    assert ran(work)["kernels"] == 12 and info["activities"] == info["linked"] == 4 * 5
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]
    times = kernels_in_turn(tap, work)
    assert len(times) == 8 and all(took >= 2999 for _, took in times)
    _, calls_by_id = device_rows(tap, work)
    runs = [c["ts"] for c in calls_by_id.values()
            if c["name"] == "zeCommandQueueExecuteCommandLists"]
    assert min(begin for begin, _ in times) >= min(runs) - 1


@pytest.mark.parametrize("how", MODES + ["resets", "reused", "stale", "again", "elsewhere", "ipc"])
def test_nothing_is_waited_for_and_nothing_left_behind(capture, run, level_zero, environment, work,
                                                       how):
    run([level_zero / "lz_program", how, "6"], env=environment)
    bare = counts(work)
    capture(how, "6")
    traced = counts(work)
    waits = [name for name in traced if name.endswith("Synchronize")]
    assert waits and all(traced[name] == bare[name] for name in waits)
    assert traced["zeEventCreate"] == traced["zeEventDestroy"]
    assert traced["zeEventPoolCreate"] == traced["zeEventPoolDestroy"]
    made = sum(traced.get(f"zeCommandListCreate{kind}", 0) for kind in ("", "Immediate"))
    assert made == traced["zeCommandListDestroy"]
    assert traced["zeMemFree"] == sum(traced[f"zeMemAlloc{kind}"]
                                      for kind in ("Shared", "Device", "Host"))
    # gputap adds barriers and copies where an event is reused while its command may be in progress
    overlaps = how in ("replays", "resets", "reused", "stale")
    same = ("kernels", "fills") if overlaps else COMMANDS[:4]
    assert {name: traced[name] for name in same} == {name: bare[name] for name in same}


def test_a_graph_is_work_when_it_is_launched_and_not_when_it_is_captured(capture, tap, work):
    info = capture("graphs", "4", env={"LZ_BUSY_US": "500"})
    assert ran(work)["kernels"] == 2 * (4 + 1)
    assert info["activities"] == info["linked"] == 4 + 2 + 1 and info["untimed"] == 0
    csv = tap("report", "--csv", "--table", "kernels", "r.gputap").out
    assert "scale" in csv and "add" in csv
    assert calls(tap)["zeCommandListAppendGraphExt"] == 4
    assert "a graph's commands are recorded as one" in tap("info", "r.gputap").out


def test_more_work_is_in_flight_than_a_pool_has_events(capture, work):
    info = capture("immediate", "500", env={"LZ_BUSY_US": "50"})
    driver = counts(work)
    assert info["untimed"] == 0 and info["linked"] == sum(ran(work).values()) == 2501
    assert driver["zeEventPoolCreate"] == driver["zeEventPoolDestroy"] > 2
    assert driver["zeEventCreate"] == driver["zeEventDestroy"]


def test_only_kernels_that_are_asked_for_are_recorded(capture, tap, work):
    for how in ("immediate", "regular"):
        info = capture(how, "3", options=["--kernels", "sca.*"])
        events, _ = device_rows(tap, work)
        assert {e["name"] for e in events if e.get("cat") == "kernel"} == {"scale"}
        assert info["seen"] == info["recorded"]


@pytest.mark.parametrize("variable", [
    "ZE_ENABLE_TRACING_LAYER", "ZE_ENABLE_VALIDATION_LAYER", "ZE_ENABLE_LOADER_INTERCEPT"
])
def test_device_work_beside_the_loaders_layers(capture, work, variable):
    info = capture("events", "3", env={variable: "1", "ZE_ENABLE_PARAMETER_VALIDATION": "1"})
    assert info["activities"] == info["linked"] == sum(ran(work).values()) == 16
    assert info["untimed"] == 0 and capture.out == "driver 0: 3.5 3.5\n"


def test_threads_with_a_list_each(capture, work):
    info = capture("threads", "200")
    assert info["activities"] == info["linked"] == sum(ran(work).values()) == 4 * 1001
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]


@pytest.mark.parametrize("how", ["immediate", "regular"])
def test_lite_has_kernels_alone(capture, tap, work, how):
    assert capture(how, "3", options=["-m", "lite"])["activities"] == 6


def test_copies_tell_their_direction_by_what_was_allocated(capture, tap):
    """A copy has 4 << position bytes, where the position is its index in the program's list. Shared
    memory counts as device memory."""
    info = capture("directions", "3")
    assert info["untimed"] == 0
    rows = json.loads(tap("report", "--json", "r.gputap").out)["copies"]
    found = {row["operation"]: (row["count"], row["bytes"]) for row in rows}
    assert found == {"memcpy H2D": (6, 3 * (4 + 8)), "memcpy D2H": (9, 3 * (16 + 32 + 256)),
                     "memcpy D2D": (9, 3 * (64 + 128 + 512))}


def test_copies_of_images_tell_their_bytes(capture, tap):
    capture("images", "3")
    copies = json.loads(tap("report", "--json", "--table", "copies", "r.gputap").out)["copies"]
    assert {c["operation"]: (c["count"], c["bytes"]) for c in copies} == {
        "memcpy H2D": (3, 3 * 512), "memcpy D2D": (3, 3 * 32), "memcpy D2H": (3, 3 * 32)}


def test_kernels_tell_what_their_code_asks_for(capture, tap, work):
    capture("immediate", "3")
    kernels = json.loads(tap("report", "--json", "--table", "kernel_symbols",
                             "r.gputap").out)["kernel_symbols"]
    assert {k["name"]: (k["simd"], k["dispatches"], k["group_bytes"], k["private_bytes"])
            for k in kernels} == {"add": (8, 3, 128, 64), "scale": (32, 3, 128, 64)}
    tap("export", "-f", "r.gputap", "-o", "r.rocpd")
    with sqlite3.connect(work / "r.rocpd") as db:
        rows = db.execute("select name, lds_size, scratch_size from kernels "
                          "where name != 'memset'").fetchall()
    db.close()
    assert sorted(rows) == 3 * [("add", 128, 64)] + 3 * [("scale", 128, 64)]


def test_a_kernel_that_is_made_again_and_again_has_one_row(capture, tap):
    capture("remade", "55")
    kernels = json.loads(tap("report", "--json", "--table", "kernel_symbols",
                             "r.gputap").out)["kernel_symbols"]
    assert {(k["name"], k["symbols"], k["dispatches"]) for k in kernels} == {("add", 56, 55),
                                                                             ("scale", 1, 55)}
    assert len(kernels) == 2
    text = tap("report", "--table", "kernel_symbols", "r.gputap").out
    assert text.count(" add\n") == text.count(" scale\n") == 1 and " made " in text
    info = json.loads(tap("info", "--json", "r.gputap").out)["kernel_symbols"]
    assert [k["name"] for k in info].count("add") == 56  # one entry per kernel object


def test_several_kernels_by_one_command_are_work_of_all_their_names(capture, tap, work):
    info = capture("several", "4", env={"LZ_BUSY_US": "1000"})
    assert info["untimed"] == 0 and info["activities"] == info["linked"] == 5
    events, _ = device_rows(tap, work)
    kernels = [e["name"] for e in events if e.get("cat") == "kernel"]
    assert kernels == ["scale, add"] * 4


# Over the software driver (soft/level_zero) ------------------------------------------------

@pytest.fixture(scope="session")
def soft(level_zero, build):
    """Return the paths of the driver's library and of a program."""
    library, program = build / "soft/level_zero/libze_soft.so", level_zero / "level_zero_program"
    if not library.exists():
        pytest.skip("needs the software driver, which is built where Level Zero's headers are")
    run_command(["cc", "-O1", REPO / "tests/soft/level_zero_program.c", "-o", program,
                 "-lze_loader"])
    return library, program


def commands_done(text):
    """Return the number of commands that the software driver executed, according to its output."""
    kinds = "kernels|image copies|copies|regions|fills|barriers"
    return sum(int(n) for n in re.findall(rf"(?:{kinds}) (\d+)", text))


@pytest.fixture
def soft_capture(tap, soft, work):
    """Return a function: soft_capture(words...) traces the program and returns the output of
    `gputap info` and the number of commands that the driver executed."""

    def make(*words, **settings):
        library, program = soft
        env = {f"SOFT_LEVEL_ZERO_{name}": value for name, value in settings.items()}
        result = tap("run", "-q", "-f", "-o", "r.gputap", program, *words,
                     env=env | {"ZE_ENABLE_ALT_DRIVERS": library, "SOFT_LEVEL_ZERO_TRACE": "1"})
        return json.loads(tap("info", "--json", "r.gputap").out), commands_done(result.err)

    return make


KERNELS = REPO / "tests/soft/level_zero_kernels.cl"


@pytest.mark.parametrize("words, settings", [
    (["memory"], {}),
    (["memory"], {"THREADS": "0"}),
    (["events"], {}),
    (["events"], {"CLOCK_HZ": "1000000000"}),
    (["counters"], {}),
    (["counters"], {"THREADS": "0"}),
    (["kernels", KERNELS], {}),
    (["kernels", KERNELS], {"THREADS": "0"}),
])
def test_over_the_software_driver_all_that_it_did_is_recorded(soft_capture, tap, words, settings):
    info, done = soft_capture(*words, **settings)
    # the driver counts signalled events as barriers
    done -= calls(tap).get("zeCommandListAppendSignalEvent", 0)
    assert done > 0 and info["activities"] == info["linked"] == done
    assert info["untimed"] == 0 and info["seen"] == info["recorded"]


@pytest.fixture
def newer_capture(tap, soft, run, level_zero, work):
    """Return a function like soft_capture(), for a program that requests tables of newer loaders
    from the driver."""
    program = level_zero / "level_zero_newer"
    if not program.exists():
        run(["cc", "-O1", f"-I{REPO}", REPO / "tests/soft/level_zero_newer.c", "-o", program,
             "-ldl"])

    def make(what):
        result = tap("run", "-q", "-f", "-o", "r.gputap", program, soft[0], what, KERNELS,
                     env={"SOFT_LEVEL_ZERO_TRACE": "1"})
        return json.loads(tap("info", "--json", "r.gputap").out), commands_done(result.err)

    return make


def test_counter_based_events_without_a_pool_have_times(newer_capture):
    info, done = newer_capture("counters")
    assert info["activities"] == info["linked"] > 0 and info["untimed"] == 0
    assert info["activities"] <= done


def test_an_event_that_another_list_signals_before_its_first_use_is_done_is_named(newer_capture,
                                                                                   tap):
    """The first use of the event waits on the host until the second use has completed, so the times
    of the first use are unknown."""
    info, done = newer_capture("again")
    assert info["activities"] == info["linked"] == done == 4 and info["untimed"] == 1
    assert ("an event was reused before its activity was known to have ended"
            in tap("info", "r.gputap").out)


def test_an_event_without_times_may_be_signalled_again_at_once_on_lists_that_are_in_order(
        newer_capture, tap):
    """gputap adds an event to each command. The program's event is signalled after gputap's."""
    info, _ = newer_capture("again in order")
    assert info["activities"] == info["linked"] == 4 and info["untimed"] == 0
    assert info["seen"] == info["recorded"] and info["events"] == []


def test_a_changed_command_of_a_mutable_list_has_its_new_size(newer_capture, tap, work):
    info, _ = newer_capture("mutable")
    assert info["untimed"] == 0
    events, _ = device_rows(tap, work)
    kernels = [e["args"] for e in events if e.get("cat") == "kernel"]
    assert [(k["grid"], k["block"]) for k in kernels] == [([1, 1, 1], [32, 1, 1]),
                                                          ([2, 1, 1], [32, 1, 1])]


def test_launches_over_the_software_driver_lie_behind_their_calls(soft_capture, tap, work):
    info, done = soft_capture("launches", KERNELS, "100",
                              KERNEL_BITS="24", CLOCK_DRIFT="50ppm", CLOCK_EPOCH="5s")
    assert info["activities"] == info["linked"] == done == 100 and info["untimed"] == 0
    events, calls_by_id = device_rows(tap, work)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    assert [e["name"] for e in kernels] == ["spin"] * 100
    assert all(e["ts"] >= calls_by_id[e["args"]["correlation"]]["ts"] - 1 for e in kernels)


def test_work_without_times_is_counted_and_has_no_total(soft_capture, tap):
    """gputap gets no times from events that are shared with other processes."""
    info, done = soft_capture("shared")
    assert info["activities"] == info["linked"] == info["untimed"] == done == 4
    report = json.loads(tap("report", "--json", "r.gputap").out)
    rows = {c["operation"]: (c["count"], c["total_ns"], c["share"]) for c in report["copies"]}
    assert rows == {"memcpy D2D": (2, None, None), "memset": (2, None, None)}
    assert " 0 ns" not in tap("report", "--table", "copies", "r.gputap").out


def test_a_driver_that_refuses_events_with_times_refuses_the_program_nothing(soft_capture, tap):
    """gputap requests event pools with times even if the program requests pools without times. If
    the driver refuses, the program gets the pool that it requested. The program's first pool has
    times."""
    info, done = soft_capture("counters", FAIL="times:2+")
    assert info["activities"] == info["linked"] == info["untimed"] == done == 4
    assert info["seen"] == info["recorded"]
    assert "zeEventPoolCreate" not in {
        o["name"] for o in json.loads(tap("report", "--json", "r.gputap").out)["operations"]
        if o["failed"]}
    assert "could not be created with times" in tap("info", "r.gputap").out


# The description ---------------------------------------------------------------------

def test_numbers_are_positions_in_the_headers_tables(run, work):
    """Compare numbers with the installed headers. Newer releases add entries only at the end of
    tables."""
    if not (HEADERS / "ze_ddi.h").exists():
        pytest.skip("needs Level Zero: apt install libze-dev")
    sys.path.insert(0, str(REPO / "gen"))
    try:
        import describe
    finally:
        sys.path.remove(str(REPO / "gen"))
    lines = ["#include <stddef.h>"]
    lines += [f"#include <level_zero/{prefix}_ddi.h>" for prefix in ("ze", "zet", "zes")]
    text = "".join((HEADERS / f"{p}_ddi.h").read_text() for p in ("ze", "zet", "zes"))
    for prefix, name in (("ze", "level-zero"), ("zet", "level-zero-tools"),
                         ("zes", "level-zero-sysman")):
        api = describe.parse(str(REPO / f"api/{name}.api"), str(REPO))
        firsts = [first for _, first in api.parts]
        for op in api.operations:
            part = max(i for i, first in enumerate(firsts) if first <= op.number)
            # zeGetCommandListProcAddrTable() fills a ze_command_list_dditable_t
            getter = api.parts[part][0]
            place = text.find(f"\n{getter}(")
            if place < 0 or f"{prefix}_pfn{op.name.removeprefix(prefix)}_t" not in text:
                continue
            table = text[place:].split("dditable_t*")[0].split()[-1] + "dditable_t"
            member = next(line.split()[1].rstrip(";")
                          for line in text.split(f"typedef struct _{table}")[1].split("\n")
                          if line.split() and
                          line.split()[0] == f"{prefix}_pfn{op.name.removeprefix(prefix)}_t")
            lines.append(f"_Static_assert(offsetof({table}, {member}) =="
                         f" {op.number - firsts[part]} * sizeof(void *), \"{op.name}\");")
    assert len(lines) > 280
    (work / "places.c").write_text("\n".join(lines) + "\n")
    run(["cc", "-fsyntax-only", "places.c"])


def test_structures_of_ours_are_the_headers(run, work):
    if not (HEADERS / "ze_api.h").exists():
        pytest.skip("needs Level Zero: apt install libze-dev")
    pairs = {
        "lz_device_properties": ("ze_device_properties_t", {
            "timer_resolution": "timerResolution", "timestamp_bits": "timestampValidBits",
            "kernel_timestamp_bits": "kernelTimestampValidBits", "uuid": "uuid", "name": "name"
        }),
        "lz_event_pool_desc": ("ze_event_pool_desc_t", {"flags": "flags", "count": "count"}),
        "lz_event_desc": ("ze_event_desc_t", {"index": "index", "signal": "signal",
                                              "wait": "wait"}),
        "lz_kernel_desc": ("ze_kernel_desc_t", {"name": "pKernelName"}),
        "lz_kernel_properties": ("ze_kernel_properties_t", {
            "max_subgroup_size": "maxSubgroupSize", "local_bytes": "localMemSize",
            "required_subgroup_size": "requiredSubgroupSize", "spill_bytes": "spillMemSize"
        }),
        "lz_image_desc": ("ze_image_desc_t", {
            "type": "type", "layout": "format.layout", "width": "width",
            "array_levels": "arraylevels"
        }),
        "lz_copy_region": ("ze_copy_region_t", {"width": "width", "depth": "depth"}),
        "lz_kernel_times": ("ze_kernel_timestamp_result_t", {"end": "global.kernelEnd"}),
    }
    values = {
        "LZ_EVENT_POOL_DESC": "ZE_STRUCTURE_TYPE_EVENT_POOL_DESC",
        "LZ_EVENT_DESC": "ZE_STRUCTURE_TYPE_EVENT_DESC",
        "LZ_DEVICE_PROPERTIES_1_2": "ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2",
        "LZ_EVENT_POOL_HOST_VISIBLE": "ZE_EVENT_POOL_FLAG_HOST_VISIBLE",
        "LZ_EVENT_POOL_IPC": "ZE_EVENT_POOL_FLAG_IPC",
        "LZ_EVENT_POOL_TIMES": "ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP",
        "LZ_KERNEL_PROPERTIES": "ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES",
        "LZ_IMAGE_2D_ARRAY": "ZE_IMAGE_TYPE_2DARRAY",
        "LZ_IMAGE_BUFFER": "ZE_IMAGE_TYPE_BUFFER",
        "LZ_EVENT_SCOPE_HOST": "ZE_EVENT_SCOPE_FLAG_HOST",
    }
    lines = ["#include <stddef.h>", "#include <level_zero/ze_api.h>",
             '#include "runtime/level_zero/level_zero_abi.h"']
    for ours, (theirs, members) in pairs.items():
        lines.append(f'_Static_assert(sizeof(struct {ours}) == sizeof({theirs}), "{theirs}");')
        lines += [f"_Static_assert(offsetof(struct {ours}, {a}) == offsetof({theirs}, {b}),"
                  f' "{b}");' for a, b in members.items()]
    lines += [f'_Static_assert((int){a} == (int){b}, "{b}");' for a, b in values.items()]
    (work / "structures.c").write_text("\n".join(lines) + "\n")
    run(["cc", "-fsyntax-only", f"-I{REPO}/src", "structures.c"])


@pytest.mark.parametrize("words, name", [(("replays", "5"), "zeCommandQueueSynchronize"),
                                         (("events", "5"), "zeEventHostSynchronize")])
def test_a_wait_is_split_by_the_work_that_it_waits_for(capture, tap, words, name):
    capture(*words)
    (wait, ) = [
        o for o in json.loads(tap("report", "--json", "r.gputap").out)["operations"]
        if o["name"] == name
    ]
    parts = [wait[p] for p in ("wait_ns", "transfer_ns", "runtime_ns", "unattributed_ns")]
    assert sum(p or 0 for p in parts) == wait["total_ns"]
    if name == "zeCommandQueueSynchronize":  # other calls wait for barriers, not for activities
        assert wait["unattributed_ns"] == 0
