// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hints from a file beside the code: reads its entries and adds their requests.
// SourceNames.h finds what a name or a line became. See HintSource.h.

#include "hints/HintSource.h"
#include "hints/HintText.h"
#include "hints/PointerUses.h"
#include "hints/SourceNames.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace llvm;
using namespace mpg;

// Lines of the file

namespace {
/// NAME, FUNCTION/VARIABLE or FUNCTION/NUMBER, each with @FIRST-LAST or
/// without; or FILE:LINE/VARIABLE or FILE:LINE, of a block of the heap.
struct Key {
  StringRef name;
  StringRef variable;
  std::optional<unsigned> parameter; ///< 1 is the first
  SourceLines lines;
  unsigned blockLine = 0; ///< name is that of its file
};

class SideFileReader {
public:
  SideFileReader(Module &module, StringRef path, HintRequests &requests)
      : module(module), path(path), requests(requests) {}
  void read(MemoryBufferRef buffer);

private:
  bool readOrigin(SMLoc entry);
  void readEntry(yaml::KeyValueNode &entry);
  void readValue(const Key &key, yaml::Node *value);
  void readText(const Key &key, yaml::Node *value,
                SmallVectorImpl<HintText> &texts);
  void apply(const Key &key, const HintText &text);
  void applyWays(const Key &key, const HintText &text);
  void applyLoop(const Key &key, const HintText &text);
  bool setVariables(const WayNames &names, WaysRequest &request);
  bool applyToVariable(const Key &key, const HintText &text,
                       Function &function);
  void applyToBlock(const Key &key, const HintText &text);
  bool applyToResult(const Key &key, const HintText &text, CallBase &call);
  void add(const Key &key, const HintText &text, Value *root,
           Function *function);
  void addHint(const Key &key, const Hint &hint, Value *root,
               HintRequest::Target target, Function *function);
  void noteAbsent(const Twine &name);
  void complain(const Twine &text) {
    if (requests.complaints.insert((where.text() + text).str()).second)
      warn(module.getContext(), where, text);
  }

  Module &module;
  StringRef path;
  StringRef text;
  HintRequests &requests;
  SourceMgr sources;
  SourceLine where;
  bool isDirective = false; ///< the entry comes from an !OCL line
};
} // namespace

static constexpr char noWays[] =
    "no ways are set, and tags there have no effect without ways from "
    "elsewhere: ";

// --- Entries

/// flang calls all files the same.
static std::string getName(const Module &module) {
  StringRef file = module.getSourceFileName();
  return file == "FIRModule" ? "this file" : file.str();
}

/// The file may serve a whole program, so a name that is missing from this
/// source is not a mistake; a name that should come from this source is.
void SideFileReader::noteAbsent(const Twine &name) {
  std::string text = ("there is no " + name + " in " + getName(module)).str();
  if (isDirective)
    return complain(text);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    OptimizationRemarkMissed remark(remarkPass, "NameAbsent", DebugLoc(),
                                    &function.getEntryBlock());
    remark << where.text() << text;
    OptimizationRemarkEmitter(&function).emit(remark);
    return;
  }
}

void SideFileReader::add(const Key &key, const HintText &text, Value *root,
                         Function *function) {
  // In an OpenMP region of Fortran, the choice for the variable itself counts.
  if (text.kind == HintKind::touch && isa<Instruction>(root) &&
      !isa<AllocaInst>(root))
    return;
  std::optional<HintRequest::Target> target = HintRequest::function;
  if (!isa<Function>(root))
    target = targetOfRoot(root);
  if (!target)
    return complain("'" + key.name + "/" + key.variable +
                    "' is neither a pointer nor an array; the hint is ignored");
  if (text.kind == HintKind::touch)
    requests.touches.push_back({root, *target, text.touch, where});
  else
    addHint(key, text.hint, root, *target, function);
}

void SideFileReader::addHint(const Key &key, const Hint &hint, Value *root,
                             HintRequest::Target target, Function *function) {
  HintRequest request;
  request.root = root;
  request.hint = hint;
  request.where = where;
  request.isDirective = isDirective;
  std::string entry = where.text() + "/" + key.variable.str();
  request.entry =
      requests.entries.try_emplace(entry, requests.entries.size() + 1)
          .first->second;
  request.target = target;
  if (!key.variable.empty() || key.lines.areGiven())
    request.regionFunction = function;
  if (key.lines.areGiven())
    request.region = regionOfLines(key.lines, *function);
  if (request.region && request.target == HintRequest::function)
    for (Function *inner : functionWithRegions(*function)) {
      std::shared_ptr<Region> lines = regionOfLines(key.lines, *inner);
      request.region->insert(lines->begin(), lines->end());
    }
  requests.hints.push_back(request);
}

