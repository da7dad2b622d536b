/* Loops that write memory, compiled with and without --mpg-zfill; check.c
 * compares what they leave. LOOP(name, body): of n iterations or about n. `any`:
 * the arrays may overlap, in which case the loop still has one meaning. */
#include <math.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

struct arrays {
  char *a, *b, *c;
  long n;
};

typedef double _Complex cplx;
struct pair { double x, y; };
struct hole { double x, y, z, w; };
struct mixed { float f; int i; long l; };

extern long sink;
extern jmp_buf leave;
long look(const double *a, long i); /* reads it; compiled elsewhere */
void jump(const double *a, long i); /* longjmp in the middle */

#ifndef NAME
#define NAME(kernel) plain_##kernel
#endif
#define D(array) ((double *)k->array)
#define KERNEL(kernel) __attribute__((noinline)) void NAME(kernel)(struct arrays *k)
#define EACH(body) for (long i = 0; i < n; i++) { body; }
#define RESTRICT double *restrict a = D(a), *restrict b = D(b), *restrict c = D(c); long n = k->n; (void)a; (void)b; (void)c;
#define ANY double *a = D(a), *b = D(b), *c = D(c); long n = k->n; (void)a; (void)b; (void)c;

/* Each: its name, whether the arrays may overlap, its body. */
#define KERNELS(X) \
  X(fill, 1, ANY EACH(a[i] = 1.5)) \
  X(count, 1, ANY EACH(a[i] = i)) \
  X(short_counter, 0, RESTRICT unsigned at = 0; EACH(a[at] = b[i] + 1; at++)) \
  X(wraps, 0, RESTRICT uint8_t at = 7; EACH(a[at] = b[i] + 1; at++)) \
  X(copy, 0, RESTRICT EACH(a[i] = b[i] + 0.5)) \
  X(scale, 0, RESTRICT EACH(a[i] = 3 * b[i])) \
  X(add, 0, RESTRICT EACH(a[i] = b[i] + c[i])) \
  X(triad, 0, RESTRICT EACH(a[i] = b[i] + 3 * c[i])) \
  X(copy_any, 1, ANY EACH(a[i] = b[i] + 0.5)) \
  X(add_any, 1, ANY EACH(a[i] = b[i] + c[i])) \
  X(triad_any, 1, ANY EACH(a[i] = b[i] + 3 * c[i])) \
  X(axpy, 1, ANY EACH(a[i] = a[i] + 3 * b[i])) \
  X(axpy_restrict, 0, RESTRICT EACH(a[i] += 3 * b[i])) \
  X(in_place, 1, ANY EACH(a[i] = 3 * a[i])) \
  X(chain1, 1, ANY a[0] = 1; for (long i = 1; i < n; i++) a[i] = a[i - 1] * 0.5 + 1;) \
  X(chain8, 1, ANY for (long i = 8; i < n; i++) a[i] = a[i - 8] + 1;) \
  X(chain900, 1, ANY for (long i = 900; i < n; i++) a[i] = a[i - 900] + 1;) \
  X(ahead1, 1, ANY EACH(a[i] = a[i + 1] + 1)) \
  X(ahead40, 1, ANY EACH(a[i] = a[i + 40] + 1)) \
  X(ahead700, 1, ANY EACH(a[i] = a[i + 700] + 1)) \
  X(ahead_last, 1, ANY EACH(a[i] = a[n - 1] + 1)) \
  X(back_to_front, 1, ANY for (long i = n; i-- > 0;) a[i] = b[i] + 1;) \
  X(mirror, 1, ANY EACH(a[i] = b[n - 1 - i])) \
  X(mirror_own, 1, ANY EACH(a[i] = a[n - 1 - i] + 1)) \
  X(stencil, 0, RESTRICT for (long i = 1; i < n; i++) a[i] = b[i - 1] + b[i] + b[i + 1];) \
  X(stencil_any, 1, ANY for (long i = 1; i < n; i++) a[i] = b[i - 1] + b[i] + b[i + 1];) \
  X(rows, 0, RESTRICT for (long r = 0; r < n / 600; r++) for (long i = 1; i < 599; i++) \
      a[r * 600 + i] = b[r * 600 + i - 1] + b[r * 600 + i + 1];) \
  X(rows_any, 1, ANY for (long r = 0; r < n / 600; r++) for (long i = 1; i < 599; i++) \
      a[r * 600 + i] = b[r * 600 + i - 1] + b[r * 600 + i + 1];) \
  X(rows_read_next, 1, ANY for (long r = 0; r < n / 600 - 1; r++) for (long i = 0; i < 600; i++) \
      a[r * 600 + i] = a[(r + 1) * 600 + i] + 1;) \
  X(triangle, 0, RESTRICT long m = (long)sqrt(2. * n); for (long r = 0; r < m; r++) for (long i = 0; i < r; i++) \
      a[r * (r - 1) / 2 + i] = b[i] + r;) \
  X(gaps, 1, ANY EACH(a[2 * i / 2 * 2] = i)) \
  X(second, 1, ANY for (long i = 0; i < n; i += 2) a[i] = i;) \
  X(pairs, 0, RESTRICT struct pair *p = (struct pair *)k->a; for (long i = 0; i < n / 2; i++) { p[i].x = b[i]; p[i].y = c[i]; }) \
  X(pairs_turned, 1, ANY struct pair *p = (struct pair *)k->a; for (long i = 0; i < n / 2; i++) { p[i].y = i; p[i].x = -i; }) \
  X(half_pairs, 1, ANY struct pair *p = (struct pair *)k->a; for (long i = 0; i < n / 2; i++) p[i].y = i;) \
  X(holes, 1, ANY struct hole *p = (struct hole *)k->a; for (long i = 0; i < n / 4; i++) { p[i].x = i; p[i].y = i; p[i].w = i; }) \
  X(no_holes, 1, ANY struct hole *p = (struct hole *)k->a; for (long i = 0; i < n / 4; i++) { p[i].w = i; p[i].x = 1; p[i].z = i; p[i].y = i; }) \
  X(mixed, 1, ANY struct mixed *p = (struct mixed *)k->a; for (long i = 0; i < n / 2; i++) { p[i].f = i; p[i].i = i; p[i].l = i; }) \
  X(complex_, 0, RESTRICT cplx *p = (cplx *)k->a; for (long i = 0; i < n / 2; i++) p[i] = b[i] + c[i] * 1.0i;) \
  X(two, 0, RESTRICT EACH(a[i] = c[i]; b[i] = 2 * c[i])) \
  X(two_any, 1, ANY EACH(a[i] = i; b[i] = 2 * i)) \
  X(two_speeds, 1, ANY for (long i = 0; i < n / 2; i++) { a[i] = i; b[2 * i] = i; b[2 * i + 1] = -i; }) \
  X(writes_behind, 1, ANY EACH(a[i] = i; if (i >= 300) a[i - 300] = 5)) \
  X(writes_ahead, 1, ANY EACH(a[i] = i; a[i + 600] = 7)) \
  X(condition, 1, ANY EACH(if (c[i] > 0.3) a[i] = i)) \
  X(condition_scalar, 0, RESTRICT double s = 0; EACH(s = s * 0.5 + c[i]; if (s > 0.9) a[i] = s)) \
  X(condition_else, 0, RESTRICT EACH(if (c[i] > 0.3) a[i] = i; else a[i] = b[i])) \
  X(reading_under_condition, 1, ANY EACH(double v = i; if (i == n / 2) v = a[i + 200]; a[i] = v)) \
  X(search, 1, ANY EACH(if (i == n / 2 + 3) break; a[i] = i)) \
  X(search_other, 1, ANY EACH(a[i] = i; if (c[i] > 0.995) break)) \
  X(calls, 1, ANY EACH(a[i] = i; sink += look(a, i + 500))) \
  X(jumps, 1, ANY if (!setjmp(leave)) EACH(a[i] = i; jump(a, i))) \
  X(mathematics, 0, RESTRICT EACH(a[i] = sqrt(b[i] * b[i]) + fabs(c[i]))) \
  X(sum_too, 0, RESTRICT double s = 0; EACH(a[i] = b[i] + 1; s += c[i]) c[n] = s;) \
  X(sum_own, 1, ANY double s = 0; EACH(s += a[i]; a[i] = s)) \
  X(gather, 0, RESTRICT EACH(a[i] = b[(i * 7919) % (n ? n : 1)])) \
  X(gather_index, 0, ANY const int *at = (const int *)k->c; EACH(a[i] = b[(unsigned)at[i] % 997])) \
  X(gather_own, 1, ANY EACH(a[i] = a[(i * 7919) % (n ? n : 1)] + 1)) \
  X(invariant_own, 1, ANY double *p = a + n / 2; EACH(a[i] = *p + 1)) \
  X(int8, 1, ANY int8_t *p = (int8_t *)k->a; for (long i = 0; i < 8 * n; i++) p[i] = (int8_t)(i * 3);) \
  X(int16, 1, ANY int16_t *p = (int16_t *)k->a; for (long i = 0; i < 4 * n; i++) p[i] = (int16_t)(i * 3);) \
  X(narrow, 0, ANY int16_t *p = (int16_t *)k->a; int *q = (int *)k->b; for (long i = 0; i < 2 * n; i++) p[i] = (int16_t)q[i];) \
  X(widen, 0, RESTRICT float *restrict p = (float *)k->b; EACH(a[i] = p[i])) \
  X(int32_counter, 1, ANY int m = (int)n; float *p = (float *)k->a; for (int i = 0; i < m; i++) p[i] = (float)i;) \
  X(unsigned_counter, 1, ANY unsigned m = (unsigned)n; float *p = (float *)k->a; for (unsigned i = 0; i != m; i++) p[i] = 2;) \
  X(pointers, 1, ANY double *p = a, *e = a + n; while (p != e) *p++ = 4;) \
  X(pointers_down, 1, ANY double *p = a + n; while (p != a) *--p = 4;) \
  X(do_while, 1, ANY long i = 0; if (n) do a[i] = i; while (++i < n);) \
  X(volatile_, 1, ANY volatile double *p = a; EACH(p[i] = i)) \
  X(volatile_read, 1, ANY volatile double *p = c; EACH(a[i] = p[i])) \
  X(step_given, 1, ANY long step = k->n % 3 + 1; for (long i = 0; i < n / 3; i++) a[i * step] = i;) \
  X(transpose, 0, RESTRICT long m = (long)sqrt(n); for (long r = 0; r < m; r++) for (long i = 0; i < m; i++) a[r * m + i] = b[i * m + r];) \
  X(time_steps, 0, RESTRICT for (int t = 0; t < 3; t++) { EACH(a[i] = b[i] + t) EACH(b[i] = a[i] * 0.5) }) \
  X(inlined, 1, ANY EACH(one(a + i, b + i))) \
  X(inlined_restrict, 1, ANY EACH(one_restrict(a + i, b + i))) \
  X(vector_type, 1, ANY typedef double v4 __attribute__((vector_size(32), aligned(8))); v4 *p = (v4 *)k->a; for (long i = 0; i < n / 4; i++) p[i] = (v4){i, 1, 2, 3};)
