# SPDX-License-Identifier: MIT
"""PyTorch programs to which gputap is attached in the middle of their work.

    gpu_torch_attach.py work|train|stress|jax|fork|profiler_before|.._during|.._after FOLDER

Prints the numbers of launches that the program has made after the attach, and those in the capture,
as a JSON object."""
import ctypes
import json
import os
import sys
import threading
import time

import gpu_attached
import torch

FOLDER = sys.argv[2]
ADD, MUL = "CUDAFunctorOnSelf_add", "MulFunctor"
driver = ctypes.CDLL("libcuda.so.1")  # ctypes keeps addresses in the heap
x = torch.ones(64, device="cuda")


def synchronize():
    torch.cuda.synchronize()


class Graph:
    """A graph of ten kernels x.mul_(1.0)."""
    KERNELS = 10

    def __init__(self):
        self.y = torch.ones(64, device="cuda")
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            self.y.mul_(1.0)
        side.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            for _ in range(self.KERNELS):
                self.y.mul_(1.0)

    def replay(self):
        self.graph.replay()


def add(count):
    for _ in range(count):
        x.add_(1.0)


def in_threads(function, threads, *words):
    running = [threading.Thread(target=function, args=words) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    synchronize()


def ask_driver(count):
    context = ctypes.c_void_p()
    for _ in range(count):
        driver.cuCtxGetCurrent(ctypes.byref(context))


def make_triton():
    """Return a function that launches a Triton kernel, or None."""
    try:
        import gpu_triton_kernel
        numbers = torch.ones(64, device="cuda")
        kernel = gpu_triton_kernel.add_one
        kernel[(1, )](numbers, 64, BLOCK=64)
        return lambda: kernel[(1, )](numbers, 64, BLOCK=64)
    except Exception:  # pylint: disable=broad-except
        return None


def make_cupy():
    try:
        import cupy
        a = cupy.ones(64, dtype=cupy.float32)
        kernel = cupy.RawKernel(
            'extern "C" __global__ void gputap_cupy(float *x) { x[threadIdx.x] += 1; }',
            "gputap_cupy")
        kernel((1, ), (64, ), (a, ))
        return lambda: kernel((1, ), (64, ), (a, ))
    except Exception:  # pylint: disable=broad-except
        return None


def report_of(session, said):
    seen = session.end()
    calls = gpu_attached.calls(seen)
    return {
        "status": session.status, "attach_ms": round(session.seconds * 1000, 1), "said": said,
        "add": gpu_attached.kernels(seen, ADD), "mul": gpu_attached.kernels(seen, MUL),
        "triton": gpu_attached.kernels(seen, "add_one"),
        "cupy": gpu_attached.kernels(seen, "gputap_cupy"),
        "kernels": gpu_attached.kernels(seen), "activities": seen["activities"],
        "linked": seen["linked"], "dropped": seen["dropped"],
        "graph_launches": calls.get("cuGraphLaunch", 0),
        "launches": calls.get("cuLaunchKernel", 0) + calls.get("cuLaunchKernelEx", 0),
        "copies": sum(row["count"] for row in seen["copies"] if row["operation"] != "memset"),
        "current": calls.get("cuCtxGetCurrent", 0), "calls": seen["calls"],
        "events": session.events()}


def work():
    """Everything, in three sessions one after the other; the program works on between them."""
    graph, triton, cupy = Graph(), make_triton(), make_cupy()
    host = torch.ones(1 << 16).pin_memory()
    add(1000)
    graph.replay()
    found = []
    for number in range(3):
        session = gpu_attached.Session(f"{FOLDER}/work{number}.gputap", *(
            ["-d", "cuda"] if number == 2 else []))
        thread = session.attach_in_thread()
        while thread.is_alive():
            x.neg_()
        synchronize()
        said = {"copies": 200, "graph_launches": 400, "add": 4 * 5000, "current": 1000,
                "mul": 300 * Graph.KERNELS + 1 + 100 * Graph.KERNELS}
        in_threads(add, 4, 5000)
        for _ in range(300):
            graph.replay()
        for _ in range(200):
            host.to("cuda", non_blocking=True)
        ask_driver(1000)
        for name, launch in ("triton", triton), ("cupy", cupy):
            said[name] = 500 if launch else 0
            for _ in range(said[name]):
                launch()
        new = Graph()
        for _ in range(100):
            new.replay()
        synchronize()
        found.append(report_of(session, said))
        for _ in range(20):
            add(50)
            graph.replay()
        synchronize()
    return found


def profile(count):
    from torch.profiler import ProfilerActivity, profile as profiler
    with profiler(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        add(count)
        synchronize()
    return sum(ADD in event.name and event.device_type.name == "CUDA" for event in p.events())


def launch_until(done):
    """Launch during the attach."""
    while not done.is_set():
        x.neg_()
    synchronize()


def profiler(order):
    """Three sessions of torch.profiler, and one of gputap, in @order."""
    said = {"kineto": []}
    add(1000)
    if order == "before":
        said["kineto"].append(profile(1000))
    session = gpu_attached.Session(f"{FOLDER}/{order}.gputap")
    if order == "during":
        from torch.profiler import ProfilerActivity, profile as profiler_of
        p = profiler_of(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
        p.__enter__()
        add(700)
        synchronize()
    launching = threading.Thread(target=launch_until, args=(done := threading.Event(), ))
    launching.start()
    session.attach_in_thread().join()
    done.set()
    launching.join()
    said["add"] = 2000
    add(2000)
    synchronize()
    if order == "during":
        p.__exit__(None, None, None)
        time.sleep(0.5)  # gputap looks ten times a second whether the profiler has ended
        said["while_profiled"], said["add"] = 2000, 0
        said["kineto"].append(sum(ADD in event.name and event.device_type.name == "CUDA"
                                  for event in p.events()))
        add(500)
        synchronize()
        said["add"] += 500
    for _ in range(2):
        said["kineto"].append(profile(3000))
        add(1000)
        synchronize()
        said["add"] += 4000
    found = report_of(session, said)
    add(1000)
    synchronize()
    said["kineto"].append(profile(1000))
    add(1000)
    synchronize()
    return [found]


def make_training():
    """Return functions that train eagerly and by a graph of the whole step."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(),
                                torch.nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), capturable=True)
    data = torch.randn(32, 64, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(data).square().mean().backward()
        optimizer.step()

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return step, graph.replay


def count_profiled(function, times):
    from torch.profiler import ProfilerActivity, profile as profiler
    with profiler(activities=[ProfilerActivity.CUDA]) as p:
        for _ in range(times):
            function()
        synchronize()
    return sum(event.device_type.name == "CUDA" and not event.name.startswith("Mem")
               for event in p.events())


def train():
    """Train after the attach, and count the kernels of as many steps with torch.profiler."""
    step, replay = make_training()
    session = gpu_attached.Session(f"{FOLDER}/train.gputap")
    session.attach_in_thread().join()
    for _ in range(20):
        step()
    for _ in range(50):
        replay()
    synchronize()
    found = report_of(session, {})
    found["said"] = {"kernels": count_profiled(step, 20) + count_profiled(replay, 50),
                     "graph_launches": 50}
    return [found]


def stress():
    """Attach and detach ten times, while eight threads launch and torch.profiler has subscribed to
    CUPTI."""
    profiled = Graph()
    if os.environ.get("STRESS_TAKEOVER"):
        from torch.profiler import ProfilerActivity, profile as profiler_of
        with profiler_of(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
            for _ in range(10):
                profiled.replay()
            synchronize()
    done = threading.Event()

    def work_on():
        own, graph = torch.ones(64, device="cuda"), None
        with lock:
            graph = Graph()
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            while not done.is_set():
                for _ in range(50):
                    own.add_(1.0)
                graph.replay()
        stream.synchronize()

    lock = threading.Lock()
    graphs = [Graph() for _ in range(2)]
    running = [threading.Thread(target=work_on)
               for _ in range(int(os.environ.get("STRESS_GRAPHS", "1")))]
    eager = [threading.Thread(target=launch_until, args=(done, ))
             for _ in range(int(os.environ.get("STRESS_EAGER", "7")))]
    for thread in running + eager:
        thread.start()
    found = []
    for number in range(10):
        session = gpu_attached.Session(f"{FOLDER}/stress{number}.gputap")
        session.attach()
        time.sleep(0.3)
        print(number, "attached", flush=True)
        if running:
            graphs[number % 2].replay()
            profiled.replay()
        found.append(report_of(session, {}))
        print(number, "detached", flush=True)
        time.sleep(0.2)
        profiled.replay()
        torch.cuda.synchronize()
        print(number, "well", flush=True)
    done.set()
    for thread in running + eager:
        thread.join()
    synchronize()
    found[0]["said"] = {"add": found[0]["add"]}
    return found


def jax():
    """JAX's calls and kernels after the attach."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax.numpy
    step, a = jax.jit(lambda a: a * 2 + 1), jax.numpy.ones(64)
    step(a).block_until_ready()
    session = gpu_attached.Session(f"{FOLDER}/jax.gputap")
    session.attach_in_thread().join()
    for _ in range(500):
        a = step(a)
    a.block_until_ready()
    return [report_of(session, {"kernels": 500})]


def fork():
    """The child of a fork, whose driver is not usable, is attached."""
    add(1000)
    synchronize()
    session = gpu_attached.Session(f"{FOLDER}/fork.gputap")
    child = os.fork()
    if not child:
        session.attach()
        os._exit(-session.status)
    _, status = os.waitpid(child, 0)
    session.status, session.seconds = status, 0
    return [report_of(session, {"add": 0})]


def main():
    scene = sys.argv[1]
    if scene.startswith("profiler_"):
        found = profiler(scene[9:])
    else:
        found = {"work": work, "fork": fork, "train": train, "stress": stress, "jax": jax}[scene]()
    print(json.dumps({"sessions": found}), flush=True)


main()
