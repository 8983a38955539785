# SPDX-License-Identifier: MIT
"""Measure the cost of recording, compared with CUPTI alone and with Kineto for the same work. Each
program measures itself in rounds: first "never", before recording has begun for the first time,
then alternately "on" and "off". Differences are taken within one process, because the speed of such
machines varies more between processes than these differences."""

import statistics

from gpu_harness import check, last_json, show_spread

GRAPH_TRACE = "51"
ALL_WORK = "10,1,2"
PER_CALL_NS, OVER_CUPTI_NS, GRAPH_OVER_NS = 50, 150, 200
OPERATOR_SHARE, STEP_SHARE = 0.02, 0.01
STAMPS = 10  # two timestamps for each of the five driver calls of a PyTorch operator


class Mode:
    """One way to run a program. If @traced is a list, the program runs under `gputap run` with
    these options. @words are appended to the command line."""

    def __init__(self, traced=None, words=(), env=None):
        self.traced, self.words, self.env = traced, list(words), env or {}
        self.medians, self.faults = [], []
        self.differences = []  # (on minus off, this difference as a share of off)
        self.whole, self.left = [], []  # the same for on minus never, and for off minus never

    def run(self, machine, command):
        if self.traced is None:
            said = last_json(machine.run([*command, *self.words], 180, self.env))
        else:
            capture = machine.trace([*command, *self.words], self.traced, self.env, 180)
            said = capture.said
            capture.remove()
        self.medians.append(statistics.median(said["on"]))
        self.faults.append(said.get("faults", 0))
        off = said["off"] and statistics.median(said["off"])
        self.differences += [(a - b, (a - b) / off) for a, b in zip(said["on"], said["off"])]
        if said["never"]:
            never = statistics.median(said["never"])
            self.whole += [(a - never, (a - never) / never) for a in said["on"]]
            self.left += [(a - never, (a - never) / never) for a in said["off"]]

    def price(self):
        """Return the median cost of recording calls as (difference, share). A pause removes this
        cost."""
        return tuple(map(statistics.median, zip(*self.differences)))

    def price_over(self, other):
        """Return the cost of recording GPU activities as (difference, share), relative to the
        processes of mode @other, because CUPTI stays enabled in short pauses."""
        mine, theirs = statistics.median(self.medians), statistics.median(other.medians)
        return mine - theirs, (mine - theirs) / theirs


def cupti_alone(machine, kinds, words):
    """Return a mode with CUPTI but without gputap. CUPTI is enabled in every other round."""
    return Mode(words=words, env={"GPU_CUPTI": machine.cupti(), "GPU_CUPTI_KINDS": kinds})


def cupti_always(machine, kinds):
    """Return a mode with CUPTI but without gputap. CUPTI stays enabled from cuInit() on, because
    graphs fault once GRAPH_TRACE has been disabled."""
    return Mode(env={"GPU_CUPTI": machine.cupti(), "GPU_CUPTI_KINDS": kinds,
                     "CUDA_INJECTION64_PATH": machine.cupti_user()})


def measure(machine, command, modes, turns):
    """Run all modes @turns times, each time starting with another mode."""
    names = list(modes)
    for turn in range(turns):
        for i in range(len(names)):
            modes[names[(i + turn) % len(names)]].run(machine, command)


def say_modes(machine, modes, unit="ns"):
    for name, mode in modes.items():
        faults = f"; {max(mode.faults):.0f} page faults per round" if any(mode.faults) else ""
        machine.report.say(name, show_spread(mode.medians, unit) + faults)
        figures = {"on minus off": mode.differences, "on minus never": mode.whole,
                   "off minus never": mode.left}
        for what, values in figures.items():
            if values:
                share = statistics.median(part for _, part in values)
                machine.report.say(f"{name}: {what}", show_spread([ns for ns, _ in values], unit) +
                                   f", {share:+.2%}")


def rounds(machine, most):
    return "3" if machine.quick else str(most)


def turns(machine, most):
    return 1 if machine.quick else most


def promise_over(machine, modes, ours, theirs, most):
    more, _ = modes[ours].price_over(modes[theirs])
    machine.report.promise(f"{ours}: at most {most} ns more than {theirs}",
                           f"{more:+,.0f} ns, between processes", more <= most)


def say_stamps(machine, count, over_what):
    """Report the cost of the timestamps alone, which every record needs."""
    said = last_json(machine.run(machine.program("cost", "stamp", "10")))
    stamp = statistics.median(said["on"])
    text = f"{stamp:.1f} ns; {count} stamps: {count * stamp:.0f} ns"
    if over_what:
        text += f", {count * stamp / over_what:.2%}"
    machine.report.say("cost of a time stamp", text)


