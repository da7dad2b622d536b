// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Node.h. The sources were read in November 2026, but for java(1):
// an article of a HotSpot developer has the same.

#include "Node/Node.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace mpg;

static constexpr ProductAdvice products[] = {
    {"postgres", "PostgreSQL", "madvise never",
     "Some kernels made it slower with transparent pages, so their use is "
     "discouraged; with madvise it asks for none.",
     "Yes: huge_pages=try, the default, takes it for shared memory. postgres "
     "-C shared_memory_size_in_huge_pages prints how many pages.",
     "PostgreSQL documentation, huge_pages"},
    {"mongodb", "MongoDB 8.0 and newer", "always",
     "Its malloc since 8.0 is made for transparent pages (x86-64 and AArch64). "
     "Of 7.0 and older the opposite holds: never.",
     "No.",
     "MongoDB manual, TCMalloc Performance Optimization, and Disable "
     "Transparent Hugepages"},
    {"redis", "Redis", "madvise never",
     "After a fork for a save each write copies a large page. It warns of "
     "always and is content with madvise.",
     "No.", "Redis, pull request 4001, merged 2020"},
    {"jvm", "Java (HotSpot)", "madvise always",
     "-XX:+UseTransparentHugePages asks for them.",
     "With -XX:+UseLargePages alone: -Xmx and some more.",
     "java(1), Large Pages"},
    {"rhel", "Red Hat Enterprise Linux 9 and 10", "always madvise",
     "always is the default; madvise where programs without need take too much "
     "memory by them.",
     "For programs that ask for it.",
     "RHEL 9 and 10, Managing transparent huge pages"},
    {"oracle", "Oracle Database on UEK7 and newer", "madvise",
     "On older kernels it asks for never.",
     "Yes: HugePages for the SGA are still recommended.",
     "Oracle Database 23, Installation Guide for Linux, Setting Transparent "
     "HugePages to madvise"},
};

ArrayRef<ProductAdvice> mpg::allProductAdvice() { return products; }

const ProductAdvice *mpg::findProductAdvice(StringRef name) {
  for (const ProductAdvice &product : products)
    if (product.name == name)
      return &product;
  return nullptr;
}

bool mpg::writeProductAdvice(raw_ostream &out, const ProductAdvice &advice,
                             const TransparentFacts &facts) {
  SmallVector<StringRef, 2> wanted;
  advice.transparent.split(wanted, ' ');
  auto part = [&](StringRef label, StringRef text) {
    writeFilled(out, "  ", (label + ": " + text).str(), 4);
  };
  out << advice.title << "\n";
  part("transparent large pages", wanted.front());
  part("why", advice.why);
  part("pages of the pool", advice.pool);
  part("source", advice.source);
  if (!facts.enabled) {
    part("here", "not known: " + printable(facts.enabled.unknown));
    return true;
  }
  bool fits = is_contained(wanted, *facts.enabled);
  part("here",
       *facts.enabled + (fits ? ", which fits" : ", which does not fit"));
  if (!fits)
    out << "    echo " << wanted.front()
        << " > /sys/kernel/mm/transparent_hugepage/enabled\n";
  return fits;
}
