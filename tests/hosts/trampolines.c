/* trampolines.c - five functions of a language call each other through its runtime, and the innermost leaks: python|js [map]. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../lib/made_code.h"

/*
 * CPython calls each function through a trampoline of its own, which calls the
 * evaluator. V8 has frames with a frame pointer, in run-time code and in code
 * of its own library that has no unwind information. Both write a map. The
 * functions of the runtime that are between two of the language have the names
 * that they have there.
 */
enum { FUNCTIONS = 5, BLOCKS = 10, BYTES = 12345 };
#define RUNTIME __attribute__((noipa)) void

static const char *const names[FUNCTIONS] = {"outer", "one", "two", "three", "leaf"};
static made_code *code[FUNCTIONS];

/* Keeps a call from being the last thing of its function. */
static void go_on(void)
{
	__asm__ volatile("" ::: "memory");
}

/* ---- Python ---- */

RUNTIME _PyEval_EvalFrameDefault(void *arg);
RUNTIME PyObject_Vectorcall(void *arg);
RUNTIME py_trampoline_evaluator(void *arg);
RUNTIME builtin_leak(void *arg);

void builtin_leak(void *arg)
{
	if (!malloc(BYTES))
		abort();
	go_on();
	(void)arg;
}

void py_trampoline_evaluator(void *arg)
{
	int *depth = arg;

	code[*depth](arg, _PyEval_EvalFrameDefault, 0);
	go_on();
}

void PyObject_Vectorcall(void *arg)
{
	py_trampoline_evaluator(arg);
	go_on();
}

void _PyEval_EvalFrameDefault(void *arg)
{
	int *depth = arg;

	if (++*depth == FUNCTIONS)
		builtin_leak(arg);
	else
		PyObject_Vectorcall(arg);
	go_on();
}

/* ---- JavaScript ---- */

/* Calls *arg->next++, and passes its own address on. No .cfi_* on purpose. */
void Builtins_CallFunction(void *arg, void (*self)(void *));
__asm__(".text\n"
        ".globl Builtins_CallFunction\n"
        ".type Builtins_CallFunction, @function\n"
        "Builtins_CallFunction:\n"
        "	push %rbp\n"
        "	mov %rsp, %rbp\n"
        "	mov (%rdi), %rax\n"
        "	addq $8, (%rdi)\n"
        "	call *(%rax)\n"
        "	nop\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size Builtins_CallFunction, .-Builtins_CallFunction\n");

RUNTIME js_native(void *arg);
RUNTIME js_invoke(void *arg) __asm__("_ZN2v88internal9Execution4CallEv");

void js_native(void *arg)
{
	if (!malloc(BYTES))
		abort();
	go_on();
	(void)arg;
}

void js_invoke(void *arg)
{
	Builtins_CallFunction(arg, (void (*)(void *))(uintptr_t)Builtins_CallFunction);
	go_on();
}

/* ---- both ---- */

static int write_map(int is_python)
{
	char path[64];
	FILE *map;

	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	for (int i = 0; i < FUNCTIONS; i++) {
		fprintf(map, "%lx %x ", (unsigned long)(uintptr_t)code[i], MADE_BYTES);
		if (is_python)
			fprintf(map, "py::%s:/srv/app.py\n", names[i]);
		else
			fprintf(map, "JS:%c%s /srv/app.js:%d:14\n", "~^*"[i % 3], names[i], i + 1);
	}
	return fclose(map);
}

int main(int argc, char **argv)
{
	int is_python = argc > 1 && strcmp(argv[1], "python") == 0;
	uint8_t *page = made_pages(1);

	if (!page)
		return 1;
	for (int i = 0; i < FUNCTIONS; i++) {
		code[i] = made_entry(page + (size_t)i * MADE_BYTES);
		made_write(page + (size_t)i * MADE_BYTES, is_python ? MADE_STUB : MADE_FRAME);
	}
	if (mprotect(page, MADE_PAGE, PROT_READ | PROT_EXEC) != 0)
		return 1;
	if (argc > 2 && write_map(is_python) != 0)
		return 1;
	for (int i = 0; i < BLOCKS; i++) {
		void *calls[FUNCTIONS + 1], *js[1] = {calls};
		int depth = 0;

		for (int k = 0; k < FUNCTIONS; k++)
			calls[k] = (void *)(uintptr_t)code[k];
		calls[FUNCTIONS] = (void *)(uintptr_t)js_native;
		if (is_python)
			py_trampoline_evaluator(&depth);
		else
			js_invoke(js);
	}
	printf("PID %d\n", (int)getpid());
	return 0;
}
