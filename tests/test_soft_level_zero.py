# SPDX-License-Identifier: MIT
"""Test the software Level Zero devices with the distribution's loader: memory, lists, events,
kernels, clocks and faults."""
import ctypes.util
import json
import os
import platform
import random
import re
import shutil
import subprocess

import pytest

KERNELS = "tests/soft/level_zero_kernels.cl"
NO_SPIRV = "libpocl.so.2"  # an OpenCL library that rejects SPIR-V


@pytest.fixture(scope="session")
def driver(build):
    library = build / "soft/level_zero/libze_soft.so"
    if not library.exists():
        pytest.skip("needs the software driver, which is built where the loader's headers are:"
                    " apt install libze-dev")
    return library


@pytest.fixture(scope="session")
def program(repo, driver, tmp_path_factory):
    path = tmp_path_factory.mktemp("level_zero") / "level_zero_program"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", repo / "tests/soft/level_zero_program.c", "-o",
        path, "-lze_loader"
    ],
                   check=True)
    return path


@pytest.fixture
def level_zero(run, driver, program):
    """Return a function: level_zero("memory", threads=0, status=0) runs the program on the driver
    with these settings."""

    def call(*arguments, status=0, env=None, **settings):
        environment = {f"SOFT_LEVEL_ZERO_{k.upper()}": v for k, v in settings.items()}
        return run([program, *arguments],
                   status=status,
                   env={"ZE_ENABLE_ALT_DRIVERS": driver, **environment, **(env or {})})

    return call


@pytest.fixture(scope="session")
def compile_spirv(tmp_path_factory):
    """Return a function: compile_spirv(source) compiles OpenCL C source to SPIR-V and returns the
    path."""
    # prefer equal versions, because a translator reads the output of its own LLVM version
    clang, translator = next(
        (found for version in ("-14", "-18", "")
         if all(found := [shutil.which(name + version) for name in ("clang", "llvm-spirv")])),
        [shutil.which("clang")] + [shutil.which("llvm-spirv-14") or shutil.which("llvm-spirv-18")])
    if not clang or not translator:
        pytest.skip("needs clang and llvm-spirv: apt install clang llvm-spirv-14")

    def compile_one(source):
        folder = tmp_path_factory.mktemp("spirv")
        subprocess.run([
            clang, "-cl-std=CL2.0", "-target", "spir64", "-Xclang", "-finclude-default-header",
            "-emit-llvm", "-O1", "-c", source, "-o", folder / "kernels.bc"
        ],
                       check=True)
        subprocess.run([translator, folder / "kernels.bc", "-o", folder / "kernels.spv"],
                       check=True)
        return folder / "kernels.spv"

    return compile_one


@pytest.fixture(scope="session")
def spirv(repo, compile_spirv):
    """Return the kernels as SPIR-V."""
    return compile_spirv(repo / KERNELS)


@pytest.fixture(scope="session")
def takes_spirv():
    library = os.environ.get("GPUTAP_LEVEL_ZERO_OPENCL")
    if not library:
        pytest.skip("needs an OpenCL that takes SPIR-V: GPUTAP_LEVEL_ZERO_OPENCL names its library")
    return library


# Memory, lists, events -----------------------------------------------------------------

LOADERS = {"plain": {}, "validated": {"ZE_ENABLE_VALIDATION_LAYER": 1,
                                      "ZE_ENABLE_PARAMETER_VALIDATION": 1},
           "intercepted": {"ZE_ENABLE_LOADER_INTERCEPT": 1},
           "traced": {"ZE_ENABLE_TRACING_LAYER": 1}}


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("threads", [1, 0])
def test_copies_fills_and_regions_are_done_by_lists_of_all_kinds(level_zero, loader, threads):
    result = level_zero("memory", threads=threads, env=LOADERS[loader], trace=1)
    assert "done: kernels 0, copies 6, regions 6, fills 6, barriers 6" in result.err


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("threads", [1, 0])
def test_commands_wait_for_events_and_events_have_stamps(level_zero, loader, threads):
    result = level_zero("events", threads=threads, env=LOADERS[loader], trace=1)
    assert "resets 1, times 2, queries 1" in result.err


