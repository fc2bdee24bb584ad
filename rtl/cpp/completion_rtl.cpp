// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/completion_rtl.h"

#include <Vcompletion_256.h>  // made by Verilator
#include <Vcompletion_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
CompletionRtl::CompletionRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes, make_block<Vcompletion_256, Vcompletion_512, CqStepBeat, CqStepped>(
                               "completion", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
