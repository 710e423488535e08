/* http.h - the server: connections, limits, who may ask, replies. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTTP_H
#define SEEP_HTTP_H

#include "base/std.h"
#include "kit/os/fault.h"

/*
 * libmicrohttpd parses requests; it has no thread of its own here, and runs
 * inside http_step(). The limits are ours: HTTP_PEERS connections, of which the
 * one that has been without a complete request for longest gives way to a new
 * one, or else one that does not read its reply; HTTP_HEADER_BYTES of request line and headers;
 * HTTP_READ_S until a request is complete; HTTP_SEND_S until its reply is sent.
 */
enum {
	HTTP_PEERS = 64,
	HTTP_HEADER_BYTES = 8192,
	HTTP_READ_S = 10,
	HTTP_SEND_S = 60,
};

struct http;

/* One request, until its reply is sent or its client has gone. */
struct http_exchange;

struct http_plan {
	int listen_fd;     /* stays the caller's; -1: none, see http_add() */
	const char *token; /* NULL: anybody may ask */
	/*
	 * A page of another site that a browser shows can have its name resolve
	 * to our address. Its requests then have the name of that site as Host.
	 * So only numbers, "localhost" and these names are served.
	 */
	bool any_host;
	const char *const *hosts;
	size_t host_count;
	/* Replies, or defers: see http_defer(). GET and HEAD alone come here. */
	void (*answer)(void *context, struct http_exchange *x);
	/* The client of a deferred exchange has gone; a reply is lost. */
	void (*gone)(void *context, struct http_exchange *x);
	void *context;
};

/* -ENOMEM, -EMFILE and so on. The plan is copied, its texts are not. */
int http_new(const struct http_plan *plan, struct http **ret);
void http_free(struct http *h); /* NULL is fine */

/* Takes over a connected socket that does not block. */
int http_add(struct http *h, int fd);

/* Readable when http_step() has something to do. */
int http_fd(const struct http *h);

/* At most so long until http_step(), in ms; -1: any time. */
int http_wait_ms(const struct http *h);
void http_step(struct http *h);

/* In a forked child: the sockets of all clients are closed. */
void http_forget_sockets(struct http *h);

/* ---- one request ---- */

/* Decoded, with its first slash. */
const char *http_path(const struct http_exchange *x);

/* The value of "?name=value", decoded, or NULL. */
const char *http_query(struct http_exchange *x, const char *name);

/* The value of a header, or NULL. */
const char *http_header(struct http_exchange *x, const char *name);

/* A header of the reply that is to come; texts are copied. */
void http_put(struct http_exchange *x, const char *name, const char *value);

/* `bytes` are of malloc() and taken over. */
void http_reply(
    struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t len);

/* A line of text. */
void http_reply_text(struct http_exchange *x, unsigned status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* All of a file; `fd` is taken over. */
void http_reply_file(struct http_exchange *x, const char *type, int fd, uint64_t bytes);

/*
 * The reply comes later, from another step. The exchange is then valid until
 * the reply, or until `gone`.
 */
void http_defer(struct http_exchange *x);

/* What happened so far. */
struct http_counts {
	uint64_t connections, refused, evicted;
	uint64_t replies[6]; /* by hundreds of their status */
	unsigned open;
};
struct http_counts http_counts(const struct http *h);

/* ---- token: the secret that a client must know ---- */

enum {
	TOKEN_LEAST = 16,       /* characters */
	TOKEN_MOST = 512,       /* that we ask for */
	TOKEN_SENT_MOST = 8192, /* that another server asks for: a JWT */
};

/*
 * The first line of a file that nobody but its owner, who is root or we, may
 * read or write; for token_free(). Negative errno, with words: -EPERM: others may read it;
 * -EINVAL: no line of TOKEN_LEAST to `most` printable characters; `most` is at most
 * TOKEN_SENT_MOST.
 */
int token_read(const char *path, size_t most, char **ret, struct fault *where);
void token_free(char *token); /* clears it; NULL is fine */

/*
 * Does the value of a header "Authorization" (NULL: there is none) prove it?
 * "Bearer TOKEN", or "Basic" of any name and TOKEN as password. The time that
 * this takes depends on the length of the header alone.
 */
bool token_fits(const char *token, const char *authorization);

#endif
