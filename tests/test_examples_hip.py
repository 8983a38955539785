# SPDX-License-Identifier: MIT
"""Test that gputap's samples, and HIP's own from a checkout, run the same with and without
gputap."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

from conftest import run_command

OURS = {
    "vector_add": "vector_add: 100000 elements, 0 wrong",
    "transpose": "transpose: 200 x 120, 0 wrong, took some time",
    "streams": "streams: 4 of them, 0 wrong", "graph": "graph: 3 nodes, 10 launches, 0 wrong"
}


@pytest.fixture(scope="session")
def sample(hip_headers, repo, tmp_path_factory):
    """Return a function: sample("graph") compiles examples/hip/graph.hip and returns the program's
    path."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder = tmp_path_factory.mktemp("samples")

    def compiled(name):
        if not (folder / name).exists():
            subprocess.run([
                "hipcc", "--offload-arch=gfx906", "-O2", "-Wall", "-Werror",
                repo / f"examples/hip/{name}.hip", "-o", folder / name
            ],
                           check=True)
        return folder / name
    return compiled


@pytest.mark.parametrize("name", [*OURS, "print"])
def test_a_sample_prints_the_same_with_and_without_gputap(sample, softgpu, gputap, work, name):
    bare = run_command([sample(name)], env=softgpu)
    traced = run_command([gputap, "run", "-q", "-o", "a.gputap", "--", sample(name)], env=softgpu)
    assert traced.out == bare.out
    assert bare.out.splitlines()[0] == OURS.get(name, bare.out.splitlines()[0])
    assert bare.err == traced.err == ""


def test_the_device_prints_what_the_host_prints(sample, softgpu):
    lines = run_command([sample("print")], env=softgpu).out.splitlines()
    said = {
        who: [line.partition(": ")[2]
              for line in lines
              if line.startswith(who + ":")]
        for who in ("host", "device")
    }
    assert len(said["host"]) == 5 and said["device"] == said["host"]
    assert sorted(lines[10:]) == sorted(
        f"group {group} thread {thread}" for group in range(3) for thread in range(0, 64, 16))


# HIP's own samples ---------------------------------------------------------------

UPSTREAM = {  # folder: (sources, text in the output)
    "0_Intro/bit_extract": (["bit_extract.cpp"], "PASSED"),
    "0_Intro/square": (["square.hipref.cpp"], "PASSED"),
    "0_Intro/module_api": (["runKernel.cpp"], "PASSED"),
    "0_Intro/module_api_global": (["runKernel.cpp"], "PASSED"),
    "1_Utils/hipInfo": (["hipInfo.cpp"], "gcnArchName"),
    "2_Cookbook/0_MatrixTranspose": (["MatrixTranspose.cpp"], "PASSED"),
    "2_Cookbook/1_hipEvent": (["hipEvent.cpp"], "PASSED"),
    "2_Cookbook/3_shared_memory": (["sharedMemory.cpp"], "PASSED"),
    "2_Cookbook/4_shfl": (["shfl.cpp"], "PASSED"),
    "2_Cookbook/5_2dshfl": (["2dshfl.cpp"], "PASSED"),
    "2_Cookbook/6_dynamic_shared": (["dynamic_shared.cpp"], "PASSED"),
    "2_Cookbook/7_streams": (["stream.cpp"], "PASSED"),
    "2_Cookbook/8_peer2peer": (["peer2peer.cpp"], ""),
    "2_Cookbook/9_unroll": (["unroll.cpp"], "PASSED"),
    "2_Cookbook/10_inline_asm": (["inline_asm.cpp"], "PASSED"),
    "2_Cookbook/13_occupancy": (["occupancy.cpp"], "PASSED"),
    "2_Cookbook/14_gpu_arch": (["gpuarch.cpp"], ""),
}


def same(text):
    """Return @text without the parts that differ between runs: times, rates, addresses, random
    numbers."""
    return re.sub(r" *(0x[0-9a-f]{6,}|\d+\.\d+(e[+-]\d+)?)", "#", text)


@pytest.mark.parametrize("folder", UPSTREAM)
def test_a_sample_of_hip_runs_the_same_with_and_without_gputap(softgpu, gputap, hip_headers, work,
                                                               folder):
    root = os.environ.get("GPUTAP_HIP_SAMPLES")
    if not root:
        pytest.skip("GPUTAP_HIP_SAMPLES names no folder of HIP's samples")
    source, (files, said) = pathlib.Path(root) / folder, UPSTREAM[folder]
    common = ["hipcc", "--offload-arch=gfx906", "-O2", "-w", "-D__HIP_PLATFORM_AMD__"]
    subprocess.run([*common, *(source / f for f in files), "-o", "sample"], check=True)
    for kernel in source.glob("*_kernel.cpp"):
        subprocess.run([*common, "--genco", kernel, "-o", f"{kernel.stem}.code"], check=True)
    env = dict(softgpu, SOFT_AMDGPU_GPUS="2")
    bare = run_command(["./sample"], env=env, status=None)
    traced = run_command([gputap, "run", "-q", "-o", "a.gputap", "--", "./sample"],
                         env=env,
                         status=None)
    assert said in bare.out and (bare.status, traced.status) == (0, 0), (bare, traced)
    assert same(traced.out) == same(bare.out)
