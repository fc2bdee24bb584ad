// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/datagram.h"

namespace hca::testbench {
using namespace proto;

std::span<const u8> payload_of(const LearnedPacket& p) {
  return std::span(p.seen.bytes).subspan(p.seen.packet.payload_offset, p.seen.packet.payload_bytes);
}
std::vector<u8> with_network_header(const SeenMessage& m) {
  const Seen& seen = m.first->seen;
  const u32 bytes = seen.packet.framing == Framing::IbLocal     ? 0
                    : seen.packet.framing == Framing::RoceV2Ip4 ? 20
                                                                : kDatagramHeaderBytes;
  std::vector<u8> all(kDatagramHeaderBytes + m.payload.size());
  std::copy_n(seen.bytes.begin() + seen.packet.network_offset, bytes,
              all.begin() + (kDatagramHeaderBytes - bytes));
  std::ranges::copy(m.payload, all.begin() + kDatagramHeaderBytes);
  return all;
}
const WorkRow& work_of(const SeenMessage& m) {
  const auto code = [](const LearnedPacket* p) { return p->seen.packet.bth.opcode & 0x1f; };
  const OpcodeRow& first = m.row();
  for (const WorkRow& work : kWorkRows) {
    const bool is_one = first.position == Position::Only;
    const bool sends = is_one ? work.only == code(m.first)
                              : work.first == code(m.first) && work.last == code(m.last);
    if (sends && !work.is_local() && work.capability == Capability::Base) return work;
  }
  throw std::runtime_error(fmt::format("its {} cannot be posted again", first.name));
}

u8 rnr_timer_of(const std::vector<LearnedPacket>& packets, std::size_t pair, End end) {
  u8 timer = 12;
  for (const LearnedPacket& p : packets)
    if (p.pair == pair && p.from == end && p.seen.is_rnr_nak())
      timer = syndrome_value(p.seen.packet.aeth.syndrome);
  return timer;
}

std::vector<LearnedQueue> find_rd_queues(const std::vector<LearnedPacket>& packets) {
  std::map<std::pair<End, u32>, LearnedQueue> queues;
  for (const LearnedPacket& p : packets) {
    const ParsedPacket& packet = p.seen.packet;
    if (!p.seen.is_request() || !packet.has(Ext::Rdeth)) continue;
    const u32 asker = packet.deth.src_qp, receiver = packet.bth.dest_qp;
    queues.try_emplace({p.from, asker}, LearnedQueue{p.from, asker});
    const End end = other(p.from);
    queues[{end, receiver}] = {end, receiver, packet.deth.qkey, rnr_timer_of(packets, p.pair, end)};
  }
  std::vector<LearnedQueue> all;
  for (const auto& [where, queue] : queues) all.push_back(queue);
  return all;
}
}  // namespace hca::testbench