bool SideFileReader::applyToVariable(const Key &key, const HintText &text,
                                     Function &function) {
  if (key.parameter) {
    Value *root = rootOfParameter(function, *key.parameter);
    if (root)
      add(key, text, root, &function);
    return root;
  }
  std::vector<Value *> roots = variablesNamed(function, key.variable);
  for (Value *root : roots)
    add(key, text, root, &function);
  return !roots.empty();
}

/// Sets what \p names mean where \p request begins: false if that is not known.
bool SideFileReader::setVariables(const WayNames &names, WaysRequest &request) {
  bool isWhole = !request.begin;
  if (isWhole && !names.isEmpty())
    coverFunction(request);
  DominatorTree dominators(*request.function);
  auto set = [&](StringRef name, NumberVariable &into) {
    if (name.empty())
      return true;
    Instruction *known;
    into = integerNamed(*request.function, name, known);
    if (isWhole && known && dominators.dominates(request.begin, known))
      request.begin = known;
    bool inRegion = isTeamOfFlang(*request.function);
    auto *first = dyn_cast_or_null<Instruction>(into.address);
    if (into.address && (!first || dominators.dominates(first, request.begin)))
      return true;
    complain(Twine(noWays) + "'" + name + "' is not an integer variable of '" +
             request.function->getName().split("..").first +
             "' that can be read there" +
             (inRegion ? ", where only variables are known that the parallel "
                         "region uses: write the number, or begin in front of "
                         "the parallel region"
                       : ", or there is no debug information (-g)"));
    return false;
  };
  return set(names.l1, request.l1Variable) && set(names.l2, request.l2Variable);
}

/// The code of \p lines: of several functions where a parallel region is cut
/// by them or holds them. Empty if some of it cannot be bracketed.
static std::vector<WaysRequest>
requestsForLines(const WaysRequest &request, const SourceLines &lines,
                 ArrayRef<Function *> functions) {
  std::vector<WaysRequest> found;
  for (Function *function : functions) {
    WaysRequest one = request;
    one.function = function;
    one.region = regionOfLines(lines, *function);
    if (one.region->empty())
      continue;
    if (!findBracket(one))
      return {};
    found.push_back(one);
  }
  SmallPtrSet<Function *, 4> inside;
  for (const WaysRequest &one : found)
    for (Function *region : parallelRegionsIn(one))
      inside.insert(region);
  erase_if(found, [&](const WaysRequest &one) {
    return inside.contains(one.function);
  });
  return found;
}

void SideFileReader::applyWays(const Key &key, const HintText &text) {
  std::vector<Function *> functions = functionsNamed(module, key.name);
  if (functions.empty())
    return noteAbsent("function '" + key.name + "'");
  // Parallel regions of it are found from there.
  WaysRequest request;
  request.function = functions.front();
  request.ways = text.ways;
  request.where = where;
  request.isDirective = isDirective;
  std::vector<WaysRequest> found = {request};
  if (key.lines.areGiven())
    found = requestsForLines(request, key.lines, functions);
  if (found.empty())
    return complain(Twine(noWays) + "lines " +
                    Twine(key.lines.ranges.front().first) + " to " +
                    Twine(key.lines.ranges.back().second) + " of '" + key.name +
                    "' have no code, no one way in and out, or no debug "
                    "information (-g)");
  for (WaysRequest &one : found)
    if (setVariables(text.wayNames, one))
      requests.ways.push_back(one);
}

void SideFileReader::applyLoop(const Key &key, const HintText &text) {
  if (!key.variable.empty())
    return complain("loop: is about loops of a function; leave out '" +
                    key.variable + "'");
  std::vector<Function *> functions = functionsNamed(module, key.name);
  if (functions.empty())
    return noteAbsent("function '" + key.name + "'");
  for (Function *function : functions) {
    LoopRequest request = {function, nullptr, nullptr, text.loop, where};
    request.region = std::make_shared<Region>();
    if (key.lines.areGiven())
      request.region = regionOfLines(key.lines, *function);
    else
      for (Instruction &instruction : instructions(*function))
        request.region->insert(&instruction);
    requests.loops.push_back(request);
  }
}

