# SPDX-License-Identifier: MIT
"""Defines fixtures for all tests, the leak check around each test, test items for C unit tests, and
the check of skipped tests against tests/skips.txt."""

import contextlib
import ctypes
import dataclasses
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import textwrap
import time

import pytest

import slowest_tests

REPO = pathlib.Path(__file__).resolve().parent.parent
BUILD = (REPO / os.environ.get("GPUTAP_BUILD", "build")).resolve()
SHM = pathlib.Path("/dev/shm")
PR_SET_CHILD_SUBREAPER = 36
# time limit of a command: far longer than any command takes, even on a busy machine
HANGS_SECONDS = 600
ENDING_SECONDS = 120  # time for a process group to end after a signal
LEAVING_SECONDS = 30  # time for a test's processes to end after the test
# sanitizers for which tools/test-deep has built build-<kind>
SANITIZERS = os.environ.get("GPUTAP_SANITIZE", "").split()
# for tests that run with the plain build and with the sanitizers' builds
KINDS = ["plain", *(pytest.param(kind, marks=pytest.mark.deep) for kind in SANITIZERS)]
# hipcc uses nvcc by default if CUDA's nvcc is installed and no clang++ is in PATH.
os.environ.update(HIP_PLATFORM="amd", HIP_COMPILER="clang", HIP_RUNTIME="rocclr")


# Signals -------------------------------------------------------------------

class Interrupts:
    """Turns the SIGTERM of `timeout` into a KeyboardInterrupt, so that pytest ends the process
    groups of commands and removes their sessions."""
    is_held = came = False

    def take(self, *_):
        self.came = True
        if not self.is_held:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def held(self):
        """Delay interrupts until the caller has stored the process that it starts in this block."""
        self.is_held = True
        try:
            yield
        finally:
            self.is_held = False
        if self.came:
            raise KeyboardInterrupt


interrupts = Interrupts()


def pytest_configure(config):
    """Catch SIGINT, SIGQUIT and SIGHUP if they are ignored, as in the background or under nohup. A
    child inherits an ignored signal, but resets a caught signal to its default."""
    slowest_tests.register(config, BUILD / "test-costs.txt")
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    signal.signal(signal.SIGTERM, interrupts.take)


# Fixtures ------------------------------------------------------------------

@pytest.fixture(scope="session")
def repo():
    """The source tree."""
    return REPO


@pytest.fixture(scope="session")
def build():
    """The build folder that is tested."""
    assert (BUILD / "build.ninja").exists(), f"no build in {BUILD}: run make"
    return BUILD


@pytest.fixture(scope="session")
def gputap(build):
    """Return the path of the gputap command."""
    path = build / "gputap"
    assert path.exists(), f"{path} is not built"
    return path


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Make an empty folder the current folder for this test and return its path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclasses.dataclass
class Result:
    """Result of a command. `status` is the return code as subprocess defines it: -9 after
    SIGKILL."""
    command: list
    status: int
    out: str
    err: str

    def __str__(self):
        return (f"{' '.join(self.command)}\nstatus {self.status}\n"
                f"--- stdout\n{self.out[-4000:]}\n--- stderr\n{self.err[-4000:]}")


def clean_environment():
    """Return this process's environment without variables that would trace the tested programs or
    change their behavior."""
    drop = ("GPUTAP_", "LD_", "OPENCL_LAYERS", "OCL_ICD_", "POCL_", "SOFT_", "HSA_", "HIP_",
            "ROCR_", "AMD_", "ZE_", "LZ_", "COLUMNS")
    env = {k: v for k, v in os.environ.items() if not k.startswith(drop)}
    # wide enough that sentences for which tests search are not wrapped
    env.update(LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="10000")
    return env


