/* blame.c - decides which frame of a stack is the user's own. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/blame.h"

#include "kit/words/text.h"

bool blame_is_system(const char *module)
{
	static const char *const names[] = {
	    "libc.so", "libc-", "libpthread", "ld-linux", "ld-2.", "ld-musl", "[vdso]", "libseep"};
	const char *base = text_base(module);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(base, names[i]))
			return true;
	return false;
}

/* Inlined or not does not matter, because that depends on compiler options. */
bool blame_is_library(const char *function)
{
	static const char *const names[] = {"std::", "__gnu_cxx::", "operator new",
	    "alloc::", "core::", "<alloc::", "<core::", "<std::", "hashbrown::", "__rust_",
	    "__rdl_"};
	const char *name = function;

	/* demangled templates begin with their return type */
	while (name[strcspn(name, " (<")] == ' ')
		name += strcspn(name, " ") + 1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(name, names[i]) || text_begins_with(function, names[i]))
			return true;
	return wrappers_has(function);
}

/* Is it a source file of a standard library? Not all of its names show that. */
static bool is_library_file(const char *module)
{
	static const char *const names[] = {
	    "libstdc++.so", "libc++.so", "libc++abi.so", "libgcc_s.so"};
	const char *base = text_base(module);

	for (size_t i = 0; base && i < sizeof(names) / sizeof(names[0]); i++)
		if (text_begins_with(base, names[i]))
			return true;
	return false;
}

uint8_t blame_weigh(const struct frame *x)
{
	if (x->is_missing)
		return BLAME_NONE;
	if (blame_is_system(x->module))
		return BLAME_SYSTEM;
	if (is_library_file(x->module) || (x->function && blame_is_library(x->function)))
		return BLAME_LIBRARY;
	return BLAME_OWN;
}

uint32_t blame_find(const struct frame *frames, const uint32_t *stack, uint32_t count)
{
	uint32_t found = 0;
	uint8_t most = BLAME_NONE;

	for (uint32_t i = 0; i < count && most < BLAME_OWN; i++) {
		uint8_t weight = frames[stack[i]].weight;

		/* frames of the system itself are all alike */
		if (weight > most && (weight > BLAME_SYSTEM || i == 0)) {
			most = weight;
			found = i;
		}
	}
	return found;
}

/* ---- machinery: functions with which a runtime calls functions of its language ---- */

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

/* ---- wrappers: well-known functions that only pass an allocation on ---- */

/*
 * A "*" stands for any text. A name belongs here if the function returns what
 * it got from an allocator, and its own line is of no interest. Names are
 * without parameters and without the return type of templates.
 */
