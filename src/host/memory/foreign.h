/* foreign.h - reads the memory of another process, with a deadline. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FOREIGN_H
#define SEEP_FOREIGN_H

#include "base/std.h"
#include "kit/os/fault.h"

/*
 * A page of a foreign process may never come: its file is on FUSE, or a
 * userfaultfd stands behind it. Who reads it waits, some of them beyond
 * SIGKILL. So a helper process reads, and this one waits for it no longer than
 * a deadline; a helper that cannot be ended is left behind.
 *
 * Only pages that the process has now are read, and of these its own: anonymous
 * ones, written ones of private mappings, and shared memory (tmpfs, memfd,
 * shared anonymous mappings). A page of any other file never is. So looking
 * costs the process no memory and calls nobody.
 *
 * Everything that comes from there is untrusted, and changes meanwhile.
 */
struct foreign;

enum {
	FOREIGN_PAGE_BYTES = 4096,
	FOREIGN_BATCH_PAGES = 2048,
	FOREIGN_BATCH_RANGES = 256,
};

enum foreign_page {
	FOREIGN_UNTOUCHED, /* never touched, or not mapped: zeros */
	FOREIGN_READ,
	FOREIGN_SWAPPED, /* swapped out; read only if the options say so */
	FOREIGN_FILE,    /* not read: a page of a file that was not written */
	FOREIGN_REFUSED, /* no right to it, device memory, gone meanwhile */
	FOREIGN_KINDS,
};

struct foreign_options {
	uint64_t patience_ns; /* for one batch; 0: 2 s */
	/*
	 * For each 64 KiB that is read; then there are also rests where the
	 * process maps memory (foreign_ask.h). 0: none, because the process
	 * waits for us, or little is read.
	 */
	uint32_t rest_us;
	bool with_swapped; /* the kernel fetches them, which takes memory */
	bool with_files;   /* also resident pages of files */
};

/* Whole pages; start is a multiple of FOREIGN_PAGE_BYTES. */
struct foreign_range {
	uint64_t start, pages;
};

/*
 * The pages of all ranges, one behind the other: page i is at bytes + i *
 * FOREIGN_PAGE_BYTES, and pages[i] is its enum foreign_page. All but
 * FOREIGN_READ are zeros. Valid until the next call.
 */
struct foreign_batch {
	const uint8_t *bytes, *pages;
	size_t count;
};

/*
 * Starts the helper. -EPERM: we may not look; -ESRCH: no such process;
 * -ETIMEDOUT: too many helpers of this run have been left behind, or this one
 * does not answer; or what fork() and mmap() say. o may be NULL.
 */
int foreign_open(
    pid_t pid, const struct foreign_options *o, struct foreign **ret, struct fault *where);

/*
 * Reads up to FOREIGN_BATCH_RANGES ranges with up to FOREIGN_BATCH_PAGES pages
 * together. -EINVAL: more, or none; -ESRCH: the process has ended, or become
 * another program; -EPERM; -ETIMEDOUT: a page does not come, now and for all
 * later calls; -EIO: the helper has ended.
 */
int foreign_read(struct foreign *f, const struct foreign_range *ranges, size_t count,
    struct foreign_batch *ret, struct fault *where);

/* Consecutive pages of one kind. */
struct foreign_run {
	uint64_t start, pages;
	uint32_t kind; /* enum foreign_page, never FOREIGN_UNTOUCHED */
	uint32_t reserved;
};

/*
 * Which kinds of pages are in [start, end), which are multiples of
 * FOREIGN_PAGE_BYTES, without reading them: so a reserve of many gigabytes
 * costs little. The answer may end earlier: *ret_next is where to ask again, or
 * end. The runs are valid until the next call. Errors as of foreign_read().
 */
int foreign_present(struct foreign *f, uint64_t start, uint64_t end, const struct foreign_run **ret,
    size_t *ret_count, uint64_t *ret_next, struct fault *where);

/*
 * Is it still the process and the program that were opened? If so, everything
 * read before belongs to it.
 */
bool foreign_is_same(const struct foreign *f);

/* NULL is fine. Never waits for a helper that hangs. */
void foreign_close(struct foreign *f);

/*
 * Opens the files of a process of our own now, for a child of ours that will
 * call foreign_open(): with kernel.yama.ptrace_scope 1 an ancestor of the
 * process may open them, and a child of that ancestor may not. Until the next
 * call, or foreign_take_back(); a fork hands them on.
 */
void foreign_lend(pid_t pid);
void foreign_take_back(void);

/*
 * The text of a file in /proc/PID whose reader waits for the process, NUL
 * terminated, for free(): `maps`, `environ`, `cmdline`, `smaps` (its lock, its
 * memory), `fdinfo/N` (the lock of an epoll descriptor). A process can hold
 * such a lock for as long as it likes. So a helper reads the files of other
 * users' processes, with a deadline of 2 s. A process that misses it is not
 * asked again for 30 s, and all that miss it may cost 2 s and a tenth of the
 * run; beyond that each of them costs 10 ms.
 * -ENOENT, -ESRCH, -EACCES, -ENOMEM, -EFBIG, -ETIMEDOUT, -EIO.
 */
enum { FOREIGN_NAME_BYTES = 32 };
int foreign_text(pid_t pid, const char *name, char **ret, size_t *ret_len);

#endif
