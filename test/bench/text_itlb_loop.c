/* Calls 300 functions in turn, which begin ALIGN bytes apart. */
#define TEN(macro, n) \
  macro(n##0) macro(n##1) macro(n##2) macro(n##3) macro(n##4) macro(n##5) \
      macro(n##6) macro(n##7) macro(n##8) macro(n##9)
#define HUNDRED(macro, n) \
  TEN(macro, n##0) TEN(macro, n##1) TEN(macro, n##2) TEN(macro, n##3) \
  TEN(macro, n##4) TEN(macro, n##5) TEN(macro, n##6) TEN(macro, n##7) \
  TEN(macro, n##8) TEN(macro, n##9)
#define ALL(macro) HUNDRED(macro, 1) HUNDRED(macro, 2) HUNDRED(macro, 3)

#define DEFINE(n) \
  __attribute__((noinline, aligned(ALIGN))) void f##n(void) { __asm__(""); }
#define CALL(n) f##n();

ALL(DEFINE)

int main(void) {
  for (int i = 0; i < 3000; ++i) {
    ALL(CALL)
  }
  return 0;
}
