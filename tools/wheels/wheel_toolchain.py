# SPDX-License-Identifier: MIT
"""The compiler of wheels, PyPI's ziglang: clang with the C library's symbols of wheel_pins.GLIBC,
for both processors. And Meson's description of it."""
import concurrent.futures
import os
import shlex
import sys

import wheel_pins
from wheel_sources import Wrong, need, run

# Answers two questions of Meson, of which older versions do not know zig: the compiler's macros
# (zig takes standard input for C only if told) and the linker.
WRAPPER = """#!/bin/sh
case "$*" in
*"-E -dM -") set -- -x c "$@" ;;
*"-Wl,--version "*) echo "LLD (compatible with GNU linkers)"; exit ;;
esac
exec {command} "$@"
"""
CROSS_FILE = """[binaries]
c = '{cc}'
ar = {ar}
nm = '{nm}'
objcopy = '{objcopy}'
strip = '{strip}'
pkgconfig = 'pkg-config'

[properties]
pkg_config_libdir = '{libraries}/lib/pkgconfig'
needs_exe_wrapper = true

[built-in options]
c_args = {c_args}
c_link_args = {link_args}

[host_machine]
system = 'linux'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
"""


def find_llvm(name):
    """Return LLVM's tool @name, which handles objects of all processors."""
    for suffix in ("", *(f"-{n}" for n in range(25, 10, -1))):
        for folder in os.environ.get("PATH", "").split(":"):
            if os.access(os.path.join(folder, name + suffix), os.X_OK):
                return os.path.join(folder, name + suffix)
    raise Wrong(f"no program {name}: apt-get install llvm")


class Toolchain:
    """Compiles for one processor. @folder: of all things that wheels need."""

    def __init__(self, folder, tree, machine):
        self.folder, self.machine = folder, machine
        zig = folder / f"zig-{wheel_pins.ZIG}"
        python = zig / "bin/python"
        if not (zig / "complete").exists():
            run([sys.executable, "-m", "venv", "--clear", zig])
            run([python, "-m", "pip", "install", "-q", f"ziglang=={wheel_pins.ZIG}"])
            (zig / "complete").touch()
        package = run([python, "-c", "import ziglang; print(ziglang.__path__[0])"]).strip()
        self.zig = f"{package}/zig"
        self.cc = [self.zig, "cc", "-target", f"{machine}-linux-gnu.{wheel_pins.GLIBC}"]
        self.ar = [self.zig, "ar"]
        # no path of this machine in __FILE__
        self.flags = ["-g0", f"-ffile-prefix-map={folder}=.", f"-ffile-prefix-map={tree}=."]
        self.environment = {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig-cache"),
                            "ZIG_LOCAL_CACHE_DIR": str(folder / "zig-cache")}

    def write_cross_file(self, path, libraries):
        headers = ["-isystem", str(self.folder / "headers/include"),
                   "-isystem", f"{libraries}/include"]
        wrapper = path.with_name("zig-cc")
        wrapper.write_text(WRAPPER.format(command=shlex.join(self.cc)))
        wrapper.chmod(0o755)
        path.write_text(CROSS_FILE.format(
            cc=wrapper, ar=self.ar, nm=find_llvm("llvm-nm"), objcopy=find_llvm("llvm-objcopy"),
            strip=find_llvm("llvm-strip"), libraries=libraries, machine=self.machine,
            c_args=self.flags + headers, link_args=["-s", "-Wl,--build-id=sha1"]))

    def compile(self, sources, out, flags):
        """Compile @sources (C or assembly) to objects in @out, in parallel. Return the objects."""
        out.mkdir(parents=True, exist_ok=True)

        def compile_one(numbered):
            number, source = numbered
            target = out / f"{number}_{source.stem}.o"
            if source.suffix == ".asm":
                command = [need("nasm", "nasm"), "-f", "elf64",
                           *(f for f in flags if f[:2] in ("-I", "-D")), source, "-o", target]
            else:
                assembly = ["-D__ASSEMBLY__"] if source.suffix == ".S" else []
                command = [*self.cc, *self.flags, *flags, *assembly, "-c", source, "-o", target]
            run(command, env=self.environment)
            return target

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            return list(pool.map(compile_one, enumerate(sources)))

    def archive(self, objects, library):
        library.parent.mkdir(parents=True, exist_ok=True)
        library.unlink(missing_ok=True)
        run([*self.ar, "rcsD", library, *objects], env=self.environment)
