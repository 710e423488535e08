/* std.h - the headers of libc that nearly every file of the command needs. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_STD_H
#define SEEP_STD_H

/*
 * A header of the command includes this first, and a .c file has it by its own header. The
 * collector names its headers one by one, because it must not use most of these.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#endif
