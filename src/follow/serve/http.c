/* http.c - the server: connections, limits, who may ask, replies. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "kit/os/clock.h"

#define S UINT64_C(1000000000)

enum {
	/* libmicrohttpd keeps request, its own records and reply headers there */
	POOL_BYTES = HTTP_HEADER_BYTES + 4096,
	ACCEPTS = 32, /* in one step, so that requests go on meanwhile */
	TICK_MS = 1000,
	SLOW_S = 2,  /* for a reply, where others wait */
	HEADERS = 8, /* of a reply, beside the usual ones */
};

/* What a connection is at, and so how long it may take. */
enum phase {
	READING, /* or idle, between two requests */
	WAITING, /* deferred */
	SENDING,
};

struct http_exchange {
	struct http *http;
	struct peer *peer;
	struct MHD_Connection *connection;
	char *path;
	const char *names[HEADERS];
	char *values[HEADERS];
	size_t header_count;
	struct MHD_Response *response; /* deferred, and there now */
	unsigned status;
	bool is_replied;
	bool is_deferred;
};

struct peer {
	struct MHD_Connection *connection; /* NULL: this place is free */
	int fd;
	enum phase phase;
	uint64_t since_ns;
	bool is_cut; /* told to end */
	struct http_exchange *exchange;
};

struct http {
	struct http_plan plan;
	struct MHD_Daemon *daemon;
	int epoll; /* the listening socket and libmicrohttpd's own */
	int mhd_fd;
	struct peer peers[HTTP_PEERS];
	uint64_t next_tick_ns;
	bool is_deaf; /* nothing is accepted until the next tick */
	struct http_counts counts;
};

/* ---- connections ---- */

static struct peer *find_peer(struct http *h, const struct MHD_Connection *c)
{
	for (size_t i = 0; i < HTTP_PEERS; i++)
		if (h->peers[i].connection == c)
			return &h->peers[i];
	return NULL;
}

static void set_phase(struct peer *p, enum phase phase)
{
	p->phase = phase;
	p->since_ns = clock_ns(CLOCK_MONOTONIC);
}

/* libmicrohttpd sees the end at its next step, and cleans up. */
static void cut_off(struct peer *p)
{
	(void)shutdown(p->fd, SHUT_RDWR);
	p->is_cut = true;
}

static void free_exchange(struct http_exchange *x)
{
	if (x->response)
		MHD_destroy_response(x->response);
	for (size_t i = 0; i < x->header_count; i++)
		free(x->values[i]);
	free(x->path);
	free(x);
}

static void on_connection(void *context, struct MHD_Connection *c, void **socket_context,
    enum MHD_ConnectionNotificationCode code)
{
	struct http *h = context;
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct peer *p = find_peer(h, code == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c);

	(void)socket_context;
	if (!p)
		return;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*p = (struct peer){.connection = c, .fd = info ? info->connect_fd : -1};
		set_phase(p, READING);
		h->counts.open++;
		h->counts.connections++;
	} else {
		p->connection = NULL;
		h->counts.open--;
	}
}

static void on_completed(
    void *context, struct MHD_Connection *c, void **request, enum MHD_RequestTerminationCode code)
{
	struct http *h = context;
	struct http_exchange *x = *request;
	struct peer *p = find_peer(h, c);

	(void)code;
	*request = NULL;
	if (p) {
		p->exchange = NULL;
		set_phase(p, READING);
	}
	if (!x)
		return;
	if (x->is_deferred && !x->is_replied)
		h->plan.gone(h->plan.context, x);
	free_exchange(x);
}

/* The connection that has been at this for longest; NULL: there is none. */
static struct peer *longest(struct http *h, enum phase phase, uint64_t least_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct peer *found = NULL;

	for (size_t i = 0; i < HTTP_PEERS; i++) {
		struct peer *p = &h->peers[i];

		if (p->connection && p->phase == phase && !p->is_cut &&
		    now - p->since_ns >= least_ns && (!found || p->since_ns < found->since_ns))
			found = p;
	}
	return found;
}

/* A place for one more; who holds one and does nothing gives way. */
static bool make_place(struct http *h)
{
	struct peer *p;

	if (h->counts.open < HTTP_PEERS)
		return true;
	p = longest(h, READING, 0);
	if (!p) /* a reply is read within moments, unless nobody reads it */
		p = longest(h, SENDING, SLOW_S * S);
	if (!p)
		return false;
	cut_off(p);
	h->counts.evicted++;
	(void)MHD_run(h->daemon);
	return h->counts.open < HTTP_PEERS;
}

