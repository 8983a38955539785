# SPDX-License-Identifier: MIT
"""Test how torch profiles with gputap's bridge start and end. These cases supplement
test_torch_profile.py (tests/README.md lists them). Each case runs in a separate Python."""
import json
import textwrap

import pytest

MORE = """
from torch.profiler import ProfilerActivity as A, profile
from torch._C._profiler import _ExperimentalConfig as Config

class Twice(torch.autograd.Function):
    '''Fills forward, and backward in autograd's thread.'''
    @staticmethod
    def forward(ctx, x):
        t.device.fill()
        return x * 2
    @staticmethod
    def backward(ctx, g):
        t.device.fill()
        return g * 2
"""


@pytest.fixture
def case(torch_case):
    def call(script, **keywords):
        return torch_case(MORE + textwrap.dedent(script), **keywords)
    return call


def test_a_schedule_may_end_while_it_warms_up(case):
    [got] = case("""
        got = []
        with gputap.torch.profile(schedule=schedule(wait=0, warmup=3, active=1),
                                  on_trace_ready=lambda p: got.append(fills(p))) as p:
            for _ in range(2):
                work()
                p.step()
        with gputap.torch.profile() as p:
            work(3)
        print(json.dumps([got, fills(p)]))""")
    assert got == [[], 3]


def test_threads_that_a_profiled_one_starts(case):
    """torch profiles these threads only on request. The trace contains their activities in any
    case."""
    [got] = case("""
        got = []
        for every in (False, True):
            with gputap.torch.profile(
                    experimental_config=Config(profile_all_threads=every)) as p:
                worker = threading.Thread(target=work, args=(2,))
                worker.start()
                worker.join()
            got.append([fills(p), gputap.torch.counts()['unlinked']])
        print(json.dumps(got))""")
    assert got == [[2, 2], [2, 0]]


def test_a_profile_inside_of_another_is_refused_in_one_sentence(case):
    """torch alone accepts the inner profile, and crashes when the outer profile is exported."""
    [got, kept] = case("""
        got = []
        with gputap.torch.profile() as p:
            work()
            for make in (gputap.torch.profile, lambda: gputap.torch.profile(schedule=schedule(
                    wait=0, warmup=1, active=1))):
                try:
                    make().start()
                except RuntimeError as e:
                    got.append(str(e))
            work()
        print(json.dumps(got))
        with gputap.torch.profile() as q:
            work()
        print(json.dumps([fills(p), fills(q)]))""")
    assert len(got) == 2 and all("another profile is open" in text for text in got)
    assert kept == [2, 1]


def test_a_profile_beside_one_of_another_thread_is_refused_in_one_sentence(case):
    """torch alone accepts the second profile, and crashes when the two end."""
    [got, kept] = case("""
        got = []
        def go():
            try:
                gputap.torch.profile().start()
            except RuntimeError as e:
                got.append(str(e))
        with gputap.torch.profile() as p:
            worker = threading.Thread(target=go)
            worker.start()
            worker.join()
            work()
        print(json.dumps(got))
        print(json.dumps([fills(p)]))""")
    assert len(got) == 1 and "another profile is open" in got[0] and kept == [1]


def test_a_profile_of_torchs_own_is_not_opened_twice_either(case):
    [got] = case("""
        with profile() as p:
            try:
                gputap.torch.profile().start()
            except RuntimeError as e:
                print(json.dumps([str(e)]))""")
    assert "another profile is open" in got[0]


def test_a_profile_that_could_not_begin_leaves_the_next_one_be(case):
    [got] = case("""
        try:
            with gputap.torch.profile(experimental_config='wrong'):
                pass
        except Exception:
            pass
        with gputap.torch.profile() as p:
            work()
        print(json.dumps([fills(p)]))""")
    assert got == [1]


def test_collection_may_be_toggled(case):
    """Recording of operators pauses. torch notifies its child profilers only from 2.14 on."""
    [got] = case("""
        with gputap.torch.profile() as p:
            work()
            p.toggle_collection_dynamic(False, [A.CPU])
            work()
            p.toggle_collection_dynamic(True, [A.CPU])
            work()
        print(json.dumps([fills(p), sum(e.name == 'gputap_test::fill' for e in p.events())]))""")
    assert got == [3, 2]


def test_events_of_several_cycles_add_up(case):
    [got] = case("""
        with gputap.torch.profile(schedule=schedule(wait=0, warmup=1, active=1, repeat=3),
                                  acc_events=True) as p:
            for _ in range(6):
                work()
                p.step()
        print(json.dumps([sum(e.name == 'Memset (Device)' for e in p.events())]))""")
    assert got == [3]