/// Adds the variables that get what \p call returns. False if the key names one
/// and it is not among them.
bool SideFileReader::applyToResult(const Key &key, const HintText &text,
                                   CallBase &call) {
  if (!call.getType()->isPointerTy())
    return false;
  std::vector<Value *> roots = findReceivers(call);
  std::vector<Value *> named =
      variablesNamed(*call.getFunction(), key.variable);
  if (!key.variable.empty() &&
      none_of(roots, [&](Value *root) { return is_contained(named, root); }))
    return false;
  for (Value *root : roots)
    add(key, text, root, call.getFunction());
  return !roots.empty();
}

/// A block is known by the line that allocates it. The hint is for the
/// variables that get its address there: no hint follows memory.
void SideFileReader::applyToBlock(const Key &key, const HintText &text) {
  if (text.kind == HintKind::ways || key.lines.areGiven())
    return complain("'" + key.name + ":" + Twine(key.blockLine) +
                    "' is a block of the heap, which has no ways and no lines");
  std::vector<CallBase *> calls = callsAt(module, key.name, key.blockLine);
  bool isFound = false;
  for (CallBase *call : calls)
    isFound |= applyToResult(key, text, *call);
  // Fortran's descriptors are set otherwise.
  SmallSetVector<Function *, 4> functions;
  for (CallBase *call : calls)
    functions.insert(call->getFunction());
  if (!isFound && !key.variable.empty())
    for (Function *function : functions)
      isFound |= applyToVariable(key, text, *function);
  if (isFound)
    return;
  if (calls.empty() && !hasCode(module, key.name))
    return noteAbsent("file '" + key.name + "', or no debug information (-g)");
  complain("no variable" +
           (key.variable.empty() ? Twine() : " '" + key.variable + "'") +
           " gets a pointer from a call in line " + Twine(key.blockLine) +
           " of '" + key.name +
           "'; put the macro in front of the pointers to that block");
}

void SideFileReader::apply(const Key &key, const HintText &text) {
  if (key.blockLine)
    return applyToBlock(key, text);
  if (text.kind == HintKind::ways)
    return applyWays(key, text);
  if (text.kind == HintKind::loop)
    return applyLoop(key, text);
  if (text.kind == HintKind::touch && key.lines.areGiven())
    return complain("touch is about all that is allocated; leave out the "
                    "lines of '" +
                    key.name + "'");
  if (text.kind != HintKind::hint && text.kind != HintKind::touch)
    return complain("only hint:, ways:, touch: and loop: are allowed here");
  std::vector<Function *> functions = functionsNamed(module, key.name);
  bool isFound = false;
  if (key.variable.empty()) {
    if (GlobalVariable *global = globalNamed(module, key.name)) {
      isFound = true;
      if (key.lines.areGiven())
        complain("lines are those of a function, and '" + key.name +
                 "' is a variable; write FUNCTION/" + key.name +
                 "@FIRST-LAST; the hint is ignored");
      else
        add(key, text, global, nullptr);
    }
    for (Function *function : functions)
      add(key, text, function, function);
    if (!isFound && functions.empty())
      noteAbsent("function, array or pointer '" + key.name + "'");
    return;
  }
  for (Function *function : functions)
    isFound |= applyToVariable(key, text, *function);
  if (functions.empty())
    noteAbsent("function '" + key.name + "'");
  else if (!isFound && key.parameter)
    complain("'" + key.name + "' has no pointer as parameter " +
             Twine(*key.parameter));
  else if (!isFound)
    complain("there is no variable '" + key.variable + "' in '" + key.name +
             "'; names of variables are known with debug information (-g), " +
             "parameters also by number: " + key.name + "/N");
}

/// Reads "10-20", or several of them, "10-20,5-7"; false if it is malformed.
static bool parseLines(StringRef text, SourceLines &lines) {
  lines.hasIncluded = text.consume_back("+");
  for (StringRef range : split(text, ',')) {
    auto [first, last] = range.split('-');
    std::pair<unsigned, unsigned> &numbers = lines.ranges.emplace_back();
    if (first.getAsInteger(10, numbers.first) ||
        last.getAsInteger(10, numbers.second) || !numbers.first ||
        numbers.first > numbers.second)
      return false;
  }
  return true;
}

/// Reads "name/variable@first-last" or "file:line/variable"; nullopt if it is
/// malformed.
static std::optional<Key> parseKey(StringRef text) {
  Key key;
  auto [names, lines] = text.split('@');
  std::tie(key.name, key.variable) = names.split('/');
  auto [file, line] = key.name.rsplit(':');
  unsigned number;
  if (!line.getAsInteger(10, number)) {
    if (!number)
      return std::nullopt;
    key.name = file;
    key.blockLine = number;
  }
  if (!key.variable.getAsInteger(10, number))
    key.parameter = number;
  bool isSplit = names.size() != text.size();
  if (isSplit && !parseLines(lines, key.lines))
    return std::nullopt;
  bool hasSlash = names.contains('/');
  if (key.name.empty() || (hasSlash && key.variable.empty()))
    return std::nullopt;
  return key;
}

