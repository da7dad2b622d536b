// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramUnits.h. In fixed form blanks mean nothing, so statements are
// looked at without them; in free form a blank ends a word, which the cursor
// remembers.

#include "Ocl/ProgramUnits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace mpg;

/// A place in a statement without blanks and in lower case; character literals
/// stay as they are.
class ProgramUnits::Cursor {
public:
  Cursor(StringRef statement, bool fixedForm);

  /// Goes after \p word if it is next.
  bool eat(StringRef word);
  /// The same, also within a word.
  bool eatLetters(StringRef letters);
  bool eatAny(ArrayRef<StringRef> words);
  /// The name that is next; "" if there is none.
  std::string eatName();
  void eatDigits() { at += rest().take_while(isDigit).size(); }
  /// Goes after a parenthesis and its partner.
  bool eatParentheses();
  bool isAtEnd() const { return at == text.size(); }
  bool isAt(char c) const { return at < text.size() && text[at] == c; }
  /// Whether this is `name(...)%name... = `, or with =>.
  bool isAssignment() const;
  StringRef rest() const { return StringRef(text).substr(at); }

private:
  std::string text;
  std::vector<bool> endsWord; ///< a blank stood in front of the character
  size_t at = 0;
  bool fixedForm;
};

ProgramUnits::Cursor::Cursor(StringRef statement, bool fixedForm)
    : fixedForm(fixedForm) {
  char quote = 0;
  bool blank = false;
  for (char c : statement) {
    if (!quote && isSpace(c)) {
      blank = true;
      continue;
    }
    if (quote)
      quote = c == quote ? 0 : quote;
    else if (c == '\'' || c == '"')
      quote = c;
    text += quote ? c : toLower(c);
    endsWord.push_back(blank && !fixedForm);
    blank = false;
  }
  if (!fixedForm)
    eatDigits(); // the label
}

bool ProgramUnits::Cursor::eat(StringRef word) {
  if (!rest().starts_with(word))
    return false;
  size_t end = at + word.size();
  if (!fixedForm && isWordCharacter(word.back()) && end < text.size() &&
      isWordCharacter(text[end]) && !endsWord[end])
    return false;
  at = end;
  return true;
}

bool ProgramUnits::Cursor::eatLetters(StringRef letters) {
  bool found = rest().starts_with(letters);
  at += found ? letters.size() : 0;
  return found;
}

bool ProgramUnits::Cursor::eatAny(ArrayRef<StringRef> words) {
  return any_of(words, [&](StringRef word) { return eat(word); });
}

std::string ProgramUnits::Cursor::eatName() {
  size_t start = at;
  if (isAtEnd() || !isAlpha(text[at]))
    return "";
  do
    ++at;
  while (at < text.size() && isWordCharacter(text[at]) && !endsWord[at]);
  return text.substr(start, at - start);
}

bool ProgramUnits::Cursor::eatParentheses() {
  if (!isAt('('))
    return false;
  StringRef inside = rest().drop_front();
  size_t end = findOutside(inside, ")");
  bool isClosed = end < inside.size();
  at += 1 + end + isClosed;
  return isClosed;
}

bool ProgramUnits::Cursor::isAssignment() const {
  Cursor copy = *this;
  do {
    if (copy.eatName().empty())
      return false;
    while (copy.eatParentheses())
      ;
  } while (copy.eat("%"));
  return copy.rest().starts_with("=") && !copy.rest().starts_with("==");
}

/// The statements that come before the executable ones, by their first words.
static const StringRef specifications[] = {
    "use",          "import",    "implicit",     "parameter", "integer",
    "real",         "double",    "complex",      "logical",   "character",
    "byte",         "type",      "class",        "procedure", "dimension",
    "allocatable",  "pointer",   "target",       "save",      "common",
    "equivalence",  "data",      "external",     "intrinsic", "intent",
    "optional",     "volatile",  "value",        "bind",      "enum",
    "enumerator",   "private",   "public",       "protected", "sequence",
    "asynchronous", "namelist",  "format",       "include",   "contiguous",
    "codimension",  "structure", "record",       "union",     "map",
    "endenum",      "automatic", "endstructure", "endunion",  "endmap",
    "static",       "generic",
};

