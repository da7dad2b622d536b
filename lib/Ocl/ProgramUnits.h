// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows the program units of a Fortran source statement by statement: which
// procedure we are in, what it is called in the object file, and whether its
// executable part has begun.
//
// Statements are recognised by their first words, as in a compiler without a
// symbol table. The names are those of flang (`_QMmodPproc`, `proc_`), which
// the tests compare with flang itself.

#ifndef MPG_OCL_PROGRAMUNITS_H
#define MPG_OCL_PROGRAMUNITS_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace mpg {

/// A procedure or main program with a body.
struct Procedure {
  /// In the object file; the first one is the procedure's own, the others come
  /// from ENTRY.
  struct Name {
    std::string linkage;
    unsigned line;
  };
  std::vector<Name> names;
  bool isExecutable = false; ///< the statements so far include executable ones
};

class ProgramUnits {
public:
  ProgramUnits(bool fixedForm, bool underscoring)
      : fixedForm(fixedForm), underscoring(underscoring) {}

  /// \p text is a whole statement without comments, as it is written.
  void addStatement(llvm::StringRef text, unsigned line);

  /// The procedure in whose body the next line stands; null elsewhere.
  Procedure *current() const;

  /// All so far, in the order in which they begin; they stay where they are.
  const std::vector<std::unique_ptr<Procedure>> &procedures() const {
    return all;
  }

private:
  enum class Kind { module, submodule, procedure, blockData };
  struct Unit {
    Kind kind;
    std::string scope; ///< how the names of what is in it begin, as _QMmod
    Procedure *procedure = nullptr;
    bool hasContains = false;
  };
  class Cursor;

  bool mayBegin() const;
  bool skipBlocks(Cursor &cursor);
  bool endUnit(Cursor &cursor);
  bool beginUnit(Cursor &cursor, unsigned line);
  bool beginModule(Cursor &cursor);
  bool beginProcedure(Cursor &cursor, unsigned line);
  void beginMain(unsigned line);
  void addEntry(Cursor &cursor, unsigned line);
  void push(Kind kind, std::string scope);
  void pushProcedure(const std::string &name, const std::string &bindName,
                     bool isSeparate, unsigned line);

  const bool fixedForm, underscoring;
  std::vector<Unit> open;
  std::vector<std::unique_ptr<Procedure>> all;
  bool inInterface = false, inType = false;
};

} // namespace mpg

#endif // MPG_OCL_PROGRAMUNITS_H
