# SPDX-License-Identifier: MIT
"""Test the ways in which programs reach HIP before ROCm 6: every call is seen exactly once,
regardless of the calls that the library makes to itself."""

import re
import subprocess

import pytest

from rings import Session

WAYS = {
    "linked": ["linked"],
    "bound_now": ["bound_now"],
    "dlopen_global": ["plugin_host", "plugin.so", "global"],
    "dlopen_local": ["plugin_host", "plugin.so", "local"],
    "dlopen_deepbind": ["plugin_host", "plugin.so", "deepbind"],
    "dlsym": ["dlsym"],
    "pointer_table": ["table"],
}
HIP, HIP_COMPILER = 2, 3


@pytest.fixture(scope="session")
def ways(tmp_path_factory, repo, hip_headers):
    """Build tests/hip/way.c once for each way and return the folder."""
    folder, source = tmp_path_factory.mktemp("ways"), repo / "tests/hip/way.c"

    def compile(out, *options):
        subprocess.run(["cc", "-O1", "-w", source, "-o", folder / out, *options, "-ldl"],
                       check=True)
    compile("linked", "-lamdhip64", "-Wl,-z,lazy")
    compile("bound_now", "-lamdhip64", "-Wl,-z,now")
    compile("table", "-DVIA_TABLE", "-lamdhip64")
    compile("dlsym", "-DVIA_DLSYM")
    compile("plugin_host", "-DVIA_DLSYM")
    compile("plugin.so", "-DPLUGIN", "-shared", "-fPIC", "-lamdhip64")
    return folder


@pytest.fixture(scope="session")
def device(softgpu):
    """Return an environment in which kernels are not executed. The tests do not use the results of
    kernels, and run faster in this way."""
    return {**softgpu, "SOFT_AMDGPU_EXECUTE": "0"}


def command(ways, way):
    return [ways / part if (ways / part).exists() else part for part in WAYS[way]]


def made_by(out):
    return [line for line in out.splitlines() if line.startswith("hip")]


@pytest.mark.parametrize("way", WAYS)
def test_every_hip_call_is_recorded_once(build, ways, device, way):
    with Session(build) as session:
        made = made_by(session.run(command(ways, way), env=device).out)
        assert len(made) == 21
        assert session.calls() == made
        assert session.counts() == (len(made), len(made), 0)
        modules = [m["text"] for m in session.kind("module")]
        assert ["method=interposition\0" in m
                for m in modules
                if "libamdhip64" in m] == [True], modules
        assert [
            re.search(r"version=\d+\.\d+\.", m) is not None for m in modules if "libamdhip64" in m
        ] == [True], modules


def test_only_hip_operations_that_were_asked_for_are_recorded(build, ways, device):
    """The library itself also calls hipMemcpy through its PLT. This is not a call of the
    program."""
    with Session(build, op=HIP << 16 | 259, device=0) as session:
        made = made_by(session.run(command(ways, "linked"), env=device).out)
        assert session.calls() == [name for name in made if name == "hipMemcpy"]


def test_a_traced_hip_program_prints_what_it_prints_untraced(build, ways, device):
    with Session(build) as session:
        traced = session.run(command(ways, "linked"), env=device).out
        assert traced == session.run(command(ways, "linked"),
                                     env={**device, "GPUTAP_SESSION": None}).out


def test_a_library_opened_and_closed_many_times_keeps_being_seen(build, ways, device):
    with Session(build) as session:
        made = made_by(
            session.run([ways / "plugin_host", ways / "plugin.so", *["local"] * 3], env=device).out)
        assert len(made) == 3 * 21
        assert session.calls() == made


def test_structs_passed_by_value_are_whole_in_the_record(build, ways, device, tap, work):
    tap("run", "-q", "-o", "a.gputap", "--", ways / "linked", env=device)
    tap("export", "a.gputap", "-o", "a.csv")
    text = (work / "a.csv").read_text()
    assert "extent={width=32, height=4, depth=2}" in text
    assert "ysize=4}, value=9, extent={width=32, height=4, depth=0}" in text
    handle = ", ".join(f"reserved{i}=6510615555426900570" for i in range(8))  # 0x5a..
    assert f"handle={{{handle}}}, flags=2" in text


def test_without_a_device_the_failed_calls_are_shown_by_name(build, ways, tap, work):
    """Without the software GPU, /dev/kfd is missing or unused."""
    result = tap("run",
                 "-o",
                 "a.gputap",
                 "--",
                 ways / "linked",
                 env={"HIP_VISIBLE_DEVICES": "-1"},
                 status=None)
    assert result.status == 3
    assert "hipGetDeviceCount" in result.out
    report = tap("report", "--all", "a.gputap").out
    assert "hipErrorNoDevice" in report and "hipGetDeviceCount" in report
    tap("export", "a.gputap", "-o", "a.csv")
    assert ",100,hipErrorNoDevice," in (work / "a.csv").read_text()


# Cases that no real library provides on demand -------------------------------------

