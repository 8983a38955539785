# SPDX-License-Identifier: MIT
"""Test vendors' plug-ins in torch.profiler: the errors that they report, errors in their records,
the user's configuration for them, waits and counters. An error in a plug-in affects neither the
training nor the other plug-ins."""
import json
import textwrap

import pytest

from test_plugin_loader import vendor  # noqa: F401

BEGIN = """
import ctypes, json, os, sys
import gputap.torch, torch
from torch._C._profiler import _ExperimentalConfig as Config
paths = os.environ['KINETO_PLUGIN_PATH'].split(':')
vendors = {os.path.basename(path)[:-3]: ctypes.CDLL(path) for path in paths}

@torch.library.custom_op('test::work', mutates_args=())
def work(x: torch.Tensor, name: str, pieces: int) -> torch.Tensor:
    assert vendors[name].pu1Exercise(pieces) == 0
    return x + 1

def profile(name='vendor', pieces=6, **config):
    with gputap.torch.profile(experimental_config=Config(**config)) as p:
        for one in name.split():
            work(torch.ones(1), one, pieces)
    return p

def trace(p):
    p.export_chrome_trace('a.json')
    return json.load(open('a.json'))
"""


@pytest.fixture
def case(run, torch_python, torch_package, build, work):
    def call(script, *plugins):
        result = run([torch_python, "-c", BEGIN + textwrap.dedent(script)],
                     env={
                         **torch_package, "GPUTAP_LIBRARIES": f"{build}:{build}/src/plugin",
                         "KINETO_PLUGIN_PATH": ":".join(map(str, plugins))
                     })
        call.err = [line for line in result.err.splitlines() if line.startswith("gputap:")]
        return [json.loads(line) for line in result.out.splitlines() if line[:1] in "[{"]
    return call


FAULTS = {  # fault of tests/plugin/vendor.c: name under which it is counted
    "wild kind": "unknown kind",
    "backwards": "wrong times",
    "no time": "wrong times",
    "seconds": "wrong times",
    "wild device": "unknown device",
    "negative device": "unknown device",
    "wild stream": "unknown stream",
    "long record": "wrong size",
    "short record": "wrong size",
    "circles": "walk broken off",
    "outside": "wrong place",
    "completes twice": "wrong buffer",
    "null name": "no name",
    "bad name": "name repaired",
    "wild graph": "unknown graph",
}
GOOD = {"name repaired"}  # the vendor's metadata contains quotes
ALONE = {"overruns": "buffer overrun", "no correlation": "no correlation"}


def test_what_is_wrong_in_a_plug_in_is_named_and_counted_and_others_work(case, vendor):
    paths = [vendor(fault, name=fault.replace(" ", "_")) for fault in FAULTS]
    plugins, kernels, counts = case("""
        p = profile(' '.join(vendors))
        print(json.dumps({p['name']: p['wrong'] for p in gputap.torch.plugins()}))
        events = trace(p)['traceEvents']
        print(json.dumps([[e['pid'], e['name']] for e in events if e.get('cat') == 'kernel']))
        print(json.dumps(gputap.torch.counts()))""", *paths, vendor())
    for fault, name in FAULTS.items():
        assert plugins[fault.replace(" ", "_")].get(name), (fault, plugins)
        sentence = f"gputap: plug-in {fault.replace(' ', '_')}: "
        assert any(line.startswith(sentence) and name in line for line in case.err)
    assert set(plugins["vendor"]) == GOOD and len(case.err) == len(FAULTS) + 1
    good = 100000 * (len(FAULTS) + 1)
    assert [name for pid, name in kernels if pid == good] == ["vector_add"] * 2
    names = {name for _, name in kernels}
    assert {"vector_add", "unnamed", "ab?'c/d "} <= names
    assert counts["plugins"] == len(FAULTS) + 1 and counts["kept"] > 6 * len(FAULTS)


@pytest.mark.parametrize("fault", ALONE)
def test_what_it_writes_beyond_its_buffer_or_does_not_link_is_counted(case, vendor, fault):
    plugins, rows = case("""
        p = profile('bad vendor', 3000)
        print(json.dumps({p['name']: p['wrong'] for p in gputap.torch.plugins()}))
        print(json.dumps({e.key: e.count for e in p.key_averages()}))""",
                         vendor(fault, name="bad"), vendor())
    assert plugins["bad"][ALONE[fault]] > 0 and set(plugins["vendor"]) == GOOD
    assert rows["vector_add"] >= 1000 and rows["test::work"] == 2


def test_an_operator_that_there_is_not_links_to_nothing(case, vendor):
    counts, rows = case("""
        p = profile()
        print(json.dumps(gputap.torch.counts()))
        print(json.dumps({e.key: e.self_device_time_total for e in p.key_averages()}))""",
                        vendor("unknown operator"))
    assert counts["unlinked"] == 6 and rows["test::work"] == 0 < rows["vector_add"]


