// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// event_numbers LIBPFM EVENT...: the number that libpfm4 has for each.
// LIBPFM_FORCE_PMU names the processor. Declared here, as its headers may not be
// there.
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

struct request {
  struct perf_event_attr *attributes;
  char **name;
  size_t bytes;
  int index, cpu, flags;
};

int main(int count, char **words) {
  void *library = dlopen(words[1], RTLD_NOW);
  if (!library)
    return fprintf(stderr, "%s\n", dlerror()), 1;
  int (*start)(void) = (int (*)(void))dlsym(library, "pfm_initialize");
  int (*ask)(const char *, int, int, void *) =
      (int (*)(const char *, int, int, void *))dlsym(
          library, "pfm_get_os_event_encoding");
  if (!start || !ask || start() != 0)
    return 1;
  for (int i = 2; i < count; ++i) {
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    struct request request = {&attributes, 0, sizeof request, 0, 0, 0};
    enum { userCode = 8, forPerfEvents = 1 };
    if (ask(words[i], userCode, forPerfEvents, &request) != 0)
      return fprintf(stderr, "%s: not known\n", words[i]), 1;
    printf("%s 0x%llx\n", words[i], (unsigned long long)attributes.config);
  }
  return 0;
}
