// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Inputs.h"
#include "Support/ReadFile.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <sys/stat.h>

using namespace llvm;
using namespace mpg;

namespace {

class Collector {
public:
  Collector(const Options &options,
            const std::function<void(const std::string &, const std::string &)>
                &report)
      : options(options), report(report) {}

  void addOperand(const std::string &operand);
  void addList(const std::string &path, char separator);
  InputList take() { return std::move(list); }

private:
  void addPath(const std::string &path);
  void addDirectory(const std::string &path);

  const Options &options;
  const std::function<void(const std::string &, const std::string &)> &report;
  InputList list;
};

} // namespace

/// Names in \p path, sorted by bytes.
static std::vector<std::string> readNames(const std::string &path, int &error) {
  std::vector<std::string> names;
  DIR *directory = opendir(path.c_str());
  error = directory ? 0 : errno;
  if (!directory)
    return names;
  while (const dirent *entry = readdir(directory))
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      names.push_back(entry->d_name);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

static Input inputOf(const std::string &path, bool fromDirectory) {
  Input input;
  input.path = path;
  input.fromDirectory = fromDirectory;
  return input;
}

void Collector::addDirectory(const std::string &path) {
  int error = 0;
  std::vector<std::string> names = readNames(path, error);
  if (error)
    return report(path, strerror(error));
  for (const std::string &name : names) {
    std::string inside = path + (path.back() == '/' ? "" : "/") + name;
    struct stat status;
    if (lstat(inside.c_str(), &status) != 0)
      report(inside, strerror(errno));
    else if (S_ISLNK(status.st_mode))
      ++list.skippedLinks;
    else if (S_ISDIR(status.st_mode))
      addDirectory(inside);
    else if (S_ISREG(status.st_mode))
      list.files.push_back(inputOf(inside, true));
    else
      ++list.skippedSpecial;
  }
}

void Collector::addPath(const std::string &path) {
  struct stat status;
  if (options.recursive && stat(path.c_str(), &status) == 0 &&
      S_ISDIR(status.st_mode))
    addDirectory(path);
  else
    list.files.push_back(inputOf(path, false));
}

void Collector::addList(const std::string &path, char separator) {
  auto buffer = readUnmapped(path);
  if (!buffer)
    return report(path, readFailure(buffer.getError()));
  StringRef rest = (*buffer)->getBuffer();
  while (!rest.empty()) {
    StringRef name;
    std::tie(name, rest) = rest.split(separator);
    if (separator == '\n')
      name.consume_back("\r");
    if (!name.empty())
      addPath(name.str());
  }
}

void Collector::addOperand(const std::string &operand) {
  if (operand.size() > 1 && operand[0] == '@')
    addList(operand.substr(1), '\n');
  else
    addPath(operand);
}

InputList mpg::collectInputs(
    const Options &options,
    const std::function<void(const std::string &, const std::string &)>
        &report) {
  Collector collector(options, report);
  for (const std::string &operand : options.operands)
    collector.addOperand(operand);
  for (const std::string &list : options.files0From)
    collector.addList(list, '\0');
  return collector.take();
}
