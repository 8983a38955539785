# SPDX-License-Identifier: MIT
"""Test `python -m gputap sql` and gputap.sql."""
import csv
import io
import json
import os
import pty
import select
import subprocess
import sys

import pytest

KERNELS = "select name, sum(duration_ns) as ns from activities where kind = 'kernel' group by name"


@pytest.fixture
def environment(repo, build, work):
    return {"PYTHONPATH": repo / "python/src", "COLUMNS": 80, "XDG_STATE_HOME": work / "state",
            "GPUTAP_CAPTURE_LIBRARY": build / "libgputap-capture.so.0"}


@pytest.fixture
def gputap_sql(run, environment):
    """Return a function: gputap_sql(words..) runs python -m gputap sql WORDS.."""
    def call(*words, **keywords):
        return run([sys.executable, "-m", "gputap", "sql", *words], env=environment, **keywords)
    return call


@pytest.fixture
def python(run, environment):
    return lambda text, **keywords: run([sys.executable, "-c", text], env=environment, **keywords)


@pytest.fixture
def capture(run, build, work):
    """Write a capture; options of synth may follow."""
    def write(*options, path="a.gputap"):
        run([build / "tests/synth/synth", "--calls", 300, "--noise", 20, "--steps", 100, *options,
             "-o", path])
        return path
    return write


def test_a_query_prints_a_table_as_wide_as_the_terminal(gputap_sql, capture):
    out = gputap_sql(capture(), "select * from calls").out
    assert "│" in out and max(map(len, out.splitlines())) <= 80
    assert "kernel_0" in gputap_sql("a.gputap", KERNELS).out


def test_csv_and_json_contain_all_rows(gputap_sql, capture, tap):
    want = {row["name"]: row["total_ns"] for row in json.loads(
        tap("report", capture(), "--json").out)["kernels"]}
    rows = list(csv.DictReader(io.StringIO(gputap_sql("a.gputap", KERNELS, "--csv").out)))
    assert {row["name"]: int(row["ns"]) for row in rows} == want
    rows = json.loads(gputap_sql("a.gputap", KERNELS, "--json").out)
    assert {row["name"]: row["ns"] for row in rows} == want
    assert json.loads(gputap_sql("a.gputap", "select 1 as a where false", "--json").out) == []
    calls = gputap_sql("a.gputap", "select count(*) as n from calls", "--csv").out
    assert len(gputap_sql("a.gputap", "select id from calls", "--csv").out.split()) == (
        int(calls.split()[1]) + 1)


def test_several_captures_are_read_together(gputap_sql, capture):
    capture(path="b.gputap")
    capture("--pid", 5000)
    query = "select count(distinct process) as n from calls"
    assert gputap_sql("a.gputap", "b.gputap", query, "--csv").out == "n\n2\n"
    assert gputap_sql("*.gputap", query, "--csv").out == "n\n2\n"
    assert gputap_sql(".", query, "--csv").out == "n\n2\n"


def test_an_expression_selects_records(gputap_sql, capture, tap):
    where = "range=step#2 and duration>1us"
    want = json.loads(tap("report", capture(), "--json", "--where", where).out)["operations"]
    rows = json.loads(gputap_sql("a.gputap", "-w", where, "--json",
                                 "select * from time_by_call").out)
    assert {r["operation"]: r["calls"] for r in rows} == {r["name"]: r["calls"] for r in want}


def test_queries_come_from_a_file_or_standard_input(gputap_sql, capture, work):
    (work / "q.sql").write_text("create table t as select 5 as five; select * from t;\n"
                                "-- a comment\nselect 6 as six")
    want = "five\n5\nsix\n6\n"
    assert gputap_sql(capture(), "-f", "q.sql", "--csv").out == want
    assert gputap_sql("a.gputap", "--csv", stdin=(work / "q.sql").read_text()).out == want
    assert gputap_sql("a.gputap", "--csv", "-f", "-", stdin="select 7 as x").out == "x\n7\n"


def test_commands_of_the_prompt_work_in_a_pipe_and_as_an_argument(gputap_sql, capture):
    listed = gputap_sql(capture(), ".tables").out
    assert listed.startswith("tables: activities, ") and "time_by_kernel" in listed
    assert gputap_sql("a.gputap", stdin=".tables\n").out == listed
    assert gputap_sql("a.gputap", ".schema activities").out.startswith("  ")
    mixed = "create table t as select 5 as five;\n.schema calls\nselect * from t\n;\n.quit\nno sql"
    out = gputap_sql("a.gputap", "--csv", stdin=mixed).out
    assert out.startswith("  ") and out.endswith("\nfive\n5\n")


