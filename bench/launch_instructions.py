# SPDX-License-Identifier: MIT
"""Count the instructions of one launch of bench/hip_loop.hip in the submitting thread, by library,
and by function in libgputap. For bench/hip_graph.hip, run it with two numbers of nodes; the
difference gives the cost of a node.

    hipcc --offload-arch=gfx906 -O2 bench/hip_loop.hip -o hip_loop
    build/gputap soft amdgpu --no-execute -- [build/gputap run -q -o a.gputap --mode hip --] \\
        gdb -q -batch -x bench/launch_instructions.py --args ./hip_loop x 2000
        (or ./hip_graph x 100 20)

Unlike times, the counts are the same on every run and under any load. Functions of the vdso count
as one instruction each, because single-stepping them takes longer than a tick of the clock that
they read."""

import bisect
import collections

import gdb

# program: first call of a launch, number of calls per launch (push the configuration, pop it,
# launch), number of launches to skip
LAUNCHES = {
    "hip_loop": ("__hipPushCallConfiguration", 3, 400), "hip_graph": ("hipGraphLaunch", 1, 12)
}


def mappings():
    with open(f"/proc/{gdb.selected_inferior().pid}/maps") as file:
        for line in file:
            words = line.split()
            yield int(words[0].split("-")[0],
                      16), words[5].rpartition("/")[2] if len(words) > 5 else "?"


def value(register):
    return int(gdb.parse_and_eval(register))


def main():
    for setting in ("pagination off", "confirm off", "breakpoint pending on"):
        gdb.execute(f"set {setting}")
    program = gdb.current_progspace().filename.rpartition("/")[2]
    call, wanted, before = LAUNCHES[program]
    gdb.Breakpoint(call).ignore_count = before
    gdb.execute("run", to_string=True)
    gdb.execute("delete")
    gdb.execute("set scheduler-locking on")
    places = sorted(mappings())
    starts = [start for start, _ in places]
    libraries, functions = collections.Counter(), collections.Counter()
    stack, calls, returned = value("$sp"), 0, False
    while calls < wanted:
        gdb.execute("stepi", to_string=True)
        library = places[bisect.bisect(starts, value("$pc")) - 1][1]
        libraries[library] += 1
        if library == "[vdso]":
            gdb.execute("finish", to_string=True)
        if library.startswith("libgputap"):
            functions[gdb.selected_frame().name() or "?"] += 1
        if library == program:
            returned |= value("$sp") > stack
        elif returned and value("$sp") <= stack:
            calls, returned = calls + 1, False
    gdb.execute("kill", to_string=True)
    print(f"{sum(libraries.values())} instructions")
    for counted in (libraries, functions):
        print()
        for name, count in counted.most_common():
            print(f"{count:6} {name}")


main()
