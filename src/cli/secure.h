/* secure.h - may a helper of the user's choice run with our privileges? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_SECURE_H
#define SEEP_CLI_SECURE_H

/*
 * A pager can give a shell, and a browser is a large program for a page with
 * texts of others: as root neither is what the user asked for by sudo. The model
 * is systemd's SYSTEMD_PAGERSECURE: SEEP_PAGERSECURE=1 or 0 decides; without it
 * root is on the safe side.
 */
enum secure {
	SECURE_NO,    /* as the user likes */
	SECURE_ASKED, /* LESSSECURE is set, for whatever the pager is */
	SECURE_AUTO,  /* the same, and only less is started, which heeds it */
};

enum secure secure_mode(void);

#endif