int http_add(struct http *h, int fd)
{
	static const char busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
	                           "Content-Length: 0\r\nRetry-After: 1\r\n"
	                           "Connection: close\r\n\r\n";
	struct sockaddr_storage from = {.ss_family = AF_UNIX};
	socklen_t len = sizeof(from);

	if (!make_place(h)) {
		h->counts.refused++;
		(void)send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		(void)close(fd);
		return -EBUSY;
	}
	(void)getpeername(fd, (struct sockaddr *)&from, &len);
	/* on failure it has closed the socket */
	if (MHD_add_connection(h->daemon, fd, (struct sockaddr *)&from, sizeof(from)) != MHD_YES) {
		h->counts.refused++;
		return -EIO;
	}
	return 0;
}

static void set_deaf(struct http *h, bool is_deaf)
{
	struct epoll_event e = {.events = is_deaf ? 0 : EPOLLIN};

	if (h->is_deaf != is_deaf && h->plan.listen_fd >= 0)
		(void)epoll_ctl(h->epoll, EPOLL_CTL_MOD, h->plan.listen_fd, &e);
	h->is_deaf = is_deaf;
}

static void accept_some(struct http *h)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int fd = accept4(h->plan.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == ECONNABORTED || errno == EINTR))
			continue;
		if (fd < 0) {
			/* no descriptor: who waits would wake us all the time */
			if (errno != EAGAIN)
				set_deaf(h, true);
			break;
		}
		(void)http_add(h, fd);
	}
}

/* Has its client closed the connection? */
static bool is_gone(const struct peer *p)
{
	struct pollfd fd = {.fd = p->fd, .events = POLLRDHUP};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

/* Ends who takes too long; finds who has gone while he waits. */
static void tick(struct http *h)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (now < h->next_tick_ns)
		return;
	h->next_tick_ns = now + TICK_MS * UINT64_C(1000000);
	set_deaf(h, false);
	for (size_t i = 0; i < HTTP_PEERS; i++) {
		struct peer *p = &h->peers[i];
		struct http_exchange *x = p->exchange;

		if (!p->connection || p->is_cut)
			continue;
		if ((p->phase == READING && now - p->since_ns > HTTP_READ_S * S) ||
		    (p->phase == SENDING && now - p->since_ns > HTTP_SEND_S * S))
			cut_off(p);
		if (p->phase == WAITING && x && !x->is_replied && is_gone(p)) {
			h->plan.gone(h->plan.context, x);
			http_reply_text(x, MHD_HTTP_SERVICE_UNAVAILABLE, "the client has gone");
		}
	}
}

/* ---- who may ask ---- */

static bool is_number(const char *host)
{
	unsigned char to[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, to) == 1 || inet_pton(AF_INET6, host, to) == 1;
}

/* Without the port, and without the brackets of a number with colons. */
static bool host_of(const char *value, char host[256])
{
	const char *end;
	size_t len;

	if (*value == '[') {
		value++;
		end = strchr(value, ']');
		if (!end || (end[1] != '\0' && end[1] != ':'))
			return false;
	} else {
		end = strchr(value, ':');
		if (!end)
			end = value + strlen(value);
	}
	len = (size_t)(end - value);
	if (len == 0 || len >= 256)
		return false;
	memcpy(host, value, len);
	host[len] = '\0';
	if (host[len - 1] == '.')
		host[len - 1] = '\0';
	return true;
}

static bool is_known_host(const struct http *h, const char *value)
{
	char host[256];

	if (h->plan.any_host)
		return true;
	if (!value || !host_of(value, host))
		return false;
	if (is_number(host) || strcasecmp(host, "localhost") == 0)
		return true;
	for (size_t i = 0; i < h->plan.host_count; i++)
		if (strcasecmp(host, h->plan.hosts[i]) == 0)
			return true;
	return false;
}

static enum MHD_Result count_host(
    void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	(void)kind;
	(void)value;
	*(unsigned *)context += strcasecmp(name, "Host") == 0;
	return MHD_YES;
}

/* Of two, a proxy in between might have checked the other one. */
static bool has_one_host(const struct http_exchange *x)
{
	unsigned count = 0;

	(void)MHD_get_connection_values(x->connection, MHD_HEADER_KIND, count_host, &count);
	return count <= 1;
}

