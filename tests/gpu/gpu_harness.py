# SPDX-License-Identifier: MIT
"""Base of the checks on a GPU: builds programs, runs and traces them, reads captures, and reports a
line for each result."""

import copy
import csv
import ctypes
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parent.parent
sys.path.insert(0, str(REPO / "tools"))

import packed  # noqa: E402

SOFT_DEVICES = 2
CHECKS = []  # (part, function), in the order of files


class Missing(Exception):
    """Raised if a requirement of a check is missing. The check is skipped, with the message as the
    reason."""


class Broken(Exception):
    """Raised if a check cannot continue."""


def check(part):
    """Return a decorator that registers a function, which takes a Machine, as a check of @part. The
    check has the name of the function."""

    def add(function):
        CHECKS.append((part, function))
        return function

    return add


def quartiles(values):
    """Return the quartiles of @values: (lower quartile, median, upper quartile)."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    return tuple(statistics.quantiles(values, n=4))


def show_spread(values, unit="ns"):
    low, middle, high = quartiles(values)
    form = ",.0f" if max(abs(low), abs(high)) >= 100 else ",.1f"
    return f"{middle:{form}} {unit} ({low:{form}} to {high:{form}})"


class Report:
    """Report of a check. A line has a part, a subject, a figure and a verdict (ok, FAILS, missed,
    info, skipped). The verdict `missed` means that a figure is worse than promised; it does not
    fail a check."""

    def __init__(self, part, promises):
        self.lines, self.part, self.promises = [], part, promises

    def add(self, verdict, what, figure):
        self.lines.append({"part": self.part, "what": what, "figure": figure, "verdict": verdict})
        print(f"{verdict:8}{self.part}: {what}: {figure}", flush=True)

    def judge(self, what, figure, holds):
        self.add("ok" if holds else "FAILS", what, figure)

    def equal(self, what, found, wanted):
        self.judge(what, f"{found:,} of {wanted:,}", found == wanted)

    def say(self, what, figure):
        self.add("info", what, figure)

    def promise(self, what, figure, holds):
        self.add("info" if not self.promises else "ok" if holds else "missed", what, figure)

    def skip(self, what, why):
        self.add("skipped", what, why)


class Capture:
    """Output and capture of a traced program."""

    def __init__(self, machine, path, done=None, seconds=0):
        self.machine, self.path, self.seconds = machine, path, seconds
        if done:
            self.status, self.out, self.err = done.returncode, done.stdout, done.stderr
        self.seen = None

    @property
    def said(self):
        return last_json(self)

    def report(self):
        if self.seen is None:
            self.seen = json.loads(self.machine.tap("report", "--json", "--top", "0", self.path))
        return self.seen

    def calls(self):
        """Return {name: number of calls}."""
        found = {}
        for row in self.report()["operations"]:
            found[row["name"]] = found.get(row["name"], 0) + row["calls"]
        return found

    def kernels(self, part=""):
        """Return the number of kernels whose name contains @part."""
        return sum(row["count"] for row in self.report()["kernels"] if part in row["name"])

    def copies(self):
        """Return (number of memcpys, number of memsets)."""
        rows = self.report()["copies"]
        sets = sum(row["count"] for row in rows if row["operation"] == "memset")
        return sum(row["count"] for row in rows) - sets, sets

    def info(self):
        return json.loads(self.machine.tap("info", "--json", self.path))

    def rows(self):
        """Yield all records, as rows of the CSV export."""
        table = self.path.with_suffix(".csv")
        self.machine.tap("export", "-f", self.path, "-o", table)
        with open(table, newline="", encoding="utf-8") as file:
            yield from csv.DictReader(file)
        table.unlink()

    def export(self, name):
        """Export the capture to the report folder and return the path."""
        self.machine.tap("export", "-f", self.path, "-o", self.machine.output / name)
        return self.machine.output / name

    def remove(self):
        self.path.unlink(missing_ok=True)


def last_json(done):
    """Return the JSON object that is the last line of a program's output to start with "{"."""
    lines = [line for line in (done.out if isinstance(done, Capture) else done.stdout).splitlines()
             if line.startswith("{")]
    if not lines:
        err = done.err if isinstance(done, Capture) else done.stderr
        raise Broken(f"the program printed nothing; standard error ends with: {err[-600:]!r}")
    return json.loads(lines[-1])


