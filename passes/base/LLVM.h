// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's names, as the headers of the passes write them: without `llvm::`, as
// clang/Basic/LLVM.h does for clang. The classes are declared once here. A file
// that looks into one includes its header.

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class AAResults;
class AllocaInst;
class Argument;
class BasicBlock;
class CallBase;
class Constant;
class DIExpression;
class DataLayout;
class DbgVariableRecord;
class DominatorTree;
class Function;
class GlobalVariable;
class IRBuilderBase;
class Instruction;
class IntegerType;
class IntrinsicInst;
class Loop;
class LoopInfo;
class MemSetInst;
class Module;
class OptimizationRemarkMissed;
class PHINode;
class PassInstrumentationCallbacks;
class SCEV;
class SCEVAddRecExpr;
class SCEVExpander;
class SCEVNAryExpr;
class SCEVPredicate;
class ScalarEvolution;
class StoreInst;
class TargetLibraryInfo;
class Type;
class Value;
} // namespace llvm

namespace mpg {
using namespace llvm;
} // namespace mpg
