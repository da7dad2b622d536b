// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads mpgrun --profile --json and mpgsim --json
// (docs/schema/mpgprofile-1.schema.json, mpgsim-1.schema.json). Reads only the
// keys that the rules use; a value of the wrong kind counts as unknown.

#include "Import/Measurement.h"
#include "Support/JsonFields.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

static uint64_t getUnsigned(const json::Object &object, StringRef key) {
  std::optional<int64_t> value = object.getInteger(key);
  return value && *value > 0 ? uint64_t(*value) : 0;
}

static std::string getText(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

/// The objects in the list \p key.
static std::vector<const json::Object *> getList(const json::Object &object,
                                                 StringRef key) {
  std::vector<const json::Object *> list;
  if (const json::Array *array = object.getArray(key))
    for (const json::Value &value : *array)
      if (const json::Object *element = value.getAsObject())
        list.push_back(element);
  return list;
}

// mpgprofile-1

static void readPages(const json::Object &pages, MeasuredObject &object) {
  object.usedBytes = getUnsigned(pages, "used_bytes");
  object.hugeBytes = getUnsigned(pages, "huge_bytes");
  object.isHugeKnown = pages.getInteger("huge_bytes").has_value();
  object.pageBytes = getUnsigned(pages, "page_bytes");
}

static MeasuredObject readObject(const json::Object &source) {
  MeasuredObject object;
  object.name = getText(source, "name");
  object.peakBytes = getUnsigned(source, "peak_bytes");
  object.blocks = getUnsigned(source, "blocks");
  std::string region = getText(source, "region");
  object.isThreadStack = region == "thread-stack";
  object.isStack = object.isThreadStack || region == "stack";
  if (const json::Object *pages = source.getObject("pages"))
    readPages(*pages, object);
  if (const json::Object *faults = source.getObject("faults")) {
    object.faults = getUnsigned(*faults, "estimate");
    std::vector<const json::Object *> threads = getList(*faults, "threads");
    object.touchingThreads = threads.size();
    object.isTouchedByMain =
        threads.size() == 1 &&
        threads.front()->getBoolean("is_main").value_or(false);
  }
  return object;
}

static void readProfile(const json::Object &root, Measurement &into) {
  into.tool = "mpgrun --profile";
  into.program = getText(root, "program");
  for (const json::Object *counter : getList(root, "counters"))
    if (std::optional<int64_t> value = counter->getInteger("value"))
      into.add(getText(*counter, "name"),
               uint64_t(std::max<int64_t>(*value, 0)),
               /*line=*/0);
  for (const json::Object *object : getList(root, "objects"))
    if (getText(*object, "region") != "text") // no data
      into.objects.push_back(readObject(*object));
}

// mpgsim-1

static ModelledGain readGain(const json::Object &source) {
  ModelledGain gain;
  gain.basePageBytes = getUnsigned(source, "basePageBytes");
  gain.pageBytes = getUnsigned(source, "pageBytes");
  gain.decidedBy = getText(source, "decidedBy");
  const json::Array *saved = source.getArray("savedNs");
  if (saved && saved->size() == 2) {
    gain.minNs =
        uint64_t(std::max<int64_t>((*saved)[0].getAsInteger().value_or(0), 0));
    gain.maxNs =
        uint64_t(std::max<int64_t>((*saved)[1].getAsInteger().value_or(0), 0));
  }
  return gain;
}

/// As BlockOrigin::name.
static std::string getArrayName(const json::Object &array) {
  std::string name = getText(array, "name"), file = getText(array, "file");
  if (file.empty())
    return name;
  std::string place = sys::path::filename(file).str();
  if (uint64_t line = getUnsigned(array, "line"))
    place += ":" + std::to_string(line);
  if (std::string distinction = getText(array, "distinction");
      !distinction.empty())
    place += " " + distinction;
  return name.empty() ? place : name + " (" + place + ")";
}

/// Misses in the last TLB, whose name is not known here, are its fewest.
static void readArray(const json::Object &source, Measurement &into) {
  for (const json::Object *page : getList(source, "pages"))
    if (const json::Object *misses = page->getObject("tlbMisses")) {
      std::optional<uint64_t> walks;
      for (const auto &level : *misses) {
        uint64_t its = getUnsigned(*misses, level.first);
        walks = std::min(walks.value_or(its), its);
      }
      into.arrays.push_back({getArrayName(source),
                             getUnsigned(*page, "pageBytes"),
                             walks.value_or(0)});
    }
}

static void readModel(const json::Object &root, Measurement &into) {
  into.tool = "mpgsim for " + getText(root, "machine");
  into.isModelled = true;
  if (const json::Array *command = root.getArray("command"))
    if (!command->empty())
      into.program = command->front().getAsString().value_or("").str();
  for (const json::Object *gain : getList(root, "gains"))
    into.gains.push_back(readGain(*gain));
  for (const json::Object *array : getList(root, "arrays"))
    readArray(*array, into);
  // With the largest page, because that is what is recommended.
  for (const json::Object *page : getList(root, "pages"))
    if (const json::Object *lines = page->getObject("localLines"))
      into.placement = ModelledPlacement{
          getUnsigned(*lines, "all"), getUnsigned(*lines, "firstTouch"),
          getUnsigned(*lines, "prepage"), getUnsigned(*lines, "interleave")};
}

// Both

/// LLVM's message begins with "[line:column, byte=...]: ".
static Error damagedJson(Error error, const Measurement &of) {
  std::string message = toString(std::move(error));
  auto [place, reason] = StringRef(message).split("]: ");
  unsigned line = 0;
  place.drop_front().split(':').first.getAsInteger(10, line);
  return importError(of, line,
                     "damaged JSON: " + reason +
                         "; was the run that wrote it killed, or the disk "
                         "full? Write it again");
}

static Error wrongSchema(StringRef schema, const Measurement &of) {
  std::string what = schema.empty() ? "JSON without a \"schema\" of ours"
                                    : "the schema is " + schema.str();
  return importError(of, 0,
                     what + ", and read are mpgprofile-1 (mpgrun --profile "
                            "--json=FILE) and mpgsim-1 (mpgsim --json)");
}

Error mpg::readMpgJson(StringRef text, Measurement &into) {
  if (isDeepJson(text))
    return importError(into, 0, "brackets in brackets: this is not a profile");
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return damagedJson(value.takeError(), into);
  const json::Object *root = value->getAsObject();
  std::string schema = root ? getText(*root, "schema") : "";
  if (schema == "mpgprofile-1")
    readProfile(*root, into);
  else if (schema == "mpgsim-1")
    readModel(*root, into);
  else
    return wrongSchema(schema, into);
  if (into.program.empty())
    return importError(into, 0,
                       "the name of the program is missing: the file was "
                       "changed; write it again");
  return Error::success();
}
