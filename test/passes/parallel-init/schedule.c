// The team shares iterations out as the loop that uses the array does: the numbers
// of libomp's schedules, the chunk, the number of threads, and a serial way out.
// RUN: %all-c -O1 -S -emit-llvm %s -o %t.block.ll
// RUN: FileCheck %s --input-file=%t.block.ll --check-prefixes=CHECK,BLOCK
// RUN: env MPG_PARALLEL_ALL=1000,6 %all-c -O1 -S -emit-llvm %s -o %t.chunk.ll
// RUN: FileCheck %s --input-file=%t.chunk.ll --check-prefixes=CHECK,CHUNK
// RUN: %all-c -O2 -g -S -emit-llvm %s -o %t.debug.ll
// RUN: FileCheck %s --input-file=%t.debug.ll --check-prefix=DEBUG

// CHECK-LABEL: define {{.*}} @init(
// BLOCK-NOT: push_num_threads
// CHUNK: call void @__kmpc_push_num_threads(ptr {{.*}}, i32 %{{.*}}, i32 6)
// CHECK: @__kmpc_fork_call(ptr {{.*}}, i32 1, ptr nonnull @init.mpg_init.omp_outlined, ptr
// CHECK: call i32 @omp_in_parallel()
// CHECK: store double
// CHECK-LABEL: define internal void @init.mpg_init(
// BLOCK: @__kmpc_for_static_init_8(ptr {{.*}}, i32 %{{.*}}, i32 34, {{.*}}, i64 1, i64 1)
// CHUNK: @__kmpc_for_static_init_8(ptr {{.*}}, i32 %{{.*}}, i32 33, {{.*}}, i64 1, i64 %
// CHECK: store double
// CHECK: @__kmpc_for_static_fini(
// DEBUG: define internal void @init.mpg_init({{.*}} !dbg ![[BODY:[0-9]+]]
// DEBUG: ![[BODY]] = distinct !DISubprogram({{.*}}linkageName: "init.mpg_init"
void init(double *a, long m) {
  for (long i = 0; i < m; i++)
    a[i] = i * 0.5;
}
