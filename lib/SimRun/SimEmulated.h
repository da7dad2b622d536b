// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that runs under qemu as it is: where its instructions and variables
// come from, which blocks of memory it was given. Instructions are numbered as
// they come, and named at the end.

#pragma once

#include "SimRun/SimArrays.h"
#include "SimRun/SimPlaces.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mpg::sim {

/// The known facts about an address in a file.
struct SimSource {
  std::string file;        ///< of the source; empty: not known
  unsigned line = 0;       ///< 0: not known
  std::string function;    ///< empty: not known
  uint64_t functionAt = 0; ///< its first address in the file; 0: not known
};
using SimSourceOf =
    llvm::function_ref<SimSource(const std::string &path, uint64_t address)>;

class SimEmulated {
public:
  SimEmulated() : recent(recentCount) {}

  /// The lines of a module's text that are about qemu; blocks and variables go
  /// into \p arrays. Skips unreadable lines.
  void read(llvm::StringRef text, SimArrays &arrays);

  /// The place of an access, from the word of its record.
  unsigned getPlace(uint64_t word, SimPlaces &places) {
    Recent &one = recent[word % recentCount];
    if (one.word != word)
      one = {word, findPlace(word, places)};
    return one.place;
  }

  /// pre: there are no more accesses.
  void nameAll(SimPlaces &places, SimSourceOf getSource) const;
  /// Whether the program has SVE accesses, of which that qemu says nothing.
  bool hasUnseenSve() const { return unseenSve; }

private:
  static constexpr uint64_t recentCount = 1 << 14;
  struct Recent {
    uint64_t word = 0; ///< which no record has
    unsigned place = 0;
  };
  /// A part of a file, where it is mapped.
  struct Image {
    uint64_t begin, end;
    uint64_t bias; ///< what is added to addresses of the file
    std::string path;
  };
  struct Named {
    uint64_t address;
    unsigned code;
  };
  class Loops;

  unsigned findPlace(uint64_t word, SimPlaces &places);
  void addImage(const Image &image, uint64_t offset, SimArrays &arrays);
  void addMemory(uint64_t begin, uint64_t bytes, llvm::StringRef name,
                 SimArrays &arrays);
  SimSource source(uint64_t address, SimSourceOf getSource) const;

  std::vector<Recent> recent;
  std::unordered_map<uint64_t, unsigned> known; ///< by word
  std::unordered_map<uint64_t, unsigned> codes; ///< by address
  std::vector<Image> images;
  std::map<uint64_t, uint64_t> jumps; ///< backwards: from, to
  /// By address and bytes, so that a block that comes again is the same array.
  std::map<std::pair<uint64_t, uint64_t>, unsigned> blocks;
  unsigned heap = 0;
  bool unseenSve = false;
};

} // namespace mpg::sim
