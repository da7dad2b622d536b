# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Serial initialisation in disguise, in C++. See first_touch_disguises.

The twins of vectors keep their elements in new, unfilled memory: a std::vector fills itself before
a parallel loop can.
"""

from first_touch_disguises import Disguise
from first_touch_disguises_c import MAIN, RETURN

SUM = """
template <class C> static double @s(const C &@p, size_t @n) {
  double @v = 0;
  for (size_t @i = 0; @i < @n; ++@i)
    @v += @p[@i];
  return @v;
}
"""

SHOW = r"""
  std::printf("array %zu %zu\n%.0f\n", size_t(@n) * sizeof(@T), sizeof(@T),
              @s(@a, @n));
"""


def cxx(name: str, text: str, **expected: int) -> Disguise:
    parts = {"<begin>": "<sum>" + MAIN, "<end>": "<show>" + RETURN, "<sum>": SUM,
             "<show>": SHOW}
    for part, whole in parts.items():
        text = text.replace(part, whole.strip("\n"))
    return Disguise(name, "c++", text, **expected)


CXX = [
    cxx("vector", r"""
<begin>
-  std::vector<@T> @a(@n); //=a
+  std::unique_ptr<@T[]> @a(new @T[@n]);
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 0;
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] += 5;
<end>
"""),
    cxx("vector-of-value", r"""
<begin>
-  std::vector<@T> @a(@n, 3); //=a
+  std::unique_ptr<@T[]> @a(new @T[@n]);
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 3;
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
<end>
"""),
    cxx("vector-in-class", r"""
<sum>
class @S {
public:
-  explicit @S(@I @n) : @a(@n) {} //=a
+  explicit @S(@I @n) : @a(new @T[@n]), @m(@n) {
+#pragma omp parallel for schedule(static)
+    for (@I @i = 0; @i < @m; ++@i)
+      @a[@i] = 0;
+  }
  void @f() {
-    @I @n = @a.size();
+    @I @n = @m;
#pragma omp parallel for@sched
    for (@I @i = 0; @i < @n; ++@i)
      @a[@i] += 2;
  }
-  std::vector<@T> @a;
+  std::unique_ptr<@T[]> @a;
+  @I @m;
};
int main(int argc, char **argv) {
  @I @n = @size;
  @S @g(@n);
  @g.@f();
  auto &@a = @g.@a;
<end>
"""),
    cxx("new-array", r"""
<begin>
  @T *@a = new @T[@n]; //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = @value;             //=a
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
<show>
  delete[] @a;
  return argc < 1 && argv[0];
}
"""),
    cxx("new-zeroed", r"""
<begin>
-  @T *@a = new @T[@n](); //=a
+  @T *@a = new @T[@n];
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 0;
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] += 6;
<show>
  delete[] @a;
  return argc < 1 && argv[0];
}
"""),
    cxx("class-member", r"""
<sum>
class @S {
  @I @n;
  @T *@p;

public:
  explicit @S(@I @m) : @n(@m), @p(new @T[@m]) { //=a
+#pragma omp parallel for schedule(static)
    for (@I @i = 0; @i < @n; ++@i) //=a
      @p[@i] = @value;             //=a
  }
  @S(const @S &) = delete;
  ~@S() { delete[] @p; }
  @T operator[](@I @i) const { return @p[@i]; }
  void @f() {
#pragma omp parallel for@sched
    for (@I @i = 0; @i < @n; ++@i)
      @p[@i] @op;
  }
};
int main(int argc, char **argv) {
  @I @n = @size;
  @S @a(@n);
  @a.@f();
<end>
"""),
    cxx("std-fill", r"""
<begin>
  std::unique_ptr<@T[]> @a(new @T[@n]); //=a
-  std::fill(@a.get(), @a.get() + @n, @T(4)); //=a
+#pragma omp parallel for schedule(static)
+  for (@I @i = 0; @i < @n; ++@i)
+    @a[@i] = 4;
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @a[@i] @op;
<end>
"""),
    cxx("template-class", r"""
<sum>
template <class @k> struct @S {
  @k *@p;
  @I @n;
  explicit @S(@I @m) : @p(static_cast<@k *>(std::malloc(@m * sizeof(@k)))), //=a
                       @n(@m) {}
  ~@S() { std::free(@p); }
  @k &operator[](@I @i) { return @p[@i]; }
  const @k &operator[](@I @i) const { return @p[@i]; }
};
template <class @k> void @f(@S<@k> &@q) {
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @q.@n; ++@i) //=a
    @q[@i] = @value;                //=a
}
template <class @k> void @h(@S<@k> &@q) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @q.@n; ++@i)
    @q[@i] @op;
}
int main(int argc, char **argv) {
  @I @n = @size;
  @S<@T> @a(@n);
  @f(@a);
  @h(@a);
<end>
"""),
    cxx("array-of-structs", r"""
struct @S {
  double @a, @b, @c, @m;
};
int main(int argc, char **argv) {
  @I @n = @size;
  @S *@p = new @S[@n]; //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) { //=a
    @p[@i].@a = @value;            //=a
    @p[@i].@b = 1;                 //=a
    @p[@i].@c = 2;                 //=a
    @p[@i].@m = 3;                 //=a
  }
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @p[@i].@a += @p[@i].@b * @p[@i].@c;
  double @v = 0;
  for (@I @i = 0; @i < @n; ++@i)
    @v += @p[@i].@a + @p[@i].@m;
  std::printf("array %zu %zu\n%.0f\n", @n * sizeof(@S), sizeof(@S), @v);
  delete[] @p;
  return argc < 1 && argv[0];
}
"""),
    cxx("lambda", r"""
<sum>
template <class @k> static void @f(@I @n, @k @h) {
#pragma omp parallel for@sched
  for (@I @i = 0; @i < @n; ++@i)
    @h(@i);
}
int main(int argc, char **argv) {
  @I @n = @size;
  auto *@a = static_cast<@T *>(std::malloc(@n * sizeof(@T))); //=a
+#pragma omp parallel for schedule(static)
  for (@I @i = 0; @i < @n; ++@i) //=a
    @a[@i] = @value;             //=a
  @f(@n, [=](@I @i) { @a[@i] @op; });
<show>
  std::free(@a);
  return argc < 1 && argv[0];
}
"""),
]
