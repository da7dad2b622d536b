// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OclReader.h. Ends are matched with their beginnings when the whole file
// is read: only then it is known which directive has none.

#include "Ocl/OclReader.h"
#include "Ocl/ProgramUnits.h"
#include "Support/Format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <tuple>

using namespace llvm;
using namespace mpg;

namespace {

struct Word {
  StringRef name, kind, fortran;
};

} // namespace

static Word findWord(StringRef name) {
  static const Word words[] = {
#define MPG_OCL_WORD(word, kind, fortran, c) {word, #kind, fortran},
#include "Ocl/OclWords.def"
  };
  for (const Word &word : words)
    if (name.equals_insensitive(word.name))
      return word;
  return {name, "unknown", ""};
}

/// Why flang's directive is not the same as \p name with \p arguments; null if
/// it is.
static const char *whyUnequal(StringRef name, StringRef arguments) {
  if (name == "NORECURRENCE" || name == "NOVREC")
    return arguments.empty()
               ? nullptr
               : "flang has nothing for some arrays; '!DIR$ IVDEP' frees all "
                 "arrays of the loop, and changes results if another recurs";
  if (name != "PREFETCH_READ")
    return nullptr;
  std::string plain = arguments.lower();
  erase_if(plain, isSpace);
  if (StringRef(plain).contains("level=2"))
    return "flang prefetches into L1 only ('!DIR$ PREFETCH')";
  if (StringRef(plain).contains("strong=0"))
    return "flang's prefetches ('!DIR$ PREFETCH') are strong; give the array "
           "the hint weak_swpf in a side file (docs/hints.md)";
  return nullptr;
}

/// flang's directive in \p text of the table, with a number in \p arguments.
static std::string flangWords(StringRef text, StringRef arguments) {
  std::string words =
      text.take_until([](char c) { return strchr(",;", c); }).str();
  if (!StringRef(words).ends_with(" n"))
    return words;
  bool isNumber = !arguments.empty() && all_of(arguments, isDigit);
  words.resize(words.size() - 2);
  return isNumber ? words + " " + arguments.str() : words;
}

/// The remark about the directive \p other, and its kind.
static std::pair<std::string, OclSeverity>
otherDirectiveRemark(const OclOther &other) {
  std::string name = StringRef(other.name).upper();
  StringRef arguments = StringRef(other.arguments).trim();
  auto [known, kind, fortran] = findWord(name);
  if (kind == "unknown")
    return {name + " has no effect: mpg-ocl does not know it",
            OclSeverity::noEffect};
  if (kind == "byDefault")
    return {name + " holds without it: " + fortran.str(), OclSeverity::end};
  if (kind == "older")
    return {name +
                " has no effect; it is for the SPARC processors of K and "
                "FX10: " +
                fortran.str(),
            OclSeverity::noEffect};
  const char *unequal = whyUnequal(name, arguments);
  if (kind != "equivalent" || unequal)
    return {name + " has no effect: " + (unequal ? unequal : fortran.str()),
            OclSeverity::noEffect};
  return {name + " has no effect; '" + flangWords(fortran, arguments) +
              "' asks flang for the same",
          OclSeverity::noEffect};
}

namespace {

/// A directive where it stands.
struct Placed {
  OclDirective directive;
  const Procedure *procedure;
  SourcePlace place;
  unsigned line;        ///< the last one of the directive
  bool isFirst;         ///< in front of all executable statements
  unsigned endLine = 0; ///< of the end that belongs to it; 0: none
  SourcePlace endPlace = {0, 0};
};

class Reader {
public:
  Reader(const SourceText &source, const FortranOptions &options,
         StringRef whyUseless)
      : source(source), whyUseless(whyUseless),
        units(options.fixedForm, options.underscoring) {}

  void add(const FortranLine &line);
  OclResult finish();

private:
  void addOcl(const FortranLine &line);
  void endLoopDirectives(unsigned line);
  void warn(SourcePlace place, const Twine &text);
  void remark(SourcePlace place, const Twine &text, OclSeverity severity);
  std::string lineText(unsigned line) const;
  void matchEnds(MutableArrayRef<Placed> directives);
  void checkNesting(MutableArrayRef<Placed> directives);
  void emitEnd(const Placed &begin);
  void emit(const Placed &placed);
  unsigned firstLine(unsigned line);
  unsigned findLoopDirective(unsigned line) const;
  void setLines(OclHint &hint, unsigned first, unsigned last) const;