bool ProgramUnits::mayBegin() const {
  return open.empty() || open.back().hasContains;
}

Procedure *ProgramUnits::current() const {
  if (open.empty() || inInterface || inType || open.back().hasContains)
    return nullptr;
  return open.back().procedure;
}

/// Interfaces and types have statements that look like those of procedures.
bool ProgramUnits::skipBlocks(Cursor &cursor) {
  if (inInterface || inType) {
    if (cursor.eatLetters("end") &&
        cursor.eat(inInterface ? "interface" : "type"))
      inInterface = inType = false;
    return true;
  }
  Cursor word = cursor;
  word.eat("abstract");
  if (word.eat("interface")) {
    inInterface = true;
    return true;
  }
  word = cursor;
  // type(name) declares variables, and type is(...) chooses one.
  if (!word.eat("type") || word.isAt('('))
    return false;
  Cursor guard = word;
  if (guard.eat("is") && guard.isAt('('))
    return false;
  inType = true;
  return true;
}

bool ProgramUnits::endUnit(Cursor &cursor) {
  Cursor word = cursor;
  if (!word.eatLetters("end"))
    return false;
  // Other forms, as `end do`, end parts of the body.
  if (!word.isAtEnd() &&
      !word.eatAny({"program", "module", "submodule", "subroutine", "function",
                    "procedure", "blockdata"}))
    return false;
  if (open.empty())
    return true;
  const Unit &unit = open.back();
  if (unit.kind == Kind::module)
    modules[StringRef(unit.scope).drop_front(strlen("_QM"))] = unit.constants;
  open.pop_back();
  return true;
}

void ProgramUnits::push(Kind kind, std::string scope) {
  Constants seen = constants();
  open.push_back({kind, std::move(scope), std::move(seen), nullptr, false});
}

/// Names of arguments hide constants of the units around.
void ProgramUnits::addDummies(StringRef list) {
  while (!list.empty()) {
    StringRef name = list.take_while(isWordCharacter);
    if (!name.empty())
      open.back().constants[name] = std::nullopt;
    list = list.drop_front(std::max<size_t>(name.size(), 1));
  }
}

bool ProgramUnits::beginModule(Cursor &cursor) {
  Cursor word = cursor;
  if (word.eat("submodule") && word.eat("(")) {
    std::string module = word.eatName(), scope = "_QM" + module;
    if (word.eat(":"))
      scope += "S" + word.eatName();
    word.eat(")");
    push(Kind::submodule, scope + "S" + word.eatName());
    open.back().constants = modules.lookup(module);
    return true;
  }
  word = cursor;
  if (!word.eat("module"))
    return false;
  push(Kind::module, "_QM" + word.eatName());
  return true;
}

void ProgramUnits::beginMain(unsigned line) {
  push(Kind::procedure, "_QF");
  all.push_back(std::make_unique<Procedure>());
  all.back()->names.push_back({"_QQmain", line});
  open.back().procedure = all.back().get();
}

/// How a separate procedure of a submodule is named: as one of the module.
static StringRef getModule(StringRef scope) {
  // The names are in lower case, so this S begins a submodule.
  return scope.take_front(scope.find('S'));
}

void ProgramUnits::pushProcedure(const std::string &name,
                                 const std::string &bindName, bool isSeparate,
                                 unsigned line) {
  auto procedure = std::make_unique<Procedure>();
  std::string linkage, scope;
  if (open.empty()) {
    linkage = name + (underscoring ? "_" : "");
    scope = "_QF" + name;
  } else {
    StringRef outer = open.back().scope;
    linkage = ((isSeparate ? getModule(outer) : outer) + "P" + name).str();
    scope = (outer + "F" + name).str();
  }
  bool isInternal = !open.empty() && open.back().procedure;
  if (!bindName.empty() && !isInternal)
    linkage = bindName;
  procedure->names.push_back({linkage, line});
  push(Kind::procedure, scope);
  open.back().procedure = procedure.get();
  all.push_back(std::move(procedure));
}

