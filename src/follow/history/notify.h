/* notify.h - tells the service manager how we are: the protocol of sd_notify. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NOTIFY_H
#define SEEP_NOTIFY_H

#include <stdint.h>

/*
 * Sends lines like "READY=1" in one datagram to NOTIFY_SOCKET. Without a
 * service manager nothing happens, and a failure is none of ours.
 */
void notify_send(const char *lines);

/* Between two signs of life that the service manager wants; 0: none. */
uint64_t notify_watchdog_ns(void);

#endif