  const SourceText &source;
  const StringRef whyUseless;
  ProgramUnits units;
  /// Of each line from 0 on, as far as it was asked for: findLoopDirective().
  std::vector<unsigned> loopDirectives;
  /// Of each procedure, in the order of the source.
  DenseMap<const Procedure *, std::vector<Placed>> directives;
  OclResult result;
};

} // namespace

void Reader::warn(SourcePlace place, const Twine &text) {
  result.diagnostics.push_back({place, text.str()});
}

void Reader::remark(SourcePlace place, const Twine &text,
                    OclSeverity severity) {
  result.diagnostics.push_back({place, text.str(), severity});
}

/// "line 12", with its file if it is not the source itself.
std::string Reader::lineText(unsigned line) const {
  LinePlace place = source.lines[line - 1].place;
  return ("line " + Twine(place.line) +
          (place.file ? " of " + source.files[place.file] : ""))
      .str();
}

void Reader::addOcl(const FortranLine &line) {
  OclLine parsed = parseOclLine(line.text, units.constants());
  for (const OclProblem &problem : parsed.problems) {
    // After the last character: something is missing there.
    SourcePlace place =
        line.places[std::min(problem.offset, line.places.size() - 1)];
    if (problem.offset >= line.places.size())
      ++place.column;
    warn(place, problem.text);
  }
  for (const OclOther &other : parsed.others) {
    auto [text, severity] = otherDirectiveRemark(other);
    remark(line.places[other.offset], text, severity);
  }
  for (OclDirective &directive : parsed.directives) {
    SourcePlace place = line.places[directive.offset];
    const Procedure *procedure = units.current();
    if (!procedure) {
      if (!directive.isWrong)
        warn(place, (directive.isEnd ? oclEndName(directive.form)
                                     : oclName(directive.form)) +
                        " is outside of procedures and is ignored; write it "
                        "between the declarations and the end of one");
      continue;
    }
    directives[procedure].push_back({std::move(directive), procedure, place,
                                     line.lastLine(),
                                     !procedure->isExecutable});
  }
}

void Reader::add(const FortranLine &line) {
  if (line.isOcl)
    return addOcl(line);
  endLoopDirectives(line.lastLine());
  units.addStatement(line.text, line.firstLine());
}

/// Those in front of the statement that ends in \p line are about its loop.
void Reader::endLoopDirectives(unsigned line) {
  auto found = directives.find(units.current());
  if (found == directives.end())
    return;
  for (Placed &placed : reverse(found->second)) {
    if (!isAboutLoop(placed.directive.form) || placed.endLine)
      break;
    placed.endLine = line;
  }
}

/// Gives each directive its end; \p directives are those of one procedure.
void Reader::matchEnds(MutableArrayRef<Placed> directives) {
  std::vector<Placed *> open;
  for (Placed &placed : directives) {
    if (isAboutLoop(placed.directive.form))
      continue;
    if (!placed.directive.isEnd) {
      open.push_back(&placed);
      continue;
    }
    OclForm form = placed.directive.form;
    auto begin = find_if(reverse(open), [&](const Placed *candidate) {
      return candidate->directive.form == form;
    });
    if (begin == open.rend()) {
      warn(placed.place, oclEndName(form) + " has no " + oclName(form) +
                             " before it in this procedure; it is ignored");
      continue;
    }
    (*begin)->endLine = placed.line;
    (*begin)->endPlace = placed.place;
    open.erase(std::next(begin).base());
  }
  for (Placed *placed : open) {
    if (placed->isFirst || placed->directive.isWrong)
      continue;
    OclForm form = placed->directive.form;
    placed->directive.isWrong = true;
    warn(placed->place,
         oclName(form) + " has no " + oclEndName(form) +
             " after it in this procedure; it is ignored. For the whole "
             "procedure it precedes the first executable statement");
  }
}

/// Regions of one kind may not overlap, and a procedure has one set of ways.
void Reader::checkNesting(MutableArrayRef<Placed> directives) {
  for (size_t i = 0; i < directives.size(); ++i) {
    Placed &inner = directives[i];
    if (inner.directive.isEnd || inner.directive.isWrong ||
        isAboutLoop(inner.directive.form))
      continue;
    for (const Placed &outer : directives.take_front(i)) {
      bool isOther = outer.directive.isEnd || outer.directive.isWrong ||
                     isAboutLoop(outer.directive.form) ||
                     namesArrays(outer.directive.form) !=
                         namesArrays(inner.directive.form);
      bool bothWhole = outer.endLine == 0 && inner.endLine == 0 &&
                       !namesArrays(inner.directive.form);
      if (isOther || (!bothWhole && outer.endLine <= inner.place.line))
        continue;
      inner.directive.isWrong = true;
      warn(inner.place,
           oclName(inner.directive.form) +
               (bothWhole ? " for the whole procedure is already there in "
                          : " stands within the region that begins in ") +
               lineText(outer.place.line) + "; the inner one is ignored");
      break;
    }
  }
}

