# SPDX-License-Identifier: MIT
"""Run upstream's samples, C tool and unit tests, unchanged, on our librocprofiler-sdk.so.1 and the
software GPU.

GPUTAP_ROCPROFILER_SDK names a checkout of rocprofiler-sdk (docs/internals/conformance.md names the
commit). No upstream code is copied. Each program is compiled with a single command."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

FAILURE = re.compile(
    "threw an exception|Permission denied|Could not create logging file|failed with error"
    " code|Subprocess aborted"
)
UNIT_TESTS = ("callback_external_correlation", "buffered_external_correlation",
              "intercept_table_and_callback_tracing",
              "intercept_table_and_callback_tracing_disable_context",
              "registration_lambda_no_result", "callback_registration_lambda_with_result",
              "buffer_registration_lambda_with_result", "roctx_callback_tracing",
              "roctx_buffered_tracing", "error_string")


@pytest.fixture(scope="session")
def checkout():
    path = os.environ.get("GPUTAP_ROCPROFILER_SDK")
    if not path or not (pathlib.Path(path) / "samples").is_dir():
        pytest.skip("needs a checkout of rocprofiler-sdk, named by GPUTAP_ROCPROFILER_SDK")
    return pathlib.Path(path)


class Place:
    """Folder and flags for compiling programs, and the environment in which the programs run."""

    def __init__(self, folder, repo, build, device):
        self.folder = folder
        sdk, roctx = build / "src/compat/rocprofiler", build / "src/compat/roctx"
        self.sdk = sdk
        self.flags = [
            "-w", "-D__HIP_PLATFORM_AMD__=1", f"-I{repo}/include/compat", "-idirafter",
            f"{repo}/include/compat/rocm5"
        ]
        self.libraries = [
            f"-L{sdk}", "-lrocprofiler-sdk", f"-L{roctx}", "-lrocprofiler-sdk-roctx",
            f"-Wl,-rpath-link,{build}", "-lpthread"
        ]
        self.environment = {
            **device,
            "LD_LIBRARY_PATH": f"{sdk}:{build}:{roctx}:{device['LD_LIBRARY_PATH']}:{folder}",
        }

    def compile(self, compiler, *words):
        subprocess.run([*compiler, *self.flags, *map(str, words), *self.libraries],
                       check=True,
                       cwd=self.folder,
                       timeout=600)

    def run(self, *command, timeout=600, **more):
        done = subprocess.run(
            [str(c) for c in command],
            env={**os.environ, **{k: str(v) for k, v in {**self.environment, **more}.items()}},
            cwd=self.folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout)
        assert not FAILURE.search(done.stdout), done.stdout[-4000:]
        assert done.returncode == 0, done.stdout[-4000:]
        return done.stdout


@pytest.fixture(scope="session")
def place(checkout, hip_headers, softgpu, tmp_path_factory, repo, build):
    return Place(tmp_path_factory.mktemp("upstream"), repo, build, softgpu)


HIPCC = ["hipcc", "--offload-arch=gfx906", "-std=c++17"]


@pytest.fixture(scope="session")
def sample(place, checkout):
    def make(name):
        samples = checkout / "samples"
        include = [f"-I{samples}", f"-I{samples / name}"]
        place.compile(["g++", "-std=c++17"], "-O1", "-fPIC", "-shared", *include,
                      samples / name / "client.cpp", "-o", f"lib{name}.so")
        place.compile(HIPCC, *include, samples / name / "main.cpp", "-o", name, f"-L{place.folder}",
                      f"-l{name}")
        return place.folder / name
    return make


@pytest.fixture(scope="session")
def program(place, repo):
    """Return a program that copies. Upstream runs its program `transpose` here, but its kernels
    take minutes in software."""
    place.compile(["gcc"], repo / "tests/rocprofiler/copies.c", "-o", "copies", "-lamdhip64")
    return place.folder / "copies"


@pytest.mark.parametrize("way", ["preloaded", "listed"])
def test_the_c_tool_is_asked_and_no_thread_is_made(place, checkout, program, way):
    place.compile(["gcc", "-std=c11"], "-fPIC", "-shared", checkout / "tests/tools/c-tool.c", "-o",
                  "c-tool.so")
    tool, library = place.folder / "c-tool.so", place.sdk / "librocprofiler-sdk.so.1"
    # on ROCm 6 and later librocprofiler-register opens the library; earlier versions need a preload
    way = {"LD_PRELOAD": tool
           } if way == "preloaded" else {"ROCP_TOOL_LIBRARIES": tool, "LD_PRELOAD": library}
    out = place.run(program, **way)
    assert re.search(
        r"Test C tool \(priority=0\) is using rocprofiler-sdk v([0-9]+\.[0-9]+\.[0-9]+)", out)
    assert "Internal thread for rocprofiler-sdk should not be created" not in out


@pytest.fixture(scope="session")
def unit_tests(place, checkout):
    source = checkout / "source"
    tests = [source / f"lib/rocprofiler-sdk/tests/{name}.cpp" for name in
             ("external_correlation", "intercept_table", "registration", "roctx", "status")]
    # gcc 14's headers do not include these two
    missing = ["-include", "algorithm", "-include", "iomanip"]
    place.compile(["g++", "-std=c++17"], "-O0", *missing, f"-I{source}", *tests,
                  source / "lib/common/utility.cpp", "-o", "unit_tests", "-lhsa-runtime64",
                  "-lamdhip64", "-lgtest", "-lgtest_main", "-lglog")
    return place.folder / "unit_tests"


@pytest.mark.parametrize("name", UNIT_TESTS)
def test_upstreams_unit_tests(place, unit_tests, name):
    out = place.run(unit_tests, f"--gtest_filter=rocprofiler_lib.{name}")
    assert "[  PASSED  ] 1 test." in out


@pytest.mark.parametrize("source", [
    "pc_sampling/client", "pc_sampling/pcs", "pc_sampling/utils",
    "counter_collection/buffered_client", "counter_collection/callback_client",
    "counter_collection/device_counting_async_client",
    "counter_collection/device_counting_sync_client",
    "counter_collection/print_functional_counters_client"
])
def test_samples_of_what_is_not_there_compile(place, checkout, source):
    samples = checkout / "samples"
    place.compile(["g++", "-std=c++17"], "-fsyntax-only", f"-I{samples}",
                  f"-I{samples / source.split('/')[0]}", samples / f"{source}.cpp")


def test_every_function_that_upstreams_headers_declare_is_exported(place, checkout):
    listed = subprocess.run(["nm", "-D", "--defined-only", place.sdk / "librocprofiler-sdk.so.1"],
                            check=True,
                            text=True,
                            capture_output=True).stdout
    exported = {line.split()[2] for line in listed.splitlines()}
    text = "".join(
        path.read_text() for path in (checkout / "source/include/rocprofiler-sdk").rglob("*.h"))
    declared = {
        name for name in re.findall(r"^(rocprofiler_\w+)\(", text, re.M)
        if not name.endswith(("_t", "_cb"))
    }
    inline = {
        "rocprofiler_configure", "rocprofiler_create_profile_config",
        "rocprofiler_destroy_profile_config", "rocprofiler_record_header_compute_hash"
    }
    assert len(declared) > 60 and declared - exported == inline


def test_intercept_table(place, sample):
    place.run(sample("intercept_table"), 1, 2, 1, SOFT_AMDGPU_EXECUTE="0")
    log = (place.folder / "intercept_table.log").read_text()
    assert int(re.search(r"hipLaunchKernel +:: call_count = (\d+)", log)[1]) == 2
    assert "tool_fini" in log


def test_api_callback_tracing(place, sample):
    place.run(sample("api_callback_tracing"), 1, 2, 1, SOFT_AMDGPU_EXECUTE="0")
    log = (place.folder / "api_callback_trace.log").read_text()
    assert "hipLaunchKernel" in log and "tool_fini" in log


def test_api_buffered_tracing(place, sample):
    place.run(sample("api_buffered_tracing"), 1, 1, 1)
    log = (place.folder / "api_buffered_trace.log").read_text()
    kernels = re.findall(r"kernel_id=(\d+), kernel=(\S+), start=(\d+), stop=(\d+)", log)
    assert any(name.startswith("_Z9transpose")
               for _, name, _, _ in kernels) and "??" not in {name for _, name, _, _ in kernels}
    assert all(int(start) < int(stop) for _, _, start, stop in kernels)
    assert "internal thread about to be created by rocprofiler" in log


def test_code_object_tracing(place, sample):
    place.run(sample("code_object_tracing"), 1, 2, 1, SOFT_AMDGPU_EXECUTE="0")
    log = (place.folder / "code_object_trace.log").read_text()
    assert len(re.findall("code object load", log)) == len(re.findall("code object unload",
                                                                      log)) >= 1
    assert len(re.findall("kernel symbol load", log)) == len(re.findall(
        "kernel symbol unload", log)) >= 2
    assert re.search("kernel_name=.*transpose", log)
    # symbols are unloaded before their code object
    order = re.findall(r"(kernel symbol|code object) unload", log)
    assert order[0] == "kernel symbol" and order[-1] == "code object"


def test_external_correlation_id_request(place, sample):
    out = place.run(sample("external_correlation_id_request"), 1, 1, 1)
    assert (
        "external correlation IDs not seen   : 0" in out
        and "internal correlation IDs not retired: 0" in out
    )


# json-tool records everything into a JSON file, which validate.py in the program's folder checks.

@pytest.fixture(scope="session")
def json_tool(place, checkout, repo):
    """Build json-tool. Its headers come from include/compat, except the C++ headers that write with
    cereal and Perfetto, which come from the checkout. cereal comes from the distribution. No test
    reads the Perfetto trace, so tests/rocprofiler/json_tool/perfetto.h replaces Perfetto."""
    if subprocess.run(["g++", "-E", "-xc++", "-include", "cereal/cereal.hpp", "/dev/null"],
                      capture_output=True).returncode:
        pytest.skip("needs cereal: apt install libcereal-dev")
    theirs = place.folder / "theirs/rocprofiler-sdk/cxx"
    theirs.mkdir(parents=True)
    for name in ("serialization.hpp", "serialization", "perfetto.hpp", "container"):
        (theirs / name).symlink_to(checkout / "source/include/rocprofiler-sdk/cxx" / name)
    packages = place.folder / "packages/rocprofiler_sdk"
    packages.mkdir(parents=True)
    (packages / "pytest_utils").symlink_to(checkout / "tests/pytest-packages/pytest_utils")
    place.compile(["g++", "-std=c++17"], "-O1", "-fPIC", "-shared",
                  f"-I{repo}/tests/rocprofiler/json_tool", f"-I{place.folder}/theirs",
                  f"-I{checkout}/tests", checkout / "tests/tools/json-tool.cpp", "-o",
                  "json-tool.so")
    return place.folder / "json-tool.so"


@pytest.fixture
def recorded(place, checkout, json_tool, tmp_path):
    """Return a function: recorded("transpose", 2, 1, ...) runs a program of upstream's tests/bin
    and returns its JSON file."""
    def record(program, *arguments, source=None, compiled=(), preload=(), **environment):
        file = tmp_path / "recorded.json"
        if not (place.folder / program).exists():
            place.compile(HIPCC, f"-I{checkout}/tests", *compiled,
                          checkout / f"tests/bin/{program}/{source or program}.cpp", "-o", program,
                          "-lhsa-runtime64")
        place.run(place.folder / program,
                  *arguments,
                  LD_PRELOAD=":".join(map(str, [*preload, json_tool])),
                  ROCPROFILER_TOOL_OUTPUT_FILE=file,
                  ROCPROFILER_DISABLE_PERFETTO_ANNOTATIONS="1",
                  **environment)
        return file
    return record


@pytest.fixture
def validate(place, checkout):
    """Return a function: validate(folder, file, 9) checks that exactly this many of upstream's
    tests pass, and that no test has another result."""
    def check(folder, file, count, *options):
        environment = {
            **os.environ, "PYTHONPATH": f"{place.folder}/packages", "PYTHONDONTWRITEBYTECODE": "1"
        }
        done = subprocess.run([
            sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:cacheprovider",
            *options, "--input", file, "validate.py"
        ],
                              cwd=checkout / "tests" / folder,
                              env=environment,
                              text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT,
                              timeout=600)
        assert done.returncode == 0, done.stdout[-4000:]
        assert re.search(rf"^{count} passed(?!.*(skipped|xfailed))", done.stdout,
                         re.MULTILINE), done.stdout[-2000:]
    return check


def test_json_tool_of_kernels(recorded, validate):
    """The program gives up if one of its steps takes a tenth of the requested run time. The test
    then runs the program again with a longer time. test_total_runtime checks the duration of
    kernels, which depends on hardware."""
    for milliseconds in (200, 400, 800, 1600, 3200):
        try:
            file = recorded("reproducible-runtime", milliseconds, 2, 64, SOFT_AMDGPU_EXECUTE="0")
            break
        except AssertionError as failure:
            if "total kernel runtime exceeded" not in str(failure):
                raise
    validate("kernel-tracing", file, 9, "-k", "not test_total_runtime")


def test_json_tool_of_copies(place, repo, recorded, validate, rocr):
    """On HIP 5, upstream's program does not end without tests/rocprofiler/hip5_pools.c."""
    preload = []
    if rocr < 18:
        place.compile(["gcc"], "-fPIC", "-shared", repo / "tests/rocprofiler/hip5_pools.c", "-o",
                      "hip5_pools.so")
        preload = [place.folder / "hip5_pools.so"]
    validate("async-copy-tracing",
             recorded("transpose", 2, 100, 10, preload=preload, SOFT_AMDGPU_EXECUTE="0"), 10)