@check("costs")
def nothing(machine):
    """Measure a driver call that does nothing."""
    command, pauses = machine.program("cost", "nothing", rounds(machine, 60)), [machine.pauses()]
    modes = {"bare": Mode(), "recorded, --no-device": Mode(["--no-device"], pauses),
             "recorded, with GPU activities": Mode([], pauses)}
    measure(machine, command, modes, turns(machine, 3))
    say_modes(machine, modes)
    say_stamps(machine, 2, 0)
    cost, _ = modes["recorded, --no-device"].price()
    machine.report.promise(f"at most {PER_CALL_NS} ns", f"{cost:.1f} ns", cost <= PER_CALL_NS)


@check("costs")
def launch(machine):
    """Measure cuLaunchKernel() of an empty kernel, in bursts of 250."""
    command, pauses = machine.program("cost", "launch", rounds(machine, 60)), [machine.pauses()]
    modes = {"bare": Mode(), "driver calls, --no-device": Mode(["--no-device"], pauses),
             "with GPU activities": Mode([], pauses),
             "CUPTI alone": cupti_alone(machine, ALL_WORK, [machine.cupti_user()])}
    measure(machine, command, modes, turns(machine, 5))
    say_modes(machine, modes)
    promise_over(machine, modes, "with GPU activities", "CUPTI alone", OVER_CUPTI_NS)


@check("costs")
def torch_operator(machine):
    """Measure x.add_(1.0) on 64 numbers, which is launch-bound."""
    command = machine.script("gpu_torch_cost.py", rounds(machine, 60))
    pauses = ["pause", machine.pauses()]
    modes = {"bare": Mode(), "driver calls, --no-device": Mode(["--no-device"], pauses),
             "with GPU activities": Mode([], pauses),
             "CUPTI alone": cupti_alone(machine, ALL_WORK, ["cupti", machine.cupti_user()]),
             "torch.profiler, CUDA": Mode(words=["kineto"])}
    measure(machine, command, modes, turns(machine, 3))
    say_modes(machine, modes)
    say_stamps(machine, STAMPS, statistics.median(modes["bare"].medians))
    cost, share = modes["driver calls, --no-device"].price()
    machine.report.promise(f"driver calls: at most {OPERATOR_SHARE:.0%} over bare",
                           f"{cost:+,.0f} ns, {share:+.2%}", share <= OPERATOR_SHARE)
    promise_over(machine, modes, "with GPU activities", "CUPTI alone", OVER_CUPTI_NS)


def make_step_check(how):
    def step(machine):
        command = machine.script("gpu_torch_train.py", "cost", how, rounds(machine, 30))
        pauses = [machine.pauses()]
        cache = {"TORCHINDUCTOR_CACHE_DIR": machine.programs / "inductor",
                 "TRITON_CACHE_DIR": machine.programs / "triton"}
        modes = {"bare": Mode(env=cache),
                 "driver calls, --no-device": Mode(["--no-device"], pauses, cache),
                 "with GPU activities": Mode([], pauses, cache)}
        measure(machine, command, modes, 1)
        say_modes(machine, modes, "us")
        shares = {"driver calls, --no-device": modes["driver calls, --no-device"].price()[1],
                  "with GPU activities": modes["with GPU activities"].price_over(modes["bare"])[1]}
        for name, share in shares.items():
            machine.report.promise(f"{name}: at most {STEP_SHARE:.0%}", f"{share:+.2%}",
                                   share <= STEP_SHARE)

    step.__name__ = f"step_{how}"
    step.__doc__ = f"A training step of a transformer of 124 million parameters in bf16, {how}"
    check("costs")(step)


make_step_check("eager")
make_step_check("compiled")


@check("costs")
def graph(machine):
    """Measure a graph of 12 nodes: 10 kernels, a memcpy, a memset."""
    command = machine.program("cost", "graph", rounds(machine, 40))
    pauses = [machine.pauses()]
    modes = {"bare": Mode(), "GRAPH_TRACE alone": cupti_always(machine, GRAPH_TRACE),
             "gputap, --mode lite": Mode(["--mode", "lite"], pauses),
             "each node, CUPTI alone": cupti_always(machine, ALL_WORK),
             "gputap, each node": Mode([], pauses)}
    measure(machine, command, modes, turns(machine, 3))
    say_modes(machine, modes)
    promise_over(machine, modes, "gputap, --mode lite", "GRAPH_TRACE alone", GRAPH_OVER_NS)


@check("costs")
def runtime_calls(machine):
    """Measure the cost that -d cuda_runtime adds to a PyTorch operator."""
    command = machine.script("gpu_torch_cost.py", rounds(machine, 40))
    modes = {"both APIs, --no-device": Mode(["-d", "cuda_driver,cuda_runtime", "--no-device"],
                                            ["pause", machine.pauses()])}
    measure(machine, command, modes, 1)
    say_modes(machine, modes)