/*
 * A browser says so when a page of another site makes it ask. It may follow a
 * link to us, but nothing of ours is a part of such a page.
 */
static bool is_foreign_page(struct http_exchange *x)
{
	const char *site = http_header(x, "Sec-Fetch-Site");
	const char *mode = http_header(x, "Sec-Fetch-Mode");

	return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 &&
	    (!mode || strcmp(mode, "navigate") != 0);
}

/* False: it has its reply. */
static bool admit(struct http_exchange *x, const char *method)
{
	const struct http *h = x->http;

	if (!has_one_host(x)) {
		http_reply_text(x, MHD_HTTP_BAD_REQUEST, "more than one Host");
		return false;
	}
	if (!is_known_host(h, http_header(x, "Host"))) {
		http_reply_text(x, MHD_HTTP_MISDIRECTED_REQUEST,
		    "this host is not served here by that name; see --host");
		return false;
	}
	if (h->plan.token && !token_fits(h->plan.token, http_header(x, "Authorization"))) {
		http_put(x, "WWW-Authenticate", "Basic realm=\"seep\"");
		http_reply_text(x, MHD_HTTP_UNAUTHORIZED, "a token is needed");
		return false;
	}
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		http_put(x, "Allow", "GET, HEAD");
		http_reply_text(x, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD alone");
		return false;
	}
	if (is_foreign_page(x)) {
		http_reply_text(x, MHD_HTTP_FORBIDDEN, "pages of other sites may not read this");
		return false;
	}
	return true;
}

/* ---- one request ---- */

const char *http_path(const struct http_exchange *x)
{
	return x->path;
}

const char *http_query(struct http_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_header(struct http_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

void http_put(struct http_exchange *x, const char *name, const char *value)
{
	char *copy;

	if (x->header_count >= HEADERS)
		return;
	copy = strdup(value);
	if (!copy)
		return;
	x->names[x->header_count] = name;
	x->values[x->header_count++] = copy;
}

/* What is true of all replies: they are for who asks, now, and as they are. */
static void put_headers(struct http_exchange *x, struct MHD_Response *r, const char *type)
{
	static const char *const usual[][2] = {
	    {"Cache-Control", "no-store"},
	    {"X-Content-Type-Options", "nosniff"},
	    {"Referrer-Policy", "no-referrer"},
	    {"Cross-Origin-Resource-Policy", "same-origin"},
	    {"X-Frame-Options", "DENY"},
	};

	(void)MHD_add_response_header(r, "Content-Type", type);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		(void)MHD_add_response_header(r, usual[i][0], usual[i][1]);
	for (size_t i = 0; i < x->header_count; i++)
		(void)MHD_add_response_header(r, x->names[i], x->values[i]);
}

static void queue(struct http_exchange *x)
{
	(void)MHD_queue_response(x->connection, x->status, x->response);
	MHD_destroy_response(x->response);
	x->response = NULL;
	set_phase(x->peer, SENDING);
	x->http->counts.replies[x->status / 100 % 6]++;
}

/* From inside of the handler, or later, when the connection is suspended. */
static void send_response(
    struct http_exchange *x, unsigned status, const char *type, struct MHD_Response *r)
{
	if (x->is_replied) {
		MHD_destroy_response(r);
		return;
	}
	put_headers(x, r, type);
	x->is_replied = true;
	x->response = r;
	x->status = status;
	if (x->is_deferred)
		MHD_resume_connection(x->connection);
	else
		queue(x);
}

void http_reply(struct http_exchange *x, unsigned status, const char *type, char *bytes, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, bytes, MHD_RESPMEM_MUST_FREE);

	if (!r) {
		free(bytes);
		cut_off(x->peer);
		return;
	}
	send_response(x, status, type, r);
}

void http_reply_text(struct http_exchange *x, unsigned status, const char *fmt, ...)
{
	char text[512];
	struct MHD_Response *r;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n > sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n++] = '\n';
	r = MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY);
	if (!r) {
		cut_off(x->peer);
		return;
	}
	send_response(x, status, "text/plain; charset=utf-8", r);
}

void http_reply_file(struct http_exchange *x, const char *type, int fd, uint64_t bytes)
{
	struct MHD_Response *r = MHD_create_response_from_fd64(bytes, fd);

	if (!r) {
		(void)close(fd);
		cut_off(x->peer);
		return;
	}
	send_response(x, MHD_HTTP_OK, type, r);
}

