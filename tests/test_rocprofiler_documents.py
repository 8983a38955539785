# SPDX-License-Identifier: MIT
"""Compile and run the code blocks of rocprofiler-sdk's documents "Callback tracing services" and
"Runtime intercept tables".

One tool (tests/rocprofiler/documents_client.cpp) contains the blocks, and one HIP program on the
software GPU triggers their callbacks. Tool and program run once, and the tests check their output.
tests/test_tool_examples.py tests the blocks of foo()."""

import re
import shutil
import subprocess

import pytest

from conftest import REPO, run_command

SOURCE = REPO / "tests/rocprofiler/documents_client.cpp"
CXX = [
    "g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-D__HIP_PLATFORM_AMD__=1",
    f"-I{REPO}/include/compat", "-idirafter", f"{REPO}/include/compat/rocm5", SOURCE
]
OF_0_5 = "-DGPUTAP_ROCPROFILER_0_5"


@pytest.fixture(scope="module")
def start(tmp_path_factory, build, hip_headers, softgpu):
    """Return a function: start(NAME=value, ...) runs the program with the tool and returns the
    stderr of both."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder, sdk = tmp_path_factory.mktemp("documents"), build / "src/compat/rocprofiler"
    subprocess.run([
        *CXX, OF_0_5, "-shared", "-fPIC", "-o", folder / "client.so", f"-L{sdk}",
        "-lrocprofiler-sdk", f"-Wl,-rpath,{sdk}", f"-Wl,-rpath-link,{build}"
    ],
                   check=True)
    hipcc = [
        "hipcc", "--offload-arch=gfx906", "-O1", "-Wall",
        REPO / "tests/rocprofiler/documents_program.hip"
    ]
    subprocess.run([*hipcc, "-o", folder / "program", "-lhsa-runtime64"], check=True)
    subprocess.run([*hipcc, "--genco", "-o", folder / "module"], check=True)

    def started(**environment):
        return run_command(
            [folder / "program", folder / "module"],
            env={
                **softgpu, "LD_PRELOAD": folder / "client.so",
                "LD_LIBRARY_PATH": f"{build}:{softgpu['LD_LIBRARY_PATH']}", **environment
            }).err
    return started


@pytest.fixture(scope="module")
def said(start):
    return start()


def lines(said, who):
    return [
        line.removeprefix(f"{who}: ") for line in said.splitlines() if line.startswith(f"{who}: ")
    ]


def test_of_a_domain_two_operations_only_are_reported(said):
    assert "configure: two ROCPROFILER_STATUS_SUCCESS" in said
    assert [line.split()[0] for line in lines(said, "two")] == ["hipSetDevice", "hipGetDevice"]


def test_a_domain_is_configured_once_in_a_context_and_the_first_time_counts(said):
    assert [line for line in lines(said, "configure") if line.startswith("each")] == [
        "each ROCPROFILER_STATUS_SUCCESS",
        "each ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED"
    ]
    assert lines(said, "each") == ["hipSetDevice args 1"]


def test_user_data_keeps_the_time_of_enter_until_exit(said):
    calls = [re.fullmatch(r"\w+ delta (\d+) kept 1 args 1", line) for line in lines(said, "two")]
    assert len(calls) == 2 and all(0 < int(call[1]) < 60_000_000_000 for call in calls), said


def test_a_status_of_hsa_that_is_no_success_is_printed(said):
    failures = re.findall(r"^\[domain=(\w+)\] (\w+) returned a non-zero exit code: (\d+)$", said,
                          re.M)
    # 4097 is HSA_STATUS_ERROR_INVALID_ARGUMENT, which the program received too
    assert ("HSA_CORE_API", "hsa_queue_destroy", "4097") in failures and "\nfails: 4097\n" in said
    assert {domain for domain, _, _ in failures} <= {"HSA_CORE_API", "HSA_AMD_EXT_API"}
    assert not {"hsa_init", "hsa_iterate_agents", "hsa_queue_create", "hsa_executable_freeze"
                } & {name for _, name, _ in failures}
    assert lines(said, "hsa") == []


def test_arguments_are_printed_in_the_form_of_the_sample_output(said):
    # in the document the stream types lack their first letter, so its columns are one character
    # narrower
    host, device, stream = lines(said, "program")[0].split()
    # HIP's own thread may call HSA in between
    samples = [
        block.splitlines()[:7]
        for block in re.sub(r"^\[domain=.*\n", "", said, flags=re.M).split("\n\n")[1:]
    ]
    assert [block[0] for block in samples] == [
        "[HIP_RUNTIME_API] hipLaunchKernel", "[HIP_RUNTIME_API] hipMemcpyAsync"
    ]
    launch, copy = samples[0][1:7], samples[1][1:6]
    assert re.fullmatch(r"    0: void const\*        function_address = 0x[0-9a-f]+", launch[0])
    assert launch[1:3] == ["    1: rocprofiler_dim3_t numBlocks        = {z=1, y=2, x=3}",
                           "    2: rocprofiler_dim3_t dimBlocks        = {z=1, y=1, x=64}"]
    assert re.fullmatch(r"    3: void\*\*             args             = 0x[0-9a-f]+", launch[3])
    assert launch[4:] == [
        "    4: unsigned long      sharedMemBytes   = 0",
        f"    5: ihipStream_t*      stream           = {stream}"
    ]
    assert copy == [f"    0: void*              dst              = {host}",
                    f"    1: void const*        src              = {device}",
                    "    2: unsigned long      sizeBytes        = 1536",
                    "    3: hipMemcpyKind      kind             = DeviceToHost",
                    f"    4: ihipStream_t*      stream           = {stream}"]
    assert not re.match(r"    \d+:", samples[1][6]), "hipMemcpyAsync has five arguments"


EVENT = re.compile(r"(?:(object|symbol): (load|unload) (\d+)(?: in (\d+) (\S+))?.*|(executed))")


def events(said):
    """Return [("object"|"symbol"|"executed", "load"|"unload", own id, code object, name)] in order
    of arrival."""
    found = (EVENT.fullmatch(line) for line in said.splitlines())
    return [("executed", "", 0, 0, "") if m[6] else
            (m[1], m[2], int(m[3]), int(m[4] or m[3]), m[5] or "") for m in found if m]


def test_a_code_object_is_loaded_before_its_symbols_and_unloaded_after_them(said):
    seen = events(said)
    objects = [own for what, phase, own, _, _ in seen if (what, phase) == ("object", "load")]
    assert len(objects) >= 3 and "?" not in {phase for _, phase, *_ in seen}
    for code_object in objects:
        own = [(what, phase) for what, phase, _, of, _ in seen if of == code_object]
        symbols = own.count(("symbol", "load"))
        assert symbols >= 2
        assert own == [("object", "load"), *[("symbol", "load")] * symbols,
                       *[("symbol", "unload")] * symbols, ("object", "unload")]


def test_a_module_is_executed_between_load_and_unload(said):
    seen = events(said)
    first = [e[0] for e in seen].index("executed")
    assert [(what, phase)
            for what, phase, *_ in seen[first - 3:first + 4]] == [("object", "load"),
                                                                  ("symbol", "load"),
                                                                  ("symbol", "load"),
                                                                  ("executed", ""),
                                                                  ("symbol", "unload"),
                                                                  ("symbol", "unload"),
                                                                  ("object", "unload")]
    assert {name for *_, name in seen[first - 2:first]} == {"twice.kd", "nothing.kd"}


def test_what_is_loaded_again_has_new_ids(said):
    for what in ("object", "symbol"):
        loaded = [own for w, phase, own, _, _ in events(said) if (w, phase) == (what, "load")]
        unloaded = [own for w, phase, own, _, _ in events(said) if (w, phase) == (what, "unload")]
        assert len(set(loaded)) == len(loaded) and sorted(loaded) == sorted(unloaded)
    # the program's own symbol once, and the module's symbol twice
    assert [name for _, phase, _, _, name in events(said) if phase == "load"].count("twice.kd") == 3


def test_an_object_goes_before_its_symbols_where_that_is_asked_for(start):
    seen = events(start(GPUTAP_ROCPROFILER_UNLOAD="object-first"))
    first = [e[0] for e in seen].index("executed")
    assert [what for what, *_ in seen[first + 1:first + 4]] == ["object", "symbol", "symbol"]


def test_an_entry_of_hips_table_that_a_tool_wrapped_is_called_and_calls_on(said):
    assert lines(said, "table") == ["type 2 instance 0 count 1"]
    # the table already contained the callbacks when the tool received it, so the tool's function
    # calls them
    order = [line for line in said.splitlines() if "hipGetDevice" in line]
    assert [line.split(" delta")[0] for line in order] == [
        "two: hipGetDevice", "chained: hipGetDevice returns 0, device 0"
    ]


@pytest.mark.parametrize("macro", [OF_0_5, "-UGPUTAP_ROCPROFILER_0_5"])
def test_sources_of_0_5_compile_when_the_macro_is_defined_and_only_then(hip_headers, macro):
    done = subprocess.run([*CXX, macro, "-fsyntax-only"], capture_output=True, text=True)
    if macro == OF_0_5:
        assert done.returncode == 0, done.stderr
    else:
        errors = [line for line in done.stderr.splitlines() if " error: " in line]
        assert len(errors) == 2 and "an operation is a uint32_t" in errors[0], done.stderr
        assert "rocprofiler_callback_tracing_operation_args_cb_t" in errors[1], done.stderr
