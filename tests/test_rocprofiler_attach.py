# SPDX-License-Identifier: MIT
"""Test the parts of librocprofiler-sdk.so.1 and librocprofiler-sdk-attach.so.1 that AMD's
`rocprofv3 --attach` uses, and clients that are forced one after the other. A small library
(tests/rocm/attachable.c) does in the program what librocprofiler-register of ROCm 7.1 does there
when AMD's rocattach calls it."""

import subprocess

import pytest

from test_interception_register import build_modern


@pytest.fixture(scope="session")
def attachable(tmp_path_factory, repo, build):
    folder = build_modern(tmp_path_factory.mktemp("attachable"), repo / "tests/rocm/modern.c")
    sdk = build / "src/compat/rocprofiler"
    source = repo / "tests/rocm/attachable.c"
    for name in ("librocprofiler-sdk.so.1", "librocprofiler-register.so.0"):
        (folder / name).unlink()
    for name in ("librocprofiler-sdk", "librocprofiler-sdk-attach"):
        (folder / f"{name}.so").symlink_to(sdk / f"{name}.so.1")

    def cc(*arguments):
        subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", *arguments],
                       check=True)

    cc(source, "-DREGISTER", "-shared", "-fPIC", "-Wl,-soname,librocprofiler-register.so.0", "-o",
       folder / "librocprofiler-register.so.0", "-ldl")
    cc(source, "-o", folder / "attachable", f"-L{folder}", "-l:libamdhip64.so.6",
       "-l:libhsa-runtime64.so.1", "-l:librocprofiler-register.so.0",
       f"-Wl,-rpath-link,{folder}")
    for name, options in (("client.so", []), ("first.so", ["-DFORCES", '-DNAME="first"']),
                          ("second.so", ["-DFORCES", '-DNAME="second"'])):
        cc("-DGPUTAP_ROCPROFILER_OPAQUE", f"-I{repo}/include/compat", "-shared", "-fPIC", *options,
           repo / "tests/rocprofiler/attached.c", "-o", folder / name, f"-L{sdk}",
           "-lrocprofiler-sdk", f"-Wl,-rpath-link,{build}", f"-Wl,-rpath,{sdk}")
    return folder


@pytest.fixture
def lines(run, build, attachable):
    """Return a function: lines(*actions) runs the program and returns the lines of its output."""
    def run_it(*actions, env=None):
        done = run([attachable / "attachable", *actions],
                   env={"LD_LIBRARY_PATH": f"{attachable}:{build}", **(env or {})})
        assert done.err == ""
        return done.out.splitlines()
    return run_it


def test_a_tool_is_attached_detached_and_attached_again(attachable, lines):
    client = attachable / "client.so"
    assert lines("hip", f"attach:{client}", "hip", "detach", "hip", f"attach:{client}", "hip",
                 "detach", env={"ROCP_TOOL_ATTACH": "1"}) == [
        "client configure 0", "client initialize",
        "client attach, contexts 1, detach 0, kernels 1, libraries rocattach hsa hip hip_compiler",
        "attach 0", "client detach, active 0, 6 calls", "detach 0",
        "client attach, contexts 1, detach 0, kernels 1, libraries rocattach hsa hip hip_compiler",
        "attach 0", "client detach, active 0, 12 calls", "detach 0", "client finalize, 12 calls"]


def test_the_attach_library_has_the_thread_that_rocattach_looks_for(lines):
    assert lines("thread", env={"ROCP_TOOL_ATTACH": "1"}) == ["rocp-bg-attach"]
    assert lines("thread") == ["no thread"]


def test_a_program_that_was_not_started_for_it_cannot_be_attached_by_rocattach(attachable, lines):
    assert lines(f"attach:{attachable / 'client.so'}") == ["attach 9"]


FORCED = """
#include <dlfcn.h>
#include <stdio.h>

int hipMalloc(void **out, size_t bytes);

static void force(const char *path)
{
	int (*fn)(void);

	*(void **)&fn = dlsym(dlopen(path, RTLD_NOW), "force_another");
	printf("force %d\\n", fn());
}

int main(int argc, char **argv)
{
	void *p;

	hipMalloc(&p, 64);
	for (int i = 1; i < argc; i++) {
		force(argv[i]);
		hipMalloc(&p, 64);
	}
	return 0;
}
"""


def test_tools_are_forced_after_hip_has_run_one_after_the_other_and_hear_what_follows(
        run, build, attachable, hip_headers, softgpu, work):
    (work / "forced.c").write_text(FORCED)
    subprocess.run(["cc", "-O1", work / "forced.c", "-o", work / "forced", "-lamdhip64", "-ldl"],
                   check=True)
    first, second = attachable / "first.so", attachable / "second.so"
    done = run([work / "forced", first, second, second],
               env={**softgpu, "LD_LIBRARY_PATH": f"{softgpu['LD_LIBRARY_PATH']}:{build}"})
    assert done.err == ""
    assert done.out.splitlines()[:7] == [
        "first configure 0", "first initialize", "force 0", "second configure 1",
        "second initialize", "force 0", "force 16"]  # 16: the function is known
    assert sorted(done.out.splitlines()[7:]) == ["first finalize, 3 calls",
                                                 "second finalize, 2 calls"]
