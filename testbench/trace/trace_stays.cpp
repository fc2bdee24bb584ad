// SPDX-License-Identifier: Apache-2.0
#include "testbench/trace/trace_stays.h"

#include <algorithm>

#include "model/blocks/lib/stage_config.h"
#include "model/proto/interface/work_rows.h"

namespace hca::testbench {
namespace {
constexpr u32 kIndexBits = 0xffff;     // of a WQE index that a CQE has
constexpr u32 kMostOfDoorbell = 4096;  // more is a queue pair that began anew

bool is_numbered(std::string_view block) {
  return block.starts_with("port1") || block.starts_with("port2");
}
unsigned port_in(std::string_view block) { return is_numbered(block) && block[4] == '2'; }
template <class Map>
std::optional<u64> found_in(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}
}  // namespace

std::string_view without_port(std::string_view block) {
  if (!is_numbered(block)) return block;
  return block.size() == 5 ? block.substr(0, 4) : block.substr(6);
}

std::optional<u64> TraceStays::left(const At& item, Number number, u64 value) const {
  return found_in(left_, {item.chip, number, item.qpn, u32(value)});
}

void TraceStays::leave(const At& item, Number number, u64 value) {
  left_[{item.chip, number, item.qpn, u32(value)}] = item.at;
}

// It leaves the next block now.
std::optional<u64> TraceStays::pass(const At& item, Number number, u64 value) {
  const auto since = left(item, number, value);
  leave(item, number, value);
  return since;
}

// It goes on under another number, or nowhere.
std::optional<u64> TraceStays::take(const At& item, Number number, u64 value) {
  const auto since = left(item, number, value);
  left_.erase({item.chip, number, item.qpn, u32(value)});
  return since;
}

void TraceStays::ring(const At& item, u32 producer) {
  u32& from = rung_to_[{item.chip, item.qpn}];
  const u32 count = (producer - from) & kIndexBits;
  for (u32 i = count > kMostOfDoorbell ? 1 : count; i > 0; --i)
    leave(item, Number::Work, (producer - i) & kIndexBits);
  from = producer;
}

// The WQEs of a turn; the first one counts.
std::optional<u64> TraceStays::in_turn(const At& item, const engine::Event& event) {
  const auto since = left(item, Number::Work, event.b & kIndexBits);
  for (u64 i = 0; i < event.c; ++i) leave(item, Number::Work, (event.b + i) & kIndexBits);
  return since;
}

// A check may be over before the last byte is there.
std::optional<u64> TraceStays::receive(const At& item, std::string_view block,
                                       std::string_view name, const engine::Event& event) {
  const auto arrived = found_in(arrived_, {item.chip, port_in(block)});
  if (name == "icrc_unit") {
    leave(item, event.c ? Number::Received : Number::Answered, event.b);
    return arrived;
  }
  const bool is_request = name == "responder_check";
  const auto since = take(item, is_request ? Number::Received : Number::Answered, event.b);
  if (is_request)
    leave(item, Number::Judged, event.b);
  else
    answered_[{item.chip, item.qpn}] = item.at;
  return since ? since : arrived;
}

std::optional<u64> TraceStays::since(unsigned chip, std::string_view block,
                                     const engine::Event& event, u64 at) {
  using blocks::Step;
  const std::string_view name = without_port(block);
  const At item{chip, u32(event.a), at};
  const auto is = [&](std::string_view of, Step step) {
    return name == of && event.kind == u16(step);
  };
  const std::pair<unsigned, u32> queue{chip, item.qpn};
  if (is("doorbell", Step::Passed)) {
    ring(item, u32(event.b));
    return std::nullopt;
  }
  if (is("qp_scheduler", Step::Passed) || is("wqe_fetch", Step::Passed))
    return in_turn(item, event);
  if (is("requester", Step::Passed)) {
    leave(item, Number::Request, event.b);
    return pass(item, Number::Work, event.c & kIndexBits);
  }
  if (is("packetizer", Step::Passed)) return pass(item, Number::Request, event.b);
  if (is("icrc_unit", Step::Passed))
    return pass(item, event.c ? Number::Request : Number::Answer, event.b);
  if (is("port", Step::Passed))
    return take(item, event.c ? Number::Request : Number::Answer, event.b);
  if (is("port", Step::Arrived)) {
    arrived_[{chip, port_in(block)}] = at;
    return std::nullopt;
  }
  if (is("icrc_unit", Step::Received) || is("responder_check", Step::Passed) ||
      is("response_check", Step::Passed))
    return receive(item, block, name, event);
  if (is("responder_execute", Step::Passed)) {
    executed_[queue] = at;
    return pass(item, Number::Judged, event.b);
  }
  if (is("responder_execute", Step::Completed)) {  // a response with data
    leave(item, Number::Answer, event.b);
    const auto since = found_in(executed_, queue);
    executed_[queue] = at;
    return since;
  }
  if (is("responder_reply", Step::Passed)) {
    leave(item, Number::Answer, event.b);
    return take(item, Number::Judged, event.b);
  }
  if (is("requester", Step::Completed)) {
    leave(item, Number::Done, event.b & kIndexBits);
    return found_in(answered_, queue);
  }
  if (is("completion", Step::Passed))
    return proto::is_of_receive(proto::CqeOpcode(event.c))
               ? found_in(executed_, queue)
               : take(item, Number::Done, event.b & kIndexBits);
  return std::nullopt;
}
}  // namespace hca::testbench
