// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loader/Closure.h"
#include "Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpg;

static void writeLine(raw_ostream &out, const ClosureEntry &entry,
                      unsigned depth, bool shownBefore) {
  // Chains that damaged files make may be thousands long; the eye is lost
  // before that.
  constexpr unsigned maxDepth = 40;
  out.indent(4 * std::min(depth, maxDepth)) << printable(entry.name) << " => ";
  if (entry.path.empty())
    out << "missing: " << printable(entry.reason);
  else
    out << printable(entry.path);
  if (entry.askedBy == ClosureEntry::preload && depth == 1)
    out << " (preloaded)";
  else if (shownBefore)
    out << " (shown above)";
  out << '\n';
}

void mpg::writeTree(raw_ostream &out, StringRef program,
                    const Closure &closure) {
  // Depth first, with a list of what is still to come instead of recursion.
  struct Line {
    unsigned library, depth;
  };
  std::vector<Line> left;
  auto push = [&](ArrayRef<unsigned> needs, unsigned depth) {
    for (size_t i = needs.size(); i-- > 0;)
      left.push_back({needs[i], depth});
  };
  push(closure.programNeeds, 1);
  std::vector<unsigned> preloaded;
  for (unsigned i = 0; i < closure.libraries.size(); ++i)
    if (closure.libraries[i].askedBy == ClosureEntry::preload)
      preloaded.push_back(i);
  push(preloaded, 1);

  out << printable(program) << '\n';
  std::vector<bool> shown(closure.libraries.size());
  while (!left.empty()) {
    auto [library, depth] = left.back();
    left.pop_back();
    const ClosureEntry &entry = closure.libraries[library];
    writeLine(out, entry, depth, shown[library]);
    if (!shown[library])
      push(entry.needs, depth + 1);
    shown[library] = true;
  }
}
