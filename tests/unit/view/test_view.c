/* test_view.c - promises of view/sites/view.h, tree.h, fold.h, wrappers.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "view/sites/ages.h"
#include "view/stacks/blame.h"
#include "view/sites/amount.h"
#include "view/sites/view.h"

/* Functions of our own program, which has their names. */
#define FUNCTION(name) \
	static __attribute__((noinline, used)) void name(void) \
	{ \
		__asm__ volatile("nop; nop; nop; nop"); \
	}

FUNCTION(xmalloc)
FUNCTION(parse)
FUNCTION(visit)
FUNCTION(serve)
FUNCTION(render)
FUNCTION(start)

extern const char __ehdr_start[];

static uint64_t frame_of(void (*function)(void), uint64_t offset)
{
	return MKSEG_FRAME(1, (uint64_t)(uintptr_t)function + 1 + offset);
}

static struct mkseg *new_segment(void)
{
	struct mkseg *m = mkseg_new();

	assert_int_equal(mkseg_module(m, "/proc/self/exe", (uint64_t)(uintptr_t)__ehdr_start), 1);
	return m;
}

/* n blocks of size from functions that end with NULL, innermost first. */
static void book(struct mkseg *m, uint64_t n, uint64_t size, uint64_t frees, ...)
{
	uint64_t frames[32];
	void (*function)(void);
	uint32_t count = 0;
	va_list list;

	va_start(list, frees);
	while ((function = va_arg(list, void (*)(void))) != NULL)
		frames[count++] = frame_of(function, 0);
	va_end(list);
	mkseg_book(m, 0, mkseg_stack(m, frames, count), n, size, frees);
}

struct fixture {
	struct session *session;
	struct names *names;
	struct view *view;
};

static void look(struct fixture *f, const struct view_options *o)
{
	if (!f->names)
		assert_int_equal(names_new(NULL, &f->names), 0);
	view_free(f->view);
	assert_int_equal(view_new(f->session, f->names, o, &f->view), 0);
}

static void leave(struct fixture *f)
{
	view_free(f->view);
	names_free(f->names);
	session_free(f->session);
}

/* "a<b<c" of a site, innermost first; repeats as "a*3". */
static const char *stack(const struct fixture *f, size_t number)
{
	static char text[512];
	const struct view_site *s = &f->view->sites[number];
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < s->frame_count; i++) {
		const struct frame *x = &f->view->frames[s->frames[i]];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? "<" : "",
		    x->function ? x->function : "?");
		if (s->repeats && s->repeats[i] > 1)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "*%u", s->repeats[i]);
	}
	return text;
}

static struct session *small_session(void)
{
	struct mkseg *m = new_segment();

	book(m, 10, 100, 4, xmalloc, parse, serve, start, NULL);
	book(m, 1, 5000, 0, render, serve, start, NULL);
	book(m, 7, 8, 7, parse, start, NULL);
	return mkseg_load(m);
}

TEST(only_what_the_metric_finds_is_looked_at)
{
	struct fixture f = {.session = small_session()};
	struct view_options o = {.metric = VIEW_LIVE};

	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_int_equal(f.view->chosen.sites, 2);
	assert_int_equal(f.view->chosen.figures.all.live_bytes, 5600);
	assert_string_equal(stack(&f, 0), "xmalloc<parse<serve<start");
	o.metric = VIEW_TEMPORARY;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_int_equal(view_blocks(&f.view->chosen.figures, o.metric), 11);
	assert_int_equal(view_bytes(&f.view->chosen.figures, o.metric), 456);
	o.metric = VIEW_ALL;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 3);
	assert_int_equal(f.view->chosen.figures.all.allocations, 18);
	leave(&f);
}

