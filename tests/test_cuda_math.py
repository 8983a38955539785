# SPDX-License-Identifier: MIT
"""Test NCCL, cuBLAS, cuBLASLt and cuDNN, which are recorded on request: with stand-ins, and with
the real libraries where they are installed."""
import csv
import io
import os
import pathlib
import subprocess

import pytest

FILES = {"nccl": "libnccl.so.2", "cublas": "libcublas.so.12", "cublaslt": "libcublasLt.so.12",
         "cudnn": "libcudnn.so.9"}
# folder that contains some of these libraries, or links to them
REAL = os.environ.get("GPUTAP_CUDA_MATH")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, repo):
    path = tmp_path_factory.mktemp("math")
    common = ["cc", "-O1", "-Wall", "-Wextra", "-Werror"]
    for name, file in FILES.items():
        subprocess.run([*common, "-shared", "-fPIC", f"-D{name.upper()}", "-o", path / file,
                        repo / "tests/cuda/math_stand_in.c"], check=True)
    subprocess.run([*common, "-Wno-unused-variable", "-o", path / "program",
                    repo / "tests/cuda/math_program.c", "-ldl"], check=True)
    return path


@pytest.fixture
def trace(tap, folder, work):
    """Return a function: trace("nccl") runs the program on NCCL's stand-in and returns the
    program's output and the recorded calls."""
    def run(*names, domains=None, libraries=None):
        chosen = [] if domains is None else ["-d", domains]
        result = tap("run", "-f", *chosen, "-o", "a.gputap", "--", folder / "program",
                     *(libraries or [folder / FILES[name] for name in names]))
        tap("export", "-f", "a.gputap", "-o", "a.csv")
        found = csv.DictReader(io.StringIO((work / "a.csv").read_text()))
        return result.out, [r for r in found if r["kind"] == "call"]
    return run


def test_nothing_of_them_is_recorded_unless_it_is_asked_for(trace):
    out, rows = trace(*FILES)
    assert "cublasSgemm_v2 0" in out and "ncclAllReduce 0" in out and not rows


def test_nccls_collectives_have_count_type_and_communicator(trace):
    out, rows = trace("nccl", domains="nccl")
    assert [line.split()[1] for line in out.splitlines()] == ["0", "0", "0", "0"]
    found = {r["operation"]: r["arguments"] for r in rows}
    # calls that the library makes itself do not count as calls of the program
    assert list(found) == ["ncclGetVersion", "ncclGetUniqueId", "ncclCommInitRank",
                           "ncclAllReduce"]
    assert "version=22700" in found["ncclGetVersion"]
    assert "comm=0x1000" in found["ncclCommInitRank"] and "nranks=1" in found["ncclCommInitRank"]
    for text in "count=1000", "datatype=ncclFloat32", "op=ncclSum", "comm=0x1000":
        assert text in found["ncclAllReduce"]


def test_cublas_has_sizes_and_statuses(trace):
    out, rows = trace("cublas", domains="cublas")
    found = {r["operation"]: r for r in rows}
    assert set(found) == {"cublasCreate_v2", "cublasSgemm_v2", "cublasDaxpy_v2_64"}
    for text in "transb=CUBLAS_OP_T", "m=4, n=3, k=2", "ldc=4", "handle=0x2000":
        assert text in found["cublasSgemm_v2"]["arguments"]
    assert "n=1099511627776" in found["cublasDaxpy_v2_64"]["arguments"]
    assert "incy=-1" in found["cublasDaxpy_v2_64"]["arguments"]
    assert found["cublasSgemm_v2"]["status"] == "0"


def test_cudnn_and_cublaslt_are_domains_of_their_own(trace):
    out, rows = trace("cublaslt", "cudnn", domains="cudnn,cublaslt")
    found = {(r["domain"], r["operation"]): r for r in rows}
    assert set(found) == {
        ("cublaslt", "cublasLtGetVersion"), ("cublaslt", "cublasLtCreate"),
        ("cudnn", "cudnnGetVersion"), ("cudnn", "cudnnCreate"), ("cudnn", "cudnnBackendExecute"),
        ("cudnn", "cudnnSetActivationDescriptor")}
    assert found["cudnn", "cudnnCreate"]["error"] == "CUDNN_STATUS_NOT_INITIALIZED"
    assert found["cudnn", "cudnnBackendExecute"]["error"] == "CUDNN_STATUS_BAD_PARAM"
    assert "coef=1.5" in found["cudnn", "cudnnSetActivationDescriptor"]["arguments"]
    assert "cudnnSetActivationDescriptor 0" in out


def test_reports_have_calls_by_function(trace, tap):
    trace("nccl", domains="nccl")
    out = tap("report", "--csv", "-t", "operations", "a.gputap").out
    assert {r["name"]: r["calls"] for r in csv.DictReader(io.StringIO(out))} == {
        "ncclGetVersion": "1", "ncclGetUniqueId": "1", "ncclCommInitRank": "1",
        "ncclAllReduce": "1"}


@pytest.mark.skipif(not REAL, reason="needs NVIDIA's libraries, in a folder that"
                    " GPUTAP_CUDA_MATH names")
@pytest.mark.parametrize("name", FILES)
def test_nvidias_libraries_are_recorded_without_a_gpu(trace, name):
    library = pathlib.Path(REAL) / FILES[name]
    if not library.exists():
        pytest.skip(f"needs NVIDIA's libraries: {FILES[name]} is not there")
    out, rows = trace(domains=name, libraries=[library])
    called = [line.split()[0] for line in out.splitlines()]
    recorded = [r["operation"] for r in rows if r["domain"] == name and r["depth"] == "0"]
    others = "cublasLt" if name == "cublas" else "-"
    assert recorded and recorded == [c for c in called if c.lower().startswith(name)
                                     and not c.startswith(others)]
