# SPDX-License-Identifier: MIT
"""Test `gputap top`, which watches a running session from outside by reading its growing
capture."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import struct
import subprocess
import threading
import time

import pytest

import conftest
import processes

WAIT = 120  # time limit in seconds for expected output


def objects(text):
    """Return the concatenated JSON objects in @text."""
    found, at, decoder = [], 0, json.JSONDecoder()
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


@contextlib.contextmanager
def session(gputap, *command, options=(), name="live.gputap", stdin=subprocess.DEVNULL):
    """Run the command under `gputap run` until the block ends. The capture exists when the block
    starts."""
    run = subprocess.Popen([gputap, "run", "-q", *options, "-o", name, "--", *command], stdin=stdin,
                           stdout=subprocess.DEVNULL, env=conftest.clean_environment())
    deadline = time.monotonic() + WAIT
    try:
        while not os.path.exists(name) or not os.path.getsize(name):
            assert time.monotonic() < deadline and run.poll() is None
            time.sleep(0.02)
        yield run
    finally:
        if run.poll() is None:
            run.terminate()
        run.wait(WAIT)
        if run.stdin:
            run.stdin.close()


@contextlib.contextmanager
def watched(gputap):
    """Run `gputap top` on live.gputap and wait for its first view. The output is in top.json."""
    with open("top.json", "w", encoding="utf-8") as out:
        top = subprocess.Popen([gputap, "top", "live.gputap", "--json", "-d", "0.2"], stdout=out,
                               env=conftest.clean_environment())
    deadline = time.monotonic() + WAIT
    try:
        while not os.path.getsize("top.json"):
            assert time.monotonic() < deadline and top.poll() is None
            time.sleep(0.02)
        yield top
    finally:
        if top.poll() is None:
            top.terminate()
        top.wait(WAIT)


def views_of(top):
    assert top.wait(WAIT) == 0
    with open("top.json", encoding="utf-8") as file:
        return objects(file.read())


@pytest.fixture
def steps(build):
    return build / "examples/steps"


def test_what_it_sums_up_is_what_the_capture_has_in_the_end(gputap, tap, steps, work):
    """`gputap top` runs from before the first call until the session ends, which also ends `gputap
    top`."""
    with session(gputap, "sh", "-c", f"read go; exec {steps} 40", stdin=subprocess.PIPE) as run:
        with watched(gputap) as top:
            run.stdin.write(b"go\n")
            run.stdin.flush()
            views = views_of(top)
        assert run.wait(WAIT) == 0
    last, report = views[-1], json.loads(tap("report", "--json", "live.gputap").out)
    assert len(views) > 1 and last["state"] == "ended" and last["dropped"] == 0
    assert views[0]["calls_seen"] == 0
    assert last["calls_seen"] == report["calls"] and last["activities_seen"] == report["activities"]
    for table, other, count in (("kernels", "kernels", "count"), ("calls", "operations", "calls")):
        have = {r["name"]: r for r in last[table]}
        want = {r["name"]: r for r in report[other]}
        assert {n: r["all_count"] for n, r in have.items()} == {
            n: r[count] for n, r in want.items()}
        for name, row in want.items():  # the clock conversion is more accurate at the end
            assert have[name]["all_ns"] == pytest.approx(row["total_ns"], rel=1e-3,
                                                         abs=3 * row[count])
    assert sum(r["all_bytes"] for r in last["copies"]) == sum(r["bytes"] for r in report["copies"])
    busy = last["devices"][0]["all_busy"] * last["elapsed_ns"]
    # activities recorded before their queue object are in no device's share
    assert busy == pytest.approx(report["devices"][0]["busy_ns"], rel=0.1)
    assert all(0 <= v["devices"][0]["busy"] <= 1 for v in views if v["devices"])


def test_a_session_is_named_by_its_capture_or_by_a_process_of_it(gputap, tap, steps, work):
    with session(gputap, steps, "0") as run:
        child = processes.child_of(run)
        for which in ("live.gputap", str(run.pid), str(child), str(work / "live.gputap")):
            deadline = time.monotonic() + WAIT
            while True:
                view = objects(tap("top", which, "--once", "--json", "-d", "0.2").out)[0]
                names = {k["name"] for k in view["kernels"]}
                if len(names) == 2:  # the program first builds its kernels
                    break
                assert time.monotonic() < deadline, view
            assert names == {"forward", "backward"}
            assert view["state"] == "recording" and view["path"].endswith("live.gputap")


def test_in_a_pipe_views_are_lines(gputap, tap, steps, work):
    deadline, kernels, text = time.monotonic() + WAIT, [], ""
    with session(gputap, steps, "0"):
        while len(kernels) != 3:  # the program first builds its kernels
            assert time.monotonic() < deadline, text
            text = tap("top", "live.gputap", "--count", "3", "-d", "0.3", "-s", "name",
                       env={"COLUMNS": 80}).out
            last = text.split("live.gputap  ")[-1].partition("\nKernels\n")[2]
            kernels = last.split("\n\n")[0].splitlines()
    assert text.count("live.gputap  ") == 3 and "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert [line.split()[-1] for line in kernels] == ["name", "backward", "forward"]


def test_it_ends_when_the_collector_was_killed(gputap, tap, steps, work):
    with session(gputap, steps, "0") as run:
        child = processes.child_of(run)
        folder = next(line.split("  ")[0] for line in tap("recover").out.splitlines()
                      if str(work) in line)
        try:
            with watched(gputap) as top:
                run.send_signal(signal.SIGKILL)
                assert views_of(top)[-1]["state"] == "ended"
        finally:
            run.send_signal(signal.SIGKILL)
            run.wait(WAIT)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            tap("recover", folder, status=None)


class Terminal:
    """Run a command on a terminal of 24 lines and 80 columns."""

    def __init__(self, *command):
        self.pid, self.end = pty.fork()
        if not self.pid:
            subprocess.run(["stty", "rows", "24", "cols", "80"], check=False)
            environment = conftest.clean_environment()
            os.execvpe(command[0], [str(c) for c in command], {**environment, "TERM": "xterm"})
        self.text = ""

    def wait_for(self, pattern):
        deadline = time.monotonic() + WAIT
        while not re.search(pattern, self.text):
            assert time.monotonic() < deadline, self.text[-3000:]
            if select.select([self.end], [], [], 1)[0]:
                try:
                    self.text += os.read(self.end, 65536).decode(errors="replace")
                except OSError:
                    assert re.search(pattern, self.text), self.text[-3000:]

    def press(self, key):
        self.text = ""
        os.write(self.end, key.encode())

    def close(self):
        os.close(self.end)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def test_on_a_terminal_keys_sort_hold_and_end_it(gputap, steps, work):
    with session(gputap, steps, "0"):
        terminal = Terminal(gputap, "top", "live.gputap", "-d", "0.2")
        terminal.wait_for(r"\x1b\[\?1049h[\s\S]*Kernels[\s\S]*q: quit, s: by time")
        views = terminal.text.split("\x1b[H\x1b[J")[1:]
        assert max(view.count("\n") for view in views) < 24
        terminal.press("s")
        terminal.wait_for("s: by count")
        terminal.press("p")
        terminal.press("s")  # while paused, only the view in progress is drawn
        terminal.press("p")
        terminal.wait_for("s: by mean")
        terminal.press("q")
        terminal.wait_for(r"\x1b\[\?1049l")
        assert terminal.close() == 0


def test_a_session_that_has_ended_is_no_session(tap, run, build, work):
    run([build / "tests/synth/synth", "--calls", "10", "-o", "s.gputap"])
    err = tap("top", "s.gputap", status=1).err
    assert "the session of s.gputap has ended; 'gputap report s.gputap'" in err.replace("\n  ", " ")


def test_what_a_flight_recorder_keeps_is_followed(gputap, tap, steps, work):
    """The views continue across chunks of half a second. Each kernel is counted once."""
    with session(gputap, "sh", "-c", f"read go; {steps} 150; read end", options=("--keep", "8s"),
                 stdin=subprocess.PIPE) as run:
        with watched(gputap) as top:
            run.stdin.write(b"go\n")
            run.stdin.flush()
            deadline, counts = time.monotonic() + WAIT, {}
            while counts != {"forward": 600, "backward": 600}:
                assert time.monotonic() < deadline and top.poll() is None, counts
                time.sleep(0.1)
                with open("top.json", encoding="utf-8") as file:
                    text = file.read()
                text = text[:text.rindex("\n}\n") + 3] if "\n}\n" in text else ""
                counts = {k["name"]: k["all_count"] for v in objects(text)[-1:]
                          for k in v["kernels"]}
            run.stdin.write(b"end\n")
            run.stdin.flush()
            last = views_of(top)[-1]
        assert run.wait(WAIT) == 0
    assert last["state"] == "ended"
    assert {k["name"]: k["all_count"] for k in last["kernels"]} == counts


def test_a_pause_is_said_and_no_device_is_idle_in_it(gputap, tap, steps, work):
    with session(gputap, steps, "0"):
        tap("stop", "-q", "live.gputap")
        view = objects(tap("top", "live.gputap", "--once", "--json", "-d", "0.5").out)[0]
        assert (view["state"], view["why"]) == ("paused", "command")
        assert all(d["busy"] is None and d["all_busy"] is None for d in view["devices"])
        assert "paused (by command)" in tap("top", "live.gputap", "--once", "-d", "0.2").out
        tap("start", "-q", "live.gputap")
        view = objects(tap("top", "live.gputap", "--once", "--json", "-d", "0.2").out)[0]
        assert (view["state"], view["why"]) == ("recording", None)


def ask(folder, request):
    """Send one request to a session. Return the answer."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(folder / "real"))
        client.sendall(request)
        return b"".join(iter(lambda: client.recv(65536), b""))


