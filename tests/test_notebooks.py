# SPDX-License-Identifier: MIT
"""Execute the notebooks of docs/ and check that they find what they promise. With GPUTAP_GOLDEN=1,
the test stores the outputs in the notebook."""
import os
import re
import sys

import pytest

from python_tables import ENVIRONMENT

# in another process, because the client of the kernel leaves descriptors open
EXECUTE = """\
import nbclient, nbformat, sys
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=300).execute()
nbformat.write(notebook, 'executed.ipynb')
"""
NOTEBOOK = "docs/tutorials/slow-step.ipynb"


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def text_of(cell):
    """Return what a cell printed or returned, as text."""
    return "".join(output.get("text", "") or output.get("data", {}).get("text/plain", "")
                   for output in cell.outputs)


def as_stored(notebook):
    """Return the notebook with its outputs as text only, and without what differs between runs of
    the same cells."""
    import nbformat  # takes a second, which the collection of tests need not take

    stored = nbformat.from_dict(notebook)
    stored.metadata = {"kernelspec": notebook.metadata["kernelspec"],
                       "language_info": {"name": "python"}}
    for cell in code_cells(stored):
        cell.metadata, cell.execution_count = {}, None
        cell.outputs = [nbformat.v4.new_output(
            "display_data", {"text/plain": text_of(cell)})] if text_of(cell) else []
    return stored


@pytest.fixture
def notebook(repo):
    import nbformat

    return nbformat.read(repo / NOTEBOOK, as_version=4)


@pytest.fixture
def executed(run, repo, build, gputap, work):
    """Execute the notebook in a folder that looks like a source tree with a build. Return the
    outputs of its cells."""
    import nbformat

    if not (build / "examples/steps").exists():
        pytest.skip("needs the examples, which are built where OpenCL's loader is")
    (work / "bin").mkdir()
    (work / "bin/gputap").symlink_to(gputap)
    (work / "build").symlink_to(build)
    folders = {name: work / name.lower()
               for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR")}
    run([sys.executable, "-c", EXECUTE, repo / NOTEBOOK],
        env={**ENVIRONMENT, **folders, "PATH": f"{work}/bin:{os.environ['PATH']}"})
    notebook = nbformat.read("executed.ipynb", as_version=4)
    if os.environ.get("GPUTAP_GOLDEN"):  # review the difference before committing
        nbformat.write(as_stored(notebook), repo / NOTEBOOK)
    return [text_of(cell) for cell in code_cells(notebook)]


def test_the_notebook_finds_the_slow_step_and_its_cause(executed):
    recorded, summary, ranges, steps, parts, idle, comparison = executed
    assert re.search(r"^Idle .* sleeping: load", summary, re.M), summary
    assert "duration_ns" in ranges and recorded.count("loss") == 1
    times = {int(number): float(ms) for number, ms in re.findall(
        r"^\d+ +(\d+) +([\d.]+)$", steps, re.M)}
    assert len(times) == 10 and times[7] > 30
    [load] = re.findall(r"^\d +load +([\d.]+) +([\d.]+)$", parts, re.M)
    assert float(load[0]) > 30 > float(load[1]), parts
    [waited] = re.findall(r"^host_sleeping +load +([\d.]+)$", idle, re.M)
    assert float(waited) > 25, idle
    assert re.search(r"^ +\+[23]\d(\.\d)? ms .* load$", comparison, re.M), comparison


def test_the_stored_outputs_are_those_of_the_cells_and_name_no_machine(notebook):
    cells = code_cells(notebook)
    assert [bool(text_of(cell)) for cell in cells] == [True] * 7
    text = "\n".join(map(text_of, cells))
    assert "Error" not in text and not re.search(r"(^|\s)/(?!examples)\w+/\w+", text), text
    assert max(map(len, text.splitlines())) <= 100


def test_links_of_the_notebook_exist(repo, notebook):
    links = [target for cell in notebook.cells if cell.cell_type == "markdown"
             for target in re.findall(r"\]\(([^)#]+)\)", cell.source)]
    assert len(links) > 5
    for link in links:
        assert (repo / NOTEBOOK).parent.joinpath(link).exists(), link
