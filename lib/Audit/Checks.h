// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks. Start reading here: a check is a function that looks at one
// Subject and adds what it finds. A new one gets a row in MPG_CHECKS.

#pragma once

#include "Audit/Audit.h"
#include "Audit/ClosureFacts.h"
#include "Elf/Image.h"

namespace mpg {

/// Facts that matter for a link with ld.mpg or with a linker script.
struct LinkFacts {
  uint64_t dataBytes = 0; ///< .data, .bss, .ldata and .lbss
  bool hasData = false, hasBss = false;
  /// The layout note that ld.mpg wrote, in a file that it linked.
  std::optional<mpg_note_layout> note;
};

/// One file under audit, with what was decided about it.
struct Subject {
  Subject(Image &image, const AuditSettings &settings, Target target,
          uint64_t pageBytes, uint64_t hugeBytes,
          const ProgramClosure *closure = nullptr)
      : image(image), settings(settings), target(target), pageBytes(pageBytes),
        hugeBytes(hugeBytes), closure(closure) {}

  Image &image;
  const AuditSettings &settings;
  Target target;
  uint64_t pageBytes;
  uint64_t hugeBytes;
  /// The libraries of a program; null where they are not looked at.
  const ProgramClosure *closure;
  /// How the program will be started; null if nothing is known.
  const Launch *launch() const { return settings.launch.get(); }
  /// Imports and exports that any check asks about; read at the first use.
  const KnownSymbolUse &symbols() const;
  /// Read at the first use, in one pass over the sections: a run over many
  /// files asks for most of them.
  const LinkFacts &linkFacts() const;
  /// Our own notes; read at the first use.
  const Notes &notes() const;
  /// Our runtime is linked into the program itself, from libmpgrt.a; and
  /// whether its malloc is, which takes the linker's --wrap.
  bool carriesLibmpg() const;
  bool carriesLibmpgMalloc() const;
  const KnownSymbolUse &ownSymbols() const;
  /// Bytes of writable segments, and of the large pages that lie inside them.
  struct MovableBytes {
    uint64_t all, inside;
  };
  const MovableBytes &movableBytes() const;
  std::optional<MovableBytes> mutable movableCache;
  std::optional<KnownSymbolUse> mutable ownCache;
  std::optional<KnownSymbolUse> mutable symbolCache;
  std::optional<LinkFacts> mutable linkCache;
  std::optional<Notes> mutable noteCache;
};

/// Takes findings; fills in what the table says about them.
class Findings {
public:
  Findings(const Subject &subject, std::vector<Finding> &out);

  bool wants(FindingId id) const { return wanted.contains(id); }
  /// A check before this one has added \p id.
  bool has(FindingId id) const;
  /// wants() is true for a number from \p first to \p last.
  bool wantsAny(unsigned first, unsigned last) const {
    return wanted.containsAny(first, last);
  }
  /// Adds a finding with the severity and the cost of the table and returns it
  /// for the check to complete. pre: wants(id).
  Finding &add(FindingId id, const llvm::Twine &title);

private:
  const Subject &subject;
  FindingSet wanted;
  std::vector<Finding> &out;
};

/// All checks but checkMalformed, in the order they run: CHECK(function, first,
/// last), where a function can add the findings from \p first to \p last. So a
/// run that asks for one finding runs one check. checkLibraries adds 104, 130,
/// 143, 160, 170 and 171 of the libraries of a program.
#define MPG_CHECKS(CHECK)                                                      \
  CHECK(checkPie, 102, 102)                                                    \
  CHECK(checkOverlap, 103, 103)                                                \
  CHECK(checkThreadStack, 104, 104)                                            \
  CHECK(checkThreadStart, 105, 105)                                            \
  CHECK(checkLibmpg, 110, 112)                                                 \
  CHECK(checkAllocators, 113, 114)                                             \
  CHECK(checkLibraryDrag, 120, 120)                                            \
  CHECK(checkMissing, 121, 121)                                                \
  CHECK(checkBrk, 130, 132)                                                    \
  CHECK(checkStartupMemory, 140, 142)                                          \
  CHECK(checkBssPaging, 141, 141)                                              \
  CHECK(checkLibraryData, 143, 143)                                            \
  CHECK(checkPageSize, 150, 152)                                               \
  CHECK(checkCode, 153, 153)                                                   \
  CHECK(checkHygiene, 160, 161)                                                \
  CHECK(checkHints, 170, 172)                                                  \
  CHECK(checkVectorLength, 180, 180)                                           \
  CHECK(checkOpenMp, 190, 190)                                                 \
  CHECK(checkTimerFork, 200, 200)                                              \
  CHECK(checkCacheColour, 210, 210)                                            \
  CHECK(checkHeapColour, 211, 211)                                             \
  CHECK(checkSearchPath, 230, 230)                                             \
  CHECK(checkLibraries, 104, 171)

#define MPG_DECLARE_CHECK(function, first, last)                               \
  void function(const Subject &subject, Findings &findings);
MPG_CHECKS(MPG_DECLARE_CHECK)
#undef MPG_DECLARE_CHECK

/// Bytes that the kernel maps from the file and nobody writes, and those of
/// them that large pages of the page cache can hold.
struct FileMemory {
  uint64_t bytes = 0, eligibleBytes = 0;
};
/// \p code: of executable segments, else of the others.
FileMemory findFileMemory(Image &image, uint64_t hugeBytes, bool code);

/// 9xx. Runs last and always: it reports the damage that the checks before it
/// came across, and a file that cannot be used must not look clean because
/// only another group was asked for.
void checkMalformed(const Subject &subject, Findings &findings);

struct CheckEntry {
  void (*run)(const Subject &, Findings &);
  unsigned first, last;
};

inline constexpr CheckEntry allChecks[] = {
#define MPG_CHECK_ENTRY(function, first, last) {function, first, last},
    MPG_CHECKS(MPG_CHECK_ENTRY)
#undef MPG_CHECK_ENTRY
};

/// Runs every check that can add a finding that the settings ask for.
void runChecks(const Subject &subject, std::vector<Finding> &out);

} // namespace mpg
