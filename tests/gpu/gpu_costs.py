# SPDX-License-Identifier: MIT
"""What recording costs, beside what CUPTI alone and Kineto cost for the same work. A program
measures itself in rounds; where recording can be paused, each round has a part with and one
without, and the difference is of one process. Programs that are compared run by turns."""

import statistics

from gpu_harness import check, last_json, quartiles, show_spread

GRAPH_TRACE = "51"
ALL_WORK = "10,1,2"
PER_CALL_NS, OVER_CUPTI_NS, GRAPH_OVER_NS = 50, 150, 200
OPERATOR_SHARE, STEP_SHARE = 0.02, 0.01
STAMPS = 10  # of an operator of torch: five driver calls


class Mode:
    """How a program is run: under `gputap run` with options @traced, if it is a list; @words end
    its command line."""

    def __init__(self, traced=None, words=(), env=None):
        self.traced, self.words, self.env = traced, list(words), env or {}
        self.medians, self.offs, self.differences, self.faults = [], [], [], []

    def run(self, machine, command):
        if self.traced is None:
            said = last_json(machine.run([*command, *self.words], 180, self.env))
        else:
            capture = machine.trace([*command, *self.words], self.traced, self.env, 180)
            said = capture.said
            capture.remove()
        self.medians.append(statistics.median(said["on"]))
        self.faults.append(said.get("faults", 0))
        if said["off"]:
            self.offs.append(statistics.median(said["off"]))
        self.differences += [on - off for on, off in zip(said["on"], said["off"])]


def cupti_alone(machine, kinds, words):
    """CUPTI without gputap, switched on by turns."""
    return Mode(words=words, env={"GPU_CUPTI": machine.cupti(), "GPU_CUPTI_KINDS": kinds})


def measure(machine, command, modes, turns):
    """Runs them by turns, each time in another order."""
    names = list(modes)
    for turn in range(turns):
        for i in range(len(names)):
            modes[names[(i + turn) % len(names)]].run(machine, command)


def over(mode, bare):
    """Differences to the same turn's process without anything."""
    return [a - b for a, b in zip(mode.medians, bare.medians)]


def say_modes(machine, modes, unit="ns", share=True):
    bare = modes["bare"]
    base = statistics.median(bare.medians)
    machine.report.say("bare", show_spread(bare.medians, unit))
    for name, mode in modes.items():
        if mode is bare:
            continue
        faults = f"; {max(mode.faults):.0f} page faults in a round" if any(mode.faults) else ""
        machine.report.say(name, show_spread(mode.medians, unit) + faults)
        figures = {"over bare": over(mode, bare), "on over off": mode.differences}
        for what, values in figures.items():
            if values:
                part = f", {statistics.median(values) / base:+.2%}" if share else ""
                machine.report.say(f"{name}: {what}", show_spread(values, unit) + part)
        if mode.offs:
            left = show_spread([off - b for off, b in zip(mode.offs, bare.medians)], unit)
            machine.report.say(f"{name}: off", f"{show_spread(mode.offs, unit)}; over bare {left}")
    return base


def say_stamps(machine, count, over_what):
    """What the time stamps alone cost, which a record cannot do without."""
    said = last_json(machine.run(machine.program("cost", "stamp", "10")))
    stamp = statistics.median(said["on"])
    text = f"{stamp:.1f} ns; {count} of them {count * stamp:.0f} ns"
    if over_what:
        text += f", {count * stamp / over_what:.2%}"
    machine.report.say("a time stamp", text)


def best(mode, bare):
    """The difference to go by: in one process, where it was measured so."""
    return quartiles(mode.differences or over(mode, bare))[1]


@check("costs")
def nothing(machine):
    """A driver call that does nothing, recorded and paused in one process."""
    rounds = "4" if machine.quick else "60"
    command = machine.program("cost", "nothing", rounds)
    modes = {"bare": Mode(), "recorded, --no-device": Mode(["--no-device"], [machine.pauses()]),
             "recorded, --no-device --no-args": Mode(["--no-device", "--no-args"],
                                                     [machine.pauses()]),
             "recorded, with device work": Mode([], [machine.pauses()])}
    measure(machine, command, modes, 1 if machine.quick else 3)
    say_modes(machine, modes, share=False)
    say_stamps(machine, 2, 0)
    cost = best(modes["recorded, --no-device"], modes["bare"])
    machine.report.promise(f"at most {PER_CALL_NS} ns", f"{cost:.1f} ns", cost <= PER_CALL_NS)


