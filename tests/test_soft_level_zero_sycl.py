# SPDX-License-Identifier: MIT
"""SYCL's real runtime on the software devices of Level Zero, through both of its adapters, and
Intel's PTI beside us. Too large for every day (2.9 GB of wheels): what it needs is named by
GPUTAP_SYCL_PYTHON, a python with dpctl, dpnp, intel-opencl-rt and intel-pti, and
GPUTAP_LEVEL_ZERO_LOADER, a folder with the loader of 1.20 or later."""
import collections
import csv
import os
import pathlib
import re
import subprocess

import pytest

ADAPTERS = {
    "V1 with immediate lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0}),
    "V1 with regular lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0,
                                   "UR_L0_USE_IMMEDIATE_COMMANDLISTS": 0}),
    "V2": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
    "V2 with counter-based events": (["--counter-events"], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
}

TICK_NS = 80  # of the devices' clock


@pytest.fixture(scope="session")
def python():
    path = os.environ.get("GPUTAP_SYCL_PYTHON")
    if not path or not os.environ.get("GPUTAP_LEVEL_ZERO_LOADER"):
        pytest.skip("needs a python with dpctl and dpnp, GPUTAP_SYCL_PYTHON, and the loader of 1.20"
                    " or later, GPUTAP_LEVEL_ZERO_LOADER")
    return pathlib.Path(path)


@pytest.fixture
def sycl(tap, gputap, python):
    """sycl("V2", "-m", "module") runs the python with this adapter; traced: into this capture."""
    loader = os.environ.get("GPUTAP_LEVEL_ZERO_LOADER")

    def call(adapter, *arguments, traced=None, env=None, libraries=(), **keywords):
        options, variables = ADAPTERS[adapter]
        before = ["run", "-o", traced, "--", gputap] if traced else []
        opencl = python.parent.parent / "lib/libintelocl.so"
        return tap(*before, "soft", "level-zero", "--opencl", opencl, *options, "--",
                   "env", *(f"{name}={value}" for name, value in (env or {}).items()),
                   python, *arguments,
                   env={"LD_LIBRARY_PATH": ":".join(map(str, [loader, *libraries])),
                        "ONEAPI_DEVICE_SELECTOR": "level_zero:*", "SOFT_LEVEL_ZERO_TRACE": 1,
                        **variables}, **keywords)

    return call


def read_checks(out):
    """The checks that are not right, by what sycl_checks.py printed."""
    device, *lines = out.splitlines()
    assert device == "backend_type.level_zero device_type.gpu gputap software device"
    lines = [line for line in lines if not line.startswith("MKL Warning: ")]
    assert len(lines) == 19
    return [line for line in lines if not line.endswith(" right")]


def read_done(err):
    """What the driver itself says it did."""
    counts = re.search(r"done: (.*)", err)[1].split(", ")
    return {kind: int(number) for kind, number in (count.rsplit(" ", 1) for count in counts)}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_sycl_computes_right(sycl, repo, adapter):
    result = sycl(adapter, repo / "tests/soft/sycl_checks.py")
    # oneMKL's FFT wants a GPU's own code
    assert read_checks(result.out) == ["fft failed: OpenCL error -1"]
    done = read_done(result.err)
    assert done["kernels"] > 100 and done["copies"] > 100


# Beside Intel's PTI -------------------------------------------------------------------

@pytest.fixture(scope="session")
def pti(repo, python, tmp_path_factory):
    """pti(file): environment in which PTI writes what it sees into the file; its libraries."""
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
    """Counts of PTI's records, and the durations of its kernels by their names."""
    counts, kernels = collections.Counter(), collections.defaultdict(list)
    for line in file.read_text().splitlines():
        kind, _, rest = line.partition(" ")
        counts[kind] += 1
        if kind == "kernel":
            start, end, name = rest.split(" ", 2)
            kernels[name].append(int(end) - int(start))
    return counts, {name: sorted(each) for name, each in kernels.items()}


def read_work(file):
    """The same of ours, from a table of a capture; "" for a time that is not known."""
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
        ours["kernel"], sum(ours[kind] for kind in ("read", "write", "copy")), ours["fill"])
    assert set(theirs) == {"kernel", "copy", "fill"}  # and nothing odd, nothing failed
    assert our_kernels == {name: pytest.approx(times, abs=TICK_NS)
                           for name, times in their_kernels.items()}
    assert "all linked to their call; nothing lost" in tap("report", "both.gputap").out




# dpctl's own tests ---------------------------------------------------------------------

@pytest.mark.parametrize("adapter", ["V1 with immediate lists", "V2"])
def test_dpctls_own_tests_pass(sycl, work, adapter):
    out = sycl(adapter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "dpctl.tests",
               status=None).out
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", out, re.M)
    # those that compile C, where there is no compiler of Cython
    assert [name for name in failed if "cython" not in name] == []
    assert int(re.search(r"(\d+) passed", out)[1]) > 1500
