// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What SimThreads.cpp needs of SimRuntime.cpp: lanes of the ring, and records
// that are not written by compiled code. Within the two archives alone.

#pragma once

#include "mpg/sim.h"

/// Opens the ring unless that was done; before the first module, too.
void mpg_sim_start();
/// Null: no mpgsim.
mpg_sim_ring *mpg_sim_shared();
/// Whether this thread has a lane.
bool mpg_sim_is_recorded();
/// pre for the next four: the thread has a lane. They also act while recording
/// is off.
void mpg_sim_say(uint64_t value, mpg_sim_kind kind, uint64_t number);
void mpg_sim_say_stack(uint64_t lowest, uint64_t bytes);
/// Makes the reports visible to mpgsim at once, not when the chunk is full.
void mpg_sim_hand_over();
/// Says that the thread has ended. It is not recorded from now on.
void mpg_sim_end_lane();
/// This thread fills the lane \p number, which is its own.
void mpg_sim_begin_lane(unsigned number);
