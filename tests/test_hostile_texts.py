# SPDX-License-Identifier: MIT
"""Test texts that a traced program chooses (names, paths, command lines) in every output of gputap,
with a parser for each format. See src/analysis/base/text.h."""

import csv
import html.parser
import io
import json
import os
import re
import shutil
import sqlite3
import unicodedata
import xml.etree.ElementTree

import pytest

from consumers import perfetto

# Spreadsheets recognise a formula by its first character. No line of output may start with FORGED.
TEXTS = {
    "equals": b"=cmd|' /C calc'!A0 \xc2\x9b31m\xc2\x85 \x9b31m\xff",
    "plus": b"+1+cmd|x, \"quoted\";a\x7f",
    "minus": "-foo \u202egnp.exe\u2066 \u200f \u2028FORGED".encode(),
    "at": b"@SUM(1)\x1b[2J\x1b]0;title\x07",
    "tab": b"\t=1\n",
    "return": b"\r=1\rFORGED",
    "line": b"a\nFORGED\x1fline\x0b\x0c",
    "apostrophe": b"'=1'",
    "space": b"  =1 ",
    "tags": b"</script></title><img src=x onerror=alert(1)> & <!-- ]]> \"'",
    "markdown": b"|`x`|[l](//e.x) ![i](x) **b** www.e.com a@b.c $x$ #1 \\| :x: </code>",
    "not_utf8": "\ufffe\uffff".encode() + b"\xff\xfe\xc3 \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82",
    "format": b"%s%n%d {} $x `y` ${x}",
    "number": b"-5",
    "full_width": "\uff1d1+1".encode(),
}
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?")
DIRECTION = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def controls(text, kept=frozenset("\n")):
    """Return the characters of @text that no format may contain."""
    return {c for c in text
            if c not in kept and (unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs")
                                  or c in DIRECTION or c in "\ufffe\uffff")}


def check_terminal(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text), repr(text)
    assert not re.search("^FORGED", text, re.M), text


def check_json(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text), repr(text)
    return json.loads(text)


def check_csv(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text, {"\n", "\t"}), repr(text)
    width = 0  # an empty line separates tables
    for row in csv.reader(io.StringIO(text, newline=""), strict=True):
        assert not row or not width or len(row) == width, row
        width = len(row)
        for cell in row:
            assert NUMBER.fullmatch(cell) or not re.match(r"'*[\s=+\-@\uff1d]", cell) or re.match(
                "'| +[^-=+@\t\n]", cell), repr(cell)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], {}  # texts inside each kind of element

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        key = tag, attributes.get("type")
        self.texts[key] = self.texts.get(key, "") + data


def check_html(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text, {"\n", "\t"}), repr(text)
    page = Page()
    page.feed(text)
    page.close()
    assert [tag for tag, _ in page.tags] == [
        "html", "head", "meta", "meta", "meta", "meta", "title", "style", "body", "main",
        "noscript", "p", "script", "script"]
    assert not controls(page.texts["title", None], {"\n"}), page.texts["title", None]
    shown = json.loads(page.texts["script", "application/json"])
    assert not controls(json.dumps(shown, ensure_ascii=False)), shown


def check_svg(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text), repr(text)
    root = xml.etree.ElementTree.fromstring(text)
    assert {e.tag.split("}")[1] for e in root.iter()} <= {"svg", "rect", "text", "title", "line"}
    assert not any(name in e.attrib for e in root.iter() for name in ("href", "onload"))


def check_markdown(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text), repr(text)
    for code in re.findall("<code>(.*?)</code>", text, re.S):
        assert not re.search(r"[<>|`*_\[\]~@#:$!\\\n.](?!\d+;)", re.sub(r"&#\d+;", "", code)), code
    rest = re.sub("<code>.*?</code>", "", text, flags=re.S)
    assert not re.search(r"[<\[`\\@$]", rest), rest
    for line in rest.splitlines():
        assert not line.startswith("|") or line.count("|") == 9, line


def check_folded(data):
    text = data.decode("utf-8", "strict")
    assert not controls(text), repr(text)
    assert all(re.fullmatch(r"[^;]+(;[^;]+)* \d+", line) for line in text.splitlines()), text


def check_database(path, controlled):
    with sqlite3.connect(path) as database:
        tables = [n for n, in database.execute("select name from sqlite_master where type='table'")]
        for table in tables:
            for row in database.execute(f'select * from "{table}"'):
                for cell in row:
                    assert controlled or not isinstance(cell, str) or not controls(cell), cell
    database.close()


@pytest.fixture(params=TEXTS, ids=TEXTS.keys())
def text(request):
    return os.fsdecode(TEXTS[request.param])


@pytest.fixture
def capture(run, build, work, text):
    """Return a capture in which every text, and the name of the file, is the hostile text. Also
    write b.gputap, a slower capture."""
    name = text.replace("/", "").strip("-") + ".gputap"
    for path, slower in ((name, ()), ("b.gputap", ("--slow", "0:90"))):
        run([build / "tests/synth/synth", "--calls", "320", "--threads", "2", "--devices", "2",
             "--processes", "2", "--steps", "40", "--phases", "32", "--events", "--waits",
             "--graphs", "--failed", "--drops", "--external", "--text", text, *slower, "-o",
             f"./{path}"])
    return f"./{name}"


