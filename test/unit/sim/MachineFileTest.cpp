// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machines/MachineFile.h"
#include "ModelPrograms.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace mpg::sim;

static std::string smallMachine() {
  return "name: Small\n"
         "line: 64\n"
         "physicalBits: 30\n"
         "pages: [4KiB, 2MiB]\n"
         "caches:\n"
         "  - {name: L1, size: 4KiB, ways: 4, replacement: lru}\n"
         "  - {name: L2, size: 64KiB, ways: 8, replacement: lru,\n"
         "     hash: {bits: 2, at: 1, from: [12, 20]}, assumed: [hash]}\n"
         "tlbs:\n"
         "  - name: DTLB\n"
         "    arrays:\n"
         "      - {pages: [4KiB], entries: 8, ways: 8, replacement: fifo}\n"
         "groups: {count: 2, cores: 4}\n";
}

/// Writes \p text, reads it, and returns the message without the folder.
static std::string readText(const std::string &text, Machine &machine) {
  llvm::SmallString<128> path;
  int file = -1;
  EXPECT_FALSE(
      llvm::sys::fs::createTemporaryFile("machine", "yaml", file, path));
  {
    llvm::raw_fd_ostream stream(file, true);
    stream << text;
  }
  std::string error = readMachine(path.str().str(), machine);
  llvm::sys::fs::remove(path);
  if (llvm::StringRef(error).starts_with(path))
    error = "FILE" + error.substr(path.size());
  return error;
}

TEST(SimMachineFile, ReadsEveryKey) {
  Machine machine;
  ASSERT_EQ(readText(smallMachine(), machine), "");
  EXPECT_EQ(machine.name, "Small");
  EXPECT_EQ(machine.pageBytes, (std::vector<uint64_t>{4096, 2 << 20}));
  ASSERT_EQ(machine.caches.size(), 2U);
  EXPECT_EQ(machine.caches[1].bytes, 65536U);
  EXPECT_EQ(machine.caches[1].hash.from, (std::vector<unsigned>{12, 20}));
  ASSERT_EQ(machine.tlbs.size(), 1U);
  EXPECT_EQ(machine.tlbs[0].arrayFor(4096)->replacement, Replacement::fifo);
  EXPECT_EQ(machine.tlbs[0].arrayFor(2 << 20), nullptr);
  EXPECT_EQ(machine.groups.count, 2U);
}

