// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Loader/ConfigFile.h"
#include "Loader/SearchPath.h"
#include "llvm/ADT/STLExtras.h"
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace mpg;

std::optional<std::string> mpg::readWholeFile(const std::string &path,
                                              uint64_t limitBytes) {
  int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    return std::nullopt;
  std::optional<std::string> content;
  struct stat status;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
      uint64_t(status.st_size) <= limitBytes) {
    content.emplace(size_t(status.st_size), '\0');
    size_t done = 0;
    while (done < content->size()) {
      ssize_t got =
          pread(fd, &(*content)[done], content->size() - done, off_t(done));
      if (got <= 0)
        break;
      done += size_t(got);
    }
    content->resize(done);
  }
  close(fd);
  return content;
}

static StringRef withoutComment(StringRef line) {
  return line.take_until([](char c) { return c == '#'; });
}

namespace {

/// Files that include each other, or everything, come to an end.
constexpr unsigned maxDepth = 10;
constexpr unsigned maxFiles = 1000;
constexpr uint64_t maxConfigBytes = 1 << 20;

class ConfigReader {
public:
  explicit ConfigReader(const std::string &sysroot) : sysroot(sysroot) {}

  void read(const std::string &path, unsigned depth) {
    if (depth > maxDepth || ++files > maxFiles)
      return;
    std::optional<std::string> content = readWholeFile(path, maxConfigBytes);
    StringRef rest = content ? StringRef(*content) : "";
    while (!rest.empty()) {
      StringRef line;
      std::tie(line, rest) = rest.split('\n');
      readLine(withoutComment(line).trim(), path, depth);
    }
  }

  std::vector<std::string> folders;

private:
  void readLine(StringRef line, const std::string &path, unsigned depth) {
    if (line.consume_front("include ") || line.consume_front("include\t")) {
      for (const std::string &pattern : splitNames(line, " \t"))
        include(pattern, path, depth);
      return;
    }
    // "hwcap 1 nosegneg" is a line of old systems; "=libc6" behind a folder is
    // a kind of library that ldconfig no longer asks for.
    StringRef folder = line.take_front(line.find('=')).rtrim("/ \t");
    if (!folder.starts_with("/") || folder.size() > maxPathBytes)
      return;
    std::string rooted = sysroot + folder.str();
    if (!is_contained(folders, rooted))
      folders.push_back(std::move(rooted));
  }

  /// A relative pattern counts from the folder of the file that has it.
  void include(StringRef pattern, const std::string &from, unsigned depth) {
    std::string escaped;
    StringRef base =
        pattern.starts_with("/") ? StringRef(sysroot) : folderOf(from);
    for (char c : base) {
      if (StringRef("*?[\\").contains(c))
        escaped += '\\';
      escaped += c;
    }
    if (!pattern.starts_with("/"))
      escaped += '/';
    glob_t found;
    if (glob((escaped + pattern.str()).c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i)
        read(found.gl_pathv[i], depth + 1);
      globfree(&found);
    }
  }

  const std::string &sysroot;
  unsigned files = 0;
};

} // namespace

std::vector<std::string> mpg::readLoaderConfig(const std::string &sysroot) {
  ConfigReader reader(sysroot);
  reader.read(sysroot + "/etc/ld.so.conf", 0);
  return std::move(reader.folders);
}

std::vector<std::string> mpg::readPreloadFile(const std::string &sysroot) {
  std::optional<std::string> content =
      readWholeFile(sysroot + "/etc/ld.so.preload", maxConfigBytes);
  std::vector<std::string> names;
  StringRef rest = content ? StringRef(*content) : "";
  while (!rest.empty()) {
    StringRef line;
    std::tie(line, rest) = rest.split('\n');
    for (std::string &name : splitNames(withoutComment(line), " \t:"))
      names.push_back(std::move(name));
  }
  return names;
}

std::vector<std::string> mpg::splitNames(StringRef text, StringRef separators) {
  std::vector<std::string> names;
  for (text = text.ltrim(separators); !text.empty();
       text = text.ltrim(separators)) {
    StringRef name = text.take_front(text.find_first_of(separators));
    text = text.drop_front(name.size());
    names.push_back(name.str());
  }
  return names;
}
