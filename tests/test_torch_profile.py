# SPDX-License-Identifier: MIT
"""Test gputap's runtimes and vendors' plug-ins in torch.profiler after `import gputap.torch`. Each
case runs in a separate Python."""
import json
import re
import subprocess
import textwrap

import pytest
from test_plugin_check import guide_of, lay_out, programs_of

@pytest.fixture
def case(torch_case):
    return torch_case


def test_device_time_is_that_of_the_operator(case):
    rows, counts = case("""
        with gputap.torch.profile() as p:
            work(5)
        print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))
        print(json.dumps(gputap.torch.counts()))""")
    assert rows["gputap_test::fill"][0] == rows["Memset (Device)"][0] == 5
    assert rows["gputap_test::fill"][1] == rows["Memset (Device)"][1] > 0
    assert counts["unlinked"] == counts["outside"] == counts["lost"] == 0


def test_work_outside_of_operators_is_the_users_range(case):
    [rows] = case("""
        with gputap.torch.profile() as p:
            with record_function('mine'):
                t.device.fill()
                t.device.finish()
        print(json.dumps({e.key: e.self_device_time_total for e in p.key_averages()}))""")
    assert rows["mine"] > 0


def test_each_kernel_has_one_call_and_a_device_of_its_own(case):
    [found] = case("""
        with gputap.torch.profile() as p:
            work(7)
        e = events(p)
        print(json.dumps({
            'flows': sorted(v['ph'] for v in e if v.get('cat') == 'ac2g'),
            'devices': sorted({v['pid'] for v in e if v.get('cat') == 'gpu_memset'}),
            'rows': [v['args']['labels'] for v in e if v['name'] == 'process_labels'],
            'early': sum(d['ts'] < c['ts'] for d in e for c in e
                         if d.get('cat') == 'gpu_memset' and c.get('cat') == 'cuda_runtime' and
                         d['args']['correlation'] == c['args']['correlation'])}))""")
    assert found["flows"] == ["f"] * 7 + ["s"] * 7
    assert all(device > 15 for device in found["devices"]) and found["early"] == 0
    assert not any(row.startswith("GPU ") for row in found["rows"])


def test_a_schedule_has_a_session_a_cycle(case):
    [got] = case("""
        got = []
        with gputap.torch.profile(schedule=schedule(wait=1, warmup=1, active=2, repeat=3),
                                  on_trace_ready=lambda p: got.append(fills(p))) as p:
            for _ in range(14):
                work()
                p.step()
        print(json.dumps(got))""")
    assert got == [2, 2, 2]


def test_many_profiles_and_an_exception_in_one(case):
    [got] = case("""
        got = []
        for i in range(10):
            try:
                with gputap.torch.profile() as p:
                    work(2)
                    if i == 4:
                        raise ValueError
            except ValueError:
                pass
            got.append(fills(p))
        print(json.dumps(got))""")
    assert got == [2] * 10


def test_traces_are_read_long_after_their_sessions(case):
    [got] = case("""
        kept = []
        for i in range(5):
            with gputap.torch.profile() as p:
                work(i + 1)
            kept.append(p)
        del p
        gc.collect()
        print(json.dumps([fills(p) for p in kept]))""")
    assert got == [1, 2, 3, 4, 5]


def test_stacks_shapes_and_modules_go_with_it(case):
    [got] = case("""
        with gputap.torch.profile(with_stack=True, record_shapes=True, with_modules=True,
                                  with_flops=True, profile_memory=True) as p:
            work(3)
        print(json.dumps([fills(p)]))""")
    assert got == [3]


def test_a_profile_in_another_thread(case):
    [got] = case("""
        got = []
        def go():
            with gputap.torch.profile() as p:
                work(2)
            got.extend([fills(p), gputap.torch.counts()['unlinked']])
        worker = threading.Thread(target=go)
        worker.start()
        worker.join()
        print(json.dumps(got))""")
    assert got == [2, 0]


