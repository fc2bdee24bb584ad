// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/icrc_unit.h"

#include <stdexcept>
#include <string>

namespace hca::blocks {
namespace {
proto::FrameShape shape_of(u32 covered_bytes_end, proto::Framing framing, bool vlan) {
  const u32 from = covered_from(framing, vlan);
  const u32 transport = from + proto::framing_row(framing).covered_header_bytes;
  return {.framing = framing,
          .network_offset = u16(from),
          .transport_offset = u16(transport),
          .payload_offset = u16(transport + proto::bytes_of<proto::Bth>()),
          .payload_bytes = 0,  // not asked for by the ICRC
          .icrc_offset = covered_bytes_end};
}
void require(bool holds, const char* knob, u64 value, const char* range) {
  if (holds) return;
  throw std::invalid_argument(std::string("icrc_unit.") + knob + " is " + std::to_string(value) +
                              ", allowed is " + range);
}
u64 at_least_one(const char* knob, u64 value) {
  require(value >= 1, knob, value, "1 or more");
  return value;
}
}  // namespace

IcrcUnit::IcrcUnit(const IcrcUnitConfig& config, const Ports& ports, engine::Probe probe)
    : config_(config),
      ports_(ports),
      beats_(engine::Rate(8 * at_least_one("beat_bytes", config.beat_bytes), 1)),
      stage_(config.latency, at_least_one("interval", config.interval)),
      probe_(probe) {
  const engine::Cycle least = ports.packets_out ? ports.packets_out->latency() : 1;
  require(config.latency >= least, "latency", config.latency, "the latency of packets_out or more");
}

u32 IcrcUnit::insert(u8* frame, u32 bytes, proto::Framing framing, bool vlan) {
  const u32 icrc = proto::icrc_of(frame, shape_of(bytes, framing, vlan));
  for (u32 i = 0; i < proto::kIcrcBytes; ++i) frame[bytes++] = u8(icrc >> 8 * i);
  if (!proto::is_native(framing)) return bytes;
  const u16 vcrc = proto::crc16_vcrc(0, frame, bytes);
  for (u32 i = 0; i < proto::kVcrcBytes; ++i) frame[bytes++] = u8(vcrc >> 8 * i);
  return bytes;
}

bool IcrcUnit::good(const u8* frame, u32 bytes, proto::Framing framing, bool vlan) {
  if (bytes < icrc_min_bytes(framing, vlan)) return false;
  return proto::icrc_good({frame, bytes}, shape_of(bytes - crc_bytes(framing), framing, vlan));
}

bool IcrcUnit::vcrc_good(const u8* frame, u32 bytes, proto::Framing framing) {
  if (!proto::is_native(framing) || bytes < icrc_min_bytes(framing, false)) return false;
  return proto::vcrc_good({frame, bytes}, shape_of(bytes - crc_bytes(framing), framing, false));
}

void IcrcUnit::process(IcrcItem& item) {
  if (item.mode == IcrcMode::Generate)
    item.bytes = insert(item.frame, item.bytes, item.framing, item.vlan);
  const bool check = item.mode == IcrcMode::Check;
  item.icrc_ok = check && good(item.frame, item.bytes, item.framing, item.vlan);
  item.vcrc_ok = check && vcrc_good(item.frame, item.bytes, item.framing);
}

void IcrcUnit::tick() {
  if (!ports_.packets_in->can_pop() || !ports_.packets_out->can_push()) return;
  IcrcItem item = ports_.packets_in->front();
  process(item);
  const engine::Cycle out_beats = beats(item.bytes), leaves = pass(now(), item.bytes);
  probe_.event(leaves, Kind::Leaves, item.bytes, u64(item.icrc_ok) | u64(item.vcrc_ok) << 1,
               u64(item.mode));
  ports_.packets_in->pop(std::max(config_.interval, out_beats));
  ports_.packets_out->push(item, out_beats, leaves - now() - ports_.packets_out->latency());
  ++packets_;
  const bool good = item.icrc_ok && (item.vcrc_ok || !proto::is_native(item.framing));
  bad_packets_ += item.mode == IcrcMode::Check && !good;
}
}  // namespace hca::blocks
