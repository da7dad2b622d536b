/* For cbmc: queens that do not threaten each other, N of them on N rows, as a formula.
 * That there are some is the assertion's failure. */
int nondet_int(void);

int main(void) {
  int column[N];
  for (int i = 0; i < N; i++) {
    column[i] = nondet_int();
    __CPROVER_assume(column[i] >= 0 && column[i] < N);
  }
  for (int i = 0; i < N; i++)
    for (int j = i + 1; j < N; j++)
      __CPROVER_assume(column[i] != column[j] && column[i] - column[j] != i - j &&
                       column[i] - column[j] != j - i);
  __CPROVER_assert(0, "there is none");
  return 0;
}
