# SPDX-License-Identifier: MIT
"""Programs that are particular about what is loaded with them: sanitizers want to be the first library, some libraries
need much static thread-local storage, threads may have the smallest stack."""

import pytest

SOURCE = """
#include <pthread.h>
#include <stdio.h>
static void *f(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); pthread_join(t, 0); puts("hello"); return 3; }
"""


@pytest.mark.parametrize("kind", ["address", "thread", "undefined"])
def test_a_program_with_a_sanitizer_runs_traced(run, tap, work, kind):
    (work / "program.c").write_text(SOURCE)
    run(["gcc", f"-fsanitize={kind}", "-o", "program", "program.c"])
    assert run(["./program"], status=3).out == "hello\n"
    if kind == "thread":
        assert "GLIBC_TUNABLES=glibc.rtld.optional_static_tls=1048576 gputap run" in tap("run", "-o", "no.gputap", "./program", status=127).err
    # ThreadSanitizer needs more static thread-local storage than an auditor leaves: docs/doors.md
    env = {"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=1048576"} if kind == "thread" else {}
    result = tap("run", "-q", "-o", "c.gputap", "--", "./program", status=3, env=env)
    assert result.out == "hello\n"
    assert "Sanitizer" not in result.err and "ASan" not in result.err, result


def test_the_users_sanitizer_options_stay(run, tap, work):
    (work / "program.c").write_text(SOURCE.replace('puts("hello")', 'puts(getenv("ASAN_OPTIONS"))').replace("<stdio.h>", "<stdio.h>\n#include <stdlib.h>"))
    run(["gcc", "-o", "program", "program.c"])
    result = tap("run", "-q", "-o", "c.gputap", "--", "./program", status=3, env={"ASAN_OPTIONS": "detect_leaks=0:color=never"})
    assert result.out == "detect_leaks=0:color=never:verify_asan_link_order=0\n"


LIBRARY = """
static __thread char big[%d] __attribute__((tls_model("initial-exec")));
char *storage(void);
char *storage(void) { return big; }
"""
USER = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
char *storage(void);
static void *f(void *p) { storage()[1] = 1; return p; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_attr_t a;
    if (argc > 1) { char *clean[] = {0}; execve(argv[0], (char *[]){argv[0], 0}, clean); return 8; }
    pthread_attr_init(&a);
    pthread_attr_setstacksize(&a, 16384);
    storage()[0] = 1;
    if (pthread_create(&t, &a, f, 0)) return 9;
    pthread_join(t, 0);
    puts("hello");
    return 3;
}
"""


@pytest.mark.parametrize("arguments", [[], ["clean"]], ids=["", "in_a_cleaned_environment"])
def test_a_library_with_much_static_thread_local_storage_loads(run, tap, work, arguments):
    (work / "library.c").write_text(LIBRARY % 3000)
    (work / "user.c").write_text(USER)
    run(["gcc", "-shared", "-fPIC", "-o", "libmuch.so", "library.c"])
    run(["gcc", "-o", "user", "user.c", "-L.", "-lmuch", f"-Wl,-rpath,{work}"])
    assert run(["./user", *arguments], status=3).out == "hello\n"
    result = tap("run", "-q", "-o", "c.gputap", "--", "./user", *arguments, status=3)
    assert (result.out, result.err) == ("hello\n", "")


def test_the_users_own_tunables_stay(tap, work):
    shown = tap("run", "-q", "-o", "c.gputap", "--", "env", env={"GLIBC_TUNABLES": "glibc.malloc.check=0"}).out.splitlines()
    assert "GLIBC_TUNABLES=glibc.malloc.check=0:glibc.rtld.optional_static_tls=6144" in shown
    own = "glibc.rtld.optional_static_tls=9000"
    assert f"GLIBC_TUNABLES={own}" in tap("run", "-q", "-f", "-o", "c.gputap", "--", "env", env={"GLIBC_TUNABLES": own}).out.splitlines()
