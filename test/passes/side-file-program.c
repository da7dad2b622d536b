// A side file for a whole program has names of other sources: no warning, which
// -Werror would make an error, but a remark where the user asks.
// RUN: split-file %s %t && cd %t
// RUN: env MPG_PASS_OPTIONS=hints=program.yaml %hinted-c -O1 -Werror -S app.c -o app.s 2>&1 | count 0
// RUN: grep -c 'orr.*0x100000000000000' app.s
// RUN: env MPG_PASS_OPTIONS=hints=program.yaml %hinted-c -O1 -Rpass-missed=mpg -S app.c -o app.s 2>&1 | FileCheck %s
// A misspelt variable of a function that is there stays a warning.
// RUN: env MPG_PASS_OPTIONS=hints=wrong.yaml %hinted-c -O1 -g -S app.c -o app.s 2>&1 | FileCheck %s --check-prefix=WRONG
//   CHECK: remark: program.yaml:2: there is no function, array or pointer 'table' in app.c [-Rpass-missed=mpg]
//   CHECK: remark: program.yaml:3: there is no function 'other' in app.c
//   CHECK: remark: program.yaml:4: there is no function 'other' in app.c
//   WRONG: warning: wrong.yaml:1: there is no variable 'y' in 'f'
//--- program.yaml
f/1: stream
table: stream
other/x: stream
other@1-9: ways:l2=4
//--- wrong.yaml
f/y: stream
//--- app.c
void f(double *x, long n) {
  for (long i = 0; i < n; i++)
    x[i] *= 3;
}
