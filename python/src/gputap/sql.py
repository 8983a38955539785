# SPDX-License-Identifier: MIT
"""SQL over captures: DuckDB reads a capture's tables directly, DuckDB and Spark read the tables of
a Parquet dataset. All of them get the views of share/gputap/sql.

    con = gputap.open('job/*.gputap').connect()
    con.sql('select * from time_by_kernel').df()
    gputap.sql.connect('job.parquet').sql('select * from stragglers')
    gputap.sql.spark_views(spark, 'job.parquet'); spark.sql('select * from stragglers')
"""
from __future__ import annotations

import glob
import os
import re
from typing import Any

from gputap.capture import Column, need
from gputap.library import Error, columns, library, tables

__all__ = ['Error', 'columns_of', 'connect', 'describe', 'is_dataset', 'spark_views', 'views']

# Tables that have a row for each process or session. In a dataset, their columns `host` and `rank`
# are those of the table, not those of the folder's name.
_OWN_RANK = ('sessions', 'processes', 'waits')


# Views --------------------------------------------------------------------------------------


def _folders():
    """Yield the folders that may contain the views, the most specific first."""
    here = os.path.dirname(os.path.abspath(__file__))
    yield os.path.join(here, 'share/gputap/sql')  # in a wheel
    yield os.path.join(here, '../../sql')  # installed: datadir/gputap/python/gputap
    if '/' in library._name:
        beside = os.path.dirname(os.path.abspath(library._name))
        for up in ('..', '../..'):  # prefix/lib, prefix/lib/x86_64-linux-gnu or a build folder
            yield os.path.join(beside, up, 'share/gputap/sql')
    yield os.path.join(here, '../../../share/gputap/sql')  # in the source tree


def views() -> dict[str, str]:
    """Return the views as {name: text of the query}. The comment at the start of a text describes
    the view and its columns."""
    for folder in _folders():
        files = sorted(glob.glob(os.path.join(glob.escape(folder), '*.sql')))
        if files:
            break
    else:
        raise FileNotFoundError('gputap: the folder share/gputap/sql is missing: install gputap '
                                'again')
    found = {}
    for path in files:
        with open(path, encoding='utf-8') as file:
            found[os.path.splitext(os.path.basename(path))[0]] = file.read()
    return found


def describe(text):
    """Return the first sentence of a view's comment, and the rest of the comment as lines."""
    lines = [line[3:] for line in text.splitlines() if line.startswith('-- ')]
    lines = [line for line in lines if not line.startswith('SPDX')]
    head = [line for line in lines if not line.startswith(' ')]
    details = [line for line in lines if line.startswith(' ')]
    return ' '.join(head), details


# Captures -------------------------------------------------------------------------------------


class _Scanner:
    """The object that DuckDB expects from Dataset.scanner()."""

    def __init__(self, reader):
        self._reader = reader

    def to_reader(self):
        return self._reader


def _make_source_class(arrow):
    """Return the class of sources. DuckDB passes the columns and the conditions of a query only to
    instances of pyarrow.dataset.Dataset; from other objects it reads all columns."""

    class Source(arrow.dataset.Dataset):
        """A table of a capture. Each scan opens a new stream."""

        def __init__(self, table):
            self._table = table
            self._arrow_schema = arrow.RecordBatchReader.from_stream(table).schema

        @property
        def schema(self):
            return self._arrow_schema

        def scanner(self, columns=None, filter=None, **_):
            names = list(columns or self._arrow_schema.names)
            if filter is None:
                return _Scanner(self._table.select(*names).reader())
            words = set(re.findall(r'\w+', str(filter)))
            more = [name for name in self._arrow_schema.names
                    if name in words and name not in names]
            reader = self._table.select(*names, *more).reader()
            schema = arrow.schema([self._arrow_schema.field(name) for name in names])
            return _Scanner(arrow.RecordBatchReader.from_batches(
                schema, _select_rows(arrow, reader, filter, names)))

    return Source


def _select_rows(arrow, reader, condition, names):
    """Yield the batches of a reader with the rows that match, and the named columns only."""
    for batch in reader:
        found = arrow.Table.from_batches([batch]).filter(condition).select(names)
        yield from found.to_batches()


def _connect_duckdb():
    duckdb = need('duckdb', 'SQL')
    connection = duckdb.connect()
    connection.execute('set autoinstall_known_extensions = false')
    return connection


def _create_views(connection):
    for name, text in views().items():
        connection.execute(f'create temporary view {name} as {text}')


def _connect_capture(capture):
    connection = _connect_duckdb()
    try:
        arrow = need('pyarrow', 'SQL')
        need('pyarrow.dataset', 'SQL')
        make = _make_source_class(arrow)
    except ImportError:  # slower: DuckDB then reads all columns of a table
        def make(table):
            return table
    for name, table in capture.tables.items():
        connection.register(name, make(table))
    _create_views(connection)
    return connection


# Datasets -------------------------------------------------------------------------------------

_SQL_TYPES = {'bool': 'boolean', 'int16': 'smallint', 'int32': 'integer', 'int64': 'bigint',
              'list<int32>': 'integer[]'}
