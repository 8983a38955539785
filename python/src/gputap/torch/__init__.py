# SPDX-License-Identifier: MIT
"""gputap and PyTorch.

    import gputap.torch                       # before the first call of OpenCL or HIP
    with gputap.torch.profile() as prof: ...  # torch.profiler.profile, with device time
    print(prof.key_averages().table())

torch.profiler then shows the calls and GPU activities of every runtime that gputap supports, and of
vendors' plug-ins (KINETO_PLUGIN_PATH). Operators under `gputap run` need no import: torch itself
loads their observer (entry point torch.backends)."""
import atexit
import ctypes
import functools
import os

import torch

if not hasattr(torch, '__version__'):  # Python found only a folder with this name
    raise ModuleNotFoundError(
        f'torch is not installed: Python found only the folder {list(torch.__path__)[0]}',
        name='torch')
from torch import profiler as _profiler  # noqa: E402

from gputap import _shim, annotate  # noqa: E402
from gputap.library import find_folders  # noqa: E402

__all__ = ['profile', 'counts', 'plugins']
_plugins = None  # libgputap-plugin
_open_profile = None  # open profile() or None


def _folders():
    """Return the folders that may contain gputap's libraries."""
    if os.environ.get('GPUTAP_LIBRARIES'):
        return os.environ['GPUTAP_LIBRARIES'].split(':')
    return find_folders()


def _open(name):
    """Return gputap's library with this name: the one that `gputap run` has loaded, or from one of
    the folders, or as the dynamic linker finds it, else None."""
    modes = {name: os.RTLD_GLOBAL | os.RTLD_NOLOAD,
             **{os.path.join(folder, name): os.RTLD_GLOBAL for folder in _folders()}}
    for path, mode in [*modes.items(), (name, os.RTLD_GLOBAL)]:
        try:
            return ctypes.CDLL(path, mode=mode)
        except OSError:
            continue
    return None


def _register():
    bridge = _shim.load('bridge')
    if not bridge:
        return None
    tool, plugins = _open('libgputap.so.0'), _open('libgputap-plugin.so.0')
    if not tool and not plugins:
        _shim.say('cannot find libgputap.so.0 or libgputap-plugin.so.0: name their folder in '
                  'GPUTAP_LIBRARIES')
        return None
    global _plugins
    _plugins = plugins
    handle = lambda library: ctypes.c_void_p(library._handle if library else None)  # noqa: E731
    bridge.gputap_bridge_count.restype = ctypes.c_int64
    bridge.gputap_bridge_register(handle(tool), handle(plugins))
    return bridge


def _end_open_profile():
    """End an open profile at exit, because torch crashes if exit() is called inside a profile."""
    if torch._C._autograd._profiler_enabled():
        torch._C._autograd._disable_profiler()


def _takes_cuda():
    return os.environ.get('GPUTAP_TORCH_CUDA', '') not in ('', '0')


_bridge = _register()
if _bridge:
    _bridge.gputap_bridge_take_cuda(int(_takes_cuda()))
atexit.register(_end_open_profile)


def counts():
    """Return counts of records in the last profile: kept, outside (of the profile's window),
    unlinked (activities without an operator), lost, unfinished (activities that had not completed
    at the profile's end), unshown (counter samples, which torch 2.11 cannot write)."""
    return {
        what: _bridge.gputap_bridge_count(what.encode()) if _bridge else 0
        for what in ('kept', 'outside', 'unlinked', 'lost', 'unfinished', 'unshown',
                     'plugins')
    }


def plugins():
    """Return vendors' plug-ins, each with its name, its file, its first failure in the last profile
    (or None), and the number of faults of each kind in its records."""
    class Plugin(ctypes.Structure):
        _fields_ = [('size', ctypes.c_size_t)] + [(f, ctypes.c_char_p)
                                                  for f in ('path', 'name', 'vendor', 'version')]

    found = []
    for i in range(counts()['plugins']):
        about, names = Plugin(ctypes.sizeof(Plugin)), _plugins.gputap_plugins_count_name
        names.restype, _plugins.gputap_plugins_error.restype = ctypes.c_char_p, ctypes.c_char_p
        _plugins.gputap_plugins_count.restype = ctypes.c_uint64
        _plugins.gputap_plugins_at(i, ctypes.byref(about))
        error, what, wrong = _plugins.gputap_plugins_error(i), 1, {}
        while names(what):
            count = _plugins.gputap_plugins_count(i, what)
            if count:
                wrong[names(what).decode()] = count
            what += 1
        found.append({
            'name': about.name.decode(), 'path': os.fsdecode(about.path),
            'error': error and error.decode(), 'wrong': wrong
        })
    return found


