# SPDX-License-Identifier: MIT
"""Level Zero: a program of ours, Debian's real loader, and a driver of ours (tests/level_zero) that
tells what it was asked for."""
import ctypes.util
import json
import pathlib
import shutil
import sqlite3
import sys

import pytest

from conftest import REPO, run_command

HEADERS = pathlib.Path("/usr/include/level_zero")
MODES = ["immediate", "events", "regular", "replays"]
# the driver's counts of what it ran, beside its calls
COMMANDS = ("kernels", "copies", "fills", "barriers", "signals", "waits", "resets", "queries")


@pytest.fixture(scope="session")
def level_zero(tmp_path_factory):
    """Program and driver, built."""
    if not (HEADERS / "ze_ddi.h").exists() or not ctypes.util.find_library("ze_loader"):
        pytest.skip("needs Level Zero: apt install libze-dev")
    folder = tmp_path_factory.mktemp("level_zero")
    source = REPO / "tests/level_zero"
    flags = ["cc", "-O1", "-g", "-Wall", "-Wextra", "-Werror"]
    run_command(flags + ["-shared", "-fPIC", "-fvisibility=hidden", source / "lz_driver.c", "-o",
                         folder / "liblz_driver.so", "-lpthread"])
    run_command(flags + [source / "lz_program.c", "-o", folder / "lz_program", "-lze_loader",
                         "-ldl"])
    return folder


@pytest.fixture
def environment(level_zero, work):
    return {"ZE_ENABLE_ALT_DRIVERS": level_zero / "liblz_driver.so", "LZ_COUNTS": work / "counts"}


@pytest.fixture
def capture(tap, level_zero, environment):
    """capture(options, words, env) -> what `gputap info` tells of r.gputap."""
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


# The description ---------------------------------------------------------------------

def test_numbers_are_positions_in_the_headers_tables(run, work):
    """Of the release that the tests have; tables only grow at their end."""
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
            # zeGetCommandListProcAddrTable: ze_command_list_dditable_t
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
