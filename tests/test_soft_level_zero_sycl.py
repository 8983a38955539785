# SPDX-License-Identifier: MIT
"""Test SYCL's real runtime on the software Level Zero devices, through both of its adapters,
together with Intel's PTI. The dependencies are too large for daily runs (2.9 GB of wheels).
GPUTAP_SYCL_PYTHON names a python with dpctl, dpnp, intel-opencl-rt and intel-pti.
GPUTAP_LEVEL_ZERO_LOADER names a folder with the loader of 1.20 or later."""
import collections
import csv
import json
import os
import pathlib
import re
import subprocess
import xml.etree.ElementTree

import pytest

from test_late_level_zero import sessions  # noqa: F401 (fixture)

ADAPTERS = {
    "V1 with immediate lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0}),
    "V1 with regular lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0,
                                   "UR_L0_USE_IMMEDIATE_COMMANDLISTS": 0}),
    "V2": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
    "V2 with counter-based events": (["--counter-events"], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
}

TICK_NS = 80  # tick of the devices' clock


@pytest.fixture(scope="session")
def python():
    path = os.environ.get("GPUTAP_SYCL_PYTHON")
    if not path or not os.environ.get("GPUTAP_LEVEL_ZERO_LOADER"):
        pytest.skip("needs a python with dpctl and dpnp, GPUTAP_SYCL_PYTHON, and the loader of 1.20"
                    " or later, GPUTAP_LEVEL_ZERO_LOADER")
    return pathlib.Path(path)


@pytest.fixture
def sycl(tap, gputap, python):
    """Return a function: sycl("V2", "-m", "module") runs the python with this adapter. With
    @traced, the run is recorded into that capture, and @words are passed to gputap run."""
    loader = os.environ.get("GPUTAP_LEVEL_ZERO_LOADER")

    def call(adapter, *arguments, traced=None, words=(), env=None, libraries=(), **keywords):
        options, variables = ADAPTERS[adapter]
        before = ["run", "-o", traced, *words, "--", gputap] if traced else []
        opencl = python.parent.parent / "lib/libintelocl.so"
        return tap(*before, "soft", "level-zero", "--opencl", opencl, *options, "--",
                   "env", *(f"{name}={value}" for name, value in (env or {}).items()),
                   python, *arguments,
                   env={"LD_LIBRARY_PATH": ":".join(map(str, [loader, *libraries])),
                        "ONEAPI_DEVICE_SELECTOR": "level_zero:*", "SOFT_LEVEL_ZERO_TRACE": 1,
                        **variables}, **keywords)

    return call


def read_checks(out):
    """Return the failed checks from the output of sycl_checks.py."""
    device, *lines = out.splitlines()
    assert device == "backend_type.level_zero device_type.gpu gputap software device"
    lines = [line for line in lines if not line.startswith("MKL Warning: ")]
    assert len(lines) == 19
    return [line for line in lines if not line.endswith(" right")]


def read_done(err):
    """Return the driver's own counts of executed commands."""
    counts = re.search(r"done: (.*)", err)[1].split(", ")
    return {kind: int(number) for kind, number in (count.rsplit(" ", 1) for count in counts)}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_sycl_computes_right(sycl, repo, adapter):
    result = sycl(adapter, repo / "tests/soft/sycl_checks.py")
    # oneMKL's FFT needs GPU machine code
    assert read_checks(result.out) == ["fft failed: OpenCL error -1"]
    done = read_done(result.err)
    assert done["kernels"] > 100 and done["copies"] > 100


# Together with Intel's PTI ------------------------------------------------------------

@pytest.fixture(scope="session")
def pti(repo, python, tmp_path_factory):
    """Return a function: pti(file) returns the libraries of PTI and the environment in which PTI
    writes its records into the file."""
    library = python.parent.parent / "lib/libpti_view.so.1"
    if not library.exists():
        pytest.skip("needs Intel's PTI in that python: pip install intel-pti")
    client = tmp_path_factory.mktemp("pti") / "pti_views.so"
    subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O1",
                    repo / "tests/soft/pti_views.c", "-o", client, "-ldl"], check=True)

    def call(file):
        return {"env": {"PTI_VIEWS_LIBRARY": library, "PTI_VIEWS_OUT": file, "LD_PRELOAD": client},
                "libraries": [library.parent, library.parent / "pti"]}

    return call


