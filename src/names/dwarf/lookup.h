/* lookup.h - reads the files of one module, and names its addresses. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOOKUP_H
#define SEEP_LOOKUP_H

#include "base/std.h"

#include <libelf.h>

#include "names/find/wire.h"

/* Nothing is owned. */
struct lookup_request {
	struct name_table_key key;
	const uint64_t *addresses; /* sorted; as in the ELF file */
	size_t count;
	bool symbols_only; /* do not read DWARF */
	int jail_error;    /* 0, or why there is no jail: leave DWARF alone */
};

/*
 * Runs in the jail: files are untrusted, and the libraries that read them may
 * crash, loop or use up all memory. Asks for files through ask.h and writes
 * items of wire.h, the last of them WIRE_DONE; both through fd. 0, or an error.
 */
int lookup_run(const struct lookup_request *r, int fd);

/* ---- symbols: the functions or variables of one ELF file, sorted by address ---- */

/* Keeps its own copy of the symbols. */
struct symbols;

enum symbols_kind {
	SYMBOLS_CODE, /* functions */
	SYMBOLS_DATA, /* variables */
	SYMBOLS_TLS,  /* thread-local ones: offsets, not addresses */
};

/*
 * From .symtab, or from .dynsym if `dynamic`. -ENODATA: it has none; -EFBIG;
 * -ENOMEM.
 */
int symbols_new(Elf *elf, bool dynamic, enum symbols_kind kind, struct symbols **ret);

/* NULL is fine. */
void symbols_free(struct symbols *s);

/*
 * Name of the function that contains the address; NULL: none. *ret_file: the
 * source file of a local function, or NULL. Valid as long as s.
 */
const char *symbols_name(const struct symbols *s, uint64_t address, const char **ret_file);

/* Have several functions of C++ that address? Any of them may have been called. */
bool symbols_is_folded(const struct symbols *s, uint64_t address);

/* A variable, and which of its bytes the address is. */
struct symbols_variable {
	const char *name;
	const char *file; /* of a local one; or NULL */
	uint64_t offset;
	bool is_local; /* the linker does not let others see it */
};

/* Of SYMBOLS_DATA or SYMBOLS_TLS; false: the address is in no variable. */
bool symbols_variable(const struct symbols *s, uint64_t address, struct symbols_variable *ret);

/* ---- perfmap: functions made by a run-time compiler: /tmp/perf-PID.map ---- */

struct opener;

struct perfmap_process {
	uint32_t pid;      /* in its own pid namespace */
	pid_t running_pid; /* its pid in our namespace while it runs, else 0 */
	uint64_t start_ns; /* start time, since 1970 */
	int root_fd;       /* its root, open in this process; 0: it is not */
};

/*
 * For the parent. The file must be a regular file that belongs to the process's
 * user (to us, if the process has ended) or to root, and it must not be older
 * than the process. If ret_fd is NULL, this only checks. -ENOENT: there is
 * none; -EPERM: it belongs to somebody else; -ESTALE: of an earlier process
 * with that pid; -ETIMEDOUT.
 */
int perfmap_open(struct opener *o, const struct perfmap_process *p, int *ret_fd);

enum { PERFMAP_MAX_BYTES = 64 << 20, PERFMAP_MAX_LINES = 2000000 };

/* What the lines of a map did not give. */
struct perfmap_gaps {
	/* there were more lines, and addresses that got no name so far */
	bool is_cut;
	size_t malformed; /* lines that were skipped */
};

/* name has no NUL; called once for each address. */
typedef void perfmap_found(void *context, size_t number, const char *name, size_t len);

/*
 * For the jail: the file is untrusted. Addresses are sorted. If several lines
 * contain an address, the last one counts, so only the end of a long file is
 * read, and no line before those that name all addresses. Takes time in
 * proportion to lines plus addresses. -ENOMEM, -EIO.
 */
int perfmap_read(int fd, const uint64_t *addresses, size_t count, perfmap_found *found,
    void *context, struct perfmap_gaps *ret);

#endif
