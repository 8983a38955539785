# SPDX-License-Identifier: MIT
"""SYCL's real runtime on the software devices of Level Zero, through both of its adapters. Too
large for every day (2.9 GB of wheels): what it needs is named by GPUTAP_SYCL_PYTHON, a python with
dpctl, dpnp and intel-opencl-rt, and GPUTAP_LEVEL_ZERO_LOADER, a folder with the loader of 1.20 or
later."""
import os
import re

import pytest

ADAPTERS = {
    "V1 with immediate lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0}),
    "V1 with regular lists": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 0,
                                   "UR_L0_USE_IMMEDIATE_COMMANDLISTS": 0}),
    "V2": ([], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
    "V2 with counter-based events": (["--counter-events"], {"SYCL_UR_USE_LEVEL_ZERO_V2": 1}),
}


@pytest.fixture
def sycl(tap):
    """sycl("V2", "-m", "module") runs the python with this adapter."""
    python = os.environ.get("GPUTAP_SYCL_PYTHON")
    loader = os.environ.get("GPUTAP_LEVEL_ZERO_LOADER")
    if not python or not loader:
        pytest.skip("needs a python with dpctl and dpnp, GPUTAP_SYCL_PYTHON, and the loader of 1.20"
                    " or later, GPUTAP_LEVEL_ZERO_LOADER")

    def call(adapter, *arguments, **keywords):
        options, variables = ADAPTERS[adapter]
        return tap("soft", "level-zero", *options, "--", python, *arguments,
                   env={"LD_LIBRARY_PATH": loader, "ONEAPI_DEVICE_SELECTOR": "level_zero:*",
                        "SOFT_LEVEL_ZERO_TRACE": 1, **variables}, **keywords)

    return call


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_sycl_computes_right(sycl, repo, adapter):
    result = sycl(adapter, repo / "tests/soft/sycl_checks.py")
    device, *lines = result.out.splitlines()
    assert device == "backend_type.level_zero device_type.gpu gputap software device"
    lines = [line for line in lines if not line.startswith("MKL Warning: ")]
    assert len(lines) == 19
    # oneMKL's FFT wants a GPU's own code
    odd = [line for line in lines if not line.endswith(" right")]
    assert odd == ["fft failed: OpenCL error -1"]
    kernels, copies = map(int, re.search(r"done: kernels (\d+), copies (\d+)", result.err).groups())
    assert kernels > 100 and copies > 100


@pytest.mark.parametrize("adapter", ["V1 with immediate lists", "V2"])
def test_dpctls_own_tests_pass(sycl, work, adapter):
    out = sycl(adapter, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "dpctl.tests",
               status=None).out
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", out, re.M)
    # those that compile C, where there is no compiler of Cython
    assert [name for name in failed if "cython" not in name] == []
    assert int(re.search(r"(\d+) passed", out)[1]) > 1500
