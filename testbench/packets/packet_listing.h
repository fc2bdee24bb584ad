// SPDX-License-Identifier: Apache-2.0
// A frame field by field: as text for a person or JSON for a program, with the same content.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/proto/wire/form_rules.h"
#include "model/proto/wire/open_frame.h"
#include "testbench/packets/frame_source.h"

namespace hca::testbench {

// A frame with all available information.
struct FrameReport {
  const SourceFrame& frame;
  proto::OpenedFrame dissection;
  std::vector<proto::BrokenRule> broken;  // errors and remarks
  std::string mad;  // for a packet to QP0 or QP1: "CM REQ", "SMP Get NodeInfo"
  // An Ethernet FCS at the frame's end; 0 bytes: there is none.
  u32 fcs_bytes = 0;
  bool fcs_is_good = false;

  explicit FrameReport(const SourceFrame& source);
  // The capture contains only the beginning of the frame.
  bool is_cut() const { return dissection.is_cut; }
  // An RDMA packet that can be judged.
  bool is_judged() const { return dissection.is_judged(); }
  // The reason if not: "ARP", "TCP", "cut before its BTH".
  const std::string& other() const { return dissection.other; }
  bool has_vcrc() const { return dissection.has_icrc && is_native(dissection.packet.framing); }
  std::size_t count(proto::Grade grade) const;
};

std::string one_line(const FrameReport& report);
// `payload_limit`: bytes of the payload to show.
std::string listing(const FrameReport& report, std::size_t payload_limit);
nlohmann::ordered_json to_json(const FrameReport& report);

}  // namespace hca::testbench