def test_what_passes_before_a_session_answers_is_of_no_view(gputap, steps, work):
    """Time before the session answers must not be in a view: the device would be neither paused nor
    busy then, and a pause would appear as idle time."""
    def kernels():
        return int(re.search(rb"kernels=(\d+)", ask(folder, b"status\n"))[1])

    def relay():
        asked = 0
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            with client:
                request = client.recv(1000)
                pid, = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED,
                                                             12))[:1]
                if request == b"status\n" and pid == top.pid and not asked:
                    asked, before = 1, kernels()
                    processes.wait_until(lambda: kernels() > before, "work since top began")
                    ask(folder, b"stop\n")
                    time.sleep(1)  # simulates a busy machine
                client.sendall(ask(folder, request))

    with session(gputap, steps, "0"), socket.socket(socket.AF_UNIX) as listener:
        (folder,) = processes.sessions_of("live.gputap")
        (folder / "control").rename(folder / "real")
        processes.wait_until(kernels, "kernels")
        listener.bind(str(folder / "control"))
        listener.listen()
        top = subprocess.Popen([gputap, "top", "live.gputap", "--once", "--json", "-d", "0.5"],
                               stdout=subprocess.PIPE, text=True,
                               env=conftest.clean_environment())
        thread = threading.Thread(target=relay)
        thread.start()
        (view,) = objects(top.communicate()[0])
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        (folder / "real").rename(folder / "control")
        assert view["state"] == "paused" and view["devices"]
        assert all(d["busy"] is None and d["all_busy"] is None for d in view["devices"]), view


