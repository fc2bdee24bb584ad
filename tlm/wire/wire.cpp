// SPDX-License-Identifier: Apache-2.0
#include "tlm/wire/wire.h"

#include <algorithm>

#include "model/proto/wire/link_frames.h"

namespace hca::tlm_ {
using sc_core::sc_time;

namespace {
u64 unit() { return sc_time(1, sc_core::SC_PS).value(); }
sc_time picoseconds(u64 ps) { return sc_time::from_value(ps * unit()); }
}  // namespace

void check_wire(const WireConfig& c) {
  if (!c.breaks() || c.down_times <= 1 || c.down_every > c.down_for) return;
  throw engine::ConfigError("wire.down_every", std::to_string(c.down_every) + " ps",
                            "more than wire.down_for, " + std::to_string(c.down_for) + " ps", "",
                            "leaves no time between two breaks");
}

Wire::Wire(sc_core::sc_module_name name, const WireConfig& config, FaultScript faults, u64 seed)
    : sc_module(name),
      latency_(picoseconds(config.one_way())),
      config_(config),
      faults_(std::move(faults)),
      random_{engine::Random(seed), engine::Random(seed + 1)},
      errors_{engine::Random(~seed), engine::Random(~seed - 1)} {
  engine::check_knobs(config);
  check_wire(config);
  if (config.bit_errors && !config.fec) error_bits_ = 1;
  for (u32 i = 0; i < config.bit_errors; ++i) error_bits_ *= 10;
  look();
  from_a.serve(this, 0);
  from_b.serve(this, 1);
}

void Wire::look() {
  may_hit_ = error_bits_ || config_.breaks() || !faults_.is_empty();
  looks_ = may_hit_ || !entry_taps_.empty();
}

sc_time Wire::time_of(u64 bytes) const {
  const engine::u128 bits = engine::u128{bytes + proto::kEthernetOverhead} * 8;
  return picoseconds(u64((bits * 1'000'000'000'000 + config_.rate - 1) / config_.rate));
}

inline sc_time Wire::arrival(u8 sender, sc_time delay, u64 bytes) {
  if (ends_[sender].moved) [[unlikely]]
    return arrival_behind(sender, delay, bytes);
  return delay + latency_;
}

[[gnu::noinline]] sc_time Wire::arrival_behind(u8 sender, sc_time delay, u64 bytes) {
  End& end = ends_[sender];
  const sc_time now = sc_core::sc_time_stamp();
  sc_time at = now + delay + latency_;
  if (at < end.free_from) at = end.free_from;
  end.free_from = at + time_of(bytes);
  return at - now;
}

[[gnu::noinline]] void Wire::tell_taps(u8 sender, const tlm::tlm_generic_payload& payload,
                                       sc_time at) const {
  const proto::FrameView frame = frame_of(payload);
  for (const auto& [number, tap] : taps_) tap(sender, sc_core::sc_time_stamp() + at, frame);
}

[[gnu::hot]] inline void Wire::forward(u8 sender, tlm::tlm_generic_payload& payload, sc_time at) {
  if (!taps_.empty()) [[unlikely]]
    tell_taps(sender, payload, at);
  ends_[sender].to->b_transport(payload, at);
}

[[gnu::hot]] void Wire::b_transport(int from, tlm::tlm_generic_payload& payload, sc_time& delay) {
  const u8 sender = u8(from);
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
  ++ends_[sender].frames;
  if (looks_ && enters(sender, payload, delay)) [[unlikely]]
    return;
  forward(sender, payload, arrival(sender, delay, frame_of(payload).size()));
  release_held(sender, delay);
}

[[gnu::noinline]] bool Wire::enters(u8 sender, tlm::tlm_generic_payload& payload, sc_time delay) {
  const proto::FrameView frame = frame_of(payload);
  for (const Tap& tap : entry_taps_) tap(sender, sc_core::sc_time_stamp() + delay, frame);
  if (!may_hit_ || proto::is_link_frame(frame.held(), faults_.link())) return false;
  const u64 ps = (sc_core::sc_time_stamp() + delay).value() / unit();
  if (config_.breaks() && config_.is_broken(ps)) return ++ends_[sender].lost;
  if (error_bits_ && is_damaged(sender, frame.size())) return ++ends_[sender].damaged;
  const FaultRule* const rule = faults_.is_empty() ? nullptr : faults_.decide(sender, frame, ps);
  if (rule) apply(*rule, sender, payload, delay);
  return rule;
}

bool Wire::has_broken() const {
  return config_.breaks() && sc_core::sc_time_stamp().value() / unit() >= config_.down_from;
}

bool Wire::is_damaged(u8 sender, u64 bytes) {
  const bool ethernet = faults_.link() == proto::LinkLayer::Ethernet;
  // An FCS is not in the frame, a VCRC is.
  const u64 bits =
      8 * (ethernet ? std::max<u64>(bytes, proto::kMinEthernetFrame) + proto::kFcsBytes : bytes);
  return errors_[sender].below(error_bits_) < bits;
}

void Wire::apply(const FaultRule& rule, u8 sender, tlm::tlm_generic_payload& payload,
                 sc_time delay) {
  FrameCopy copy(frame_of(payload));
  const u64 bytes = copy.frame().size();
  switch (rule.action) {
    case FaultAction::None:
      forward(sender, payload, arrival(sender, delay, bytes));
      return release_held(sender, delay);
    case FaultAction::Drop:
      return;
    case FaultAction::Duplicate:
      ends_[sender].moved = true;
      forward(sender, payload, arrival(sender, delay, bytes));
      return forward_copy(sender, copy, arrival(sender, delay, bytes));
    case FaultAction::Reorder:
      release_held(sender, delay);
      ends_[sender].held = std::move(copy);
      ends_[sender].moved = true;
      return;
    case FaultAction::Delay:
      return forward_copy(sender, copy, delay + latency_ + picoseconds(rule.delay));
    case FaultAction::Corrupt:
      copy.corrupt(faults_.link(), random_[sender]);
      return forward_copy(sender, copy, arrival(sender, delay, bytes));
    case FaultAction::MarkEcn:
      copy.mark_congestion(faults_.link());
      return forward_copy(sender, copy, arrival(sender, delay, bytes));
  }
}

inline void Wire::release_held(u8 sender, const sc_time& delay) {
  if (!ends_[sender].held.empty()) [[unlikely]]
    forward_held(sender, delay);
}

[[gnu::noinline]] void Wire::forward_held(u8 sender, const sc_time& delay) {
  const FrameCopy copy = std::exchange(ends_[sender].held, {});
  ends_[sender].moved = true;
  forward_copy(sender, copy, arrival(sender, delay, copy.frame().size()));
}

bool Wire::release_held(const sc_time& delay) {
  bool released = false;
  for (u8 sender = 0; sender < kEnds; ++sender) {
    released |= !ends_[sender].held.empty();
    release_held(sender, delay);
  }
  return released;
}

void Wire::forward_copy(u8 sender, const FrameCopy& copy, sc_time at) {
  const proto::FrameView frame = copy.frame();
  const unsigned held = unsigned(frame.held().size());
  WireExtension extension;
  extension.frame_bytes = frame.size();
  extension.crcs = frame.crcs();
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_data_ptr(const_cast<u8*>(frame.data()));
  payload.set_data_length(held);
  payload.set_streaming_width(held);
  payload.set_extension(&extension);
  forward(sender, payload, at);
  payload.clear_extension(&extension);
}
}  // namespace hca::tlm_
