/* post.c - sends requests with libcurl, one at a time, without waiting. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/post.h"

#include <curl/curl.h>
#include <strings.h>

#include "base/hash.h"
#include "follow/serve/http.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum {
	CONNECT_S = 10,
	REQUEST_S = 30,
	BODY_MAX = 1 << 20, /* of an answer: more is no answer of Pyroscope */
	FDS_MAX = 4,
	HEADER_MAX = 1024, /* of one of ours, without a token */
};

struct post {
	struct post_plan plan;
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	bool is_open;
	size_t len; /* of the request */
	struct answer_raw raw;
	size_t received;
	char why[CURL_ERROR_SIZE];
};

/* ---- what comes ---- */

/* The value of a header field "NAME: VALUE" without its spaces. */
static void take_field(const char *line, size_t len, const char *name, char *to)
{
	size_t n = strlen(name);

	if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
		return;
	for (line += n + 1, len -= n + 1; len > 0 && strchr(" \t", *line);) {
		line++;
		len--;
	}
	while (len > 0 && strchr(" \t\r\n", line[len - 1]))
		len--;
	if (len >= ANSWER_HEADER)
		len = ANSWER_HEADER - 1;
	memcpy(to, line, len);
	to[len] = '\0';
}

static size_t on_header(char *line, size_t size, size_t count, void *context)
{
	struct post *p = context;
	size_t len = size * count;

	/* one answer may follow another: 100, then 200 */
	if (len > 5 && memcmp(line, "HTTP/", 5) == 0)
		p->raw = (struct answer_raw){0};
	take_field(line, len, "Content-Type", p->raw.type);
	take_field(line, len, "Retry-After", p->raw.retry_after);
	take_field(line, len, "Location", p->raw.location);
	return len;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct post *p = context;
	size_t len = size * count, n = ANSWER_BODY - p->raw.body_len;

	if (n > len)
		n = len;
	memcpy(p->raw.body + p->raw.body_len, bytes, n);
	p->raw.body_len += n;
	p->received += len;
	return p->received > BODY_MAX ? 0 : len; /* 0: an error */
}

/* ---- what goes ---- */

static bool add_header(struct post *p, const char *text)
{
	struct curl_slist *more = curl_slist_append(p->headers, text);

	if (more)
		p->headers = more;
	return more != NULL;
}

