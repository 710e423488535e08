# tests.mk - unit tests, their sanitized variants, programs of tests/tools; all groups of tests.
# SPDX-License-Identifier: Apache-2.0

# tests/unit/collector/test_c_*.c have all modules of the collector but the hooks and the
# constructor, so that a test decides what starts and which events come
# (and libc's memcpy, which sanitizers watch)
GUEST_TEST_SRC := $(filter-out %/malloc.c %/companion_calls.c %/dl.c %/entry.c %/bytes.c,$(GUEST_SRC))
GUEST_TEST_OBJ := $(call objects,unit,$(GUEST_TEST_SRC)) $(B)/obj/tests/unit/collector/no_entry.o $(B)/obj/tests/lib/test.o
TEST_LIB_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/lib/*.c))

# tests/unit/ROOM/test_X.c is build/tests/test_X, and needs the group `unit` of tools/deps.sh besides `build`
UNIT_SRC := $(wildcard tests/unit/*/test_*.c)
UNIT := $(addprefix $(B)/tests/,$(basename $(notdir $(UNIT_SRC))))
unit_object = $(patsubst %.c,$(B)/obj/%.o,$(filter %/$(1).c,$(UNIT_SRC)))
UNIT_GUEST := $(filter $(B)/tests/test_c_%,$(UNIT))
# those of follow/serve and follow/push
UNIT_NET := $(filter $(B)/tests/test_net_% $(B)/tests/test_push_%,$(UNIT))
UNIT_TOOL := $(filter-out $(UNIT_GUEST) $(UNIT_NET),$(UNIT))
TOOLS := $(patsubst tests/tools/%.c,$(B)/tools/%,$(wildcard tests/tools/*.c))

$(B)/obj/tests/%.o: tests/%.c $(B)/flags | deps-unit
	$(call compile,$(SANFLAGS) -Itests/lib)

.SECONDEXPANSION:
$(UNIT_TOOL): $(B)/tests/%: $$(call unit_object,$$*) $(TEST_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS) -lcmocka -lpthread
$(UNIT_NET): $(B)/tests/%: $$(call unit_object,$$*) $(TEST_LIB_OBJ) $(NET_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(NET_LIBS) $(TOOL_LIBS) -lcmocka -lpthread
$(UNIT_GUEST): $(B)/tests/%: $$(call unit_object,$$*) $(GUEST_TEST_OBJ)
	$(call link,$(SANFLAGS)) -lcmocka -lpthread -lm
$(TOOLS): $(B)/tools/%: $(B)/obj/tests/tools/%.o $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS)) $(TOOL_LIBS)

REAL := $(patsubst tests/real/%.c,$(B)/real/%.so,$(wildcard tests/real/*.c)) build/hosts/exchange
TESTED := $(B)/seep $(B)/seep-replay-run $(B)/seep-net $(B)/mkman $(LIBS) $(if $(wildcard src/collector/stack/verify.c),$(B)/libseep-verify.so)
AGAIN := 3
GROUP := lint unit $(if $(SAN),,san fuzz) command golden collector security host real
.PHONY: check check-unit check-command check-collector check-security check-host check-real check-lint verify
check: deps-check $(if $(SEEP_FULL),deps-real deps-deb) $(TESTED) $(UNIT) $(HOSTS) $(TOOLS) $(REAL) $(if $(SAN),,sanitized fuzzers) ## all tests (SEEP_FULL=1: long forms; GROUP="command host": some); last line: N passed, N failed
	@B=$(B) AGAIN=$(AGAIN) tests/run $(GROUP)
.PHONY: check-programs check-full
check-programs: $(TESTED) $(UNIT) $(HOSTS) $(TOOLS) $(REAL) ## what tests/run needs, built and not run; installs nothing
check-full: ## all of it in its long form, fuzzers, a fresh Debian, mutants: hours; PARTS="check real verify fuzz fresh mutants"
	@tools/full.sh $(PARTS)
check-unit: $(UNIT) ## the unit tests alone; one: make build/tests/test_X && build/tests/test_X
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
check-command: deps-check $(TESTED) $(HOSTS) $(TOOLS)
	@B=$(B) tests/run command
# CASES: a regular expression; SEEP: another build of the command
.PHONY: golden golden-accept
golden: $(B)/seep $(B)/seep-net ## what the command prints of stored inputs, compared: diffs, "N cases, M differ"; CASES=regex SEEP=path
	@SEEP_BUILD=$(abspath $(B)) tests/golden/run '$(CASES)'
golden-accept: $(B)/seep $(B)/seep-net ## write what it prints now into tests/golden/expected; CASES=regex; the commit says which and why
	@SEEP_BUILD=$(abspath $(B)) tests/golden/run --accept '$(CASES)'
check-collector: deps-check $(TESTED) $(HOSTS)
	@B=$(B) tests/run collector
check-security: deps-check $(TESTED) $(HOSTS) $(TOOLS) ## the threat model of SECURITY.md
	@B=$(B) tests/run security
check-host: deps-check $(TESTED) $(HOSTS) ## the torture cases: bare against traced
	@B=$(B) tests/run host
check-real: deps-check deps-real $(TESTED) $(REAL) ## real programs, bare and traced; writes docs/COMPATIBILITY.md
	@SEEP_BUILD=$(abspath $(B)) tests/real/run --rounds 3 --write docs/COMPATIBILITY.md
	@SEEP_BUILD=$(abspath $(B)) tests/real/leaks
	@SEEP_BUILD=$(abspath $(B)) tests/real/rss
	@SEEP_BUILD=$(abspath $(B)) tests/real/replay
$(B)/real/%.so: tests/real/%.c
	@mkdir -p $(@D) && echo "  LD $@" && $(CC) $(CFLAGS) $(WARN) -fPIC -shared -o $@ $< -ldl
check-lint: deps-check $(LIBS)
	@B=$(B) tests/run lint
verify: deps-check $(TESTED) $(HOSTS) ## every stack against _Unwind_Backtrace, long form
	@B=$(B) SEEP_FULL=1 TESTS=stacks_equal tests/run collector
