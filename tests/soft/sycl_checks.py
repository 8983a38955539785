# SPDX-License-Identifier: MIT
"""Runs SYCL programs with dpctl and dpnp, and compares the results with numpy. Prints "NAME right",
"NAME wrong" or "NAME failed: WHY" for each program. The first line names the device."""
import threading

import dpctl
import dpctl.memory
import dpnp
import numpy

device = dpctl.select_default_device()
queue = dpctl.SyclQueue(device, property="enable_profiling")
dice = numpy.random.default_rng(1)
singles = dice.standard_normal((257, 129)).astype(numpy.float32)
others = dice.standard_normal((129, 63)).astype(numpy.float32)
doubles = singles.astype(numpy.float64)
S, O, D = dpnp.array(singles), dpnp.array(others), dpnp.array(doubles)


def usm_copies():
    kinds = (dpctl.memory.MemoryUSMShared, dpctl.memory.MemoryUSMDevice,
             dpctl.memory.MemoryUSMHost)
    there = [kind(4096, queue=queue) for kind in kinds]
    data = dice.integers(0, 255, 4096).astype(numpy.uint8)
    there[0].copy_from_host(data)
    there[1].copy_from_device(there[0])
    there[2].copy_from_device(there[1])
    return numpy.frombuffer(there[2].copy_to_host(), numpy.uint8), data


def device_time():
    timer = dpctl.SyclTimer(time_scale=1e6)
    data = dpnp.exp(dpnp.ones(1 << 18, dtype=dpnp.float32, sycl_queue=queue))
    queue.wait()
    with timer(queue):
        data = dpnp.exp(data)
    queue.wait()
    return [timer.dt.device_dt > 0], [True]


def four_threads():
    sums = [None] * 4

    def add(i):
        data = dpnp.arange(5000, dtype=dpnp.float32, sycl_queue=dpctl.SyclQueue(device))
        for _ in range(20):
            data = data + 1
        sums[i] = float(dpnp.sum(data))

    threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sums, [float(numpy.sum(numpy.arange(5000) + 20.0))] * 4


CHECKS = {
    "sine": lambda: (dpnp.sin(S) * 2 + S, numpy.sin(singles) * 2 + singles),
    "integers": lambda: (dpnp.arange(1000) * 3 % 7, numpy.arange(1000) * 3 % 7),
    "sum": lambda: (dpnp.sum(S, axis=0), singles.sum(0)),
    "mean": lambda: (dpnp.mean(D, axis=1), doubles.mean(1)),
    "running-sum": lambda: (dpnp.cumsum(S[:, 0]), numpy.cumsum(singles[:, 0])),
    "sort": lambda: (dpnp.sort(S, axis=1), numpy.sort(singles, axis=1)),
    "argmax": lambda: (dpnp.argmax(S, axis=1), numpy.argmax(singles, axis=1)),
    "mask": lambda: (S[S > 0], singles[singles > 0]),
    "take": lambda: (dpnp.take(S[:, 0], dpnp.arange(0, 200, 3)), singles[0:200:3, 0]),
    "product-singles": lambda: (S @ O, singles @ others),
    "product-doubles": lambda: (D @ D.T, doubles @ doubles.T),
    "solve": lambda: (dpnp.linalg.solve(D[:128, :128], D[:128, 0]),
                      numpy.linalg.solve(doubles[:128, :128], doubles[:128, 0])),
    "fft": lambda: (dpnp.fft.fft(D[:, 0]), numpy.fft.fft(doubles[:, 0])),
    "complex": lambda: (dpnp.exp(1j * D), numpy.exp(1j * doubles)),
    "histogram": lambda: (dpnp.histogram(S, bins=10)[0], numpy.histogram(singles, bins=10)[0]),
    "unique": lambda: (dpnp.unique(dpnp.array((singles[:, 0] * 3).astype(numpy.int32))),
                       numpy.unique((singles[:, 0] * 3).astype(numpy.int32))),
    "usm-copies": usm_copies,
    "device-time": device_time,
    "threads": four_threads,
}


def is_right(check):
    found, wanted = check()
    if isinstance(found, dpnp.ndarray):
        found = dpnp.asnumpy(found)
    return numpy.allclose(found, wanted, rtol=2e-4, atol=1e-4, equal_nan=True)


print(device.backend, device.device_type, device.name, flush=True)
for name, check in CHECKS.items():
    try:
        print(name, "right" if is_right(check) else "wrong", flush=True)
    except Exception as error:  # the exception that ends a check is the result
        print(name, "failed:", " ".join(str(error).split())[:150], flush=True)
