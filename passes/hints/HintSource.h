// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First stage, at the start of the pipeline, while the code still looks like
// the source: reads all hints (annotations, pragmas, side files), erases the
// parts that would hinder the optimiser, marks the accesses, and sets ways.

#pragma once

#include "base/PassOptions.h"
#include "base/StagePass.h"
#include "hints/HintText.h"
#include "llvm/ADT/SetVector.h"

namespace mpg {

class HintSourcePass : public RequiredPass<HintSourcePass> {
public:
  /// \p optimised: false at -O0, where hints are read but not used.
  explicit HintSourcePass(bool optimised) : optimised(optimised) {}
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses);

private:
  bool optimised;
};

/// Remarks that the hint of a line of \p function is applied: \p what happens.
void remarkHonoured(const SourceLine &where, Function &function,
                    const Twine &what);

// Ways of the caches (WaysBracket.cpp). Puts calls of mpg_sector_begin and
// mpg_sector_end around code that asks for ways. The calls are weak and follow
// a null test, so the program links and runs without libmpg.

/// Brackets the code of each request: a function from its entry to every exit,
/// a region from its begin to its ends and to returns between. Brackets
/// parallel regions of OpenMP that start in it as well, since each core has its
/// own L1 cache. A function also ends its ways when an exception leaves it; for
/// a region the end of an outer bracket does that. Returns whether \p module
/// changed.
bool bracketWays(Module &module, const HintRequests &requests);

/// What the calls become: functions of \p module that call libmpg if it is
/// linked. Null if the program uses the names for something else.
struct SectorCalls {
  Function *begin, *end;
  bool areThere() const { return begin && end; }
};
SectorCalls findSectorCalls(Module &module);

/// A struct mpg_ways: uint8_t l1[4], l2[2]. \p areShared: sector 0 may fill all
/// ways of L2, in place of those that sector 1 leaves.
GlobalVariable *waysConstant(Module &module, const Ways &ways,
                             bool areShared = false);

/// The OpenMP regions that start in \p request.
SmallSetVector<Function *, 4> parallelRegionsIn(const WaysRequest &request);

/// Makes \p request, for a whole function, begin where the function has its
/// arguments in its variables: numbers of ways can be read there.
void coverFunction(WaysRequest &request);

// Lines to zero ahead (LoopChoices.cpp)

/// The place of a hint in \p function, for a remark.
DebugLoc getLocation(const SourceLine &where, Function &function);

/// Marks the loops that \p requests are about. Returns whether \p module
/// changed.
bool markLoops(Module &module, HintRequests &requests,
               const PassOptions &options);

// The readers. In the code of a module: the annotations that the macros of
// <mpg/hints.h> leave, and the markers that MpgPragmas.so puts in the place of
// Fujitsu's pragmas (calls of llvm.annotation with a text in the same grammar);
// both are erased, because they keep loops from being vectorised. Beside it:
// for code that may not be edited, and for Fortran's !OCL lines, a YAML file
// that maps names of functions, arrays and variables to hints (docs/hints.md).

// Annotations and markers (AnnotationReader.cpp)

/// Adds what the annotations of \p module ask for to \p requests. A wrong one
/// is warned about with its line and left out. Returns whether \p module
/// changed.
bool readAnnotations(Module &module, HintRequests &requests);

/// The kind of variable at \p address: decided by its type or, if that is
/// unknown by now, by its uses. None: neither a pointer nor an array.
std::optional<HintRequest::Target> findTarget(Value *address);

/// Adds what the markers of \p module ask for to \p requests. Returns whether
/// \p module changed. Erase the markers with eraseMarkers when the requests
/// have been used: regions and ways are tied to them.
bool readMarkers(Module &module, HintRequests &requests);
void eraseMarkers(Module &module);

// Side files (SideFile.cpp)

/// Adds the requests of the file \p path about \p module to \p requests. Warns,
/// with the file's line, about errors in it and about names that \p module
/// lacks; the rest counts.
void readSideFile(Module &module, const std::string &path,
                  HintRequests &requests);

} // namespace mpg
