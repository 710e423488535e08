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
NET_LIBS := -lmicrohttpd -lcurl
# seep serve and seep push: where their libraries can be had
NET := $(if $(shell tools/deps.sh --tell net 2>&1),,$(B)/seep-net)
TOOL_LIBS := -ldw -lelf -lz -lzstd -liberty -lm -lpthread

# of rooms, and of their sub-rooms
sources = $(sort $(foreach d,$(1),$(wildcard src/$(d)/*.c src/$(d)/*/*.c)))
objects = $(patsubst src/%.c,$(B)/obj/$(1)/%.o,$(2))

# libraries beside libseep.so for certain hosts, one file each
COMPANIONS := cxx jemalloc tcmalloc map
GUEST_SRC := $(filter-out %/verify.c,$(call sources,base collector))
# seep replay starts it with an allocator in it, so it links libc alone
REPLAYER_SRC := $(addprefix src/replay/,replay_main.c perform.c stage.c)
# seep-net has all of it, HTTP, and another file in the place of net_none.c
NET_SRC := $(call sources,follow/serve follow/push) src/command/shell/net_table.c
TOOL_SRC := $(filter-out $(NET_SRC) $(REPLAYER_SRC),$(call sources,base kit host recording segments \
	session analysis names view findings print attach follow replay command))
TOOL_TEST_SRC := $(filter-out src/command/main.c,$(TOOL_SRC))

REPLAYER_OBJ := $(call objects,replayer,$(REPLAYER_SRC))
GUEST_OBJ := $(call objects,so,$(GUEST_SRC))
COMPANION_OBJ := $(call objects,so,src/companion/companion.c src/collector/segment/bytes.c src/collector/segment/loader.c src/base/fmt.c)
VERIFY_OBJ := $(call objects,verify,$(GUEST_SRC) src/collector/stack/verify.c)
TOOL_OBJ := $(call objects,tool,$(TOOL_SRC))
TOOL_TEST_OBJ := $(call objects,tool,$(TOOL_TEST_SRC))
NET_OBJ := $(filter-out %/net_none.o,$(TOOL_OBJ)) $(call objects,tool,$(NET_SRC))
NET_TEST_OBJ := $(filter-out %/command/main.o,$(NET_OBJ))
LIBS := $(B)/libseep.so $(COMPANIONS:%=$(B)/libseep-%.so)

.PHONY: all
all: $(B)/seep $(B)/seep-replay-run $(LIBS) $(NET) ## the command and the collector, ready in build/

link = @mkdir -p $(@D) && echo "  LD $@" && $(CC) $(CFLAGS) $(LDFLAGS) $(1) -o $@ $(filter %.o,$^)
guest_flags = $(GUEST_LD) -Wl,-soname,$(@F) -Wl,--version-script=$(filter %.map,$^)
guest = $(call link,$(guest_flags))

# of several initfirst libraries glibc keeps one: the collector, not a companion;
# nodelete: whoever loads it by dlopen() and closes it still has our fork() handlers
COLLECTOR_LD := -Wl,-z,initfirst,-z,nodelete
$(B)/libseep.so: $(GUEST_OBJ) src/collector/exports.map
	$(guest) $(COLLECTOR_LD)
$(COMPANIONS:%=$(B)/libseep-%.so): $(B)/libseep-%.so: $(B)/obj/so/companion/%.o $(COMPANION_OBJ) src/companion/exports-%.map
	$(guest)
# compares every stack with _Unwind_Backtrace: `make verify`
$(B)/libseep-verify.so: $(VERIFY_OBJ) src/collector/exports.map
	$(guest) $(COLLECTOR_LD) -lgcc_s
$(B)/seep: $(TOOL_OBJ)
	$(call link,$(SANFLAGS) $(TOOL_LD)) $(TOOL_LIBS)
$(B)/seep-net: $(NET_OBJ)
	$(call link,$(SANFLAGS) $(TOOL_LD)) $(NET_LIBS) $(TOOL_LIBS)
$(B)/seep-replay-run: $(REPLAYER_OBJ)
	$(call link,$(TOOL_LD)) -lpthread
$(call objects,tool,$(NET_SRC)): | deps-net

$(B)/mkman: $(B)/obj/man/mkman.o $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS)

# the page without data goes into the command as it is; `make web` builds it
$(B)/obj/tool/print/page/html_template.o: web/dist/report.html

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
$(B)/obj/replayer/%.o: src/%.c $(B)/flags
	$(call compile,$(TOOL) -fno-builtin)
# these loops must not become calls of the functions that they are in
$(B)/obj/so/collector/segment/bytes.o $(B)/obj/verify/collector/segment/bytes.o: GUEST += -fno-builtin -fno-tree-loop-distribute-patterns
$(B)/obj/tool/command/options/templates.o: $(wildcard src/command/options/completions/*)
# the one file that knows where the collector will be installed
$(B)/obj/tool/attach/program/launch.o: BASE += -DSEEP_LIBDIR='"$(LIBDIR_FROM_BIN)"'
$(B)/obj/tool/attach/program/launch.o: $(B)/libdir
$(B)/obj/man/%.o: man/%.c $(B)/flags
	$(call compile,$(SANFLAGS))
build/demo/leaky_server: examples/leaky_server.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -g -pthread -o $@ $<
include mk/flags.mk mk/deps.mk mk/hosts.mk mk/tests.mk mk/fuzz.mk mk/bench.mk

.PHONY: demo bench lint fuzz format man web pictures install uninstall clean help
demo: all build/demo/leaky_server ## record an example server that leaks, print its report
	@examples/demo.sh

lint: deps-check deps-lint all ## formatting, arrows, symbols, clang-tidy, cppcheck, shellcheck
	@tools/lint/all.sh

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
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile mk/*.mk | expand -t 16

-include $(shell find build $(filter-out build build/%,$(B)) -name deb -prune -o -type f -name '*.d' -print 2>/dev/null)
