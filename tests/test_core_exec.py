# SPDX-License-Identifier: MIT
"""Test gputap's interposed exec functions: children of programs that clean the environment are
traced, and everything else is unchanged."""

import os
import re
import shutil
import stat

import pytest

import conftest
from rings import Session

WAYS = [
    "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
    "posix_spawn", "posix_spawnp", "vfork_execve", "vfork_execvp", "fork_execl", "syscall_execve",
    "syscall_execveat", "vfork_syscall_execve"
]


@pytest.fixture
def ways(build):
    return build / "tests/core/exec_ways"


@pytest.mark.parametrize("way", WAYS)
def test_a_child_with_a_cleaned_environment_is_traced(build, ways, way):
    with Session(build) as session:
        result = session.run([ways, way, shutil.which("env")])
        lines = result.out.splitlines()
        assert "KEPT=1" in lines
        assert f"GPUTAP_SESSION={session.folder}" in lines
        assert f"LD_PRELOAD={session.library}" in lines
        assert f"LD_AUDIT={session.audit}" in lines
        assert f"OPENCL_LAYERS={session.library}" in lines
        assert [
            r for r in session.kind("segment") if os.path.basename(r["exe"]) in ("env", "coreutils")
        ]


@pytest.mark.parametrize("stack", ["signal", "thread"])
@pytest.mark.parametrize("way", WAYS)
def test_a_small_stack_is_enough(build, ways, way, stack):
    """Alternate signal stacks have 8 KiB, and thread stacks 16 KiB. The run of the static program
    also requires gputap to write an event on such a stack."""
    with Session(build) as session:
        environment = {f"VARIABLE_{n}": "x" * 100 for n in range(60)}
        result = session.run([ways, f"{stack}:{way}", shutil.which("env")], env=environment)
        assert f"LD_AUDIT={session.audit}" in result.out.splitlines()
        session.run([ways, f"{stack}:{way}", build / "tests/core/static_program"],
                    status=7,
                    env=environment)
        assert [e for e in session.kind("event") if e["op"] == 4]


def test_what_the_program_put_into_the_lists_stays(build, ways):
    with Session(build) as session:
        script = (
            'exec env -i LD_PRELOAD=libm.so.6 OPENCL_LAYERS=/nowhere.so LD_AUDIT='
            f' {shutil.which("env")}'
        )
        result = session.run(["sh", "-c", script])
        lines = result.out.splitlines()
        assert f"LD_PRELOAD={session.library}:libm.so.6" in lines
        assert f"OPENCL_LAYERS={session.library}:/nowhere.so" in lines
        assert f"LD_AUDIT={session.audit}" in [
            line.rstrip(":").replace("=:", "=") for line in lines
        ]


def test_an_intact_environment_is_passed_on_as_it_is(build):
    def shown(result):  # leaves out variables that the shell sets
        return sorted(
            line for line in result.out.splitlines() if not re.match("(PWD|SHLVL|OLDPWD|_)=", line))

    with Session(build) as session:
        env = shutil.which("env")
        assert shown(session.run([env])) == shown(session.run(["sh", "-c", f"exec {env}"]))


@pytest.mark.parametrize("way", WAYS)
def test_failing_to_start_gives_the_same_error(build, ways, way, run, work):
    os.mkfifo(work / "pipe", 0o755)  # opening the pipe blocks, because it has no writer
    with Session(build) as session:
        for program in [
                "/nonexistent/program", "/etc/passwd", "/",
                *([work / "pipe"] if way != "fexecve" else [])
        ]:
            bare = run([ways, way, program], status=None).status
            assert session.run([ways, way, program], status=None).status == bare >= 100


@pytest.mark.parametrize(
    "way", ["execve", "execv", "execl", "execveat", "vfork_execve", "syscall_execve"])
