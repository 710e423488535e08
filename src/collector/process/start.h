/* start.h - start and exit of a process, its header and its tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_START_H
#define SEEP_START_H

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "collector/heap/ledger.h"
#include "collector/segment/segment.h"
#include "collector/segment/slots.h"
#include "format/format.h"

/*
 * Once in the life of a process that was started by exec, by its first thread.
 * If `why` is a reason to decline, or if another one is found, there will be a
 * segment that says so, and nothing is recorded. A program that SEEP_ONLY
 * leaves out has none. argv may be NULL.
 */
void start_process(char **argv, char **envp, enum seg_inert why);

/*
 * By an event in a process that has not started, which may come before our
 * constructor: starts the process, if that is possible already. Unit tests link
 * without entry.c, because they start the collector themselves.
 */
void entry_first_event(void);

/* ---- exit: the exit of a process: what still lives goes into its segment ---- */

/*
 * By our destructor. Ages and sizes of the blocks that live are known to the
 * live map alone, which dies with the process, so they are added to the
 * segment, for 50 ms at most. Events go on afterwards and are recorded. With
 * SEEP_LEAKS=1 it waits before that until a reader has looked at the process.
 */
void exit_process(void);

/* At the start: finds libc's number of threads. */
void exit_wait_start(void);

/* ---- dl: the hooks of dlopen, dlmopen and dlclose: objects come and go ---- */

/* <dlfcn.h> declares them; here they are visible to the host. */
SEEP_EXPORT int dlclose(void *handle);
SEEP_EXPORT void *dlopen(const char *file, int mode);
SEEP_EXPORT void *dlmopen(long nsid, const char *file, int mode);

/* ---- notice: a note of a process whose directory belongs to another user ---- */

/*
 * Without /dev/shm/seep-UID there is no segment. But a header can be left in a
 * directory that this process makes for it, /dev/shm/seep-UID-XXXXXXXX, whose
 * name nobody can guess. The file COMM-PID-XXXXXXXX.seg in it has 8 KiB and
 * mode 0400. It says that the process is inert, and the uid of the other
 * directory's owner. There are a few hundred of them at most, however many
 * processes there are.
 *
 * Start-up. Nothing stays mapped or open.
 */
void notice_write(uint32_t owner, char **argv);

/* ---- tables: the list of all tables in the segment of this process ---- */

enum {
	TABLES_MAX = LEDGER_TABLES + 9,
};

/* Fills `ret` with at most TABLES_MAX of them, and returns how many. */
size_t tables_all(struct segment_table **ret);

/* ---- describe: what the header of a segment says about its process ---- */

enum { DESCRIBE_PATH_BYTES = 4096 }; /* of a path, with its NUL */

/* The path of the executable; empty if it is not known. Start-up. */
void describe_exe(char to[DESCRIBE_PATH_BYTES]);

/*
 * Pid, boot, working directory and command line of this process. `exe` is what
 * describe_exe() found, argv may be NULL. Start-up.
 */
void describe_process(struct seg_header *h, char **argv, const char *exe);

/*
 * The same for a forked child, from a private copy of its parent's header: no
 * system call is made. A pid of 0 means that it is not known. The number tells
 * children of one parent that have the same pid, each in a namespace of its own.
 */
void describe_child(
    struct seg_header *h, const struct seg_header *parent, uint32_t pid, uint32_t number);

/* Which directory was asked for, and could not be used. Start-up. */
void describe_place(struct seg_header *h);

/*
 * Where the live map, the table of our own memory and the control block are in
 * the memory of this process, for other processes.
 */
void describe_memory(struct seg_header *h);

/* Where the slots are: behind `segment_bytes` of the same file, if it has any. */
void describe_slots(struct seg_header *h, const struct slots *s, uint64_t segment_bytes);

#endif
