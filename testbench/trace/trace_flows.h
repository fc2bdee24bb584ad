// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "testbench/testbed/testbed.h"

namespace hca::testbench {
// Assigns items to messages, for the arrows of a timeline: a message gets a number at the doorbell
// or turn that first names its WQE. For a message of several packets the first packet is followed,
// and its answer, as far as the answer has its PSN.
class TraceFlows {
 public:
  // begin: the first item of the message; end: the last one.
  struct Step {
    u64 message;
    bool begin, end;
  };
  explicit TraceFlows(const Testbed& testbed) : testbed_(testbed) {}
  // An event of a block; for a turn or doorbell, the first of its messages.
  std::optional<Step> step(unsigned chip, std::string_view block, const engine::Event& event);
  // A frame with this PSN to a queue pair of `chip`.
  std::optional<Step> frame(unsigned chip, u32 qpn, u32 psn, bool is_request);

 private:
  // Only the 16 bits of a WQE index that a CQE has.
  using Key = std::tuple<unsigned, u32, u32>;  // chip, QPN, index or PSN
  struct Message {
    u64 number;
    std::optional<u32> psn;
    bool begun = false, ended = false;
  };
  Message& posted(unsigned chip, u32 qpn, u32 index);
  std::optional<Step> step_of(Message& message, bool end = false);
  std::optional<Step> by_psn(unsigned chip, u32 qpn, u32 psn);
  std::optional<Step> by_index(unsigned chip, u32 qpn, u32 index, bool end = false);
  std::optional<std::pair<unsigned, u32>> peer_of(unsigned chip, u32 qpn);

  const Testbed& testbed_;
  u64 count_ = 0;
  std::map<Key, Message> messages_;  // by index
  std::map<Key, u32> index_of_;      // by PSN
  // Chip and QPN of the other end, by those of this one.
  std::map<std::pair<unsigned, u32>, std::pair<unsigned, u32>> peers_;
  std::map<std::pair<unsigned, u32>, u32> rung_to_;  // producer index of the last doorbell
};
}  // namespace hca::testbench