def end_group(process):
    """Send SIGTERM to the group, so that a gputap in the group ends its session. Send SIGKILL to
    the processes that do not end."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            pass
    return "", ""


def run_command(command,
                *,
                status=0,
                timeout=HANGS_SECONDS,
                env=None,
                cwd=None,
                stdin=None,
                text=True):
    """Run @command in its own process group. At the time limit, end the whole group.

    status: the required exit status, an int, or None to accept any.
    env: variables to add to the clean environment; the value None removes a variable.
    stdin: text or bytes to write to the command's standard input.
    text: False to return out and err as bytes.
    """
    environment = clean_environment()
    for key, value in (env or {}).items():
        environment.pop(key, None)
        if value is not None:
            environment[key] = str(value)
    command = [str(c) for c in command]
    shown = [c.encode(errors="backslashreplace").decode() for c in command]  # for xdist
    process = None
    try:
        with interrupts.held():
            process = subprocess.Popen(
                command, env=environment, cwd=cwd, text=text, errors="replace" if text else None,
                stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        out, err = end_group(process)
        pytest.fail(
            f"took over {timeout} s: {Result(shown, process.returncode, str(out), str(err))}")
    except BaseException:
        if process:
            end_group(process)
        raise
    result = Result(shown, process.returncode, out, err)
    assert status is None or result.status == status, f"expected status {status}: {result}"
    return result


@pytest.fixture
def run():
    """Return a function: run(command, status=0, timeout=.., env=.., cwd=.., stdin=.., text=True)
    returns Result(status, out, err)."""
    return run_command


@pytest.fixture
def tap(gputap, work):
    """Return a function: tap("report", file, ...) runs the gputap command in the test's own folder,
    and accepts the keywords of run()."""
    def call(*arguments, **keywords):
        return run_command([gputap, *arguments], **keywords)
    return call


# HIP -----------------------------------------------------------------------

@pytest.fixture(scope="session")
def hip_headers():
    """Require ROCm's HIP library and headers."""
    test = subprocess.run([
        "cc", "-xc", "-w", "-D__HIP_PLATFORM_AMD__", "-include", "hip/hip_runtime_api.h", "-o",
        "/dev/null", "-", "-lamdhip64"
    ],
                          input=b"int main(void) { return 0; }",
                          stderr=subprocess.PIPE)
    if test.returncode:
        pytest.skip("needs HIP: apt install libamdhip64-dev")


@pytest.fixture(scope="session")
def softgpu(build):
    """Return the environment in which HIP programs find AMD GPUs in software."""
    library = build / "soft/amdgpu/libhsakmt.so.1"
    if not library.exists():
        pytest.skip(
            "needs the software GPU, which is built where ROCr's headers are: apt install"
            " libhsa-runtime-dev"
        )
    return {"LD_LIBRARY_PATH": library.parent, "HSA_ENABLE_DTIF": "1"}


@pytest.fixture(scope="session")
def torch_python(repo):
    """Return the path of a Python that has PyTorch."""
    path = os.environ.get("GPUTAP_TORCH_PYTHON") or repo / ".venv-torch/bin/python"
    # In the root of the tree, `import torch` finds the folder torch/ if PyTorch is not installed.
    if subprocess.run([path, "-c", "import torch; torch.__version__"], capture_output=True,
                      check=False
                      ).returncode if os.path.exists(path) else True:
        pytest.skip("needs PyTorch: tools/setup torch")
    return path


@pytest.fixture(scope="session")
def torch_version(torch_python):
    """Return (major, minor, patch) of the PyTorch of torch_python."""
    text = subprocess.run([torch_python, "-c", "import torch; print(torch.__version__)"],
                          env=clean_environment(), text=True, stdout=subprocess.PIPE,
                          check=True).stdout
    return tuple(int(n) for n in re.match(r"(\d+)\.(\d+)\.(\d+)", text).groups())


@pytest.fixture(scope="session")
def torch_package(torch_python, repo, tmp_path_factory):
    """Return the environment in which torch_python finds gputap's package, built for the PyTorch of
    torch_python."""
    folder = tmp_path_factory.mktemp("package")
    subprocess.run([
        torch_python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target",
        folder / "site", repo / "torch"
    ], check=True)
    return {"PYTHONPATH": folder / "site", "OMP_NUM_THREADS": 1}


@pytest.fixture
def torch_sources(repo, tmp_path):
    """Return the environment in which Python finds gputap's package with gputap.torch, but without
    the libraries that the installation builds."""
    folder = tmp_path / "sources"
    shutil.copytree(repo / "python/src", folder,
                    ignore=shutil.ignore_patterns("__pycache__", "*.so", "built.py"))
    return {"PYTHONPATH": folder}


TORCH_CASE = """
import gc, json, os, sys, threading, warnings
sys.path.insert(0, %(tests)r)
warnings.simplefilter('ignore')
import gputap.torch, torch
import torch_opencl as t
from torch.profiler import record_function, schedule
x = torch.ones(3)

def work(times=1):
    for _ in range(times):
        t.fill(x)
    t.device.finish()

def events(p):
    p.export_chrome_trace('trace.json')
    return json.load(open('trace.json'))['traceEvents']

def fills(p):
    return sum(e.get('cat') == 'gpu_memset' for e in events(p))
"""


@pytest.fixture
def torch_case(run, repo, build, torch_python, torch_package, work):
    """Return a function: torch_case(script) runs the script in a separate Python with gputap.torch
    and an OpenCL device and returns the JSON that it prints."""
    def call(script, status=0, **environment):
        text = TORCH_CASE % {"tests": str(repo / "tests")} + textwrap.dedent(script)
        result = run([torch_python, "-c", text], status=status,
                     env={
                         **torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin",
                         **environment
                     })
        call.err = result.err
        return [json.loads(line) for line in result.out.splitlines() if line[:1] in "[{0123456789"]
    return call


