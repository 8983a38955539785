# SPDX-License-Identifier: MIT
"""torch's device "refdev", gputap's software accelerator. `import torch` loads the device (entry
point torch.backends); `torch.refdev` is its module."""
import ctypes
import os
import sys
import types

BUILT_FOR = None


def _loaded_version():
    """Return the loaded torch's (major, minor), which its C function gives, or None if the version
    is unknown."""
    try:
        read_version = ctypes.CDLL('libtorch_cpu.so', mode=os.RTLD_NOLOAD).aoti_torch_abi_version
    except (OSError, AttributeError):
        return None
    read_version.restype = ctypes.c_uint64
    number = read_version()
    return number >> 56 & 0xff, number >> 48 & 0xff


def _is_right_version():
    """Check the version before any C++ function is used. Print one line if the version is wrong."""
    version = _loaded_version()
    if version is None or version != BUILT_FOR:
        print('torch_refdev: built for torch %s, but this torch is %s: '
              'pip install --force-reinstall ./torch/backend' %
              ('%d.%d' % BUILT_FOR if BUILT_FOR else 'none',
               '%d.%d' % version if version else 'of an unknown version'), file=sys.stderr)
        return False
    return True


def _open_library():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), '_backend.so')
    library = ctypes.CDLL(path)
    library.refdev_torch_seed.argtypes = [ctypes.c_int, ctypes.c_uint64]
    library.refdev_torch_first_seed.restype = ctypes.c_uint64
    library.refdev_torch_get_state.restype = ctypes.c_size_t
    for function in (library.refdev_torch_get_state, library.refdev_torch_set_state):
        function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t]
    return library


def _add_random(m, torch, library, index):
    def get_rng_state(device=None):
        size = library.refdev_torch_get_state(index(device), None, 0)
        state = torch.empty(size, dtype=torch.uint8, device='cpu')
        library.refdev_torch_get_state(index(device), state.data_ptr(), size)
        return state

    def set_rng_state(state, device=None):
        state = state.cpu().contiguous()
        if library.refdev_torch_set_state(index(device), state.data_ptr(), state.numel()):
            raise RuntimeError('refdev: not the state of a random generator')

    def manual_seed(seed):
        library.refdev_torch_seed(index(None), seed % 2**64)

    def manual_seed_all(seed):
        for device in range(m.device_count()):
            library.refdev_torch_seed(device, seed % 2**64)

    m.initial_seed = lambda: library.refdev_torch_first_seed(index(None))
    m.get_rng_state, m.set_rng_state = get_rng_state, set_rng_state
    m.manual_seed, m.manual_seed_all = manual_seed, manual_seed_all


def _make_module(torch, library):
    """Create torch.refdev, with the functions that programs and torch itself expect from a device
    module."""
    accelerator = torch.accelerator
    m = types.ModuleType('torch.refdev')

    def index(device):
        if device is None:
            return accelerator.current_device_index()
        number = device if isinstance(device, int) else torch.device(device).index
        return accelerator.current_device_index() if number is None else number

    m.device_count = library.refdev_torch_device_count
    m.is_available = m.is_initialized = lambda: m.device_count() > 0
    m.current_device = accelerator.current_device_index
    m.set_device = lambda device: accelerator.set_device_index(index(device))
    m.device = lambda device: accelerator.device_index(index(device))
    m.synchronize = lambda device=None: accelerator.synchronize(index(device))
    m.current_stream = lambda device=None: accelerator.current_stream(index(device))
    m.set_stream = accelerator.set_stream
    m.stream = lambda stream: stream  # torch.Stream is a context manager
    m.Stream = lambda device=None, **options: torch.Stream(f'refdev:{index(device)}', **options)
    m.Event = lambda **options: torch.Event('refdev', **options)
    for name in ('memory_allocated', 'max_memory_allocated', 'memory_reserved',
                 'max_memory_reserved', 'memory_stats', 'reset_peak_memory_stats', 'empty_cache'):
        setattr(m, name, getattr(accelerator, name))
    m._is_in_bad_fork = lambda: bool(library.refdev_torch_is_forked())
    m._lazy_init = lambda: None
    _add_random(m, torch, library, index)
    return m


def load():
    """Load the device. torch calls this at the end of `import torch`."""
    import torch
    if not _is_right_version():
        return
    library = _open_library()
    torch.utils.rename_privateuse1_backend('refdev')
    torch._register_device_module('refdev', _make_module(torch, library))
    torch.utils.generate_methods_for_privateuse1_backend(for_storage=True)
