#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# transparent.sh "PYTHON [OPTION]" FAKE_NODE FOLDER MPGINFO: the reports of x86
# nodes with an empty pool and different switches, each below a line "NAME
# STATUS".
python=$1 fake=$2 folder=$3 mpginfo=$4
thp=sys/kernel/mm/transparent_hugepage
pool=sys/kernel/mm/hugepages

report() {
  name=$1 kind=$2
  shift 2
  $python "$fake" "$kind" "$folder/$name" \
    $pool/hugepages-2048kB/nr_hugepages=0 \
    $pool/hugepages-2048kB/free_hugepages=0 "$@"
  "$mpginfo" "--root=$folder/$name" > "$folder/report"
  echo "$name $?"
  cat "$folder/report"
}

report madvise x86
report always x86 "$thp/enabled=[always] madvise never"
report never x86 "$thp/enabled=always madvise [never]"
report size-never x86 "$thp/hugepages-2048kB/enabled=always inherit madvise [never]"
report size-always x86 "$thp/enabled=always madvise [never]" \
  "$thp/hugepages-2048kB/enabled=[always] inherit madvise never"
report process x86 "proc/self/status=THP_enabled: 0\nMems_allowed_list: 0-1"
report no-kernel x86 "-$thp"
report no-pools x86 "-$pool"
report pmd-512M fx700
report pmd-512M-sizes fx700 \
  "$thp/hugepages-2048kB/enabled=always inherit madvise [never]"
echo end