TEST(filters_choose_and_say_what_they_leave)
{
	struct fixture f = {.session = small_session()};
	struct view_options o = {.metric = VIEW_ALLOCS};
	regex_t parse_re, serve_re, nothing_re;

	assert_int_equal(regcomp(&parse_re, "^parse$", REG_EXTENDED), 0);
	assert_int_equal(regcomp(&serve_re, "serv", REG_EXTENDED), 0);
	assert_int_equal(regcomp(&nothing_re, "libother", REG_EXTENDED), 0);
	o.include = &parse_re;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_int_equal(f.view->filtered.sites, 1);
	assert_int_equal(f.view->filtered.figures.all.allocated_bytes, 5000);
	o.exclude = &serve_re;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 1);
	assert_string_equal(stack(&f, 0), "parse<start");
	assert_int_equal(f.view->filtered.sites, 2);
	o = (struct view_options){.metric = VIEW_ALLOCS, .module = &nothing_re};
	look(&f, &o);
	assert_int_equal(f.view->site_count, 0);
	assert_int_equal(f.view->filtered.sites, 3);
	o = (struct view_options){.metric = VIEW_ALLOCS, .exclude_module = &nothing_re};
	look(&f, &o);
	assert_int_equal(f.view->site_count, 3);
	o = (struct view_options){.metric = VIEW_ALLOCS, .min_size = 1000};
	look(&f, &o);
	assert_string_equal(stack(&f, 0), "render<serve<start");
	o = (struct view_options){.metric = VIEW_ALLOCS, .min_size = 9, .max_size = 100};
	look(&f, &o);
	assert_int_equal(f.view->site_count, 1);
	assert_string_equal(stack(&f, 0), "xmalloc<parse<serve<start");
	leave(&f);
	regfree(&parse_re);
	regfree(&serve_re);
	regfree(&nothing_re);
}

TEST(depth_merges_stacks_that_begin_alike)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment();
	struct view_options o = {.depth = 2, .group = true};

	book(m, 1, 10, 0, parse, serve, start, NULL);
	book(m, 2, 20, 0, parse, serve, render, start, NULL);
	book(m, 4, 30, 0, parse, render, start, NULL);
	f.session = mkseg_load(m);
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_string_equal(stack(&f, 0), "parse<serve<(callers beyond --depth)");
	assert_int_equal(f.view->sites[0].count, 2);
	assert_int_equal(f.view->sites[0].figures.all.live_bytes, 50);
	assert_int_equal(f.view->sites[0].size_min, 10);
	assert_int_equal(f.view->sites[0].size_max, 20);
	assert_int_equal(f.view->chosen.sites, 3);
	leave(&f);
}

TEST(recursion_is_folded_and_counted)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment();
	struct view_options o = {.group = true, .fold = true};

	book(m, 1, 1, 0, parse, visit, visit, visit, start, NULL);
	book(m, 1, 1, 0, parse, visit, visit, start, NULL);
	book(m, 1, 1, 0, parse, visit, render, start, NULL);
	book(m, 1, 1, 0, parse, visit, render, visit, render, start, NULL);
	f.session = mkseg_load(m);
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_string_equal(stack(&f, 0), "parse<visit*3<start");
	assert_int_equal(f.view->sites[0].count, 2);
	assert_string_equal(stack(&f, 1), "parse<visit*2<render<start");
	assert_int_equal(f.view->sites[1].count, 2);
	o.fold = false;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 4);
	leave(&f);
}

TEST(wrappers_are_skipped_but_never_the_last_frame)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment();
	struct view_options o = {.group = true, .skip_wrappers = true};
	regex_t re;

	book(m, 1, 1, 0, xmalloc, parse, start, NULL);
	book(m, 1, 1, 0, parse, start, NULL);
	book(m, 1, 1, 0, xmalloc, NULL);
	f.session = mkseg_load(m);
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_string_equal(stack(&f, 0), "parse<start");
	assert_string_equal(stack(&f, 1), "xmalloc");
	assert_int_equal(regcomp(&re, "parse", REG_EXTENDED), 0);
	o.wrapper = &re;
	look(&f, &o);
	assert_string_equal(stack(&f, 0), "start");
	regfree(&re);
	leave(&f);
}

