# hosts.mk - programs that the tests run with the collector in them.
# SPDX-License-Identifier: Apache-2.0

HOST_SRC := $(foreach d,tests/hosts tests/host tests/host/cases,$(wildcard $(d)/*.c $(d)/*.cpp))
vpath %.c tests/hosts tests/host tests/host/cases
vpath %.cpp tests/hosts tests/host/cases
PLUGIN_SRC := $(foreach s,$(HOST_SRC),$(if $(findstring _plugin,$(s)),$(s)))
host_name = build/hosts/$(basename $(notdir $(1)))
HOSTS := $(foreach s,$(filter-out $(PLUGIN_SRC),$(HOST_SRC)),$(call host_name,$(s))) \
	$(foreach s,$(PLUGIN_SRC),$(call host_name,$(s)).so)

# Test hosts: `/* flags: ... */` and `/* cc: ... */` in the first five lines
# of a source add to the command or replace the compiler.
said = $(shell sed -nE '1,5s@^.*[/*] $(1): *([^*]*).*@\1@p' $(2))
host = @mkdir -p $(@D) && echo "  HOST $@" && $(or $(call said,cc,$<),$(1)) -O2 -g \
	-Iinclude -Wall -MMD -MP $(2) -o $@ $< -pthread -ldl $(call said,flags,$<)

# these are linked with libraries that are hosts, too
build/hosts/early build/hosts/early_resolver: $(addprefix build/hosts/early_plugin,.so _first.so _user.so _resolver.so)
build/hosts/early_plugin_user.so: build/hosts/early_plugin_resolver.so
build/hosts/mapped_early: $(addprefix build/hosts/mapped_early_plugin,.so _resolver.so)
build/hosts/mapped_early_plugin.so: build/hosts/mapped_early_plugin_resolver.so

build/hosts/%.so: %.c | deps-check
	$(call host,$(CC),-shared -fPIC)
build/hosts/%.so: %.cpp | deps-check
	$(call host,$(CXX),-shared -fPIC)
build/hosts/%: %.c | deps-check
	$(call host,$(CC),-D_GNU_SOURCE -std=gnu11)
build/hosts/%: %.cpp | deps-check
	$(call host,$(CXX))
