// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Annotations for clang's -Wthread-safety, which checks at compile time that
// data is used with its lock held. Other compilers see nothing.

#pragma once

#if defined(__clang__)
#define MPG_ANNOTATE(attribute) __attribute__((attribute))
#else
#define MPG_ANNOTATE(attribute)
#endif

#define MPG_CAPABILITY MPG_ANNOTATE(capability("mutex"))
#define MPG_SCOPED_LOCK MPG_ANNOTATE(scoped_lockable)
#define MPG_GUARDED_BY(lock) MPG_ANNOTATE(guarded_by(lock))
#define MPG_REQUIRES(...) MPG_ANNOTATE(requires_capability(__VA_ARGS__))
#define MPG_ACQUIRES(...) MPG_ANNOTATE(acquire_capability(__VA_ARGS__))
#define MPG_TRY_ACQUIRES(...) MPG_ANNOTATE(try_acquire_capability(__VA_ARGS__))
#define MPG_RELEASES(...) MPG_ANNOTATE(release_capability(__VA_ARGS__))
#define MPG_EXCLUDES(...) MPG_ANNOTATE(locks_excluded(__VA_ARGS__))
#define MPG_ASSERTS_LOCK(...) MPG_ANNOTATE(assert_capability(__VA_ARGS__))
/// For functions that hand a lock on in a way that clang cannot follow.
#define MPG_NO_ANALYSIS MPG_ANNOTATE(no_thread_safety_analysis)
