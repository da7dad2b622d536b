// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of an array each iteration of a worksharing loop works on. From
// that and the schedule follows on which thread's node its pages should lie.

#pragma once

#include "base/LLVM.h"
#include "openmp/Sampler.h"
#include <array>
#include <map>

namespace mpg {

enum class UseShape {
  parts,     ///< iteration i works on the i-th part
  backward,  ///< on the i-th part from the end
  rows,      ///< on the i-th part of a row; on another row when it runs again
  scattered, ///< on bytes all over the array
  shared,    ///< on what all others work on
  irregular  ///< by an index that is read from memory, or not understood
};

/// Bytes, for one set of samples.
struct UseFigures {
  int64_t first = 0;      ///< offset in the array of iteration 0
  int64_t step = 0;       ///< from one iteration to the next
  int64_t extent = 0;     ///< that one iteration works on
  int64_t iterations = 0; ///< 0 if not known
  int64_t rowStep = 0;    ///< UseShape::rows: from one row to the next
};

struct ParallelUse {
  Instruction *at = nullptr;
  bool isWrite = false;
  const MemoryObject *object = nullptr;
  unsigned alternative = 0;         ///< see EvalContext
  const CallFrame *frame = nullptr; ///< the call path by which it is reached
  const ParallelRegion *region = nullptr;
  const WorksharingLoop *sharing = nullptr;
  UseShape shape = UseShape::irregular;
  bool isGather = false; ///< irregular: the index is read from memory
  bool isRow = false;    ///< irregular: from where a number in memory says, on
  UseFigures figures[sampleSets];
  unsigned weight = 1; ///< 10 to the power of the loops around it

  /// Bytes per iteration, and of all iterations, if they are the same number
  /// for all samples.
  std::optional<int64_t> constantStep() const;
  std::optional<int64_t> constantRow() const;
};

/// An access through a pointer that is kept in memory: in a member of a class,
/// or in a variable.
struct MemberUse {
  ParallelUse use; ///< without object, and without a shape
  Value *pointer;
  LoadInst *load;             ///< of the kept pointer
  const MemoryObject *holder; ///< where that is kept
  int64_t offset;
};

class ParallelUses {
public:
  ParallelUses(ArrayRef<ParallelRegion> regions, Sampler &sampler);

  std::vector<ParallelUse> uses;
  std::vector<MemberUse> members;
  /// Finds the shape of \p use, of an access by \p pointer.
  void findShape(ParallelUse &use, Value *pointer) const;
  /// Bytes of the largest array that the iterations of \p sharing divide among
  /// them; 0 if there is none.
  int64_t bytesInParts(const WorksharingLoop &sharing, unsigned seed) const;

  /// Whether code that each thread of a team runs, outside of worksharing
  /// loops, may write to the memory of \p object.
  bool isWrittenByTeams(const MemoryObject &object) const;
  /// The same, always before \p at, reached by \p frame.
  bool isWrittenByTeamsBefore(const MemoryObject &object, const Instruction &at,
                              const CallFrame *frame) const;

private:
  using Sharings = SmallVector<WorksharingLoop, 4>;
  void addTeamCode(Function &function, const ParallelRegion &region,
                   const CallFrame *path, unsigned depth);
  void addCode(Function &function, const ParallelUse &around, unsigned depth);
  void addInstruction(Instruction &at, const ParallelUse &around,
                      unsigned depth);
  void addAccess(Instruction &at, Value *pointer, bool isWrite,
                 const ParallelUse &around);

  void addMember(Instruction &at, Value *pointer, bool isWrite,
                 const ParallelUse &around);
  void addTeamWrite(Instruction &at, const CallFrame *path);
  void addPart(const ParallelUse &use);
  bool isOnce(const ParallelUse &use);

  Sampler &sampler;
  struct TeamWrite {
    Instruction *at;
    Value *pointer;
    const CallFrame *path;
  };
  bool isTo(const TeamWrite &write, const MemoryObject &object) const;
  std::vector<TeamWrite> teamWrites;
  DenseMap<const WorksharingLoop *, std::array<int64_t, sampleSets>> partBytes;
  DenseMap<std::pair<const WorksharingLoop *, const CallFrame *>, bool> once;
  const Sharings &getSharings(Function &function);
  std::map<Function *, Sharings> known;
};

/// Whether pages of \p object can still be placed when the program starts to
/// use it: it is allocated here, or it is a large array in .bss.
bool isPlaceable(const MemoryObject &object);

/// A known size below this gets no remark: it is not worth a team of threads.
inline constexpr int64_t minPlacedBytes = 4 << 20;

} // namespace mpg
