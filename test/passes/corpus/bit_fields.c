// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit fields, unions and packed structures in arrays.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct Packet {
  unsigned kind : 3;
  unsigned length : 11;
  signed offset : 9;
  unsigned : 4;
  unsigned last : 1;
};
union Word {
  float real;
  uint32_t bits;
  uint8_t bytes[4];
};
#pragma pack(push, 1)
struct Odd {
  uint8_t tag;
  uint32_t number;
  uint16_t small;
  double real;
};
#pragma pack(pop)

static struct Packet packets[300];
static struct Odd odds[101];

int main(void) {
  for (int i = 0; i < 300; ++i) {
    packets[i].kind = i;
    packets[i].length = i * 11;
    packets[i].offset = i - 150;
    packets[i].last = i % 3 == 0;
  }
  long sum = 0;
  for (int i = 0; i < 300; ++i)
    sum += packets[i].kind * packets[i].length + packets[i].offset +
           (packets[i].last ? 1000 : 0);
  union Word words[64];
  uint32_t mix = 0;
  for (int i = 0; i < 64; ++i)
    words[i].real = 1.5f * i - 7;
  for (int i = 0; i < 64; ++i)
    mix = (mix << 5 | mix >> 27) ^ words[i].bits ^ words[i].bytes[3];
  for (int i = 0; i < 101; ++i)
    odds[i] = (struct Odd){(uint8_t)i, i * 100003u, (uint16_t)(i * 7), i / 8.};
  double total = 0;
  for (int i = 0; i < 101; ++i)
    total += odds[i].tag + odds[i].number % 1000 + odds[i].small * odds[i].real;
  unsigned char raw[sizeof(odds)];
  memcpy(raw, odds, sizeof(odds));
  unsigned check = 0;
  for (size_t i = 0; i < sizeof(raw); ++i)
    check = check * 33 + raw[i];
  printf("%ld %x %.3f %u\n", sum, mix, total, check);
  return sizeof(struct Odd) == 15 && packets[299].offset == 149 ? 0 : 1;
}
