# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian's packages for another machine, or of another release, without installing
# them: an apt with folders and lists of its own. The sources and keys are the
# machine's; dpkg and its architectures stay as they are, and no root is needed. Read
# by scripts (". other_apt.sh"), which define die and then call open_other_apt.

# open_other_apt FOLDER [RELEASE MACHINE]: makes FOLDER new, with package lists and
# FOLDER/log. What is in it is for the caller to remove. Without RELEASE the machine's
# own sources, for arm64.
open_other_apt() {
  apt=$1
  release=${2:-}
  machine=${3:-arm64}
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  if [ -n "$release" ]; then
    # From where the machine has Debian; an old release may be in the archive alone.
    mirror=$(apt-get indextargets --format '$(LABEL) $(REPO_URI)' 2>/dev/null |
      sed -n 's/^Debian //p' | head -n 1)
    for site in "${mirror:-http://deb.debian.org/debian}" \
      http://archive.debian.org/debian; do
      echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg" \
        "check-valid-until=no] $site $release main" >"$apt/sources.list"
      ! other apt-get update >"$apt/log" 2>&1 || break
    done
    return
  fi
  # Some other source of the machine may fail or not know arm64; what counts is
  # that the packages are found.
  other apt-get update >"$apt/log" 2>&1 || true
}

# other PROGRAM ARGUMENT...: apt-get or apt-cache on these lists. Options on the
# command line win over all files of the machine's configuration. Sandbox: the
# user _apt may not be able to enter the folder. 9 is the callers' lock.
other() {
  program=$1
  shift
  [ -z "$release" ] || set -- -o Dir::Etc::sourcelist="$apt/sources.list" \
    -o Dir::Etc::sourceparts=/dev/null -o APT::Update::Error-Mode=any "$@"
  "$program" -q -o APT::Architecture="$machine" -o APT::Architectures="$machine" \
    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
    -o Dir::Cache::archives="$apt/archives" \
    -o APT::Sandbox::User= -o Acquire::Retries=3 \
    -o Acquire::Languages=none \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@" 9>&-
}

# download_other PACKAGE[=VERSION]...: into the folder; what apt says is in the log.
download_other() {
  (cd "$apt" && other apt-get download "$@") >>"$apt/log" 2>&1
}