def test_physical_memory_is_mapped_at_addresses_that_were_reserved(level_zero):
    result = level_zero("addresses", trace=1)
    assert "done: kernels 0, copies 1, regions 0, fills 1," in result.err


def test_what_is_wrong_is_refused_with_the_status_of_the_specification(level_zero):
    assert level_zero("errors").out.splitlines() == [
        "no handle: 0x78000005", "handle of another kind: 0x78000004",
        "too much memory: 0x70000003", "free of a stranger: 0x78000004",
        "list that is open: 0x78000004", "list of another engine: 0x78000019",
        "append to a closed list: 0x78000004", "stamp of an event that is not done: 0x1",
        "copy from nowhere: 0x70000001", "list that was destroyed: 0x78000004",
        "event that was destroyed: 0x78000004"
    ]


@pytest.mark.parametrize("settings, said", [
    ({}, "gputap software device: 0 tiles, 12500000 ticks a second, 32 bits\n"),
    ({"devices": 3, "tiles": 2}, 3 *
     "gputap software device: 2 tiles, 12500000 ticks a second, 32 bits\n"),
    ({"clock_hz": 19200000, "kernel_bits": 64},
     "gputap software device: 0 tiles, 19200000 ticks a second, 64 bits\n"),
])
def test_devices_are_as_many_and_as_wide_as_was_asked_for(level_zero, settings, said):
    assert level_zero("devices", **settings).out == said


def test_system_management_says_how_much_memory_is_free(level_zero):
    assert level_zero("system", memory="1G", env={"ZES_ENABLE_SYSMAN": 1,
                                                  "ZET_ENABLE_METRICS": 1}).out == (
        "gputap software device: 1024 MiB, 1024 free, then 960; 0 fans, 0 groups of metrics\n")


# Kernels --------------------------------------------------------------------------------

NAMES = "saxpy: 3 arguments\nreverse: 2 arguments\noffsets: 4 arguments\nspin: 2 arguments\n"


@pytest.mark.parametrize("threads", [1, 0])
def test_kernels_in_opencl_c_compute(level_zero, repo, threads):
    assert level_zero("kernels", repo / KERNELS, threads=threads).out == NAMES


@pytest.mark.parametrize("threads", [1, 0])
def test_kernels_in_spirv_compute(level_zero, spirv, takes_spirv, threads):
    assert level_zero("kernels", spirv, threads=threads, opencl=takes_spirv).out == NAMES


@pytest.mark.parametrize("threads", [1, 0])
def test_of_several_kernels_as_many_run_as_the_device_reads(level_zero, repo, threads):
    assert level_zero("several", repo / KERNELS, threads=threads).out == ""


def test_without_an_opencl_for_spirv_a_module_says_which_package_has_one(level_zero, spirv):
    assert level_zero("log", spirv, opencl=NO_SPIRV).out == (
        "0x70000004: no OpenCL driver here accepts SPIR-V: 'pip install intel-opencl-rt'"
        " installs one"
        " (SOFT_LEVEL_ZERO_OPENCL names its libintelocl.so)\n")


def test_kernels_that_are_not_executed_need_no_opencl(level_zero, spirv):
    result = level_zero("launches", spirv, "7", execute=0, opencl="none", trace=1)
    assert "done: kernels 7," in result.err


def test_a_kernel_says_what_its_source_said_of_its_groups(level_zero, compile_spirv, work):
    (work / "k.cl").write_text(
        "kernel __attribute__((work_group_size_hint(8, 4, 2))) void hinted(global int *a) {}\n"
        "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void fixed(global int *a) {}\n"
        "kernel void plain(global int *a) {}\n")
    module = compile_spirv(work / "k.cl")
    said = [level_zero("attributes", module, name, execute=0).out
            for name in ("hinted", "fixed", "plain")]
    assert said == ["work_group_size_hint(8,4,2)\n", "reqd_work_group_size(16,1,1)\n", "\n"]


def test_a_text_that_does_not_compile_has_a_log(level_zero, work):
    (work / "bad.cl").write_text("// OpenCL C\nkernel void f(global int *a) { *a = nothing; }\n")
    out = level_zero("log", work / "bad.cl").out
    assert out.startswith("0x70000004: ") and "nothing" in out


