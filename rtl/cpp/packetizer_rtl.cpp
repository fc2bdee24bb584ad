// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/packetizer_rtl.h"

#include <Vpacketizer_256.h>  // made by Verilator
#include <Vpacketizer_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
PacketizerRtl::PacketizerRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes, make_block<Vpacketizer_256, Vpacketizer_512, Descriptor, BeatControl>(
                               "packetizer", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
