// A loop in which each pointer may come from hundreds of others, as in one that
// interprets a program, takes more and more time to compile with hints; it has none.
// RUN: %clang --target=aarch64-linux-gnu -O2 -fpass-plugin=%passes -DMPG_HINTS -I%source/runtime/include %s -c -o %t.o -Rpass=mpg -Rpass-missed=mpg 2>&1 | FileCheck %s --check-prefix=FEW --implicit-check-not='too many'
// RUN: %clang --target=aarch64-linux-gnu -O2 -fpass-plugin=%passes -DMPG_HINTS -I%source/runtime/include %s -c -o %t.o -Rpass=mpg -Rpass-missed=mpg -DMANY 2>&1 | FileCheck %s
// FEW: remark: tag 0x01
// CHECK: not applied here: it is computed from too many pointers
#include <mpg/hints.h>
#define ONE(n)                                                                 \
  case n:                                                                      \
    p += n % 7;                                                                \
    *p = q[n];                                                                 \
    q = *p & 1 ? p + n % 5 : p;                                                \
    break;
#define FOUR(n) ONE(n) ONE(n + 1) ONE(n + 2) ONE(n + 3)
#define SIXTEEN(n) FOUR(n) FOUR(n + 4) FOUR(n + 8) FOUR(n + 12)
#define SIXTY(n) SIXTEEN(n) SIXTEEN(n + 16) SIXTEEN(n + 32) SIXTEEN(n + 48)

void interpret(MPG_STREAM unsigned char *p, MPG_STREAM unsigned char *q,
               const int *code, int count) {
  for (int i = 0; i < count; i++)
    switch (code[i]) {
      FOUR(0)
#ifdef MANY
      SIXTY(4) SIXTY(68) SIXTY(132) SIXTY(196)
#endif
    }
}
