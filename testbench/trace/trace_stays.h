// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <tuple>

#include "model/engine/probe.h"

namespace hca::testbench {
// "responder_check" of "port2_responder_check", "port" of "port2".
std::string_view without_port(std::string_view block);

// Since when an item was in the block that it leaves: since it left the block before, by the
// numbers that both events have. A wait before a block is of its stay there.
class TraceStays {
 public:
  // An event of a chip at a time, ps; events come in the order of time. The result is not after
  // that time; empty: the item was in no block before, or the event is not that of an item.
  std::optional<u64> since(unsigned chip, std::string_view block, const engine::Event& event,
                           u64 at);

 private:
  // What the number of an item is: a WQE index, or the PSN of a packet by its part in the exchange.
  enum class Number : u8 { Work, Done, Request, Answer, Received, Judged, Answered };
  using Key = std::tuple<unsigned, Number, u32, u32>;  // chip, number, QPN, its value
  struct At {
    unsigned chip;
    u32 qpn;
    u64 at;
  };
  std::optional<u64> left(const At& item, Number number, u64 value) const;
  void leave(const At& item, Number number, u64 value);
  std::optional<u64> pass(const At& item, Number number, u64 value);
  std::optional<u64> take(const At& item, Number number, u64 value);
  std::optional<u64> in_turn(const At& item, const engine::Event& event);
  void ring(const At& item, u32 producer);
  std::optional<u64> receive(const At& item, std::string_view block, std::string_view name,
                             const engine::Event& event);

  std::map<Key, u64> left_;                               // ps
  std::map<std::pair<unsigned, u32>, u32> rung_to_;       // by chip and QPN
  std::map<std::pair<unsigned, unsigned>, u64> arrived_;  // the last frame, by chip and port, ps
  // By chip and QPN: the last request that was executed, and the last answer that was judged, ps.
  std::map<std::pair<unsigned, u32>, u64> executed_, answered_;
};
}  // namespace hca::testbench
