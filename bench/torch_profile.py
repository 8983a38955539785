# SPDX-License-Identifier: MIT
"""Measure the cost of ending a torch profile that contains gputap's bridge; print Markdown.

    bench/torch_profile.py [--python PYTHON] [--build BUILD] [--kernels N] [--ways runtime,plug-in]

PYTHON has torch and gputap's package (pip install ./torch). Each leg is a separate process with one
profile. In the profile, operators launch N kernels of the reference accelerator (soft/refdev),
1,000 per operator, each with its calls. gputap's own runtime or the vendor's plug-in records them,
with or without torch's processing at the end of a profile (trace_only). Figures are the CPU time of
the thread that ends the profile (in total, and the part of the bridge), the growth of the process's
memory from the start of the profile to its end, and the number of events that the leg finds in the
profile.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parent.parent

LEG = """
import ctypes, json, os, resource, sys, time
import gputap.torch, torch
kernels, only, library = int(sys.argv[1]), sys.argv[2] == 'only', sys.argv[3]
dev = ctypes.CDLL(library)
class Dim(ctypes.Structure):
    _fields_ = [(n, ctypes.c_uint32) for n in 'xyz']
one, none = Dim(1, 1, 1), None
launch = dev.refdevLaunchKernel
launch.argtypes = [ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(('getpid', ctypes.CDLL(None)))
kernel = ctypes.c_void_p()
assert dev.refdevRegisterKernel(ctypes.byref(kernel), b'nothing', nothing) == 0

@torch.library.custom_op('bench::launch', mutates_args=())
def operator(x: torch.Tensor, times: int) -> torch.Tensor:
    for _ in range(times):
        launch(kernel, one, one, none, 0, none)
    return x + 1

def resident():
    with open('/proc/self/statm') as f:
        return int(f.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')

x = torch.ones(1)
with gputap.torch.profile():
    operator(x, 10)
    dev.refdevDeviceSynchronize()
config = torch._C._profiler._ExperimentalConfig(trace_only=only)
profile = gputap.torch.profile(experimental_config=config)
before = resident()
profile.start()
for _ in range(kernels // 1000):
    operator(x, 1000)
dev.refdevDeviceSynchronize()
recorded = resident()
began = time.thread_time_ns()
profile.stop()
ended = time.thread_time_ns() - began
counts = gputap.torch.counts()
bridge = gputap.torch._bridge.gputap_bridge_count
result = {'counts': counts, 'stop': ended / counts['kept'],
          'ours': bridge(b'processing_ns') / counts['kept'],
          'record_bytes': bridge(b'record_bytes'),
          'recorded': (recorded - before) / counts['kept'],
          'memory': (resident() - before) / counts['kept']}
if not only:
    found = {'kernels': 0, 'linked': 0, 'calls': 0, 'calls linked': 0}
    cpu = torch.autograd.DeviceType.CPU
    for e in profile.profiler.kineto_results.events():
        if e.device_type() != cpu:
            found['kernels'] += e.name() == 'nothing'
            found['linked'] += e.linked_correlation_id() > 0
        elif e.name() == 'refdevLaunchKernel':
            found['calls'] += 1
            found['calls linked'] += e.linked_correlation_id() > 0
    result['found'] = found
print(json.dumps(result))
sys.stdout.flush()
os._exit(0)  # to free it all takes long
"""


def run_leg(args, way, only):
    env = dict(os.environ, OMP_NUM_THREADS="1",
               GPUTAP_LIBRARIES=f"{args.build}:{args.build}/src/plugin")
    env.pop("KINETO_PLUGIN_PATH", None)
    if way == "plug-in":
        env["KINETO_PLUGIN_PATH"] = f"{args.build}/soft/refdev/librefdev_pu1.so"
    done = subprocess.run([args.python, "-c", LEG, str(args.kernels), "only" if only else "all",
                           f"{args.build}/soft/refdev/librefdev.so.1"], env=env, check=True,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--build", default=REPO / "build", type=pathlib.Path)
    parser.add_argument("--kernels", default=1000000, type=int)
    parser.add_argument("--ways", default="runtime,plug-in")
    args = parser.parse_args()
    args.build = args.build.resolve()
    print("| recorded by | torch's work | records | lost | unlinked work | ours, ns a record |"
          " torch's, ns a record | bytes a record |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for way in args.ways.split(","):
        for only in (True, False):
            r = run_leg(args, way, only)
            c = r["counts"]
            print(f"| {way} | {'trace_only' if only else 'all'} | {c['kept']:,} | {c['lost']:,} | "
                  f"{c['unlinked']:,} | {r['ours']:.0f} | {r['stop'] - r['ours']:.0f} | "
                  f"{r['memory']:.0f} |", flush=True)
            if "found" in r:
                print(f"\n{way}: {r['found']}, a record of ours {r['record_bytes']} bytes\n",
                      file=sys.stderr)


if __name__ == "__main__":
    main()
