# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serial initialisation in disguise, in C. See first_touch_disguises."""

from first_touch_disguises import Disguise

SUM = """
static double @s(const @T *@p, size_t @n) {
  double @v = 0;
  for (size_t @i = 0; @i < @n; ++@i)
    @v += @p[@i];
  return @v;
}
"""

SHOW = r"""
  printf("array %zu %zu\n%.0f\n", (size_t)@n * sizeof(@T), sizeof(@T),
         @s(@a, @n));
"""

SHOW_ROWS = r"""
  printf("array %zu %zu\n%.0f\n", (size_t)@n * @m * sizeof(@T),
         @m * sizeof(@T), @s(@a, @n * @m));
"""

# What most of them have around what is disguised: the size; the initialisation; a parallel
# loop over the array; and the end.
MAIN = """
int main(int argc, char **argv) {
  @I @n = @size;
"""
INIT = """
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = @value;             //=a
"""
WORK = """
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
"""
RETURN = """
  return argc < 1 && argv[0];
}
"""


def c(name: str, text: str, **expected: int) -> Disguise:
    parts = {"<begin>": "<sum>\n<main>", "<end>": "<show>\n  free(@a);\n<return>", "<sum>": SUM,
             "<main>": MAIN, "<init>": INIT, "<work>": WORK, "<show>": SHOW,
             "<show-rows>": SHOW_ROWS, "<return>": RETURN}
    for part, whole in parts.items():
        text = text.replace(part, whole.strip("\n"))
    return Disguise(name, "c", text, **expected)


