# SPDX-License-Identifier: MIT
"""The programs of attach_campaign.py. Each checks itself."""
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import time

REPO = pathlib.Path(__file__).resolve().parent.parent
BENCH, CONTROL = REPO / "bench", REPO / "tests/control"
SECONDS = 120  # after which a command or the end of a program counts as hanging
HEAVY, FEW = "heavy", "few"  # kinds of programs: how many attaches
RUNTIMES = ("opencl", "refdev", "level_zero", "hip")


class Skip(Exception):
    """Raised if a program is not installed."""


class Program:
    """A program that prints "ready", and whose last words are "ok" if nothing disturbed it."""
    counts = None

    def __init__(self, *command, by_signal=False, env=None):
        self.by_signal = by_signal
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{command[0]} does not start")

    def pick(self):
        return self.process.pid

    def is_running(self):
        return self.process.poll() is None

    def end(self):
        """End the program. Return None, or what is wrong."""
        if self.by_signal:
            self.process.send_signal(signal.SIGTERM)
        try:
            text, _ = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "does not end"
        if text != "ok\n" or self.process.returncode:
            return f"exit status {self.process.returncode}, output {text!r}"
        return None


class Launches(Program):
    """Threads that launch kernels of a runtime."""
    def __init__(self, runtime, build, folder):
        self.counts = folder / "counts"
        program, files = folder / "program", [BENCH / "attach_launches.c"]
        flags = ["-O1", "-w", "-D_GNU_SOURCE", f"-I{REPO}", f"-I{CONTROL}"]
        words, env = [], {}
        if runtime == "hip":
            if not shutil.which("hipcc"):
                raise Skip("apt install hipcc")
            soft = build / "soft/amdgpu"
            env = {"LD_LIBRARY_PATH": str(soft), "HSA_ENABLE_DTIF": "1"}
            subprocess.run(["cc", *flags, "-c", *files, "-o", folder / "a.o"], check=True)
            subprocess.run(["hipcc", "--offload-arch=gfx906", f"-I{CONTROL}", "-w", folder / "a.o",
                            CONTROL / "on_hip.hip", "-o", program], check=True,
                           stderr=subprocess.DEVNULL)
        else:
            library = {"opencl": "-lOpenCL", "level_zero": "-lze_loader",
                       "refdev": build / "soft/refdev/librefdev.so.1"}[runtime]
            if runtime == "level_zero":
                words = ["locked"]
                env = {"ZE_ENABLE_ALT_DRIVERS": str(build / "soft/level_zero/libze_soft.so"),
                       "CONTROL_KERNELS": str(CONTROL / "kernels.cl")}
            done = subprocess.run(["cc", *flags, *files, CONTROL / f"on_{runtime}.c", library,
                                   f"-Wl,-rpath,{build}/soft/refdev", "-lpthread", "-o", program],
                                  check=False, capture_output=True)
            if done.returncode:
                raise Skip(f"{runtime} is not installed")
        super().__init__(program, self.counts, 4, *words, env=env)

    def read_counts(self):
        """Return how many launches have begun, and how many are done."""
        return struct.unpack("2Q", self.counts.read_bytes())

    @staticmethod
    def count_recorded(gputap, capture):
        """Return the number of launches in a capture."""
        done = subprocess.run([gputap, "report", "--json", capture], check=False, text=True,
                              capture_output=True)
        if done.returncode:
            return -1
        return sum(x["calls"] for x in json.loads(done.stdout)["operations"]
                   if "launchkernel" in x["name"].lower() or "NDRange" in x["name"])


