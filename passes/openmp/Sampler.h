// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a program's addresses, sizes and trip counts for made-up
// inputs. Every value that the module does not determine (an argument of the
// program, a number read from a file) gets a sample. Addresses are then
// computed as the program would: through calls, captured variables and fields
// of structures. Each object of memory has a separate range of addresses, so an
// address identifies the object and the offset in it.
//
// Why samples and not algebra: whether a loop over int i < n * m writes what
// malloc((size_t)n * m * 8) returned is an identity of polynomials, hidden
// under sign extensions, minima and divisions (collapsed loops). Two
// polynomials that agree for all sets of large samples are equal for our
// purpose: what is found here decides where pages lie and never what a program
// computes.

#pragma once

#include "base/LLVM.h"
#include "openmp/CallFrames.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PassManager.h"

namespace mpg {

/// How many sets of samples are compared. A number has one of 29 samples, and
/// lengths may differ by a sixteenth: two unrelated lengths agree in one set
/// with a probability of one in eleven, in all sets with one in 16,000.
inline constexpr unsigned sampleSets = 4;

/// Under which conditions something is evaluated.
struct EvalContext {
  const CallFrame *frame = nullptr; ///< the call path to the function
  const WorksharingLoop *sharing = nullptr;
  int64_t iteration = 0; ///< of the worksharing loop
  /// Iterations that other loops have done; 0 if not named.
  MapVector<const Loop *, int64_t> turns;
  unsigned seed = 0; ///< which set of samples
  /// Which of several arrays a pointer is taken for, if it may be either: two
  /// that are swapped after each step.
  unsigned alternative = 0;
};

/// The parts of a context that a value depends on, besides frame and seed.
/// Never too few; too many where loops share a bit, or where the search stopped
/// early.
class Dependence {
public:
  constexpr Dependence() = default;
  static const Dependence all, iteration, alternative;
  static constexpr Dependence ofLoop(unsigned number) {
    return Dependence(uint64_t(1) << (2 + number % 62));
  }

  void on(Dependence other) { bits |= other.bits; }
  bool isOn(Dependence other) const { return bits & other.bits; }
  /// Whether it is the same in all iterations and turns.
  bool isFixed() const;
  /// Whether it may depend on anything.
  bool isUnknown() const { return bits == ~uint64_t(0); }

private:
  constexpr explicit Dependence(uint64_t bits) : bits(bits) {}
  uint64_t bits = 0;
};

inline constexpr Dependence Dependence::all(~uint64_t(0));
inline constexpr Dependence Dependence::iteration(1);
inline constexpr Dependence Dependence::alternative(2);
inline bool Dependence::isFixed() const { return !(bits & ~alternative.bits); }

/// Sizes and distances stay so small that a few of them can be added; larger
/// objects are not arrays.
inline constexpr int64_t maxDistance = int64_t(1) << 60;

/// \p value, but at most maxDistance, in either direction.
int64_t bounded(int64_t value);
/// The product and the difference, bounded.
int64_t times(int64_t a, int64_t b);
int64_t distance(int64_t from, int64_t to);

/// A piece of memory: a call that allocates, a variable, or an unknown pointer.
struct MemoryObject {
  Value *origin;
  const CallFrame *frame; ///< the call path on which origin was reached
};

class Sampler {
public:
  /// Without \p followsMemory each load gives another sample: what a function
  /// does whatever it finds.
  Sampler(Module &module, FunctionAnalysisManager &analyses, CallFrames &frames,
          bool followsMemory = true);

  struct Sample {
    int64_t value;
    Dependence depends;
  };
  /// The sample of \p value, and the parts of \p context it depends on.
  Sample getSample(Value *value, const EvalContext &context);
  int64_t evaluate(Value *value, const EvalContext &context) {
    return getSample(value, context).value;
  }
  /// The same for an expression of \p function's loops.
  int64_t evaluate(const SCEV *expression, Function &function,
                   const EvalContext &context);
  /// Iterations of \p loop; nothing if that is not known before it runs.
  std::optional<int64_t> tripCount(const Loop &loop,
                                   const EvalContext &context);

  /// The bit of values that depend on the turns of \p loop.
  Dependence getBit(const Loop &loop);