def test_a_native_module_that_is_neither_is_refused(level_zero, work):
    (work / "binary").write_bytes(b"\x7fELF" + bytes(100))
    assert level_zero("log", work / "binary").out == "0x7800000f: \n"


def test_spirv_that_is_not_sound_is_refused_or_harmless(level_zero, spirv, work):
    sound = spirv.read_bytes()
    dice = random.Random(7)
    refused = 0
    for i in range(60):
        data = bytearray(sound[:dice.randrange(4, len(sound)) if i % 3 == 0 else len(sound)])
        for _ in range(dice.randrange(1, 12)):
            data[dice.randrange(4, len(data))] = dice.choice([0, 1, 0xff, dice.randrange(256)])
        (work / "bad.spv").write_bytes(data)
        refused += level_zero("log", work / "bad.spv", execute=0).out.startswith("0x70000004")
    assert refused > 5


# Images ---------------------------------------------------------------------------------

IMAGES = "tests/soft/level_zero_images.cl"


@pytest.fixture(scope="session")
def images_program(repo, driver, tmp_path_factory):
    path = tmp_path_factory.mktemp("level_zero") / "level_zero_images"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", repo / "tests/soft/level_zero_images.c", "-o",
        path, "-lze_loader"
    ],
                   check=True)
    return path


@pytest.fixture
def images(run, driver, images_program):
    """Return a function: images("copies", threads=0) runs the image program on the driver with
    these settings."""

    def call(*arguments, status=0, env=None, **settings):
        environment = {f"SOFT_LEVEL_ZERO_{k.upper()}": v for k, v in settings.items()}
        return run([images_program, *arguments],
                   status=status,
                   env={"ZE_ENABLE_ALT_DRIVERS": driver, **environment, **(env or {})})

    return call


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("threads", [1, 0])
def test_pixels_are_copied_whole_and_in_regions(images, loader, threads):
    result = images("copies", threads=threads, execute=0, env=LOADERS[loader], trace=1)
    assert result.out == "" and "image copies 24\n" in result.err
    assert "validation" not in result.err.lower()


@pytest.mark.parametrize("threads", [1, 0])
def test_kernels_in_opencl_c_read_and_write_images(images, repo, threads):
    assert images("kernels", repo / IMAGES, threads=threads).out in ("", "no images of buffers\n")


@pytest.mark.parametrize("threads", [1, 0])
def test_kernels_in_spirv_read_and_write_images(images, repo, compile_spirv, takes_spirv, threads):
    assert images("kernels", compile_spirv(repo / IMAGES), threads=threads,
                  opencl=takes_spirv).out == ""


def test_images_that_cannot_be_are_refused(images):
    assert images("errors", execute=0).out.splitlines() == [
        "format of media: 0x7800000e", "float of 8 bits: 0x7800000e",
        "image that is too wide: 0x78000009", "region outside: 0x78000004",
        "no handle: 0x78000005", "handle of another kind: 0x78000004",
        "image that was destroyed: 0x78000004"
    ]


def test_an_image_is_of_its_devices_memory(images):
    assert "0x70000003" in images("copies", execute=0, fail="allocate:2", status=1).out


# Processes ------------------------------------------------------------------------------

@pytest.fixture
def processes(run, repo, driver, work):
    """Return a function: processes("bytes", threads=0) runs the two-process program with these
    settings."""
    run(["cc", "-Wall", "-Wextra", "-Werror", "-O1", repo / "tests/soft/level_zero_processes.c",
         "-o", "processes", "-lze_loader"])

    def call(what, env=None, **settings):
        environment = {f"SOFT_LEVEL_ZERO_{k.upper()}": v for k, v in settings.items()}
        return run([work / "processes", what],
                   env={"ZE_ENABLE_ALT_DRIVERS": driver, **environment, **(env or {})})

    return call


@pytest.mark.parametrize("loader", LOADERS)
@pytest.mark.parametrize("threads", [1, 0])
@pytest.mark.parametrize("how", ["bytes", "descriptor"])
def test_two_processes_share_memory_and_events(processes, how, threads, loader):
    result = processes(how, threads=threads, env=LOADERS[loader])
    assert result.out == "" and result.err == ""