def test_json_tool_of_graphs(recorded, validate):
    file = recorded(
        "hip-graph",
        ROCPROFILER_TOOL_CONTEXTS="HIP_API_CALLBACK,HIP_API_BUFFERED,KERNEL_DISPATCH_CALLBACK,"
        "KERNEL_DISPATCH_BUFFERED,CODE_OBJECT")
    validate("hip-graph-tracing", file, 7)


def test_json_tool_of_allocations(repo, recorded, validate):
    """The program contains a function that is never called and needs the declarations in
    tests/rocprofiler/json_tool/hsa6_vmem.h."""
    compiled = [
        "-include", repo / "tests/rocprofiler/json_tool/hsa6_vmem.h", "-ffunction-sections",
        "-Wl,--gc-sections"
    ]
    validate("hsa-memory-allocation", recorded("hsa-memory-allocation", compiled=compiled), 7)


@pytest.mark.parametrize("program, source", [("simple-transpose", None),
                                             ("vector-operations", "vector-ops"),
                                             ("hip-streams", "compute_comm_overlap")])
def test_json_tool_of_other_programs(recorded, validate, program, source):
    """Upstream runs these programs with rocprofv3. The checks in async-copy-tracing's validate.py
    that apply to any program must hold for them."""
    validate(
        "async-copy-tracing",
        recorded(program, source=source, SOFT_AMDGPU_EXECUTE="0"),
        7,
        "-k",
        "size_entries or timestamps or internal or external or kernel_ids or dispatch_ids or"
        " retired",
    )


def test_json_tool_of_scratch_memory(recorded, validate, rocr):
    """ROCr reports scratch memory from version 6.1 on, which two of upstream's tests need."""
    file = recorded("scratch-memory", SOFT_AMDGPU_EXECUTE="0")
    if rocr >= 13:
        validate("scratch-memory-tracing", file, 5)
    else:
        validate("scratch-memory-tracing", file, 3, "-k",
                 "not test_data_structure and not test_scratch_memory_tracking")
