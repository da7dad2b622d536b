// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that the C library allocates and the program frees or resizes, and the
// other way round. Prints `right`, or the line of what is wrong.

#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <errno.h>
#include <execinfo.h>
#include <glob.h>
#include <iconv.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <regex.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#define CHECK(fine)                                                            \
  do {                                                                         \
    if (!(fine)) {                                                             \
      printf("wrong: line %d: %s\n", __LINE__, #fine);                         \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

static void useStrings(void) {
  char *a = strdup("text"), *b = strndup("texts and more", 4), *c = NULL;
  CHECK(!strcmp(a, b));
  a = realloc(a, 100000);
  CHECK(!strcmp(a, b));
  CHECK(asprintf(&c, "%s %200000d", a, 5) == 200005 && strlen(c) == 200005);
  wchar_t *wide = wcsdup(L"wide");
  CHECK(!wcscmp(wide, L"wide"));
  char *word = NULL, *set = NULL;
  CHECK(sscanf("some words", "%ms %m[a-z]", &word, &set) == 2);
  CHECK(!strcmp(word, "some") && !strcmp(set, "words"));
  char *list = NULL;
  size_t bytes = 0;
  for (int i = 0; i < 5000; ++i)
    CHECK(!argz_add(&list, &bytes, "argument"));
  CHECK(bytes == 45000 && argz_count(list, bytes) == 5000);
  free(a), free(b), free(c), free(wide), free(word), free(set), free(list);
}

static void useStreams(void) {
  char *memory = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(&memory, &bytes);
  for (int i = 0; i < 100000; ++i)
    fprintf(stream, "line %d\n", i);
  fclose(stream);
  CHECK(bytes > 1000000 && strlen(memory) == bytes);
  stream = fmemopen(memory, bytes, "r");
  char *line = malloc(1); // getline makes it larger
  size_t room = 1;
  for (int i = 0; i < 100000; ++i) {
    CHECK(getline(&line, &room, stream) > 0 && atoi(line + 5) == i);
    if (i % 10000 == 0) {
      free(line);
      line = NULL;
      room = 0;
    }
  }
  rewind(stream);
  CHECK(getdelim(&line, &room, 0, stream) == (ssize_t)bytes);
  CHECK(!strcmp(line, memory));
  fclose(stream);
  free(line), free(memory);
  wchar_t *wide = NULL;
  stream = open_wmemstream(&wide, &bytes);
  fwprintf(stream, L"%10000d", 1);
  fclose(stream);
  CHECK(wcslen(wide) == 10000);
  free(wide);
  stream = tmpfile();
  char *buffer = malloc(300000);
  setvbuf(stream, buffer, _IOFBF, 300000);
  fputs("text", stream);
  fclose(stream);
  free(buffer);
  stream = popen("echo some text", "r");
  CHECK(getc(stream) == 's');
  CHECK(pclose(stream) == 0 || 1); // it may have been killed by the pipe
}

static void usePaths(void) {
  char *real = realpath("/proc/self/..", NULL), *here = getcwd(NULL, 0);
  CHECK(real && !strcmp(real, "/proc") && here && *here == '/');
  here = realloc(here, 3 * PATH_MAX);
  struct dirent **names;
  int number = scandir("/proc/self", &names, NULL, alphasort);
  CHECK(number > 20);
  for (int i = 0; i < number; ++i)
    free(names[i]);
  free(names), free(real), free(here);
  glob_t found;
  CHECK(!glob("/proc/self/s*", 0, NULL, &found) && found.gl_pathc > 3);
  globfree(&found);
  wordexp_t words;
  CHECK(!wordexp("a $HOME 'b c'", &words, 0) && words.we_wordc >= 2);
  wordfree(&words);
  DIR *folder = opendir("/proc");
  CHECK(readdir(folder));
  closedir(folder);
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

static void useTables(void) {
  enum { number = 300000 };
  int *numbers = malloc(number * sizeof *numbers); // qsort takes as much
  for (int i = 0; i < number; ++i)
    numbers[i] = (i % 1000 * 7919 + i) % number;
  qsort(numbers, number, sizeof *numbers, compare);
  for (int i = 1; i < number; ++i)
    CHECK(numbers[i - 1] <= numbers[i]);
  void *tree = NULL;
  for (int i = 0; i < 1000; ++i) {
    int *key = malloc(sizeof *key);
    *key = i;
    tsearch(key, &tree, compare);
  }
  tdestroy(tree, free); // calls ours, or whose is there
  free(numbers);
  regex_t expression;
  CHECK(!regcomp(&expression, "^(a|b)*c$", REG_EXTENDED));
  CHECK(!regexec(&expression, "ababc", 0, NULL, 0));
  regfree(&expression);
  CHECK(hcreate(1000));
  hdestroy();
}

static void useRest(void) {
  for (int i = 0; i < 500; ++i) {
    char name[20], value[40];
    snprintf(name, sizeof name, "NAME_%d", i % 50);
    snprintf(value, sizeof value, "%0*d", i % 30 + 1, i);
    setenv(name, value, 1);
    CHECK(!strcmp(getenv(name), value));
    if (i % 3 == 0)
      unsetenv(name);
  }
  void *frames[10];
  int depth = backtrace(frames, 10);
  char **symbols = backtrace_symbols(frames, depth);
  CHECK(symbols && depth > 0);
  free(symbols);
  iconv_t conversion = iconv_open("UTF-16", "UTF-8");
  CHECK(conversion != (iconv_t)-1);
  iconv_close(conversion);
  setlocale(LC_ALL, "C.UTF-8");
  setlocale(LC_ALL, "C");
  locale_t own = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
  freelocale(own);
  struct addrinfo *addresses;
  if (!getaddrinfo("127.0.0.1", "80", NULL, &addresses))
    freeaddrinfo(addresses);
}

int main(void) {
  for (int round = 0; round < 3; ++round) {
    useStrings();
    useStreams();
    usePaths();
    useTables();
    useRest();
  }
  puts("right");
  return 0;
}