def read_views(file):
    """Return ({kind: number of PTI's records}, {name: sorted durations of the kernels})."""
    counts, kernels = collections.Counter(), collections.defaultdict(list)
    for line in file.read_text().splitlines():
        kind, _, rest = line.partition(" ")
        counts[kind] += 1
        if kind == "kernel":
            start, end, name = rest.split(" ", 2)
            kernels[name].append(int(end) - int(start))
    return counts, {name: sorted(each) for name, each in kernels.items()}


def read_work(file):
    """Return the same as read_views(), but from a CSV of our capture, with 0 for an unknown
    duration."""
    counts, kernels = collections.Counter(), collections.defaultdict(list)
    with open(file, newline="") as table:
        for row in csv.DictReader(table):
            if row["kind"] != "device":
                continue
            counts[row["operation"]] += 1
            if row["operation"] == "kernel":
                kernels[row["name"]].append(int(row["duration_ns"] or 0))
    return counts, {name: sorted(each) for name, each in kernels.items()}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_our_records_are_ptis_records_and_the_drivers_own_counts(sycl, tap, pti, repo, work,
                                                                 adapter):
    result = sycl(adapter, repo / "tests/soft/sycl_checks.py", traced="both.gputap",
                  **pti(work / "pti.txt"))
    assert read_checks(result.out) == ["fft failed: OpenCL error -1"]
    done = read_done(result.err)
    theirs, their_kernels = read_views(work / "pti.txt")
    tap("export", "both.gputap", "-o", "both.csv")
    ours, our_kernels = read_work(work / "both.csv")
    assert (done["kernels"], done["copies"], done["fills"]) == (
        theirs["kernel"], theirs["copy"], theirs["fill"]) == (
        ours["kernel"], sum(ours[kind] for kind in ("memcpy D2H", "memcpy H2D", "memcpy D2D")),
        ours["memset"])
    assert set(theirs) == {"kernel", "copy", "fill"}  # no unusual or failed record
    assert our_kernels == {name: pytest.approx(times, abs=TICK_NS)
                           for name, times in their_kernels.items()}
    assert "all linked to their calls; nothing lost" in tap("report", "--all", "both.gputap").out


# Unified Runtime ------------------------------------------------------------------------

