/* Compares mpg_copy_tagged with memcpy: every length from 0 to 600, many
 * alignments, every kind of tag, from and to addresses that have a tag already.
 * Nothing beside the copy may change. Prints how many copies it made and
 * `right`, or what is wrong, with status 1. */

#include <mpg/pass.h>
#include <stdio.h>
#include <string.h>

enum { max = 600, margin = 80 };
static unsigned char source[max + 2 * margin], target[sizeof source],
    wanted[sizeof source];

static const unsigned char tags[] = {0x00, 0x01, 0x02, 0x03,
                                     0x41, 0x60, 0x80, 0xf3};

/* A tag that the pointer has before the call; only AArch64 ignores it. */
static void *withTag(void *pointer, unsigned char tag) {
#ifdef __aarch64__
  return (void *)((unsigned long)pointer | (unsigned long)tag << 56);
#else
  (void)tag;
  return pointer;
#endif
}

static int copiesRight(size_t length, size_t from, size_t to,
                       unsigned char dTag, unsigned char sTag) {
  memset(target, 0xee, sizeof target);
  memset(wanted, 0xee, sizeof wanted);
  memcpy(wanted + to, source + from, length);
  void *result =
      mpg_copy_tagged(withTag(target + to, sTag), withTag(source + from, dTag),
                      length, dTag, sTag);
  if (result == target + to && memcmp(target, wanted, sizeof target) == 0)
    return 1;
  printf("wrong: length %zu, offsets %zu and %zu, tags %02x and %02x: %p\n",
         length, from, to, dTag, sTag, result);
  return 0;
}

int main(void) {
  size_t copies = 0;
  for (size_t i = 0; i < sizeof source; ++i)
    source[i] = (unsigned char)(i * 7 + i / 256);
  for (size_t length = 0; length <= max; ++length)
    for (size_t tag = 0; tag < sizeof tags; ++tag, ++copies)
      if (!copiesRight(length, (length + 3 * tag) % 64, 5 * tag % margin,
                       tags[tag], tags[(tag + length) % sizeof tags]))
        return 1;
  for (size_t offset = 0; offset < 64 * 64; ++offset, ++copies)
    if (!copiesRight(200, offset / 64, offset % 64, 0x41, 0x01))
      return 1;
  printf("%zu copies right\n", copies);
  return 0;
}
