#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The ways in which public C and C++ programs write Fujitsu's pragmas, written
# anew: bodies with directives in kinds of functions.
#
#   shapes.py c|cxx > source     a program that prints what each function computes
#   shapes.py check SOURCE < messages of the compiler
#
# Each directive has its answer in the line above it: `// honoured`, `// nothing` (a
# remark says that it changes nothing), `// warned` (by -Wmpg-pragmas) or `// unknown`
# (to clang and the plugin: -Wunknown-pragmas).
import re
import sys

# Name, where it was seen, body. The letter in front of a directive is its answer (see
# ANSWERS). Bodies use a, b (arrays of doubles), index (of int), n, w (ways) and work
# (a static array), and add to sum.
BODIES = [
    ("csr", "SpMV in CSR, orphaned omp for", """
H#pragma procedure scache_isolate_way L2=L2WAYS L1=L1WAYS
H#pragma procedure scache_isolate_assign a, index
#pragma omp for simd
  for (int i = 0; i < n; i++)
    b[i] += a[i] * work[index[i]];
  sum = b[n - 1];
"""),
    ("ell", "SpMV in ELLPACK, blanks around =", """
H#pragma procedure scache_isolate_way L2 = L2WAYS
H#pragma procedure scache_isolate_assign a, index
  if (n < 1) return 22;
  for (int i = 0; i < n; i++) {
    double one = 0;
    for (int k = 0; k < 2; k++) one += a[i] * work[index[i]];
    sum += one;
  }
"""),
    ("whole_run", "SpMV, a region around repeats that contain omp parallel", """
#ifdef L1WAYS
H    #pragma statement scache_isolate_way L2=L2WAYS L1=L1WAYS
#else
    #pragma statement scache_isolate_way L2=L2WAYS
#endif
#pragma omp parallel
  for (int again = 0; again < 2; again++) {
#pragma omp master
    if (again > 3) work[0]++;
#pragma omp for
    for (int i = 0; i < n; i++) b[i] = a[i] * work[index[i]];
#pragma omp barrier
  }
E    #pragma statement end_scache_isolate_way
  for (int i = 0; i < n; i++) sum += b[i];
"""),
    ("one_load", "SpMV with intrinsics, a region of one load in a loop", """
  for (int i = 0; i < n; i++) {
H            #pragma statement scache_isolate_assign index
    int at = index[i];
E            #pragma statement end_scache_isolate_assign
    sum += a[at];
  }
"""),
    ("later_names", "GEMM, a pointer that the loop declares", """
  int rest = n - n % 4;
H                #pragma statement scache_isolate_way L1=1
H                #pragma statement scache_isolate_assign packed
  for (int i = 0; i < rest; i += 4) {
    for (int j = 0; j < 4; j++) {
      double *packed = a + i;
      sum += packed[j] * b[j];
    }
  }
E                #pragma statement end_scache_isolate_assign
E                #pragma statement end_scache_isolate_way
  for (int i = rest; i < n; i++) sum += a[i];
"""),
    ("blank_names", "GEMM, names with a blank between, other than the loop's", """
  const double *left = a, *right = b;
H    #pragma statement scache_isolate_way L1=3
W    #pragma statement scache_isolate_assign packA_ptr packB_ptr
  for (int k = 0; k < n; k++) sum += left[k] * right[k];
E	#pragma statement end_scache_isolate_assign
E	#pragma statement end_scache_isolate_way       
"""),
    ("docking", "docking, other compilers' pragmas in front, continued line, no end", """
  if (n > 0) {
#pragma GCC ivdep
#pragma clang loop vectorize(enable) interleave(enable)
#pragma clang loop unroll(enable)
U#pragma fj loop prefetch
W#pragma statement scache_isolate_assign a, b, \\
    work, index
    for (int i = 0; i < n; i++) sum += a[i] + b[i] + work[index[i]];
  }
"""),
    ("cg_symgs", "HPCG, region around a parallel loop", """
H#pragma statement scache_isolate_way L2=10
H#pragma statement scache_isolate_assign b
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
U//#pragma loop nounroll
  for (int i = 0; i < n; i++) {
    double one = 0.0;
U    #pragma fj loop zfill
U  #pragma loop nounroll
    for (int j = 0; j < 3; j++) one += a[i] * b[index[i]];
    sum += one;
  }
E  #pragma statement end_scache_isolate_assign
E  #pragma statement end_scache_isolate_way
"""),
    ("pairs", "stencil, pairs without parentheses, for another machine's 16 ways", """
  double *ring = work;
W#pragma statement cache_sector_size 4 0 8 8
H#pragma statement cache_subsector_assign ring, b
  int i = 0;
  do {
    for (int x = 0; x < 4; x++) ring[x] += b[i];
    double *other = ring;
    ring = other;
    i++;
  } while (i < n);
#pragma omp master
  {
    sum = ring[0];
  }
E#pragma statement end_cache_subsector
E#pragma statement end_cache_sector_size
"""),
    ("pairs_two", "GEMM in loops, pairs in parentheses", """
  int i, j;
W#pragma statement cache_sector_size(3, 1)
H#pragma statement cache_subsector_assign(a)
  for (i = 0; i < n; i++)
    for (j = 0; j < 4; j++)
      sum += a[i] * b[j];
E#pragma statement end_cache_subsector
E#pragma statement end_cache_sector_size
"""),
    ("commented", "directives in comments, between block comments", """
/* #pragma statement cache_sector_size 1 3 12 4 */
//#pragma statement scache_isolate_assign a
H#pragma statement scache_isolate_assign /* matrix */ a // and not b
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
E#pragma statement end_scache_isolate_assign // a
"""),
    ("macro", "_Pragma in macros, the name is their argument", """
H  BEGIN_SECTOR(a)
  for (int i = 0; i < n; i++) sum += a[i];
E  END_SECTOR
"""),
    ("macro_two", "the same, several names, used twice", """
H  BEGIN_SECTOR_OF(a, b)
  for (int i = 0; i < n; i++) sum += a[i];
E  END_SECTOR
H  BEGIN_SECTOR_OF(work, b)
  for (int i = 0; i < n; i++) sum += b[i] * work[i % 8];
E  END_SECTOR
"""),
    ("chase", "pointer chase in volatile variables, procedure in front of declarations", """
H#pragma procedure scache_isolate_way L2=5 L1=2
H#pragma procedure scache_isolate_assign a
  volatile unsigned long sink = 0;
  int iter, j;
  for (iter = 0; iter < 2; iter++)
    for (j = 0; j < n; j++) sink += (unsigned long)a[j];
  sum = (double)sink;
"""),
    ("barrier_asm", "asm that hides a pointer", """
H#pragma procedure scache_isolate_way L2=5 L1=2
N#pragma procedure scache_isolate_assign b
  const double *hidden = b;
  __asm__ volatile("" : "+r"(hidden));
  for (int i = 0; i < n; i++) {
    int at = index[i];
    __asm__ volatile("" : "+r"(at));
    sum += hidden[at] * a[i];
  }
"""),
    ("between_omp", "between an OpenMP directive and its loop", """
#pragma omp parallel for reduction(+ : sum)
H#pragma statement scache_isolate_assign a
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
E#pragma statement end_scache_isolate_assign
"""),
    ("vector_loop", "a list of vectorising pragmas of each compiler", """
U#pragma loop norecurrence
U#pragma loop novrec
U#pragma loop noalias
U#pragma loop simd aligned
  for (int i = 0; i < n; i++) sum += a[i];
U#pragma loop loop_fission_target
U#pragma loop loop_fission_threshold 1
H#pragma loop prefetch_sequential soft
  for (int i = 0; i < n; i++) sum += b[i];
"""),
    ("serial", "a procedure without threads; loops without a body's braces", """
U  #pragma procedure serial
  const int count = n;
U#pragma loop noalias
  for (int i = 0; i < count; i++) b[i] = a[i];
U#pragma loop norecurrence a
  for (int i = 0; i < count; i++) sum += b[i];
"""),
    ("parallel_noalias", "omp parallel for, then loop noalias", """
#pragma omp parallel for default(shared)
U  #pragma loop noalias
  for (int i = 0; i < n; i++) b[i] = a[i] * 2;
  sum = b[0];
"""),
    ("striping", "loop words with numbers", """
U#pragma loop norecurrence
U#pragma loop striping 2
  for (int i = 0; i < n; i++) {
U#pragma fj unroll(8)
U#pragma fj zfill
U#pragma fj loop prefetch_sequential	    
    for (int j = 0; j < 2; j++) sum += a[i] * b[j];
  }
"""),
    ("nested_ways", "ways for a part of a region with ways", """
H#pragma statement scache_isolate_way L2=2
H#pragma statement scache_isolate_assign a
  for (int i = 0; i < n; i++) {
H#pragma statement scache_isolate_way L2=w
    sum += a[i];
E#pragma statement end_scache_isolate_way
  }
E#pragma statement end_scache_isolate_assign
E#pragma statement end_scache_isolate_way
"""),
    ("returns", "returns out of regions", """
  if (n < 2) return 1;
H#pragma statement scache_isolate_way L2=7
H#pragma statement scache_isolate_assign a
  for (int i = 0; i < n; i++) {
    if (a[i] < 0) return a[i];
    sum += a[i];
  }
E#pragma statement end_scache_isolate_assign
E#pragma statement end_scache_isolate_way
"""),
    ("element", "elements, members, casts for names", """
  double *field[2] = {a, b};
W#pragma statement scache_isolate_assign field[0], b
  for (int i = 0; i < n; i++) sum += field[0][i] + b[i];
E#pragma statement end_scache_isolate_assign
W#pragma statement scache_isolate_assign part.data
  for (int i = 0; i < n; i++) sum += part.data[i % 4];
E#pragma statement end_scache_isolate_assign
"""),
    ("older_name", "a directive of no machine: cache_subsector_size", """
U#pragma statement cache_subsector_size 4 8
W#pragma statement cache_subsector_assign a
  for (int i = 0; i < n; i++) sum += a[i];
"""),
    ("upper_case", "Fortran's spelling", """
U#pragma statement SCACHE_ISOLATE_WAY L2=4
U#pragma statement SCACHE_ISOLATE_ASSIGN a
  for (int i = 0; i < n; i++) sum += a[i];
U#pragma statement END_SCACHE_ISOLATE_ASSIGN
"""),
]
PRELUDE = """#include <stdio.h>
#define L2WAYS 10
#define L1WAYS 2
#define STRING_OF(...) #__VA_ARGS__
#define TEXT(...) STRING_OF(__VA_ARGS__)
#define BEGIN_SECTOR(array) _Pragma("statement scache_isolate_way L2=10 L1=2") \\
  _Pragma(TEXT(statement scache_isolate_assign array)) ;
#define BEGIN_SECTOR_OF(...) _Pragma("statement scache_isolate_way L2=10 L1=2") \\
  _Pragma(TEXT(statement scache_isolate_assign __VA_ARGS__)) ;
#define END_SECTOR _Pragma("statement end_scache_isolate_assign") \\
  _Pragma("statement end_scache_isolate_way")
U#pragma global noalias
static double work[64];
struct Part { double data[4]; };
static struct Part part;
"""
ANSWERS = {"H": "honoured", "N": "nothing", "W": "warned", "U": "unknown", "E": "end"}
ARGUMENTS = "double *a, double *b, const int *index, int n, int w"
# Kind of function: head, what closes it, call.
KINDS = {
    "c": {
        "global": ("double {}(%s) {{", "}}", "{}(a, b, index, n, w)"),
        "inline": ("static inline double {}(%s) {{", "}}", "{}(a, b, index, n, w)"),
        "restrict": ("double {}(double *restrict a, double *restrict b, "
                     "const int *restrict index, int n, int w) {{", "}}",
                     "{}(a, b, index, n, w)"),
        "old": ("__attribute__((noinline))\nstatic double\n{} (%s)\n{{", "}}",
                "{}(a, b, index, n, w)"),
    },
    "cxx": {
        "space": ("namespace {0}_space {{ double {0}(%s) {{", "}} }}",
                  "{0}_space::{0}(a, b, index, n, w)"),
        "member": ("struct {0}_class {{ double run(%s) const {{", "}} }};",
                   "{0}_class().run(a, b, index, n, w)"),
        "outside": ("struct {0}_class {{ double *held; double run(%s); }};\n"
                    "double {0}_class::run(%s) {{ held = a;", "}}",
                    "{0}_class().run(a, b, index, n, w)"),
        "function": ("template <typename T> T {}(T *a, T *b, const int *index, int n, "
                     "int w) {{", "}}", "{}<double>(a, b, index, n, w)"),
        "class": ("template <int N> struct {0}_class {{ static double run(%s) {{",
                  "}} }};", "{0}_class<4>::run(a, b, index, n, w)"),
        "call": ("struct {0}_class {{ double operator()(%s) {{", "}} }};",
                 "{0}_class()(a, b, index, n, w)"),
        "lambda": ("static const auto {0} = [](%s) -> double {{", "}};",
                   "{}(a, b, index, n, w)"),
    },
}
MAIN = """int main(void) {
  static double a[32], b[32];
  static int index[32];
  int n = 32, w = 3;
  for (int i = 0; i < n; i++) a[i] = i % 7, b[i] = i % 5, index[i] = i * 5 % n;
  for (int i = 0; i < 64; i++) work[i] = i % 3;
"""


