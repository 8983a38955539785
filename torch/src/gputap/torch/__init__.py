# SPDX-License-Identifier: MIT
"""gputap and PyTorch.

    import gputap.torch                       # before the first call of OpenCL or HIP
    with gputap.torch.profile() as prof: ..   # torch.profiler.profile, with device time
    print(prof.key_averages().table())

torch.profiler then shows the calls and the device work of every runtime that gputap knows, and of
vendors' plug-ins (KINETO_PLUGIN_PATH). For operators under `gputap run` nothing must be imported:
torch loads their observer itself (entry point torch.backends)."""
import atexit
import ctypes
import os
import shutil

import torch
from torch import profiler as _profiler

from gputap import _shim

__all__ = ['profile', 'counts']


def _open(name):
    """gputap's library of that name, beside its command or where the linker finds it; else
    None."""
    folders = []
    command = shutil.which('gputap')
    if os.environ.get('GPUTAP_LIBRARIES'):
        folders = os.environ['GPUTAP_LIBRARIES'].split(':')
    elif command:
        beside = os.path.dirname(os.path.realpath(command))
        folders = [beside, os.path.join(beside, 'src', 'plugin'), os.path.join(beside, '..', 'lib'),
                   os.path.join(beside, '..', 'lib', 'x86_64-linux-gnu'),
                   os.path.join(beside, '..', 'lib64')]
    for path in [os.path.join(folder, name) for folder in folders] + [name]:
        try:
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:
            continue
    return None


def _register():
    bridge = _shim.load('bridge')
    if not bridge:
        return None
    tool, plugins = _open('libgputap.so.0'), _open('libgputap-plugin.so.0')
    if not tool and not plugins:
        _shim.say('neither libgputap.so.0 nor libgputap-plugin.so.0 is found: name their folder in '
                  'GPUTAP_LIBRARIES')
        return None
    handle = lambda library: ctypes.c_void_p(library._handle if library else None)  # noqa: E731
    bridge.gputap_bridge_count.restype = ctypes.c_int64
    bridge.gputap_bridge_register(handle(tool), handle(plugins))
    return bridge


def _end_open_profile():
    """torch itself crashes at exit() inside of a profile."""
    if torch._C._autograd._profiler_enabled():
        torch._C._autograd._disable_profiler()


_bridge = _register()
atexit.register(_end_open_profile)


def counts():
    """What became of the last profile's records: kept, outside (of its window), unlinked (work
    with no operator), lost."""
    return {
        what: _bridge.gputap_bridge_count(what.encode()) if _bridge else 0
        for what in ('kept', 'outside', 'unlinked', 'lost', 'plugins')
    }


class profile(_profiler.profile):
    """torch.profiler.profile that counts device time of backends that torch does not know."""

    def __init__(self, *args, activities=None, **keywords):
        super().__init__(*args, activities=activities or [_profiler.ProfilerActivity.CPU],
                         **keywords)

    def stop_trace(self):
        super().stop_trace()
        # any word but None makes torch add up what it has; before its first look at events
        if self.profiler and self.profiler.use_device is None:
            self.profiler.use_device = 'device'