def test_a_library_of_the_users_that_watches_exec_still_does(build, ways, way, run, work):
    """fakechroot, snoopy and similar libraries follow libgputap in LD_PRELOAD and precede libc."""
    (work / "watch.c").write_text("""
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <unistd.h>
        int execve(const char *path, char *const argv[], char *const envp[])
        {
            int (*next)(const char *, char *const[], char *const[]) = dlsym(RTLD_NEXT, "execve");
            write(1, "seen\\n", 5);
            return next(path, argv, envp);
        }
        int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
        {
            int (*next)(int, const char *, char *const[], char *const[], int) =
                dlsym(RTLD_NEXT, "execveat");
            write(1, "seen\\n", 5);
            return next(fd, path, argv, envp, flags);
        }
    """)
    run(["gcc", "-shared", "-fPIC", "-w", "-o", "watch.so", "watch.c", "-ldl"])
    with Session(build) as session:
        result = session.run([ways, way, shutil.which("true")],
                             env={"LD_PRELOAD": f"{session.library}:{work}/watch.so"})
    assert result.out == "seen\n"


def test_a_static_program_runs_and_is_reported(build, ways):
    with Session(build) as session:
        program = build / "tests/core/static_program"
        session.run([ways, "posix_spawn", program], status=7)
        session.run([ways, "execve", program], status=7)
        events = [e for e in session.kind("event") if e["op"] == 4]
        assert len(events) == 2
        assert all(e["text"] == f"{program}: it is statically linked" for e in events)


@pytest.mark.skipif(os.getuid() != 0,
                    reason="needs root to make a set-user-ID file of another user")
def test_a_program_that_gains_privileges_runs_and_is_reported(build, ways, work):
    with Session(build) as session:
        program = work / "setuid_true"
        shutil.copy(shutil.which("true"), program)
        os.chown(program, 12345, 12345)
        program.chmod(0o755 | stat.S_ISUID)
        session.run([ways, "vfork_execve", program])
        texts = [e["text"] for e in session.kind("event")]
        assert texts == [
            f"{program}: it gains privileges (set-user-ID, set-group-ID or file capabilities)"
        ]
        assert not session.kind("segment", "setuid_true")


def test_scripts_are_judged_by_their_interpreter(build, ways, work):
    with Session(build) as session:
        script = work / "script"
        script.write_text(f"#!{build / 'tests/core/static_program'}\n")
        script.chmod(0o755)
        session.run([ways, "execvp", script], status=7)
        assert len(session.kind("event")) == 1
        script.write_text("#!/bin/sh\nexit 3\n")
        session.run([ways, "execvp", script], status=3)
        assert len(session.kind("event")) == 1


def test_ocl_icd_shortening_the_layers_is_undone_in_children(build):
    with Session(build) as session:
        layers = f"{session.library}:/nowhere/liblayer.so"
        result = session.run(
            ["sh", "-c", shutil.which("env")],
            env={"GPUTAP_OPENCL_LAYERS": layers, "OPENCL_LAYERS": str(session.library)})
        assert f"OPENCL_LAYERS={layers}" in result.out.splitlines()


def test_pointers_that_the_kernel_refuses_give_the_same_answers(build, run):
    program = build / "tests/core/exec_bad"
    bare = run([program]).out
    with Session(build) as session:
        assert session.run([program]).out == bare
    assert "execve, environment: 114\n" in bare and "execve, all good: 0\n" in bare


def test_other_system_calls_by_number_are_what_they_are(build, work):
    """A call through gputap's syscall() gets the same six arguments, result and errno as through
    another library's syscall()."""
    script = """if True:
        import ctypes, mmap, os, platform
        c = ctypes.CDLL(None, use_errno=True)
        c.syscall.restype = ctypes.c_long
        def call(on_x86, on_arm, *arguments):
            number = on_x86 if platform.machine() == "x86_64" else on_arm
            return c.syscall(number, *arguments)
        open("file", "wb").write(bytes(4096) + b"second page".ljust(4096))
        at = call(9, 222, None, ctypes.c_long(4096), mmap.PROT_READ, mmap.MAP_PRIVATE,
                  os.open("file", os.O_RDONLY), ctypes.c_long(4096))
        print(ctypes.string_at(at, 11), call(39, 172) == os.getpid())
        print(call(3, 57, 12345), ctypes.get_errno(), c.syscall(99999), ctypes.get_errno())
    """
    bare = conftest.run_command(["python3", "-c", script]).out
    assert bare == "b'second page' True\n-1 9 -1 38\n"
    with Session(build) as session:
        assert session.run(["python3", "-c", script]).out == bare