/// The name that bind(c, name="...") gives to the procedure \p name; "" without
/// a bind. \p suffix is the text after the arguments.
static std::string parseBindName(StringRef suffix, StringRef name) {
  size_t bind = suffix.find("bind(c");
  if (bind == StringRef::npos)
    return "";
  suffix = suffix.substr(bind + strlen("bind(c"));
  if (!suffix.consume_front(",name="))
    return name.str();
  char quote = suffix.empty() ? 0 : suffix.front();
  if (quote != '\'' && quote != '"')
    return name.str();
  suffix = suffix.drop_front();
  StringRef literal = suffix.take_front(suffix.find(quote)).trim();
  // flang takes names of C alone; "" stands for the own one.
  bool isName = !literal.empty() && all_of(literal, isWordCharacter);
  return (isName ? literal : name).str();
}

bool ProgramUnits::beginProcedure(Cursor &cursor, unsigned line) {
  Cursor word = cursor;
  bool isSeparate = false;
  if (!open.empty() && word.eat("moduleprocedure")) {
    pushProcedure(word.eatName(), "", true, line);
    return true;
  }
  bool isSubroutine = false, isFunction = false;
  // Prefixes, in any order; a type may have a kind.
  for (;;) {
    isSubroutine = word.eat("subroutine");
    isFunction = !isSubroutine && word.eat("function");
    if (isSubroutine || isFunction)
      break;
    if (word.eatAny({"recursive", "non_recursive", "pure", "elemental",
                     "impure", "simple"}))
      continue;
    // Outside of everything it begins a module, whatever its name.
    if (!open.empty() && word.eat("module")) {
      isSeparate = true;
      continue;
    }
    if (!word.eatAny({"integer", "real", "doubleprecision", "double",
                      "precision", "complex", "logical", "character", "byte",
                      "type", "class", "attributes"}))
      return false;
    while (word.eat("*"))
      if (!word.eatParentheses())
        word.eatDigits();
    word.eatParentheses();
  }
  std::string name = word.eatName();
  // A function has parentheses; without them it is a variable's name.
  if (name.empty() || (isFunction && !word.isAt('(')))
    return false;
  StringRef dummies = word.rest();
  word.eatParentheses();
  dummies = dummies.drop_back(word.rest().size());
  pushProcedure(name, parseBindName(word.rest(), name), isSeparate, line);
  addDummies(dummies);
  return true;
}

bool ProgramUnits::beginUnit(Cursor &cursor, unsigned line) {
  if (!mayBegin())
    return false;
  if (beginProcedure(cursor, line))
    return true;
  if (!open.empty())
    return false;
  Cursor word = cursor;
  if (word.eat("program")) {
    beginMain(line);
    return true;
  }
  if (word.eat("blockdata") || (word.eat("block") && word.eat("data"))) {
    push(Kind::blockData, "");
    return true;
  }
  return beginModule(cursor);
}

void ProgramUnits::addEntry(Cursor &cursor, unsigned line) {
  Cursor word = cursor;
  std::string name = word.eatName();
  if (name.empty())
    return;
  word.eatParentheses();
  std::string bindName = parseBindName(word.rest(), name);
  if (!bindName.empty())
    name = bindName;
  else if (open.size() > 1)
    name = open[open.size() - 2].scope + "P" + name;
  else if (underscoring)
    name += "_";
  open.back().procedure->names.push_back({name, line});
}

void ProgramUnits::addStatement(StringRef text, unsigned line) {
  Cursor cursor(text, fixedForm);
  if (cursor.isAtEnd())
    return;
  bool isAssignment = cursor.isAssignment();
  if (!isAssignment) {
    if (skipBlocks(cursor))
      return;
    if (beginUnit(cursor, line) || endUnit(cursor))
      return;
    Cursor word = cursor;
    if (!open.empty() && word.eat("contains") && word.isAtEnd()) {
      open.back().hasContains = true;
      return;
    }
  }
  // A main program may begin without a statement that says so.
  if (open.empty())
    beginMain(line);
  Procedure *procedure = open.back().procedure;
  Cursor word = cursor;
  if (!isAssignment && !open.back().hasContains)
    addDeclarations(cursor.rest(), modules, open.back().constants);
  if (!procedure || open.back().hasContains)
    return;
  if (!isAssignment && word.eat("entry"))
    addEntry(word, line);
  else if (isAssignment || !word.eatAny(specifications))
    procedure->isExecutable = true;
}