def test_a_line_of_a_query_may_begin_with_a_dot(gputap_sql, capture):
    assert gputap_sql(capture(), "--csv", stdin="select 1 +\n.5 as x").out == "x\n1.5\n"


@pytest.mark.parametrize("words, status, said", [
    (["a.gputap", ".none x"], 1, "no command '.none x'; .help lists the commands"),
    (["a.gputap", ".schema none"], 1, "no table or view 'none'; .tables lists them"),
    (["a.gputap", "select foo from calls"], 1, "foo"),
    (["a.gputap", "select 1 fro m x y"], 1, "syntax error"),
    (["none.gputap", "select 1"], 1, "No such file"),
    (["text", "select 1"], 1, "is not a gputap capture"),
    (["a.gputap", "-w", "range=", "select 1"], 1, "a value is missing here"),
    (["a.gputap", "-f", "none.sql"], 1, "No such file"),
    (["a.gputap", "-f", "text", "select 1"], 2, "exclude each other"),
    (["a.gputap", "--json", "--csv", "select 1"], 2, "not allowed"),
    (["--none"], 2, "required"),
    ([], 2, "required"),
])
def test_errors_are_sentences_with_a_status(gputap_sql, capture, work, words, status, said):
    capture()
    (work / "text").write_text("hello " * 99)
    result = gputap_sql(*words, status=status)
    assert said in result.err and "Traceback" not in result.err and not result.out


def test_commands_and_help(run, environment):
    command = [sys.executable, "-m", "gputap"]
    assert "sql" in run([*command, "--help"], env=environment).out
    assert "--where" in run([*command, "sql", "--help"], env=environment).out
    assert "no command 'none'" in run([*command, "none"], env=environment, status=2).err
    assert "a command is missing" in run(command, env=environment, status=2).err


def test_what_a_capture_lacks_is_said(gputap_sql, capture):
    result = gputap_sql(capture("--drops"), "select * from losses_by_reason", "--csv")
    assert "records lost" in result.err and "ring full" in result.out


def test_texts_of_a_capture_cannot_control_the_terminal_or_a_spreadsheet(gputap_sql, capture):
    path = capture("--text", "=1+1\x1b[31m\u202ered\nline")
    out = gputap_sql(path, "select distinct name from activities").out
    assert "red" in out and "\x1b" not in out and "\u202e" not in out
    rows = csv.reader(io.StringIO(
        gputap_sql(path, "select distinct name from activities where kind = 'kernel'",
                   "--csv").out))
    assert all(row[0].startswith("'=1+1") for row in list(rows)[1:])


