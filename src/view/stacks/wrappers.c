/* wrappers.c - well-known functions that only pass an allocation on. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/stacks/wrappers.h"

#include <string.h>

/*
 * A "*" stands for any text. A name belongs here if the function returns what
 * it got from an allocator, and its own line is of no interest. Names are
 * without parameters and without the return type of templates.
 */
static const char *const patterns[] = {
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
enum { PATTERNS = sizeof(patterns) / sizeof(patterns[0]) };

/* Backtracks to one place only, which is enough if "*" is the only wildcard. */
static bool matches(const char *pattern, const char *text, const char *end)
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
		if (matches(patterns[i], start, end))
			return true;
	return false;
}
