#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run every bench program in interleaved rounds, print a table, write
docs/internals/performance.md's figures.

usage: bench/run.py [--build DIR] [--rounds N] [--write] [--only NAME] [--quick]

Each program prints lines "key value unit". A figure is the median over the rounds. A ratio is
computed within each round, and the figure is the median of these ratios. Peers that are not
installed are listed as such. If a program fails, its group keeps the figures printed before the
failure, the failed program is named, and the exit status is 1.
"""
import argparse
import contextlib
import json
import operator
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOC = ROOT / "docs" / "internals/performance.md"
# hipcc uses CUDA's nvcc if nvcc exists and PATH contains no clang++, unless told otherwise
HIPCC_ENVIRONMENT = {"HIP_PLATFORM": "amd", "HIP_COMPILER": "clang", "HIP_RUNTIME": "rocclr"}
BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"


class Missing(Exception):
    """A missing peer or program."""


class Failed(RuntimeError):
    """A failed command, with its output up to then."""

    def __init__(self, command, done):
        super().__init__(
            f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr[-2000:]}")
        self.output = done.stdout


def run(command, env=None, timeout=600, cpus=None):
    done = subprocess.run([str(c) for c in command],
                          env={**os.environ, **(env or {})},
                          timeout=timeout,
                          preexec_fn=cpus and (lambda: os.sched_setaffinity(0, cpus)),
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          text=True,
                          errors="replace")
    if done.returncode:
        raise Failed(command, done)
    return done.stdout


def cpus_for_two():
    """Return a CPU for the measured thread, a CPU on another core for the thread that it works
    with, and the CPUs of the remaining cores for all other threads. Return None with fewer than
    three cores."""
    cores = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.setdefault(siblings.read_text().strip() if siblings.exists() else cpu, []).append(cpu)
    if len(cores) < 3:
        return None
    *others, one, two = cores.values()
    return one[0], two[0], {cpu for core in others for cpu in core}


def figures(text):
    out = {}
    for line in text.splitlines():
        parts = line.split()
        if len(parts) == 3:
            with contextlib.suppress(ValueError):
                out[parts[0]] = float(parts[1])
    return out


def with_interval(values):
    """Return {suffix of the figure's name: value}: the median of @values, and the bounds of its
    95 % confidence interval."""
    values = sorted(values)
    middle, wide = len(values) / 2, 0.98 * len(values) ** 0.5
    return {"": statistics.median(values), "_low": values[max(0, int(middle - wide))],
            "_high": values[min(len(values) - 1, int(middle + wide))]}


class Bench:
    def __init__(self, build, quick):
        self.build, self.quick = build, quick
        self.work = pathlib.Path(
            tempfile.mkdtemp(prefix="gputap-bench-", dir=os.environ.get("TMPDIR")))

    def program(self, name):
        path = self.build / "bench" / name
        if not path.exists():
            raise Missing(f"{name} was not built (its packages are missing: tools/setup bench)")
        return path

    def count(self, full):
        return full // 10 if self.quick else full

    # One method per row group; each returns {key: value}. -----------------------------------

    def tap(self):
        return figures(run([self.program("tap_cost")]))

    def process(self):
        """A program that uses no runtime: bare, and in a session."""
        command = [self.program("startup_cost"), self.build / "gputap", self.count(400)]
        return figures(run(command))

    def tool(self):
        """A tool with an empty callback. The session does not record that API."""
        return figures(
            run([
                self.build / "gputap", "run", "-q", "-f", "-o", self.work / "tool.gputap",
                "--domains", "roctx", "--",
                self.program("tool_cost")
            ]))

    def level_zero(self):
        """The software driver, which executes no kernels, and the loader's tracing layer."""
        driver, program = self.build / "soft/level_zero/libze_soft.so", self.program(
            "level_zero_cost")
        env = {
            "ZE_ENABLE_ALT_DRIVERS": str(driver), "SOFT_LEVEL_ZERO_EXECUTE": "0",
            "SOFT_LEVEL_ZERO_THREADS": "0"
        }
        out = {}
        library = self.build / "src/compat/pti/libpti_callback.so.1"
        for what in ("calls", "callback", "pti", "launches", "threads"):
            domains = ["--domains", "roctx"] if what in ("callback", "pti") else []
            out |= figures(
                run([
                    self.build / "gputap", "run", "-q", "-f", "-o", self.work / "ze.gputap",
                    *domains, "--", program, what, library if what == "pti" else self.count(100)
                ], env))
        with contextlib.suppress(Failed):  # no loader, or a loader without that layer
            out |= figures(run([program, "layer"], env | {"ZE_ENABLE_TRACING_LAYER": "1"}))
        return out

    def pti(self):
        """A launch in a plain program, and a kernel of dpnp. Runs without a tool, with Intel's PTI,
        and with gputap are interleaved. Uses the software driver, which executes no kernels."""
        python, loader = (os.environ.get(f"GPUTAP_{name}")
                          for name in ("SYCL_PYTHON", "LEVEL_ZERO_LOADER"))
        if not python or not loader:
            raise Missing("set GPUTAP_SYCL_PYTHON to a python with dpnp and intel-pti, and"
                          " GPUTAP_LEVEL_ZERO_LOADER to a loader of 1.20 or later")
        libraries = pathlib.Path(python).parent.parent / "lib"
        client = self.work / "pti_views.so"
        run(["cc", "-shared", "-fPIC", "-O1", ROOT / "tests/soft/pti_views.c", "-o", client,
             "-ldl"])
        env = {
            "ZE_ENABLE_ALT_DRIVERS": str(self.build / "soft/level_zero/libze_soft.so"),
            "SOFT_LEVEL_ZERO_EXECUTE": "0", "SOFT_LEVEL_ZERO_THREADS": "0",
            "ONEAPI_DEVICE_SELECTOR": "level_zero:*",
            "LD_LIBRARY_PATH": f"{libraries}:{libraries}/pti:{loader}"
        }
        views = {
            "PTI_VIEWS_LIBRARY": str(libraries / "libpti_view.so.1"), "PTI_VIEWS_TEXT": "0",
            "PTI_VIEWS_OUT": str(self.work / "pti.txt"), "LD_PRELOAD": str(client)
        }
        recorded = [self.build / "gputap", "run", "-q", "-f", "-o", self.work / "pti.gputap", "--"]
        out = {}
        for adapter, variables in (("", {}), ("_v1", {"SYCL_UR_USE_LEVEL_ZERO_V2": "0"}),
                                   ("_v2", {"SYCL_UR_USE_LEVEL_ZERO_V2": "1"})):
            program = ([python, ROOT / "bench/peer_pti.py"] if adapter
                       else [self.program("peer_pti")])
            for tool, before, more in (("bare", [], {}), ("pti", [], views),
                                       ("gputap", recorded, {})):
                found = figures(run([*before, *program, self.count(400)], env | variables | more))
                out |= {f"pti_{key}{adapter}_{tool}": value for key, value in found.items()}
        return out

    def buffer(self):
        return figures(run([self.program("buffer_write")])) | figures(
            run([self.program("buffer_write"), 3]))

    @contextlib.contextmanager
    def lttng_session(self):
        for tool in ("lttng", "lttng-sessiond"):
            if not shutil.which(tool):
                raise Missing("LTTng is not installed (lttng-tools)")
        home = self.work / "lttng"
        home.mkdir(exist_ok=True)
        env = {"LTTNG_HOME": str(home), "HOME": str(home)}
        daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], env={**os.environ, **env},
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                if subprocess.run(["lttng", "list"], env={**os.environ, **env},
                                  capture_output=True).returncode == 0:
                    break
                time.sleep(0.05)
            out = home / "trace"
            run(["lttng", "create", "bench", f"--output={out}"], env)
            run(["lttng", "enable-event", "-u", "gputap_bench:*"], env)
            run(["lttng", "start"], env)
            yield env
            run(["lttng", "destroy"], env)
            shutil.rmtree(out, ignore_errors=True)
        finally:
            daemon.terminate()
            daemon.wait(30)

    def lttng(self):
        calls = self.count(2_000_000)
        out = {}
        with self.lttng_session() as env:
            for threads in (1, 3):
                out |= figures(
                    run([self.program("peer_lttng"), f"lttng_pair_{threads}t", 0, calls, threads],
                        env))
        return out

    def uftrace(self):
        if not shutil.which("uftrace"):
            raise Missing("uftrace is not installed")
        out = {}
        for key, options in (("uftrace", []), ("uftrace_args", [
                "-A", "traced_call@arg1/u64,arg2/u64,arg3/u64,arg4/u64", "-R",
                "traced_call@retval/i32"
        ])):
            data = self.work / "uftrace"
            out |= figures(
                run([
                    "uftrace", "record", "-d", data, *options,
                    self.program("peer_uftrace"), key,
                    self.count(2_000_000)
                ]))
            shutil.rmtree(data, ignore_errors=True)
        return out

    def plugin(self):
        """The plug-in of the reference accelerator: an operator's push and pop, and reading a
        record after a session."""
        return figures(
            run([self.program("plugin_cost"), self.count(1_000_000)],
                {"KINETO_PLUGIN_PATH": str(self.build / "soft/refdev/librefdev_pu1.so")}))

    def capture(self):
        return figures(run([self.program("capture_rate")]))

    def soft(self):
        """The queues of the software GPU: empty kernels, with and without execution."""
        out = {}
        for prefix, options in (("soft", ["--no-execute"]), ("soft_executed", [])):
            out |= figures(
                run([
                    self.build / "gputap", "soft", "amdgpu", *options, "--",
                    self.program("soft_rate"), prefix, self.build / "tests/soft/soft_kernels.co",
                    self.count(1_000_000)
                ]))
        return out

    def exports(self):
        return figures(run([self.program("export_rate")]))

    def opencl(self):
        """Whole programs on PoCL, bare and under gputap run, in pairs."""
        loop, gputap = self.program("opencl_loop"), self.build / "gputap"
        capture = self.work / "loop.gputap"
        out = {}

        def wall(command):
            # because replacing a file takes as long as a thousand kernels
            capture.unlink(missing_ok=True)
            start = time.monotonic()
            run(command)
            return time.monotonic() - start

        traced = [gputap, "run", "-q", "-o", capture, "--"]
        def in_pairs(bare, trials):
            """Return [[seconds bare, seconds traced], ..]; whichever runs first alternates between
            pairs."""
            pairs = []
            for trial in range(1 if self.quick else trials):
                both = [
                    wall(c)
                    for c in ([bare, traced + bare] if trial % 2 == 0 else [traced + bare, bare])
                ]
                pairs.append(both if trial % 2 == 0 else both[::-1])
            return pairs

        for key, items, batch in (("pocl_kernels", 1, 64), ("pocl_kernels_4k", 4096, 64),
                                  ("pocl_kernels_every_1000", 1, 1000)):
            pairs = in_pairs([loop, "k", f"kernels:{items}", self.count(100_000), batch], 15)
            out[f"{key}_bare_s"], out[f"{key}_traced_s"] = (statistics.median(side)
                                                            for side in zip(*pairs))
            out[f"{key}_ratio"] = statistics.median(under / bare for bare, under in pairs)
        for key, program in (("startup_ms", [loop, "k", "none", 0]), ("startup_true_ms", ["true"])):
            out[key] = 1e3 * statistics.median(under - bare
                                               for bare, under in in_pairs(program, 21))
        return out

    def split(self):
        """Small PoCL kernels: split the cost of device times into the part of the runtime, which a
        program that reads the times itself also pays, and the part of gputap."""
        out = {}
        for key, items, batch in (("split", 1, 64), ("split_4k", 4096, 64), ("split_batch", 1,
                                                                             1000)):
            out |= figures(
                run([
                    self.build / "gputap", "run", "-q", "-f", "-o", self.work / "split.gputap",
                    "--",
                    self.program("opencl_split"), key, items, batch,
                    self.count(300)
                ]))
        return out

    def hip_program(self, name):
        """Compile bench/NAME.hip, because hipcc is not a compiler of the build."""
        program = self.work / name
        if not shutil.which("hipcc") or not (self.build / "soft/amdgpu/libhsakmt.so.1").exists():
            raise Missing("hipcc or the software GPU is not installed (tools/setup)")
        if not program.exists():
            run([
                "hipcc", "--offload-arch=gfx906", "-O2", ROOT / "bench" / f"{name}.hip", "-o",
                program
            ],
                env=HIPCC_ENVIRONMENT)
        return program

    def in_turns(self, program, *arguments):
        """Return {mode: [[time to launch, CPU time to launch, time until done], for each block]}
        for @program, bare and in each mode. All modes run at the same time with interleaved blocks
        of some milliseconds, so that drift affects all alike. The difference between a block and
        the neighbouring bare block is the cost of the mode."""
        gputap, modes = self.build / "gputap", ("bare", "lite", "standard", "hip")
        launches, gpu, others = cpus_for_two() or (None, None, None)
        pipes = [self.work / f"turn{i}" for i in range(len(modes))]
        running = []
        for pipe in pipes:
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
        first = os.open(pipes[0], os.O_RDWR)
        try:
            for i, mode in enumerate(modes):
                env = {
                    **os.environ, "GPUTAP_BENCH_TURNS": f"{pipes[i]}:{pipes[(i + 1) % len(pipes)]}"
                }
                if others:
                    env["SOFT_AMDGPU_CPU"] = str(gpu)
                traced = [] if mode == "bare" else [
                    gputap, "run", "-q", "-f", "-o", self.work /
                    f"{mode}.gputap", "--mode", mode, "--"
                ]
                command = [
                    gputap, "soft", "amdgpu", "--no-execute", "--", *traced, program, mode,
                    *arguments, *([launches] if others else [])
                ]
                running.append(
                    subprocess.Popen([str(c) for c in command],
                                     env=env,
                                     stdout=subprocess.PIPE,
                                     text=True,
                                     start_new_session=True,
                                     preexec_fn=others
                                     and (lambda: os.sched_setaffinity(0, others))))
            os.write(first, b"x")
            blocks = {}
            for mode, process in zip(modes, running):
                out = process.communicate(timeout=300)[0]
                if process.returncode:
                    raise RuntimeError(f"{program} interleaved, {mode}: exit {process.returncode}")
                lines = [
                    line.split() for line in out.splitlines() if line.startswith(f"{mode}_block ")
                ]
                blocks[mode] = [[float(word) for word in line[1:]] for line in lines]
            return blocks
        finally:
            os.close(first)
            for process in running:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    @staticmethod
    def against_bare(blocks, mode, what, compare=operator.sub):
        """Return the differences between blocks of @mode and the neighbouring bare blocks."""
        return with_interval(
            compare(m[what], b[what]) for m, b in list(zip(blocks[mode], blocks["bare"]))[2:])

    def hip(self):
        """A launch-bound HIP loop on the software GPU, without executing kernels: bare and in each
        mode, interleaved. The choice of cores for the launching thread and for the software GPU has
        a larger effect than a mode (580 to 1,430 ns per launch on one machine). So the thread and
        the GPU have a core each, and all other threads share the remaining cores."""
        gputap, trials, modes = self.build / "gputap", {}, ["bare", "lite", "standard", "hip"]
        loop = [self.hip_program("hip_loop"), "hip", self.count(200_000)]
        soft = [gputap, "soft", "amdgpu", "--no-execute", "--"]
        launches, gpu, others = cpus_for_two() or (None, None, None)
        if others:
            loop.append(launches)
        for trial in range(1 if self.quick else 9):
            for mode in modes if trial % 2 == 0 else modes[::-1]:
                capture = self.work / "hip.gputap"
                capture.unlink(missing_ok=True)
                traced = [] if mode == "bare" else [
                    gputap, "run", "-q", "-o", capture, "--mode", mode, "--"
                ]
                start = time.monotonic()
                found = figures(
                    run(soft + traced + loop,
                        env={"SOFT_AMDGPU_CPU": str(gpu)} if others else None,
                        cpus=others))
                found["hip_s"] = time.monotonic() - start
                trials.setdefault(mode, []).append(found)
        out = {}
        for mode, found in trials.items():
            for key in ("hip_s", "hip_ns", "hip_launch_ns", "hip_launch_cpu_ns",
                        "hip_helper_cpu_ns", "hip_collector_cpu_ns"):
                out[f"{key.replace('hip', f'hip_loop_{mode}')}"] = statistics.median(
                    f[key] for f in found)
            out[f"hip_loop_{mode}_all_cpu_ns"] = statistics.median(
                f["hip_launch_cpu_ns"] + f["hip_helper_cpu_ns"] + f["hip_collector_cpu_ns"]
                for f in found)
            if mode != "bare":
                for key, what in (("hip_s", ""), ("hip_ns", "each_"), ("hip_launch_cpu_ns",
                                                                       "launch_cpu_")):
                    for end, value in with_interval(
                            f[key] / b[key] for f, b in zip(found, trials["bare"])).items():
                        out[f"hip_loop_{mode}_{what}ratio{end}"] = value
        blocks = self.in_turns(loop[0], self.count(300_000))
        for mode in modes[1:]:
            for what, key in enumerate(("launching", "launching_cpu", "each")):
                for end, value in self.against_bare(blocks, mode, what).items():
                    out[f"hip_turns_{mode}_{key}_more_ns{end}"] = value
            for end, value in self.against_bare(blocks, mode, 2, operator.truediv).items():
                out[f"hip_turns_{mode}_ratio{end}"] = value
        return out

    def graph(self):
        """A HIP graph of 1,000 empty kernels on the software GPU, launched and waited for: the cost
        that a mode adds. Bare launches vary by more than this cost, so blocks are interleaved."""
        nodes, program = 1000, self.hip_program("hip_graph")
        blocks = self.in_turns(program, nodes, self.count(1000))
        out = {"hip_graph_bare_us": statistics.median(b[2] for b in blocks["bare"]) / 1e3}
        for mode in ("lite", "standard", "hip"):
            for what, key in enumerate(("launching_more_us", "launching_cpu_more_us", "more_us")):
                for end, value in self.against_bare(blocks, mode, what).items():
                    out[f"hip_graph_{mode}_{key}{end}"] = value / 1e3
            out[f"hip_graph_{mode}_node_ns"] = 1e3 * out[f"hip_graph_{mode}_more_us"] / nodes
        # the helper and the collector also run during blocks of other modes
        for mode in ("lite", "standard", "hip"):
            found = figures(
                run([
                    self.build / "gputap", "soft", "amdgpu", "--no-execute", "--",
                    self.build / "gputap", "run", "-q", "-f", "-o", self.work / "graph.gputap",
                    "--mode", mode, "--", program, "graph", nodes,
                    self.count(100)
                ]))
            out[f"hip_graph_{mode}_helper_us"] = found["graph_helper_cpu_ns"] / 1e3
        return out

    def paced(self):
        """Two threads at 5 million calls a second each: the achieved rate and the lost calls."""
        capture = self.work / "paced.gputap"
        out = figures(
            run([
                self.build / "gputap", "run", "-q", "-f", "-o", capture, "--",
                self.program("opencl_paced"), 2, 5e6, 3 if self.quick else 30
            ]))
        info = json.loads(run([self.build / "gputap", "info", "--json", capture]))
        out["paced_seen"] = info["seen"] / 1e6
        out["paced_dropped"] = info["dropped"]
        out["paced_bytes_per_record"] = info["bytes_per_record"]
        return out