static const char *const wrappers_patterns[] = {
    /* C programs: GNU, BSD, git, OpenSSH, curl and many more */
    "xmalloc*",
    "xcalloc*",
    "xrealloc*",
    "xzalloc*",
    "xnmalloc",
    "xnrealloc",
    "x2realloc",
    "x2nrealloc",
    "xcharalloc",
    "xpalloc",
    "ximalloc",
    "xicalloc",
    "xirealloc",
    "xstrdup",
    "xstrndup",
    "xmemdup*",
    "ximemdup*",
    "xasprintf",
    "xvasprintf",
    "do_xmalloc",
    "do_xmallocz",
    "*_xmalloc",
    "*_xcalloc",
    "*_xrealloc",
    "*_xstrdup",
    "safe_malloc",
    "safe_calloc",
    "safe_realloc",
    "safe_strdup",
    "checked_malloc",
    "checked_calloc",
    "checked_realloc",
    "emalloc",
    "ecalloc",
    "erealloc",
    "estrdup",
    "Curl_*alloc",
    "Curl_strdup",
    "Curl_memdup*",
    "Curl_saferealloc",
    "malloc_or_die",
    "mem_alloc",
    /* functions of libc that return memory */
    "strdup",
    "strndup",
    "wcsdup",
    "__strdup",
    "__strndup",
    "__GI___strdup",
    "__GI___strndup",
    "asprintf",
    "vasprintf",
    "__asprintf",
    "___asprintf",
    "__vasprintf_internal",
    "reallocarray",
    "__libc_reallocarray",
    /* GLib */
    "g_malloc*",
    "g_try_malloc*",
    "g_realloc*",
    "g_try_realloc*",
    "g_strdup*",
    "g_strndup",
    "g_strnfill",
    "g_memdup*",
    "g_slice_alloc*",
    "g_slice_copy",
    "g_aligned_alloc*",
    "g_rc_box_alloc*",
    "g_atomic_rc_box_alloc*",
    /* OpenSSL, GnuTLS, libgcrypt, NSPR */
    "CRYPTO_malloc*",
    "CRYPTO_zalloc",
    "CRYPTO_calloc",
    "CRYPTO_realloc*",
    "CRYPTO_clear_realloc",
    "CRYPTO_secure_*alloc",
    "CRYPTO_strdup",
    "CRYPTO_strndup",
    "CRYPTO_memdup",
    "CRYPTO_aligned_alloc",
    "OPENSSL_malloc",
    "OPENSSL_zalloc",
    "OPENSSL_realloc",
    "gnutls_malloc",
    "gnutls_calloc",
    "gnutls_realloc*",
    "gnutls_strdup",
    "gcry_*alloc*",
    "_gcry_*alloc*",
    "PR_Malloc",
    "PR_Calloc",
    "PR_Realloc",
    "PORT_*Alloc*",
    /* Apache, nginx, PHP, Postgres, MariaDB, SQLite, Redis */
    "apr_palloc*",
    "apr_pcalloc*",
    "apr_pstrdup",
    "apr_pstrndup",
    "apr_pstrmemdup",
    "apr_pmemdup",
    "ngx_alloc",
    "ngx_calloc",
    "ngx_palloc*",
    "ngx_pcalloc",
    "ngx_pnalloc",
    "ngx_memalign",
    "ngx_pmemalign",
    "_emalloc*",
    "_ecalloc*",
    "_erealloc*",
    "_estrdup",
    "_estrndup",
    "_safe_*alloc",
    "__zend_malloc",
    "__zend_calloc",
    "__zend_realloc",
    "zend_mm_alloc*",
    "zend_mm_realloc*",
    "palloc",
    "palloc0",
    "palloc_extended",
    "repalloc*",
    "pstrdup",
    "pnstrdup",
    "pg_malloc*",
    "pg_realloc",
    "pg_strdup",
    "MemoryContextAlloc*",
    "MemoryContextStrdup",
    "AllocSetAlloc*",
    "AllocSetRealloc",
    "my_malloc",
    "my_realloc",
    "my_multi_malloc*",
    "my_strdup",
    "my_strndup",
    "my_memdup",
    "sqlite3Malloc*",
    "sqlite3_malloc*",
    "sqlite3Realloc",
    "sqlite3_realloc*",
    "sqlite3DbMalloc*",
    "sqlite3DbRealloc*",
    "sqlite3DbStrDup",
    "sqlite3DbStrNDup",
    "sqlite3MemMalloc",
    "sqlite3MemRealloc",
    "mallocWithAlarm",
    "dbMallocRawFinish",
    "dbReallocFinish",
    "zmalloc*",
    "zcalloc*",
    "zrealloc*",
    "ztrymalloc*",
    "ztrycalloc*",
    "ztryrealloc*",
    "zstrdup",
    /* Python, Perl, Ruby, Lua, libxml2, talloc, libuv, FFmpeg */
    "PyMem_*alloc*",
    "_PyMem_*",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    "pymalloc_alloc",
    "Perl_safesys*alloc",
    "Perl_safesyscalloc",
    "Perl_savepv*",
    "ruby_xmalloc*",
    "ruby_xcalloc*",
    "ruby_xrealloc*",
    "objspace_x*alloc*",
    "l_alloc",
    "luaM_*alloc*",
    "luaM_growaux_",
    "xmlMemMalloc*",
    "xmlMallocLoc",
    "xmlMemRealloc*",
    "xmlMemStrdup*",
    "xmlStrdup",
    "xmlStrndup",
    "_talloc*",
    "talloc_strdup",
    "talloc_strndup",
    "uv__malloc",
    "uv__calloc",
    "uv__realloc*",
    "uv__strdup",
    "av_malloc*",
    "av_mallocz*",
    "av_calloc",
    "av_realloc*",
    "av_strdup",
    "av_strndup",
    "av_memdup",
    "av_fast_malloc*",
    /* C++ */
    "operator new",
    "operator new[]",
    "std::allocator<*>::allocate",
    "std::__new_allocator<*>::allocate",
    "__gnu_cxx::new_allocator<*>::allocate",
    "__gnu_cxx::malloc_allocator<*>::allocate",
    "__gnu_cxx::__pool_alloc<*>::allocate",
    "std::allocator_traits<*>::allocate",
    "std::__allocate_guarded<*>",
    "std::_Vector_base<*>::_M_allocate",
    "std::_Deque_base<*>::_M_allocate_node",
    "std::_Deque_base<*>::_M_allocate_map",
    "std::__cxx11::_List_base<*>::_M_get_node",
    "std::_Rb_tree<*>::_M_get_node",
    "std::__detail::_Hashtable_alloc<*>::_M_allocate_*",
    "std::__cxx11::basic_string<*>::_M_create",
    "std::__cxx11::basic_string<*>::_S_allocate",
    "std::string::_Rep::_S_create",
    "std::make_unique<*>",
    "std::make_shared<*>",
    "std::allocate_shared<*>",
    "std::pmr::polymorphic_allocator<*>::allocate",
    "std::pmr::memory_resource::allocate",
    "std::__1::allocator<*>::allocate*",
    "std::__1::__libcpp_allocate*",
    "std::__1::__allocate_at_least*",
    "QArrayData::allocate*",
    "QArrayData::reallocate*",
    /* Rust */
    "__rust_alloc*",
    "__rust_realloc",
    "__rdl_alloc*",
    "__rdl_realloc",
    "alloc::alloc::*",
    "<alloc::alloc::Global*>::*",
    "core::alloc::*",
    "<std::alloc::System as *>::*",
    "std::alloc::*",
    "std::sys::*alloc*",
    "alloc::raw_vec::*",
    "<alloc::raw_vec::*",
    "alloc::boxed::Box<*>::new*",
    "<alloc::boxed::Box<*>>::new*",
    "alloc::vec::Vec<*>::with_capacity*",
    "<alloc::vec::Vec<*>>::with_capacity*",
    "alloc::string::String::with_capacity*",
    "<alloc::string::String>::with_capacity*",
    "alloc::slice::<impl [*]>::to_vec*",
    "<*>::to_vec_in*",
    "<[*]>::to_vec",
    "<* as alloc::slice::*::ConvertVec>::to_vec*",
    "<* as <[*]>::to_vec_in::ConvertVec>::to_vec*",
    "hashbrown::raw::*",
    "<hashbrown::raw::*",
};
enum { PATTERNS = sizeof(wrappers_patterns) / sizeof(wrappers_patterns[0]) };

