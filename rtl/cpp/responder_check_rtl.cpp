// SPDX-License-Identifier: Apache-2.0
#include "rtl/cpp/responder_check_rtl.h"

#include <Vresponder_check_256.h>  // made by Verilator
#include <Vresponder_check_512.h>

#include "rtl/cpp/verilated_block.h"

namespace hca::rtl {
ResponderCheckRtl::ResponderCheckRtl(u32 beat_bytes)
    : BlockRtl(beat_bytes, make_block<Vresponder_check_256, Vresponder_check_512, Parsed, Judged>(
                               "responder_check", beat_bytes, [](auto&) {})) {}
}  // namespace hca::rtl
