# Programs where the kernel promises no more memory than there is; see promises.c.
# shellcheck shell=sh
begin a pool
/promises /limit-work blocks one threads static fork 2>/dev/null
begin no pool
pool 0 0 0 0
/promises /limit-work blocks one threads static fork 2>/dev/null