class Machine:
    """The machine that runs the checks. If @soft is true, programs of the driver API run on the
    software driver, and everything that needs a GPU is skipped."""

    def __init__(self, build, output, work, soft=False, quick=False):
        self.product = packed.Product(build, ["libgputap.so.0"])
        self.gputap, self.build = self.product.command, build
        self.output, self.soft, self.quick = output, soft, quick
        self.work, self.programs, self.report, self.count = work, work, None, 0
        self.python, self.built, self.building = sys.executable, {}, threading.Lock()
        self.plain = {k: v for k, v in os.environ.items() if not k.startswith("GPUTAP_")}
        self.devices = SOFT_DEVICES if soft else count_devices()
        # variables for gputap; `theirs` resets LD_LIBRARY_PATH for the program
        self.own = dict(self.product.environment)
        self.theirs = ["env"]
        if "LD_LIBRARY_PATH" in self.own and not soft:
            before = os.environ.get("LD_LIBRARY_PATH")
            self.theirs += [f"LD_LIBRARY_PATH={before}"] if before else ["-u", "LD_LIBRARY_PATH"]
            self.own["LD_LIBRARY_PATH"] += f":{before}" if before else ""

    def for_check(self, part, name):
        """Return a copy of this machine for one check, with a separate folder and report."""
        own = copy.copy(self)
        own.report, own.work = Report(f"{part}/{name}", not self.soft), self.work / f"{part}.{name}"
        own.work.mkdir()
        return own

    # Programs

    def compile(self, name, sources, command):
        """Return the file that @command builds from @sources. The file is built once for all
        checks."""
        with self.building:
            if name not in self.built:
                self.built[name] = self.compile_now(name, sources, command)
            return self.built[name]

    def compile_now(self, name, sources, command):
        if not shutil.which(str(command[0])):
            raise Missing(f"there is no {command[0]}")
        target = self.programs / name
        done = subprocess.run([str(word) for word in
                               (*command, *(HERE / s for s in sources), "-o", target)],
                              text=True, capture_output=True, timeout=120, check=False)
        if done.returncode:
            raise Broken(f"{command[0]} {name}: {done.stderr[-600:]}")
        return target

    def compile_c(self, name, source, *options):
        return self.compile(name, [source], [
            "cc", "-O2", "-Wall", "-Wextra", f"-I{REPO}", *options, "-ldl", "-lpthread"])

    def module(self):
        if self.soft:
            return self.compile_c("kernels.so", "gpu_soft_kernels.c", "-shared", "-fPIC")
        return self.compile("kernels.fatbin", ["gpu_kernels.cu"],
                            [find_nvcc(), "-fatbin", "-arch=native"])

    def program(self, *words):
        """Return the command line of gpu_program."""
        line = [self.compile_c("gpu_program", "gpu_program.c"), self.module(), *words]
        soft = [self.gputap, "soft", "cuda", "--devices", SOFT_DEVICES, "--"]
        return [*soft, *line] if self.soft else line

    def runtime_program(self, cudart, *words):
        self.need_gpu()
        return [self.compile(f"runtime_{cudart}", ["gpu_runtime_program.cu"],
                             [find_nvcc(), "-O2", "-arch=native", "-cudart", cudart]), *words]

    def script(self, name, *words, needs=("torch",)):
        """Return the command line of a Python program in tests/gpu that needs the packages
        @needs."""
        self.need_gpu()
        for package in needs:
            if subprocess.run([self.python, "-c", f"import importlib.util as u, sys\n"
                               f"sys.exit(not u.find_spec({package!r}))"],
                              check=False).returncode:
                raise Missing(f"this Python has no {package}")
        return [self.python, HERE / name, *words]

    def need_gpu(self):
        if self.soft:
            raise Missing("needs an NVIDIA GPU")

    # Another CUPTI client

    def cupti_user(self):
        return self.compile_c("gpu_cupti.so", "gpu_cupti.c", "-shared", "-fPIC")

    def cupti(self):
        """Return the path of libcupti for programs that do not load libcupti themselves."""
        places = []
        if self.soft:
            places = self.build.rglob("soft/cuda/**/libcupti.so.13")
        else:
            done = subprocess.run([self.python, "-c", "import nvidia; print(*nvidia.__path__)"],
                                  text=True, capture_output=True, check=False)
            for folder in done.stdout.split():
                places += sorted(pathlib.Path(folder).rglob("libcupti.so.1[23]"))
            for folder in (os.environ.get("CUDA_HOME", "/usr/local/cuda"), "/usr/local/cuda-13.0"):
                places += sorted(pathlib.Path(folder).rglob("libcupti.so.1[23]"))
        found = [p for p in places if p.is_file()]
        if not found:
            raise Missing("there is no libcupti")
        return found[0]

    def beside(self, **settings):
        """Return the environment in which the driver loads the other CUPTI client into a
        program."""
        return {"CUDA_INJECTION64_PATH": self.cupti_user(), "GPU_CUPTI": self.cupti(),
                **{f"GPU_CUPTI_{name.upper()}": text for name, text in settings.items()}}

    # Running

    def run(self, command, seconds=120, env=None, status=0):
        """Run @command and return a CompletedProcess. At the time limit, end the process group.
        @status is the required exit status, or None to accept any."""
        child = subprocess.Popen([str(word) for word in command], text=True, cwd=self.work,
                                 env={**self.plain, **{k: str(v) for k, v in (env or {}).items()}},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            raise Broken(f"{short(command)} took longer than {seconds} s; standard error ends "
                         f"with: {err[-600:]!r}") from None
        done = subprocess.CompletedProcess(command, child.returncode, out, err)
        if status is not None and done.returncode != status:
            raise Broken(f"{short(command)}: exit status {done.returncode}; standard error ends "
                         f"with: {err[-600:]!r}")
        return done

    def tap(self, *words):
        return self.run([self.gputap, *words], 300, self.own).stdout

    def next_path(self):
        """Return the path of the next capture that trace() writes."""
        return self.work / f"{self.count + 1}.gputap"

    def traced_command(self, path, command, options=(), env=None, quiet=True):
        """Return the command line that runs @command under `gputap run`. @env is set for the
        program only."""
        settings = [f"{k}={v}" for k, v in (env or {}).items()]
        return [self.gputap, "run", *["-q"] * quiet, "-f", "-o", path, *options, "--",
                *self.theirs, *settings, *command]

    def trace(self, command, options=(), env=None, seconds=120, status=0, own=None,
              quiet=True):
        """Run @command under `gputap run` and return the capture. @env is set only for the program,
        and @own for gputap and the program."""
        path = self.next_path()
        self.count += 1
        begin = time.monotonic()
        done = self.run(self.traced_command(path, command, options, env, quiet), seconds,
                        {**self.own, **(own or {})}, status)
        return Capture(self, path, done, time.monotonic() - begin)

    def pauses(self):
        """Return the path of the library with which a program pauses recording."""
        found = packed.find(self.build, "libroctx64.so.4")
        if not found:
            raise Missing("no libroctx64.so.4 in the build")
        return found

    # The machine itself

    def describe(self):
        names = "software driver" if self.soft else first_line(
            ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
        versions = {}
        if not self.soft:
            done = subprocess.run([self.python, "-c", "import torch; print(torch.__version__)"],
                                  text=True, capture_output=True, check=False)
            versions["torch"] = done.stdout.strip()
        return {"gpu": names, "devices": self.devices, "kernel": platform.release(),
                "processor": processor(), "cores": os.cpu_count(),
                "python": platform.python_version(),
                "gputap": self.tap("--version").split()[-1], **versions,
                "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())}


def short(command):
    return " ".join(str(word).rsplit("/", 1)[-1] for word in command)[:150]


def first_line(command):
    try:
        return subprocess.run([str(w) for w in command], text=True, capture_output=True, timeout=60,
                              check=False).stdout.split("\n")[0]
    except OSError:
        return ""


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((re.split(r":\s*", line)[1].strip() for line in file
                     if line.startswith("model name")), "")


def find_nvcc():
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    return shutil.which("nvcc") or shutil.which(f"{home}/bin/nvcc") or "nvcc"


def count_devices():
    """Return the number of devices, or 0 without a driver."""
    try:
        driver, count = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return 0
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return 0
    return count.value
