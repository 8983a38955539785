# SPDX-License-Identifier: MIT
"""Record torch's modules as ranges: "nn.Module: Linear_0", the name that torch.profiler gives
them.

torch calls back for modules only in Python, before and after each forward(). A module costs some
microseconds, so modules are recorded only on request."""
import collections
import itertools
import weakref

from gputap import annotate
from torch.nn.modules import module as _module

_names = weakref.WeakKeyDictionary()
_numbers = collections.defaultdict(itertools.count)  # next number for a module of each class


def _begin(module, inputs):
    name = _names.get(module)
    if name is None:
        kind = type(module).__name__
        name = _names[module] = f'nn.Module: {kind}_{next(_numbers[kind])}'.encode()
    annotate.begin(name, id(module))


def _end(module, inputs, output):
    annotate.end(id(module))


def observe():
    _module.register_module_forward_pre_hook(_begin)
    _module.register_module_forward_hook(_end, always_call=True)