void http_defer(struct http_exchange *x)
{
	x->is_deferred = true;
	set_phase(x->peer, WAITING);
	MHD_suspend_connection(x->connection);
}

static enum MHD_Result begin(
    struct http *h, struct MHD_Connection *c, const char *path, const char *method, void **request)
{
	struct http_exchange *x = calloc(1, sizeof(*x));

	if (!x)
		return MHD_NO;
	x->http = h;
	x->connection = c;
	x->peer = find_peer(h, c);
	x->path = strdup(path);
	if (!x->peer || !x->path) {
		free(x->path);
		free(x);
		return MHD_NO;
	}
	x->peer->exchange = x;
	*request = x;
	/* a body is not read: a reply at once ends the connection */
	if (admit(x, method) &&
	    (http_header(x, "Content-Length") || http_header(x, "Transfer-Encoding")))
		http_reply_text(x, MHD_HTTP_CONTENT_TOO_LARGE, "requests have no content here");
	return MHD_YES;
}

/*
 * The first call comes when the headers are complete, the second one when there
 * is no body, and one more for a connection that was resumed.
 */
static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *path,
    const char *method, const char *version, const char *upload, size_t *upload_bytes,
    void **request)
{
	struct http *h = context;
	struct http_exchange *x = *request;

	(void)version;
	(void)upload;
	if (!x)
		return begin(h, c, path, method, request);
	*upload_bytes = 0;
	if (x->response)
		queue(x);
	else if (!x->is_replied && !x->is_deferred)
		h->plan.answer(h->plan.context, x);
	return MHD_YES;
}

/* ---- the server ---- */

static int watch_fd(const struct http *h, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int start_daemon(struct http *h)
{
	const union MHD_DaemonInfo *info;

	h->daemon =
	    MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0,
	        NULL, NULL, on_request, h, MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
	        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_LIMIT,
	        (unsigned)HTTP_PEERS + 1, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)HTTP_READ_S,
	        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
	        MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)1024, MHD_OPTION_STRICT_FOR_CLIENT,
	        1, MHD_OPTION_END);
	if (!h->daemon)
		return -ENOMEM;
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return -ENOTSUP;
	h->mhd_fd = info->epoll_fd;
	return watch_fd(h, h->mhd_fd);
}

int http_new(const struct http_plan *plan, struct http **ret)
{
	struct http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return -ENOMEM;
	h->plan = *plan;
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	err = h->epoll < 0 ? -errno : 0;
	if (err == 0 && plan->listen_fd >= 0)
		err = watch_fd(h, plan->listen_fd);
	if (err == 0)
		err = start_daemon(h);
	if (err < 0) {
		http_free(h);
		return err;
	}
	*ret = h;
	return 0;
}

void http_free(struct http *h)
{
	if (!h)
		return;
	/* a connection that is suspended cannot be closed */
	for (size_t i = 0; i < HTTP_PEERS; i++) {
		struct http_exchange *x = h->peers[i].exchange;

		if (h->peers[i].connection && x && x->is_deferred && !x->is_replied)
			http_reply_text(x, MHD_HTTP_SERVICE_UNAVAILABLE, "seep ends");
	}
	if (h->daemon) {
		(void)MHD_run(h->daemon);
		MHD_stop_daemon(h->daemon);
	}
	if (h->epoll >= 0)
		(void)close(h->epoll);
	free(h);
}

int http_fd(const struct http *h)
{
	return h->epoll;
}

int http_wait_ms(const struct http *h)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int wait = h->counts.open > 0 || h->is_deaf ? TICK_MS : -1;

	if (MHD_get_timeout(h->daemon, &ms) == MHD_YES && (wait < 0 || ms < (unsigned)wait))
		wait = ms > INT_MAX ? INT_MAX : (int)ms;
	return wait;
}

void http_step(struct http *h)
{
	(void)MHD_run(h->daemon);
	if (h->plan.listen_fd >= 0 && !h->is_deaf)
		accept_some(h);
	(void)MHD_run(h->daemon);
	tick(h);
	(void)MHD_run(h->daemon);
}

void http_forget_sockets(struct http *h)
{
	for (size_t i = 0; i < HTTP_PEERS; i++)
		if (h->peers[i].connection)
			(void)close(h->peers[i].fd);
	(void)close(h->mhd_fd);
	(void)close(h->epoll);
	if (h->plan.listen_fd >= 0)
		(void)close(h->plan.listen_fd);
}

struct http_counts http_counts(const struct http *h)
{
	return h->counts;
}
