# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Debian's arm64 packages on another machine, without installing them: an apt
# with folders and lists of its own. The sources and keys are the machine's;
# dpkg and its architectures stay as they are, and no root is needed. Read by
# scripts (". arm64_apt.sh"), which define die and then call open_arm64_apt.

# open_arm64_apt FOLDER: makes FOLDER new, with package lists and FOLDER/log.
# What is in it is for the caller to remove.
open_arm64_apt() {
  apt=$1
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/archives/partial"
  : >"$apt/status"
  # Some other source of the machine may fail or not know arm64; what counts is
  # that the packages are found.
  arm64 apt-get update >"$apt/log" 2>&1 || true
}

# arm64 PROGRAM ARGUMENT...: apt-get or apt-cache on these lists. Options on the
# command line win over all files of the machine's configuration. Sandbox: the
# user _apt may not be able to enter the folder. 9 is the callers' lock.
arm64() {
  program=$1
  shift
  "$program" -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
    -o Dir::State="$apt" -o Dir::State::lists="$apt/lists" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" \
    -o Dir::Cache::archives="$apt/archives" \
    -o APT::Sandbox::User= -o Acquire::Retries=3 \
    -o Acquire::Languages=none \
    -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@" 9>&-
}

# download_arm64 PACKAGE[=VERSION]...: into the folder; what apt says is in the log.
download_arm64() {
  (cd "$apt" && arm64 apt-get download "$@") >>"$apt/log" 2>&1
}
