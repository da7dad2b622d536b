// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pragmas of one function: pairs begins and ends, finds the variables that
// they name, and puts the markers into the body. See SectorRegions.h.

#pragma once

#include "BodyMap.h"
#include "PragmaLine.h"
#include "SectorMarkers.h"

namespace mpg {

class BodyRegions {
public:
  /// \p regionCount: regions of the file so far; each has a number.
  BodyRegions(clang::Sema &sema, clang::FunctionDecl &function,
              PragmaWarnings &warnings, unsigned &regionCount);

  /// \p uses: the pragmas of the function, in the order of the source.
  void handle(llvm::ArrayRef<PragmaUse *> uses);

private:
  struct Region {
    PragmaUse *begin, *end; ///< without an end: the whole function
    Place from, to;
    unsigned number, order, endOrder;
  };
  /// Ways of one level: a number, or a variable that holds it.
  struct Ways {
    std::optional<int> number;
    clang::Expr *variable = nullptr;
  };

  void begin(PragmaUse &use);
  void end(PragmaUse &use);
  void procedure(PragmaUse &use);
  void loop(PragmaUse &use);
  bool findEnd(Region &region);
  void complete(const Region &region);
  void addNames(const Region &region);
  std::string addName(const Region &region, const VariableName &name);
  void addWays(const Region &region);
  std::optional<Ways> computeWays(const Region &region,
                                  const std::optional<LevelWays> &level,
                                  int limit, llvm::StringRef cache,
                                  std::string &complaint);
  std::optional<Ways> evaluate(const Region &region, const WayCount &count);
  clang::Expr *find(const Region &region, const VariableName &name);
  clang::NamedDecl *lookup(const VariableName &name);
  void insert(const Place &place, unsigned order, clang::Stmt *statement);
  std::string marker(const Region &region, llvm::StringRef kind,
                     llvm::StringRef text) const;

  clang::Sema &sema;
  clang::FunctionDecl &function;
  PragmaWarnings &warnings;
  unsigned &regionCount;
  BodyMap map;
  SectorMarkers markers;
  bool isEmitted; ///< for this target; else only checked
  bool isPattern; ///< of a template: its names have no types yet
  llvm::SmallVector<Region, 4> open;
  PragmaUse *procedureWays = nullptr;
  unsigned order = 0; ///< of the pragma that is being handled
};

} // namespace mpg
