// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JobReader.h. All of the file is read, to a bounded depth, and then what
// large pages depend on is taken out of it. Kubernetes itself checks the rest.

#include "JobScript/JobReader.h"
#include "Support/YamlReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include <cmath>

using namespace llvm;
using namespace mpg;

namespace {

struct YamlValue {
  enum Kind : uint8_t { none, text, list, map } kind = none;
  unsigned line = 0;
  std::string words;             ///< of a text
  std::vector<std::string> keys; ///< of a map, beside `items`
  std::vector<YamlValue> items;

  /// What \p path, one key after another, leads to; null: nothing.
  const YamlValue *find(ArrayRef<StringRef> path) const;
  /// The text there; "" if there is none.
  StringRef findText(StringRef key) const;
  /// The items of the list there.
  ArrayRef<YamlValue> findList(StringRef key) const;
};

class ManifestReader : public YamlReader {
public:
  std::vector<ManifestContainer> containers;

protected:
  void readStream(yaml::Stream &stream) override;

private:
  YamlValue readValue(yaml::Node *node, unsigned depth);
  void readDocument(const YamlValue &document);
  void readPod(const YamlValue &pod);
  ManifestContainer readContainer(const YamlValue &value);
  void readTexts(const YamlValue &value, StringRef key,
                 std::vector<ManifestText> &texts);
  void readResources(const YamlValue &container, JobContainer &facts);
  std::optional<JobAmount> readAmount(const YamlValue &value);
};

} // namespace

static constexpr StringLiteral poolName = "hugepages-2Mi";

// YAML

const YamlValue *YamlValue::find(ArrayRef<StringRef> path) const {
  const YamlValue *at = this;
  for (StringRef key : path) {
    auto place = llvm::find(at->keys, key);
    if (place == at->keys.end())
      return nullptr;
    at = &at->items[size_t(place - at->keys.begin())];
  }
  return at;
}

StringRef YamlValue::findText(StringRef key) const {
  const YamlValue *value = find(key);
  return value ? StringRef(value->words) : "";
}

ArrayRef<YamlValue> YamlValue::findList(StringRef key) const {
  const YamlValue *value = find(key);
  if (!value || value->kind != list)
    return {};
  return value->items;
}

YamlValue ManifestReader::readValue(yaml::Node *node, unsigned depth) {
  YamlValue value;
  if (!node || failed())
    return value;
  value.line = getLine(*node);
  SmallString<64> storage;
  if (!depth) {
    fail(value.line, "lists and keys are nested too deep");
  } else if (auto *scalar = dyn_cast<yaml::ScalarNode>(node)) {
    bool isNull = is_contained({"null", "~"}, scalar->getRawValue());
    value.kind = isNull ? YamlValue::none : YamlValue::text;
    value.words = isNull ? "" : scalar->getValue(storage).str();
  } else if (auto *block = dyn_cast<yaml::BlockScalarNode>(node)) {
    value.kind = YamlValue::text;
    value.words = block->getValue().str();
  } else if (isa<yaml::AliasNode>(node)) {
    fail(value.line, "an alias of YAML (*name) is not known here; write what "
                     "it stands for");
  } else if (auto *list = dyn_cast<yaml::SequenceNode>(node)) {
    value.kind = YamlValue::list;
    for (yaml::Node &item : *list) {
      value.items.push_back(readValue(&item, depth - 1));
      if (failed())
        break; // to go on would skip the rest by recursion
    }
  } else if (auto *map = dyn_cast<yaml::MappingNode>(node)) {
    value.kind = YamlValue::map;
    SeenKeys seen;
    for (yaml::KeyValueNode &entry : *map) {
      unsigned line;
      value.keys.push_back(readKey(entry, seen, line));
      value.items.push_back(
          readValue(failed() ? nullptr : entry.getValue(), depth - 1));
      if (failed())
        break;
      value.items.back().line = std::max(value.items.back().line, line);
    }
  }
  return value;
}

void ManifestReader::readStream(yaml::Stream &stream) {
  constexpr unsigned maxDepth = 64;
  for (yaml::Document &document : stream) {
    YamlValue value = readValue(document.getRoot(), maxDepth);
    if (!failed() && value.kind != YamlValue::none)
      readDocument(value);
    if (failed())
      return;
  }
  if (containers.empty())
    fail(1, "no container is in it: no Pod, Job, CronJob, Deployment, "
            "StatefulSet, DaemonSet or ReplicaSet of Kubernetes");
}

// Kubernetes

/// "100Mi", "0.5Gi", "129M", "129e6", "128974848"; "400m" is less than a byte.
static std::optional<uint64_t> parseQuantity(StringRef text) {
  static constexpr std::pair<StringLiteral, double> units[] = {
      {"", 1},        {"n", 1e-9},    {"u", 1e-6},    {"m", 1e-3},
      {"k", 1e3},     {"M", 1e6},     {"G", 1e9},     {"T", 1e12},
      {"P", 1e15},    {"E", 1e18},    {"Ki", 0x1p10}, {"Mi", 0x1p20},
      {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"Pi", 0x1p50}, {"Ei", 0x1p60}};
  size_t digits = text.find_first_not_of("0123456789.");
  StringRef unit = digits == StringRef::npos ? "" : text.substr(digits);
  unsigned exponent;
  double number;
  if ((unit.starts_with("e") || unit.starts_with("E")) &&
      !unit.drop_front().getAsInteger(10, exponent))
    unit = "";
  else
    text = text.drop_back(unit.size());
  auto *row = find_if(units, [&](auto &each) { return each.first == unit; });
  if (row == std::end(units) || text.empty() || text.getAsDouble(number))
    return std::nullopt;
  number = std::ceil(number * row->second);
  return number < 0x1p63 ? std::optional(uint64_t(number)) : std::nullopt;
}

