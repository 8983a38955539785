# SPDX-License-Identifier: MIT
"""The command `python -m gputap sql`: runs queries over captures, or prompts for them."""
import argparse
import contextlib
import csv
import datetime
import decimal
import io
import json
import math
import os
import shutil
import sys
import unicodedata
import warnings

from gputap import sql
from gputap.capture import need
from gputap.library import tables

DESCRIPTION = """Query captures, or a dataset of Parquet files, with SQL (DuckDB).

  python -m gputap sql prog.gputap 'select * from time_by_kernel'
  python -m gputap sql job/*.gputap 'select * from stragglers'
  python -m gputap sql job.parquet/ -f questions.sql --csv
  python -m gputap sql prog.gputap            a prompt; .help lists its commands

The last argument is the query if it is not a file. Without a query, queries are read from the
terminal, or from standard input. The commands of the prompt are accepted in each of these."""

USAGE = 'python -m gputap sql [options] FILE .. [QUERY]'

HELP = """\
.tables          list tables and views
.schema NAME     list the columns of a table, or explain a view
.help            show this text
.quit            leave; also Ctrl-D
A query ends with a semicolon and may span several lines. Ctrl-C discards it, or stops it while it
runs. Times are in nanoseconds; start_ns and so on count from 1970."""

COMMANDS = '.tables', '.schema', '.help', '.quit'
PROMPT, CONTINUED = 'gputap> ', '   ...> '
BATCH_ROWS = 10000
SHOWN_ROWS = 40
LEAST_COLUMNS = 40


class Failure(Exception):
    """An error that ends the command, as a sentence."""


# Output -----------------------------------------------------------------------------------------


def _clean(text):
    """Return text that cannot control a terminal: names in captures come from traced programs."""
    return ''.join('\ufffd' if unicodedata.category(c) in ('Cc', 'Cf', 'Cs') and c != '\n' else c
                   for c in text)


def _no_formula(value):
    """Prefix text that a spreadsheet would evaluate with an apostrophe, as gputap report --csv."""
    if isinstance(value, str) and value[:1] in ('=', '+', '-', '@', '\t', '\r'):
        return "'" + value
    return value


def _plain(value):
    """Return a value of a query as a value that JSON has."""
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return str(value)
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def _rows(connection):
    while True:
        rows = connection.fetchmany(BATCH_ROWS)
        if not rows:
            return
        yield from rows


def _print_table(connection, statement):
    """Print the result as DuckDB renders it, in a table as wide as the terminal."""
    width = max(shutil.get_terminal_size((80, 24)).columns, LEAST_COLUMNS)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        connection.sql(statement).show(max_width=width, max_rows=SHOWN_ROWS)
    print(_clean(text.getvalue().rstrip('\n')))


def _print_plan(connection, statement):
    for row in connection.execute(statement).fetchall():
        print(_clean(str(row[-1]).rstrip('\n')))


def _print_csv(connection, statement):
    connection.execute(statement)
    out = csv.writer(sys.stdout, lineterminator='\n')
    out.writerow(column[0] for column in connection.description)
    out.writerows([_no_formula(value) for value in row] for row in _rows(connection))


def _print_json(connection, statement):
    connection.execute(statement)
    names, separator = [column[0] for column in connection.description], '['
    for row in _rows(connection):
        values = {name: _plain(value) for name, value in zip(names, row)}
        print(f'{separator}{json.dumps(values, ensure_ascii=False)}', end='')
        separator = ',\n'
    print('[]' if separator == '[' else ']')


class Queries:
    """Runs the statements of a text, and prints their results in one format."""
    FORMATS = {'table': _print_table, 'csv': _print_csv, 'json': _print_json}

    def __init__(self, connection, form):
        self.connection, self.form = connection, form
        self.error = need('duckdb', 'SQL').Error

    def run(self, text):
        """Run all statements. Raises the error of DuckDB at the first that fails, and
        KeyboardInterrupt if Ctrl-C stopped a query."""
        try:
            for statement in self.connection.extract_statements(text):
                self._run_statement(statement)
        except RuntimeError as e:  # DuckDB's, after Ctrl-C
            if 'interrupted' not in str(e).lower():
                raise
            raise KeyboardInterrupt from None

    def _run_statement(self, statement):
        kind = statement.type.name
        if kind not in ('SELECT', 'EXPLAIN', 'PRAGMA', 'CALL'):
            self.connection.execute(statement)  # nothing to show
        elif kind == 'EXPLAIN' and self.form == 'table':
            _print_plan(self.connection, statement)
        else:
            self.FORMATS[self.form](self.connection, statement)


# Prompt -----------------------------------------------------------------------------------------


def _history():
    """Return the path of the prompt's history, in a folder that exists, or None."""
    state = os.environ.get('XDG_STATE_HOME') or os.path.expanduser('~/.local/state')
    folder = os.path.join(state, 'gputap')
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return None
    return os.path.join(folder, 'sql_history')


@contextlib.contextmanager
def _line_editing(words):
    """Edit lines with readline, with history and completion of @words, if Python has readline."""
    try:
        import readline
    except ImportError:
        yield
        return
    path = _history()
    with contextlib.suppress(OSError):
        if path:
            readline.read_history_file(path)
    readline.set_history_length(1000)
    readline.set_completer_delims(' \t\n,;()=<>')
    readline.set_completer(lambda text, i: [*(w for w in words if w.startswith(text)), None][i])
    readline.parse_and_bind('tab: complete')
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if path:
                readline.write_history_file(path)


