# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# history.sh SOURCE: makes a git repository with a history out of the files of SOURCE,
# a copy of this one, and works with it as people do. Names and dates are fixed, so that
# every object has the same hash each time. git finds differences and packs with
# threads, and maps packs of its own.
set -eu
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='@1700000000 +0000'
export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
export GIT_COMMITTER_DATE='@1700000001 +0000'
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_PAGER=cat

git init -q -b main work
cd work
git config pack.threads 2
git config index.threads 2
cp -R "$1/lib" "$1/docs" .
git add .
git commit -q -m 'the first half'
cp -R "$1/runtime" "$1/tools" .
git add .
git commit -q -m 'the second half'
git checkout -q -b other HEAD~1
for file in lib/Elf/*.cpp; do sed -i 's/return/return  /' "$file"; done
git mv docs/design.md docs/other.md
git commit -q -a -m 'changes here'
git checkout -q main
for file in lib/Audit/*.cpp; do sed -i 's/const/ const/' "$file"; done
git commit -q -a -m 'changes there'
git merge -q -m 'both' other
git status --short
git log --stat --find-copies-harder | cksum
git log -p --all -S mmap | cksum
git diff --patience HEAD~2 HEAD | cksum
git blame -C lib/Elf/Image.cpp | cksum
git grep -c -e 'return *0' HEAD -- '*.cpp' | cksum
git archive HEAD | cksum
git repack -q -a -d -f --depth=20 --window=20
git gc -q --prune=now
git fsck --full --strict
git rev-parse HEAD 'HEAD^{tree}'
cd ..
git clone -q --no-local work copy
git -C copy fsck --full
git -C copy log --graph --oneline
git -C copy checkout -q origin/other
git -C copy rebase -q origin/main
git -C copy rev-parse HEAD
if git -C copy cat-file -p 0000000; then exit 1; fi
# Packs may be cut differently by two threads.
rm -rf work/.git copy/.git