def test_a_plug_ins_error_text_is_shown(case, vendor):
    plugins, metadata = case("""
        p = profile('bad vendor')
        print(json.dumps(gputap.torch.plugins()))
        t = trace(p)
        print(json.dumps([t['gputap_plugins'],
                          sum(e.get('cat') == 'kernel' for e in t['traceEvents'])]))""",
                             vendor("enables nothing", name="bad"), vendor())
    sentence = "pu1TracingEnable(kernel): the device failed: it failed"
    assert [p["error"] for p in plugins] == [sentence, None]
    assert [p["name"] for p in plugins] == ["bad", "vendor"] and plugins[0]["path"].endswith(".so")
    assert metadata[0]["bad"] == {"error": sentence, "counts": {"refused by the plug-in": 5}}
    assert metadata[1] == 2
    assert case.err[0] == f"gputap: plug-in bad: {sentence}; refused by the plug-in: 5"


@pytest.mark.parametrize("words, error", [
    ("", None), ("fast", None), ("slow", "pu1.config(): invalid: it failed"),
])
def test_the_users_words_reach_the_plug_in(case, vendor, words, error):
    [plugins] = case(f"""
        profile(custom_profiler_config={words!r})
        print(json.dumps([p['error'] for p in gputap.torch.plugins()]))""", vendor())
    assert plugins == [error]


def test_waits_and_counters_of_a_plug_in_are_shown(case, vendor, torch_version):
    """Waits are exported on request, as for CUDA. Waits are not part of an operator's device
    time."""
    plain, waits, counters, rows, counts = case("""
        is_wait = lambda e: e.get('cat') == 'cuda_sync'
        print(json.dumps([sum(map(is_wait, trace(profile())['traceEvents']))]))
        with gputap.torch.profile(waits=True) as p:
            work(torch.ones(1), 'vendor', 6)
        events = trace(p)['traceEvents']
        operators = {e['args']['External id'] for e in events if e.get('cat') == 'cpu_op'}
        print(json.dumps([[e['name'], e['args'].get('External id') in operators]
                          for e in events if is_wait(e)]))
        print(json.dumps([[e['name'], e['pid'], e['args']] for e in events if e['ph'] == 'C']))
        print(json.dumps({e.key: e.self_device_time_total for e in p.key_averages()}))
        print(json.dumps(gputap.torch.counts()))""", vendor("none", "-DKINDS=7"))
    assert plain == [0] and waits == [["Stream Wait Event", False]] * 6
    shown = 6 if torch_version >= (2, 12) else 0  # 2.11 cannot export counters
    assert len(counters) == shown and counts["unshown"] == 6 - shown
    assert all(c[1] == 100000 for c in counters)
    assert all("load" in json.dumps(c) and 0.5 in c[2].values() for c in counters)
    work = sum(rows[name] for name in ("vector_add", "Memcpy HtoD", "Memset"))
    assert abs(rows["test::work"] - work) < 0.01


def test_what_lies_outside_of_the_window_is_counted_and_shown_at_its_device(case, vendor):
    counts, labels, kernels = case("""
        p = profile('bad vendor')
        print(json.dumps(gputap.torch.counts()))
        events = trace(p)['traceEvents']
        print(json.dumps({e['pid']: e['args']['labels'] for e in events
                          if e['name'] == 'process_labels'}))
        print(json.dumps([e['pid'] for e in events if e.get('cat') == 'kernel']))""",
                                    vendor("kernel before the window", name="bad"), vendor())
    assert counts["outside"] == 2 and kernels == [200000] * 2
    assert labels["100000"] == "gputap: 2 outside the recording window"
    assert labels["200000"] == "gputap"


def test_a_plug_in_that_crashes_or_hangs_leaves_the_training_alone(case, vendor):
    paths = [vendor("crash at registration", name="crashes"), vendor("hangs", name="hangs")]
    plugins, kernels = case("""
        for _ in range(2):
            p = profile('vendor')
        print(json.dumps(gputap.torch.plugins()))
        print(json.dumps([e['pid'] for e in trace(p)['traceEvents'] if e.get('cat') == 'kernel']))
        os._exit(0)""", *paths, vendor())
    assert [p["name"] for p in plugins] == ["hangs", "vendor"] and kernels == [200000] * 2
    assert f"gputap: plug-in {paths[0]} is not used: its registration ends the process: Aborted" \
        in case.err
    assert "gputap: plug-in hangs: its stop does not return: it is not called again, and its" \
        " records are lost; refused by the plug-in: 1" in case.err
