/* secure.h - may a program of the user's choice run with our privileges? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SECURE_H
#define SEEP_SECURE_H

/*
 * A pager can start a shell, and a browser is a large program for a page with
 * foreign texts. A user who runs seep by sudo asked for neither to run as root.
 * The rule is that of systemd's SYSTEMD_PAGERSECURE: SEEP_PAGERSECURE=1 or 0
 * decides; without it, root gets the secure mode.
 */
enum secure {
	SECURE_NO,    /* no restriction */
	SECURE_ASKED, /* LESSSECURE is set, for any pager */
	SECURE_AUTO,  /* the same, and only less is started, which heeds it */
};

enum secure secure_mode(void);

#endif