static uint8_t weigh(const char *module, const char *function)
{
	const struct frame x = {.module = module, .function = function};

	return blame_weigh(&x);
}

TEST(blame_goes_to_the_users_own)
{
	const struct frame gap = {.function = "(no room)", .is_missing = true};

	assert_int_equal(weigh("/opt/app", "parse"), BLAME_OWN);
	assert_int_equal(weigh("/opt/app", NULL), BLAME_OWN);
	assert_int_equal(weigh("/opt/app", "ns::stdish::f()"), BLAME_OWN);
	assert_int_equal(weigh("/opt/app",
	                     "void f<std::vector<int, std::allocator<int> > >("
	                     "std::vector<int, std::allocator<int> >&)"),
	    BLAME_OWN);
	assert_int_equal(weigh("/opt/app", "xmalloc"), BLAME_LIBRARY);
	assert_int_equal(weigh("/opt/app", "operator new(unsigned long)"), BLAME_LIBRARY);
	assert_int_equal(weigh("/opt/app", "std::vector<int>::push_back(int&&)"), BLAME_LIBRARY);
	assert_int_equal(weigh("/opt/app", "void std::vector<int>::f<char>(char)"), BLAME_LIBRARY);
	assert_int_equal(weigh("/usr/lib/libstdc++.so.6.0.30", NULL), BLAME_LIBRARY);
	assert_int_equal(
	    weigh("/usr/lib/libstdc++.so.6", "__cxa_allocate_exception"), BLAME_LIBRARY);
	assert_int_equal(weigh("/usr/lib/libc.so.6", "qsort"), BLAME_SYSTEM);
	assert_int_equal(blame_weigh(&gap), BLAME_NONE);
}

TEST(depth_counts_from_the_users_own_on)
{
	struct view_options o = {
	    .metric = VIEW_LIVE, .group = true, .depth = 1, .depth_from_own = true};
	struct fixture f = {.session = small_session()};

	look(&f, &o);
	assert_string_equal(stack(&f, 0), "xmalloc<parse<(callers beyond --depth)");
	o.depth_from_own = false;
	look(&f, &o);
	assert_string_equal(stack(&f, 0), "xmalloc<(callers beyond --depth)");
	assert_int_equal(f.view->sites[0].own, 0);
	leave(&f);
}

TEST(wrappers_are_known_by_their_whole_name)
{
	static const char *const are[] = {"xmalloc", "xstrdup", "g_malloc0_n", "CRYPTO_zalloc",
	    "operator new(unsigned long)", "PyMem_RawMalloc",
	    "std::allocator<std::pair<int const, char*> >::allocate(unsigned "
	    "long)",
	    "__gnu_cxx::new_allocator<void (*)(int)>::allocate(unsigned long, "
	    "void const*)",
	    "std::__detail::_MakeUniq<A>::__single_object std::make_unique<A, "
	    "int>(int&&)",
	    "<alloc::alloc::Global>::alloc_impl_runtime",
	    "<[u32]>::to_vec_in::<alloc::alloc::Global>",
	    "<u32 as <[_]>::to_vec_in::ConvertVec>::to_vec",
	    "<hashbrown::raw::RawTableInner>::resize_inner", "alloc::alloc::alloc",
	    "alloc::raw_vec::RawVec<T,A>::reserve", "apr_palloc", "sqlite3Malloc", "_emalloc"};
	static const char *const are_not[] = {"main", "xmlParse", "my_function",
	    "parse(std::allocator<char>)", "malloc_stats_print", "xm",
	    "Pool::allocate(unsigned long)", "alloc", ""};

	for (size_t i = 0; i < sizeof(are) / sizeof(are[0]); i++)
		if (!wrappers_has(are[i]))
			fail_msg("%s is a wrapper", are[i]);
	for (size_t i = 0; i < sizeof(are_not) / sizeof(are_not[0]); i++)
		if (wrappers_has(are_not[i]))
			fail_msg("%s is none", are_not[i]);
}

