# SPDX-License-Identifier: MIT
"""Test the interception method of ROCm 6 and later: libraries register their tables with
librocprofiler-register. Small test libraries (tests/rocm/modern.c) replace HIP and HSA. If
GPUTAP_ROCPROFILER_REGISTER is set, these libraries register with the real register library, which
passes the tables on to gputap."""

import csv
import io
import os
import re
import shutil
import subprocess

import pytest

from conftest import REPO

SOURCE = REPO / "tests/rocm/modern.c"


def build_modern(folder, source, register=None, entries=None, images=13, nccl=37, amd_ext=74):
    def compile(out, *options):
        subprocess.run(
            ["cc", "-O1", "-Wall", "-Wno-pedantic", source, "-o", folder / out, "-ldl", *options],
            check=True)
    if register:
        shutil.copy(register, folder / "librocprofiler-register.so.0")
    else:
        compile("librocprofiler-register.so.0", "-DREGISTER", "-shared", "-fPIC",
                "-Wl,-soname,librocprofiler-register.so.0")
    shared = ["-shared", "-fPIC", f"-L{folder}", "-l:librocprofiler-register.so.0"]
    for name in ("libamdhip64.so.6", *(f"copy{i}.so" for i in range(1, 9))):
        compile(name, "-DHIP", *([f"-DENTRIES={entries}"] if entries else []),
                f"-Wl,-soname,{name}", *shared)
    compile("libhsa-runtime64.so.1", "-DHSA", f"-DIMAGES={images}", f"-DAMD_EXT={amd_ext}",
            "-Wl,-soname,libhsa-runtime64.so.1", *shared)
    compile("librccl.so.1", "-DRCCL", f"-DNCCL={nccl}", "-Wl,-soname,librccl.so.1", *shared)
    compile("librocprofiler-sdk.so.1", "-DSDK", "-shared", "-fPIC",
            "-Wl,-soname,librocprofiler-sdk.so.1")
    compile("program", f"-L{folder}", "-l:libamdhip64.so.6", "-l:libhsa-runtime64.so.1",
            "-l:librccl.so.1", f"-Wl,-rpath-link,{folder}")
    compile("with_sdk", f"-L{folder}", "-l:libamdhip64.so.6", "-l:libhsa-runtime64.so.1",
            "-l:librccl.so.1", f"-Wl,-rpath-link,{folder}", "-Wl,--no-as-needed",
            "-l:librocprofiler-sdk.so.1")
    return folder


@pytest.fixture(scope="session", params=["stand-in", "real"])
def modern(request, tmp_path_factory):
    register = os.environ.get("GPUTAP_ROCPROFILER_REGISTER")
    if request.param == "real" and not register:
        pytest.skip(
            "needs librocprofiler-register.so.0 of ROCm 6 or later, named by"
            " GPUTAP_ROCPROFILER_REGISTER"
        )
    return build_modern(tmp_path_factory.mktemp("modern"), SOURCE,
                        register if request.param == "real" else None)


@pytest.fixture
def trace(tap, work):
    def run(folder, program, *words, env=None):
        result = tap("run",
                     "-f",
                     "-o",
                     "a.gputap",
                     "--mode",
                     "hsa",
                     "--",
                     folder / program,
                     *words,
                     env={"LD_LIBRARY_PATH": folder, **(env or {})})
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        rows = [
            r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
            if r["kind"] == "call"
        ]
        rows.sort(key=lambda r: int(r["correlation"]))
        return result, [r["operation"] for r in rows], tap("info", "a.gputap").out
    return run


HIP = ["hipMalloc", "hipFree"] * 3
# hsa_init() registers the tables, so it is not recorded
HSA = ["hsa_signal_load_relaxed", "hsa_shut_down"] * 2


def test_every_call_through_a_registered_table_is_recorded_once(trace, modern):
    result, names, info = trace(modern, "program")
    assert names == HIP + HSA
    assert result.out == "42\n42\n"
    assert info.count("rocprofiler-register") == 3  # hip, hip_compiler, hsa
    # versions as the library registers them
    assert len(re.findall(r"hip\w* +rocprofiler-register +1 +6\.3\.0 ", info)) == 2
    assert "HSA_TOOLS_LIB" not in info and "interposition" not in info


def test_untraced_programs_of_rocm_6_run_as_before(run, modern):
    assert run([modern / "program"], env={"LD_LIBRARY_PATH": modern}).out == "42\n42\n"


