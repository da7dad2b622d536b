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
import pathlib
import re
import sys

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
# In shapes.txt the letter in front of a directive is its answer. Bodies use a, b (arrays of
# doubles), index (of int), n, w (ways) and work (a static array), and add to sum.
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


def read_bodies():
    """Name, where it was seen, body."""
    text = pathlib.Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for section in text.split("\n%%% ")[1:]:
        head, _, body = section.partition("\n")
        yield (*head.split(": ", 1), body)


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
    for name, seen, body in read_bodies():
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
