# SPDX-License-Identifier: MIT
"""Compile the unchanged samples and C tool of rocprofiler-sdk 0.4 and 0.5 (ROCm 6.2 and 6.3)
against our headers of 1.0.0 with GPUTAP_ROCPROFILER_0_5. Samples that trace also run in our small
HIP program on the software GPU.

GPUTAP_ROCPROFILER_SDK_0_4 and GPUTAP_ROCPROFILER_SDK_0_5 name the checkouts
(docs/internals/conformance.md names the commits)."""

import os
import pathlib
import subprocess

import pytest

from test_rocprofiler_conformance import Place

# Samples that need other AMD libraries (thread traces, and comgr for machine code) are not
# supported.
COUNTERS = ("agent_profiling", "callback_client", "client", "print_functional_counters")
# name: (file that the sample writes, or None for its output; text expected there for a program that
# copies)
TRACING = {
    "api_buffered_tracing": ("api_buffered_trace.log", "hipMemcpyAsync"),
    "api_callback_tracing": ("api_callback_trace.log", "hipMemcpyAsync"),
    "code_object_tracing": ("code_object_trace.log", "code object load"),
    "external_correlation_id_request": (None, "internal correlation IDs not retired: 0"),
    "intercept_table": (None, "hipMemcpyAsync")
}


@pytest.fixture(scope="session", params=["0.4", "0.5"])
def older(request):
    variable = "GPUTAP_ROCPROFILER_SDK_" + request.param.replace(".", "_")
    path = pathlib.Path(os.environ.get(variable) or "/nowhere")
    if not (path / "samples").is_dir():
        pytest.skip(f"needs a checkout of rocprofiler-sdk {request.param}, named by {variable}")
    assert (path / "VERSION").read_text().startswith(request.param)
    return path


@pytest.fixture(scope="session")
def place(hip_headers, softgpu, tmp_path_factory, repo, build):
    made = Place(tmp_path_factory.mktemp("older"), repo, build, softgpu)
    made.flags.append("-DGPUTAP_ROCPROFILER_0_5")
    made.compile(["gcc"], repo / "tests/rocprofiler/copies.c", "-o", "copies", "-lamdhip64")
    return made


def compile_client(place, older, sample, source="client"):
    samples, out = older / "samples", f"{older.name}-{sample}-{source}.so"
    place.compile(["g++", "-std=c++17"], "-O1", "-fPIC", "-shared", f"-I{samples}",
                  f"-I{samples / sample}", samples / sample / f"{source}.cpp", "-o", out)
    return place.folder / out


@pytest.mark.parametrize("source", COUNTERS)
def test_samples_of_counters_compile(place, older, source):
    compile_client(place, older, "counter_collection", source)


@pytest.mark.parametrize("source", ["client", "pcs", "utils"])
def test_samples_of_program_counters_compile(place, older, source):
    """In 0.4 the record contains a plain address, and in 0.5 an offset into a code object."""
    place.flags += ["-DGPUTAP_ROCPROFILER_0_4"] * older.name.endswith("0.4")
    try:
        compile_client(place, older, "pc_sampling", source)
    finally:
        place.flags = [f for f in place.flags if "0_4" not in f]


@pytest.mark.parametrize("sample", TRACING)
def test_samples_that_trace_compile_and_trace(place, older, sample):
    client = compile_client(place, older, sample)
    log, wanted = TRACING[sample]
    said = place.run(place.folder / "copies", LD_PRELOAD=client)
    assert wanted in ((place.folder / log).read_text() if log else said), said[-2000:]


def test_the_c_tool_compiles_and_says_its_version(place, older):
    tool = place.folder / f"{older.name}-c-tool.so"
    place.compile(["gcc", "-std=c11"], "-fPIC", "-shared", older / "tests/tools/c-tool.c", "-o",
                  tool)
    # preload the library: the tool does not call it, and only ROCm 6's librocprofiler-register
    # would open it
    assert "is using rocprofiler-sdk v1.0.0" in place.run(
        place.folder / "copies", LD_PRELOAD=f"{tool}:{place.sdk / 'librocprofiler-sdk.so.1'}")


def test_without_the_macro_the_old_names_are_not_there(place, older):
    with pytest.raises(subprocess.CalledProcessError):
        flags = place.flags
        place.flags = [f for f in flags if "0_5" not in f]
        try:
            compile_client(place, older, "api_buffered_tracing")
        finally:
            place.flags = flags