/// Reads the one hint or the list after \p key. Several hints are merged,
/// because one at a time they would contradict each other.
void SideFileReader::readValue(const Key &key, yaml::Node *value) {
  SmallVector<HintText, 4> texts;
  if (auto *list = dyn_cast_or_null<yaml::SequenceNode>(value))
    for (yaml::Node &item : *list)
      readText(key, &item, texts);
  else
    readText(key, value, texts);
  HintText hints;
  bool hasHints = false;
  for (const HintText &text : texts) {
    if (text.kind != HintKind::hint) {
      apply(key, text);
      continue;
    }
    std::string wrong = hints.hint.add(text.hint);
    if (!wrong.empty())
      return complain("contradictory hints: " + wrong);
    hasHints = true;
  }
  if (hasHints)
    apply(key, hints);
}

void SideFileReader::readText(const Key &key, yaml::Node *value,
                              SmallVectorImpl<HintText> &texts) {
  auto *scalar = dyn_cast_or_null<yaml::ScalarNode>(value);
  if (!scalar)
    return complain("a hint is missing after '" + key.name + ":'");
  SmallString<64> storage;
  Expected<HintText> text = parseShortHintText(scalar->getValue(storage));
  if (!text)
    return complain("the hint is ignored: " + toString(text.takeError()));
  texts.push_back(*text);
}

/// mpg-ocl writes an entry's origin in front of it, "# app.f90:12", or "#
/// loop.inc:3 < app.f90" if the line is in an included file: the place to
/// print. False if this module has another source.
bool SideFileReader::readOrigin(SMLoc entry) {
  isDirective = false;
  StringRef before(text.begin(), entry.getPointer() - text.begin());
  before = before.rtrim("\n");
  StringRef line = before.substr(before.rfind('\n') + 1);
  if (!line.consume_front("# "))
    return true;
  auto [place, source] = line.split(" < ");
  auto [file, number] = place.rsplit(':');
  unsigned originLine;
  if (number.getAsInteger(10, originLine))
    return true;
  where = {file.str(), originLine};
  isDirective = true;
  if (source.empty())
    source = file;
  for (const DICompileUnit *unit : module.debug_compile_units())
    if (sys::path::filename(unit->getFilename()) == sys::path::filename(source))
      return true;
  return module.debug_compile_units().empty();
}

void SideFileReader::readEntry(yaml::KeyValueNode &entry) {
  auto *name = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
  if (!name)
    return;
  where = {path.str(),
           sources.getLineAndColumn(name->getSourceRange().Start).first};
  if (!readOrigin(name->getSourceRange().Start))
    return; // of another source
  SmallString<64> storage;
  StringRef text = name->getValue(storage);
  std::optional<Key> key = parseKey(text);
  if (!key)
    return complain("'" + text +
                    "' is not a name; write FUNCTION, ARRAY, "
                    "FUNCTION/VARIABLE or FUNCTION/1, with @10-20 after it "
                    "for lines 10 to 20, or FILE:LINE/VARIABLE");
  readValue(*key, entry.getValue());
}

void SideFileReader::read(MemoryBufferRef buffer) {
  text = buffer.getBuffer();
  where.file = path.str();
  // The parser's own messages, in our words.
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto *reader = static_cast<SideFileReader *>(context);
        reader->where.line = diagnostic.getLineNo();
        reader->complain("this is not YAML: " + diagnostic.getMessage());
      },
      this);
  yaml::Stream stream(buffer, sources);
  yaml::document_iterator document = stream.begin();
  if (document == stream.end())
    return;
  yaml::Node *root = document->getRoot();
  auto *map = dyn_cast_or_null<yaml::MappingNode>(root);
  if (!map) {
    if (!stream.failed() && !isa_and_nonnull<yaml::NullNode>(root))
      complain("this is not a list of 'name: hint'");
    return;
  }
  for (yaml::KeyValueNode &entry : *map) {
    if (stream.failed())
      return;
    readEntry(entry);
  }
}

void mpg::readSideFile(Module &module, const std::string &path,
                       HintRequests &requests) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return warn(module.getContext(), {},
                "no hints are read from '" + path +
                    "': " + buffer.getError().message());
  SideFileReader(module, path, requests).read((*buffer)->getMemBufferRef());
}