TEST(processes_are_apart_or_merged)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment(), *child = new_segment();
	struct view_options o = {.group = true};
	size_t len;
	void *bytes;

	book(m, 1, 10, 0, parse, start, NULL);
	book(child, 2, 30, 0, parse, start, NULL);
	mkseg_header(child)->pid = 4243;
	mkseg_header(child)->uuid[0] = 2;
	memset(mkseg_header(child)->parent_uuid, 1, 1);
	bytes = mkseg_finish(child, &len);
	mkseg_child(m, bytes, len);
	f.session = mkseg_load(m);
	assert_int_equal(f.session->count, 2);
	look(&f, &o);
	assert_int_equal(f.view->site_count, 2);
	assert_int_equal(f.view->frame_count, 2); /* of one file */
	o.merge = true;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 1);
	assert_true(f.view->sites[0].process == VIEW_MERGED);
	assert_int_equal(f.view->sites[0].figures.all.live_bytes, 70);
	o.pid = 4243;
	look(&f, &o);
	assert_int_equal(f.view->sites[0].figures.all.live_bytes, 60);
	mkseg_free(child);
	free(bytes);
	leave(&f);
}

/* 80 of 90 freed blocks died below 1.6 s, 60 of these below 0.2 s. */
static struct mkseg *aged_segment(bool is_old)
{
	struct mkseg *m = new_segment();

	book(m, 100, 10, 90, parse, start, NULL);
	mkseg_info(m, 1)->ages[0] = 10;
	mkseg_ages(m, 0, 1)->deaths[0] = 5;
	mkseg_ages(m, 1, 1)->deaths[1] = 12;
	mkseg_ages(m, 0, 1)->deaths[3] = 8;
	if (!is_old)
		mkseg_header(m)->counted_ticks = SEG_COUNTED_TICKS;
	return m;
}

/* What is temporary is one thing in a whole view, and the view says what. */
TEST(the_coarsest_input_says_what_is_temporary)
{
	struct fixture f = {0};
	struct view_options o = {.metric = VIEW_TEMPORARY};
	struct view_side before = {0};
	struct session *old = mkseg_load(aged_segment(true));
	uint64_t steps[PROCESS_STEPS];

	f.session = mkseg_load(aged_segment(false));
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, 2);
	assert_int_equal(f.view->sites[0].figures.temporary_blocks, 60);
	assert_int_equal(f.view->sites[0].figures.temporary_bytes, 600);
	assert_int_equal(f.view->sites[0].figures.young_blocks, 80);
	assert_true(ages_young(&f.view->sites[0], steps));
	assert_int_equal(steps[0], 55);
	/* beside an input that does not know better */
	o.temporary_ticks = view_temporary_ticks(old, NULL, VIEW_ANY);
	assert_int_equal(o.temporary_ticks, SEG_YOUNG_TICKS);
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, SEG_YOUNG_TICKS);
	assert_int_equal(f.view->sites[0].figures.temporary_blocks, 80);
	/* compared with one */
	o.temporary_ticks = 0;
	before.session = old;
	o.before = &before;
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, SEG_YOUNG_TICKS);
	assert_int_equal(f.view->unchanged, 1);
	/* one that has no ages at all counts for nothing */
	o.before = NULL;
	f.session->processes[0]->temporary_ticks = 0;
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, 0);
	assert_int_equal(f.view->site_count, 0);
	leave(&f);
	session_free(old);
}

