# SPDX-License-Identifier: MIT
"""gputap for Python.

In a program that `gputap run` traces, annotate parts of it:

    with gputap.range('step'): ...
    @gputap.range('load')
    def load(): ...
    gputap.pause(), gputap.resume()

Without `gputap run`, a range costs one check and does nothing.

Anywhere, read captures as tables, without a copy in pyarrow, polars and DuckDB:

    t = gputap.open('job/*.gputap')
    t.activities.to_pandas()
    t.where('range=step#7').summary()
    t.sql('select name, sum(duration_ns) from activities group by name')
"""
from __future__ import annotations

from gputap.annotate import pause, range, resume

TYPE_CHECKING = False  # as in typing, which traced programs need not import
if TYPE_CHECKING:
    from gputap.capture import Capture, Column, Error, Health, IncompleteWarning, Table, open

__version__ = '0.1.0'
__all__ = ['Capture', 'Column', 'Error', 'Health', 'IncompleteWarning', 'Table', 'open', 'pause',
           'range', 'resume']

_READING = ('Capture', 'Column', 'Error', 'Health', 'IncompleteWarning', 'Table', 'open')


def _check_python() -> None:
    """Programs on any Python can be annotated, but only newer ones read captures."""
    import sys
    if sys.version_info < (3, 9):
        raise ImportError('gputap: reading captures needs Python 3.9 or later, and this is '
                          f'Python {sys.version_info[0]}.{sys.version_info[1]}')


def __getattr__(name: str) -> object:
    """Load the part that reads captures when it is first used: traced programs do not need it."""
    if name in _READING:
        _check_python()
        from gputap import capture
        globals().update({each: getattr(capture, each) for each in _READING})
        return globals()[name]
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
