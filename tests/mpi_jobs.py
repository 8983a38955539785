# SPDX-License-Identifier: MIT
"""Runs MPI jobs on this machine: finds the installed MPI libraries and their launchers, and builds
the programs of tests/mpi for each library."""
import os
import pathlib
import re
import shutil
import subprocess

from conftest import REPO

# name: (library, launcher, launcher options, compiler options)
KINDS = {
    "mpich": ("libmpich.so.12", "mpirun.mpich", [], []),
    "openmpi": ("libmpi.so.40", "mpirun.openmpi",
                ["--allow-run-as-root", "--oversubscribe", "--mca", "plm_rsh_agent", "true",
                 "--mca", "btl", "self,vader,tcp",
                 "--mca", "btl_vader_single_copy_mechanism", "none"], ["-DOPEN_MPI"]),
}


def library_of(kind):
    """Return the path of the MPI library, or None if the library or its launcher is not
    installed."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], stdout=subprocess.PIPE, text=True).stdout
    found = re.search(rf"^\s*{re.escape(KINDS[kind][0])} .*=> (\S+)", known, re.M)
    return found and shutil.which(KINDS[kind][1]) and found[1]


def build(kind, folder, source):
    """Build tests/mpi/@source.c as a program in @folder and return the program's path."""
    program = pathlib.Path(folder) / f"{source}.{kind}"
    library = library_of(kind)
    subprocess.run(["cc", "-O1", "-fPIC", *KINDS[kind][3], REPO / "tests/mpi" / f"{source}.c",
                    "-o", program, library, "-ldl", f"-Wl,-rpath,{os.path.dirname(library)}"],
                   check=True)
    return program


def launcher(kind, ranks):
    """Return the command prefix that starts @ranks processes."""
    return [KINDS[kind][1], *KINDS[kind][2], "-n", str(ranks)]
