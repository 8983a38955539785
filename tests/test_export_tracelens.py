# SPDX-License-Identifier: MIT
"""Test exported Chrome JSON in AMD's TraceLens, from a checkout, for an OpenCL program and a
PyTorch program."""
import csv
import gzip
import io
import os
import sys
import warnings

import pytest
from test_torch_backend import backend  # noqa: F401: a fixture

pytestmark = pytest.mark.skipif(
    "GPUTAP_TRACELENS" not in os.environ,
    reason="needs TraceLens: GPUTAP_TRACELENS names a checkout, and folders of what it imports")


@pytest.fixture
def analyse(tap, work, monkeypatch):
    """Return a function that analyses a.gputap. The export has CUDA's names of calls, which
    TraceLens needs to find launches, and is decompressed, because TraceLens cannot read .gz."""
    def call():
        tap("export", "a.gputap", "-o", "a.hta.json.gz")
        (work / "a.json").write_bytes(gzip.decompress((work / "a.hta.json.gz").read_bytes()))
        monkeypatch.setattr(sys, "path", os.environ["GPUTAP_TRACELENS"].split(":") + sys.path)
        warnings.simplefilter("ignore")
        from TraceLens import TreePerfAnalyzer
        return TreePerfAnalyzer.from_file(str(work / "a.json"))
    return call


@pytest.fixture
def analysis(tap, build, analyse):
    """Return the analysis of a program with two kernels."""
    tap("run", "-o", "a.gputap", "--", build / "tests/opencl/cl_basic")
    return analyse()


def test_tracelens_breaks_the_devices_time_down(analysis):
    times = analysis.get_df_gpu_timeline().set_index("type")["time ms"]
    assert times["computation_time"] > 0 and times["exposed_memcpy_time"] > 0
    assert times["busy_time"] + times["idle_time"] == pytest.approx(times["total_time"])


def test_tracelens_has_kernels_and_the_calls_that_launched_them(analysis):
    assert list(analysis.get_df_kernels()["Kernel name"]) == ["twice", "plus"]
    launchers = analysis.get_df_kernel_launchers()
    assert list(launchers["name"]).count("cudaLaunchKernel") == 2
    assert (launchers["direct_kernel_count"] == 1).all()


# A torch program ---------------------------------------------------------------------

@pytest.fixture
def training(tap, torch_python, torch_package, backend, repo, analyse):  # noqa: F811
    """Return the analysis of three training steps of a small model on PyTorch's device refdev, with
    shapes."""
    paths = f"{torch_package['PYTHONPATH']}{os.pathsep}{backend['PYTHONPATH']}"
    tap("run", "-o", "a.gputap", "--", torch_python, repo / "tests/torch_refdev_program.py",
        "profile", "mlp", env={**backend, "PYTHONPATH": paths, "GPUTAP_TORCH_SHAPES": 1})
    return analyse()


def test_tracelens_has_the_device_time_of_torchs_operators(training, tap):
    """TraceLens and the report agree on the times of operators."""
    rows = csv.DictReader(io.StringIO(
        tap("report", "--csv", "--top", "0", "--by", "range", "a.gputap").out))
    own = {r["name"]: int(r["self_ns"]) / 1e3 for r in rows if int(r["self_ns"])}
    launchers = training.get_df_kernel_launchers()
    found = launchers.groupby("name")["total_direct_kernel_time"].sum().to_dict()
    assert {"aten::addmm", "aten::mm", "aten::relu"} <= set(found)
    for name in ("aten::addmm", "aten::mm", "aten::relu", "aten::threshold_backward"):
        assert found[name] == pytest.approx(own[name], abs=0.1), name


def test_tracelens_finds_each_kernels_operator_and_its_shapes(training):
    kernels = training.get_df_kernels()
    of = {(k, o) for k, o in zip(kernels["Kernel name"], kernels["Parent cpu_op"])}
    assert {("refdev_gemm<float>", "aten::addmm"), ("refdev_gemm<float>", "aten::mm"),
            ("refdev_relu<float>", "aten::relu")} <= of
    assert kernels["Parent cpu_op"].notna().all()
    addmm = kernels[kernels["Parent cpu_op"] == "aten::addmm"]
    assert len(addmm) == 6
    assert str([64, 20]) in str(addmm["Input dims"].iloc[0]).replace("(", "[").replace(")", "]")


def test_tracelens_breaks_the_devices_time_of_a_training_down(training):
    times = training.get_df_gpu_timeline().set_index("type")["time ms"]
    assert times["computation_time"] > 0 and times["exposed_memcpy_time"] > 0
    assert times["busy_time"] + times["idle_time"] == pytest.approx(times["total_time"])
