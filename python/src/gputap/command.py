# SPDX-License-Identifier: MIT
"""Runs the gputap command, for answers that it prints: reports and comparisons."""
from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from html import escape
from typing import Any, Sequence, Tuple

from gputap.library import library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gputap.capture import Capture

DIFFERENT = 3  # exit status of `gputap diff --fail-over`


def find() -> str:
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


def run(*arguments: str, statuses: Sequence[int] = (0, 1)) -> str:
    """Run `gputap ARGUMENTS` and return what it printed. Status 1 means that a capture is damaged
    or incomplete; the command then prints everything that it could read."""
    done = subprocess.run([find(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, encoding='utf-8', errors='replace',
                          env={**os.environ, 'COLUMNS': '100', 'NO_COLOR': '1'})
    if done.returncode not in statuses or (done.returncode and not done.stdout):
        said = ' '.join(done.stderr.split())  # which is wrapped for a terminal
        raise RuntimeError(said or f'gputap {arguments[0]}: exit status {done.returncode}')
    return done.stdout


class Text:
    """Text as the command prints it; a notebook shows it in a fixed-width font."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text.rstrip('\n')

    def _repr_html_(self) -> str:
        return f'<pre style="line-height: 1.2">{escape(self.text)}</pre>'


class Comparison(Text):
    """Result of Capture.compare(): `text` as `gputap diff` prints it, `data` as its --json."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(run('diff', *arguments, statuses=(0, 1, DIFFERENT)))
        self._arguments = arguments

    @functools.cached_property
    def data(self) -> Any:
        return json.loads(run('diff', '--json', *self._arguments, statuses=(0, 1, DIFFERENT)))


def files_of(capture: Capture) -> Tuple[str, ...]:
    """Return the paths as arguments of the command, which takes no path for an option."""
    return tuple(os.path.join('.', path) if path.startswith('-') else path
                 for path in capture.paths)


def compare(baseline: Capture, candidate: Capture, options: Sequence[str]) -> Comparison:
    """Return what `gputap diff` finds. Two parts of one run are compared as such."""
    wheres: Tuple[str, ...] = ()
    for option, capture in (('--baseline', baseline), ('--candidate', candidate)):
        if capture.expression:
            wheres += (option, capture.expression)
    files = [*files_of(baseline)]
    if baseline.paths != candidate.paths or len(wheres) != 4:
        files += ['--vs', *files_of(candidate)]
    return Comparison([*options, *wheres, *files])