def read_rows(file):
    with open(file, newline="") as table:
        return list(csv.DictReader(table))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_each_kernel_was_appended_in_a_call_of_unified_runtime(sycl, tap, repo, work, adapter):
    result = sycl(adapter, repo / "tests/soft/sycl_checks.py", traced="ur.gputap",
                  words=["--mode", "sycl"])
    assert read_checks(result.out) == ["fft failed: OpenCL error -1"]
    tap("export", "ur.gputap", "-o", "ur.csv")
    rows = read_rows(work / "ur.csv")
    calls = {row["correlation"]: row for row in rows if row["kind"] == "call"}
    kernels = [row for row in rows if row["operation"] == "kernel"]
    assert len(kernels) == read_done(result.err)["kernels"]
    outer = collections.Counter()
    for kernel in kernels:
        call = calls[kernel["correlation"]]
        while call["parent"] and call["domain"] != "unified_runtime":
            call = calls[call["parent"]]
        outer[call["operation"]] += 1
    launch = "urEnqueueKernelLaunchWithArgsExp"
    if "regular" not in adapter:  # a regular list is run by the call that waits for the kernel
        assert outer == {launch: len(kernels)}
    assert sum(call["operation"] == launch for call in calls.values()) == len(kernels)
    report = tap("report", "--all", "ur.gputap").out
    assert "all linked to their calls; nothing lost" in report
    assert "typeinfo name for" not in report
    # waits are attributed through the nested calls
    assert not re.search(r"Waits +[\d.]+ \w+ unattributed", result.err)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_unified_runtimes_calls_are_those_of_ptis_runtime_view(sycl, tap, pti, repo, work,
                                                               adapter):
    ids = (repo / "include/compat/pti/pti_runtime_sycl_api_ids.h").read_text()
    names = {number: name for name, number in re.findall(r"(ur\w+)_id = (\d+),", ids)}
    beside = pti(work / "pti.txt")
    beside["env"]["PTI_VIEWS_CALLS"] = 1
    sycl(adapter, repo / "tests/soft/sycl_checks.py", traced="ur.gputap",
         words=["--mode", "sycl"], **beside)
    theirs = collections.Counter(names[line.split()[1]] for line in
                                 (work / "pti.txt").read_text().splitlines()
                                 if line.startswith("call "))
    tap("export", "ur.gputap", "-o", "ur.csv")
    ours = collections.Counter(row["operation"] for row in read_rows(work / "ur.csv")
                               if row["domain"] == "unified_runtime")
    # SYCL makes one call for both adapters, and PTI ends before the last releases
    for name in ("urAdapterGet", "urAdapterRelease", "urDeviceRelease"):
        assert ours.pop(name) >= theirs.pop(name, 0)
    assert ours == theirs and len(ours) > 40


def test_pti_tools_are_notified_of_sycls_runtime_and_of_its_driver(sycl, build, repo, work):
    tool = work / "tool.so"
    libraries = [build / "src/compat/pti", build]
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", f"-I{repo}/include",
                    f"-I{repo}/include/compat", repo / "tests/pti/log_tool.c", "-o", tool,
                    *(f"-L{folder}" for folder in libraries), "-l:libpti_callback.so.1",
                    "-l:libgputap.so.0", f"-Wl,-rpath,{':'.join(map(str, libraries))}"],
                   check=True)
    lines = [line.split() for line in
             sycl("V2", repo / "tests/soft/sycl_checks.py",
                  env={"LD_PRELOAD": tool, "PTI_WORDS": "3:295,1:55"}).err.splitlines()
             if line.startswith("a E")]
    assert len(lines) > 400 and {line[5] for line in lines} == {
        "urEnqueueKernelLaunchWithArgsExp", "zeCommandListAppendLaunchKernel"}
    assert all(line[7 if "status" in line[6] else 6] == "args=1" for line in lines)
    names = {word for line in lines for word in line if word.startswith("kernel=")}
    assert "kernel=-" not in names
    assert sum(name.startswith("kernel=_ZTS") for name in names) > 40


# Both back ends -------------------------------------------------------------------------

@pytest.mark.parametrize("adapter", ["V1 with immediate lists", "V2"])
def test_opencl_and_level_zero_are_in_one_report(sycl, tap, python, repo, work, adapter):
    opencl = python.parent.parent / "lib/libintelocl.so"
    result = sycl(adapter, repo / "tests/soft/sycl_both.py", traced="ways.gputap",
                  env={"ONEAPI_DEVICE_SELECTOR": "level_zero:gpu;opencl:cpu",
                       "OCL_ICD_FILENAMES": opencl})
    assert result.out == "backend_type.opencl right\nbackend_type.level_zero right\n"
    tap("export", "ways.gputap", "-o", "ways.csv")
    kernels = collections.defaultdict(set)
    for row in read_rows(work / "ways.csv"):
        if row["operation"] == "kernel":
            kernels[row["domain"]].add(row["name"])
    assert set(kernels) == {"opencl", "level_zero"}
    for names in kernels.values():
        assert any(name.startswith("dpnp::tensor::kernels::multiply::") for name in names)
    report = tap("report", "--all", "ways.gputap").out
    assert "all linked to their calls; nothing lost" in report
    assert "Operations of opencl" in report and "Operations of level_zero" in report
    assert "typeinfo name for" not in report and "_ZTS" not in report


