# SPDX-License-Identifier: MIT
"""Hooks for mkdocs.yml: pages and links of the site that `make docs` builds.

Documents link to each other as GitHub shows them, also to files outside docs/. The site has pages
for these files: README.md is the front page, other documents keep their text, manual pages are
converted with mandoc, a notebook becomes a page with its code and its stored outputs, a source file
becomes a listing, and a folder becomes a list of its files. A link to any other target stays
unchanged, and `mkdocs build --strict` fails."""
import json
import pathlib
import posixpath
import re
import shutil
import subprocess

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^(```\w+) (\S+)$", re.M)
HIDDEN = "---\nsearch:\n  exclude: true\n---\n"
LANGUAGES = {".c": "c", ".h": "c", ".hip": "cpp", ".py": "python", ".sh": "sh"}




def page_of(name):
    """Return the page for the file @name of the repository, as a path below docs/, or None."""
    path = ROOT / name
    if name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"):
        return "index.md" if name == "README.md" else name.lower()
    if name.startswith("docs/man"):
        return name.removeprefix("docs/") + ("/index.md" if path.is_dir() else ".md")
    if name.endswith(".ipynb"):
        return name.removeprefix("docs/").replace(".ipynb", ".md")
    if name.startswith("docs/") and path.is_file():
        return name.removeprefix("docs/")
    if path.is_file():
        return f"source/{name}" if name.endswith(".md") else f"source/{name}.md"
    return f"source/{name}/index.md" if path.is_dir() else None


def links_of(text, name):
    """Return the files of the repository that the document @name links to."""
    for _, target, _ in LINK.findall(re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)):
        path = target.partition("#")[0]
        if path and ":" not in path:
            yield posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def read_manual_page(path):
    if not shutil.which("mandoc"):
        raise PluginError("no mandoc, which converts manual pages: run tools/setup docs")
    text = subprocess.run(["mandoc", "-T", "markdown", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    # the first and last lines are the head and foot of a page; all headings have the same level
    body = "\n".join(text.splitlines()[1:-1]).replace("\n# ", "\n## ")
    return f"# {path.stem}({path.suffix[1:]})\n{body}\n"


def list_manual_pages():
    pages = sorted((ROOT / "docs/man").iterdir())
    found = [(page.name, re.search(r"^\.Nd (.*)", page.read_text(), re.M)[1]) for page in pages]
    return "# Manual pages\n\n| page | |\n| --- | --- |\n" + "".join(
        f"| [{name}](man/{name}) | {what} |\n" for name, what in found)


def read_notebook(path):
    """Return the Markdown of a notebook: its texts, its code, and the stored outputs as text."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", ()):
            text = "".join(output["data"]["text/plain"])
            parts.append("```text\n" + text.rstrip("\n") + "\n```")
    return "\n\n".join(parts) + "\n"


def read_page(name):
    """Return the Markdown of the page for the file or folder @name."""
    path = ROOT / name
    if name == "docs/man":
        return list_manual_pages()
    if path.is_dir():
        files = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith("."))
        return f"# {name}\n\n" + "".join(f"- [{file}]({posixpath.basename(name)}/{file})\n"
                                         for file in files if page_of(f"{name}/{file}"))
    if name.startswith("docs/man/"):
        return read_manual_page(path)
    if name.endswith(".ipynb"):
        return read_notebook(path)
    text = path.read_text()
    if name.endswith(".md"):
        return text
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
    language = LANGUAGES.get(path.suffix, "text")
    return f"{HIDDEN}# {name}\n\n{fence}{language}\n{text}\n{fence}\n"


def on_files(files, config):
    """Add a page for each file outside docs/*.md that a page links to."""
    names = {}  # file that each page shows
    for file in files.documentation_pages():
        names[file.src_uri] = f"docs/{file.src_uri}"
    pending = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "docs/man",
               *names.values(),
               *(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.ipynb")),
               *(f"docs/man/{path.name}" for path in (ROOT / "docs/man").iterdir())]
    done = set()
    while pending:
        name = pending.pop()
        if name in done or not (ROOT / name).exists():
            continue
        done.add(name)
        page = page_of(name)
        if not page.endswith(".md"):  # a picture or a text that exists
            continue
        text = read_page(name)
        if name.endswith((".md", ".ipynb")) or (ROOT / name).is_dir():
            pending += links_of(text, name)
        if page not in names:
            names[page] = name
            files.append(File.generated(config, page, content=text))
    config["names"] = names
    return files


def on_page_markdown(markdown, page, config, files):
    """Rewrite links from paths in the repository to paths in the site."""
    here = page.file.src_uri
    name = config["names"][here]
    base = posixpath.dirname(name)

    def rewrite(match):
        path, mark, heading = match[2].partition("#")
        if not path or ":" in path:
            return match[0]
        there = page_of(posixpath.normpath(posixpath.join(base, path)))
        if not there:
            return match[0]
        return f"{match[1]}{posixpath.relpath(there, posixpath.dirname(here))}{mark}{heading}" \
               f"{match[3]}"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    parts[::2] = [LINK.sub(rewrite, part) for part in parts[::2]]
    return FENCE.sub(r'\1 title="\2"', "".join(parts))
