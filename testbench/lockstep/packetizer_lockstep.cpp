// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/packetizer_lockstep.h"

#include "model/blocks/port/icrc_unit.h"
#include "testbench/lockstep/describe.h"
#include "testbench/lockstep/elastic.h"
#include "testbench/lockstep/lockstep.h"

namespace hca::testbench {
void PacketizerCounts::count(const PacketizerPacket& p) {
  payload_bytes += p.payload.size();
  empty += p.payload.empty();
  padded += p.payload.size() % 4 != 0;
}

std::string PacketizerCounts::text() const {
  return fmt::format("without payload {}, padded {}, bytes of payload {}", empty, padded,
                     payload_bytes);
}

blocks::PacketizerItem PacketizerLockstep::item_of(Packet& p) {
  return {&p.descriptor.address, p.opcode,         &p.descriptor.bth,     &p.descriptor,
          p.descriptor.ip_id,    p.payload.data(), u32(p.payload.size()), p.frame.data()};
}

// Valid with the first beat; random in later ones.
void PacketizerLockstep::set_side_band(const Packet& p, In& control) {
  if (!control.first) return;
  const bool last = control.last;
  const u8 bytes = control.bytes;
  control = p.descriptor;
  control.first = true;
  control.last = last;
  control.bytes = bytes;
}

rtl::Beat PacketizerLockstep::expected(const Packet& p, u32 index, u32 beat_bytes) {
  rtl::Beat beat = beat_of<Out>({p.frame.data(), p.bytes_out}, index, beat_bytes);
  beat.control.mode = u8(blocks::IcrcMode::Generate);
  beat.control.framing = u8(p.descriptor.address.framing);
  beat.control.vlan = p.descriptor.address.has_vlan;
  return beat;
}

std::string PacketizerLockstep::describe(const Packet& p, bool left) {
  const std::string head = fmt::format("packet {} (BTH-8, C9-6): {}", p.number, p.what);
  if (!left) return head + hex_dump(p.payload) + "\n";
  const std::span<const u8> frame(p.frame.data(), p.bytes_out);
  const proto::LinkLayer link = proto::framing_row(p.descriptor.address.framing).link;
  return fmt::format("{}; {} bytes{}{}\n", head, frame.size(), headers_of(frame, link),
                     hex_dump(frame));
}

template LockstepResult<PacketizerLockstep> run_lockstep(
    const LockstepOptions<PacketizerLockstep>&);
template ElasticResult<PacketizerLockstep> run_elastic(const LockstepOptions<PacketizerLockstep>&);
}  // namespace hca::testbench
