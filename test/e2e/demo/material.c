/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The plate as a drawing: 16 lines of 32 cells, repeated 64 times to the right
 * and 128 times downwards. All of it is in the file, so these 4 MiB are .data
 * and not .bss.
 */
#include "plate.h"

#define ACROSS4(cells) cells cells cells cells
#define LINE(cells) ACROSS4(ACROSS4(ACROSS4(cells)))
#define DOWN2(...) __VA_ARGS__, __VA_ARGS__
#define DOWN128(...)                                                           \
  DOWN2(DOWN2(DOWN2(DOWN2(DOWN2(DOWN2(DOWN2(__VA_ARGS__)))))))

char material[plateRows][plateCols + 1] = {
    /* clang-format off */
    DOWN128(LINE("iiiiiiiiiiiiiiiiwwwwwwwwwwwwwwww"),
            LINE("i..............iw..............w"),
            LINE("i..............iw..............w"),
            LINE("i..####........iw...iiiiiiii...w"),
            LINE("i..####........iw...iiiiiiii...w"),
            LINE("i..####........iw...iiiiiiii...w"),
            LINE("i..............iw..............w"),
            LINE("iiiiiiiiiiiiiiiiwwwwwwwwwwwwwwww"),
            LINE("wwwwwwwwwwwwwwwwiiiiiiiiiiiiiiii"),
            LINE("wwwwwwwwwwwwwwwwi..............i"),
            LINE("wwwwwwiiiiwwwwwwi..wwwwwwwwww..i"),
            LINE("wwwwwwiiiiwwwwwwi..w###wwwwww..i"),
            LINE("wwwwwwiiiiwwwwwwi..w###wwwwww..i"),
            LINE("wwwwwwwwwwwwwwwwi..wwwwwwwwww..i"),
            LINE("wwwwwwwwwwwwwwwwi..............i"),
            LINE("wwwwwwwwwwwwwwwwiiiiiiiiiiiiiiii"))
    /* clang-format on */
};
