# SPDX-License-Identifier: MIT
"""Build the device "refdev" with pip (PEP 517), like the bridge: from the headers of the installed
torch, and for no other minor version. GPUTAP_REFDEV names librefdev.so.1 if the library is neither
built in this checkout (build/soft/refdev) nor installed."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import build_bridge as bridge  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
NAME, LIBRARY = 'torch_refdev', 'librefdev.so.1'
SOURCES = ('device', 'memory', 'copies', 'operators', 'kernels')
FLAGS = tuple(f for f in bridge.FLAGS if f != '-shared')


def find_refdev():
    """Return the device's library and the folder of its header."""
    given = os.environ.get('GPUTAP_REFDEV')
    places = [given] if given else [
        os.path.join(folder, LIBRARY)
        for folder in (os.path.join(ROOT, 'build/soft/refdev'), '/usr/local/lib/gputap',
                       '/usr/lib/gputap')
    ]
    library = next((os.path.realpath(p) for p in places if os.path.isfile(p)), None)
    if not library:
        raise bridge.Wrong(f'gputap: no {LIBRARY} in {", ".join(places)}: build gputap first, or '
                           'name the library in GPUTAP_REFDEV')
    prefix = library.rsplit('/lib/', 1)[0]
    headers = (os.path.join(ROOT, 'soft/refdev'), os.path.join(prefix, 'include/gputap/refdev'))
    for folder in headers:
        if os.path.isfile(os.path.join(folder, 'refdev.h')):
            return library, folder
    raise bridge.Wrong(f'gputap: no refdev.h in {", ".join(headers)}: install gputap\'s headers')


def run(command):
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        raise bridge.Wrong('gputap: ' + ' '.join(command) + ':\n' + done.stdout)


def compile_backend(torch, output):
    library, headers = find_refdev()
    compiler = bridge.find_compiler()
    with tempfile.TemporaryDirectory() as folder:
        objects = [os.path.join(folder, f'{source}.o') for source in SOURCES]
        with ThreadPoolExecutor(2) as pool:
            list(
                pool.map(run, [[
                    *compiler, *FLAGS, f'-I{headers}', f'-I{torch}/include', '-c',
                    os.path.join(HERE, f'backend_{source}.cpp'), '-o', made
                ] for source, made in zip(SOURCES, objects)]))
        run([*compiler, '-shared', '-o', output, *objects, f'-L{torch}/lib', '-ltorch_cpu',
             '-lc10', library, f'-Wl,-rpath,{os.path.dirname(library)}'])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    folder = bridge.find_torch()
    _, numbers = bridge.torch_version(folder)
    with tempfile.TemporaryDirectory() as tree:
        package = os.path.join(tree, NAME)
        os.mkdir(package)
        with open(os.path.join(HERE, NAME, '__init__.py'), encoding='utf-8') as f:
            text = f.read().replace('BUILT_FOR = None', f'BUILT_FOR = {numbers[:2]!r}')
        with open(os.path.join(package, '__init__.py'), 'w', encoding='utf-8') as f:
            f.write(text)
        compile_backend(folder, os.path.join(package, '_backend.so'))
        return bridge.make_wheel(
            wheel_directory, tree, NAME, 'torch\'s device "refdev"',
            # torch calls this entry point at the end of `import torch`
            f'[torch.backends]\n{NAME} = {NAME}:load\n')


def build_sdist(sdist_directory, config_settings=None):
    raise bridge.Wrong('gputap: build the package from its folder: pip install ./torch/backend')


def get_requires_for_build_wheel(config_settings=None):
    return []