_SPARK_TYPES = {'bool': 'boolean', 'int16': 'smallint', 'int32': 'int', 'int64': 'bigint',
                'list<int32>': 'array<int>'}


def is_dataset(path: str) -> bool:
    """Return True if the path is a folder of Parquet files that `gputap export` wrote."""
    return os.path.isdir(path) and bool(_table_folders(path))


def _table_folders(folder):
    """Return {name: folder} of the tables in a dataset. A table without rows has no folder."""
    found = glob.glob(os.path.join(glob.escape(folder), 'table=*'))
    return {os.path.basename(path)[len('table='):]: path for path in sorted(found)
            if os.path.isdir(path)}


def columns_of(name):
    """Return the columns of a table, as a list of Column, without those on request."""
    found = [Column(c) for c in columns(name, tables()[name].columns)]
    return [c for c in found if not c.on_request]


def _quote(text):
    return "'" + text.replace("'", "''") + "'"


def _files_query(connection, name, folder):
    """Return a query that reads a table's files. Tables that have no column `rank` or `host` get
    those of the folders, so that conditions on them skip files."""
    files = _quote(os.path.join(glob.escape(folder), '**', '*.parquet'))
    plain = f'select * from read_parquet({files}, union_by_name = true, hive_partitioning = false)'
    inside = {row[0] for row in connection.execute(f'describe {plain}').fetchall()}
    folders = [path for below in ('*/', '*/*/')  # a job without ranks has only host=..
               for path in glob.glob(os.path.join(glob.escape(folder), below))]
    outside = {part.split('=')[0] for path in folders
               for part in os.path.relpath(path, folder).split(os.sep) if '=' in part}
    if not outside or inside & outside:
        return plain
    chosen = ', '.join(f'"{column}"' for column in sorted(outside))
    query = ('select {} from read_parquet({}, union_by_name = true, hive_partitioning = true, '
             'hive_types_autocast = false)')
    if name in _OWN_RANK and 'rank' in outside:  # a number, and NULL for processes without rank
        chosen = ', '.join(['try_cast("rank" as integer) as "rank"',
                            *(f'"{c}"' for c in sorted(outside - {'rank'}))])
    names = ', '.join(f'"{column}"' for column in sorted(inside))
    return query.format(f'{names}, {chosen}', files)


def _connect_dataset(folder):
    connection = _connect_duckdb()
    folders = _table_folders(folder)
    for name in [*folders, *(each for each in tables() if each not in folders)]:
        if name in folders:
            query = _files_query(connection, name, folders[name])
        else:
            query = 'select {} where false'.format(', '.join(
                f'cast(null as {_SQL_TYPES.get(c.type, "varchar")}) as "{c.name}"'
                for c in columns_of(name)))
        connection.execute(f'create temporary view "{name}" as {query}')
    _create_views(connection)
    return connection


def connect(source: Any) -> Any:
    """Return a DuckDB connection with a view for each table, and the views of share/gputap/sql.

    source: a Capture, or the path of a dataset (`gputap export -o job.parquet/`)
    Each query reads the capture anew, and only the columns that it uses. Read a large table once
    and keep it with `create table mine as from idle`, if several queries need it."""
    if isinstance(source, (str, os.PathLike)):
        folder = os.fspath(source)
        if not is_dataset(folder):
            raise FileNotFoundError(f'{folder} is not a dataset: it has no folders table=..; write '
                                    'one with: gputap export FILE.. -o NAME.parquet/')
        return _connect_dataset(folder)
    return _connect_capture(source)


def spark_views(spark: Any, folder: str) -> None:
    """Register the tables of a dataset as temporary views of a Spark session, and the views of
    share/gputap/sql.

    folder: a path or address that this Spark reads, of a dataset that `gputap export` wrote. Tables
            without rows, which have no folder, become empty views."""
    folder = os.fspath(folder).rstrip('/')
    for name in tables():
        _read_spark(spark, name, f'{folder}/table={name}').createOrReplaceTempView(name)
    for name, text in views().items():
        spark.sql(f'create or replace temporary view {name} as {text}')


def _read_spark(spark, name, path):
    """Return a table of a dataset as a Spark DataFrame."""
    errors = need('pyspark.errors', 'Spark')
    try:
        found = spark.read.option('recursiveFileLookup', 'true').parquet(path)
    except errors.AnalysisException as e:
        if e.getCondition() != 'PATH_NOT_FOUND':
            raise
        schema = ', '.join(f'`{c.name}` {_SPARK_TYPES.get(c.type, "string")}'
                           for c in columns_of(name))
        return spark.createDataFrame([], schema)
    outside = {part.split('=')[0] for file in found.inputFiles()
               for part in file.split(f'/table={name}/')[-1].split('/')[:-1]}
    if outside & set(found.columns):
        return found
    found = spark.read.parquet(path)
    if name in _OWN_RANK and 'rank' in found.columns:
        return found.withColumn('rank', found['rank'].try_cast('int'))
    return found