/* Sites of an old and a new process, as one: the steps are not known. */
TEST(ages_of_merged_sites_are_as_coarse_as_the_worst)
{
	struct fixture f = {0};
	struct mkseg *m = aged_segment(false), *child = aged_segment(true);
	struct view_options o = {.metric = VIEW_TEMPORARY, .group = true, .merge = true};
	uint64_t steps[PROCESS_STEPS], deaths[PROCESS_AGES];
	size_t len;
	void *bytes;

	mkseg_header(child)->pid = 4243;
	mkseg_header(child)->uuid[0] = 2;
	bytes = mkseg_finish(child, &len);
	mkseg_child(m, bytes, len);
	f.session = mkseg_load(m);
	assert_int_equal(f.session->count, 2);
	look(&f, &o);
	assert_int_equal(f.view->site_count, 1);
	assert_int_equal(f.view->temporary_ticks, SEG_YOUNG_TICKS);
	assert_int_equal(f.view->sites[0].figures.temporary_blocks, 160);
	assert_false(ages_young(&f.view->sites[0], steps));
	ages_deaths(&f.view->sites[0], deaths);
	assert_int_equal(deaths[0], 160);
	assert_int_equal(deaths[1], 20);
	/* one that did nothing has nothing to say */
	f.session->processes[1]->site_count = 0;
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, 2);
	f.session->processes[1]->site_count = 1;
	/* alone it is as fine as ever */
	o.pid = 4242;
	look(&f, &o);
	assert_int_equal(f.view->temporary_ticks, 2);
	assert_int_equal(f.view->sites[0].figures.temporary_blocks, 60);
	mkseg_free(child);
	free(bytes);
	leave(&f);
}

TEST(figures_of_a_moment_replace_the_final_ones)
{
	struct fixture f = {.session = small_session()};
	struct process_figures then[3] = {{.live_blocks = 1, .live_bytes = 77}, {0}, {0}};
	const struct process_figures *const figures[] = {then};
	struct view_options o = {.figures = figures};

	look(&f, &o);
	assert_int_equal(f.view->site_count, 1);
	assert_int_equal(f.view->chosen.figures.all.live_bytes, 77);
	leave(&f);
}

/* The names below a node, heaviest first: "parse=40 render=10". */
static const char *children(struct tree *t, const struct fixture *f, const struct tree_node *n)
{
	static char text[512];
	struct tree_node *list;
	size_t count, at = 0;

	assert_int_equal(tree_children(t, n, &list, &count), 0);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		const char *name = list[i].frame == TREE_API
		    ? "(malloc)"
		    : f->view->frames[list[i].frame].function;
		char amount[AMOUNT_MAX];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s=%s", i ? " " : "", name,
		    amount_text(amount, &list[i].amounts.bytes, f->view->is_compared));
	}
	free(list);
	return text;
}

TEST(trees_are_headed_by_the_users_own)
{
	const struct tree_options up = {.metric = VIEW_ALLOCS};
	const struct view_options o = {.metric = VIEW_ALLOCS, .group = true};
	struct fixture f = {.session = small_session()};
	struct tree_node *list, n;
	struct tree *t;
	size_t count;

	look(&f, &o);
	assert_int_equal(f.view->sites[0].own, 1);
	assert_int_equal(f.view->sites[1].own, 0);
	assert_int_equal(tree_new(f.view, &up, &t), 0);
	tree_root(t, &n);
	/* parse, called by start, and through xmalloc by serve */
	assert_string_equal(children(t, &f, &n), "render=5,000 parse=1,056");
	assert_int_equal(tree_children(t, &n, &list, &count), 0);
	n = list[1];
	free(list);
	assert_string_equal(children(t, &f, &n), "xmalloc=1,000 start=56");
	assert_int_equal(tree_children(t, &n, &list, &count), 0);
	assert_true(list[0].is_inner);
	assert_false(list[1].is_inner);
	n = list[0];
	free(list);
	assert_string_equal(children(t, &f, &n), "serve=1,000");
	tree_free(t);
	leave(&f);
}

/* Down to the child of that name. */
static void descend(struct tree *t, const struct fixture *f, struct tree_node *n, const char *name)
{
	struct tree_node *list;
	size_t count, i;

	assert_int_equal(tree_children(t, n, &list, &count), 0);
	for (i = 0; i < count; i++)
		if (list[i].frame != TREE_API &&
		    strcmp(f->view->frames[list[i].frame].function, name) == 0)
			break;
	assert_true(i < count);
	*n = list[i];
	free(list);
}

