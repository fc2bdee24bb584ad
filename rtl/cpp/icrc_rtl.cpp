// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/icrc_rtl.h"

#include <Vicrc_256.h>  // made by Verilator
#include <Vicrc_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
IcrcRtl::IcrcRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes, make_block<Vicrc_256, Vicrc_512, BeatControl, BeatControl>(
                               "icrc", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
