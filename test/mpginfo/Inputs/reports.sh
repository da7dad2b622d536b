#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# reports.sh "PYTHON [OPTION]" FAKE_NODE FOLDER MPGINFO: JSON of every kind of
# fake node and of this machine, which may be a bad one (status 1).
python=$1 fake=$2 mpginfo=$4
cd "$3" || exit 2
for kind in fx1000 fx700 x86; do
  $python "$fake" $kind $kind
  "$mpginfo" --root=$kind --json > $kind.json
done
"$mpginfo" --json > here.json
"$mpginfo" --json --need=1T > need.json
[ $? = 1 ]
