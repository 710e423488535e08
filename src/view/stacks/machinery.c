/* machinery.c - functions with which a runtime calls functions of its language. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/machinery.h"

#include <string.h>

/*
 * A "*" at the end stands for any text. A name belongs here if the function
 * calls one of the language, whichever that is, and says nothing about who
 * called it. Functions of C++ are with their parameters, so they end with "(*"
 * or "*".
 */
struct pattern {
	enum mapname_language language;
	const char *name;
};

static const struct pattern patterns[] = {
    /* CPython, 3.12 and later */
    {MAPNAME_PYTHON, "_PyEval_EvalFrame"},
    {MAPNAME_PYTHON, "_PyEval_EvalFrameDefault"},
    {MAPNAME_PYTHON, "_PyEval_Vector"},
    {MAPNAME_PYTHON, "_PyFunction_Vectorcall"},
    {MAPNAME_PYTHON, "_PyObject_Call"},
    {MAPNAME_PYTHON, "_PyObject_CallFunction*"},
    {MAPNAME_PYTHON, "_PyObject_Call_Prepend"},
    {MAPNAME_PYTHON, "_PyObject_FastCallDictTstate"},
    {MAPNAME_PYTHON, "_PyObject_MakeTpCall"},
    {MAPNAME_PYTHON, "_PyObject_VectorcallDictTstate"},
    {MAPNAME_PYTHON, "_PyObject_VectorcallTstate"},
    {MAPNAME_PYTHON, "_PyObject_VectorcallPrepend"},
    {MAPNAME_PYTHON, "_PyVectorcall_Call"},
    {MAPNAME_PYTHON, "PyEval_EvalCode"},
    {MAPNAME_PYTHON, "PyEval_EvalFrame*"},
    {MAPNAME_PYTHON, "PyObject_Call"},
    {MAPNAME_PYTHON, "PyObject_CallMethodObjArgs"},
    {MAPNAME_PYTHON, "PyObject_CallNoArgs"},
    {MAPNAME_PYTHON, "PyObject_CallOneArg"},
    {MAPNAME_PYTHON, "PyObject_Vectorcall"},
    {MAPNAME_PYTHON, "PyObject_VectorcallMethod"},
    {MAPNAME_PYTHON, "PyVectorcall_Call"},
    {MAPNAME_PYTHON, "builtin_exec"},
    {MAPNAME_PYTHON, "builtin_exec_impl"},
    {MAPNAME_PYTHON, "cfunction_vectorcall_*"},
    {MAPNAME_PYTHON, "method_vectorcall"},
    {MAPNAME_PYTHON, "object_vacall"},
    {MAPNAME_PYTHON, "py_trampoline_evaluator"},
    {MAPNAME_PYTHON, "run_eval_code_obj"},
    {MAPNAME_PYTHON, "slot_tp_call"},
    {MAPNAME_PYTHON, "vectorcall_method"},
    {MAPNAME_PYTHON, "vectorcall_unbound"},
    /* V8, with its embedded code and the copies that it makes of it */
    {MAPNAME_JS, "Builtins_*"},
    {MAPNAME_JS, "Builtin:*"},
    {MAPNAME_JS, "BytecodeHandler:*"},
    {MAPNAME_JS, "Handler:*"},
    {MAPNAME_JS, "Stub:*"},
    {MAPNAME_JS, "v8::internal::Execution::*"},
    {MAPNAME_JS, "v8::internal::(anonymous namespace)::Invoke(*"},
    {MAPNAME_JS, "v8::internal::(anonymous namespace)::Invoke"},
    {MAPNAME_JS, "v8::internal::GeneratedCode<*"},
    /* HotSpot */
    {MAPNAME_JAVA, "JavaCalls::*"},
    {MAPNAME_JAVA, "os::os_exception_wrapper(*"},
    {MAPNAME_JAVA, "StubRoutines (*"},
    {MAPNAME_JAVA, "call_stub"},
};

static bool matches(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (n > 0 && pattern[n - 1] == '*')
		return strncmp(pattern, name, n - 1) == 0;
	return strcmp(pattern, name) == 0;
}

enum mapname_language machinery_of(const struct frame *x)
{
	char name[64];
	size_t len;

	if (x->is_missing || !x->function)
		return MAPNAME_NATIVE;
	/* compilers make copies: f.cold, f.constprop.0, f.isra.0, f.part.0 */
	len = strcspn(x->function, ".");
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (matches(patterns[i].name, x->function))
			return patterns[i].language;
	if (x->language || x->function[len] == '\0' || len >= sizeof(name))
		return MAPNAME_NATIVE;
	memcpy(name, x->function, len);
	name[len] = '\0';
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (matches(patterns[i].name, name))
			return patterns[i].language;
	return MAPNAME_NATIVE;
}

/*
 * Embedded code of V8 has no name if the library is stripped, and its map lacks
 * some copies of it; but it has no unwind information, either, so such a frame
 * was reached by a guess.
 */
static bool is_machinery(const struct frame *x, uint8_t language)
{
	return x->machinery == language ||
	    (language == MAPNAME_JS && x->is_guessed && !x->function);
}

/* A function of a language, not of its runtime. */
static bool is_function(const struct frame *x)
{
	return x->language && !x->machinery;
}

size_t machinery_leave_out(const struct frame *frames, uint32_t *stack, size_t count)
{
	size_t kept = 0, run = 0;          /* run: kept frames that may be machinery */
	uint8_t language = MAPNAME_NATIVE; /* of the function before them */

	for (size_t i = 0; i < count; i++) {
		const struct frame *x = &frames[stack[i]];

		if (is_function(x)) {
			if (x->language == language)
				kept -= run;
			language = x->language;
			run = 0;
		} else if (language && is_machinery(x, language)) {
			run++;
		} else {
			language = MAPNAME_NATIVE;
		}
		stack[kept++] = stack[i];
	}
	return kept;
}
