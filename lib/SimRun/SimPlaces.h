// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The modules' own description of a program: its loads and stores, their
// places, its allocations and calls. passes/sim/SimTable.h has the form.

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace mpg::sim {

struct SimPlace {
  enum Kind : uint8_t { unknown, access, allocation, callee };
  Kind kind = unknown;
  bool store = false;
  bool zeroes = false;    ///< an access by DC ZVA
  bool isPart = false;    ///< an allocation out of another block
  uint8_t prefetches = 0; ///< as in Site
  unsigned bytes = 8;     ///< of an access
  unsigned code = 0;      ///< of an access: its number
  unsigned line = 0;
  std::string file; ///< of an allocation
  std::string name; ///< of a callee, or of an allocated variable; may be empty
  unsigned local = 0; ///< of an access: its variable on the stack; 0: none
};

/// A variable on the stack, where it is declared.
struct SimLocal {
  std::string file;
  unsigned line = 0;
  std::string name;
};

/// A loop, or the code of a function outside of its loops.
struct SimCode {
  std::string file;
  unsigned line = 0; ///< 0: not known
  bool isLoop = false;
  std::string function;
};

/// Accesses of a basic block whose addresses come together, in order.
struct SimBundle {
  struct Member {
    unsigned address; ///< position of the address that it goes to
    uint64_t offset;  ///< from there
  };
  std::vector<Member> members; ///< their places follow each other
  unsigned addresses = 0;
};

class SimPlaces {
public:
  SimPlaces() : places(1), codes(1), locals(1) {}

  /// Adds the module whose first place has the number \p first. \returns "" or
  /// what is wrong with the text, of which the lines before are added.
  std::string addModule(uint64_t first, llvm::StringRef text);

  /// Adds a place, or code that is named later. Returns 0 if there are too
  /// many: damage.
  unsigned add(const SimPlace &place);
  unsigned addCode();
  /// Codes of one name are one from now on.
  void nameCode(unsigned number, const SimCode &name);

  /// Place 0, which is unknown, if there is none of this \p number.
  const SimPlace &place(uint64_t number) const {
    return places[number < places.size() ? number : 0];
  }
  uint64_t count() const { return places.size(); }
  const SimCode &code(unsigned number) const { return codes[number]; }
  /// The code that all codes of this name are counted as.
  unsigned sameCode(unsigned number) const {
    auto same = sameCodes.find(number);
    return same == sameCodes.end() ? number : same->second;
  }
  unsigned codeCount() const { return unsigned(codes.size()); }
  /// The bundle that begins with that place; null: none does.
  const SimBundle *bundle(uint64_t place) const {
    auto known = bundles.find(place);
    return known == bundles.end() ? nullptr : &known->second;
  }
  const SimLocal &local(unsigned number) const { return locals[number]; }
  /// The name of an object of the last module.
  llvm::StringRef objectName(uint64_t number) const;
  /// Whether a module calls a function whose name begins so.
  bool callsBeginningWith(llvm::StringRef name) const;
  /// Whether some module has the function.
  bool isDefined(llvm::StringRef name) const { return defined.contains(name); }

private:
  struct Reader;
  using CodeKey = std::tuple<std::string, unsigned, bool, std::string>;

  std::vector<SimPlace> places;
  std::map<uint64_t, SimBundle> bundles; ///< by first place
  std::vector<SimCode> codes;            ///< 0: not known
  std::map<CodeKey, unsigned> codeNumbers;
  std::map<unsigned, unsigned> sameCodes; ///< of those named later
  std::vector<SimLocal> locals;           ///< 0: none
  std::map<std::tuple<std::string, unsigned, std::string>, unsigned>
      localNumbers;
  std::vector<std::string> objects;
  llvm::StringSet<> defined;
};

} // namespace mpg::sim
