// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DataCaches.h.

#include "Node/DataCaches.h"

using namespace llvm;
using namespace mpg;

std::vector<DataCache> mpg::readDataCaches(const SysTree &tree) {
  const std::string folder = "/sys/devices/system/cpu/cpu0/cache/";
  std::vector<DataCache> caches;
  for (unsigned index : tree.numbered(folder, "index")) {
    std::string entry = folder + "index" + std::to_string(index);
    auto number = [&](const char *file) {
      return tree.number(entry + file).valueOr(0);
    };
    Fact<std::string> type = tree.line(entry + "/type");
    if (!type || *type == "Instruction")
      continue;
    caches.push_back({number("/level"), tree.line(entry + "/size").valueOr(""),
                      number("/number_of_sets"),
                      number("/ways_of_associativity"),
                      number("/coherency_line_size")});
  }
  return caches;
}
