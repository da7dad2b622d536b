/* Instruction TLBs, fed by what valgrind's lackey prints for each superblock:
 *
 *   text_itlb LOW HIGH BIAS < TRACE
 *
 * Code from address LOW to HIGH, both moved by BIAS in memory, is modelled twice:
 * on pages of 4 KiB and on pages of 2 MiB; all other code is on pages of 4 KiB.
 * Prints how many instructions ran, and for each processor below the misses of its first level and those of
 * both levels, in base pages and in large ones. Entries are replaced by least
 * recent use; data does not take entries of the second level, so its misses are
 * a lower bound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { maxEntries = 2048, smallBits = 12, largeBits = 21, processors = 2 };

struct Level {
  unsigned sets, ways;
  unsigned long pages[maxEntries]; /* each set: the newest first; 0: empty */
};

/* Zen 4 has one first level for all sizes of pages, Golden Cove one for each. */
struct Tlb {
  struct Level first, firstLarge, second;
  unsigned long firstMisses, walks;
};

/* Finds a page, and makes it the newest of its set: whether it was there. */
static int touch(struct Level *level, unsigned long number, unsigned long page) {
  unsigned long *set = level->pages + number % level->sets * level->ways;
  unsigned way = 0;
  while (way < level->ways - 1 && set[way] != page)
    ++way;
  int found = set[way] == page;
  memmove(set + 1, set, way * sizeof *set);
  set[0] = page;
  return found;
}

static void fetch(struct Tlb *tlb, unsigned long address, int large) {
  unsigned long number = address >> (large ? largeBits : smallBits);
  unsigned long page = number << 1 | (unsigned)large | 1UL << 63;
  struct Level *first = large && tlb->firstLarge.ways ? &tlb->firstLarge : &tlb->first;
  if (touch(first, number, page))
    return;
  ++tlb->firstMisses;
  tlb->walks += !touch(&tlb->second, number, page);
}

/* The number in "guest instrs:  126,691". */
static unsigned long readCount(const char *text) {
  unsigned long value = 0;
  for (; *text; ++text)
    if (*text >= '0' && *text <= '9')
      value = value * 10 + (unsigned long)(*text - '0');
  return value;
}

int main(int argc, char **argv) {
  static const char *const names[processors] = {"zen4", "golden-cove"};
  static struct Tlb tlbs[processors][2];
  if (argc != 4)
    return 2;
  unsigned long bias = strtoul(argv[3], NULL, 0);
  unsigned long low = strtoul(argv[1], NULL, 0), high = strtoul(argv[2], NULL, 0);
  for (int large = 0; large < 2; ++large) {
    tlbs[0][large] = (struct Tlb){.first = {1, 64, {0}}, .second = {64, 8, {0}}};
    tlbs[1][large] = (struct Tlb){
        .first = {32, 8, {0}}, .firstLarge = {4, 8, {0}}, .second = {128, 16, {0}}};
  }
  char line[256];
  unsigned long instructions = 0, address;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "SB %lx", &address) != 1) {
      const char *count = strstr(line, "guest instrs:");
      if (count)
        instructions = readCount(count);
      continue;
    }
    address -= bias;
    int inText = low <= address && address < high;
    for (int processor = 0; processor < processors; ++processor)
      for (int large = 0; large < 2; ++large)
        fetch(&tlbs[processor][large], address, large && inText);
  }
  printf("instructions %lu\n", instructions);
  for (int processor = 0; processor < processors; ++processor) {
    struct Tlb *base = &tlbs[processor][0], *large = &tlbs[processor][1];
    printf("%s %lu %lu %lu %lu\n", names[processor], base->firstMisses, base->walks,
           large->firstMisses, large->walks);
  }
  return 0;
}
