// A project that has hints in its source is built for other machines as well: there
// the object must be what it is without plugin and without hints, byte by byte.
// RUN: cd %t && cp %inputs/every_macro.c .
// DEFINE: %{cc} = %clang "$@" -I%source/runtime/include -Rpass=mpg -Rpass-missed=mpg -c every_macro.c
// DEFINE: %{same} = sh -c '%{cc} -o plain.o && %{cc} -DMPG_HINTS -fpass-plugin=%passes -o hinted.o 2> said && count 0 < said && cmp plain.o hinted.o' sh
// RUN: %{same} --target=x86_64-linux-gnu -O2
// RUN: %{same} --target=x86_64-linux-gnu -O0
// RUN: %{same} --target=x86_64-linux-gnu -O3 -g
// RUN: %{same} --target=x86_64-linux-gnu -march=skylake-avx512 -mllvm -verify-machineinstrs -O2
// RUN: %{same} --target=riscv64-linux-gnu -O2
// No Linux, or not little-endian: tags are not promised there.
// RUN: %{same} --target=aarch64-none-elf -O2
// RUN: %{same} --target=arm64-apple-macos14 -O2
//
// With LTO the choices about first touch are in the bitcode; the program is the
// same. So are names of a program's own strings, which have other numbers.
// DEFINE: %{link} = %clang --target=x86_64-linux-gnu -Os -fPIC -flto=full -fuse-ld=lld --ld-path=%lld -nostdlib -shared -Wl,-s -I%source/runtime/include every_macro.c
// RUN: %{link} -o plain.so && %{link} -DMPG_HINTS -fpass-plugin=%passes -o hinted.so && cmp plain.so hinted.so
// REDEFINE: %{link} = %clang --target=x86_64-linux-gnu -O2 -fPIC -fuse-ld=lld --ld-path=%lld -nostdlib -shared -Wl,-s -DSTRINGS -I%source/runtime/include every_macro.c
// RUN: %{link} -o plain.so && %{link} -DMPG_HINTS -fpass-plugin=%passes -o hinted.so && cmp plain.so hinted.so
//
// Without MPG_HINTS the plugin changes nothing for AArch64 Linux either.
// RUN: %clang --target=aarch64-linux-gnu -O2 -I%source/runtime/include -c every_macro.c -o plain.o
// RUN: %clang --target=aarch64-linux-gnu -O2 -I%source/runtime/include -c every_macro.c -fpass-plugin=%passes -o hinted.o
// RUN: cmp plain.o hinted.o
// The source contains hints, or all of the above would be trivial.
// RUN: %clang --target=aarch64-linux-gnu -O2 -I%source/runtime/include -c every_macro.c -fpass-plugin=%passes -DMPG_HINTS -o hinted.o 2> messages
// RUN: not cmp plain.o hinted.o
