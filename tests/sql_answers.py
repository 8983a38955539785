# SPDX-License-Identifier: MIT
"""Runs the views of share/gputap/sql in a separate process, for test_sql_views.py:

    sql_answers.py write FOLDER CAPTURE..     write the captures as a Parquet dataset
    sql_answers.py duckdb OUT SOURCE..        answer all views with DuckDB; a source is a dataset,
                                              or captures joined with '+'
    sql_answers.py spark OUT DATASET..        answer all views with Spark

OUT receives JSON: {source: {view: [row, ..]}}. A row is an object."""
import json
import pathlib
import sys
import urllib.parse

import gputap
from gputap import sql


def folder_of(table, name, session):
    """Return the folder of a session's files: table=calls/host=node1/rank=3."""
    host, rank = session["host"] or "unknown", session["rank"]
    return pathlib.Path(f"table={name}", f"host={urllib.parse.quote(host, safe='')}",
                        f"rank={'none' if rank is None else rank}")


def write(folder, *captures):
    """Write each table of each session as a file, as `gputap export -o FOLDER.parquet/`."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    with gputap.open(captures) as capture:
        sessions = capture.sessions.to_arrow().to_pylist()
        for name, table in capture.tables.items():
            for session in sessions:
                rows = table.of_sessions(session["session"]).to_arrow()
                if not rows.num_rows:
                    continue
                rows = rows.cast(pa.schema(
                    [pa.field(f.name, pa.string()) if pa.types.is_dictionary(f.type) else f
                     for f in rows.schema]))
                place = pathlib.Path(folder) / folder_of(table, name, session)
                place.mkdir(parents=True, exist_ok=True)
                pq.write_table(rows, place / f"part-{session['session']}.parquet",
                               compression="zstd")


def duckdb(sources):
    for source in sources:
        opened = None if sql.is_dataset(source) else gputap.open(source.split("+"))
        connection = sql.connect(opened or source)
        answers = {}
        for view in [*sql.views(), "activities"]:
            cursor = connection.execute(f"select * from {view}")
            names = [column[0] for column in cursor.description]
            answers[view] = [dict(zip(names, row)) for row in cursor.fetchall()]
        connection.close()
        if opened:
            opened.close()
        yield source, answers


def spark(sources):
    from pyspark.sql import SparkSession
    build = SparkSession.builder.master("local[2]")
    for name, value in {
            "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": 1, "spark.sql.adaptive.enabled": "false",
            # compiling the queries takes longer than answering them
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN"}.items():
        build = build.config(name, value)
    session = build.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    for source in sources:
        sql.spark_views(session, source)
        yield source, {view: [row.asDict() for row in session.table(view).collect()]
                       for view in sql.views()}
    session.stop()


def main(task, to, *sources):
    if task == "write":
        write(to, *sources)
        return
    answer = {"duckdb": duckdb, "spark": spark}[task]
    pathlib.Path(to).write_text(json.dumps(dict(answer(sources))))


if __name__ == "__main__":
    main(*sys.argv[1:])
