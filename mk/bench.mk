# bench.mk - what it costs, measured.
# SPDX-License-Identifier: Apache-2.0

build/bench/%: bench/programs/%.c | deps-build
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -Isrc $(WARN) -O2 -g -pthread -o $@ $<
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

BENCH := $(patsubst bench/programs/%,build/bench/%,$(basename $(wildcard bench/programs/*.c*)))
bench: deps-bench all $(BENCH) build/bench/pair-fp build/bench/floor.so build/bench/unwind.so ## measured cost; BENCH_ARGS=--help lists what can be asked
	@bench/run.py $(BENCH_ARGS)