/* USER:PASSWORD is for Basic, all else a Bearer. */
static int add_token(struct post *p, struct fault *where)
{
	char text[TOKEN_SENT_MOST + 64], *token;
	int err;

	if (!p->plan.token_file)
		return 0;
	err = token_read(p->plan.token_file, TOKEN_SENT_MOST, &token, where);
	if (err < 0)
		return err;
	if (strchr(token, ':')) {
		(void)curl_easy_setopt(p->easy, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
		if (curl_easy_setopt(p->easy, CURLOPT_USERPWD, token) != CURLE_OK)
			err = -ENOMEM;
	} else {
		(void)snprintf(text, sizeof(text), "Authorization: Bearer %s", token);
		if (!add_header(p, text))
			err = -ENOMEM;
		explicit_bzero(text, sizeof(text));
	}
	token_free(token);
	return err;
}

static int add_headers(struct post *p, struct fault *where)
{
	char text[HEADER_MAX];
	int err;

	curl_slist_free_all(p->headers);
	p->headers = NULL;
	if (!add_header(p, "Content-Type: application/proto") ||
	    !add_header(p, "Accept: application/proto, application/json") ||
	    !add_header(p, "Connect-Protocol-Version: 1") ||
	    !add_header(p, "Expect:")) /* no waiting for 100 */
		return -ENOMEM;
	if (p->plan.tenant) {
		(void)snprintf(text, sizeof(text), "X-Scope-OrgID: %s", p->plan.tenant);
		if (!add_header(p, text))
			return -ENOMEM;
	}
	err = add_token(p, where);
	if (err == 0)
		(void)curl_easy_setopt(p->easy, CURLOPT_HTTPHEADER, p->headers);
	return err;
}

static void close_request(struct post *p)
{
	if (p->is_open)
		(void)curl_multi_remove_handle(p->multi, p->easy);
	p->is_open = false;
}

static int begin(void *context, const uint8_t *bytes, size_t len, struct fault *where)
{
	struct post *p = context;
	int err;

	close_request(p);
	err = add_headers(p, where);
	if (err == 0 &&
	    (curl_easy_setopt(p->easy, CURLOPT_POSTFIELDS, bytes) != CURLE_OK ||
	        curl_easy_setopt(p->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len) !=
	            CURLE_OK ||
	        curl_multi_add_handle(p->multi, p->easy) != CURLM_OK))
		err = -ENOMEM;
	if (err < 0)
		return err == -ENOMEM ? fault_set(where, err, "out of memory") : err;
	p->raw = (struct answer_raw){0};
	p->received = 0;
	p->why[0] = '\0';
	p->len = len;
	p->is_open = true;
	return 0;
}

/* ---- the answer ---- */

/*
 * Without a status: if the request did not get there whole, the server cannot
 * have taken it.
 */
static void judge(struct post *p, CURLcode code, struct answer *ret)
{
	curl_off_t sent = 0;
	long status = 0;
	char clean[256];

	(void)curl_easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(p->easy, CURLINFO_SIZE_UPLOAD_T, &sent);
	if (status >= 200 && status < 600) {
		p->raw.status = (int)status;
		push_answer_read(&p->raw, (uint64_t)time(NULL), ret);
		return;
	}
	*ret = (struct answer){.kind = code != CURLE_OK && sent < (curl_off_t)p->len
	        ? ANSWER_LATER
	        : ANSWER_UNCERTAIN};
	(void)text_escape(clean, sizeof(clean), p->why[0] ? p->why : curl_easy_strerror(code));
	(void)snprintf(ret->words, sizeof(ret->words), "%s", clean);
}

static bool done(void *context, struct answer *ret)
{
	struct post *p = context;
	const CURLMsg *m;
	int running, left;

	if (!p->is_open)
		return false;
	(void)curl_multi_perform(p->multi, &running);
	while ((m = curl_multi_info_read(p->multi, &left)) != NULL) {
		if (m->msg != CURLMSG_DONE || m->easy_handle != p->easy)
			continue;
		judge(p, m->data.result, ret);
		close_request(p);
		return true;
	}
	return false;
}

static void cancel(void *context)
{
	close_request(context);
}

static void wait_for(void *context, struct pollfd *fds, size_t count, int most_ms)
{
	struct post *p = context;
	struct curl_waitfd ours[FDS_MAX];
	unsigned n = 0;
	size_t which[FDS_MAX];

	for (size_t i = 0; i < count; i++) {
		fds[i].revents = 0;
		if (fds[i].fd < 0 || n == FDS_MAX)
			continue;
		which[n] = i;
		ours[n++] = (struct curl_waitfd){.fd = fds[i].fd, .events = CURL_WAIT_POLLIN};
	}
	if (curl_multi_poll(p->multi, ours, n, most_ms, NULL) != CURLM_OK)
		return;
	for (unsigned i = 0; i < n; i++)
		fds[which[i]].revents = ours[i].revents ? POLLIN : 0;
}

/* ---- begin and end ---- */

static bool set_up(struct post *p)
{
	CURL *e = p->easy;
	const char *certificates = getenv("SSL_CERT_FILE");
	char agent[64];

	/* as curl(1) does: for a server that the own house vouches for */
	if (certificates && certificates[0] &&
	    curl_easy_setopt(e, CURLOPT_CAINFO, certificates) != CURLE_OK)
		return false;
	(void)snprintf(agent, sizeof(agent), "seep/%s", p->plan.version);
	return curl_easy_setopt(e, CURLOPT_URL, p->plan.url) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_USERAGENT, agent) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_POST, 1L) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_TIMEOUT, (long)REQUEST_S) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_HEADERDATA, p) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_WRITEDATA, p) == CURLE_OK &&
	    curl_easy_setopt(e, CURLOPT_ERRORBUFFER, p->why) == CURLE_OK;
}

