# What the guest of test/soak/text-kernels runs, in one boot; see guest.py for begin and pool.
# shellcheck shell=sh
export LD_LIBRARY_PATH=/lib MPG_MODE=thp
pool 0 0 0 0
for module in $(cat /modules/order); do
  insmod "/modules/$module" || echo "no $module"
done

# write: the program has just been written to the folder of the case.
write() {
  rm -f "$folder/program"
  cp /program "$folder/program"
}
by_libmpg() {
  begin "$1, $name"
  env LD_PRELOAD=/lib/libmpgrt.so.1 MPG_TEXT=auto "$folder/program" 2>&1
}
# try NAME FOLDER: the starts of the program on that file system.
try() {
  name=$1
  folder=$2
  write
  by_libmpg auto
  sync
  by_libmpg "auto, again"
  by_libmpg "auto, third start"
  write
  begin "mpgrun --text, $name"
  mpgrun --text --report --mode=thp "$folder/program" </dev/null 2>&1
  begin "mpginfo, $name"
  (cd "$folder" && mpginfo --json | grep -o '"file-pages","present":[a-z]*')
}

begin machine
uname -r
disks=abc
for kind in ext4 xfs btrfs; do
  disk=/dev/vd${disks%"${disks#?}"}
  disks=${disks#?}
  mkdir -p "/$kind"
  mount -t "$kind" "$disk" "/$kind" && try "$kind" "/$kind"
done
mkdir -p /tmpfs /overlay /9p /ext4/lower /ext4/upper /ext4/work
for huge in never advise always; do
  mount -t tmpfs -o "huge=$huge" none /tmpfs && try "tmpfs huge=$huge" /tmpfs
  umount /tmpfs
done
mount -t overlay -o lowerdir=/ext4/lower,upperdir=/ext4/upper,workdir=/ext4/work \
  none /overlay && try "overlay on ext4" /overlay
mount -t 9p -o trans=virtio,version=9p2000.L,cache=mmap share /9p && try 9p /9p