/* Backtracks to one place only, which is enough if "*" is the only wildcard. */
static bool wrappers_matches(const char *pattern, const char *text, const char *end)
{
	const char *star = NULL, *back = NULL;

	while (text < end) {
		if (*pattern == '*') {
			star = pattern++;
			back = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++back;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/*
 * Where the parameters begin: at the last "(" that is not in template
 * arguments.
 */
static const char *end_of_name(const char *function)
{
	const char *end = function + strlen(function), *found = end;
	int depth = 0;

	for (const char *p = function; p < end; p++) {
		if (*p == '<' || (*p == '(' && depth > 0))
			depth++;
		else if (*p == '>' || (*p == ')' && depth > 0))
			depth -= depth > 0;
		else if (*p == '(')
			found = p;
	}
	return found;
}

/* Templates have their return type in front; it ends at a space outside <>. */
static const char *start_of_name(const char *function, const char *end)
{
	const char *start = function;
	int depth = 0;

	for (const char *p = function; p < end; p++) {
		if (strncmp(p, "operator", 8) == 0)
			break;
		if (*p == '<')
			depth++;
		else if (*p == '>')
			depth -= depth > 0;
		else if (*p == ' ' && depth == 0)
			start = p + 1;
	}
	return start;
}

bool wrappers_has(const char *function)
{
	const char *end = end_of_name(function);
	const char *start = start_of_name(function, end);

	for (size_t i = 0; i < PATTERNS; i++)
		if (wrappers_matches(wrappers_patterns[i], start, end))
			return true;
	return false;
}

/* ---- fold: folds recursion in a stack ---- */

static bool same(const struct frame *frames, const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (frames[a[i]].label != frames[b[i]].label)
			return false;
	return true;
}

/* How often the first `period` frames repeat in sequence. */
static size_t times(const struct frame *frames, const uint32_t *at, size_t count, size_t period)
{
	size_t n = 1;

	while ((n + 1) * period <= count && same(frames, at, at + n * period, period))
		n++;
	return n;
}

size_t fold_stack(const struct frame *frames, uint32_t *numbers, uint16_t *repeats, size_t count)
{
	size_t kept = 0, at = 0;

	while (at < count) {
		size_t period = 1, n = 1;

		for (size_t p = 1; p <= FOLD_PERIOD && n == 1; p++) {
			n = times(frames, numbers + at, count - at, p);
			period = p;
		}
		if (n == 1)
			period = 1;
		for (size_t i = 0; i < period; i++) {
			numbers[kept] = numbers[at + i];
			repeats[kept++] = i > 0 ? 1 : n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
		}
		at += n * period;
	}
	return kept;
}