# dpctl's own tests ---------------------------------------------------------------------

@pytest.mark.parametrize("adapter", ["V1 with immediate lists", "V2"])
def test_dpctls_own_tests_pass(sycl, work, adapter):
    out = sycl(adapter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "dpctl.tests",
               status=None).out
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", out, re.M)
    # tests that compile C fail if Cython has no compiler
    assert [name for name in failed if "cython" not in name] == []
    assert int(re.search(r"(\d+) passed", out)[1]) > 1500


# Each test takes minutes and runs only with GPUTAP_SYCL_OWN_TESTS=1.
OWN_TESTS = {
    "dpctl": ("dpctl", ["tests"]),
    "dpnp's sorting": ("dpnp", ["tests/test_sort.py", "tests/third_party/cupy/sorting_tests"]),
    "dpnp's indexing": ("dpnp", ["tests/test_indexing.py",
                                 "tests/third_party/cupy/indexing_tests"]),
    "dpnp's logic": ("dpnp", ["tests/test_logic.py", "tests/third_party/cupy/logic_tests"]),
}


def read_results(file):
    """Return {test: result}."""
    results = collections.defaultdict(list)
    for case in xml.etree.ElementTree.parse(file).iter("testcase"):
        ends = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
        results[case.get("classname"), case.get("name")].append(ends)
    return results


@pytest.mark.parametrize("which", OWN_TESTS)
def test_their_own_tests_end_the_same_with_and_without_gputap(sycl, tap, python, work, which):
    if not os.environ.get("GPUTAP_SYCL_OWN_TESTS"):
        pytest.skip("needs GPUTAP_SYCL_OWN_TESTS, for it takes minutes")
    package, paths = OWN_TESTS[which]
    folder, = (python.parent.parent / "lib").glob(f"python3*/site-packages/{package}")
    for name, traced in (("plain", None), ("traced", "own.gputap")):
        sycl("V2", "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={work / name}",
             *(folder / path for path in paths), traced=traced, words=["-q"], status=None,
             timeout=1200)
    plain, traced = read_results(work / "plain"), read_results(work / "traced")
    assert len(plain) > 900
    assert {test: (ends, traced.get(test)) for test, ends in plain.items()
            if traced.get(test) != ends} == {} and len(traced) == len(plain)
    info = json.loads(tap("info", "--json", "own.gputap").out)
    assert info["linked"] == info["activities"] > 100
    assert info["seen"] == info["recorded"] + info["dropped"]


# Attached to while it runs --------------------------------------------------------------

@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_sycl_program_is_recorded_after_an_attach(
        sycl, tap, repo, build, sessions, adapter):  # noqa: F811
    """The program runs 20 kernels and 3 copies after the attach. V1's events, which were created
    earlier, have no times."""
    session = sessions("r.gputap", "-d", "level_zero,unified_runtime")
    result = sycl(adapter, repo / "tests/soft/sycl_late.py", build / "libgputap.so.0",
                  session.folder)
    session.end()
    assert result.out == "0 23000.0\n"
    report = json.loads(tap("report", "--json", "--top", "0", "r.gputap").out)
    made = {o["name"]: o["calls"] for o in report["operations"]}
    assert made["urEnqueueKernelLaunchWithArgsExp"] == 20 == made["zeCommandListAppendLaunchKernel"]
    assert made["urEnqueueUSMMemcpy"] == 3 == made["zeCommandListAppendMemoryCopy"]
    info = json.loads(tap("info", "--json", "r.gputap").out)
    assert info["activities"] == info["linked"] == 23 and info["seen"] == info["recorded"]
    named = [event["text"] for event in info["events"] if event["event"] == "attached late"]
    assert info["untimed"] == (23 if adapter.startswith("V1") else 0)
    assert bool(named) == adapter.startswith("V1")
    assert [(k["name"][:36], k["count"]) for k in report["kernels"]] == [
        ("dpnp::tensor::kernels::add::add_inpl", 20)]
