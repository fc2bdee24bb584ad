// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/system/malice/overlap_record.h"

#include <algorithm>

#include "model/proto/transport/syndrome.h"

namespace hca::testbench::malice::overlap {
Recorder::Recorder(Device& device, const Burst& burst) : device_(device), burst_(burst) {
  history_ = {burst, std::vector<Seen>(burst.size())};
  for (u32 i = 0; i < burst.size(); ++i) {
    const Operation& op = burst[i];
    all_[op.actor].push_back(i);
    if (op.actor >= kPeers || is_receive(op.what)) completed_[op.actor].push_back(i);
  }
}

History Recorder::run() {
  device_.listen(
      [this](u8 actor, u32 number, proto::WcStatus status) { completed(actor, number, status); });
  for (u32 i = 0; i < burst_.size(); ++i) {
    if (burst_[i].gap) device_.device().advance(burst_[i].gap);
    answered();
    history_.seen[i].begun = ++moment_;
    device_.begin(burst_[i]);
  }
  device_.device().run();
  answered();
  device_.listen({});
  return std::move(history_);
}

void Recorder::answered() {
  for (const Device::Answer& answer : device_.answers()) answered(answer);
}

void Recorder::answered(const Device::Answer& answer) {
  using namespace proto;
  const auto& actor = all_[answer.actor];
  must(answer.number < actor.size(), "an answer to no request");
  const ParsedPacket& p = answer.packet;
  const bool is_nak = p.has(Ext::Aeth) && syndrome_kind(p.aeth.syndrome) != SyndromeKind::Ack;
  for (u32 n = 0; n < answer.number + !is_nak; ++n) end(actor[n], Fate::Executed);
  const u32 i = actor[answer.number];
  if (is_nak) return end(i, Fate::Refused);
  if (p.has(Ext::AtomicAckEth))
    for (u64 word = p.atomic_ack_eth.original, n = 8; n--; word >>= 8)
      history_.seen[i].data.push_back(u8(word));
  else
    history_.seen[i].data = answer.payload;
}

void Recorder::completed(u8 actor, u32 number, proto::WcStatus status) {
  answered();
  if (status == proto::WcStatus::WrFlushErr) return;  // after a failed one
  if (actor == kCommand) {                            // by its key
    const auto found = std::find_if(all_[actor].begin(), all_[actor].end(),
                                    [&](u32 i) { return burst_[i].key == number; });
    number = u32(found - all_[actor].begin());
  }
  must(number < completed_[actor].size(), "a completion of nothing");
  const u32 i = completed_[actor][number];
  const bool success = status == proto::WcStatus::Success;
  end(i, Fate::Executed);
  if (!success) history_.seen[i].fate = Fate::Refused;  // though it may have been acknowledged
  history_.seen[i].told = ++moment_;
  if (success && burst_[i].reuses) reuse(burst_[i]);
}

void Recorder::reuse(const Operation& by) {
  Operation op = by;
  op.what = What::HostWrite, op.actor = kHost;
  op.fill = u8(0x80 + history_.operations.size());
  const u32 end = takes_key(by.what) ? kKeys[by.key].end : by.at + by.bytes;
  op.at = std::max(takes_key(by.what) ? kKeys[by.key].begin : by.at, kAtomicBytes);
  if (op.at >= end) return;
  op.bytes = end - op.at;
  device_.reuse(op);
  ++moment_;
  history_.operations.push_back(op);
  history_.seen.push_back({Fate::Executed, {}, moment_, moment_, moment_});
}

void Recorder::end(u32 i, Fate fate) {
  Seen& seen = history_.seen[i];
  if (seen.ended != Seen::kNever) return;
  seen.fate = fate, seen.ended = ++moment_;
}
}  // namespace hca::testbench::malice::overlap