  struct Place {
    const MemoryObject *object; ///< null: no address, or not seen whose
    int64_t offset;             ///< bytes from the object's start
  };
  Place getPlace(int64_t address) const;

  /// The objects that \p pointer may refer to: the n-th for the alternative n,
  /// at most maxAlternatives. Contexts for them differ in nothing else.
  SmallVector<const MemoryObject *, 4> findObjects(Value *pointer,
                                                   EvalContext context);
  static constexpr unsigned maxAlternatives = 4;

  /// Where pointers and numbers are stored: for each place the stores to it.
  struct Stored {
    Instruction *by; ///< a store, or a call that allocates through it
    const CallFrame *frame;
  };
  ArrayRef<Stored> storesTo(int64_t address) const;

  Module &module;
  FunctionAnalysisManager &analyses;
  CallFrames &frames;

private:
  /// By the number of the object and the offset in it.
  using Stores = DenseMap<std::pair<int64_t, int64_t>, SmallVector<Stored, 1>>;
  static std::pair<int64_t, int64_t> splitAddress(int64_t address);
  struct Evaluation; ///< of one value with all that it depends on
  int64_t getAddress(Value *origin, const CallFrame *frame);
  Value *returnedBy(Function &function);
  void collectStores(Module &module);
  void addStore(Instruction &by, Value *address, Stores &into);

  uint64_t stepsLeft = maxSteps; ///< so that no module takes for ever
  static constexpr uint64_t maxSteps = 60'000'000;
  /// Values that are the same in all contexts of one set of samples and one
  /// alternative.
  using Samples = DenseMap<std::pair<const void *, const CallFrame *>, Sample>;
  Samples fixed[sampleSets][maxAlternatives];
  Samples *samplesAtStart(const EvalContext &context);
  Samples atStart[sampleSets][maxAlternatives]; ///< of one worksharing loop
  const CallBase *started = nullptr;            ///< its init
  std::deque<MemoryObject> objects;
  DenseMap<Function *, Value *> returned;
  DenseMap<std::pair<Value *, const CallFrame *>, int64_t> bases;
  DenseMap<const Loop *, unsigned> loopNumbers;
  Stores stores;
};

// One evaluation (Evaluation.cpp)

struct Sampler::Evaluation {
  Evaluation(Sampler &sampler, const EvalContext &context);

  Sampler &sampler;
  const EvalContext &context;
  unsigned steps = 0;
  bool isCyclic = false; ///< the last value depends on itself
  Dependence depends;    ///< on what it does otherwise
  Samples &fixed;
  Samples *atStart;   ///< null if they are not kept
  Dependence changed; ///< what is not as at the start
  struct Partial {
    Sample sample;
    bool isDone; ///< or begun
  };
  SmallDenseMap<std::pair<const void *, const CallFrame *>, Partial, 16> open;

  /// Counts one step; whether there were too many.
  bool isOver();
  int64_t value(Value *value, const CallFrame *frame);
  int64_t scev(const SCEV *expression, Function &function,
               const CallFrame *frame);

private:
  int64_t compute(Value *value, const CallFrame *frame);
  int64_t constant(const Constant &constant, const CallFrame *frame);
  int64_t argument(Argument &argument, const CallFrame *frame);
  int64_t load(LoadInst &load, const CallFrame *frame);
  int64_t phi(PHINode &phi, const CallFrame *frame);
  int64_t call(CallBase &call, const CallFrame *frame);
  int64_t operation(Instruction &instruction, const CallFrame *frame);
  int64_t opaque(Instruction &instruction, const CallFrame *frame);
  int64_t choose(ArrayRef<int64_t> values, bool isPointer, uint64_t turns,
                 uint64_t where);
  std::optional<int64_t> add(Value *value, const CallFrame *frame);
  int64_t scevOperands(const SCEVNAryExpr &expression, Function &function,
                       const CallFrame *frame);
  int64_t evaluateCast(const SCEVCastExpr &cast, Function &function,
                       const CallFrame *frame);
  int64_t use(const Sample &sample) {
    depends.on(sample.depends);
    return sample.value;
  }
  uint64_t identity(const Value *value);
  uint64_t seed(const Value *value, const CallFrame *frame);
  void dependOnLoopsAround(const Instruction &instruction);
  uint64_t addTurns(uint64_t hash, const Instruction &instruction);
};

} // namespace mpg
