// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strings: the library's functions beside loops that do the same by hand.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t getLength(const char *s) {
  const char *end = s;
  while (*end)
    ++end;
  return end - s;
}
static int compare(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (a[i] != b[i])
      return (unsigned char)a[i] - (unsigned char)b[i];
  return 0;
}
static char *copyUpper(char *to, const char *from) {
  char *start = to;
  while ((*to++ = (char)toupper((unsigned char)*from++)))
    ;
  return start;
}
static void reverse(char *s) {
  for (char *end = s + strlen(s); s < end--; ++s) {
    char c = *s;
    *s = *end;
    *end = c;
  }
}

int main(void) {
  char text[2000] = "", other[2000];
  for (int i = 0; i < 150; ++i)
    sprintf(text + strlen(text), "%c%d,", 'a' + i % 26, i * i % 101);
  size_t n = getLength(text);
  copyUpper(other, text);
  reverse(other);
  int words = 0, sum = 0;
  char *list = strdup(text), *rest = NULL;
  for (char *word = strtok_r(list, ",", &rest); word;
       word = strtok_r(NULL, ",", &rest), ++words)
    sum += atoi(word + 1) * (word[0] - 'a' + 1);
  int letters[256] = {0};
  for (size_t i = 0; i < n; ++i)
    ++letters[(unsigned char)text[i]];
  memmove(text + 10, text, n + 1);
  printf("%zu %d %d %d %s\n", n, words, sum, letters['c'],
         strstr(text, "z9") ? "found" : "none");
  printf("%.60s\n%.40s\n", text, other);
  free(list);
  int first = compare(text, other, n), second = memcmp(text, other, n);
  return n == strlen(text) - 10 && (first < 0) == (second < 0) &&
                 strchr(text, ',') - text == 2 && words == 150
             ? 0
             : 1;
}
