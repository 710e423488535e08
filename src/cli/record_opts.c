/* record_opts.c - the command line of seep record. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record_opts.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"

#define MS UINT64_C(1000000)

enum {
	DEPTH_MAX = 4096,
	INTERVAL_MIN_MS = 10,
	INTERVAL_MAX_MS = 3600 * 1000,
};

static const char usage[] =
    "usage: seep record [-o FILE] [--force] [-q] [--sample BYTES]\n"
    "                   [--interval T] [--depth N] [--no-follow] [--wait]\n"
    "                   [--] CMD [ARG...]\n"
    "\n"
    "Runs CMD with the collector in it and in its children, and writes to\n"
    "FILE what they allocate, over time, while they run. The exit status is\n"
    "that of CMD, 128+N when it died by signal N; 125 when seep itself\n"
    "failed, 126 when CMD cannot be executed, 127 when it was not found.\n"
    "\n"
    "  -o, --output FILE  default seep.data, where an old one becomes\n"
    "                     seep.data.old; %p in it is the pid of CMD, %h the\n"
    "                     host, %e the name of CMD, %t the time, %% a '%'\n"
    "      --force        replace an existing FILE\n"
    "  -q, --quiet        no summary at the end\n"
    "      --sample BYTES record one block in about so many bytes (512K, 1M)\n"
    "      --interval T   between two points in time: 100ms, 2s, 1m; default\n"
    "                     100ms, after 100 s 1s, after an hour 10s\n"
    "      --depth N      frames kept of a stack\n"
    "      --no-follow    record CMD alone, not its children\n"
    "      --wait         wait for the last process of the tree, not only\n"
    "                     for CMD\n";

static unsigned
depth_from(const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 1 || n > DEPTH_MAX)
		die(CMD_USAGE,
		    "record: --depth takes a number from 1 to %d, "
		    "not '%s'",
		    DEPTH_MAX, text);
	return (unsigned)n;
}

/* Digits, then what follows them; false: no number. */
static bool
number_from(const char *text, uint64_t *ret, const char **ret_unit)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	*ret_unit = end;
	return text[0] >= '0' && text[0] <= '9' && !errno;
}

static uint64_t
interval_from(const char *text)
{
	uint64_t n, ms = 0;
	const char *unit;

	if (number_from(text, &n, &unit) && n <= INTERVAL_MAX_MS) {
		if (!strcmp(unit, "ms"))
			ms = n;
		else if (!strcmp(unit, "s"))
			ms = n * 1000;
		else if (!strcmp(unit, "m"))
			ms = n * 60000;
	}
	if (ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS)
		die(CMD_USAGE,
		    "record: --interval takes a time from 10ms to 60m with its "
		    "unit (ms, s, m), not '%s'",
		    text);
	return ms * MS;
}

static uint64_t
sample_from(const char *text)
{
	const char *unit;
	uint64_t n;

	if (number_from(text, &n, &unit)) {
		unsigned shift = 0;

		if (*unit == 'K' || *unit == 'k')
			shift = 10;
		else if (*unit == 'M')
			shift = 20;
		unit += shift ? 1 : 0;
		if (*unit == '\0' && n >= 1 && n <= UINT64_C(1) << (40 - shift))
			return n << shift;
	}
	die(CMD_USAGE,
	    "record: --sample takes a number of bytes, as 524288, 512K or 1M, "
	    "not '%s'",
	    text);
}

static void
check_pattern(const char *output)
{
	for (const char *p = strchr(output, '%'); p; p = strchr(p, '%')) {
		if (!p[1] || !strchr("phet%", p[1]))
			die(CMD_USAGE,
			    "record: '%s': in the name of the output %%p, %%h, "
			    "%%e, %%t and %%%% have a meaning, nothing else",
			    output);
		p += 2;
	}
}

enum {
	OPT_FORCE = 256,
	OPT_NO_FOLLOW,
	OPT_WAIT,
	OPT_DEPTH,
	OPT_HELP,
	OPT_SAMPLE,
	OPT_INTERVAL,
};

