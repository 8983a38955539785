# SPDX-License-Identifier: MIT
"""MPI jobs on this machine: the installed libraries, their launchers, and programs of tests/mpi
built for each."""
import os
import pathlib
import re
import shutil
import subprocess

from conftest import REPO

# name: library, launcher, words of it, define
KINDS = {
    "mpich": ("libmpich.so.12", "mpirun.mpich", [], []),
    "openmpi": ("libmpi.so.40", "mpirun.openmpi",
                ["--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", "true",
                 "--mca", "btl", "self,vader,tcp",
                 "--mca", "btl_vader_single_copy_mechanism", "none"], ["-DOPEN_MPI"]),
}


def library_of(kind):
    """Return its path, or None if it is not installed."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(rf"^\s*{re.escape(KINDS[kind][0])} .*=> (\S+)", known, re.M)
    return found and shutil.which(KINDS[kind][1]) and found[1]


def build(kind, folder, source):
    """Build tests/mpi/SOURCE.c as a program in @folder."""
    program = pathlib.Path(folder) / f"{source}.{kind}"
    library = library_of(kind)
    subprocess.run(["cc", "-O1", "-fPIC", *KINDS[kind][3], REPO / "tests/mpi" / f"{source}.c",
                    "-o", program, library, "-ldl", f"-Wl,-rpath,{os.path.dirname(library)}"],
                   check=True)
    return program


def launcher(kind, ranks):
    """Return the words that start that many processes."""
    return [KINDS[kind][1], *KINDS[kind][2], "-n", str(ranks)]
