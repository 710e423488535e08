/* suppress_builtin.c - blocks that libc, loader and libstdc++ never free. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "view/suppress/suppress_parts.h"

/*
 * Found in traces of small programs on Debian 12, with and without debug
 * packages. Without them only exported functions have names, so the entries use
 * these and modules. Each entry covers only what the library owns. What the
 * program gets and has to free (an addrinfo, a FILE, an iconv_t, a locale_t)
 * stays visible.
 */
struct group {
	const char *name;
	const char *why;
	uint64_t max_blocks; /* of one site: more is growth; 0: any */
	const char *text;
};

/* One entry; frames are lines. */
#define ENTRY(frames) "{\n   seep\n   Memcheck:Leak\n" frames "}\n"

static const struct group groups[] = {
    {"libstdc++ emergency pool", "memory for exceptions thrown when there is none, made at start",
        0,
        ENTRY("   obj:*/libstdc++.so*\n   obj:*/ld-linux*\n") ENTRY(
            "   obj:*/libstdc++.so*\n   obj:*/libstdc++.so*\n"
            "   obj:*/ld-linux*\n")
            ENTRY(
                "   obj:*/libstdc++.so*\n   obj:*/libstdc++.so*\n"
                "   obj:*/libstdc++.so*\n   obj:*/ld-linux*\n") "leak:^_GLOBAL__sub_I_eh_alloc.cc$\n"},
    {"C++ locale", "facets of the global locale, kept until the end by libstdc++", 0,
        ENTRY("   ...\n   fun:std::locale::_Impl::_Impl(*\n")
            ENTRY("   ...\n   fun:std::locale::locale(char const*)\n")
                ENTRY("   ...\n   fun:std::locale::global(*\n")
                    ENTRY("   ...\n   fun:std::locale::_S_initialize*\n")},
    {"stdio buffers", "the buffer of a stream; a FILE that was not closed stays visible", 0,
        "leak:^_IO_file_doallocate$\n"
        "leak:^_IO_wfile_doallocate$\n"},
    {"locale data", "what setlocale and newlocale have loaded", 0,
        "leak:^setlocale$\n"
        "leak:^_nl_find_locale$\n"
        "leak:^_nl_load_locale*$\n" ENTRY("   obj:*/libc.so*\n   ...\n   fun:*newlocale\n")},
    {"time zone", "the rules of the time zone in use", 0,
        "leak:^tzset_internal$\n"
        "leak:^tzset$\n"
        "leak:^__tz*$\n"
        "leak:^localtime$\n"
        "leak:^localtime_r$\n"
        "leak:^__localtime*_r$\n"
        "leak:^mktime$\n"
        "leak:^strftime*$\n"
        "leak:^ctime$\n"
        "leak:^ctime_r$\n"
        "leak:^vsyslog$\n"
        "leak:^syslog$\n"
        "leak:^__*syslog_chk$\n"},
    {"name services", "NSS modules, resolver and result buffers of getpwnam and similar functions",
        0,
        "leak:^__nss_*$\n"
        "leak:^nss_*$\n"
        "leak:^__resolv_*$\n"
        "leak:^__res_*$\n"
        "leak:^__check_pf$\n"
        "leak:^getpwnam$\nleak:^getpwuid$\nleak:^getpwent$\n"
        "leak:^getgrnam$\nleak:^getgrgid$\nleak:^getgrent$\n"
        "leak:^gethostbyname$\nleak:^gethostbyname2$\n"
        "leak:^gethostbyaddr$\nleak:^gethostent$\n"
        "leak:^getservbyname$\nleak:^getservbyport$\nleak:^getservent$\n"
        "leak:^getprotobyname$\nleak:^getprotobynumber$\n"
        "leak:^getprotoent$\n"
        "leak:^getnetbyname$\nleak:^getnetbyaddr$\nleak:^getnetent$\n"
        "leak:^getrpcbyname$\nleak:^getrpcbynumber$\nleak:^getrpcent$\n"
        "leak:^getspnam$\nleak:^getspent$\nleak:^getaliasbyname$\n" ENTRY(
            "   obj:*/libc.so*\n   ...\n   fun:getaddrinfo\n")
            ENTRY("   obj:*/libc.so*\n   ...\n   fun:getnameinfo\n")},
    {"character conversion", "modules that iconv keeps loaded; an iconv_t stays visible", 0,
        "leak:^__gconv_find_*$\n" ENTRY("   obj:*/libc.so*\n   ...\n   fun:__gconv_open\n")},
    {"threads' TLS", "of threads that still ran, and of stacks kept for the next thread", 256,
        ENTRY("   ...\n   fun:_dl_allocate_tls\n") ENTRY("   ...\n   fun:__tls_get_addr\n")},
    {"dynamic loader", "its own notes about what is loaded", 0,
        ENTRY("   obj:*/ld-linux*\n   ...\n   fun:_dl_catch_*\n") "leak:^_dlerror_run$\n" ENTRY(
            "   obj:*/libc.so*\n   fun:dlopen\n") ENTRY("   obj:*/libc.so*\n   fun:dlsym\n")
            ENTRY("   obj:*/libc.so*\n   fun:dlerror\n")},
    {"environment", "variables that were set; a loop that sets stays visible", 256,
        "leak:^__add_to_environ$\n"
        "leak:^setenv$\nleak:^putenv$\nleak:^unsetenv$\n"},
    {"message catalogues", "gettext's domains and catalogues", 0,
        "leak:^bindtextdomain$\nleak:^bind_textdomain_codeset$\n"
        "leak:^textdomain$\nleak:^__dcigettext$\nleak:^dcigettext$\n"
        "leak:^gettext$\nleak:^dgettext$\nleak:^dcgettext$\n"
        "leak:^ngettext$\nleak:^dngettext$\nleak:^dcngettext$\n"
        "leak:^_nl_load_domain$\nleak:^_nl_find_domain$\n"},
    {"Rust start-up", "what its runtime notes about the first thread", 0,
        "leak:^std::rt::init$\n"
        "leak:^std::rt::init::*$\n"
        "leak:^std::sys::*::stack_overflow::*::init$\n"},
    {"exit handlers", "the list of what runs at exit", 0,
        "leak:^__new_exitfn$\n" ENTRY("   fun:__cxa_atexit\n")
            ENTRY("   obj:*/libc.so*\n   fun:__cxa_atexit\n")},
};

int suppress_builtin(struct suppress *s)
{
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct group *g = &groups[i];
		int err = suppress_parse(
		    s, g->text, strlen(g->text), "built-in", g->name, g->max_blocks, NULL);

		if (err < 0)
			return err;
	}
	return 0;
}

void suppress_print_builtin(FILE *out)
{
	(void)fputs("# The built-in list of seep: what libc, loader and "
	            "libstdc++ keep on purpose.\n",
	    out);
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		const struct group *g = &groups[i];

		(void)fprintf(out, "\n# %s: %s", g->name, g->why);
		if (g->max_blocks > 0)
			(void)fprintf(out, " (at most %llu blocks of a site)",
			    (unsigned long long)g->max_blocks);
		(void)fprintf(out, "\n%s", g->text);
	}
}
