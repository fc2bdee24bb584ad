// SPDX-License-Identifier: Apache-2.0
// The headers of a frame as they leave rtl/rx_parser/rx_parser.sv beside its payload.
#pragma once
#include "model/proto/wire/packet.h"
#include "rtl/rx_parser/parsed.h"

namespace hca::testbench {
void clear_headers(rtl::Parsed& out);
// Addresses and BTH.
void put_transport(const proto::ParsedPacket& packet, const proto::Addressing& addressing,
                   rtl::Parsed& out);
// The extension headers of an opcode.
void put_ext(const proto::OpcodeRow& row, const proto::ExtHeaders& from, proto::ExtHeaders& to);
}  // namespace hca::testbench
