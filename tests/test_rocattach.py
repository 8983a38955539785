# SPDX-License-Identifier: MIT
"""Test librocprofiler-sdk-rocattach.so.1, which AMD's `rocprofv3 --attach` opens: a Python program
calls it as that script does, and attaches a tool to programs that run HIP."""

import os
import platform
import subprocess
import sys

import pytest

import conftest
from test_rocprofiler_attach import attachable  # noqa: F401: a fixture

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64",
                                reason="gt_inject() is implemented for x86-64 only")

# what `rocprof-attach` does, with one command per line of standard input
CONTROLLER = """
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
for name in ("attach", "detach", "attach_tree", "detach_tree"):
    function = getattr(library, "rocattach_" + name)
    function.restype = ctypes.c_int
    function.argtypes = [ctypes.c_int]
library.rocattach_get_status_name.restype = ctypes.c_char_p
for line in sys.stdin:
    name, *words = line.split()
    if name == "tool":
        os.environ["ROCPROF_ATTACH_TOOL_LIBRARY"] = words[0]
        ctypes.CDLL(None).setenv(b"ROCPROF_ATTACH_TOOL_LIBRARY", words[0].encode(), 1)
        continue
    status = getattr(library, "rocattach_" + name)(int(words[0]))
    print(library.rocattach_get_status_name(status).decode(), flush=True)
"""


class Spoken:
    """A program that answers lines."""
    def __init__(self, *command, env=None, errors=None):
        self.process = subprocess.Popen([str(c) for c in command], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=errors, env={**conftest.clean_environment(),
                                                            **(env or {})})
        self.pid = self.process.pid
        self.said = []  # lines of tools, which print into the program's output

    def read(self):
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, line):
        self.tell(line)
        return self.read()

    def work(self, count):
        """Tell a program to work, and wait until it has."""
        self.tell(count)
        while (line := self.read()) != "done":
            assert line or self.process.poll() is None
            self.said.append(line)

    def end(self):
        out, _ = self.process.communicate()
        return self.process.returncode, self.said + out.splitlines()


@pytest.fixture
def start():
    """Return a function that starts a program. Programs that still run at the end of the test are
    killed."""
    started = []

    def starter(*command, **options):
        started.append(Spoken(*command, **options))
        return started[-1]

    yield starter
    for program in started:
        if program.process.poll() is None:
            program.process.kill()
        if not program.process.stdout.closed:
            program.process.communicate()


@pytest.fixture
def control(start, build, work):
    """Return a function that starts a controller with a tool. Its errors go to a file."""
    def starter(tool, **env):
        library = build / "src/compat/rocprofiler/librocprofiler-sdk-rocattach.so.1"
        with open(work / "errors", "w") as errors:
            return start(sys.executable, "-c", CONTROLLER, library, errors=errors,
                         env={"ROCPROF_ATTACH_TOOL_LIBRARY": str(tool),
                              "ROCPROF_KERNEL_TRACE": "1", **env})
    return starter


@pytest.fixture(scope="session")
def tools(repo, build, tmp_path_factory):
    """Tools that are linked with gputap's librocprofiler-sdk, without a path to it."""
    folder, sdk = tmp_path_factory.mktemp("tools"), build / "src/compat/rocprofiler"
    for name, options in (("calls", []),
                          ("kernels", ["-DKERNELS", '-DNAME="kernels"']),
                          ("other", ['-DNAME="other"']), ("forced", ["-DFORCES"])):
        subprocess.run(["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared",
                        "-fPIC", "-DGPUTAP_ROCPROFILER_OPAQUE", f"-I{repo}/include/compat",
                        *options, repo / "tests/rocprofiler/attached.c", "-o",
                        folder / f"{name}.so", f"-L{sdk}", "-lrocprofiler-sdk",
                        f"-Wl,-rpath-link,{build}"], check=True)
    return folder


@pytest.fixture
def told(start, hip_program, softgpu):
    """Return a function that starts tests/hip/told.hip on the software GPU."""
    def starter():
        program = start(hip_program("told"), env={k: str(v) for k, v in softgpu.items()})
        assert program.read() == "ready"
        return program
    return starter