TEST(SimMachineFile, WrongOnesNameLineAndKey) {
  struct Case {
    const char *from, *to, *error;
  };
  Machine machine;
  for (const Case &wrong : {
           Case{"line: 64\n", "line: 64\nline: 64\n",
                "FILE:3: 'line' is given twice, first in line 2"},
           Case{"tlbs:\n",
                "prefetchers:\n  - {level: 2, ahead: 4}\n"
                "  - {level: 2, ahead: 8}\ntlbs:\n",
                "FILE:11: 'prefetchers' has two of level 2; name each level "
                "once"},
           Case{"tlbs:\n", "prefetchers:\n  - {level: 3, ahead: 4}\ntlbs:\n",
                "FILE:10: 'level' is a number from 1 to 2, not '3'"},
           Case{"physicalBits: 30", "physicalBits: many",
                "FILE:3: 'physicalBits' is a number from 20 to 52, not 'many'"},
           Case{"physicalBits: 30", "physicalBits: 99",
                "FILE:3: 'physicalBits' is a number from 20 to 52, not '99'"},
           Case{"physicalBits: 30\n", "",
                "FILE:1: the key 'physicalBits' is missing"},
           Case{"[4KiB, 2MiB]", "[4KiB, 3MiB]",
                "FILE:4: 'pages' are powers of two, each above the one before"},
           Case{"[4KiB, 2MiB]", "[2MiB, 4KiB]",
                "FILE:4: 'pages' are powers of two, each above the one before"},
           Case{"[4KiB, 2MiB]", "4KiB", "FILE:4: 'pages' takes a list"},
           Case{"size: 4KiB", "size: big",
                "FILE:6: 'size' is a size such as 64KiB, at most 1 TiB, not "
                "'big'"},
           Case{"size: 4KiB", "size: 4100",
                "FILE:6: 'size' 4 KiB is not a multiple of 4 ways of lines of "
                "64 bytes"},
           Case{"size: 4KiB, ways", "size: 4KiB, way",
                "FILE:6: unknown key 'way'; did you mean 'ways'?"},
           Case{"ways: 4, replacement: lru", "ways: 4",
                "FILE:6: the key 'replacement' is missing"},
           Case{"ways: 4, replacement: lru", "ways: 4, replacement: random",
                "FILE:6: 'random' of 'replacement' is unknown"},
           Case{"at: 1", "at: 6",
                "FILE:7: the 'hash' goes beyond the index of 128 sets"},
           Case{"[12, 20]", "[3]",
                "FILE:7: 'from' of the 'hash' has bit 3, which is within a "
                "line"},
           Case{"assumed: [hash]", "assumed: [hush]",
                "FILE:8: 'hush' of 'assumed' is unknown"},
           Case{"entries: 8", "entries: 12",
                "FILE:12: 'entries' is not a multiple of 'ways'"},
           Case{"pages: [4KiB], entries", "pages: [1GiB], entries",
                "FILE:12: 'pages' of the machine, which stands first, has no "
                "1 GiB"},
           Case{"caches:", "caches: [", "FILE:"},
       }) {
    std::string text = smallMachine();
    size_t at = text.find(wrong.from);
    ASSERT_NE(at, std::string::npos) << wrong.from;
    text.replace(at, strlen(wrong.from), wrong.to);
    std::string error = readText(text, machine);
    EXPECT_EQ(error.substr(0, strlen(wrong.error)), wrong.error) << error;
  }
  EXPECT_EQ(readText("", machine), "FILE:1: the key 'name' is missing");
  EXPECT_EQ(readText("- 1\n", machine),
            "FILE:1: this is not a list of KEY: VALUE");
  EXPECT_NE(readMachine("/nowhere.yaml", machine), "");
}

// Files of noise: told or read, never a crash, and what is read can be
// simulated.
TEST(SimMachineFile, DamagedOnesAreHarmless) {
  Random random(3);
  unsigned taken = 0;
  for (unsigned count = 0; count < 400; ++count) {
    std::string text = smallMachine();
    for (uint64_t changes = 1 + random.below(3); changes; --changes) {
      size_t at = random.below(text.size());
      if (random.oneIn(2))
        text[at] = " 0123456789-{}[]:,#kKMlp"[random.below(24)];
      else
        text.erase(at, 1 + random.below(4));
    }
    Machine machine;
    if (!readText(text, machine).empty())
      continue;
    ++taken;
    WhatIf whatIf;
    whatIf.pageBytes = machine.pageBytes;
    Model model(machine, whatIf);
    unsigned site = model.addSite({0, 0, 16, true, 3});
    model.core(0).affine({{site, 4096, 200}}, 100);
    EXPECT_EQ(model.total(model.layout().accesses()), 100U);
  }
  EXPECT_GT(taken, 10U);
  EXPECT_LT(taken, 200U);
}

TEST(SimMachineFile, InstalledOnesAreRight) {
  std::error_code error;
  unsigned count = 0;
  for (llvm::sys::fs::directory_iterator at(MPG_SIM_MACHINES, error), end;
       at != end && !error; at.increment(error)) {
    if (!llvm::StringRef(at->path()).ends_with(".yaml"))
      continue;
    ++count;
    Machine machine;
    ASSERT_EQ(readMachine(at->path(), machine), "");
    for (uint64_t page : machine.pageBytes)
      EXPECT_NE(machine.tlbs.front().arrayFor(page), nullptr) << machine.name;
  }
  EXPECT_GT(count, 0U);
}
