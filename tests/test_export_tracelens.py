# SPDX-License-Identifier: MIT
"""Chrome JSON in AMD's TraceLens, from a checkout."""
import gzip
import os
import sys
import warnings

import pytest

pytestmark = pytest.mark.skipif(
    "GPUTAP_TRACELENS" not in os.environ,
    reason="needs TraceLens: GPUTAP_TRACELENS names a checkout, and folders of what it imports")


@pytest.fixture
def analysis(tap, build, work, monkeypatch):
    """Of a program with two kernels, with CUDA's names of calls, by which TraceLens finds launches;
    it reads no .gz."""
    tap("run", "-o", "a.gputap", "--", build / "tests/opencl/cl_basic")
    tap("export", "a.gputap", "-o", "a.hta.json.gz")
    (work / "a.json").write_bytes(gzip.decompress((work / "a.hta.json.gz").read_bytes()))
    monkeypatch.setattr(sys, "path", os.environ["GPUTAP_TRACELENS"].split(":") + sys.path)
    warnings.simplefilter("ignore")
    from TraceLens import TreePerfAnalyzer
    return TreePerfAnalyzer.from_file(str(work / "a.json"))


def test_tracelens_breaks_the_devices_time_down(analysis):
    times = analysis.get_df_gpu_timeline().set_index("type")["time ms"]
    assert times["computation_time"] > 0 and times["exposed_memcpy_time"] > 0
    assert times["busy_time"] + times["idle_time"] == pytest.approx(times["total_time"])


def test_tracelens_has_kernels_and_the_calls_that_launched_them(analysis):
    assert list(analysis.get_df_kernels()["Kernel name"]) == ["twice", "plus"]
    launchers = analysis.get_df_kernel_launchers()
    assert list(launchers["name"]).count("cudaLaunchKernel") == 2
    assert (launchers["direct_kernel_count"] == 1).all()
