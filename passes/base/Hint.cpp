// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "base/Hint.h"
#include "mpg/hints.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

uint8_t Hint::tagByte() const {
  unsigned tag = sector.value_or(0);
  if (injection)
    return tag | MPG_TAG_INJECTION | *injection << 4;
  if (noL1Prefetch)
    tag |= MPG_TAG_NO_L1_HWPF;
  if (noL2Prefetch)
    tag |= MPG_TAG_NO_L2_HWPF;
  if (weakPrefetch)
    tag |= MPG_TAG_WEAK_SWPF;
  return tag;
}

std::string Hint::contradiction() const {
  bool switches = noL1Prefetch || noL2Prefetch || weakPrefetch;
  if (injection && switches)
    return "inject= decides about prefetching alone; leave out the other "
           "prefetch hints";
  if (off && (sector || injection || switches))
    return "off and another hint; leave out one of them";
  return "";
}

std::string Hint::add(const Hint &other) {
  if (sector && other.sector && *sector != *other.sector)
    return "sector " + utostr(*sector) + " and sector " +
           utostr(*other.sector) + "; leave out one of them";
  if (injection && other.injection && *injection != *other.injection)
    return "inject=" + utostr(*injection) +
           " and inject=" + utostr(*other.injection) +
           "; leave out one of them";
  Hint both = *this;
  if (other.sector)
    both.sector = other.sector;
  if (other.injection)
    both.injection = other.injection;
  both.noL1Prefetch |= other.noL1Prefetch;
  both.noL2Prefetch |= other.noL2Prefetch;
  both.weakPrefetch |= other.weakPrefetch;
  both.off |= other.off;
  std::string wrong = both.contradiction();
  if (wrong.empty())
    *this = both;
  return wrong;
}

std::string mpg::describeTag(uint8_t tag) {
  std::string text = "0x" + utohexstr(tag, /*LowerCase=*/true, 2) +
                     ": sector " + utostr(tag & MPG_TAG_SECTOR_MASK);
  if (tag & MPG_TAG_INJECTION)
    return text + ", prefetch injection entry " + utostr(tag >> 4 & 7);
  bool noL1 = tag & MPG_TAG_NO_L1_HWPF, noL2 = tag & MPG_TAG_NO_L2_HWPF;
  if (noL1 && noL2)
    text += ", no hardware prefetch";
  else if (noL1 || noL2)
    text += noL1 ? ", no L1 hardware prefetch" : ", no L2 hardware prefetch";
  if (tag & MPG_TAG_WEAK_SWPF)
    text += ", weak software prefetch";
  return text;
}