# Profiles with GPU activities ------------------------------------------------------------

_KINDS = {'CONCURRENT_KERNEL': 1, 'GPU_MEMCPY': 2, 'GPU_MEMSET': 4}
_ALL_KINDS = 7


def _device_kinds(activities, cuda):
    """Return bits for the kinds of GPU activity that @activities requests: all kinds by default, no
    kind for CPU alone. torch drops requests for devices that it does not know, so the bridge cannot
    see them. `cuda`: true if CUDA's activities are requested although @activities does not contain
    CUDA's type."""
    if activities is None:
        return _ALL_KINDS
    kinds = 0
    for item in activities:
        pairs = item.items() if isinstance(item, dict) else [(item, None)]
        for activity, names in pairs:
            if activity != _profiler.ProfilerActivity.CPU:
                kinds |= (_ALL_KINDS if names is None else sum(_KINDS.get(n, 0)
                                                               for n in set(names)))
    return kinds or (_ALL_KINDS if cuda else 0)


def _follow_profiles(base):
    """Make profiles of torch's own class also pass on the GPU activities that they request to the
    bridge."""
    init, prepare = base.__init__, base.prepare_trace

    @functools.wraps(init)
    def note_activities(self, *args, activities=None, **keywords):
        activities = None if activities is None else list(activities)
        self._gputap_kinds = _device_kinds(activities, _takes_cuda())
        init(self, *args, activities=activities, **keywords)

    @functools.wraps(prepare)
    def prepare_trace(self):
        _bridge.gputap_bridge_want_devices(getattr(self, '_gputap_kinds', -1))
        prepare(self)

    base.__init__, base.prepare_trace = note_activities, prepare_trace


if _bridge and hasattr(_profiler, '_KinetoProfile'):
    _follow_profiles(_profiler._KinetoProfile)


def _without_cuda(activities):
    """Return the activities without CUDA, which Kineto records with CUPTI only on request."""
    return [a for a in activities if a != _profiler.ProfilerActivity.CUDA]


class profile(_profiler.profile):
    """torch.profiler.profile that counts device time of backends that torch does not know. `waits`:
    include the waiting times of streams on plug-in devices, as torch does for CUDA if
    enable_cuda_sync_events is set; these times add to the device's total.
    `cuda`: take CUDA calls and activities from gputap instead of Kineto, which works only under
    `gputap run`. None: use GPUTAP_TORCH_CUDA, which also applies to torch's own profile."""

    def __init__(self, *args, activities=None, waits=False, cuda=None, **keywords):
        self._waits = waits
        self._cuda = _takes_cuda() if cuda is None else cuda
        activities = None if activities is None else list(activities)
        kinds = _device_kinds(activities, self._cuda)
        if self._cuda:
            activities = _without_cuda(activities or []) or None
            if not annotate.library:
                _shim.say('no CUDA in this profile: CUDA needs gputap run')
        if activities is None:
            activities = [_profiler.ProfilerActivity.CPU]
        super().__init__(*args, activities=activities, **keywords)
        self._gputap_kinds = kinds

    def prepare_trace(self):
        global _open_profile
        if _open_profile is not None or torch._C._autograd._profiler_enabled():
            raise RuntimeError('another profile is open: end that profile first, because torch '
                               'crashes if two profiles are open, nested or in two threads')
        _open_profile = self
        if _bridge:
            _bridge.gputap_bridge_show_waits(int(self._waits))
            _bridge.gputap_bridge_take_cuda(int(self._cuda))
        try:
            super().prepare_trace()
        except BaseException:
            _open_profile = None
            raise

    def stop_trace(self):
        global _open_profile
        try:
            super().stop_trace()
        finally:
            _open_profile = None
            if _bridge:
                _bridge.gputap_bridge_take_cuda(int(_takes_cuda()))
        # any value but None makes torch sum device times; must be set before torch reads events
        if self.profiler and self.profiler.use_device is None:
            self.profiler.use_device = 'device'