def test_a_profile_that_begins_inside_an_operator(case):
    [got] = case("""
        p = gputap.torch.profile()
        @torch.library.custom_op('gputap_test::start', mutates_args=())
        def start(x: torch.Tensor) -> torch.Tensor:
            p.start()
            return x + 1
        start(x)
        work(2)
        p.stop()
        print(json.dumps([fills(p), gputap.torch.counts()['unlinked']]))""")
    assert got == [2, 0]


@pytest.mark.parametrize("end", ["sys.exit(0)", "pass"])
def test_a_program_may_end_inside_a_profile(case, end):
    case(f"""
        p = gputap.torch.profile()
        p.start()
        work()
        {end}""")


def test_a_child_of_a_fork_profiles_for_itself(case):
    [got] = case("""
        with gputap.torch.profile() as p:
            work(2)
        child = os.fork()
        if not child:
            with gputap.torch.profile() as p:
                torch.ones(2) + 1
            os._exit(len(p.events()) == 0)
        print(json.dumps([os.waitpid(child, 0)[1], fills(p)]))""")
    assert got == [0, 2]


def test_operators_are_as_many_as_without_us(case):
    [got] = case("""
        def count(make):
            with make() as p:
                work(4)
            return sum(e.name == 'gputap_test::fill' for e in p.events())
        print(json.dumps([count(gputap.torch.profile), count(torch.profiler.profile)]))""")
    assert got == [4, 4]


def test_what_falls_out_of_the_window_is_counted(case):
    [counts] = case("""
        t.device.finish()
        with gputap.torch.profile() as p:
            for _ in range(50):
                t.device.fill()
        t.device.finish()
        print(json.dumps(gputap.torch.counts()))""")
    assert counts["kept"] > 0


REFDEV = """
    import ctypes
    dev = ctypes.CDLL(os.environ['REFDEV'])
    class Dim(ctypes.Structure):
        _fields_ = [(n, ctypes.c_uint32) for n in 'xyz']
    dev.refdevLaunchKernel.argtypes = [ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t,
                                       ctypes.c_void_p]
    nothing = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(lambda g, a: None)
    def kernel(name):
        handle = ctypes.c_void_p()
        assert dev.refdevRegisterKernel(ctypes.byref(handle), name.encode(), nothing) == 0
        return handle
    @torch.library.custom_op('gputap_test::launch', mutates_args=())
    def launch(x: torch.Tensor, name: str) -> torch.Tensor:
        assert dev.refdevLaunchKernel(kernels[name], Dim(2, 1, 1), Dim(1, 1, 1), None, 0, None) == 0
        return x + 1
    launch = torch.ops.gputap_test.launch
"""


def test_what_is_not_complete_when_a_profile_ends_is_counted(case, build):
    """The profile waits for running activities for a limited time."""
    counts, [shown, kernels] = case(textwrap.dedent(REFDEV) + textwrap.dedent("""
        go_on = threading.Event()
        waiting = type(nothing)(lambda group, arguments: go_on.wait())
        handle = ctypes.c_void_p()
        assert dev.refdevRegisterKernel(ctypes.byref(handle), b'waiting', waiting) == 0
        kernels = {'quick': kernel('quick'), 'waiting': handle}
        with gputap.torch.profile() as p:
            launch(x, 'quick')
            launch(x, 'waiting')
        print(json.dumps(gputap.torch.counts()))
        go_on.set()
        dev.refdevDeviceSynchronize()
        p.export_chrome_trace('trace.json')
        trace = json.load(open('trace.json'))
        print(json.dumps([trace['gputap_unfinished'],
                          [e['name'] for e in trace['traceEvents'] if e.get('cat') == 'kernel']]))
        """), REFDEV=build / "soft/refdev/librefdev.so.1")
    # on a busy machine, the quick kernel may start only after the profile has stopped waiting
    assert shown == counts["unfinished"] >= 1 and set(kernels) <= {"quick"}


