# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Many small programs, started as fast as can be; make uses vfork for it.
numbers := 1 2 3 4 5 6 7 8 9 10
goals := $(foreach a,$(numbers),$(addprefix goal$(a)-,$(numbers)))

all: $(goals)

$(goals):
	@true
	@sh -c 'exit 0' > /dev/null

.PHONY: all $(goals)