def test_the_users_old_hsa_tool_is_still_loaded_and_no_call_is_seen_twice(trace, modern, repo):
    subprocess.run(
        ["cc", "-shared", "-fPIC", repo / "tests/rocm/hsa_tool.c", "-o", modern / "old.so"],
        check=True)
    _, names, info = trace(modern, "program", env={"HSA_TOOLS_LIB": modern / "old.so"})
    assert names == HIP + HSA
    assert "HSA_TOOLS_LIB" not in info


def test_a_mapped_sdk_gets_the_tables_behind_gputap(trace, modern):
    result, names, _ = trace(modern, "with_sdk")
    assert "sdk: 3\n" in result.err
    assert names == HIP + HSA


def test_an_sdk_that_the_user_asked_for_is_loaded(trace, modern):
    result, names, _ = trace(
        modern, "program", env={"ROCPROFILER_REGISTER_LIBRARY": modern / "librocprofiler-sdk.so.1"})
    assert "sdk: 3\n" in result.err and names == HIP + HSA


def test_an_sdk_is_loaded_for_a_program_that_is_a_tool_itself(trace, modern, tmp_path):
    (tmp_path / "tool.c").write_text("void *rocprofiler_configure(void) { return 0; }\n")
    (tmp_path / "librocprofiler-sdk.so").symlink_to(modern / "librocprofiler-sdk.so.1")
    subprocess.run([
        "cc", "-rdynamic", tmp_path / "tool.c", SOURCE, "-o", tmp_path / "tool", "-ldl",
        f"-L{modern}", "-l:libamdhip64.so.6", "-l:libhsa-runtime64.so.1", "-l:librccl.so.1",
        f"-Wl,-rpath-link,{modern}"
    ],
                   check=True)
    result, names, _ = trace(tmp_path, "tool", env={"LD_LIBRARY_PATH": f"{modern}:{tmp_path}"})
    assert "sdk: 3\n" in result.err and names == HIP + HSA


def test_an_sdk_that_cannot_be_loaded_is_reported_and_the_program_runs(trace, modern):
    result, names, info = trace(
        modern, "program", env={"ROCPROFILER_REGISTER_LIBRARY": "/nowhere/librocprofiler-sdk.so"})
    assert result.out == "42\n42\n" and names == HIP + HSA
    assert "/nowhere/librocprofiler-sdk.so" in info


def test_copies_beyond_what_can_be_told_apart_are_reported(request, trace, modern):
    copies = [modern / f"copy{i}.so" for i in range(1, 9)]
    result, names, info = trace(modern, "program", *copies)
    assert result.out == "".join(f"copy {i}\n" for i in range(1, 9)) + "42\n42\n"
    assert names == HIP * 8 + HSA  # eight of nine copies are traced
    if "stand-in" in request.node.name:  # the real library refuses a ninth copy itself
        assert "a copy of the HIP library, because too many copies are loaded" in info


@pytest.mark.parametrize("entries", [442, 506])
def test_hip_tables_of_the_first_and_the_last_known_release_are_nothing_to_report(
        trace, tmp_path, repo, entries):
    folder = build_modern(tmp_path, repo / "tests/rocm/modern.c", entries=entries)
    _, names, info = trace(folder, "program")
    assert names == HIP + HSA
    assert not re.search(r"hip +table", info), info


@pytest.mark.parametrize("entries", [300, 600])
def test_shorter_and_longer_tables_are_used_as_far_as_known_and_reported(trace, tmp_path, repo,
                                                                     entries):
    folder = build_modern(tmp_path, repo / "tests/rocm/modern.c", entries=entries)
    _, names, info = trace(folder, "program")
    assert names == HIP + HSA
    assert re.search(r"hip +table +%d\b" % (entries + 1), info), info


def test_a_subscriber_gets_the_tables_whole_and_whose_they_are(run, build, modern, repo):
    subprocess.run([
        "cc", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{repo}/include", repo /
        "tests/rocm/raw_tables.c", "-o", modern / "raw_tables.so", f"-L{build}", "-l:libgputap.so.0"
    ],
                   check=True)
    done = run([modern / "program", modern / "copy1.so"],
               env={"LD_PRELOAD": modern / "raw_tables.so", "LD_LIBRARY_PATH": f"{modern}:{build}"})
    hip = [line for line in done.err.splitlines() if line.startswith("HIP")]
    assert sorted(hip) == ["HIP 0: 464 entries, 60300", "HIP 1: 464 entries, 60300",
                           "HIP compiler 0: 10 entries, 60300", "HIP compiler 1: 10 entries, 60300"]
    # HSA is initialised twice
    assert done.err.count("HSA core 0: ") == 2 and done.err.count("HsaApiTable 0: ") == 2


