/* foreign_parts.h - what the command and the helpers of foreign.h share. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_PARTS_H
#define SEEP_FOREIGN_PARTS_H

#include "base/std.h"

#include <sys/ioctl.h>

#include "host/memory/foreign.h"
#include "host/memory/foreign_ask.h"
#include "kit/os/helper.h"

enum {
	FOREIGN_PATIENCE_NS = 2000000000,
	FOREIGN_RUNS = 65536, /* in one answer */
};

/*
 * In memory that both processes map. A byte on the socket announces a request,
 * and a byte in the other direction the answer.
 */
struct foreign_window {
	struct foreign_range ranges[FOREIGN_BATCH_RANGES];
	uint32_t count; /* number of ranges; in an answer, of runs */
	int32_t err;    /* error of the whole batch, negative errno */
	/*
	 * 0: read the ranges. Otherwise: find the kinds of pages up to here; in
	 * the answer, how far that got.
	 */
	uint64_t present_end, next;
	uint8_t pages[FOREIGN_BATCH_PAGES];
	_Alignas(FOREIGN_PAGE_BYTES) uint8_t bytes[FOREIGN_BATCH_PAGES * FOREIGN_PAGE_BYTES];
};

/* Files of /proc/PID; -1: it could not be opened. */
struct foreign_files {
	int pagemap, maps, mounts, memory;
};

/* What the helper has: its descriptors, and the process that it reads. */
struct foreign_helper {
	struct foreign_window *window;
	struct foreign_options options;
	pid_t pid;
	int socket;
	int process; /* -1: the files are open; else the directory in /proc */
	struct foreign_files files;
	uint64_t shm_device; /* of memfd and shared anonymous mappings */
};

/*
 * May wait for as long as the process likes: one that calls exec holds a lock
 * meanwhile. -EPERM, -ESRCH, -errno; then nothing is open.
 */
int foreign_open_files(int process, struct foreign_files *ret);

/*
 * PAGEMAP_SCAN of Linux 6.7, which older headers lack: finds pages of a process
 * by their kind.
 */
struct foreign_scan {
	uint64_t size, flags, start, end, walk_end;
	uint64_t regions, region_count, max_pages;
	uint64_t inverted, all_of, any_of, wanted;
};

struct foreign_scan_region {
	uint64_t start, end, categories;
};

enum {
	FOREIGN_SCAN_FILE = 4,
	FOREIGN_SCAN_PRESENT = 8,
	FOREIGN_SCAN_SWAPPED = 16,
	FOREIGN_SCAN_ZERO = 32,   /* read, but never written: no memory */
	FOREIGN_SCAN_GUARD = 256, /* Linux 6.15 */
};

#define FOREIGN_PAGEMAP_SCAN _IOWR('f', 16, struct foreign_scan)

/* In the child: a helper (kit/os/helper.h); h is a struct foreign_helper. */
int foreign_help(int socket, void *h);

/* What all helpers here give up. */
#define FOREIGN_HELPER (HELPER_DIES | HELPER_SIGNALS | HELPER_SECRET | HELPER_DARK | HELPER_CLOSES)

/*
 * From here on the child may only read and write its descriptors, ask which
 * pages of a process are present, read the memory of this one process, sleep, ask
 * for the time and how often it has slept, and exit. If the kernel has no filters, it may do more.
 */
void foreign_confine(pid_t pid);

/*
 * Ends a child by SIGKILL. False: it hangs in the kernel even so. Then it is
 * left behind, and counted for foreign_may_start().
 */
bool foreign_end(pid_t child);

/* Ends a child that has answered everything, without waiting for its end. */
void foreign_dismiss(pid_t child);

/*
 * False: so many helpers have been left behind in this run that no more are
 * started.
 */
bool foreign_may_start(void);

/* ---- foreign_answer: the helper of foreign_ask.h: its side of the protocol ---- */

/*
 * It gets a struct foreign_request and sends chunks, each behind its length. The
 * length 0 ends the answer, and so does a negative errno. FOREIGN_OPEN and
 * FOREIGN_WRITE are answered by a struct foreign_opened, with a descriptor if its
 * err is 0.
 */
enum { FOREIGN_CHUNK = 65536 };

struct foreign_opened {
	int32_t err;
	struct stat stat;
};

/* In the child: a helper (kit/os/helper.h). */
int foreign_answer(int socket, void *nothing);

#endif
