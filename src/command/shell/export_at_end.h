/* export_at_end.h - exports a finished recording to another tool's format. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_EXPORT_AT_END_H
#define SEEP_EXPORT_AT_END_H

#include <stdbool.h>

/* Prints one line and exits with 2 unless there is a format of that name. */
void export_at_end_check(const char *command, const char *format);

/*
 * Writes PROGRAM-PID-NUMBER.EXTENSION into the working directory for each
 * process of the recording, as seep export does, and prints these names to
 * stderr unless `quiet`. A failure is printed there and changes nothing else.
 */
void export_at_end(const char *recording, const char *format, bool quiet);

#endif
