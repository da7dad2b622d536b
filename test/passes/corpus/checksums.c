// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checksums over bytes: CRC with tables, Adler, Fletcher, SHA-256.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t table[8][256];

static void makeTables(void) {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit)
      value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
    table[0][i] = value;
  }
  for (int k = 1; k < 8; ++k)
    for (int i = 0; i < 256; ++i)
      table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
}

static uint32_t crc(const uint8_t *p, size_t n) {
  uint32_t value = ~0u;
  for (; n >= 8; n -= 8, p += 8) {
    uint32_t low, high;
    memcpy(&low, p, 4);
    memcpy(&high, p + 4, 4);
    low ^= value;
    value = table[7][low & 255] ^ table[6][low >> 8 & 255] ^
            table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
            table[3][high & 255] ^ table[2][high >> 8 & 255] ^
            table[1][high >> 16 & 255] ^ table[0][high >> 24];
  }
  while (n--)
    value = value >> 8 ^ table[0][(value ^ *p++) & 255];
  return ~value;
}

static uint32_t adler(const uint8_t *p, size_t n) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < n; ++i) {
    a = (a + p[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static uint64_t fletcher(const uint32_t *p, size_t n) {
  uint64_t a = 0, b = 0;
  for (size_t i = 0; i < n; ++i) {
    a += p[i];
    b += a;
  }
  return a ^ b << 32;
}

int main(void) {
  static uint8_t data[10007];
  static uint32_t words[1111];
  makeTables();
  for (size_t i = 0; i < sizeof(data); ++i)
    data[i] = (uint8_t)(i * i + i / 3);
  for (uint32_t i = 0; i < 1111; ++i)
    words[i] = i * 2654435761u;
  for (size_t n = 9000; n <= sizeof(data); n += 53)
    printf("%08x %08x ", crc(data + n % 9, n - 9), adler(data, n));
  printf("\n%016llx\n", (unsigned long long)fletcher(words, 1111));
  return crc((const uint8_t *)"123456789", 9) == 0xcbf43926u ? 0 : 1;
}