class Postgres:
    """pgbench on a private server: attaches to all processes of the server."""
    counts = None

    def __init__(self, folder):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"))
        if not found or not shutil.which("setpriv"):
            raise Skip("apt install postgresql")
        self.bin, self.folder, self.wrong = found[-1].parent, folder / "pg", None
        self.folder.mkdir()
        self.user = [] if os.geteuid() else ["setpriv", "--reuid=65534", "--clear-groups"]
        if self.user:
            os.chmod(folder, 0o755)
            os.chown(self.folder, 65534, -1)
        self.call("initdb", "-D", self.folder / "data", "-N", "-A", "trust", "-U", "bench")
        self.process = subprocess.Popen(
            [*self.user, self.bin / "postgres", "-D", self.folder / "data", "-k", self.folder, "-c",
             "listen_addresses="], stderr=subprocess.DEVNULL)
        while subprocess.run([self.bin / "pg_isready", "-h", self.folder], check=False,
                             capture_output=True).returncode:
            time.sleep(0.1)
        self.where = ["-h", self.folder, "-U", "bench"]
        self.call("createdb", *self.where, "bench")
        self.call("pgbench", "-i", *self.where, "bench")
        self.client = self.bench()

    def call(self, name, *words):
        return subprocess.run([*self.user, self.bin / name, *words], check=True, text=True,
                              cwd="/", capture_output=True).stdout

    def bench(self):
        return subprocess.Popen([*self.user, self.bin / "pgbench", "-n", "-c", "4", "-T", "15",
                                 *self.where, "bench"], stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT, cwd="/")

    def join(self):
        text, _ = self.client.communicate()
        if self.client.returncode or "failed transactions: 0 " not in text:
            self.wrong = f"pgbench: {text[-300:]}"

    def pick(self):
        if self.client.poll() is not None:
            self.join()
            self.client = self.bench()
            time.sleep(1)
        path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
        children = pathlib.Path(path).read_text(encoding="utf-8").split()
        return random.choice([self.process.pid, *map(int, children)])

    def is_running(self):
        return self.process.poll() is None and not self.wrong

    def end(self):
        self.join()
        sums = self.call("psql", *self.where, "-tAF ", "-c", "select (select sum(abalance) from "
                         "pgbench_accounts), (select sum(tbalance) from pgbench_tellers), "
                         "(select sum(bbalance) from pgbench_branches)", "bench").split()
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(SECONDS)
        if status or len(set(sums)) != 1:
            return f"sums {sums}, exit status {status}"
        return self.wrong


def start_java(folder):
    if not shutil.which("javac"):
        raise Skip("apt install default-jdk-headless")
    subprocess.run(["javac", "-d", folder, BENCH / "AttachHashes.java"], check=True)
    return Program("java", "-cp", folder, "AttachHashes")


def start_node(_):
    if not shutil.which("node"):
        raise Skip("apt install nodejs")
    return Program("node", BENCH / "attach_hashes.js")


def start_jemalloc(victim):
    found = list(pathlib.Path("/usr/lib").glob("*/libjemalloc.so.2"))
    if not found:
        raise Skip("apt install libjemalloc2")
    return Program(victim, "mallocs", "8", by_signal=True, env={"LD_PRELOAD": str(found[0])})


def find(build):
    """Return {name: (start(folder), kind)}. The kind of small programs is their share."""
    victim, own = build / "tests/inject/victim", build / "bench/attach_programs"

    def add_victim(words, kind, program="victim", prefix=""):
        programs[prefix + words] = (
            lambda _: Program(victim.with_name(program), *words.split(), by_signal=True), kind)

    def add_own(way, kind):
        programs[way] = lambda _: Program(own, way), kind

    def add_runtime(runtime):
        programs[runtime] = lambda folder: Launches(runtime, build, folder), HEAVY

    programs = {}
    for words in ("compute 0", "compute 4", "mallocs 8", "mallocs 0", "forks", "threads"):
        add_victim(words, 1)
    for way, kind in {"waits": 2, "masked": 1, "executes": 1, "crowd": 1, "handler": FEW}.items():
        add_own(way, kind)
    add_victim("sleepers 8", 1, "victim_allocator", "linked-in allocator, ")
    add_victim("mallocs 8", FEW, "victim_allocator", "linked-in allocator, ")
    programs["jemalloc, mallocs 8"] = lambda _: start_jemalloc(victim), 1
    add_victim("compute 2", FEW, "victim_static", "static, ")
    programs["python, 4 threads"] = (
        lambda _: Program(sys.executable, BENCH / "attach_hashes.py"), HEAVY)
    programs["node"] = start_node, HEAVY
    programs["java, 4 threads"] = start_java, HEAVY
    programs["postgres, pgbench"] = Postgres, HEAVY
    for runtime in RUNTIMES:
        add_runtime(runtime)
    return programs
