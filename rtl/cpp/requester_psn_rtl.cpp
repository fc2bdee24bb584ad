// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/requester_psn_rtl.h"

#include <Vrequester_psn_256.h>  // made by Verilator
#include <Vrequester_psn_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
RequesterPsnRtl::RequesterPsnRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes,
               make_block<Vrequester_psn_256, Vrequester_psn_512, PsnStepBeat, PsnStepped>(
                   "requester_psn", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