int post_new(const struct post_plan *plan, struct post **ret)
{
	struct post *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->plan = *plan;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK) {
		p->multi = curl_multi_init();
		p->easy = curl_easy_init();
	}
	if (!p->multi || !p->easy || !set_up(p)) {
		post_free(p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

void post_free(struct post *p)
{
	if (!p)
		return;
	close_request(p);
	if (p->easy)
		curl_easy_cleanup(p->easy);
	if (p->multi)
		(void)curl_multi_cleanup(p->multi);
	curl_slist_free_all(p->headers);
	curl_global_cleanup();
	free(p);
}

struct push_transport post_transport(struct post *p)
{
	return (struct push_transport){
	    .context = p, .begin = begin, .done = done, .cancel = cancel, .wait = wait_for};
}

/* ---- target: the URL of a server of profiles ---- */

#define PROCEDURE "/push.v1.PusherService/Push"

enum { URL_MAX = 1024, TENANT_MAX = 150 };

static int refuse(struct fault *where, const char *text, const char *why)
{
	char clean[128];

	(void)text_escape(clean, sizeof(clean), text);
	return fault_set(where, -EINVAL, "\"%s\" %s", clean, why);
}

/* [::1], 127.x.x.x or localhost, without its port. */
static bool is_local(const char *host, size_t len)
{
	char name[64];

	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	if (name[0] != '[')
		name[strcspn(name, ":")] = '\0';
	else if (strchr(name, ']'))
		strchr(name, ']')[1] = '\0';
	return strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0 ||
	    (strncmp(name, "127.", 4) == 0 && strspn(name, "0123456789.") == strlen(name));
}

/* A port of digits, if there is one; brackets are closed. */
static bool is_host(const char *host, size_t len)
{
	const char *end = host + len, *port = host;
	size_t digits;

	if (len == 0 || *host == ':')
		return false;
	if (*host == '[') {
		size_t n = 1 + strspn(host + 1, "0123456789abcdefABCDEF:.");

		if (n >= len || n < 3 || host[n] != ']')
			return false;
		port = host + n + 1;
	} else {
		while (port < end && *port != ':')
			port++;
	}
	if (port == end)
		return true;
	digits = strspn(port + 1, "0123456789");
	return *port == ':' && digits > 0 && digits <= 5 && port + 1 + digits == end &&
	    strtoul(port + 1, NULL, 10) <= 65535 && strtoul(port + 1, NULL, 10) > 0;
}

int target_read(const char *text, struct target *ret, struct fault *where)
{
	struct target t = {0};
	const char *host;
	size_t host_len, len = strlen(text);

	if (strncasecmp(text, "http://", 7) == 0)
		host = text + 7;
	else if (strncasecmp(text, "https://", 8) == 0)
		host = text + 8;
	else
		return refuse(where, text,
		    "is no URL of a server: http://HOST:PORT or "
		    "https://HOST[:PORT][/PATH]");
	t.is_encrypted = host == text + 8;
	host_len = strcspn(host, "/");
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c >= 0x7f || strchr("\\\"<>^`{|}", *c))
			return refuse(where, text, "is no URL: a character in it must be escaped");
	if (memchr(host, '@', host_len))
		return refuse(where, "URL",
		    "must have no user and password, which others could read: "
		    "put them into a file, as USER:PASSWORD, for --token-file");
	if (strpbrk(text, "?#"))
		return refuse(where, text, "must end with its path");
	if (!is_host(host, host_len))
		return refuse(where, text, "has no host, or no valid port");
	if (len > URL_MAX)
		return refuse(where, "URL", "is too long");
	t.is_local = is_local(host, host_len);
	while (len > 0 && text[len - 1] == '/')
		len--;
	(void)snprintf(t.url, sizeof(t.url), "%.*s%s", (int)len, text,
	    len >= strlen(PROCEDURE) &&
	            strncmp(text + len - strlen(PROCEDURE), PROCEDURE, strlen(PROCEDURE)) == 0
	        ? ""
	        : PROCEDURE);
	(void)text_escape(t.shown, sizeof(t.shown), text);
	*ret = t;
	return 0;
}

bool target_is_tenant(const char *text)
{
	size_t len = strlen(text);

	/* as Pyroscope allows them */
	return len > 0 && len <= TENANT_MAX && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
	    strspn(text,
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	        "0123456789!-_.*'()|") == len;
}

/* ---- schedule: when a host pushes: its place in the interval, and back-off ---- */

#define HOUR_NS UINT64_C(3600000000000)

enum { ID_BYTES = 256 };

uint64_t schedule_random(struct schedule *s, uint64_t below)
{
	s->random += HASH_GOLDEN;
	return hash_finish(hash_mix(hash_mix(0, s->random), 1)) % below;
}

/* The next time at this host's place, not before `from`. */
static uint64_t at_place(const struct schedule *s, uint64_t from)
{
	uint64_t begin = from - from % s->every_ns;
	uint64_t at = begin + s->place_ns;

	return at >= from ? at : at + s->every_ns;
}

void schedule_init(
    struct schedule *s, uint64_t every_ns, uint64_t host, uint64_t random, uint64_t now_ns)
{
	*s = (struct schedule){.every_ns = every_ns, .random = random};
	s->place_ns = hash_finish(hash_mix(host, 2)) % every_ns;
	s->next_ns = at_place(s, now_ns);
}

void schedule_success(struct schedule *s, uint64_t now_ns)
{
	/* who was late does not come twice within half an interval */
	s->next_ns = at_place(s, now_ns + s->every_ns / 2);
}

void schedule_failure(struct schedule *s, uint64_t now_ns, uint64_t not_before_ns)
{
	/*
	 * About once an interval, as before: a fleet that comes more often when
	 * its server is overloaded would keep it there.
	 */
	uint64_t wait = s->every_ns / 2 + schedule_random(s, s->every_ns + 1);

	if (not_before_ns > HOUR_NS)
		not_before_ns = HOUR_NS;
	/* it may have told all hosts the same */
	if (not_before_ns > 0 && wait < not_before_ns)
		wait = not_before_ns + schedule_random(s, s->every_ns / 2 + 1);
	s->next_ns = now_ns + wait;
}

void schedule_check(struct schedule *s, uint64_t now_ns)
{
	uint64_t most = HOUR_NS + 2 * s->every_ns;

	if (s->next_ns > now_ns + most)
		s->next_ns = at_place(s, now_ns);
}

uint64_t schedule_host(void)
{
	char id[ID_BYTES] = "";
	uint64_t h = 0;
	int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, id, sizeof(id) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 1 && gethostname(id, sizeof(id) - 1) < 0)
		id[0] = '\0';
	for (const char *c = id; *c; c++)
		h = hash_mix(h, (unsigned char)*c);
	return hash_finish(h);
}