std::optional<JobAmount> ManifestReader::readAmount(const YamlValue &value) {
  std::optional<uint64_t> bytes = parseQuantity(value.words);
  if (!bytes) {
    fail(value.line, "'" + value.words +
                         "' is not a quantity of Kubernetes; write 128Mi, "
                         "1Gi, 129M or a number of bytes");
    return std::nullopt;
  }
  return JobAmount{*bytes, value.line};
}

void ManifestReader::readResources(const YamlValue &container,
                                   JobContainer &facts) {
  for (bool isLimit : {true, false}) {
    const YamlValue *part =
        container.find({"resources", isLimit ? "limits" : "requests"});
    for (size_t i = 0; part && i < part->keys.size(); ++i) {
      StringRef key = part->keys[i];
      if (key == poolName)
        (isLimit ? facts.poolLimit : facts.poolRequest) =
            readAmount(part->items[i]);
      else if (key == "memory")
        (void)readAmount(part->items[i]);
      facts.asksOtherwise |= key.starts_with("hugepages-") && key != poolName;
      facts.hasMemoryOrCpu |= key == "memory" || key == "cpu";
    }
  }
}

void ManifestReader::readTexts(const YamlValue &container, StringRef key,
                               std::vector<ManifestText> &texts) {
  const YamlValue *value = container.find(key);
  if (value && value->kind != YamlValue::list && value->kind != YamlValue::none)
    fail(value->line, "'" + key + "' takes a list: [./app, input]");
  for (const YamlValue &item : container.findList(key))
    texts.push_back({item.words, item.line});
}

ManifestContainer ManifestReader::readContainer(const YamlValue &value) {
  ManifestContainer container;
  container.facts.name = value.findText("name").str();
  container.facts.line = value.line;
  container.image = value.findText("image").str();
  container.folder = value.findText("workingDir").str();
  container.hasEnvFrom = !value.findList("envFrom").empty();
  readTexts(value, "command", container.command);
  if (!container.command.empty()) // else they are the image's program's
    readTexts(value, "args", container.command);
  for (const YamlValue &variable : value.findList("env")) {
    std::optional<std::string> text = variable.findText("value").str();
    if (variable.find(StringRef("valueFrom")))
      text = std::nullopt;
    container.variables.push_back(
        {variable.findText("name").str(), std::move(text), variable.line});
  }
  readResources(value, container.facts);
  return container;
}

void ManifestReader::readPod(const YamlValue &pod) {
  size_t first = containers.size();
  JobContainer ofPod;
  readResources(pod, ofPod);
  bool asks = ofPod.poolLimit || ofPod.poolRequest || ofPod.asksOtherwise;
  StringMap<unsigned> volumes; // in the pool, and their lines
  for (const YamlValue &volume : pod.findList("volumes")) {
    const YamlValue *medium = volume.find({"emptyDir", "medium"});
    if (medium && is_contained({"HugePages", "HugePages-2Mi"}, medium->words))
      volumes[volume.findText("name")] = medium->line;
  }
  std::vector<ArrayRef<YamlValue>> mounts;
  bool anyAsks = asks;
  for (StringRef key : {"initContainers", "containers"})
    for (const YamlValue &value : pod.findList(key)) {
      containers.push_back(readContainer(value));
      JobContainer &facts = containers.back().facts;
      facts.asksOtherwise |= asks;
      anyAsks |= facts.poolLimit || facts.poolRequest || facts.asksOtherwise;
      mounts.push_back(value.findList("volumeMounts"));
    }
  for (size_t i = 0; i < mounts.size() && !anyAsks; ++i)
    for (const YamlValue &mount : mounts[i])
      if (unsigned line = volumes.lookup(mount.findText("name")))
        containers[first + i].facts.volumeLine = line;
}

void ManifestReader::readDocument(const YamlValue &document) {
  StringRef kind = document.findText("kind");
  if (kind.empty())
    return fail(document.line, "this is not a manifest of Kubernetes: it has "
                               "no 'kind'");
  if (kind == "List") {
    for (const YamlValue &item : document.findList("items"))
      readDocument(item);
    return;
  }
  const YamlValue *pod = nullptr;
  if (kind == "Pod")
    pod = document.find(StringRef("spec"));
  else if (kind == "CronJob")
    pod = document.find({"spec", "jobTemplate", "spec", "template", "spec"});
  else if (is_contained(
               {"Job", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"},
               kind))
    pod = document.find({"spec", "template", "spec"});
  else
    return; // a Service, a ConfigMap, ...
  if (!pod || pod->findList("containers").empty())
    return fail(document.line, "this " + kind + " has no list of containers");
  readPod(*pod);
}

bool mpg::isManifest(StringRef text, StringRef path) {
  return path.ends_with(".yaml") || path.ends_with(".yml") ||
         text.starts_with("apiVersion:");
}

Expected<std::vector<ManifestContainer>>
mpg::readManifest(StringRef text, const std::string &path) {
  constexpr size_t maxBytes = 16 << 20;
  if (text.size() > maxBytes)
    return createStringError(inconvertibleErrorCode(),
                             "more than 16 MiB, which no manifest has");
  ManifestReader reader;
  std::string wrong = reader.parse(text, path);
  if (wrong.empty())
    return std::move(reader.containers);
  return createStringError(inconvertibleErrorCode(), "line " + wrong);
}
