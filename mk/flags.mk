# flags.mk - files that change when flags do, so that what was built with others is built anew.
# SPDX-License-Identifier: Apache-2.0

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