static void
take(struct record_options *o, int c, char **argv)
{
	switch (c) {
	case 'o':
		o->output = optarg;
		break;
	case 'q':
		o->quiet = true;
		break;
	case OPT_FORCE:
		o->force = true;
		break;
	case OPT_NO_FOLLOW:
		o->no_follow = true;
		break;
	case OPT_WAIT:
		o->wait = true;
		break;
	case OPT_DEPTH:
		o->depth = depth_from(optarg);
		break;
	case OPT_SAMPLE:
		o->sample_bytes = sample_from(optarg);
		break;
	case OPT_INTERVAL:
		o->interval_ns = interval_from(optarg);
		break;
	case 'h':
	case OPT_HELP:
		fputs(usage, stdout);
		exit(fflush(stdout) == 0 ? CMD_OK : CMD_INPUT);
	case ':':
		die(CMD_USAGE, "record: %s needs an argument",
		    argv[optind - 1]);
	default:
		die(CMD_USAGE,
		    "record: unknown option '%s'; options of CMD follow "
		    "CMD, see seep record --help",
		    argv[optind - 1]);
	}
}

void
record_opts_parse(int argc, char **argv, struct record_options *o)
{
	static const struct option table[] = {
	    {"output", required_argument, NULL, 'o'},
	    {"force", no_argument, NULL, OPT_FORCE},
	    {"quiet", no_argument, NULL, 'q'},
	    {"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
	    {"wait", no_argument, NULL, OPT_WAIT},
	    {"depth", required_argument, NULL, OPT_DEPTH},
	    {"help", no_argument, NULL, OPT_HELP},
	    {"sample", required_argument, NULL, OPT_SAMPLE},
	    {"interval", required_argument, NULL, OPT_INTERVAL},
	    {NULL, 0, NULL, 0},
	};
	int c;

	memset(o, 0, sizeof(*o));
	optind = 0;
	opterr = 0;
	/* '+': what follows CMD is CMD's own */
	while ((c = getopt_long(argc, argv, "+:o:qh", table, NULL)) != -1)
		take(o, c, argv);
	if (optind >= argc)
		die(CMD_USAGE,
		    "record: which command? seep record [OPTIONS] CMD [ARG...]");
	if (o->output && !o->output[0])
		die(CMD_USAGE, "record: -o needs the name of a file");
	if (o->output)
		check_pattern(o->output);
	o->command = argv + optind;
}

bool
record_opts_needs_pid(const struct record_options *o)
{
	for (const char *p = o->output; p && *p; p++) {
		if (p[0] != '%')
			continue;
		if (p[1] == 'p')
			return true;
		p++;
	}
	return false;
}

/* A name of its own, wherever it comes from: no directories. */
static void
put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		(void)putc(*name == '/' ? '_' : *name, f);
}

static void
expand(FILE *f, const struct record_options *o, char what, pid_t pid)
{
	const char *slash = strrchr(o->command[0], '/');
	char host[256] = "";

	switch (what) {
	case 'p':
		(void)fprintf(f, "%d", (int)pid);
		break;
	case 'h':
		(void)gethostname(host, sizeof(host) - 1);
		put_name(f, host);
		break;
	case 'e':
		put_name(f, slash ? slash + 1 : o->command[0]);
		break;
	case 't':
		(void)fprintf(f, "%lld", (long long)time(NULL));
		break;
	default:
		(void)putc('%', f);
	}
}

bool
record_opts_output(
    const struct record_options *o, pid_t pid, char *to, size_t bytes)
{
	FILE *f = fmemopen(to, bytes, "w");
	long len;

	if (!f)
		return false;
	for (const char *p = o->output; *p; p++) {
		if (*p == '%')
			expand(f, o, *++p, pid);
		else
			(void)putc(*p, f);
	}
	(void)putc('\0', f);
	(void)fflush(f);
	len = ferror(f) ? -1 : ftell(f);
	(void)fclose(f);
	return len > 0 && (size_t)len < bytes && strlen(to) + 1 == (size_t)len;
}
