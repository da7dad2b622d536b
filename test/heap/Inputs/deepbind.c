/* A program, a library of it that opens others, and one of these (PLUGIN): a
 * block goes from one to the other and back. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN
char *change(char *text) {
  char *copy = strdup(text);
  free(text);
  return realloc(copy, 1000000);
}
#elif defined(OPENER)
void *openBeside(const char *name) {
  return dlopen(name, RTLD_LAZY | RTLD_GLOBAL | RTLD_DEEPBIND);
}
#else
void *openBeside(const char *name);

static void use(const char *how, void *library) {
  if (!library)
    return (void)printf("%s: %s\n", how, dlerror());
  char *(*change)(char *) = dlsym(library, "change");
  char *text = change(strdup("right"));
  printf("%s: %s\n", how, text);
  free(text);
  dlclose(library);
}

int main(int count, char **arguments) {
  char path[4096], *slash;
  strcpy(path, arguments[0]);
  slash = strrchr(path, '/');
  strcpy(slash, "/plugins/plugin.so");
  use("by its path", openBeside(path));
  use("by RUNPATH", openBeside("plugin.so")); /* the opener's */
  use("missing", openBeside("no-such-library.so"));
  return 0;
}
#endif
