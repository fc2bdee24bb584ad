// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/rx_parser_rtl.h"

#include <Vrx_parser_256.h>  // made by Verilator
#include <Vrx_parser_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
RxParserRtl::RxParserRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes, make_block<Vrx_parser_256, Vrx_parser_512, BeatControl, Parsed>(
                               "rx_parser", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
