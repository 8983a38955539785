# SPDX-License-Identifier: MIT
"""Test that a program gets the same environment, files and parents as without gputap."""

import os
import signal
import subprocess

import pytest

import conftest
from processes import Tree


@pytest.fixture
def tree(build, work):
    return Tree(build)


def show(command, **keywords):
    return subprocess.run([str(c) for c in command],
                          env=conftest.clean_environment(),
                          stdout=subprocess.PIPE,
                          text=True,
                          check=True,
                          timeout=600,
                          **keywords).stdout


def test_descriptors_masks_dispositions_and_group_are_as_without(tree):
    assert show([tree.gputap, "run", "-o", "c.gputap", tree.bare, "show"]) == show(
        [tree.bare, "show"])


def test_inherited_masks_dispositions_and_descriptors_reach_the_program(tree):
    extra = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(extra, True)

    def before():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
        for number in (signal.SIGHUP, signal.SIGCHLD, signal.SIGBUS, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_IGN)

    keywords = {"preexec_fn": before, "pass_fds": [extra]}
    traced = show([tree.gputap, "run", "-o", "c.gputap", tree.bare, "show"], **keywords)
    assert traced == show([tree.bare, "show"], **keywords)
    assert f" {int(signal.SIGHUP)} " in traced.split("ignored:")[1]
    os.close(extra)


def test_the_limit_of_open_files_is_as_without(tree):
    import resource

    def before():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 1024))

    assert show([tree.gputap, "run", "-o", "c.gputap", "sh", "-c", "ulimit -Sn; ulimit -Hn"],
                preexec_fn=before) == "256\n1024\n"


def test_input_and_output_pass_untouched(tree, run):
    data = bytes(range(256)) * 5000
    result = tree.run("echo", program=tree.bare, stdin=data, text=False)
    assert result.out == data
    assert b"wrote c.gputap" in result.err


def test_preloads_audits_and_layers_of_the_user_stay(tree, build):
    """In LD_PRELOAD our library comes first, and the user's libraries are unchanged. In
    OPENCL_LAYERS our layer also comes first, because the first layer is nearest the runtime."""
    theirs = {
        "LD_PRELOAD": "/lib/x86_64-linux-gnu/libm.so.6", "OPENCL_LAYERS": "/a/one.so:/b/two.so"
    }
    result = tree.run(
        "-c",
        "echo $LD_PRELOAD; echo $LD_AUDIT; echo $OPENCL_LAYERS; echo $GPUTAP_OPENCL_LAYERS",
        program="/bin/sh",
        env=theirs)
    ours, audit = f"{build}/libgputap.so.0", f"{build}/libgputap-audit.so"
    assert result.out.splitlines() == [
        f"{ours}:{theirs['LD_PRELOAD']}", audit, f"{ours}:{theirs['OPENCL_LAYERS']}",
        f"{ours}:{theirs['OPENCL_LAYERS']}"
    ]


VARIABLES = {
    "opencl": {"OPENCL_LAYERS", "GPUTAP_OPENCL_LAYERS"},
    "rocm": {"ROCPROFILER_REGISTER_FORCE_LOAD", "GPUTAP_REGISTER_FORCE_LOAD"},
    "hsa": {"HSA_TOOLS_LIB", "HSA_TOOLS_ROCPROFILER_V1_TOOLS"},
    "itt": {"INTEL_LIBITTNOTIFY64", "INTEL_ITTNOTIFY_GROUPS"},
    "nvtx": {"NVTX_INJECTION64_PATH"},
}


@pytest.mark.parametrize("options,families", [
    ([], "opencl rocm hsa itt nvtx"), (["--paused"], "opencl rocm hsa itt nvtx"),
    (["-m", "lite"], "opencl rocm hsa itt nvtx"), (["-d", "opencl"], "opencl"),
    (["-d", "hip"], "rocm hsa"), (["-d", "hip", "--no-device"], "rocm"),
    (["-d", "hsa"], "rocm hsa"),
    (["-d", "cuda"], ""), (["-d", "cuda,nvtx"], "nvtx"), (["-d", "ranges"], "itt"),
    (["-d", "level_zero"], ""), (["--ops", "clEnqueue*"], "opencl"),
    (["-d", "opencl", "--from", "step"], "opencl rocm itt nvtx"),
])
def test_a_runtimes_variable_is_set_where_its_domain_is_recorded(tree, options, families):
    """Runtimes do extra work if these variables are set: XLA's step took twice as long with NVTX's
    variable."""
    result = tree.run(program="/usr/bin/env", options=options)
    known = set().union(*VARIABLES.values())
    found = {line.split("=")[0] for line in result.out.splitlines()} & known
    assert found == set().union(*(VARIABLES[family] for family in families.split()))
    tools = tree.run(program="/usr/bin/env", options=["-f", *options],
                     env={"GPUTAP_TOOLS": "/no/tool.so"})  # a tool chooses its domains
    assert known <= {line.split("=")[0] for line in tools.out.splitlines()}


def test_gputap_in_gputap_leaves_one_of_each_in_the_environment(tree, build):
    inner = [
        tree.gputap, "run", "-q", "-o", "inner.gputap", "sh", "-c",
        "echo $LD_PRELOAD; echo $OPENCL_LAYERS"
    ]
    result = tree.run(*inner[1:], program=inner[0])
    assert result.out.splitlines() == [f"{build}/libgputap.so.0"] * 2


def test_what_gputap_in_gputap_traces_is_the_inner_ones(tree):
    inner = [tree.gputap, "run", "-q", "-o", "inner.gputap", tree.caller, "calls:1000"]
    tree.run("-c", f"{' '.join(map(str, inner))}; {tree.caller} calls:500", program="/bin/sh")
    assert [calls for _, calls in tree.calls("inner.gputap")] == [1001]
    assert max(calls for _, calls in tree.calls()) == 501
    told = conftest.run_command([tree.gputap, "info", "c.gputap"]).out
    assert f"{tree.caller}: another gputap run traces it" in told
    outer = tree.run(*inner[1:2], "-f", *inner[2:], program=inner[0], options=["-f"])
    assert f"not traced: {tree.caller}: another gputap run traces it" in outer.err


def test_a_session_that_is_over_does_not_keep_children_from_being_traced(tree, build):
    stale = f"GPUTAP_SESSION=/dev/shm/gputap-0-gone LD_PRELOAD={build}/libgputap.so.0"
    tree.run("-c", f"exec env {stale} {tree.caller} calls:500", program="/bin/sh")
    assert max(calls for _, calls in tree.calls()) == 501


def test_a_process_that_called_exec_is_reported_as_that(tree):
    tree.run(tree.caller, "calls:10", program="/usr/bin/env")
    ends = [
        line.split()[-2:]
        for line in conftest.run_command([tree.gputap, "info", "c.gputap"]).out.splitlines()
        if "/env" in line
    ]
    assert ["exec", "/usr/bin/env"] in ends, ends


def test_gputap_is_not_the_reaper_of_orphans(tree):
    """An orphan gets the same new parent as without gputap."""
    result = tree.run("-c",
                      "(sh -c 'sleep 0.2; cut -d\" \" -f4 /proc/$$/stat') & exit 0",
                      program="/bin/sh",
                      options=["--wait"])
    assert int(result.out) != 0
    assert "c.gputap" in result.err