# requested activities: number of fills on the device, and of calls that submitted the fills
ACTIVITIES = {
    "None": (2, 2),
    "[A.CPU]": (0, 2),
    "[A.CPU, A.PrivateUse1]": (2, 2),
    "[A.PrivateUse1]": (2, 2),
}
FILTERS = {
    "[{A.PrivateUse1: []}]": (0, 0),
    "[A.CPU, {A.PrivateUse1: []}]": (0, 2),
    "[A.CPU, {A.PrivateUse1: ['GPU_MEMSET']}]": (2, 2),
    "[A.CPU, {A.PrivateUse1: ['GPU_MEMCPY']}]": (0, 2),
    "[A.CPU, {A.PrivateUse1: ['CONCURRENT_KERNEL']}]": (0, 2),
    "[{A.PrivateUse1: ['GPU_MEMSET']}]": (2, 0),
    "[{A.PrivateUse1: ['PRIVATEUSE1_RUNTIME']}]": (0, 2),
    "[{A.CPU: ['CPU_OP']}]": (0, 0),
    "[{A.CPU: ['CPU_OP']}, {A.PrivateUse1: ['GPU_MEMSET']}]": (2, 0),
    "[{A.CPU: ['CUDA_RUNTIME']}]": (0, 2),
}


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize("own", ["gputap.torch.profile", "profile"])
def test_a_profile_has_the_activities_that_it_requests_and_no_others(case, torch_version, own,
                                                                      is_known):
    """A profile has exactly these activities, even if torch does not know such a device and drops
    requests for it."""
    wanted = ACTIVITIES | (FILTERS if torch_version >= (2, 13) else {})
    if not is_known:  # torch refuses a profile without an activity that it knows
        wanted = {text: got for text, got in wanted.items() if "A.CPU" in text or text == "None"}
    got = case(f"""
        if {is_known}:
            torch.utils.rename_privateuse1_backend('acme')
        for text in {list(wanted)!r}:
            with {own}(activities=eval(text)) as p:
                work(2)
            e = events(p)
            print(json.dumps([sum(v.get('cat') == 'gpu_memset' for v in e),
                              sum(v.get('cat') == 'cuda_runtime' and 'Fill' in v['name']
                                  for v in e)]))""")
    assert dict(zip(wanted, map(tuple, got))) == wanted


def test_pythons_exporter_has_the_device_work(case):
    got = case("""
        import inspect
        if 'use_python_export' not in inspect.signature(profile.export_chrome_trace).parameters:
            sys.exit()
        with gputap.torch.profile() as p:
            work(2)
        p.export_chrome_trace('python.json', use_python_export=True)
        e = json.load(open('python.json'))['traceEvents']
        print(json.dumps([sum(v.get('name') == 'Memset (Device)' for v in e)]))""")
    if not got:
        pytest.skip("this torch has no exporter in Python")
    assert got == [[2]]


def test_work_of_autograds_thread_is_that_of_its_node(case):
    rows, [unlinked, threads] = case("""
        x = torch.ones(3, requires_grad=True)
        with gputap.torch.profile() as p:
            for _ in range(3):
                Twice.apply(x).sum().backward()
            t.device.finish()
        print(json.dumps({e.key: [e.count, e.self_device_time_total] for e in p.key_averages()}))
        calls = [e for e in events(p) if e.get('cat') == 'cuda_runtime' and 'Fill' in e['name']]
        print(json.dumps([gputap.torch.counts()['unlinked'], len({e['tid'] for e in calls})]))""")
    assert unlinked == 0 and rows["Twice"][1] > 0 and rows["TwiceBackward"][1] > 0
    assert threads >= 1


def test_memory_is_shown_beside_it(case):
    [got] = case("""
        with gputap.torch.profile(profile_memory=True, record_shapes=True, with_stack=True) as p:
            work(2)
        p.export_memory_timeline('memory.json', device='cpu')
        print(json.dumps([fills(p), len(json.load(open('memory.json'))) > 0]))""")
    assert got == [2, True]


def test_a_backends_name_does_not_bring_its_work_twice(case):
    """The first profile does not request the backend, and the second does. Each profile has one
    session."""
    [got] = case("""
        torch.utils.rename_privateuse1_backend('acme')
        got = []
        for activities in ([A.CPU], [A.CPU, A.PrivateUse1]):
            with profile(activities=activities) as p:
                work(2)
            rows = {e.key: e.self_device_time_total for e in p.key_averages()}
            got.append([fills(p), rows.get('gputap_test::fill', 0) > 0])
        print(json.dumps(got))""")
    assert got == [[0, False], [2, True]]


NO_MEMORY = """
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
size_t refused_bytes; /* a mapping of just so many fails; 0: none does */
void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset)
{
    if (bytes == refused_bytes) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}
"""


def test_a_profile_without_memory_for_our_part_is_the_operators_alone(case, run, work):
    (work / "refuse.c").write_text(NO_MEMORY)
    run(["cc", "-shared", "-fPIC", "refuse.c", "-o", "refuse.so"], cwd=work)
    script = """
        import ctypes
        process = ctypes.CDLL(None)
        refused = ctypes.c_size_t.in_dll(process, 'refused_bytes')
        got, lost = [], []
        for bytes in (gputap.torch._bridge.gputap_bridge_count(b"block_bytes"), 0):
            refused.value = bytes
            with gputap.torch.profile() as p:
                work()
            refused.value = 0
            got.append(fills(p))
            lost.append(gputap.torch.counts()['lost'] > 0)
        print(json.dumps(lost))
        print(json.dumps(got))"""
    lost, got = case(script, LD_PRELOAD=work / "refuse.so")
    assert got == [0, 1] and lost == [True, False]


def test_a_profile_with_nothing_to_record_is_torchs_own(run, torch_python, torch_package, build,
                                                       tmp_path):
    """Neither gputap's library nor a plug-in is available, so the bridge adds no session, rows or
    metadata."""
    library = build / "src/plugin/libgputap-plugin.so.0"
    (tmp_path / library.name).symlink_to(library)
    out = run([torch_python, "-c", textwrap.dedent("""
        import json
        import gputap.torch, torch
        with gputap.torch.profile() as p:
            torch.ones(2) + 1
        p.export_chrome_trace('a.json')
        trace = json.load(open('a.json'))
        print(sum(e.get('name') == 'aten::add' for e in trace['traceEvents']),
              [k for k in trace if 'gputap' in k])""")],
              env={**torch_package, "GPUTAP_LIBRARIES": tmp_path, "HOME": tmp_path,
                   "PATH": "/usr/bin:/bin"}, cwd=tmp_path).out
    assert out == "1 []\n"
