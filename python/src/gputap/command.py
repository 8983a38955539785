# SPDX-License-Identifier: MIT
"""Runs the gputap command, for answers that it prints: reports and comparisons."""
import json
import os
import shutil
import subprocess
from html import escape

from gputap.library import library


def find():
    """Return the path of the gputap command: the one that belongs to the library, or in PATH."""
    folder = os.path.dirname(os.path.abspath(library._name)) if '/' in library._name else ''
    for candidate in ('gputap', '../bin/gputap', '../../bin/gputap'):
        path = os.path.normpath(os.path.join(folder, candidate))
        if folder and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    found = shutil.which('gputap')
    if not found:
        raise FileNotFoundError('gputap: no command `gputap` in PATH: install gputap')
    return found


def run(*arguments, statuses=(0, 1)):
    """Run `gputap ARGUMENTS` and return what it printed. Status 1 means that a capture is damaged
    or incomplete; the command then prints everything that it could read."""
    done = subprocess.run([find(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, text=True, errors='replace',
                          env={**os.environ, 'COLUMNS': '100', 'NO_COLOR': '1'})
    if done.returncode not in statuses or (done.returncode and not done.stdout):
        raise RuntimeError(done.stderr.strip() or f'gputap {arguments[0]}: exit status '
                           f'{done.returncode}')
    return done.stdout


class Text:
    """Text as the command prints it; a notebook shows it in a fixed-width font."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text.rstrip('\n')

    def _repr_html_(self):
        return f'<pre style="line-height: 1.2">{escape(self.text)}</pre>'


class Comparison(Text):
    """Result of Capture.compare(): `text` as `gputap diff` prints it, `data` as its --json."""

    def __init__(self, text, data):
        super().__init__(text)
        self.data = data


def compare(baseline, candidate, options):
    files = [*baseline.paths, '--vs', *candidate.paths]
    for option, capture in (('--baseline', baseline), ('--candidate', candidate)):
        if capture.expression:
            options = (*options, option, capture.expression)
    statuses = (0, 1, 3)
    return Comparison(run('diff', *options, *files, statuses=statuses),
                      json.loads(run('diff', '--json', *options, *files, statuses=statuses)))