@pytest.fixture(scope="session")
def standins(tmp_path_factory, repo):
    """Build the program `copies`, and variants of tests/hip/standin.c: libhipN.so, libhip_sysv.so,
    libhip_registers.so."""
    folder, source = tmp_path_factory.mktemp("standins"), repo / "tests/hip/standin.c"

    def compile(out, copy, *options):
        subprocess.run([
            "cc", "-O1", "-shared", "-fPIC", source, f"-DCOPY={copy}", "-o", folder / out, *options
        ],
                       check=True)
    for i in range(9):
        compile(f"libhip{i}.so", i)
    compile("libhip_sysv.so", 17, "-Wl,--hash-style=sysv", "-Wl,-z,now,-z,relro")
    compile("libhip_registers.so", 18, "-DREGISTERS")
    subprocess.run(["cc", "-O1", repo / "tests/hip/copies.c", "-o", folder / "copies", "-ldl"],
                   check=True)
    return folder


def libraries(folder, *names):
    return [folder / "copies", *(folder / f"libhip{name}.so" for name in names)]


@pytest.mark.parametrize("device", [1, 0], ids=["device_activity", "calls_only"])
def test_functions_handed_out_by_address_are_seen(build, standins, device):
    with Session(build, device=device) as session:
        made = made_by(session.run(libraries(standins, 0)).out)
        assert made[-3:] == ["hipMalloc", "hipSetDevice", "hipFree"]
        assert session.calls() == made


def test_the_older_hash_table_and_read_only_relocations_are_no_obstacle(build, standins):
    with Session(build) as session:
        made = made_by(session.run(libraries(standins, "_sysv")).out)
        assert session.calls() == made


def test_copies_of_the_library_are_told_apart(build, standins):
    with Session(build) as session:
        made = made_by(session.run(libraries(standins, 0, 1, 2)).out)
        assert session.calls() == made
        assert [c["args"][0] for c in session.kind("call") if c["number"] == 103] == [0, 1, 2]
        assert len(session.kind("module")) == 3


def test_one_copy_too_many_works_untraced_and_is_reported(build, standins):
    with Session(build) as session:
        made = made_by(session.run(libraries(standins, *range(9))).out)
        assert session.calls() == made[:len(made) * 8 // 9]
        assert ["too many copies are loaded" in e["text"] for e in session.kind("event")] == [True]


def test_own_calls_are_nobody_s_also_when_only_they_are_asked_for(build, standins):
    with Session(build, op=HIP << 16 | 215, device=0) as session:
        session.run(libraries(standins, 0, "_sysv"))
        # calls through addresses are recorded; calls inside hipMallocPitch are not
        assert session.calls() == ["hipMalloc"] * 2


def test_a_library_that_offers_its_table_is_left_to_the_table_s_method(build, standins):
    with Session(build) as session:
        session.run(libraries(standins, "_registers"))
        assert session.calls() == []


# Functions that compile at run time ---------------------------------------------------

COMPILED = [
    "hiprtcVersion", "hiprtcCreateProgram", "hiprtcCompileProgram", "hiprtcDestroyProgram",
    "hipGetDeviceCount"
]


@pytest.fixture(scope="session")
def compilers(standins, repo):
    """Build compiles_0 and compiles_registers, programs with a stand-in for libhiprtc.so, which is
    loaded first, and a stand-in for HIP."""
    source = repo / "tests/hip/compiles.c"
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-DLIBRARY", source, "-o", standins / "libcompiles.so"],
        check=True)
    for hip in ("0", "_registers"):
        subprocess.run([
            "cc", "-Wall", "-Wextra", "-Werror", source, "-o",
            standins / f"compiles_{hip.strip('_')}", f"-L{standins}", "-lcompiles", f"-lhip{hip}",
            f"-Wl,-rpath,{standins}"
        ],
                       check=True)
    return standins


def test_what_compiles_at_run_time_is_seen_wherever_the_release_has_it(
        build, compilers, repo, hip_headers, device):
    program = compilers / "compiles"
    apart = subprocess.run(
        ["cc", repo / "tests/hip/compiles.c", "-o", program, "-lhiprtc", "-lamdhip64"],
        stderr=subprocess.DEVNULL).returncode == 0
    if not apart:  # before ROCm 6
        subprocess.run(["cc", repo / "tests/hip/compiles.c", "-o", program, "-lamdhip64"],
                       check=True)
    with Session(build) as session:
        made = session.run([program], env=device).out.splitlines()
        assert made == session.calls() == COMPILED
        assert sum("libhiprtc" in m["text"] for m in session.kind("module")) == apart


def test_a_library_of_the_functions_that_compile_is_traced_like_hips(build, compilers):
    with Session(build) as session:
        assert session.run([compilers / "compiles_0"
                            ]).out.splitlines() == session.calls() == COMPILED
        assert len(session.kind("module")) == 2


def test_a_library_of_the_functions_that_compile_is_traced_beside_a_hip_that_offers_its_table(
        build, compilers):
    with Session(build) as session:
        assert session.run([compilers / "compiles_registers"]).out.splitlines() == COMPILED
        assert session.calls() == COMPILED[:-1]