@pytest.fixture(scope="session")
def rocr():
    """Return the minor version in the name of ROCr's library: 5 for ROCm 5.2, and 13 for ROCm 6.1,
    the first version that reports scratch memory."""
    names = subprocess.run(["/sbin/ldconfig", "-p"], text=True, stdout=subprocess.PIPE,
                           check=True).stdout
    library = re.search(r"libhsa-runtime64\.so\.1 .*=> (\S+)", names)
    if not library:
        pytest.skip("needs ROCr: apt install libhsa-runtime64-1")
    return int(re.search(r"so\.1\.(\d+)", os.path.realpath(library[1]))[1])


@pytest.fixture(scope="session")
def hip_program(hip_headers, tmp_path_factory, repo):
    """Return a function: hip_program("truth") compiles tests/hip/truth.hip for the software GPU."""
    if not shutil.which("hipcc"):
        pytest.skip("needs hipcc: apt install hipcc")
    folder = tmp_path_factory.mktemp("programs")

    def compiled(name):
        program = folder / name
        if not program.exists():
            subprocess.run([
                "hipcc", "--offload-arch=gfx906", "-O1", "-Wall", repo / f"tests/hip/{name}.hip",
                "-o", program
            ],
                           check=True)
        return program
    return compiled


@pytest.fixture(scope="session")
def hsa_dispatches(tmp_path_factory, repo, softgpu):
    """Build tests/rocm/hsa_dispatches.c, a plain HSA program, and return its path."""
    program = tmp_path_factory.mktemp("rocm") / "hsa_dispatches"
    subprocess.run([
        "cc", "-O1", "-Wall", "-DLITTLEENDIAN_CPU", f"-I{repo}/tests/soft",
        repo / "tests/rocm/hsa_dispatches.c", repo / "tests/soft/hsa_program.c", "-o", program,
        "-lhsa-runtime64", "-lpthread"
    ],
                   check=True)
    return program


# Leaks ---------------------------------------------------------------------

def open_descriptors():
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            pass  # the descriptor that os.listdir() used has been closed since
    return found


def children():
    """Return {pid: state} of this process's children, including adopted grandchildren."""
    found = {}
    for task in os.listdir("/proc/self/task"):
        try:
            pids = pathlib.Path(f"/proc/self/task/{task}/children").read_text().split()
        except OSError:
            continue
        for pid in pids:
            try:
                found[int(pid)] = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(
                    ")", 1)[1].split()[0]
            except OSError:
                pass
    return found


def remove_sessions_of_ended_unit_tests():
    """Remove the session folders of unit tests in /dev/shm whose capture's folder no longer
    exists."""
    for folder in SHM.glob("gputap*"):
        try:
            output = pathlib.Path(os.fsdecode((folder / "output").read_bytes()))
        except OSError:
            continue
        if output.parent.name.startswith("gputap-unit-") and not output.parent.exists():
            shutil.rmtree(folder, ignore_errors=True)


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(
            b"\0", b" ").decode(errors="replace")
    except OSError:
        return "?"


def session_folders(under):
    """Return the session folders in /dev/shm whose capture is below @under. Other folders may
    belong to tests that run in parallel."""
    found = []
    for folder in SHM.glob("gputap*"):
        try:
            if (folder / "output").read_bytes().startswith(os.fsencode(f"{under}/")):
                found.append(folder)
        except OSError:
            pass  # not a session folder, or already removed
    return found


@pytest.fixture(autouse=True)
def no_leaks(request, tmp_path_factory):
    """Check that the test leaves no open descriptor, no process and no session folder."""
    if isinstance(request.node, UnitTest):
        yield
        return
    # Python may keep databases below this folder open until the next garbage collection.
    mine = tmp_path_factory.getbasetemp()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopt orphans of the test
    descriptors, before = open_descriptors(), set(children())
    sessions = set(session_folders(mine))
    yield
    problems = []
    deadline = time.monotonic() + LEAVING_SECONDS
    while True:
        left = {pid: state for pid, state in children().items() if pid not in before}
        for pid in [pid for pid, state in left.items() if state == "Z"]:
            os.waitpid(pid, os.WNOHANG)
            del left[pid]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    for pid in left:
        problems.append(f"process {pid} is still there: {command_of(pid)}")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    while True:  # another thread of pytest may have a file open for a moment
        more = {number: target for number, target in open_descriptors().items()
                if number not in descriptors and not target.startswith(f"{mine}/")}
        if not more or time.monotonic() > deadline:
            break
        time.sleep(0.01)
    for number, target in more.items():
        problems.append(f"descriptor {number} is still open: {target}")
    for folder in set(session_folders(mine)) - sessions:
        problems.append(f"session folder is still there: {folder}")
        shutil.rmtree(folder, ignore_errors=True)  # later tests would find the folder
    if problems:
        pytest.fail("; ".join(problems))