class Prompt:
    """Reads queries from a terminal until its end."""

    def __init__(self, queries):
        self.queries, self.views = queries, sql.views()

    def _names(self):
        rows = self.queries.connection.execute('show tables').fetchall()
        return sorted(row[0] for row in rows)

    def _show_tables(self):
        names = self._names()
        print('tables:', ', '.join(name for name in names if name not in self.views))
        for name in (name for name in names if name in self.views):
            print(f'{name:20} {sql.describe(self.views[name])[0].split(". ")[0].rstrip(".")}')

    def _show_schema(self, name):
        if name in self.views:
            head, details = sql.describe(self.views[name])
            print('\n'.join([head, *details]))
        elif name in tables():
            for c in sql.columns_of(name):
                unit = f' {c.unit}' if c.unit else ''
                print(f'  {c.name:20} {c.type}{unit}: {c.description}')
        elif name in self._names():
            self.queries.run(f'select column_name, column_type from (describe "{name}")')
        else:
            raise Failure(f'no table or view {_clean(name)!r}; .tables lists them')

    def run_command(self, line):
        """Run a command of the prompt. Return False to leave. Raises Failure for an unknown
        command."""
        word, *rest = line.split()
        if word in ('.quit', '.exit'):
            return False
        if word == '.tables' and not rest:
            self._show_tables()
        elif word == '.schema' and len(rest) == 1:
            self._show_schema(rest[0].strip('";'))
        elif word == '.help':
            print(HELP)
        else:
            raise Failure(f'no command {_clean(line)!r}; .help lists the commands')
        return True

    def _read(self):
        """Return the next query or command; '' if it was discarded. EOFError at the end."""
        text = ''
        while True:
            line = input(CONTINUED if text else PROMPT)
            if not text and line.strip()[:1] == '.':
                return line.strip()
            text += line + '\n'
            if not text.strip():
                return ''
            if line.rstrip().endswith(';'):
                return text

    def _answer(self, text):
        """Run a query or a command. Return False to leave."""
        try:
            if text[:1] == '.':
                return self.run_command(text)
            self.queries.run(text)
        except (self.queries.error, sql.Error, Failure) as e:
            print(_clean(str(e)))
        return True

    def loop(self):
        while True:
            try:
                text = self._read()
                if text and not self._answer(text):
                    return
            except EOFError:
                print()
                return
            except KeyboardInterrupt:
                print()


# Command ----------------------------------------------------------------------------------------


def _parse(arguments):
    parser = argparse.ArgumentParser(prog='python -m gputap sql', usage=USAGE,
                                     description=DESCRIPTION,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('words', metavar='FILE', nargs='+',
                        help='captures, folders of captures, or a dataset NAME.parquet/')
    parser.add_argument('-f', '--file', metavar='FILE', help='read the queries from this file')
    parser.add_argument('-w', '--where', metavar='EXPR',
                        help='only records that match, as `gputap report --where`')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--csv', dest='form', action='store_const', const='csv',
                      help='print CSV with a line of column names')
    form.add_argument('--json', dest='form', action='store_const', const='json',
                      help='print an array of objects, one a line')
    options = parser.parse_intermixed_args(arguments)
    options.form = options.form or 'table'
    last = options.words[-1]
    options.query = None
    if len(options.words) > 1 and not os.path.exists(last) and (
            last in COMMANDS or any(c.isspace() for c in last)):
        options.query = options.words.pop()
    if options.query and options.file:
        parser.error('a query and --file exclude each other')
    return options


def _connect(options):
    """Return a connection to what the user named. Says on stderr what captures lack."""
    datasets = [path for path in options.words if sql.is_dataset(path)]
    if datasets and len(options.words) > 1:
        raise Failure('a dataset cannot be read together with other files: '
                      f'{", ".join(options.words)}')
    if datasets and options.where:
        raise Failure('--where needs captures; add conditions to the query instead')
    if datasets:
        return sql.connect(datasets[0])
    from gputap import capture
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter('always', capture.IncompleteWarning)
        opened = capture.open(options.words, options.where)
    for warning in caught:
        print(f'gputap: {_clean(str(warning.message))}', file=sys.stderr)
    return sql.connect(opened)


def _read_queries(options):
    """Return the text of the queries; None: they come from a prompt."""
    if options.query is not None:
        return options.query
    if options.file and options.file != '-':
        with open(options.file, encoding='utf-8') as file:
            return file.read()
    return None if sys.stdin.isatty() and not options.file else sys.stdin.read()


def _run_text(queries, text):
    """Run the queries and the commands of a text. A line that begins with a dot is a command,
    unless it continues a query."""
    prompt, pending = Prompt(queries), ''
    for line in text.splitlines(keepends=True):
        if line.lstrip()[:1] == '.' and pending.rstrip()[-1:] in ('', ';'):
            queries.run(pending)
            pending = ''
            if not prompt.run_command(line.strip()):
                return
        else:
            pending += line
    queries.run(pending)


def _run(options):
    text = _read_queries(options)
    queries = Queries(_connect(options), options.form)
    if text is not None:
        _run_text(queries, text)
        return
    prompt = Prompt(queries)
    print(f'{len(prompt.views)} views, .tables lists them; .help')
    with _line_editing([*prompt._names(), *COMMANDS]):
        prompt.loop()


def main(arguments):
    """Run the command and return its exit status: 0, 1 after an error, 2 after a wrong option."""
    try:
        options = _parse(arguments)
    except SystemExit as e:
        return e.code
    try:
        _run(options)
    except BrokenPipeError:
        raise
    except (Failure, ImportError, OSError, ValueError) as e:
        print(f'gputap: {_clean(str(e))}', file=sys.stderr)
        return 1
    except Exception as e:
        if type(e).__module__.split('.')[0] not in ('duckdb', '_duckdb'):
            raise
        print(f'gputap: {_clean(str(e))}', file=sys.stderr)
        return 1
    return 0
