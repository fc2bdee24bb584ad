// SPDX-License-Identifier: Apache-2.0
// A frame field by field: as text for a person, as JSON for a program, with the same content.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "model/proto/form_rules.h"
#include "testbench/frame_source.h"

namespace hca::testbench {

// A frame with all that there is to say of it.
struct FrameReport {
  const SourceFrame& frame;
  proto::Dissection dissection;
  std::vector<proto::BrokenRule> broken;  // of both grades

  explicit FrameReport(const SourceFrame& source);
  // The frame ends early since not all of it was captured.
  bool is_cut() const;
  std::size_t count(proto::Grade grade) const;
  bool is_foreign() const { return proto::verdict_row(dissection.structure).is_foreign; }
};

std::string one_line(const FrameReport& report);
// `payload_limit`: bytes of the payload to show.
std::string listing(const FrameReport& report, std::size_t payload_limit);
nlohmann::ordered_json to_json(const FrameReport& report);

}  // namespace hca::testbench