@check("costs")
def launch(machine):
    """cuLaunchKernel of an empty kernel, in bursts of 250"""
    rounds = "3" if machine.quick else "60"
    command = machine.program("cost", "launch", rounds)
    pauses = machine.pauses()
    modes = {"bare": Mode(), "driver calls, --no-device": Mode(["--no-device"], [pauses]),
             "with device work": Mode([]),
             "with device work, paused by turns": Mode([], [pauses]),
             "CUPTI alone": cupti_alone(machine, ALL_WORK, [machine.cupti_user()])}
    measure(machine, command, modes, 1 if machine.quick else 5)
    say_modes(machine, modes)
    more = best(modes["with device work, paused by turns"], modes["bare"]) - best(
        modes["CUPTI alone"], modes["bare"])
    machine.report.promise(f"with device work at most CUPTI's own and {OVER_CUPTI_NS} ns",
                           f"{more:+,.0f} ns", more <= OVER_CUPTI_NS)


@check("costs")
def torch_operator(machine):
    """x.add_(1.0) on 64 numbers, launch-bound"""
    command = machine.script("gpu_torch_cost.py", "8" if machine.quick else "40")
    pauses = machine.pauses()
    modes = {"bare": Mode(), "driver calls, --no-device": Mode(["--no-device"], ["pause", pauses]),
             "with device work": Mode([]),
             "with device work, paused by turns": Mode([], ["pause", pauses]),
             "CUPTI alone": cupti_alone(machine, ALL_WORK, ["cupti", machine.cupti_user()]),
             "torch.profiler, CUDA": Mode(words=["kineto"])}
    measure(machine, command, modes, 1 if machine.quick else 3)
    base = say_modes(machine, modes)
    bare = modes["bare"]
    say_stamps(machine, STAMPS, base)
    calls = best(modes["driver calls, --no-device"], bare)
    machine.report.promise(f"driver calls at most {OPERATOR_SHARE:.0%} over bare",
                           f"{calls:+,.0f} ns, {calls / base:+.2%}", calls / base <= OPERATOR_SHARE)
    more = best(modes["with device work, paused by turns"], bare) - best(modes["CUPTI alone"], bare)
    machine.report.promise(f"with device work at most CUPTI's own and {OVER_CUPTI_NS} ns",
                           f"{more:+,.0f} ns", more <= OVER_CUPTI_NS)


def make_step_check(how):
    def step(machine):
        words = ["cost", how, "4" if machine.quick else "20"]
        command = machine.script("gpu_torch_train.py", *words)
        cache = {"TORCHINDUCTOR_CACHE_DIR": machine.work / "inductor",
                 "TRITON_CACHE_DIR": machine.work / "triton"}
        modes = {"bare": Mode(env=cache),
                 "driver calls, --no-device": Mode(["--no-device"], [machine.pauses()], cache),
                 "with device work": Mode([], [machine.pauses()], cache)}
        measure(machine, command, modes, 1)
        base = say_modes(machine, modes, "us")
        for name in ("driver calls, --no-device", "with device work"):
            cost = best(modes[name], modes["bare"]) / base
            machine.report.promise(f"{name}: at most {STEP_SHARE:.0%}", f"{cost:+.2%}",
                                   cost <= STEP_SHARE)

    step.__name__ = f"step_{how}"
    step.__doc__ = f"A training step of a transformer of 124 million parameters in bf16, {how}"
    check("costs")(step)


make_step_check("eager")
make_step_check("compiled")


@check("costs")
def graph(machine):
    """A graph of 12 nodes: 10 kernels, a copy, a set"""
    command = machine.program("cost", "graph", "4" if machine.quick else "40")
    pauses, user = [machine.pauses()], [machine.cupti_user()]
    modes = {"bare": Mode(), "GRAPH_TRACE alone": cupti_alone(machine, GRAPH_TRACE, user),
             "gputap, --mode lite": Mode(["--mode", "lite"], pauses),
             "each node, CUPTI alone": cupti_alone(machine, ALL_WORK, user),
             "gputap, each node": Mode([], pauses)}
    measure(machine, command, modes, 1 if machine.quick else 5)
    say_modes(machine, modes)
    bare = modes["bare"]
    more = best(modes["gputap, --mode lite"], bare) - best(modes["GRAPH_TRACE alone"], bare)
    machine.report.promise(f"--mode lite at most GRAPH_TRACE's price and {GRAPH_OVER_NS} ns",
                           f"{more:+,.0f} ns", more <= GRAPH_OVER_NS)


@check("costs")
def runtime_calls(machine):
    """What -d cuda_runtime adds to an operator of torch"""
    command = machine.script("gpu_torch_cost.py", "8" if machine.quick else "40")
    pauses = ["pause", machine.pauses()]
    modes = {"bare": Mode(),
             "both APIs, --no-device": Mode(["-d", "cuda_driver,cuda_runtime", "--no-device"],
                                            pauses),
             "both APIs, with device work": Mode(["-d", "cuda_driver,cuda_runtime"], pauses)}
    measure(machine, command, modes, 1 if machine.quick else 2)
    say_modes(machine, modes)