def test_a_child_of_fork_is_refused_with_a_sentence(processes):
    result = processes("late", trace=1)
    assert result.out == "child: 0x78000001 0x78000001\n"
    assert result.err.count("the child of a fork cannot use its parent's devices: fork before the"
                            " first call, or exec\n") == 1
    assert result.err.count(" done: ") == 1


# Functions of newer loaders ---------------------------------------------------------------

@pytest.fixture(scope="session")
def newer(repo, driver, tmp_path_factory):
    path = tmp_path_factory.mktemp("level_zero") / "level_zero_newer"
    subprocess.run([
        "cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{repo}",
        repo / "tests/soft/level_zero_newer.c", "-o", path, "-ldl"
    ],
                   check=True)
    return path


@pytest.mark.parametrize("what", ["versions", "counters", "arguments", "mutable", "times",
                                  "system", "patterns", "atomics", "waits"])
def test_newer_loaders_get_longer_tables_that_work(run, newer, driver, repo, what):
    assert run([newer, driver, what, repo / KERNELS]).out == ""


@pytest.mark.parametrize("threads", [0, 1])
def test_a_wait_means_the_use_of_an_event_that_it_was_appended_after(run, newer, driver, threads):
    for how in ("again", "again in order"):
        assert run([newer, driver, how], env={"SOFT_LEVEL_ZERO_THREADS": threads}).out == ""


@pytest.mark.deep
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
def test_sanitizers_find_nothing(run, repo, driver, spirv, work, sanitizer):
    flags = ["-g", "-O1", f"-fsanitize={sanitizer}", "-D_GNU_SOURCE", f"-I{repo}"]
    sources = [*(repo / "soft/level_zero").glob("*.c"), *(repo / "soft/common").glob("*.c")]
    run(["cc", *flags, "-fPIC", "-shared", *sources, "-o", "libze_soft.so", "-lpthread", "-ldl",
         "-lm", f"-Wl,--version-script={repo / 'soft/level_zero/libze_soft.map'}",
         "-Wl,-Bsymbolic"])
    run(["cc", *flags, repo / "tests/soft/level_zero_program.c", "-o", "program", "-lze_loader"])
    run(["cc", *flags, repo / "tests/soft/level_zero_images.c", "-o", "images", "-lze_loader"])
    for threads, *arguments in ((1, "program", "memory"), (1, "program", "events"),
                                (0, "program", "events"), (1, "program", "errors"),
                                (1, "program", "launches", spirv, "50"), (1, "images", "copies"),
                                (0, "images", "copies")):
        result = run([work / arguments[0], *arguments[1:]],
                     env={"ZE_ENABLE_ALT_DRIVERS": work / "libze_soft.so",
                          # a guarded command leaves its signal handler with a jump (see
                          # soft_parts.c)
                          "TSAN_OPTIONS": "report_signal_unsafe=0",
                          "SOFT_LEVEL_ZERO_EXECUTE": 0, "SOFT_LEVEL_ZERO_THREADS": threads})
        assert "Sanitizer" not in result.err and "runtime error" not in result.err


# Clocks and faults ------------------------------------------------------------------------

def stamps(level_zero, **settings):
    return [int(n) for n in level_zero("stamps", **settings).out.split()]


@pytest.mark.parametrize("hz", [12500000, 19200000, 1000000000])
def test_pairs_of_both_clocks_place_the_stamps_of_a_command(level_zero, hz):
    host, ticks, start, end, later, ticks_later = stamps(level_zero, clock_hz=hz, kernel_bits=64)
    assert ticks <= start < end and start <= ticks_later
    assert ticks_later - ticks == later * hz // 10**9 - host * hz // 10**9 or abs(
        (later - host) * hz // 10**9 - (ticks_later - ticks)) <= 1
    assert ticks == (host + 123456789000) * hz // 10**9


def test_stamps_have_the_valid_bits_only(level_zero):
    _, ticks, start, end, _, later = stamps(level_zero, kernel_bits=20, clock_hz=1000000000)
    assert start < 2**20 and end < 2**20
    assert (start - ticks) % 2**20 <= later - ticks


