/* SPDX-License-Identifier: MIT */
/* A 32-bit program without a library, which tests/test_tree_foreign.py compiles if the machine can.
 *   foreign                     writes its environment, one variable per line, and ends with 5
 *   foreign PROGRAM [ARG ...]   executes that program, with its own environment
 * It also takes the place of a foreign distribution's dynamic linker, and then writes the
 * environment that such a linker would get. */
enum { SYS_EXIT = 1, SYS_WRITE = 4, SYS_EXECVE = 11 };

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

__attribute__((used)) void begin(long *stack);
void begin(long *stack)
{
	char **argv = (char **)(stack + 1), **environment = argv + stack[0] + 1;

	if (stack[0] > 1)
		call(SYS_EXECVE, (long)argv[1], (long)(argv + 1), (long)environment);
	for (; *environment; environment++) {
		long n = 0;

		while ((*environment)[n])
			n++;
		call(SYS_WRITE, 1, (long)*environment, n);
		call(SYS_WRITE, 1, (long)"\n", 1);
	}
	call(SYS_EXIT, 5, 0, 0);
}

__asm__(".globl _start\n"
	"_start:\n"
	"	mov %esp, %eax\n"
	"	push %eax\n"
	"	call begin\n");
