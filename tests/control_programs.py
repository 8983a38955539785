# SPDX-License-Identifier: MIT
"""Builds and runs tests/control/program.c for each runtime."""
import collections
import contextlib
import csv
import ctypes.util
import json
import pathlib
import shutil
import subprocess
import time

import pytest

import conftest

REPO = pathlib.Path(__file__).resolve().parent.parent
SOURCE = REPO / "tests/control"
RUNTIMES = ("refdev", "opencl", "hip", "level_zero", "cuda")


class Missing(Exception):
    """Raised if requirements of a runtime are not installed."""


def compile_c(*words):
    subprocess.run(list(map(str, words)), check=True)


class Program:
    """One build of the program. Tests pass `command` to `gputap run`, with the variables in
    `environment`."""
    def __init__(self, runtime, build, folder):
        self.runtime, self.build, self.folder = runtime, build, folder
        self.path, self.environment = folder / "program", {}
        self.command = [self.path]
        roctx = build / "src/compat/roctx"
        self.common = [
            f"-I{REPO}", f"-I{REPO}/include", f"-I{SOURCE}", SOURCE / "program.c",
            SOURCE / "ranges.c"
        ]
        self.libraries = [
            f"-L{build}", "-l:libgputap.so.0", f"-L{roctx}", "-l:libroctx64.so.4",
            f"-Wl,-rpath,{build}:{roctx}", "-ldl", "-lpthread"
        ]
        getattr(self, f"make_{runtime}")()

    def make(self, *words):
        compile_c("cc", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-O1", "-g",
                  *self.common, SOURCE / f"on_{self.runtime}.c", "-o", self.path, *words,
                  *self.libraries)

    def make_refdev(self):
        library = self.build / "soft/refdev"
        self.make(library / "librefdev.so.1", f"-Wl,-rpath,{library}")

    def make_opencl(self):
        self.make("-lOpenCL")

    def make_cuda(self):
        kernels = self.folder / "kernels.so"
        compile_c("cc", "-Wall", "-Wextra", "-Werror", "-O1", f"-I{REPO}", "-shared", "-fPIC",
                  SOURCE / "cuda_kernels.c", "-o", kernels)
        self.make(self.build / "soft/cuda/libcuda.so.1")
        self.environment = {"CONTROL_KERNELS": kernels}
        self.command = [self.build / "gputap", "soft", "cuda", "--", self.path]

    def make_level_zero(self):
        driver = self.build / "soft/level_zero/libze_soft.so"
        if not driver.exists() or not ctypes.util.find_library("ze_loader"):
            raise Missing("needs Level Zero: apt install libze-dev")
        self.environment = {"CONTROL_KERNELS": SOURCE / "kernels.cl",
                            "ZE_ENABLE_ALT_DRIVERS": driver}
        self.make("-lze_loader")

    def make_hip(self):
        if not shutil.which("hipcc"):
            raise Missing("needs hipcc: apt install hipcc")
        library = self.build / "soft/amdgpu/libhsakmt.so.1"
        if not library.exists():
            raise Missing("needs the software GPU, which is built where ROCr's headers are: apt"
                          " install libhsa-runtime-dev")
        self.environment = {"LD_LIBRARY_PATH": library.parent, "HSA_ENABLE_DTIF": "1"}
        objects = []
        for source in ("program.c", "ranges.c"):
            objects.append(self.folder / f"{source}.o")
            compile_c("cc", "-O1", "-g", "-w", f"-I{REPO}", f"-I{REPO}/include", f"-I{SOURCE}",
                      "-c", SOURCE / source, "-o", objects[-1])
        objects.append(self.folder / "on_hip.o")
        compile_c("hipcc", "--offload-arch=gfx906", "-O1", "-w", f"-I{SOURCE}", "-c",
                  SOURCE / "on_hip.hip", "-o", objects[-1])
        compile_c("hipcc", "--hip-link", *objects, "-o", self.path, *self.libraries)


class Session:
    """Runs `gputap run` around a program that executes the lines written to its standard input."""
    def __init__(self, gputap, program, *options, env=None):
        environment = {**conftest.clean_environment(), **program.environment, **(env or {})}
        self.process = subprocess.Popen(
            [gputap, "run", "-o", "w.gputap", *options, "--", *program.command], text=True,
            env=environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            conftest.end_group(self.process)

    def tell(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "ok\n", self.process.stderr.read()

    def begin(self, line):
        """Send @line to the program, but do not wait until the program has executed it."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self, status=0):
        out, self.err = self.process.communicate(timeout=conftest.HANGS_SECONDS)
        assert self.process.returncode == status, self.err
        return out


def wait_until(condition):
    end = time.monotonic() + conftest.LEAVING_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def session(gputap, program, work):
    with contextlib.ExitStack() as sessions:
        yield lambda *options, env=None: sessions.enter_context(
            Session(gputap, program, *options, env=env))


@pytest.fixture
def control(tap):
    """Return a function that runs gputap start, stop or status for a session, which it selects by
    the session's pid."""
    def ask(command, s, *options, **keywords):
        return tap(command, *options, str(s.pid), **keywords)
    return ask


@pytest.fixture
def status(control):
    def read(s):
        return json.loads(control("status", s, "--json").out)["sessions"][0]
    return read


@pytest.fixture
def recorded(tap):
    """Return a function that returns the names of the kernels in the capture and checks that
    nothing was lost."""
    def read():
        info = json.loads(tap("info", "--json", "w.gputap").out)
        assert info["seen"] == info["recorded"] + info["dropped"] and not info["dropped"], info
        tap("export", "-f", "w.gputap", "-o", "w.csv")
        with open("w.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        return collections.Counter(r["name"] for r in rows if r["kind"] == "device")
    return read
