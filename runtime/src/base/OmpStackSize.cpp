// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number, a unit, and spaces around both: "512", "16M", " 2 g ".

#include "base/OmpStackSize.h"
#include "base/EnvTable.h"

#include <stdint.h>

using namespace mpg;

static const char *skipSpace(const char *at) {
  while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
    ++at;
  return at;
}

/// How far the unit \p letter moves a number to the left; -1: it is none.
static int shiftOf(char letter) {
  switch (letter | 32) {
  case 'b':
    return 0;
  case 'k':
    return 10;
  case 'm':
    return 20;
  case 'g':
    return 30;
  }
  return -1;
}

/// \p shift is that of numbers without a unit.
static size_t parseSize(const char *text, int shift) {
  uint64_t number = 0;
  const char *at = skipSpace(text), *digits = at;
  for (; *at >= '0' && *at <= '9'; ++at)
    if ((number = 10 * number + uint64_t(*at - '0')) > uint64_t(1) << 50)
      return 0;
  if (at == digits)
    return 0;
  at = skipSpace(at);
  if (*at) {
    shift = shiftOf(*at);
    at = skipSpace(at + 1);
  }
  bool isValid = !*at && shift >= 0 && number <= SIZE_MAX >> (shift + 1);
  return isValid ? number << shift : 0;
}

size_t mpg::readOmpStackSize(const char *const *environment) {
  static const char *const inKib[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};
  for (const char *name : inKib)
    if (const char *text = findValue(environment, name))
      return parseSize(text, 10);
  const char *text = findValue(environment, "KMP_STACKSIZE");
  return text ? parseSize(text, 0) : 0;
}