C = [
    c("plain", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
<init>
<work>
<end>
"""),
    c("two-arrays", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
  @T *@b = malloc(@n * sizeof *@b); //=b
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) { //=ab
    @a[@i] = @value;               //=a
    @b[@i] = 2;                    //=b
  }
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] += @b[@i];
<show>
  printf("array %zu %zu\n", @n * sizeof *@b, sizeof *@b);
  free(@a);
  free(@b);
<return>
"""),
    c("wrapped-allocation", r"""
<sum>
__attribute__((noinline)) static void *@f(size_t @m) {
  void *@p = malloc(@m); //=a
  if (!@p) {
    fputs("no memory\n", stderr);
    exit(1);
  }
  return @p;
}
<main>
  @T *@a = @f(@n * sizeof(@T));
<init>
<work>
<end>
"""),
    c("wrapped-initialisation", r"""
<sum>
__attribute__((noinline)) static void @f(@T *@p, @I @n) {
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @p[@i] = @value;             //=a
}
<main>
  @T *@a = malloc(@n * sizeof *@a); //=a
  @f(@a, @n);
<work>
<end>
"""),
    c("wrapped-kernel", r"""
<sum>
__attribute__((noinline)) static void @f(@T *@p, const @T *@q, @I @n) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @p[@i] = @q[@i] @fop;
}
<main>
  @T *@a = malloc(@n * sizeof *@a); //=a
  @T *@b = malloc(@n * sizeof *@b);
<init>
  @f(@b, @a, @n);
  @f(@a, @b, @n);
<show>
  free(@a);
  free(@b);
<return>
"""),
    c("everything-wrapped", r"""
<sum>
static void *@f(size_t @m) {
  void *@p = malloc(@m); //=a
  if (!@p)
    abort();
  return @p;
}
__attribute__((noinline)) static void @g(@T *@p, @I @n) {
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @p[@i] = @value;             //=a
}
__attribute__((noinline)) static void @h(@T *@p, @I @n) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @p[@i] @op;
}
<main>
  @T *@a = @f(@n * sizeof *@a);
  @g(@a, @n);
  @h(@a, @n);
<end>
"""),
    c("struct-on-stack", r"""
<sum>
struct @S {
  @I @n;
  @T *@a;
};
int main(int argc, char **argv) {
  struct @S @g;
  @I @n = @g.@n = @size;
  @g.@a = malloc(@g.@n * sizeof(@T)); //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @g.@n; ++@i) //=a
    @g.@a[@i] = @value;             //=a
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @g.@n; ++@i)
    @g.@a[@i] @op;
  @T *@a = @g.@a;
<show>
  free(@g.@a);
<return>
"""),
    c("struct-on-heap", r"""
<sum>
struct @S {
  int @r;
  @T *@a;
  @I @n;
};
static struct @S *@f(@I @n) {
  struct @S *@g = malloc(sizeof *@g);
  @g->@n = @n;
  @g->@r = 1;
  @g->@a = malloc(@n * sizeof(@T)); //=a
  return @g;
}
__attribute__((noinline)) static void @h(struct @S *@g) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @g->@n; ++@i)
    @g->@a[@i] @op;
}
<main>
  struct @S *@g = @f(@n);
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @g->@n; ++@i) //=a
    @g->@a[@i] = @value;             //=a
  @h(@g);
  @T *@a = @g->@a;
<show>
  free(@g->@a);
  free(@g);
<return>
"""),
    c("global-struct", r"""
<sum>
static struct {
  @I @n;
  @T *@a, *@b;
} @g;
__attribute__((noinline)) static void @f(void) {
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @g.@n; ++@i) //=a
    @g.@a[@i] = @value;             //=a
}
__attribute__((noinline)) static void @h(void) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @g.@n; ++@i)
    @g.@b[@i] = @g.@a[@i] @fop;
}
int main(int argc, char **argv) {
  @I @n = @g.@n = @size;
  @g.@a = malloc(@n * sizeof(@T)); //=a
  @g.@b = malloc(@n * sizeof(@T));
  @f();
  @h();
  @T *@a = @g.@b;
<show>
<return>
"""),
    c("global-pointer", r"""
<sum>
@T *@a;
@I @n;
static void @f(void) {
  @a = malloc(@n * sizeof *@a); //=a
<init>
}
static void @h(void) {
<work>
}
int main(int argc, char **argv) {
  @n = @size;
  @f();
  @h();
<show>
<return>
"""),
    c("out-argument", r"""
<sum>
__attribute__((noinline)) static int @f(@T **@p, @I @n) {
  @T *@q = malloc(@n * sizeof *@q); //=a
  if (!@q)
    return -1;
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @q[@i] = @value;             //=a
  *@p = @q;
  return 0;
}
<main>
  @T *@a;
  if (@f(&@a, @n) < 0)
    return 1;
<work>
<end>
"""),
    c("flat-rows", r"""
<sum>
int main(int argc, char **argv) {
  @I @n = argc > 7 ? 10 : @rows, @m = @columns;
  @T *@a = malloc(@n * @m * sizeof *@a); //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i)   //=a
    for (@I @j = 0; @j < @m; ++@j) //=a
      @a[@i * @m + @j] = @value;   //=a
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    for (@I @j = 0; @j < @m; ++@j)
      @a[@i * @m + @j] @op;
<show-rows>
  free(@a);
<return>
"""),
    c("row-pointers", r"""
<sum>
int main(int argc, char **argv) {
  @I @n = argc > 7 ? 10 : @rows, @m = @columns;
  @T *@a = malloc(@n * @m * sizeof *@a); //=a
  @T **@b = malloc(@rows * sizeof *@b);
  for (@I @i = 0; @i < @n; ++@i)
    @b[@i] = @a + @i * @m;
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i)   //=a
    for (@I @j = 0; @j < @m; ++@j) //=a
      @b[@i][@j] = @value;         //=a
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    for (@I @j = 0; @j < @m; ++@j)
      @b[@i][@j] @op;
<show-rows>
  free(@b);
  free(@a);
<return>
"""),
    c("array-of-rows", r"""
<sum>
int main(int argc, char **argv) {
  @I @n = argc > 7 ? 10 : @rows;
  enum { @m = @columns };
  @T(*@b)[@m] = malloc(@n * sizeof *@b); //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i)  //=a
    for (int @j = 0; @j < @m; ++@j) //=a
      @b[@i][@j] = @value;        //=a
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    for (int @j = 0; @j < @m; ++@j)
      @b[@i][@j] @op;
  @T *@a = &@b[0][0];
<show-rows>
  free(@b);
<return>
"""),
    c("collapse", r"""
<sum>
int main(int argc, char **argv) {
  @I @k = argc > 7 ? 10 : @rows, @m = @columns, @n = @k * @m;
  @T *@a = malloc(@n * sizeof *@a); //=a
+#pragma omp parallel for collapse(2) schedule(static)
  for (@I @i = 0; @i < @k; ++@i)   //=a
    for (@I @j = 0; @j < @m; ++@j) //=a
      @a[@i * @m + @j] = @value;   //=a
#pragma omp parallel for collapse(2)@sched
  for (@I @i = 0; @i < @k; ++@i)
    for (@I @j = 0; @j < @m; ++@j)
      @a[@i * @m + @j] @op;
<end>
"""),
    c("chunk", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
+#pragma omp parallel for schedule(static, 65536)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = @value;             //=a
#pragma omp parallel for schedule(static, 65536)
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
<end>
""", sched=1, chunk=65536),
    c("three-threads", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
+#pragma omp parallel for schedule(static) num_threads(3)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = @value;             //=a
#pragma omp parallel for@sched num_threads(3)
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
<end>
""", threads=3),
    c("calloc", r"""
<begin>
-  @T *@a = calloc(@n, sizeof *@a); //=a
-  for (@I @i = 0; @i < @n; ++@i)   //=a
-    @a[@i] += 4;                   //=a
+  @T *@a = malloc(@n * sizeof *@a);
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 4;
<work>
<end>
"""),
    c("posix-memalign", r"""
<begin>
  void *@p;
  if (posix_memalign(&@p, 256, @n * sizeof(@T))) //=a
    return 1;
  @T *@a = @p;
<init>
<work>
<end>
"""),
    c("aligned-alloc", r"""
<sum>
int main(int argc, char **argv) {
  @I @n = (@size) / 32 * 32;
  @T *@a = aligned_alloc(64, @n * sizeof *@a); //=a
<init>
<work>
<end>
"""),
    # Not zeros: malloc and memset of zeros become calloc, which touches no page.
    c("memset", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
-  memset(@a, 1, @n * sizeof *@a); //=a
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    memset(&@a[@i], 1, sizeof *@a);
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] += 7;
<end>
"""),
    c("global-array", r"""
<sum>
static @T @a[@constant];
int main(int argc, char **argv) {
  @I @n = @constant;
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = 1 + @i % 3;         //=a
<work>
<show>
<return>
"""),
    c("loops-share-a-region", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
  @T *@b = malloc(@n * sizeof *@b);
<init>
#pragma omp parallel
  for (int @r = 0; @r < 3; ++@r) {
#pragma omp for@sched
    for (@I @i = 0; @i < @n; ++@i)
      @b[@i] = @a[@i] @fop;
#pragma omp for@sched
    for (@I @i = 0; @i < @n; ++@i)
      @a[@i] = @b[@i];
  }
<show>
  free(@a);
  free(@b);
<return>
"""),
    c("orphaned-loop", r"""
<sum>
__attribute__((noinline)) static void @f(@T *@p, @I @n) {
#pragma omp for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @p[@i] @op;
}
<main>
  @T *@a = malloc(@n * sizeof *@a); //=a
<init>
#pragma omp parallel
  @f(@a, @n);
<end>
"""),
    c("moving-pointer", r"""
<begin>
  @T *@a = malloc(@n * sizeof *@a); //=a
-  for (@T *@p = @a, *@q = @a + @n; @p != @q; ++@p) //=a
-    *@p = 1;                                       //=a
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 1;
<work>
<end>
"""),
    c("several-files", r"""
<sum>
@T *@f(@I @n);
void @g(@T *@p, @I @n);
void @h(@T *@p, @I @n);
<main>
  @T *@a = @f(@n);
  @g(@a, @n);
  @h(@a, @n);
<end>
=== allocate
@T *@f(@I @n);
@T *@f(@I @n) { return malloc(@n * sizeof(@T)); } //=a
=== initialise
void @g(@T *@p, @I @n);
void @g(@T *@p, @I @n) {
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @p[@i] = @value;             //=a
}
=== compute
void @h(@T *@p, @I @n);
void @h(@T *@p, @I @n) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @p[@i] @op;
}
"""),
    c("global-in-another-file", r"""
<sum>
extern @T *@a;
extern @I @n;
void @f(void);
void @h(void);
int main(int argc, char **argv) {
  @n = @size;
  @f();
  @h();
<show>
<return>
=== fields
@T *@a;
@I @n;
void @f(void);
void @f(void) {
  @a = malloc(@n * sizeof *@a); //=a
<init>
}
=== compute
extern @T *@a;
extern @I @n;
void @h(void);
void @h(void) {
<work>
}
"""),
]
