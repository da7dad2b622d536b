// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of SimRuntime.cpp that SimThreads.cpp uses: lanes of the ring, and
// records that compiled code does not write. Not installed.

#pragma once

#include "mpg/sim.h"

/// Opens the ring if it is not open. May be called before any module starts.
void mpg_sim_start();
/// Null if no mpgsim runs the program.
mpg_sim_ring *mpg_sim_shared();
/// Whether this thread has a lane.
bool mpg_sim_is_recorded();
/// pre for the next four: the thread has a lane. They also act while recording
/// is off.
void mpg_sim_say(uint64_t value, mpg_sim_kind kind, uint64_t number);
void mpg_sim_say_stack(uint64_t lowest, uint64_t bytes);
/// Makes the reports visible to mpgsim at once, not when the chunk is full.
void mpg_sim_hand_over();
/// Records that the thread has ended, and nothing of it from now on.
void mpg_sim_end_lane();
/// Makes \p number the lane of this thread.
void mpg_sim_begin_lane(unsigned number);