@pytest.mark.parametrize("way", ["plug-in", "runtime"])
def test_the_reference_accelerators_kernels_are_linked_once(case, build, way):
    """The link comes from the vendor's plug-in or, without a plug-in, from gputap's own runtime."""
    folder = build / "soft/refdev"
    env = {"KINETO_PLUGIN_PATH": folder / "librefdev_pu1.so"} if way == "plug-in" else {}
    rows, counts, devices, names, flows = case(textwrap.dedent(REFDEV) + textwrap.dedent("""
        kernels = {n: kernel(n) for n in ('saxpy', 'a"b', 'back\\\\slash')}
        with gputap.torch.profile() as p:
            for name in list(kernels) * 4:
                launch(x, name)
            dev.refdevDeviceSynchronize()
        print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))
        print(json.dumps(gputap.torch.counts()))
        trace = events(p)
        print(json.dumps(sorted({e['pid'] for e in trace if e.get('cat') == 'kernel'})))
        print(json.dumps({e['pid']: e['args']['name'] for e in trace
                          if e['name'] == 'process_name'}))
        print(json.dumps(sorted(e['ph'] for e in trace if e.get('cat') == 'ac2g')))
        """), REFDEV=folder / "librefdev.so.1", **env)
    assert rows["gputap_test::launch"][0] == 12 and rows["gputap_test::launch"][1] > 0
    assert rows["saxpy"][0] == 4 and len(devices) == 1
    assert names[str(devices[0])] == "refdev 0"
    assert flows == ["f"] * 12 + ["s"] * 12  # nested driver calls start no flow
    assert counts["plugins"] == (way == "plug-in") and counts["unlinked"] == 0


def test_the_vendor_guides_last_program_shows_its_kernels(repo, build, run, gputap, work,
                                                        torch_python, torch_package):
    files, shell = programs_of(guide_of(repo))
    env = lay_out(files, repo, build, gputap, work)
    (work / "python").write_text(f'#!/bin/sh\nexec {torch_python} "$@"\n')
    (work / "python").chmod(0o755)
    out = run(["bash", "-e", "-c", shell[0] + shell[3]],
              env={
                  **env,
                  **torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin",
                  "PATH": f"{work}:{env['PATH']}"
              }).out
    times = dict(re.findall(r"^(.*): 3 times, ([\d.]+) us on the device$", out, re.M))
    assert float(times["acme::twice"]) > 0 and times["acme::twice"] == times["twice"]
    assert "'unlinked': 0" in out and "'plugins': 1" in out
    trace = json.loads((work / "acme.json").read_text())["traceEvents"]
    assert sorted(e["ph"] for e in trace if e.get("cat") == "ac2g") == ["f"] * 3 + ["s"] * 3


def test_without_gputaps_libraries_there_is_one_line(run, torch_python, torch_package, tmp_path):
    result = run([torch_python, "-c", "import gputap.torch"],
                 env={**torch_package, "GPUTAP_LIBRARIES": tmp_path, "PATH": "/usr/bin:/bin"})
    assert result.err.count("gputap:") == 1 and "GPUTAP_LIBRARIES" in result.err


def test_the_folder_of_the_package_is_no_torch(run, torch_python, torch_sources, repo, tmp_path):
    """In the root of the source tree, `import torch` must find torch or report that torch is
    missing."""
    found = run([torch_python, "-c", "import torch; print(torch.__version__)"], cwd=repo)
    assert found.out.startswith("2.")
    subprocess.run([torch_python, "-m", "venv", "--without-pip", tmp_path / "empty"], check=True)
    without = run([tmp_path / "empty/bin/python", "-c", "import torch; torch.ones(1)"], cwd=repo,
                  status=1)
    assert "module 'torch' has no attribute 'ones'" in without.err
    without = run([tmp_path / "empty/bin/python", "-c", "import gputap.torch"], cwd=repo, status=1,
                  env=torch_sources)
    assert f"torch is not installed: Python found only the folder {repo}/torch" in without.err
