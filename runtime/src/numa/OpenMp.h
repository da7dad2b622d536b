// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program's own OpenMP runtime, if it has one: GOMP_parallel is in libgomp
// and in libomp. Null where there is none. Where there are two, the loader
// gives all of them from the program's own.

#ifndef MPG_RUNTIME_OPENMP_H
#define MPG_RUNTIME_OPENMP_H

// NOLINTBEGIN(readability-identifier-naming): the names are OpenMP's.
extern "C" {
__attribute__((weak)) void GOMP_parallel(void (*body)(void *), void *data,
                                         unsigned threads, unsigned flags);
__attribute__((weak)) int omp_get_num_threads(void);
__attribute__((weak)) int omp_get_thread_num(void);
__attribute__((weak)) int omp_in_parallel(void);
}
// NOLINTEND(readability-identifier-naming)

#endif // MPG_RUNTIME_OPENMP_H
