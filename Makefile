# seep - heap profiler and leak detector. `make help` lists the targets.
# SPDX-License-Identifier: Apache-2.0

SHELL := bash
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
VERSION := $(shell cat VERSION)

# Variants: make SAN=address,undefined ... builds the command and the unit
# tests with sanitizers, beside the plain build. What is preloaded into a
# host is never sanitized; its modules are, in the unit tests.
comma := ,
SAN ?=
B := build$(if $(SAN),/san-$(subst $(comma),-,$(SAN)))
# undefined behaviour ends a test, as an error of ASan does
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
ifeq ($(findstring fuzzer,$(SAN))$(findstring undefined,$(SAN)),undefined)
SANFLAGS += -fno-sanitize-recover=undefined
endif

WARN := -Wall -Wextra -Wshadow -Wundef -Wvla -Wpointer-arith -Wwrite-strings \
	-Wcast-qual -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes \
	$(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
BASE := -std=gnu11 -D_GNU_SOURCE -Isrc -Iinclude -MMD -MP \
	-DSEEP_VERSION='"$(VERSION)"' $(WARN)
# initial-exec: the default TLS model may call malloc, and we are malloc.
# Code and notes for shadow stacks and branch targets: one library without them
# would switch them off for the whole host.
CET := $(if $(filter x86_64-%,$(shell $(CC) -dumpmachine)),-fcf-protection)
GUEST := $(CET) -fPIC -fvisibility=hidden -fno-builtin-malloc -fno-builtin-free \
	-fno-builtin-calloc -fno-builtin-realloc -ftls-model=initial-exec \
	-fno-stack-protector -mgeneral-regs-only
# no start files: those of some systems have no notes, and we need none
GUEST_LD := -shared -nostartfiles -Wl,-z,now,-z,relro,-z,noexecstack,-z,defs
# The command reads what others wrote. Its checks end it, so the collector has
# none: there they would end the host (I5). Sanitizers bring their own.
TOOL := $(if $(SAN),,$(CET) -fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
TOOL_LD := $(if $(SAN),,-pie -Wl,-z,now,-z,relro,-z,noexecstack$(if $(CET),$(comma)-z$(comma)shstk))
TOOL_LIBS := -ldw -lelf -lz -lzstd -liberty -lm -lpthread

sources = $(sort $(foreach d,$(1),$(wildcard src/$(d)/*.c)))
objects = $(patsubst src/%.c,$(B)/obj/$(1)/%.o,$(2))

GUEST_SRC := $(filter-out %/cxx.c %/verify.c,$(call sources,base collector))
TOOL_SRC := $(call sources,base util trace reader verdict names report json check export html record cli)
# tests/unit/test_c_*.c meet the collector's modules without the hooks
GUEST_TEST_SRC := $(filter-out %/hook.c %/lifecycle.c %/recorder.c %/api.c %/snapwhen.c,$(GUEST_SRC))
TOOL_TEST_SRC := $(filter-out src/cli/main.c,$(TOOL_SRC))

GUEST_OBJ := $(call objects,so,$(GUEST_SRC))
CXX_OBJ := $(call objects,so,src/collector/cxx.c src/collector/symbol.c src/base/fmt.c)
VERIFY_OBJ := $(call objects,verify,$(GUEST_SRC) src/collector/verify.c)
TOOL_OBJ := $(call objects,tool,$(TOOL_SRC))
TOOL_TEST_OBJ := $(call objects,tool,$(TOOL_TEST_SRC))
GUEST_TEST_OBJ := $(call objects,unit,$(GUEST_TEST_SRC))
TEST_LIB_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c))

UNIT := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/test_*.c))
UNIT := $(UNIT:$(B)/tests/unit/%=$(B)/tests/%)
UNIT_GUEST := $(filter $(B)/tests/test_c_%,$(UNIT))
UNIT_TOOL := $(filter-out $(UNIT_GUEST),$(UNIT))
TOOLS := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c))
FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_LIB_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/fuzz/lib/*.c))

HOST_SRC := $(foreach d,tests/hosts tests/host tests/host/cases,$(wildcard $(d)/*.c $(d)/*.cpp))
vpath %.c tests/hosts tests/host tests/host/cases
vpath %.cpp tests/hosts tests/host/cases
PLUGIN_SRC := $(foreach s,$(HOST_SRC),$(if $(findstring _plugin,$(s)),$(s)))
host_name = build/hosts/$(basename $(notdir $(1)))
HOSTS := $(foreach s,$(filter-out $(PLUGIN_SRC),$(HOST_SRC)),$(call host_name,$(s))) \
	$(foreach s,$(PLUGIN_SRC),$(call host_name,$(s)).so)

LIBS := $(B)/libseep.so $(if $(wildcard src/collector/cxx.c),$(B)/libseep-cxx.so)

.PHONY: all
all: $(B)/seep $(LIBS) ## the command and the collector, ready in build/

link = @mkdir -p $(@D) && echo "  LD $@" && $(CC) $(CFLAGS) $(LDFLAGS) $(1) -o $@ $(filter %.o,$^)
guest_flags = $(GUEST_LD) -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^)
guest = $(call link,$(guest_flags))

# of several initfirst libraries glibc keeps one: the collector, not libseep-cxx.so
$(B)/libseep.so: $(GUEST_OBJ) src/collector/exports.map
	$(guest) -Wl,-z,initfirst
$(B)/libseep-cxx.so: $(CXX_OBJ) src/collector/exports-cxx.map
	$(guest)
# compares every stack with _Unwind_Backtrace: `make verify`
$(B)/libseep-verify.so: $(VERIFY_OBJ) src/collector/exports.map
	$(guest) -Wl,-z,initfirst -lgcc_s
$(B)/seep: $(TOOL_OBJ)
	$(call link,$(SANFLAGS) $(TOOL_LD)) $(TOOL_LIBS)

$(B)/mkman: $(B)/obj/man/mkman.o $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS)

# the page without data goes into the command as it is; `make web` builds it
$(B)/obj/tool/html/html_template.o: web/dist/report.html

# One rule per way of compiling; the flags file rebuilds all when flags change.
compile = @mkdir -p $(@D) && echo "  CC $@" && $(CC) $(BASE) $(CFLAGS) $(1) -c -o $@ $<

$(B)/obj/so/%.o: src/%.c $(B)/flags
	$(call compile,$(GUEST) -Wframe-larger-than=2048)
$(B)/obj/verify/%.o: src/%.c $(B)/flags
	$(call compile,$(GUEST) -DSEEP_VERIFY=1)
$(B)/obj/unit/%.o: src/%.c $(B)/flags
	$(call compile,$(GUEST) $(SANFLAGS))
$(B)/obj/tool/%.o: src/%.c $(B)/flags
	$(call compile,$(SANFLAGS) $(TOOL))
$(B)/obj/tool/cli/templates.o: $(wildcard src/cli/shell/*)
# the one file that knows where the collector will be installed
$(B)/obj/tool/record/launch.o: BASE += -DSEEP_LIBDIR='"$(LIBDIR_FROM_BIN)"'
$(B)/obj/tool/record/launch.o: $(B)/libdir
$(B)/obj/man/%.o: man/%.c $(B)/flags
	$(call compile,$(SANFLAGS))
$(B)/obj/tests/%.o: tests/%.c $(B)/flags | deps-check
	$(call compile,$(SANFLAGS) -Itests/lib)

$(UNIT_TOOL): $(B)/tests/%: $(B)/obj/tests/unit/%.o $(TEST_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS) -lcmocka -lpthread
$(UNIT_GUEST): $(B)/tests/%: $(B)/obj/tests/unit/%.o $(GUEST_TEST_OBJ)
	$(call link,$(SANFLAGS)) -lcmocka -lpthread -lm
$(TOOLS): $(B)/tools/%: $(B)/obj/tests/tools/%.o $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS)
# no processes that read files which an input chooses: tests/fuzz/lib/whole.c
$(FUZZ): $(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS) -fsanitize=fuzzer -Wl$(comma)--wrap=fork) $(TOOL_LIBS)
$(B)/fuzz/mutations: $(B)/obj/tests/fuzz/mutations.o $(FUZZ_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS) -Wl$(comma)--wrap=fork$(comma)--wrap=exit) $(TOOL_LIBS)

# Test hosts: `/* flags: ... */` and `/* cc: ... */` in the first five lines
# of a source add to the command or replace the compiler.
said = $(shell sed -nE '1,5s@^.*[/*] $(1): *([^*]*).*@\1@p' $(2))
host = @mkdir -p $(@D) && echo "  HOST $@" && $(or $(call said,cc,$<),$(1)) -O2 -g \
	-Iinclude -Wall -MMD -MP $(2) -o $@ $< -pthread -ldl $(call said,flags,$<)

# these are linked with libraries that are hosts, too
build/hosts/early build/hosts/early_resolver: $(addprefix build/hosts/early_plugin,.so _first.so _user.so _resolver.so)
build/hosts/early_plugin_user.so: build/hosts/early_plugin_resolver.so

build/hosts/%.so: %.c | deps-check
	$(call host,$(CC),-shared -fPIC)
build/hosts/%.so: %.cpp | deps-check
	$(call host,$(CXX),-shared -fPIC)
build/hosts/%: %.c | deps-check
	$(call host,$(CC),-D_GNU_SOURCE -std=gnu11)
build/hosts/%: %.cpp | deps-check
	$(call host,$(CXX))

build/demo/leaky_server: examples/leaky_server.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -pthread -o $@ $<
build/bench/%: bench/programs/%.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -pthread -o $@ $<
build/bench/pair-fp: bench/programs/pair.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -fno-omit-frame-pointer -pthread -o $@ $<
build/bench/%: bench/programs/%.cpp | deps-bench
	@mkdir -p $(@D)
	$(CXX) -std=c++17 -Wall -Wextra -O2 -g -o $@ $<
build/bench/%.so: bench/%.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) $(GUEST) $(GUEST_LD) -o $@ $< -ldl
build/bench/unwind.so: bench/peers/unwind.c | deps-bench
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) $(CFLAGS) -fPIC -shared -fvisibility=hidden -ftls-model=initial-exec -o $@ $< -lunwind -ldl

FLAGS_NOW := $(CC) $(BASE) $(CFLAGS) $(GUEST) $(TOOL) $(SANFLAGS)
ifneq ($(file <$(B)/flags),$(FLAGS_NOW))
$(shell rm -f $(B)/flags)
endif
$(B)/flags: | deps-build
	$(shell mkdir -p $(@D))$(file >$@,$(FLAGS_NOW))@:

LIBDIR_FROM_BIN := $(shell realpath -m -s --relative-to=$(PREFIX)/bin $(LIBDIR)/seep)
ifneq ($(file <$(B)/libdir),$(LIBDIR_FROM_BIN))
$(shell rm -f $(B)/libdir)
endif
$(B)/libdir: | $(B)/flags
	$(file >$@,$(LIBDIR_FROM_BIN))@:

# Building never installs anything: it names what is missing. Targets that run
# something besides the compiler install what they need.
GOALS := $(or $(MAKECMDGOALS),all)
BUILDS_ONLY := all install uninstall dist clean help $(B)/% build/%
TELL := $(if $(filter-out $(BUILDS_ONLY),$(GOALS)),,--tell)
DEPS := build check lint bench fuzz man web page readers real fresh deb
.PHONY: deps deps-all $(DEPS:%=deps-%)
deps: deps-build ## install what building needs (Debian); deps-check: what the tests need; deps-all: everything
deps-all: $(DEPS:%=deps-%)
	@tools/npm.sh tests/readers build/readers >/dev/null || [[ $$? -eq 77 ]]
$(DEPS:%=deps-%): deps-%:
	@tools/deps.sh $(TELL) $*

TESTED := $(B)/seep $(B)/mkman $(LIBS) $(if $(wildcard src/collector/verify.c),$(B)/libseep-verify.so)
GROUP := lint unit $(if $(SAN),,san fuzz) cli collector security host real
.PHONY: check check-unit check-cli check-collector check-security check-host check-real check-lint verify
check: deps-check $(if $(SEEP_FULL),deps-real deps-deb) $(TESTED) $(UNIT) $(HOSTS) $(TOOLS) $(B)/real/count.so $(if $(SAN),,sanitized fuzzers) ## all tests (SEEP_FULL=1: long forms; GROUP="cli host": some); last line: N passed, N failed
	@B=$(B) tests/run $(GROUP)
.PHONY: check-full
check-full: ## all of it in its long form, fuzzers, a fresh Debian: hours; PARTS="check real verify fuzz fresh"
	@tools/full.sh $(PARTS)
check-unit: deps-check $(UNIT)
	@B=$(B) tests/run unit
# The collector's modules under ASan, UBSan and TSan, in variants beside.
.PHONY: unit-guest sanitized check-san host-table
unit-guest: $(UNIT_GUEST)
sanitized:
	@$(MAKE) --no-print-directory SAN=address,undefined B=$(B)/san-address-undefined unit-guest
	@$(MAKE) --no-print-directory SAN=thread B=$(B)/san-thread unit-guest
check-san: sanitized ## the collector's modules under ASan, UBSan and TSan
	@B=$(B) tests/run san
host-table: $(if $(HEAPTRACK),deps-check $(TESTED) $(HOSTS)) ## the table in docs/HOST_RULES.md; HEAPTRACK=1: runs all cases for docs/HOST_CASES.md, too
	@tests/host/table.py --write
	$(if $(HEAPTRACK),@tests/host/peers.py --write)
check-cli: deps-check $(TESTED) $(HOSTS) $(TOOLS)
	@B=$(B) tests/run cli
check-collector: deps-check $(TESTED) $(HOSTS)
	@B=$(B) tests/run collector
check-security: deps-check $(TESTED) $(HOSTS) $(TOOLS) ## the threat model of SECURITY.md
	@B=$(B) tests/run security
check-host: deps-check $(TESTED) $(HOSTS) ## the torture cases: bare against traced
	@B=$(B) tests/run host
check-real: deps-check deps-real $(TESTED) $(B)/real/count.so ## real programs, bare and traced; writes docs/COMPATIBILITY.md
	@SEEP_BUILD=$(abspath $(B)) tests/real/run --rounds 3 --write docs/COMPATIBILITY.md
$(B)/real/count.so: tests/real/count.c
	@mkdir -p $(@D) && echo "  LD $@" && $(CC) $(CFLAGS) $(WARN) -fPIC -shared -o $@ $< -ldl
check-lint: deps-check $(LIBS)
	@B=$(B) tests/run lint
verify: deps-check $(TESTED) $(HOSTS) ## every stack against _Unwind_Backtrace, long form
	@B=$(B) SEEP_FULL=1 TESTS=stacks_equal tests/run collector

.PHONY: demo bench lint fuzz format man web pictures install uninstall clean help
demo: all build/demo/leaky_server ## record an example server that leaks, print its report
	@examples/demo.sh

BENCH := $(patsubst bench/programs/%,build/bench/%,$(basename $(wildcard bench/programs/*.c*)))
bench: deps-bench all $(BENCH) build/bench/pair-fp build/bench/floor.so build/bench/unwind.so ## measured cost; BENCH_ARGS=--help lists what can be asked
	@bench/run.py $(BENCH_ARGS)

lint: deps-check deps-lint all ## formatting, arrows, symbols, clang-tidy, cppcheck, shellcheck
	@tools/lint/all.sh

# libFuzzer's, and one program for all mutations, where clang can build them
.PHONY: fuzzers fuzzers-here check-fuzz
fuzzers: deps-check
	@! tests/fuzz/run.sh --can-build || $(MAKE) --no-print-directory CC=clang \
		CFLAGS="-O1 -gline-tables-only" SAN=fuzzer-no-link,address,undefined B=$(B)/san-fuzz fuzzers-here
fuzzers-here: $(FUZZ) $(B)/fuzz/mutations
check-fuzz: fuzzers ## what reads files: a minute of libFuzzer, 10,000 mutations
	@B=$(B) tests/run fuzz
FUZZ_SECONDS ?= 60
fuzz: deps-fuzz fuzzers ## libFuzzer alone, FUZZ_SECONDS each, two at a time
	@B=$(B) tests/fuzz/run.sh --long $(FUZZ_SECONDS)

format: deps-lint ## rewrite the sources the way lint wants them
	@clang-format-14 -i $$(tools/lint/check-format.sh --list)

pictures: all build/demo/leaky_server ## those of the README, from the demo; needs tmux and chromium
	@tools/pictures.sh

web: deps-web ## web/ -> web/dist/report.html, the page that goes into the command
	@tools/web.sh web/dist/report.html

man: deps-man $(B)/mkman ## manual pages, in build/man
	@man/build.sh $(B)/mkman $(B)/man

install: all $(B)/mkman ## DESTDIR= PREFIX=/usr/local LIBDIR=PREFIX/lib
	@B=$(B) tools/install.sh install "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)"
uninstall: ## what install has put there, same variables
	@B=$(B) tools/install.sh uninstall "$(DESTDIR)" "$(PREFIX)" "$(LIBDIR)"

.PHONY: dist deb
dist: ## build/seep-VERSION.tar.gz, the sources as they are here
	@tools/dist.sh $(B)/seep-$(VERSION).tar.gz
deb: deps-build deps-deb dist ## Debian packages in build/deb: command, collector, header, documents; checked by lintian
	@packaging/deb.sh $(B)/seep-$(VERSION).tar.gz $(B)/deb

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 12

-include $(shell find build $(filter-out build build/%,$(B)) -name deb -prune -o -type f -name '*.d' -print 2>/dev/null)
