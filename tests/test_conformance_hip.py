# SPDX-License-Identifier: MIT
"""Test that HIP's own tests give the same results with and without gputap on the software GPU. Each
case runs in its own process.

GPUTAP_HIP_TESTS names a folder that tests/rocm/hip_tests.py has built from a checkout of ROCm/HIP.
By default only quick programs of each area run. GPUTAP_SLOW=1 runs every case, which takes over an
hour. A case that fails untraced may also fail traced; docs/internals/conformance-hip.md lists
failures and their reasons. Two cases contain races and end in more than one way, so each is tried
three times.
"""

import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent / "rocm"))
import hip_tests  # noqa: E402

SLOW = bool(os.environ.get("GPUTAP_SLOW"))
QUICK = {  # quick programs of each area
    "event": ["hipEventElapsedTime", "hipEventIpc", "hipEvent_Negative"],
    "stream": ["CreateWithFlags", "GetFlags", "GetPriority", "AddCallback", "GetCUMask"],
    "streamperthread": ["Basic", "Event", "DeviceReset"],
    "printf": ["printfFlags", "printfSpecifiers"],
    "graph": [
        "hipGraph",
        "AddChildGraphNode",
        "AddMemcpyNode",
        "AddHostNode",
        "Clone",
        "ExecUpdate",
        "GetEdges",
        "RemoveDependencies",
    ],
    "memory": [
        "hipMemcpyHtoA",
        "hipMemcpyAtoH",
        "hipMemcpy2DToArray",
        "hipMemcpy3D",
        "hipMemcpyDtoD",
        "hipMemset3D",
        "hipMallocManaged",
        "hipPointerGetAttributes",
        "hipHostMalloc",
        "hipMemcpyPeer",
        "hipMemcpyToSymbol",
    ],
    "module-main": [
        "hipModule",
        "hipModuleGetGlobal",
        "hipModuleNegative",
        "hipModuleLoadData",
        "hipFuncGetAttributes",
    ],
    "printf-main": ["hipPrintfBasic", "hipPrintfStar", "hipPrintfSpecifiers"],
    "rtc": ["saxpy", "warpsize"],
    "occupancy": ["hipOccupancyMaxPotentialBlockSize"],
    "cooperativeGrps": ["simple_coalesced_groups"],
    "cooperativeGrps-main": ["simple_grid_group_barrier", "hipCGGridGroupType"],
    "kernel": ["hipLaunchBounds"],
    "ipc-main": [],
}


def programs(area):
    root = os.environ.get("GPUTAP_HIP_TESTS")
    if not root:
        pytest.skip("GPUTAP_HIP_TESTS names no build of HIP's own tests")
    found = [p.resolve() for p in hip_tests.programs(root) if p.name.split("__")[0] == area]
    if not SLOW:
        found = [p for p in found if any(p.name.endswith(name) for name in QUICK[area])]
    return found


@pytest.mark.timeout(7200 if SLOW else 600)
@pytest.mark.parametrize("area", QUICK)
def test_hips_own_tests_end_the_same(softgpu, gputap, work, monkeypatch, area):
    monkeypatch.setenv("LD_LIBRARY_PATH", str(softgpu["LD_LIBRARY_PATH"]))
    cases = [(p, name, given) for p in programs(area) for name, given in hip_tests.cases(p)]
    assert cases or not (SLOW or QUICK[area])
    passed = 0
    for program, name, given in cases:
        bare, traced = set(), set()
        for attempt in range(3):
            bare.add(hip_tests.run_case(program, given)[0])
            around = [
                gputap, "run", "-q", "-o", work / f"{program.name}.{attempt}.gputap", "--force",
                "--"
            ]
            traced.add(hip_tests.run_case(program, given, around)[0])
            if bare & traced:
                break
        assert bare & traced, (program.name, name, bare, traced)
        passed += any(word.startswith("passed") for word in bare)
    assert SLOW or passed == len(cases)
