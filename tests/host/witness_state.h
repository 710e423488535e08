/* witness_state.h - what /proc says of a process that is about to end. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_WITNESS_STATE_H
#define SEEP_TESTS_WITNESS_STATE_H

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Reads at most bytes - 1 of a file; the text is NUL terminated. */
static inline ssize_t state_read(const char *path, char *to, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, used = 0;

	to[0] = '\0';
	if (fd < 0)
		return -1;
	while ((n = read(fd, to + used, bytes - 1 - (size_t)used)) > 0)
		used += n;
	close(fd);
	to[used] = '\0';
	return used;
}

static inline int state_tgid(pid_t tid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (state_read(path, text, sizeof(text)) <= 0)
		return -1;
	char *line = strstr(text, "\nTgid:");

	return line ? atoi(line + 6) : -1;
}

static inline void state_exe(pid_t pid, char *to, size_t bytes)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t n = readlink(path, to, bytes - 1);

	to[n > 0 ? n : 0] = '\0';
}

/* Where the code of a library lies; false: not (yet) there. */
static inline int state_find_code(
    pid_t pid, const char *lib, unsigned long *ret_lo, unsigned long *ret_hi)
{
	char path[64], line[PATH_MAX + 128];
	int found = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "re");

	while (f && !found && fgets(line, sizeof(line), f)) {
		unsigned long lo, hi;
		char mode[8];

		line[strcspn(line, "\n")] = '\0';
		size_t n = strlen(line), m = strlen(lib);

		found = n > m && !strcmp(line + n - m, lib) &&
		    sscanf(line, "%lx-%lx %7s", &lo, &hi, mode) == 3 && mode[2] == 'x';
		if (found) {
			*ret_lo = lo;
			*ret_hi = hi;
		}
	}
	if (f)
		fclose(f);
	return found;
}

/* One line per descriptor: F number flags target. */
static inline void state_descriptors(FILE *out, const char *base)
{
	char path[PATH_MAX], target[PATH_MAX], info[1024];
	struct dirent **names;

	snprintf(path, sizeof(path), "%s/fd", base);
	int n = scandir(path, &names, NULL, versionsort);

	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;

		if (name[0] != '.') {
			snprintf(path, sizeof(path), "%s/fd/%s", base, name);
			ssize_t k = readlink(path, target, sizeof(target) - 1);

			target[k > 0 ? k : 0] = '\0';
			snprintf(path, sizeof(path), "%s/fdinfo/%s", base, name);
			state_read(path, info, sizeof(info));
			char *flags = strstr(info, "flags:");

			fprintf(out, "F %s %lo %s\n", name, flags ? strtoul(flags + 6, NULL, 8) : 0,
			    target);
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

/* One line each: X status|limit ... */
static inline void state_lines(FILE *out, const char *base)
{
	static const char *const wanted[] = {"Umask", "Uid", "Gid", "Groups", "SigPnd", "ShdPnd",
	    "SigBlk", "SigIgn", "SigCgt", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp:", "VmLck",
	    "THP_enabled", "Cpus_allowed:"};
	char path[PATH_MAX], text[16384], *line, *rest;

	snprintf(path, sizeof(path), "%s/status", base);
	state_read(path, text, sizeof(text));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])))
				fprintf(out, "X status %s\n", line);
	snprintf(path, sizeof(path), "%s/limits", base);
	state_read(path, text, sizeof(text));
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		fprintf(out, "X limit %s\n", line);
}

static inline void state_links(FILE *out, const char *base)
{
	static const char *const links[] = {"cwd", "root"};
	static const char *const files[] = {"oom_score_adj", "coredump_filter"};
	char path[PATH_MAX], target[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", base, links[i]);
		ssize_t n = readlink(path, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		fprintf(out, "X %s %s\n", links[i], target);
		snprintf(path, sizeof(path), "%s/%s", base, files[i]);
		state_read(path, target, sizeof(target));
		target[strcspn(target, "\n")] = '\0';
		fprintf(out, "X %s %s\n", files[i], target);
	}
}

/* All of it as text, for free(); NULL: it was gone already. */
static inline char *state_take(pid_t pid, pid_t tid)
{
	char base[64], *text = NULL;
	size_t bytes = 0;

	/* of the thread that ends: the first may be a zombie by now */
	snprintf(base, sizeof(base), "/proc/%d/task/%d", (int)pid, (int)tid);
	if (access(base, F_OK) != 0)
		return NULL;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	state_descriptors(out, base);
	state_lines(out, base);
	state_links(out, base);
	fclose(out);
	return text;
}

#endif
