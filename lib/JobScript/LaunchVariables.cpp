// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LaunchVariables.h.

#include "JobScript/LaunchVariables.h"
#include "JobScript/ShellLexer.h"
#include "Support/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mpg;

JobWord mpg::wordAfter(const JobWord &word, size_t length) {
  JobWord rest = word;
  rest.text.erase(0, length);
  if (rest.unknown == word.text)
    rest.unknown = rest.text;
  return rest;
}

void LaunchVariables::begin(bool isOutside) {
  ownFirst = all.size();
  this->isOutside = isOutside;
}

void LaunchVariables::add(LaunchVariable::Change change, StringRef name,
                          const JobWord &value, StringRef how) {
  all.push_back({change, name.str(), value, how.str(),
                 change == LaunchVariable::unset && isOutside});
}

void LaunchVariables::assign(const JobWord &assignment, StringRef how) {
  StringRef text = assignment.text;
  size_t length = shellNameLength(text);
  if (!length)
    return;
  StringRef name = text.take_front(length);
  if (text.size() == length)
    add(LaunchVariable::exported, name, {}, how);
  else if (text[length] == '=')
    add(LaunchVariable::set, name, wordAfter(assignment, length + 1), how);
}

void LaunchVariables::assignList(const JobWord &list, StringRef how) {
  if (list.known() && !isSlurmAll(list.text) && !how.ends_with("exp-env"))
    withhold(LaunchVariable::cleared, how);
  for (StringRef item : split(list.text, ',')) {
    if (item.equals_insensitive("ALL") || item.equals_insensitive("NONE") ||
        item.equals_insensitive("NIL"))
      continue;
    JobWord word;
    word.text = item.str();
    if (!list.known() && item.find_first_of("$`") != StringRef::npos)
      word.unknown = item.substr(item.find('=') + 1).str();
    assign(word, how);
  }
}

void LaunchVariables::withhold(LaunchVariable::Change change, StringRef how,
                               StringRef name) {
  all.insert(all.begin() + ptrdiff_t(ownFirst),
             {change, name.str(), {}, how.str(), isOutside});
}

/// A login shell: "su - user", "su -lc LINE user".
static bool asksForLogin(StringRef word) {
  return word == "-" || word == "--login" ||
         (word.starts_with("-") && !word.starts_with("--") &&
          word.contains('l') && all_of(word.drop_front(), isAlpha));
}

/// sshd, sudo and a login start with a new environment. The loader takes
/// LD_PRELOAD from sudo and su, which have more rights than their user, also
/// where they are asked to keep everything.
void LaunchVariables::withholdDropped(Launcher key, ArrayRef<JobWord> own) {
  StringRef name = sys::path::filename(own.front().text);
  auto has = [&](StringRef option) {
    return any_of(own, [&](const JobWord &word) {
      return StringRef(word.text).starts_with(option);
    });
  };
  if (key == Launcher::srun && name != "salloc" && !has("--export"))
    withhold(LaunchVariable::bySlurm, "SLURM_EXPORT_ENV");
  else if (hasWord("ssh rsh pdsh clush pbsdsh", name) ||
           (name == "qrsh" && !has("-V")) ||
           (name == "systemd-run" && !has("--scope")) ||
           (name == "parallel" && (has("-S") || has("--ssh")) && !has("--env")))
    withhold(LaunchVariable::cleared, name);
  else if (key == Launcher::su)
    withholdByUser(name, any_of(own, [](const JobWord &word) {
                     return asksForLogin(word.text);
                   }));
  else if (name == "sudo" || name == "doas")
    withholdByUser(name, !has("-E") && !has("--preserve-env"));
}

/// runuser is root's and has no more rights than that.
void LaunchVariables::withholdByUser(StringRef name, bool clears) {
  if (clears)
    withhold(LaunchVariable::cleared, name);
  else if (name != "runuser")
    withhold(LaunchVariable::unset, name, "LD_PRELOAD");
}