EXTENSIONS = [
    "hsa_ext_sampler_destroy", "hsa_ext_image_create_with_layout", "hsa_ext_program_finalize"
]


def test_image_and_finalizer_extensions_of_a_registered_hsa_are_recorded(trace, run, modern, work):
    result, names, _ = trace(modern, "program", "extensions")
    assert names == EXTENSIONS + ["hsa_shut_down"]
    assert result.out == run([modern / "program", "extensions"],
                             env={"LD_LIBRARY_PATH": modern}).out == "4098 0 8448 0 39175\n"
    finalize = next(r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
                    if r["operation"] == EXTENSIONS[2])
    assert "call_convention=-1" in finalize["arguments"] and 'options="-fast"' in finalize[
        "arguments"]
    assert "max_dynamic_group_size=256" not in finalize[
        "arguments"] and "code_object=0x9907" in finalize["arguments"]


def test_functions_that_a_shorter_table_of_images_does_not_have_are_left_alone_and_it_is_reported(
        trace, tmp_path, repo):
    folder = build_modern(tmp_path, repo / "tests/rocm/modern.c", images=10)
    result, names, info = trace(folder, "program", "extensions")
    assert names == [EXTENSIONS[0], EXTENSIONS[2], "hsa_shut_down"]
    assert result.out == "4098 0 8448 0 39175\n"
    assert re.search(r"hsa_image_ext +table +10 ", info), info


@pytest.mark.parametrize("amd_ext,images,told", [(48, 13, []), (74, 13, []), (76, 14, []),
                                                 (50, 14, ["hsa_amd_ext"]),
                                                 (77, 15, ["hsa_amd_ext", "hsa_image_ext"])])
def test_tables_of_hsa_are_reported_if_they_are_of_no_known_release(trace, tmp_path, repo, amd_ext,
                                                                images, told):
    """gputap knows the tables of releases up to ROCm 7.2."""
    folder = build_modern(tmp_path, repo / "tests/rocm/modern.c", images=images, amd_ext=amd_ext)
    result, names, info = trace(folder, "program", "extensions")
    assert names == EXTENSIONS + ["hsa_shut_down"] and result.out == "4098 0 8448 0 39175\n"
    assert re.findall(r"(hsa_\w+) +table ", info) == told, info


COLLECTIVES = [
    "ncclGetUniqueId", "ncclCommInitRankConfig", "ncclAllReduce", "ncclAllReduce",
    "ncclGetErrorString"
]
COLLECTED = "0 0 0x80301 0 texels 4 invalid argument\n"


def test_calls_of_a_registered_rccl_are_recorded_with_what_is_passed_by_value(
        trace, run, modern, work):
    result, names, info = trace(modern, "program", "collectives")
    assert names == COLLECTIVES
    assert result.out == run([modern / "program", "collectives"], env={"LD_LIBRARY_PATH": modern
                                                                       }).out == COLLECTED
    assert re.search(r"rccl +rocprofiler-register +1 +2\.21\.3 ", info), info
    rows = [
        r for r in csv.DictReader(io.StringIO((work / "a.csv").read_text()))
        if r["domain"] == "rccl"
    ]
    assert "nranks=8, commId={internal0=506097522914230528, " in rows[1][
        "arguments"] and "}, myrank=3, config=0x" in rows[1]["arguments"]
    assert "count=8, datatype=ncclUint8, op=ncclMax, comm=0x80301, stream=NULL" in rows[2][
        "arguments"]
    assert rows[3]["error"] == "ncclInvalidArgument" and "code=ncclInvalidArgument" in rows[4][
        "arguments"]


@pytest.mark.parametrize("entries", [20, 40])
def test_shorter_and_longer_tables_of_rccl_are_used_as_far_as_known_and_reported(
        trace, tmp_path, repo, entries):
    folder = build_modern(tmp_path, repo / "tests/rocm/modern.c", nccl=entries)
    result, names, info = trace(folder, "program", "collectives")
    assert result.out == COLLECTED and names == COLLECTIVES[:5 if entries > 37 else 4]
    assert re.search(r"rccl +table +%d " % (entries + 1), info), info
