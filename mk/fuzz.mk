# fuzz.mk - libFuzzer's programs, and one for all mutations.
# SPDX-License-Identifier: Apache-2.0

FUZZ := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
# those of follow/serve and follow/push
FUZZ_NET := $(filter $(B)/fuzz/fuzz_net_% $(B)/fuzz/fuzz_push_%,$(FUZZ))
FUZZ_LIB_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/fuzz/lib/*.c))

# no processes that read files which an input chooses: tests/fuzz/lib/whole.c
$(FUZZ_NET): $(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_LIB_OBJ) $(NET_TEST_OBJ)
	$(call link,$(SANFLAGS) -fsanitize=fuzzer -Wl$(comma)--wrap=fork) $(NET_LIBS) $(TOOL_LIBS)
$(filter-out $(FUZZ_NET),$(FUZZ)): $(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS) -fsanitize=fuzzer -Wl$(comma)--wrap=fork) $(TOOL_LIBS)
$(B)/fuzz/mutations: $(B)/obj/tests/fuzz/mutations.o $(FUZZ_LIB_OBJ) $(TOOL_TEST_OBJ)
	$(call link,$(SANFLAGS) -Wl$(comma)--wrap=fork$(comma)--wrap=exit) $(TOOL_LIBS)

# libFuzzer's, and one program for all mutations, where clang can build them
.PHONY: fuzzers fuzzers-here check-fuzz
fuzzers: deps-check
	@! tests/fuzz/run.sh --can-build || $(MAKE) --no-print-directory CC=clang \
		CFLAGS="-O1 -gline-tables-only" SAN=fuzzer-no-link,address,undefined B=$(B)/san-fuzz fuzzers-here
# and a server whose faults show
fuzzers-here: $(FUZZ) $(B)/fuzz/mutations $(B)/seep-net
check-fuzz: fuzzers ## what reads files: seconds of libFuzzer, 5,000 mutations
	@B=$(B) tests/run fuzz
FUZZ_SECONDS ?= 60
fuzz: deps-fuzz fuzzers ## libFuzzer alone, FUZZ_SECONDS each, two at a time
	@B=$(B) tests/fuzz/run.sh --long $(FUZZ_SECONDS)