def succeeds(controller, command):
    return controller.ask(command) == "ROCATTACH_STATUS_SUCCESS"


def test_a_tool_in_a_running_hip_program_sees_the_kernels_between_attach_and_detach(
        control, told, tools, work):
    program, controller = told(), control(tools / "kernels.so")
    program.work(3)
    assert succeeds(controller, f"attach {program.pid}")
    program.work(5)
    assert succeeds(controller, f"detach {program.pid}")
    program.work(7)
    assert succeeds(controller, f"attach {program.pid}")
    program.work(11)
    assert succeeds(controller, f"detach {program.pid}")
    assert program.end() == (0, [
        "kernels configure 0", "kernels initialize",
        "kernels attach, contexts 1, detach 0, kernels 1, libraries",
        "kernels detach, active 0, 5 kernels",
        "kernels attach, contexts 1, detach 0, kernels 1, libraries",
        "kernels detach, active 0, 16 kernels", "kernels finalize, 16 kernels"])
    assert controller.end() == (0, [])
    assert (work / "errors").read_text() == ""


@pytest.mark.parametrize("env", [{"MAY_NOT_BE_ASKED": "1"}, {"ROCP_TOOL_ATTACH": "1"}],
                         ids=["started as usual", "started with ROCP_TOOL_ATTACH"])
def test_a_tool_gets_the_tables_that_rocm_6_has_registered(start, control, attachable, tools, env,
                                                           tmp_path, work):
    # without librocprofiler-sdk.so: the attach library names the SDK
    for file in attachable.iterdir():
        if not file.name.startswith("librocprofiler-sdk.so"):
            (tmp_path / file.name).symlink_to(file.resolve())
    program = start(attachable / "attachable", "lines",
                    env={"LD_LIBRARY_PATH": str(tmp_path), **env})
    assert program.read() == "ready"
    controller = control(tools / "calls.so")
    program.work(1)
    assert succeeds(controller, f"attach {program.pid}")
    program.work(1)
    assert succeeds(controller, f"detach {program.pid}")
    program.work(1)
    assert succeeds(controller, f"attach {program.pid}")
    program.work(1)
    assert succeeds(controller, f"detach {program.pid}")
    status, lines = program.end()
    libraries = lines[2].partition("libraries ")[2].split()
    assert (status, sorted(libraries)) == (0, ["hip", "hip_compiler", "hsa", "rocattach"])
    assert [line.partition(", libraries")[0] for line in lines] == [
        "client configure 0", "client initialize",
        "client attach, contexts 1, detach 0, kernels 1", "client detach, active 0, 6 calls",
        "client attach, contexts 1, detach 0, kernels 1", "client detach, active 0, 12 calls",
        "client finalize, 12 calls"]
    assert (work / "errors").read_text() == ""


def test_long_variables_arrive_whole(control, told, tools):
    program = told()
    value = "x" * 9000
    controller = control(tools / "calls.so", ROCPROF_KERNEL_TRACE=value,
                         ROCPROFILER_REGISTER_LIBRARY="/none", ROCP_TOOL_LIBRARIES="/none")
    assert succeeds(controller, f"attach {program.pid}")
    program.work(1)
    assert succeeds(controller, f"detach {program.pid}")
    assert f"client attach, contexts 1, detach 0, kernels {value}, libraries" in program.end()[1]


def maps_sdk(pid):
    with open(f"/proc/{pid}/maps") as f:
        return "librocprofiler-sdk.so" in f.read()


def test_a_tree_is_attached_as_far_as_it_uses_rocm(start, control, hip_program, softgpu, tools):
    shell = start("sh", "-c", f"sleep 60 <&- >&- & echo $!; {hip_program('told')}; kill $!",
                  env={k: str(v) for k, v in softgpu.items()})
    sleep = shell.read()
    assert shell.read() == "ready"
    controller = control(tools / "kernels.so")
    assert succeeds(controller, f"attach_tree {shell.pid}")
    shell.work(4)
    assert maps_sdk(shell.pid) and not maps_sdk(sleep)
    assert succeeds(controller, f"detach_tree {shell.pid}")
    assert shell.end() == (0, [
        "kernels configure 0", "kernels initialize",
        "kernels attach, contexts 1, detach 0, kernels 1, libraries",
        "kernels detach, active 0, 4 kernels", "kernels finalize, 4 kernels"])
    assert controller.ask(f"detach_tree {shell.pid}") == "ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT"