def write_program(language):
    def answered(text):
        lines = []
        for line in text.strip("\n").split("\n"):
            if re.match(r"[HNWUE]\s*(#|//#|BEGIN_|END_)", line):
                lines += [f"// {ANSWERS[line[0]]}", line[1:]]
            else:
                lines.append(line)
        return "\n".join(lines)

    print(answered(PRELUDE))
    calls = []
    for name, seen, body in BODIES:
        for kind, (head, end, call) in KINDS[language].items():
            title = f"{name}_{kind}"
            head = head.replace("%s", ARGUMENTS).format(title)
            print(f"// {seen}\n{head}\n  double sum = 0;\n  (void)w, (void)b;")
            print(answered(body) + "\n  return sum;\n" + end.format())
            calls.append(call.format(title))
    print(MAIN)
    for call in calls:
        print(f'  printf("%.3f {call}\\n", {call});')
    print("}")


def check(path):
    """Each directive has the message that is expected, and one alone."""
    lines = open(path).read().split("\n")
    messages = sys.stdin.read()
    said = {}
    for number, text in re.findall(r"^[^\s:]+:(\d+):\d+: (.*)", messages, re.M):
        said.setdefault(int(number), []).append(text)
    for number in re.findall(r"the hint of [^\s:]+:(\d+) is honoured", messages):
        said.setdefault(int(number), []).append("honoured")
    wrong = counted = 0
    for number, line in enumerate(lines, 1):
        answer = re.fullmatch(r"// (honoured|nothing|warned|unknown)", line)
        if not answer or lines[number].startswith("//"):
            continue
        counted += 1
        texts = said.get(number + 1, [])
        found = {
            "honoured": any("is honoured" in one or one == "honoured"
                            for one in texts),
            "nothing": any("changes nothing" in one for one in texts),
            "warned": sum("[-Wmpg-pragmas]" in one for one in texts) == 1,
            "unknown": sum("[-Wunknown-pragmas]" in one for one in texts) == 1,
        }
        if not found[answer[1]]:
            wrong += 1
            print(f"{path}:{number + 1}: not {answer[1]}: {lines[number]}: {texts}")
    print(f"{counted} directives, {wrong} without their message")
    return wrong != 0


if __name__ == "__main__":
    if sys.argv[1] == "check":
        sys.exit(check(sys.argv[2]))
    write_program(sys.argv[1])