static std::string waysText(const OclDirective &directive) {
  auto numberText = [](const OclWays &ways) {
    return ways.variable.empty() ? utostr(ways.number) : ways.variable;
  };
  std::string text = "ways:";
  if (directive.l2Ways)
    text += "l2=" + numberText(*directive.l2Ways);
  if (directive.l1Ways)
    text += (directive.l2Ways ? ",l1=" : "l1=") + numberText(*directive.l1Ways);
  return text;
}

static std::string loopText(const OclDirective &directive) {
  switch (directive.form) {
  case OclForm::prefetch:
  case OclForm::prefetchSequential:
    return "loop:prefetch=on";
  case OclForm::noPrefetch:
    return "loop:prefetch=off";
  case OclForm::prefetchLine:
    return "loop:prefetch-line=" + utostr(directive.lines);
  case OclForm::prefetchLineL2:
    return "loop:prefetch-line-l2=" + utostr(directive.lines);
  default:
    return "loop:zfill=" +
           (directive.lines ? utostr(directive.lines) : std::string("off"));
  }
}

/// The lines from the directive \p first to its end \p last, as debug
/// information has them: where line markers lead to other files, in parts.
void Reader::setLines(OclHint &hint, unsigned first, unsigned last) const {
  unsigned file = 0;
  for (const TextLine &line :
       ArrayRef(source.lines).slice(first - 1, last - first + 1)) {
    hint.hasIncluded |= line.isIncluded;
    unsigned number = line.mainLine;
    if (hint.lines.empty() || number < hint.lines.back().second ||
        (!line.isIncluded && line.place.file != file))
      hint.lines.push_back({number, number});
    hint.lines.back().second = number;
    if (!line.isIncluded)
      file = line.place.file;
  }
}

/// The line after an OpenMP sentinel; "" if \p line has none.
static StringRef afterSentinel(StringRef line) {
  line = line.ltrim();
  for (StringRef sentinel : {"!$omp", "c$omp", "*$omp"})
    if (line.consume_front_insensitive(sentinel))
      return line;
  return "";
}

/// Whether \p directive, without its sentinel, is about the loop after it.
static bool isLoopDirective(StringRef directive) {
  SmallVector<StringRef, 8> words;
  SplitString(directive, words, " \t(,");
  return !words.empty() && !words[0].equals_insensitive("end") &&
         any_of(words, [](StringRef word) {
           return hasWord("do simd loop taskloop distribute", word.lower());
         });
}

/// Where a region that begins in \p line begins for flang: in front of an
/// OpenMP directive of a loop, if nothing but comments is between.
unsigned Reader::firstLine(unsigned line) {
  while (loopDirectives.size() <= line)
    loopDirectives.push_back(
        findLoopDirective(unsigned(loopDirectives.size())));
  return loopDirectives[line] ? loopDirectives[line] : line;
}

/// The line of the directive in front of \p line; 0: there is none. pre: known
/// for all lines before.
unsigned Reader::findLoopDirective(unsigned line) const {
  if (line < 2)
    return 0;
  unsigned before = line - 1;
  StringRef text = source.lines[before - 1].text;
  StringRef directive = afterSentinel(text);
  if (isLoopDirective(directive))
    return before;
  bool isComment = text.trim().empty() || text.ltrim().starts_with("!") ||
                   (source.fixedForm && StringRef("cC*").contains(text[0]));
  bool isOther = !directive.empty() && !directive.starts_with("&");
  return isComment && !isOther ? loopDirectives[before] : 0;
}

/// Writes the end of \p begin, if it has one.
void Reader::emitEnd(const Placed &begin) {
  if (!begin.endLine || isAboutLoop(begin.directive.form))
    return;
  std::string ofBegin = (" the " + oclName(begin.directive.form) + " in " +
                         lineText(begin.place.line))
                            .str();
  StringRef name = oclEndName(begin.directive.form);
  if (begin.directive.isWrong)
    remark(begin.endPlace, name + " is ignored with" + ofBegin,
           OclSeverity::noEffect);
  else if (whyUseless.empty())
    remark(begin.endPlace, name + " ends" + ofBegin, OclSeverity::end);
  else
    remark(begin.endPlace, name + " has no effect " + whyUseless,
           OclSeverity::noEffect);
}