def test_requests_that_fail_leave_the_program_alone_and_say_why(control, told, tools, work):
    program, controller = told(), control(tools / "missing.so")

    def fails(command, status, text):
        before = (work / "errors").read_text()
        assert controller.ask(command) == f"ROCATTACH_STATUS_{status}"
        assert text in (work / "errors").read_text()[len(before):]

    fails(f"attach {program.pid}", "ERROR_INVALID_ARGUMENT", "does not see the tool library")
    fails(f"detach {program.pid}", "ERROR_INVALID_ARGUMENT", "is not attached")
    fails("attach 0", "ERROR_INVALID_ARGUMENT", "0 is not a process")
    fails(f"attach {2**31 - 1}", "ERROR_PTRACE_PROCESS_NOT_FOUND", "there is no process")
    controller.tell(f"tool {tools / 'forced.so'}")
    fails(f"attach {program.pid}", "ERROR", "its stderr says more")
    controller.tell(f"tool {tools / 'calls.so'}")
    assert succeeds(controller, f"attach {program.pid}")
    fails(f"attach {program.pid}", "ERROR_INVALID_ARGUMENT", "is attached already")
    assert succeeds(controller, f"detach {program.pid}")
    controller.tell(f"tool {tools / 'other.so'}")
    fails(f"attach {program.pid}", "ERROR", "has been attached with another tool")
    program.work(1)
    assert program.end()[0] == 0


def test_detaching_from_a_program_that_has_ended_is_an_error_and_0_detaches_from_all(
        control, told, tools):
    controller, programs = control(tools / "calls.so"), [told() for _ in range(3)]
    for program in programs:
        assert succeeds(controller, f"attach {program.pid}")
    assert programs[0].end()[0] == 0
    assert controller.ask(f"detach {programs[0].pid}") == (
        "ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND")
    assert succeeds(controller, "detach 0")
    for program in programs[1:]:
        assert controller.ask(f"detach {program.pid}") == "ROCATTACH_STATUS_ERROR_INVALID_ARGUMENT"
        assert "client detach, active 0, 0 calls" in program.end()[1]


def test_a_client_waits_for_another_one_and_replaces_one_that_was_killed(
        control, told, tools, work):
    program, first = told(), control(tools / "calls.so")
    assert succeeds(first, f"attach {program.pid}")
    second = control(tools / "calls.so")
    assert second.ask(f"attach {program.pid}") == "ROCATTACH_STATUS_ERROR_PTRACE_ERROR"
    assert "another program has attached" in (work / "errors").read_text()
    first.process.kill()
    first.process.wait()
    program.work(1)
    assert succeeds(second, f"attach {program.pid}")
    assert succeeds(second, f"detach {program.pid}")
    assert [line.split(",")[0] for line in program.end()[1][2:-1]] == [
        "client attach", "client detach", "client attach", "client detach"]


def test_the_library_knows_its_version_and_its_statuses(build):
    text = """
import ctypes
library = ctypes.CDLL("%s")
version = (ctypes.c_uint * 3)()
assert library.rocattach_get_version_triplet(version) == 0
library.rocattach_get_status_name.restype = ctypes.c_char_p
library.rocattach_get_status_string.restype = ctypes.c_char_p
print(*version, library.rocattach_get_status_name(6), library.rocattach_get_status_string(0),
      library.rocattach_get_status_name(7), library.rocattach_get_status_string(-1))
""" % (build / "src/compat/rocprofiler/librocprofiler-sdk-rocattach.so.1")
    out = subprocess.run([sys.executable, "-c", text], check=True, text=True,
                         stdout=subprocess.PIPE).stdout
    assert out == "1 3 0 b'ROCATTACH_STATUS_ERROR_PTRACE_PROCESS_NOT_FOUND' b'Success' None None\n"