def test_a_skew_and_an_epoch_are_in_the_pairs(level_zero):
    host, ticks, *_ = stamps(level_zero, clock_epoch="0", clock_skew="1ms", clock_hz=1000000000)
    assert ticks == host - 1000000


@pytest.mark.parametrize("fault, arguments, said", [
    ("allocate", ["memory"], "zeMemAllocShared"),
    ("queue:2", ["memory"], "zeCommandQueueCreate"),
    ("list", ["memory"], "zeCommandListCreateImmediate"),
    ("event:2", ["events"], "zeEventCreate"),
    ("append:3", ["memory"], "zeCommandListAppendMemoryCopy(.*0x70000003"),
    ("module", ["kernels", "SPIRV"], "0x70000004"),
    ("kernel:2", ["launches", "SPIRV", "3"], "zeEventHostSynchronize.*0x70000001"),
])
def test_faults_come_when_they_were_asked_for(level_zero, spirv, fault, arguments, said):
    arguments = [spirv if word == "SPIRV" else word for word in arguments]
    out = level_zero(*arguments, fail=fault, execute=0, status=1).out
    assert re.search(said.replace("(.*", r"\(.*"), out)


def test_stamps_can_be_made_to_fail(level_zero):
    assert stamps(level_zero, fail="stamps")[2:4] == [0, 0]


def test_a_wrong_setting_is_told_and_there_is_no_device(level_zero):
    result = level_zero("devices", devices="many", status=1)
    assert "SOFT_LEVEL_ZERO_DEVICES=many: expected 1 to 8" in result.err


# The command ------------------------------------------------------------------------------

def test_gputap_soft_runs_a_program_on_devices_with_these_options(tap, program):
    result = tap("soft", "level-zero", "--devices", "2", "--tiles", "3", "--clock-hz", "1000000",
                 "--no-execute", "--", program, "devices")
    assert result.out == 2 * "gputap software device: 3 tiles, 1000000 ticks a second, 32 bits\n"
    assert result.err == ""


def test_gputap_soft_says_which_package_has_an_opencl_for_spirv(tap, program, work):
    library = work / "libnone.so"
    library.write_text("")
    result = tap("soft", "level-zero", "--opencl", library, "--", program, "memory")
    assert result.err == ("gputap: no OpenCL driver here accepts SPIR-V:"
                          " 'pip install intel-opencl-rt' installs one\n")


def test_what_gputap_soft_looks_for_is_not_in_the_programs_capture(tap, gputap, program, work):
    """The command `gputap soft` queries OpenCL for SPIR-V support. This query must not be
    recorded."""
    library = ctypes.util.find_library("OpenCL")
    tap("run", "-q", "-o", "a.gputap", "-d", "opencl", gputap, "soft", "level-zero", "--opencl",
        f"/usr/lib/{platform.machine()}-linux-gnu/{library}", "--", program, "devices")
    report = json.loads(tap("report", "--json", "a.gputap").out)
    assert not report.get("operations")
    assert not [p for p in report["processes"] if p["calls"]]


def test_gputap_soft_finds_the_opencl_beside_the_program(tap, program, spirv, takes_spirv, work):
    (work / "bin").mkdir()
    (work / "lib").mkdir()
    (work / "bin/program").symlink_to(program)
    (work / "lib/libintelocl.so").symlink_to(takes_spirv)
    result = tap("soft", "level-zero", "--", work / "bin/program", "kernels", spirv)
    assert result.out == NAMES and result.err == ""


@pytest.mark.parametrize("options, said", [
    (["--devices", "9"], "--devices 9: expected 1 to 8"),
    (["--tiles", "1"], "--tiles 1: expected 0, 2, 3 or 4"),
    (["--clock-drift", "fast"], "--clock-drift fast: expected a rate such as 50ppm or -200ppb"),
    (["--kernel-bits", "65"], "--kernel-bits 65: expected bits, 16 to 64"),
])
def test_gputap_soft_refuses_what_it_does_not_know(tap, driver, options, said):
    assert tap("soft", "level-zero", *options, "--", "true",
               status=2).err == f"gputap soft: {said}\n"


def test_gputap_soft_lists_the_driver(tap, driver):
    out = tap("soft", status=None).out
    assert str(driver) in out and "SPIR-V" in out