def test_no_text_gets_out_of_its_place_in_what_is_printed(tap, capture):
    def ask(check, *arguments, status=0):
        result = tap(*arguments, text=False, status=status)
        check(result.out)
        check_terminal(result.err)

    for width in ("80", "400"):
        os.environ["COLUMNS"] = width
        ask(check_terminal, "report", capture)
        ask(check_terminal, "report", capture, "--timeline")
        ask(check_terminal, "info", "--all", capture, status=None)
        ask(check_terminal, "diff", capture, "b.gputap")
    ask(check_terminal, "report", capture, "--by", "range")
    ask(check_terminal, "report", capture, "--by", "host,process,thread,queue", "-t", "kernels")
    ask(check_terminal, "report", capture, "b.gputap")
    ask(check_terminal, "report", capture, "--where", f"name='{capture[2:-7]}'", status=None)
    ask(check_json, "report", capture, "--json")
    ask(check_json, "info", capture, "--json", status=None)
    ask(check_json, "diff", capture, "b.gputap", "--json")
    ask(check_csv, "report", capture, "--csv")
    ask(check_csv, "report", capture, "--by", "host,thread", "-t", "kernels", "--csv")
    ask(check_csv, "diff", capture, "b.gputap", "--csv")
    ask(check_markdown, "diff", capture, "b.gputap", "--markdown")
    ask(check_svg, "diff", capture, "b.gputap", "--svg")


def test_no_text_gets_out_of_its_place_in_what_is_exported(tap, capture, text):
    def export(check, name, *options):
        check_terminal(tap("export", capture, "-o", name, *options, text=False).err)
        with open(name, "rb") as file:
            return check(file.read())

    check_terminal(tap("report", capture, "-o", "a.html", text=False).err)
    with open("a.html", "rb") as file:
        check_html(file.read())
    events = export(check_json, "a.json")["traceEvents"]
    wanted = os.fsencode(text).decode("utf-8", "replace")
    names = {e["name"].replace("\ufffd", "") for e in events if e.get("cat") == "kernel"}
    assert any(name.startswith(wanted.replace("\ufffd", "").rstrip()) for name in names), names
    export(check_json, "a.speedscope.json")
    export(check_csv, "a.csv")
    export(check_folded, "a.folded")
    for name, controlled in (("a.rpd", False), ("a.rocpd", True)):
        export(len, name)
        check_database(name, controlled)


def test_perfetto_has_texts_as_they_are(tap, run, build, work):
    text = os.fsdecode(TEXTS["equals"])
    run([build / "tests/synth/synth", "--calls", "80", "--text", text, "-o", "a.gputap"])
    tap("export", "a.gputap", "-o", "a.pftrace")
    seen = perfetto.ask(work / "a.pftrace", slices=perfetto.SLICES, complaints=perfetto.COMPLAINTS)
    assert seen["complaints"] == []
    assert "=cmd|' /C calc'!A0 \x9b31m\x85 \ufffd31m\ufffd" in {s["name"] for s in seen["slices"]}


def test_no_text_gets_out_of_its_place_in_messages(tap, text, work):
    for arguments in (["report", text], ["report", "./" + text], ["info", text],
                      ["diff", text, text], ["merge", text, text],
                      ["export", text, "-o", "a.csv"], ["export", "a.gputap", "-o", text],
                      ["export", "a.gputap", "-o", "a.csv", "--format", text],
                      ["report", "a.gputap", "--where", text], ["report", "a", "-t", text],
                      ["report", "a", "--by", text], ["report", "a", "--sort", text],
                      ["report", "a", "--" + text], ["run", "-o", "a.gputap", text],
                      ["run", "-o", "a.gputap", "./" + text], ["run", "-d", text, "true"],
                      ["run", "-m", text, "true"], ["run", "--ops", text, "true"],
                      ["run", "-o", text + "/x.gputap", "true"], ["run", "--keep", text, "true"],
                      ["run", "--from", text, "true"], ["run", "--plugin", text, "true"],
                      ["list", text], ["list", "operations", text], ["list", "-d", text],
                      ["recover", text], ["top", text], ["status", text], ["stop", text],
                      ["start", text], ["snapshot", text], ["soft", text],
                      ["plugin", "check", text], ["doctor", text], ["help", text], [text]):
        result = tap(*arguments, text=False, status=None)
        assert result.status != 0 or arguments[0] in ("run", "list"), result
        assert result.status >= 0, result
        check_terminal(result.out)
        check_terminal(result.err)


def test_no_text_gets_out_of_its_place_when_a_program_is_run(tap, work, text):
    """The program's file, its argument, its folder and the capture have the hostile name."""
    name = text.replace("/", "").strip("-") or "x"
    folder = work / name
    folder.mkdir()
    shutil.copy("/bin/true", folder / name)
    for options in ([], ["-v"]):
        result = tap("run", *options, "-o", f"./{name}/{name}.gputap", f"./{name}/{name}", text,
                     text=False, status=None)
        check_terminal(result.out)
        check_terminal(result.err)
    for command in (["info"], ["report"], ["recover"], ["status"]):
        result = tap(*command, f"./{name}/{name}.gputap", text=False, status=None)
        check_terminal(result.out)
        check_terminal(result.err)
