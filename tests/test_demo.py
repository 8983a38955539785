# SPDX-License-Identifier: MIT
"""Test the first promises of the README: the demo works."""

import json
import os
import re
import shutil
import subprocess

import pytest

from conftest import run_command


@pytest.fixture(scope="module")
def demo(repo, tmp_path_factory):
    """Run tools/demo once and return its folder and the result."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, run_command([repo / "tools/demo", folder])


def test_demo_leaves_a_picture_and_says_where(demo):
    folder, result = demo
    assert "no heat was lost" in result.out
    assert f"{folder}/demo.pftrace" in result.out and "ui.perfetto.dev" in result.out
    assert (folder / "demo.pftrace").stat().st_size > 10000
    for kernel in ("heat_step", "row_sums", "shrink"):
        assert re.search(rf"\b{kernel}\b", result.out)
    assert "all linked to their calls; nothing lost" in result.out


def test_demo_traces_its_hip_program_in_the_same_capture(demo, softgpu, tap):
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder, result = demo
    assert "what the GPU computed is what the host computed" in result.out
    report = json.loads(tap("report", "--json", folder / "demo.gputap").out)
    counts = {k["name"]: k["count"] for k in report["kernels"]}
    # the program launches eight chunks and replays the graph twenty times
    for kernel, count in (("saxpy", 8), ("square", 8), ("pull", 20), ("move", 20), ("energy", 20),
                          ("heat_step", 1000)):
        assert [c for name, c in counts.items() if kernel in name] == [count], kernel
    assert b"pull" in (folder / "demo.pftrace").read_bytes()


def test_demo_without_hipcc_does_its_opencl_part_and_says_so(repo, run, work):
    (work / "bin").mkdir()
    for tool in ("dirname", "sh"):
        (work / "bin" / tool).symlink_to(shutil.which(tool))
    result = run([repo / "tools/demo", work], env={"PATH": work / "bin"})
    assert "there is no hipcc" in result.err and "no heat was lost" in result.out
    assert "saxpy" not in result.out and (work / "demo.pftrace").stat().st_size > 10000


def test_demo_says_why_its_hip_program_does_not_run(repo, run, work, softgpu):
    """The stand-in ROCr cannot use a replaced libhsakmt, like ROCr 6.4 on Debian sid."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    (work / "a.c").write_text("int hsa_init(void) { return 0; }")
    run(["cc", "-shared", "-fPIC", "-o", "libhsa-runtime64.so.1", "a.c"])
    result = run([repo / "tools/demo", work], env={"LD_LIBRARY_PATH": work})
    assert "not examples/hip_demo.hip: it does not run on the software GPU: " in result.err
    assert "libhsa-runtime64.so.1 has libhsakmt built in" in result.err
    assert "no heat was lost" in result.out and "saxpy" not in result.out


def test_demo_tells_hipcc_which_platform_it_means(repo, run, work, build):
    """Debian's hipcc uses nvcc by default if CUDA's nvcc is installed and no clang++ is in PATH."""
    (work / "bin").mkdir()
    (work / "bin/hipcc").write_text('#!/bin/sh\nenv | grep ^HIP_ | sort >"$0.told"; exit 1\n')
    (work / "bin/hipcc").chmod(0o755)
    (work / "build").mkdir()
    for path in build.iterdir():
        (work / "build" / path.name).symlink_to(path)
    (work / "build/examples").unlink()
    (work / "build/examples").mkdir()
    (work / "build/examples/demo").symlink_to(build / "examples/demo")
    if not (build / "soft/amdgpu/libhsakmt.so.1").exists():
        pytest.skip("needs the software GPU")
    result = run([repo / "tools/demo", work],
                 env={"PATH": f"{work}/bin:/usr/bin:/bin", "GPUTAP_BUILD": work / "build"})
    assert "hipcc could not compile it" in result.err and "no heat was lost" in result.out
    assert (work / "bin/hipcc.told").read_text().split() == [
        "HIP_COMPILER=clang", "HIP_PLATFORM=amd", "HIP_RUNTIME=rocclr"
    ]


def test_the_build_tells_hipcc_which_platform_it_means(build):
    lines = re.findall(r"^ COMMAND = .*hipcc.*--offload-arch.*$",
                       (build / "build.ninja").read_text(), re.M)
    if not lines:
        pytest.skip("needs hipcc and the software GPU")
    assert all("HIP_PLATFORM=amd HIP_COMPILER=clang HIP_RUNTIME=rocclr" in line for line in lines)


def test_make_builds_what_is_installed_and_the_demo_and_no_tests(build, repo, run):
    """`ninja product` does not build the programs of tests and bench, which hipcc may fail to
    compile."""
    assert re.search(r"^all:.*\n\t@ninja -C \$\(BUILD\) product$", (repo / "Makefile").read_text(),
                     re.M)
    made = set(
        re.findall(r" -o (\S+)",
                   run(["ninja", "-C", build, "-t", "commands", "product"]).out))
    installed = {
        os.path.relpath(p, build)
        for p in json.loads(run(["meson", "introspect", "--installed", build]).out)
        if p.startswith(f"{build}/")
    }
    files = {p for p in installed if os.access(build / p, os.X_OK)}
    assert "gputap" in files and any("libgputap.so" in p for p in files)
    assert {p for p in files if not (build / p).is_symlink()} <= made and "examples/demo" in made
    assert not [p for p in made if p.startswith(("tests/", "bench/"))]


def test_demo_computes_the_same_with_and_without_gputap(build, tap, run, work):
    bare = run([build / "examples/demo"]).out
    assert tap("run", "-q", "-o", work / "demo.gputap", build / "examples/demo").out == bare


def test_ci_runs_the_command_of_the_readme(repo):
    script = (repo / ".ci/run").read_text()
    assert "make test" in script and "make test" in (repo / "README.md").read_text()
    subprocess.run(["bash", "-n", repo / ".ci/run"], check=True)
