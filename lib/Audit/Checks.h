// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks, in the order they run. Start reading here: a check is a function
// that looks at one Subject and adds what it finds; which findings it can add
// stands beside it in Checks.cpp, so that a run that asks for one finding runs
// one check.

#ifndef MPG_AUDIT_CHECKS_H
#define MPG_AUDIT_CHECKS_H

#include "Audit/Audit.h"
#include "Audit/ClosureFacts.h"
#include "Elf/Image.h"

namespace mpg {

/// What a link with ld.mpg or with a linker script would find.
struct LinkFacts {
  uint64_t dataBytes = 0; ///< .data, .bss, .ldata and .lbss
  bool hasData = false, hasBss = false;
  /// What ld.mpg wrote about its layout, in a file that it linked.
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
  Findings(const Subject &subject, std::vector<Finding> &out)
      : subject(subject), out(out) {}

  bool wants(FindingId id) const;
  /// A check before this one has added \p id.
  bool has(FindingId id) const;
  /// wants() is true for a number from \p first to \p last.
  bool wantsAny(unsigned first, unsigned last) const;
  /// Adds a finding with the severity and the cost of the table and returns it
  /// for the check to complete. pre: wants(id).
  Finding &add(FindingId id, const llvm::Twine &title);

private:
  const Subject &subject;
  std::vector<Finding> &out;
};

void checkPie(const Subject &subject, Findings &findings);           // 102
void checkOverlap(const Subject &subject, Findings &findings);       // 103
void checkThreadStack(const Subject &subject, Findings &findings);   // 104
void checkThreadStart(const Subject &subject, Findings &findings);   // 105
void checkLibmpg(const Subject &subject, Findings &findings);        // 110-112
void checkAllocators(const Subject &subject, Findings &findings);    // 113 114
void checkLibraryDrag(const Subject &subject, Findings &findings);   // 120
void checkMissing(const Subject &subject, Findings &findings);       // 121
void checkBrk(const Subject &subject, Findings &findings);           // 130-132
void checkStartupMemory(const Subject &subject, Findings &findings); // 140 142
void checkBssPaging(const Subject &subject, Findings &findings);     // 141
void checkLibraryData(const Subject &subject, Findings &findings);   // 143
void checkPageSize(const Subject &subject, Findings &findings);      // 150-152
void checkHygiene(const Subject &subject, Findings &findings);       // 160 161
void checkHints(const Subject &subject, Findings &findings);         // 170-172
void checkVectorLength(const Subject &subject, Findings &findings);  // 180
void checkOpenMp(const Subject &subject, Findings &findings);        // 190
void checkTimerFork(const Subject &subject, Findings &findings);     // 200
void checkCacheColour(const Subject &subject, Findings &findings);   // 210
void checkHeapColour(const Subject &subject, Findings &findings);    // 211
void checkSearchPath(const Subject &subject, Findings &findings);    // 230

/// 104, 130, 143, 160, 170 and 171 of the libraries of a program.
void checkLibraries(const Subject &subject, Findings &findings);

/// Words for target mpg in a finding of data that a library has.
void wordLibraryData(Finding &finding);

/// 9xx. Runs last and always: it reports the damage that the checks before it
/// came across, and a file that cannot be used must not look clean because
/// only another group was asked for.
void checkMalformed(const Subject &subject, Findings &findings);

/// Runs every check that can add a finding that the settings ask for.
void runChecks(const Subject &subject, std::vector<Finding> &out);

} // namespace mpg

#endif // MPG_AUDIT_CHECKS_H