TEST(trees_add_up_from_either_end)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment();
	struct view_options o = {.group = true, .fold = true};
	struct tree_options up = {0}, down = {.top_down = true};
	struct tree_node n;
	struct tree *t;

	book(m, 1, 10, 0, parse, serve, start, NULL);
	book(m, 1, 20, 0, parse, visit, visit, start, NULL);
	book(m, 1, 5, 0, parse, visit, start, NULL);
	book(m, 1, 40, 0, serve, start, NULL);
	f.session = mkseg_load(m);
	look(&f, &o);
	assert_int_equal(tree_new(f.view, &up, &t), 0);
	tree_root(t, &n);
	assert_int_equal(n.amounts.bytes.plus, 75);
	assert_string_equal(children(t, &f, &n), "serve=40 parse=35");
	descend(t, &f, &n, "parse");
	assert_string_equal(children(t, &f, &n), "visit=25 serve=10");
	descend(t, &f, &n, "visit");
	assert_int_equal(n.repeats, 2);
	assert_int_equal(n.amounts.sites, 2);
	descend(t, &f, &n, "start");
	assert_string_equal(children(t, &f, &n), "");
	tree_free(t);
	assert_int_equal(tree_new(f.view, &down, &t), 0);
	tree_root(t, &n);
	assert_string_equal(children(t, &f, &n), "start=75");
	descend(t, &f, &n, "start");
	assert_string_equal(children(t, &f, &n), "serve=50 visit=25");
	descend(t, &f, &n, "serve");
	assert_string_equal(children(t, &f, &n), "(malloc)=40 parse=10");
	tree_free(t);
	leave(&f);
}

TEST(comparisons_match_by_name_and_have_signs)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment(), *b = new_segment();
	struct view_options o = {.by_function = true};
	struct view_side before = {0};
	struct tree_options up = {0};
	const uint64_t moved[] = {frame_of(parse, 2), frame_of(start, 1)};
	struct tree_node n;
	struct session *old;
	struct tree *t;

	/* other ids, other addresses: before */
	book(b, 3, 100, 0, visit, start, NULL);
	mkseg_book(b, 0, mkseg_stack(b, moved, 2), 2, 50, 0);
	book(b, 1, 7, 0, render, start, NULL);
	old = mkseg_load(b);
	book(m, 5, 50, 0, parse, start, NULL);
	book(m, 1, 7, 0, render, start, NULL);
	book(m, 1, 1000, 1, serve, start, NULL);
	book(m, 4, 10, 0, serve, start, NULL);
	f.session = mkseg_load(m);
	before.session = old;
	o.before = &before;
	look(&f, &o);
	assert_int_equal(f.view->site_count, 3);
	assert_int_equal(f.view->unchanged, 1);
	assert_int_equal(tree_new(f.view, &up, &t), 0);
	tree_root(t, &n);
	assert_int_equal(n.amounts.bytes.plus, 190);
	assert_int_equal(n.amounts.bytes.minus, 300);
	assert_string_equal(children(t, &f, &n), "visit=-300 parse=+150 serve=+40");
	tree_free(t);
	leave(&f);
	session_free(old);
}

TEST(what_calls_main_is_left_out)
{
	struct fixture f = {0};
	struct mkseg *m = new_segment();
	struct view_options o = {.trim = true};
	uint64_t frames[3] = {frame_of(parse, 0), frame_of(start, 0)};

	(void)mkseg_module(m, "/proc/none/libc.so.6", 0x1000);
	frames[2] = MKSEG_FRAME(2, 0x2000);
	mkseg_book(m, 0, mkseg_stack(m, frames, 3), 1, 1, 0);
	mkseg_book(m, 0, mkseg_stack(m, frames + 2, 1), 1, 1, 0);
	f.session = mkseg_load(m);
	look(&f, &o);
	assert_string_equal(stack(&f, 0), "parse<start");
	assert_string_equal(stack(&f, 1), "?"); /* never all of it */
	leave(&f);
}