def test_a_reader_of_the_output_may_leave(capture, environment, work):
    capture()
    command = subprocess.Popen([sys.executable, "-m", "gputap", "sql", "a.gputap",
                                "select * from calls, range(1000)", "--csv"],
                               env={**os.environ, **{k: str(v) for k, v in environment.items()}},
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    command.stdout.readline()
    command.stdout.close()
    err = command.stderr.read()
    command.stderr.close()
    assert command.wait() == 1 and b"Traceback" not in err


# The prompt ---------------------------------------------------------------------------------------


@pytest.fixture
def prompt(environment, capture):
    """Return a function: prompt(text) types text at the prompt, and returns what it shows."""
    def call(text, status=0):
        us, them = pty.openpty()
        variables = {**os.environ, **{k: str(v) for k, v in environment.items()}, "TERM": "dumb"}
        command = subprocess.Popen(
            [sys.executable, "-m", "gputap", "sql", capture()], stdin=them, stdout=them,
            stderr=them, env=variables, start_new_session=True)
        os.close(them)
        shown = wait_for(us, b"gputap> ")
        for line in text:
            os.write(us, line.encode())
            shown += wait_for(us, b"> ")
        os.write(us, b"\x04")
        shown += wait_for(us, None)
        os.close(us)
        assert command.wait(60) == status
        return shown.decode().replace("\r", "")
    return call


def wait_for(terminal, words):
    """Read from a terminal until it shows @words; None: until its end."""
    shown = b""
    while words is None or not shown.rstrip().endswith(words.rstrip()):
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, shown
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            return shown
        if not more:
            return shown
        shown += more
    return shown


def test_the_prompt_answers_queries_and_survives_errors(prompt, work):
    shown = prompt(["select 6 *\n", "7 as answer;\n", "select none from calls;\n", ".tables\n",
                    ".schema activities\n", ".schema idle_by_cause\n", ".schema none\n", ".none\n",
                    ".help\n", "select 40 + 4 as more;\n"])
    assert "42" in shown and "44" in shown and "answer" in shown
    assert '"none"' in shown or "none" in shown.split(".tables")[0]
    assert "tables: activities, calls" in shown and "time_by_kernel" in shown
    assert "start_ns             int64 ns: start on the device, since 1970" in shown
    assert "Why devices were idle" in shown and "no table or view 'none'" in shown
    assert "no command '.none'" in shown and "Ctrl-D" in shown
    assert "select 40" in (work / "state/gputap/sql_history").read_text()


# The package --------------------------------------------------------------------------------------


def test_only_the_columns_and_rows_that_a_query_uses_are_read(python, capture):
    """DuckDB passes columns and conditions on; the answers are those of a table in memory."""
    out = python(f"""
import gputap
from gputap.capture import Table
used = []
select = Table.select
Table.select = lambda self, *names: used.append((self.name, names)) or select(self, *names)
with gputap.open({capture()!r}) as t:
    con = t.connect()
    con.execute("create table kept as from activities")
    for query in ("select sum(duration_ns) from {{}}",
                  "select count(distinct name) from {{}} where kind = 'kernel'"
                  " and duration_ns > 20000",
                  "select count(*) from {{}} where name is null or kind in ('memset', 'map')",
                  "select count(*) from {{}} where name like 'kernel%' and queue between 1 and 2"):
        del used[:]
        found = con.execute(query.format("activities")).fetchall()
        print(sorted({{name for table, names in used for name in names}}))
        assert found == con.execute(query.format("kept")).fetchall(), (query, found)
""").out.splitlines()
    assert out[0] == "['duration_ns']"
    assert out[1] == "['duration_ns', 'kind', 'name']"
    assert out[2] == "['kind', 'name', 'session']"  # count(*) takes the first column
    assert out[3] == "['name', 'queue']"


def test_without_pyarrow_duckdb_reads_the_tables_all_the_same(python, capture):
    assert python(f"""
import sys
sys.modules['pyarrow'] = None
import gputap
with gputap.open({capture()!r}) as t:
    print(t.connect().execute("select count(*) > 0 from time_by_kernel").fetchall())
""").out in ("[(True,)]\n", )


def test_a_query_that_stops_early_leaves_the_capture_readable(python, capture):
    assert python(f"""
import gputap
with gputap.open({capture("--calls", 200000)!r}) as t:
    con = t.connect()
    for _ in range(3):
        assert len(con.execute("select * from calls limit 5").fetchall()) == 5
        assert con.execute("from calls").fetchone()
    print(con.execute("select count(*) from calls").fetchone()[0] > 200000)
""").out == "True\n"


def test_a_folder_that_is_no_dataset_is_refused(python, work):
    (work / "x.parquet").mkdir()
    said = python("import gputap.sql; gputap.sql.connect('x.parquet')", status=1).err
    assert "is not a dataset" in said and "gputap export" in said


def test_a_dataset_is_read_and_where_belongs_into_the_query(gputap_sql, capture, run, repo,
                                                           environment):
    run([sys.executable, repo / "tests/sql_answers.py", "write", "d.parquet",
         capture("--rank", 3, "--host", "node 1")], env=environment)
    for folder in ("d.parquet", "d.parquet/"):
        assert gputap_sql(folder, "select rank, host from calls limit 1", "--csv").out == (
            "rank,host\n3,node 1\n")
    assert gputap_sql("d.parquet", "select count(*) as n from losses", "--csv").out == "n\n0\n"
    said = gputap_sql("d.parquet", "-w", "rank=3", "select 1", status=1).err
    assert "add conditions to the query" in said
    said = gputap_sql("d.parquet", "a.gputap", "select 1", status=1).err
    assert "together with other files" in said