GROUPS = ("tap", "process", "tool", "level_zero", "pti", "buffer", "plugin", "lttng", "uftrace",
          "opencl", "split", "paced", "capture", "exports", "soft", "hip", "graph")


def machine():
    cpu = next(
        (l.split(":", 1)[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")),
        "unknown")
    return (
        f"{cpu}, {os.cpu_count()} CPUs, Linux {platform.release()},"
        f" {platform.freedesktop_os_release()['PRETTY_NAME']}"
    )


def table(values, ratios):
    rows = []
    if ratios:
        rows += [
            "| ratio or difference | median | min | max | goal |",
            "| --- | ---: | ---: | ---: | --- |"
        ]
        for name, (v, wanted) in ratios.items():
            ends = [e for key in INTERVALS.get(name, ()) for e in values.get(key, ())]
            rows.append(
                f"| {name} | {statistics.median(v):.3g} | {min(v + ends):.3g} | {max(v + ends):.3g}"
                f" | {wanted} |"
            )
        rows.append("")
    rows += ["| figure | median | min | max |", "| --- | ---: | ---: | ---: |"]
    for key in sorted(values):
        v = values[key]
        rows.append(f"| {key} | {statistics.median(v):.4g} | {min(v):.4g} | {max(v):.4g} |")
    return "\n".join(rows)


# name: (figure, "/" or "-", figure, promised value); or (figure, "", "", promised value): already a
# ratio
RATIOS = json.loads((pathlib.Path(__file__).parent / "ratios.json").read_text())
# if a program prints a confidence interval for a figure, the row uses it
INTERVALS = {
    name: (f"{a}_low", f"{a}_high") for name, (a, how, _, _) in RATIOS.items() if how == ""
}


def main():
    ap = argparse.ArgumentParser(description=__doc__,
                                 formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--only", action="append", choices=GROUPS)
    ap.add_argument("--quick", action="store_true",
                    help="do a tenth of the work, to check that every part runs")
    ap.add_argument("--write",
                    action="store_true",
                    help="write the results to docs/internals/performance.md")
    args = ap.parse_args()

    bench = Bench(args.build.resolve(), args.quick)
    values, per_round, missing, failed = {}, [], {}, {}
    try:
        for n in range(args.rounds):
            found = {}
            for group in args.only or GROUPS:
                if group in missing:
                    continue
                print(f"round {n + 1}/{args.rounds}: {group}", file=sys.stderr)
                try:
                    found |= getattr(bench, group)()
                except Missing as why:
                    missing[group] = str(why)
                except Exception as why:  # any error: figures of other groups are valid
                    if isinstance(why, Failed):
                        found |= figures(why.output)
                    failed.setdefault(group, []).append(n + 1)
                    print(f"{group} failed: {type(why).__name__}: {why}", file=sys.stderr)
            per_round.append(found)
            for key, value in found.items():
                values.setdefault(key, []).append(value)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)

    ratios = {}
    for name, (a, how, b, wanted) in RATIOS.items():
        if how == "":  # a ratio that the program itself computed from adjacent trials
            r = [f[a] for f in per_round if a in f]
        else:
            pairs = [(f[a], f[b]) for f in per_round if a in f and f.get(b)]
            r = [x / y if how == "/" else x - y for x, y in pairs]
        if r:
            ratios[name] = (r, wanted)
    text = table(values, ratios)
    for group, why in missing.items():
        text += f"\n\nNot measured: {group}: {why}."
    for group, rounds in failed.items():
        text += (
            f"\n\nFailed: {group}, in {len(rounds)} of {args.rounds} rounds"
            f" ({', '.join(map(str, rounds))})."
        )
    print(text)
    if args.write:
        head, _, rest = DOC.read_text().partition(BEGIN)
        _, _, tail = rest.partition(END)
        note = f"{time.strftime('%Y-%m-%d')}, {machine()}; `make bench`, {args.rounds} rounds."
        DOC.write_text(f"{head}{BEGIN}\n{note}\n\n{text}\n{END}{tail}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
