# deps.mk - packages: who names them, who installs them.
# SPDX-License-Identifier: Apache-2.0

# Building never installs anything: it names what is missing. Targets that run
# something besides the compiler install what they need.
GOALS := $(or $(MAKECMDGOALS),all)
BUILDS_ONLY := all install uninstall dist clean help $(B)/% build/%
TELL := $(if $(filter-out $(BUILDS_ONLY),$(GOALS)),,--tell)
DEPS := build net unit check lint bench fuzz man web page readers real fresh deb
.PHONY: deps deps-all $(DEPS:%=deps-%)
deps: deps-build deps-net ## install what building needs (Debian); deps-check: what the tests need; deps-all: everything
deps-all: $(DEPS:%=deps-%)
	@tools/npm.sh tests/readers build/readers >/dev/null || [[ $$? -eq 77 ]]
$(DEPS:%=deps-%): deps-%:
	@tools/deps.sh $(TELL) $*
