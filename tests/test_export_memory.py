# SPDX-License-Identifier: MIT
"""Test exports that draw memory in use over time: Perfetto's trace processor and the report agree
on the same capture."""
import json
import subprocess

import pytest

from conftest import REPO
from consumers import perfetto

COUNTERS = """
select t.name, p.pid, c.ts, c.value
from counter c join process_counter_track t on c.track_id = t.id join process p using (upid)
order by c.ts, c.id"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cuda-memory")
    for name, source, *options in (("kernels.so", "driver_kernels.c", "-shared", "-fPIC"),
                                   ("program", "driver_program.c", "-lpthread")):
        subprocess.run(
            ["cc", "-O1", f"-I{REPO}", REPO / "tests/cuda" / source, "-o", folder / name, *options],
            check=True)
    return folder


@pytest.fixture
def report(run, gputap, work, programs):  # pylint: disable=unused-argument
    """Record three concurrent threads on CUDA's software driver and return the rows of the report's
    memory table by name."""
    run([
        gputap, "run", "-q", "-o", "m.gputap", "--", gputap, "soft", "cuda", "--",
        programs / "program", programs / "kernels.so", "10", "3", "symbols"
    ])
    rows = json.loads(
        run([gputap, "report", "--json", "--table", "memory", "m.gputap"]).out)["memory"]
    return {
        f"{row['memory']} memory ({row['domain']})" +
        (f", device {row['device']}" if row["device"] is not None else ""): row for row in rows
    }


def curves(rows, suffix=""):
    """Return {name: values in time order}."""
    found = {}
    for row in rows:
        found.setdefault(row["name"].removesuffix(suffix), []).append(row["value"])
    return found


@pytest.mark.parametrize("form,suffix", [("pftrace", ""), ("json", " bytes"),
                                         ("hta.json.gz", " bytes")])
def test_each_kind_of_memory_is_a_counter_of_its_process(run, gputap, report, form, suffix):
    run([gputap, "export", "m.gputap", "-o", f"m.{form}"])
    have = perfetto.ask(f"m.{form}", counters=COUNTERS, complaints=perfetto.COMPLAINTS)
    drawn = curves(have["counters"], suffix)
    assert have["complaints"] == []
    assert len({row["pid"] for row in have["counters"]}) == 1
    assert {name.split()[0] for name in drawn} == {"device", "host", "pool"}
    assert {name: (max(values), values[-1], len(values)) for name, values in drawn.items()} == {
        name: (row["peak_bytes"], row["left_bytes"], row["allocations"] + row["frees"])
        for name, row in report.items()
    }


def test_what_is_left_out_is_not_counted(run, gputap, report):
    run([gputap, "export", "m.gputap", "-o", "m.pftrace", "--where", "name!=cuMemHostAlloc"])
    have = perfetto.ask("m.pftrace", counters=COUNTERS)
    assert {name.split()[0] for name in curves(have["counters"])} == {"device", "pool"}
    assert len(report) == 3
