/* fuzz_net_http.c - requests of any kind to the server, and what it replies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "follow/serve/http.h"
#include "follow/serve/metrics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TOKEN "0123456789abcdef"

/* As serve_replies.c does, with all that comes from a client. */
static void answer(void *context, struct http_exchange *x)
{
	const char *service = http_query(x, "service");
	struct metrics m = {.is_open = metrics_wants_open(http_header(x, "Accept"))};
	char *text = NULL;
	size_t len = 0;

	(void)context;
	m.out = open_memstream(&text, &len);
	if (!m.out)
		abort();
	metrics_family(&m, "a", METRICS_COUNTER, "b");
	metrics_put(&m, 1, "path", http_path(x), "service", service ? service : "", METRICS_LAST);
	metrics_end(&m);
	if (fclose(m.out) != 0)
		abort();
	/* whatever the client sent, a sample is one line */
	for (size_t i = 0, lines = 0; i < len; i++) {
		lines += text[i] == '\n';
		if (lines > 4u || ((unsigned char)text[i] < ' ' && text[i] != '\n'))
			abort();
	}
	if (http_query(x, "later"))
		http_defer(x);
	http_put(x, "X-Test", "y");
	http_reply(x, 200, METRICS_TEXT, text, len);
}

static void gone(void *context, struct http_exchange *x)
{
	(void)context;
	(void)x;
	abort(); /* every exchange has its reply */
}

static struct http *server(bool token)
{
	static struct http *both[2];
	const struct http_plan plan = {.listen_fd = -1,
	    .token = token ? TOKEN : NULL,
	    .any_host = token,
	    .answer = answer,
	    .gone = gone};

	if (!both[token] && http_new(&plan, &both[token]) < 0)
		abort();
	return both[token];
}

static void drain(int fd, char *reply, size_t room, size_t *len)
{
	ssize_t n;

	do {
		n = recv(fd, reply + *len, room - 1 - *len, MSG_DONTWAIT);
		*len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && *len < room - 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http *h = server(size > 0 && data[0] == 'T');
	static char reply[65536];
	size_t len = 0, at = 0;
	int fds[2];

	if (size > 0 && data[0] == 'T') {
		data++;
		size--;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
		abort();
	if (http_add(h, fds[0]) < 0)
		abort();
	/* in pieces, as a network delivers it */
	for (int i = 0; at < size && i < 64; i++) {
		size_t piece = size - at > 1000 ? 1000 : size - at;
		ssize_t n = send(fds[1], data + at, piece, MSG_NOSIGNAL);

		http_step(h);
		drain(fds[1], reply, sizeof(reply), &len);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	(void)shutdown(fds[1], SHUT_WR);
	for (int i = 0; i < 4; i++) {
		http_step(h);
		drain(fds[1], reply, sizeof(reply), &len);
	}
	(void)close(fds[1]);
	http_step(h);
	http_step(h);
	reply[len] = '\0';
	if (len > 0 && strncmp(reply, "HTTP/1.", 7) != 0)
		abort();
	if (http_counts(h).open > 1)
		abort();
	return 0;
}
