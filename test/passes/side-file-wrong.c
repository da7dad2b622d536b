// A mistake in the side file is reported with the file's line; the rest still counts.
// RUN: split-file %s %t && cd %t
// DEFINE: %{cc} = %hinted-c -g -O1 -S app.c -o app.s
// RUN: env MPG_PASS_OPTIONS=hints=wrong.yaml %{cc} 2> messages && FileCheck wrong.yaml --input-file=messages
// RUN: not grep error: messages && grep -c warning: messages | grep -x 20
// RUN: %count app.s > counts && FileCheck app.c --input-file=counts
//
// Not YAML, or not a list of names.
// RUN: env MPG_PASS_OPTIONS=hints=broken.yaml %{cc} 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: warning: broken.yaml:2: this is not YAML:
// RUN: env MPG_PASS_OPTIONS=hints=list.yaml %{cc} 2>&1 | FileCheck %s --check-prefix=LIST
// LIST: warning: list.yaml:{{[01]}}: this is not a list of 'name: hint'
// RUN: env MPG_PASS_OPTIONS=hints=absent.yaml %{cc} 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: warning: no hints are read from 'absent.yaml': No such file or directory
//--- wrong.yaml
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: there is no variable 'z' in 'f'; names of variables are known with debug information (-g), parameters also by number: f/N
f/z: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'f/3' is neither a pointer nor an array; the hint is ignored
f/3: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'f' has no pointer as parameter 0
f/0: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: 'sector=7': sector= takes a number from 0 to 3
f/2: sector=7
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: unknown hint 'strem'
g: strem
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: unknown kind of hint 'way'
g/2: way:l2=3
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: only hint:, ways:, touch: and loop: are allowed here
g/1: assign:sector=1
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: unknown word 'maybe'; known: touch:off, touch:on
g/2@1-2: touch:maybe
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: touch is about all that is allocated; leave out the lines of 'g'
g@1-100: touch:off
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: a hint is missing after 'h:'
h:
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'f@7' is not a name; write FUNCTION, ARRAY, FUNCTION/VARIABLE or FUNCTION/1, with @10-20 after it for lines 10 to 20
f@7: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'f@9-7' is not a name
f@9-7: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'f/' is not a name
f/: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: 'app.c:0/p' is not a name
app.c:0/p: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: no ways are set, and tags there have no effect without ways from elsewhere: lines 900 to 901 of 'f' have no code, no one way in and out
f@900-901: ways:l2=4
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: 'l1=5': l1= takes a number from 0 to 4
f@1-2: ways:l2=n,l1=5
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: the hint is ignored: 'l2=4' contradicts l2=n; leave out one of them
f@1-3: ways:l2=n,l2=4
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: no ways are set, and tags there have no effect without ways from elsewhere: 'z' is not an integer variable of 'f' that can be read there
f@1-100: ways:l2=z
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: lines are those of a function, and 'table' is a variable; write FUNCTION/table@FIRST-LAST; the hint is ignored
table@1-9: stream
# CHECK-DAG: wrong.yaml:[[#@LINE+1]]: {{.*}}inject= needs the option extended=on
f/2@1-100: inject=3
f/1: stream
//--- broken.yaml
f: stream
{ : [
//--- list.yaml
- f
- g
//--- app.c
long table[64];
// CHECK: f: 1 of 2 tagged, {{.*}}; 1 with 0x01
long f(long *a, long *b, long c) { return a[1] + b[9] + c; }
// CHECK: g: 0 of 2 tagged
long g(long *a, long *b) { return a[1] + b[9]; }
