# SPDX-License-Identifier: MIT
"""Compare the report and exports of a real run with golden files. The run executes
tests/opencl/cl_golden on the first OpenCL platform.

Words in capitals replace the parts that differ between runs: times, shares, rates, addresses,
process ids, the host name. All other parts are compared: rows and their order, counts, numbers of
bytes, errors, columns, units of bytes, keys. GPUTAP_GOLDEN=1 rewrites the files.
"""

import csv
import io
import json
import os
import re

import pytest

import conftest

GOLDEN = conftest.REPO / "tests" / "golden"
# The order of rows must not depend on times. Tables are sorted by columns without times; only gaps
# are sorted by start time.
SORT = {
    "operations": ("name", ), "ranges": ("name", ), "failures": ("name", ), "kernels": ("name", ),
    "copies": ("operation", ), "other": ("name", ), "devices": (), "gaps": ("at_ns", "--reverse"),
    "latency": (), "processes": (), "threads": (), "loss": ()
}
ADDRESS = re.compile(r"0x[0-9a-f]{7,12}\b")
# cause of a gap; depends on the machine
CAUSE = re.compile(r"(?<=  )(host(_\w+)?|synchronising|copying|launching|other_call|"
                   r"submitted_late|started_late|short)(: \S+( \S+)*)?(?=  )")
# calls around a gap; depend on its cause
AROUND = re.compile(r"^ +(after|before|from) cl\w+(: .*)?\n", flags=re.M)
PATH = re.compile(r"/\S*(?=/(cl_golden|gputap)\b)")


@pytest.fixture(scope="module")
def real(build, gputap, tmp_path_factory):
    """Return a function: gputap(command, options...) runs a command on the capture that all tests
    here read. Its attributes include the device's name."""
    folder = tmp_path_factory.mktemp("golden")
    conftest.run_command(
        [gputap, "run", "-q", "-o", "real.gputap", build / "tests/opencl/cl_golden"], cwd=folder)

    def ask(*arguments):
        return conftest.run_command([gputap, *arguments], cwd=folder).out

    def table(name, *options):
        order = ["--sort", *SORT[name]] if SORT[name] else []
        return ask("report", "real.gputap", "--top", "0", "-t", name, *order, *options)
    ask.table = table
    ask.device = json.loads(ask("report", "real.gputap", "--json", "-t",
                                "devices"))["devices"][0]["device_name"]
    ask.folder = folder
    return ask


def check_golden(name, text):
    path = GOLDEN / name
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing
        path.write_text(text)
    assert text == path.read_text(), f"differs from {path}"


def plain(text, device):
    """Return @text without addresses, paths and the device's name."""
    return ADDRESS.sub("ADDRESS", PATH.sub("PATH", text.replace(device, "DEVICE")))


# Report --------------------------------------------------------------------

def plain_table(text, device):
    text = plain(text, device).replace(f" on {os.uname().nodename},", " on HOST,")
    text = re.sub(r"\b[\d.,]+ (GB|MB|KB|B)/s", "RATE", text)
    text = re.sub(r"\b[\d.,]+ (ns|us|ms|s|min|h)\b(?! -)", "TIME", text)
    text = re.sub(r"\b[\d.]+%(?!\.$)", "SHARE", text, flags=re.M)
    text = AROUND.sub("", CAUSE.sub("CAUSE", text))
    # rows of processes and threads
    text = re.sub(r"^ +\d+(?= .* cl_golden$)", "  ID", text, flags=re.M)
    # column widths depend on times
    return re.sub(r"(?<=\S) +", " ", re.sub(r"^ +", "  ", text, flags=re.M))


def test_report_of_a_real_run_is_the_golden_one(real):
    head, *_, foot = plain_table(real.table("operations"), real.device).split("\n\n")
    tables = []
    for name in SORT:
        first, *body = plain_table(real.table(name), real.device).rstrip("\n").split("\n\n")
        assert first == head
        tables += [text for text in body if text != foot.rstrip("\n")]
    check_golden("real.txt", "\n\n".join([head, *tables, foot]))


CAUSES = {
    "cause", "in", "range", "why", "caller_tid", "caller", "waits_for", "after_call", "after_line",
    "before_call", "before_line"
}
VOLATILE = {
    "pid": "PID", "tid": "TID", "parent_pid": "PID", "bytes_per_s": "RATE", "device_name": "DEVICE"
}


def plain_row(row, device):
    """Replace values that change between runs in @row, a {column: value} of the CSV, with words."""
    for key, value in row.items():
        if value and key.endswith("_ns"):
            row[key] = "TIME"
        elif value and key.endswith("share"):
            row[key] = "SHARE"
        elif key in CAUSES:
            row[key] = "CAUSE"
        elif value and key in VOLATILE:
            row[key] = VOLATILE[key]
        else:
            row[key] = plain(value, device)
    return row


def csv_text(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def test_csv_report_of_a_real_run_is_the_golden_one(real):
    parts = []
    for name in SORT:
        text = real.table(name, "--csv")
        rows = [plain_row(row, real.device) for row in csv.DictReader(io.StringIO(text))]
        parts.append(f"# {name}\n" + (csv_text(rows) if rows else text))
    check_golden("real_report.csv", "\n".join(parts))


# Exports -------------------------------------------------------------------

def test_csv_export_of_a_real_run_is_the_golden_one(real):
    real("export", "real.gputap", "-o", "real.csv")
    rows = list(csv.DictReader((real.folder / "real.csv").open(newline="")))
    # a call may end before or after its activity
    rows.sort(key=lambda row: (int(row["correlation"]), row["kind"]))
    check_golden("real.csv", csv_text([plain_row(row, real.device) for row in rows]))


def plain_json(value, device, key=""):
    if isinstance(value, dict):
        return {k: plain_json(v, device, k) for k, v in value.items()}
    if isinstance(value, list):
        return [plain_json(v, device, key) for v in value]
    if key in ("ts", "dur", "baseTimeNanoseconds"):
        assert isinstance(value, (int, float)) and value >= 0
        return "TIME"
    if key == "memory bandwidth (GB/s)":
        return "RATE"
    if key in ("version", "driver", "vendor", "host", "kernel", "cpu"):
        return key.upper()
    return plain(value, device) if isinstance(value, str) else value


def place(event):
    """Return the sort key of @event: for each call, the call, then its activity, then the flow
    between call and activity."""
    kinds = ("M", "X", "s", "f")
    if event["ph"] in ("M", "C"):
        return 0, event["ph"] == "C", False
    return event.get("id") or event["args"]["correlation"], kinds.index(
        event["ph"]), event["pid"] != "PID"


def test_chrome_json_of_a_real_run_is_the_golden_one(real):
    real("export", "real.gputap", "-o", "real.json")
    trace = json.loads((real.folder / "real.json").read_text())
    process = next(e["pid"] for e in trace["traceEvents"] if e["name"] == "clFinish")
    events = [{**e, **{k: "PID" for k in ("pid", "tid") if e[k] == process}
               } for e in trace.pop("traceEvents")]
    events.sort(key=place)
    lines = [
        json.dumps(plain_json(part, real.device), ensure_ascii=False) for part in (trace, *events)
    ]
    check_golden("real.json", "\n".join(lines) + "\n")
