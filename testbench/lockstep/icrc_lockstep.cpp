// SPDX-License-Identifier: Apache-2.0
#include "testbench/lockstep/icrc_lockstep.h"

#include "testbench/lockstep/describe.h"
#include "testbench/lockstep/elastic.h"
#include "testbench/lockstep/lockstep.h"

namespace hca::testbench {
using blocks::IcrcMode;

void IcrcCounts::count(const IcrcPacket& p) {
  const bool check = p.mode == IcrcMode::Check;
  generated += p.mode == IcrcMode::Generate;
  bypassed += p.mode == IcrcMode::Bypass;
  good += check && p.good();
  bad += check && !p.good();
  bad_vcrc += check && p.icrc_ok && !p.good();
}

std::string IcrcCounts::text() const {
  return fmt::format("generated {}, good {}, bad {}, of them {} by the VCRC, bypassed {}",
                     generated, good, bad, bad_vcrc, bypassed);
}

blocks::IcrcItem IcrcLockstep::item_of(Packet& p) {
  return {p.frame.data(), u32(p.sent.size()), p.mode, p.framing, p.vlan};
}

void IcrcLockstep::take_result(Packet& p, const engine::Event& leaves) {
  p.bytes_out = u32(leaves.a);
  p.icrc_ok = leaves.b & 1;
  p.vcrc_ok = leaves.b & 2;
}

// Valid with the first beat; random in later ones.
void IcrcLockstep::set_side_band(const Packet& p, In& control) {
  if (!control.first) return;
  control.mode = u8(p.mode);
  control.framing = u8(p.framing);
  control.vlan = p.vlan;
}

rtl::Beat IcrcLockstep::expected(const Packet& p, u32 index, u32 beat_bytes) {
  rtl::Beat beat = beat_of<Out>({p.frame.data(), p.bytes_out}, index, beat_bytes);
  beat.control.mode = u8(p.mode);
  beat.control.framing = u8(p.framing);
  beat.control.vlan = p.vlan;
  beat.control.icrc_ok = p.icrc_ok && beat.control.last;
  beat.control.vcrc_ok = p.vcrc_ok && beat.control.last;
  return beat;
}

std::string IcrcLockstep::describe(const Packet& p, bool left) {
  constexpr std::array kModes{"bypass", "generate (BTH-16, BTH-18)", "check (T12-1, DROP-2)"};
  const std::span<const u8> frame(p.frame.data(), left ? p.bytes_out : p.sent.size());
  return fmt::format("packet {}, {}: {}; {} bytes{}{}\n", p.number, kModes[unsigned(p.mode)],
                     p.what, frame.size(), headers_of(frame, proto::framing_row(p.framing).link),
                     hex_dump(frame));
}

template LockstepResult<IcrcLockstep> run_lockstep(const LockstepOptions<IcrcLockstep>&);
template ElasticResult<IcrcLockstep> run_elastic(const LockstepOptions<IcrcLockstep>&);
}  // namespace hca::testbench