void Reader::emit(const Placed &placed) {
  const OclDirective &directive = placed.directive;
  if (directive.isEnd)
    return;
  emitEnd(placed);
  if (directive.isWrong)
    return;
  if (!whyUseless.empty())
    return remark(placed.place,
                  oclName(directive.form) + " has no effect " + whyUseless,
                  OclSeverity::noEffect);
  remark(placed.place, oclName(directive.form) + " becomes a hint",
         OclSeverity::hint);
  for (const Procedure::Name &name : placed.procedure->names) {
    // A name that begins after the region does not come through it.
    if (placed.endLine && name.line > placed.endLine)
      continue;
    OclHint hint;
    hint.function = name.linkage;
    hint.place = placed.place;
    if (placed.endLine)
      setLines(hint,
               namesArrays(directive.form) ? placed.place.line
                                           : firstLine(placed.place.line),
               placed.endLine);
    if (!namesArrays(directive.form)) {
      hint.value = isAboutLoop(directive.form) ? loopText(directive)
                                               : waysText(directive);
      result.hints.push_back(hint);
    }
    for (const std::string &array : directive.arrays) {
      hint.variable = array;
      hint.value = "sector=1";
      result.hints.push_back(hint);
    }
  }
}

OclResult Reader::finish() {
  for (const std::unique_ptr<Procedure> &procedure : units.procedures()) {
    auto found = directives.find(procedure.get());
    if (found == directives.end())
      continue;
    matchEnds(found->second);
    checkNesting(found->second);
    for (const Placed &placed : found->second)
      emit(placed);
  }
  llvm::sort(result.diagnostics,
             [](const OclDiagnostic &a, const OclDiagnostic &b) {
               return std::tie(a.place.line, a.place.column, a.text) <
                      std::tie(b.place.line, b.place.column, b.text);
             });
  return std::move(result);
}

OclResult mpg::readOcl(const SourceText &source, const FortranOptions &options,
                       StringRef whyUseless) {
  Reader reader(source, options, whyUseless);
  for (const FortranLine &line : readFortranLines(source, options))
    reader.add(line);
  return reader.finish();
}

/// The name of the place that a hint is about, in the side file.
static std::string getKey(const OclHint &hint) {
  std::string key = hint.function;
  if (!hint.variable.empty())
    key += "/" + hint.variable;
  char separator = '@';
  for (auto [first, last] : hint.lines) {
    key += separator + utostr(first) + "-" + utostr(last);
    separator = ',';
  }
  if (hint.hasIncluded)
    key += "+";
  return key;
}

void mpg::writeSideFile(raw_ostream &out, const SourceText &source,
                        ArrayRef<OclHint> hints) {
  StringSet<> seen;
  for (const OclHint &hint : hints) {
    std::string key = getKey(hint);
    // Two directives for one array say it once.
    if (!seen.insert(key).second)
      continue;
    LinePlace place = source.lines[hint.place.line - 1].place;
    const std::string &file = source.files[place.file];
    out << "# " << printable(file) << ":" << place.line;
    if (file != source.path)
      out << " < " << printable(source.path);
    out << "\n" << key << ": " << hint.value << "\n";
  }
}

/// The option that silences it, as compilers write it after a message.
static StringRef getOption(OclSeverity severity) {
  static constexpr StringLiteral names[] = {
      "", " [-Rpass=mpg]", " [-Rpass=mpg]", " [-Rpass-missed=mpg]"};
  return names[unsigned(severity)];
}

void mpg::writeOclDiagnostics(raw_ostream &out, const SourceText &source,
                              ArrayRef<OclDiagnostic> diagnostics) {
  for (const OclDiagnostic &diagnostic : diagnostics) {
    bool isWarning = diagnostic.severity == OclSeverity::warning;
    const TextLine &line = source.lines[diagnostic.place.line - 1];
    out << printable(source.files[line.place.file]) << ":" << line.place.line
        << ":" << diagnostic.place.column
        << (isWarning ? ": warning: " : ": remark: ")
        << printable(diagnostic.text) << getOption(diagnostic.severity) << "\n";
    // Tabs would move the caret.
    std::string shown = line.text.str();
    std::replace(shown.begin(), shown.end(), '\t', ' ');
    out << printable(shown) << "\n";
    out.indent(diagnostic.place.column - 1) << "^\n";
  }
}