def test_a_run_that_began_paused_says_so_by_its_option(gputap, tap, steps, work):
    with session(gputap, steps, "0", options=["--paused"]):
        assert "paused (by --paused)" in tap("top", "live.gputap", "--once", "-d", "0.2").out


def test_keys_pause_the_session_and_write_a_snapshot(gputap, tap, steps, work):
    with session(gputap, steps, "0"):
        terminal = Terminal(gputap, "top", "live.gputap", "-d", "0.2")
        terminal.wait_for("r: pause, w: snapshot")
        terminal.press("r")
        terminal.wait_for(r"paused.* \(by command\)[\s\S]*r: record")
        state = json.loads(tap("status", "--json", "live.gputap").out)["sessions"][0]["state"]
        assert state == "paused"
        terminal.press("r")
        terminal.wait_for(r"recording[\s\S]*r: pause")
        terminal.press("w")
        terminal.wait_for(r"snapshot: wrote live\.1\.gputap")
        terminal.press("q")
        terminal.wait_for(r"\x1b\[\?1049l")
        assert terminal.close() == 0
    assert "snapshot 1, on command" in tap("info", "live.1.gputap").out


@pytest.mark.parametrize("words, sentence, status", [
    (["nothing.gputap"], "no running session is called nothing.gputap", 1),
    (["no-capture"], "no-capture is not a gputap capture", 1),
    (["4194305"], "process 4194305 does not exist", 1),
    (["--sort", "tim"], "did you mean 'time'", 2),
    (["--delay", "0"], "--delay needs a number of seconds from 0.1 to 3600", 2),
    (["--count", "0"], "--count needs a number of views", 2),
    (["a", "b"], "one session at a time", 2),
])
def test_what_cannot_be_watched_is_refused(tap, work, words, sentence, status):
    (work / "no-capture").write_text("text " * 100)
    assert sentence in tap("top", *words, status=status).err