# C unit tests ---------------------------------------------------------------

# A sanitizer's report must end the program; by default the program continues and the test passes.
# Locals must stay on the real stack, which gcc 13 replaces with a fake stack by default: gputap
# compares addresses of locals to detect that a jump has left a call.
SANITIZERS_STOP = {
    "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    "ASAN_OPTIONS": "detect_stack_use_after_return=0"
}


# Patterns of "program::test" that take long: all interleavings of two writers, and kills at many
# instructions.
DEEP_UNIT_TESTS = ("ring_model::two_writers_*", "collect::collector_killed_*")


class UnitFailure(Exception):
    pass


class UnitTest(pytest.Item):
    """One named test of a program built from tests/unit/*.c, in one build of that program."""

    def __init__(self, *, program, test, is_deep, **keywords):
        super().__init__(**keywords)
        self.program, self.test = program, test
        self.add_marker(pytest.mark.timeout(0))  # the program enforces its time limit
        if is_deep:
            self.add_marker(pytest.mark.deep)

    def runtest(self):
        steered = {
            k: v
            for k, v in os.environ.items()
            if k in ("GPUTAP_SLOW", "GPUTAP_STORM", "GPUTAP_KILLS", "GPUTAP_TOOL_CALLS")
        }
        done = subprocess.run([self.program, self.test],
                              env=clean_environment() | SANITIZERS_STOP | steered,
                              text=True,
                              errors="replace",
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)
        if done.returncode:
            remove_sessions_of_ended_unit_tests()
        if done.returncode == 77:
            pytest.skip(done.stdout.split("\n")[0].removeprefix("skipped: "))
        if done.returncode != 0:
            raise UnitFailure(f"{self.program} {self.test}\n{done.stdout}")

    def repr_failure(self, excinfo):
        return str(excinfo.value) if isinstance(excinfo.value,
                                                UnitFailure) else super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, self.name


class UnitFile(pytest.File):
    """A file tests/unit/<name>.c. Collects the tests of the plain build and of each sanitizer build
    that contains the program."""

    def collect(self):
        builds = {"": BUILD}
        builds.update((kind, REPO / f"build-{kind}")
                      for kind in SANITIZERS)
        for kind, folder in builds.items():
            program = folder / "tests" / "unit" / self.path.stem
            if kind and not program.exists():
                continue  # this sanitizer build does not contain the program
            if not program.exists():
                raise self.CollectError(f"{program} is not built: is it in tests/unit/meson.build?")
            names = subprocess.run([program, "--list"],
                                   text=True,
                                   check=True,
                                   stdout=subprocess.PIPE).stdout.split()
            for name in names:
                yield UnitTest.from_parent(self,
                                           name=f"{name}-{kind}" if kind else name,
                                           program=program,
                                           test=name,
                                           is_deep=bool(kind) or self.is_deep(name))

    def is_deep(self, test):
        return any(fnmatch.fnmatchcase(f"{self.path.stem}::{test}", pattern)
                   for pattern in DEEP_UNIT_TESTS)


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".c" and file_path.parent.name == "unit" and not file_path.with_suffix(
            ".h").exists():
        return UnitFile.from_parent(parent, path=file_path)
    return None


# Skips ----------------------------------------------------------------------

def listed_skips():
    patterns = []
    for line in (REPO / "tests" / "skips.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            pattern, separator, reason = line.partition(": ")
            assert separator and reason.strip(), f"tests/skips.txt: no reason: {line}"
            patterns.append(pattern.strip())
    return patterns


def refuse_unlisted_skip(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        if not any(fnmatch.fnmatchcase(report.nodeid, pattern) for pattern in listed_skips()):
            why = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            report.outcome = "failed"
            report.longrepr = f"skipped, but not listed in tests/skips.txt: {why}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    refuse_unlisted_skip(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    refuse_unlisted_skip(outcome.get_result())


@pytest.fixture
def strange_libdw(run, work):
    """Return a function: strange_libdw(code) builds a libdw.so.1 whose functions execute @code and
    returns the environment that loads this library."""
    source = REPO / "src/analysis/symbols/dwarf_lines.c"
    names = re.findall(r"\t?X\([\w *]+, ?\*?(dw\w+),", source.read_text())
    names += ["dwfl_build_id_find_elf", "dwfl_standard_find_debuginfo",
              "dwfl_offline_section_address"]

    def make(code):
        text = "#include <stdlib.h>\n#include <unistd.h>\n" + "".join(
            f"void *{name}(void) {{ {code}; return 0; }}\n" for name in names)
        run(["gcc", "-xc", "-", "-w", "-shared", "-fPIC", "-o", "libdw.so.1"], stdin=text)
        return {"LD_LIBRARY_PATH": work}
    return make
