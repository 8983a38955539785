# SPDX-License-Identifier: MIT
"""Check that gputap attaches to PyTorch programs in the middle of their work, records everything
from then on, and leaves nothing behind."""

from gpu_harness import check, last_json

LEFT_PERCENT = 1  # host time of a launch-bound operator after the detach


def run_scene(machine, scene, seconds=120, **variables):
    """Return the sessions that the program prints."""
    done = machine.run(machine.script("gpu_torch_attach.py", scene, machine.work), seconds, {
        "GPUTAP_COMMAND": str(machine.gputap), **variables,
        "GPUTAP_LIBRARY": str(machine.product.files["libgputap.so.0"]),
        "GPUTAP_LIBRARIES": machine.own.get("LD_LIBRARY_PATH", "")})
    return last_json(done)["sessions"]


def judge(machine, session, name):
    for what, wanted in session["said"].items():
        if what in session:
            machine.report.equal(f"{name}: {what}", session[what], wanted)
    machine.report.equal(f"{name}: linked", session["linked"], session["activities"])
    machine.report.judge(f"{name}: attached", f"{session['attach_ms']} ms",
                         session["status"] == 0)


@check("attach")
def everything(machine):
    """Threads, graphs from before and after, copies, Triton, CuPy and ctypes, in three sessions."""
    for number, session in enumerate(run_scene(machine, "work")):
        judge(machine, session, f"session {number}")


@check("attach")
def training(machine):
    """Eager training and a graph of the whole step have the kernels that torch.profiler counts."""
    judge(machine, run_scene(machine, "train")[0], "training")


@check("attach")
def jax(machine):
    """JAX's calls and kernels."""
    judge(machine, run_scene(machine, "jax")[0], "JAX")


@check("attach")
def child(machine):
    """The child of a fork, which cannot use CUDA, is attached without CUPTI."""
    judge(machine, run_scene(machine, "fork")[0], "child")


def make_profiler_check(order):
    def profiler(machine):
        session = run_scene(machine, f"profiler_{order}")[0]
        judge(machine, session, f"profiler {order}")
        counts = session["said"]["kineto"]
        wanted = {"before": [1000, 3000, 3000, 1000], "during": [2700, 3000, 3000, 1000],
                  "after": [3000, 3000, 1000]}[order]
        machine.report.judge(f"Kineto's, {order}", str(counts), counts == wanted)

    profiler.__name__ = f"profiler_{order}"
    profiler.__doc__ = f"torch.profiler is open {order} the attach."
    check("attach")(profiler)


for when in "before", "during", "after":
    make_profiler_check(when)


def make_stress_check(name, text, **variables):
    def stress(machine):
        sessions = run_scene(machine, "stress", 300, **variables)
        machine.report.equal("sessions that the program survived", len(sessions), 10)

    stress.__name__, stress.__doc__ = f"stress_{name}", text
    check("attach")(stress)


make_stress_check("one_launcher", "Ten sessions; one thread launches graphs, seven kernels.")
make_stress_check("launchers", "Ten sessions; several threads launch graphs.", STRESS_GRAPHS="3")
make_stress_check("profiled", "Ten sessions; torch.profiler has recorded graphs before.",
                  STRESS_TAKEOVER="1")


@check("costs")
def left_by_an_attach(machine):
    """A launch-bound operator costs the same after a detach as before the attach."""
    done = machine.run(machine.script("gpu_torch_attach_cost.py", machine.work), 400, {
        "GPUTAP_COMMAND": str(machine.gputap),
        "GPUTAP_LIBRARY": str(machine.product.files["libgputap.so.0"]),
        "GPUTAP_LIBRARIES": machine.own.get("LD_LIBRARY_PATH", "")})
    said = last_json(done)
    machine.report.promise("x.add_(1.0) after the detach", f"{said['left']:+.2f} %",
                           said["left"] <= LEFT_PERCENT)
    machine.report.say("x.add_(1.0) while attached",
                       f"{said['pairs'][0]['first']['during']:+.0f} %")
