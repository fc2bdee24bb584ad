// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay_learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "model/proto/responder_rules.h"
#include "testbench/replay_history.h"

namespace hca::testbench {
using namespace proto;
using nlohmann::json;

namespace {
// Where the buffers lie that no key on the wire names: above all addresses of user programs.
constexpr u64 kBuffers = u64{3} << 46;
constexpr u64 kBufferBytes = u64{1} << 22;
constexpr std::array<u32, 5> kMtus{256, 512, 1024, 2048, 4096};

struct Packet {
  Seen seen;
  End from;
  u64 time;
};
struct Message {
  const Packet* first;
  std::vector<u8> payload;
  u32 bytes = 0;  // of a READ: asked for
  bool ended = false;
  const Packet* last = nullptr;
  const OpcodeRow& row() const { return *first->seen.packet.opcode; }
};
struct Range {
  u64 begin, end;
};
// A region at one end, and what it holds when all is over.
struct Area {
  End end;
  std::string name;
  u64 begin, bytes;
  u32 key;
  json changed = json::array();
  bool known = true;  // all that changed is known
};

std::string hex(std::span<const u8> bytes) {
  std::string text;
  for (const u8 byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}
std::span<const u8> payload_of(const Packet& p) {
  return std::span(p.seen.bytes).subspan(p.seen.packet.payload_offset, p.seen.packet.payload_bytes);
}
std::string operation_of(const Message& m) {
  const OpcodeRow& first = m.row();
  const ParsedPacket& last = m.last->seen.packet;
  switch (first.operation) {
    case Operation::Send:
      return last.has(Ext::ImmDt)  ? "SEND_WITH_IMM"
             : last.has(Ext::Ieth) ? "SEND_WITH_INV"
                                   : "SEND";
    case Operation::Write:
      return last.has(Ext::ImmDt) ? "RDMA_WRITE_WITH_IMM" : "RDMA_WRITE";
    case Operation::ReadRequest:
      return "RDMA_READ";
    case Operation::CompareSwap:
      return "ATOMIC_CMP_AND_SWP";
    default:
      return "ATOMIC_FETCH_AND_ADD";
  }
}

class Learner {
 public:
  explicit Learner(Capture& capture) : capture_(capture) {}

  void run() {
    read_packets();
    if (packets_.empty()) return;
    find_ends();
    find_mtu();
    find_regions();
    for (const End end : {End::A, End::B}) connect(end);
    for (const End end : {End::A, End::B}) find_messages(end);
    for (const Packet& p : packets_)
      if (p.seen.is_response() && !asked_[unsigned(other(p.from))].contains(p.seen.psn()))
        throw std::runtime_error(fmt::format("a response of end {} with PSN {} answers no request",
                                             name_of(p.from), p.seen.psn()));
    finish();
  }

 private:
  // ---- What there is
  void read_packets() {
    const std::vector<ReplayFrame> all = std::move(capture_.frames);
    capture_.frames.clear();
    for (const ReplayFrame& frame : all) {
      const Seen seen(frame.bytes);
      if (seen.packet.transport_offset && seen.packet.bth.opcode >> 5 != unsigned(Service::Rc)) {
        ++capture_.left_out, capture_.left_out_reason = "other services than RC";
        continue;
      }
      capture_.frames.push_back(frame);
      if (seen.good && was_sent(frame.fate)) packets_.push_back({seen, frame.from, frame.time_ns});
    }
  }

  void find_ends() {
    for (const Packet& p : packets_)
      qpns_[unsigned(other(p.from))].insert(p.seen.packet.bth.dest_qp);
    for (const End end : {End::A, End::B}) {
      ReplaySide& side = capture_.sides[unsigned(end)];
      side.mac = usual(end, [](const Addressing& a) { return a.source_mac; });
      side.gid4 = side.gid6 = usual(end, [](const Addressing& a) { return a.source_gid.bytes; });
    }
    for (const End end : {End::A, End::B})
      if (qpns_[unsigned(end)].size() != 1)
        throw std::runtime_error(fmt::format("end {} has {} RC queue pairs, not one", name_of(end),
                                             qpns_[unsigned(end)].size()));
  }
  // What most packets of an end have.
  template <class Value>
  std::invoke_result_t<Value, Addressing> usual(End end, const Value& value) const {
    std::map<std::invoke_result_t<Value, Addressing>, std::size_t> counts;
    for (const Packet& p : packets_)
      if (p.from == end) ++counts[value(addressing_of(p.seen.bytes.data(), p.seen.packet))];
    if (counts.empty()) throw std::runtime_error(fmt::format("end {} sends nothing", name_of(end)));
    return std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; })->first;
  }
  u32 qpn(End end) const { return *qpns_[unsigned(end)].begin(); }

  void find_mtu() {
    u32 most = 0;
    for (const Packet& p : packets_) most = std::max(most, p.seen.packet.payload_bytes);
    mtu_ = kMtus.back();
    for (const u32 mtu : kMtus)
      if (mtu >= most) mtu_ = std::min(mtu_, mtu);
  }

  void find_regions() {
    std::map<std::pair<End, u32>, Range> ranges;
    for (const Packet& p : packets_) {
      const ParsedPacket& packet = p.seen.packet;
      const bool atomic = packet.has(Ext::AtomicEth);
      if (!atomic && !packet.has(Ext::Reth)) continue;
      const u64 va = atomic ? packet.atomic_eth.va : packet.reth.va;
      const u64 bytes = atomic ? kAtomicBytes : packet.reth.dma_len;
      const auto [at, is_new] =
          ranges.try_emplace({other(p.from), remote_key(packet)}, Range{va, va + bytes});
      at->second.begin = std::min(at->second.begin, va);
      at->second.end = std::max(at->second.end, va + bytes);
    }
    for (const auto& [key, range] : ranges)
      areas_.push_back({key.first, fmt::format("key {:#x}", key.second), range.begin,
                        range.end - range.begin, key.second});
    for (const End end : {End::A, End::B})
      for (const char* name : {"sent", "received"})
        areas_.push_back(
            {end, name, kBuffers + (*name == 's' ? 0 : kBufferBytes), kBufferBytes, free_key(end)});
  }
  u32 free_key(End end) const {
    for (u32 index = 1;; ++index)
      if (std::ranges::none_of(
              areas_, [&](const Area& a) { return a.end == end && key_index(a.key) == index; }))
        return index << 8;
  }
  Area& area(End end, std::string_view name) {
    return *std::ranges::find_if(areas_,
                                 [&](const Area& a) { return a.end == end && a.name == name; });
  }

  // ---- Events
  void connect(End end) {
    const auto first = [&](End from, bool request) -> const Packet* {
      for (const Packet& p : packets_)
        if (p.from == from && p.seen.is_request() == request) return &p;
      return nullptr;
    };
    // An end that only answers does not show its own PSN; none is used.
    const auto psn = [&](End from) {
      return first(from, true) ? first(from, true)->seen.psn() : 0;
    };
    u8 rnr_timer = 12;
    for (const Packet& p : packets_)
      if (p.from == end && p.seen.is_rnr_nak())
        rnr_timer = syndrome_value(p.seen.packet.aeth.syndrome);
    add(start(), end, "qp", {{"type", "RC"}, {"qpn", qpn(end)}});
    add(start(), end, "connect",
        {{"qpn", qpn(end)},
         {"dest_qpn", qpn(other(end))},
         {"sq_psn", psn(end)},
         {"rq_psn", psn(other(end))},
         {"path_mtu", mtu_},
         {"timeout", 14},
         {"retry_cnt", 7},
         {"rnr_retry", 7},
         {"min_rnr_timer", rnr_timer},
         {"max_rd_atomic", 64},
         {"max_dest_rd_atomic", 64},
         {"qp_access", "LW RW RR RA"},
         {"ipv6", int(packets_.front().seen.packet.framing == Framing::RoceV2Ip6)},
         {"traffic_class", usual(end, [](const Addressing& a) { return a.traffic_class; })},
         {"hop_limit", usual(end, [](const Addressing& a) { return a.hop_limit; })},
         {"flow_label", usual(end, [](const Addressing& a) { return a.flow_label; })}});
  }

  void find_messages(End end) {
    std::optional<u32> next;
    Message m{};
    for (const Packet& p : packets_) {
      if (p.from != end || !p.seen.is_request()) continue;
      const ParsedPacket& packet = p.seen.packet;
      if (next && p.seen.psn() != *next) continue;  // a repetition
      if (request::starts(packet.opcode->position)) m = {.first = &p, .payload = {}};
      if (!m.first) throw std::runtime_error("the first message has no first packet");
      m.payload.insert(m.payload.end(), payload_of(p).begin(), payload_of(p).end());
      u32 packets = 1;
      if (packet.opcode->operation == Operation::ReadRequest)
        packets = psns_of(packet.reth.dma_len, mtu_);
      next = psn_add(p.seen.psn(), packets);
      for (u32 i = 0; i < packets; ++i) asked_[unsigned(end)].insert(psn_add(p.seen.psn(), i));
      if (!request::ends(packet.opcode->position)) continue;
      m.last = &p;
      take(end, m);
    }
  }

  // Right before its first packet; if an answer to what came before that follows it, before what
  // came: the model answers at once.
  u64 post_time(End end, const Packet& first) const {
    u64 time = first.time;
    for (const Packet& answer : packets_) {
      if (answer.from != end || answer.time < first.time || !answer.seen.is_response()) continue;
      for (const Packet& cause : packets_)
        if (cause.from != end && cause.seen.is_request() && cause.seen.psn() == answer.seen.psn())
          time = std::min(time, cause.time);
    }
    return time;
  }

  void take(End end, const Message& m) {
    const ParsedPacket &first = m.first->seen.packet, &last = m.last->seen.packet;
    const Operation operation = first.opcode->operation;
    const u64 time = post_time(end, *m.first);
    const u64 bytes = operation == Operation::ReadRequest ? first.reth.dma_len
                      : request::is_atomic(*first.opcode) ? kAtomicBytes
                                                          : m.payload.size();
    const u64 at = place(end, "sent", m.payload, bytes, time);
    json post{{"qpn", qpn(end)},
              {"wr_id", ++messages_},
              {"op", operation_of(m)},
              {"signaled", 0},
              {"solicited", int(last.bth.solicited)},
              {"fence", 0},
              {"inline", 0},
              {"sge", {{at, bytes, area(end, "sent").key}}}};
    if (first.has(Ext::Reth)) post["remote_addr"] = first.reth.va, post["rkey"] = first.reth.rkey;
    if (first.has(Ext::AtomicEth)) {
      const AtomicEth& a = first.atomic_eth;
      const bool adds = operation == Operation::FetchAdd;
      post["remote_addr"] = a.va, post["rkey"] = a.rkey;
      post["compare_add"] = adds ? a.swap_add : a.compare, post["swap"] = adds ? 0 : a.swap_add;
    }
    if (last.has(Ext::ImmDt)) post["imm"] = last.imm_dt.data;
    if (last.has(Ext::Ieth)) post["invalidate_rkey"] = last.ieth.rkey;
    if (operation == Operation::Send || last.has(Ext::ImmDt)) receive(other(end), m);
    if (operation == Operation::Write) written(other(end), m);
    if (request::is_saved(*first.opcode)) prepare_answer(other(end), m);
    add(time, end, "post_send", std::move(post));
  }

  // Room in a buffer, with these bytes in it.
  u64 place(End end, const char* name, std::span<const u8> payload, u64 bytes, u64 time) {
    Area& buffer = area(end, name);
    u64& used = used_[{end, name}];
    if (bytes > buffer.bytes - used)
      throw std::runtime_error(fmt::format("its messages are longer than {} bytes", kBufferBytes));
    if (!payload.empty())
      add(time, end, "mem_set", {{"mr", name}, {"off", used}, {"hex", hex(payload)}});
    return buffer.begin + std::exchange(used, used + bytes);
  }
  void receive(End end, const Message& m) {
    const bool send = m.row().operation == Operation::Send;
    const u64 bytes = send ? m.payload.size() : 0;
    const u64 at = place(end, "received", {}, bytes, 0);
    Area& buffer = area(end, "received");
    if (bytes) buffer.changed.push_back({at - buffer.begin, hex(m.payload)});
    add(std::min(m.first->time, post_time(other(end), *m.first)), end, "post_recv",
        {{"qpn", qpn(end)}, {"wr_id", 1000 + messages_}, {"sge", {{at, bytes, buffer.key}}}});
  }
  Area& area_of_key(End end, u32 key) { return area(end, fmt::format("key {:#x}", key)); }
  void written(End end, const Message& m) {
    const Reth& reth = m.first->seen.packet.reth;
    Area& target = area_of_key(end, reth.rkey);
    if (!m.payload.empty()) target.changed.push_back({reth.va - target.begin, hex(m.payload)});
  }
  // What the recorded answer says was in memory.
  void prepare_answer(End end, const Message& m) {
    const ParsedPacket& asked = m.first->seen.packet;
    const bool atomic = asked.has(Ext::AtomicEth);
    Area& source = area_of_key(end, remote_key(asked));
    source.known = false;
    const u64 offset = (atomic ? asked.atomic_eth.va : asked.reth.va) - source.begin;
    const u32 packets = atomic ? 1 : psns_of(asked.reth.dma_len, mtu_);
    for (const Packet& p : packets_) {
      const u32 index = psn_sub(p.seen.psn(), m.first->seen.psn());
      if (p.from != end || !p.seen.is_response() || index >= packets) continue;
      std::vector<u8> bytes(payload_of(p).begin(), payload_of(p).end());
      if (p.seen.packet.has(Ext::AtomicAckEth)) {
        bytes.resize(kAtomicBytes);
        store_le8(bytes.data(), p.seen.packet.atomic_ack_eth.original);
      }
      const u64 at = offset + u64{index} * mtu_;
      if (!bytes.empty() && (!atomic || touched_.insert({end, source.begin + at}).second))
        add(m.first->time, end, "mem_set", {{"mr", source.name}, {"off", at}, {"hex", hex(bytes)}});
    }
  }

  void finish() {
    const u64 last = packets_.back().time + 1;
    for (Area& area : areas_) {
      if (area.name == "sent" || area.name == "received")
        area.bytes = std::max<u64>(used_[{area.end, area.name}], 1);
      add(start(), area.end, "mr",
          {{"name", area.name},
           {"addr", area.begin},
           {"len", area.bytes},
           {"init_seed", 0},
           {"access", "LW RW RR RA"},
           {"lkey", area.key},
           {"rkey", area.key}});
    }
    for (const Area& area : areas_)
      if (area.known && area.name != "sent")
        add(last, area.end, "mem_final", {{"mr", area.name}, {"changed", area.changed}});
    std::ranges::stable_sort(capture_.events, {}, &ReplayEvent::time_ns);
  }

  u64 start() const { return packets_.front().time - 1; }
  void add(u64 time, End end, const char* kind, json values) {
    capture_.events.push_back({time, kind, end, std::move(values), "learned"});
  }

  Capture& capture_;
  std::vector<Packet> packets_;
  std::set<u32> qpns_[2];
  std::set<u32> asked_[2];  // PSNs of the requests
  u32 mtu_ = 0;
  std::vector<Area> areas_;
  std::map<std::pair<End, std::string>, u64> used_;
  std::set<std::pair<End, u64>> touched_;  // ATOMICs' words
  u64 messages_ = 0;
};
}  // namespace

void learn_setup(Capture& capture) { Learner(capture).run(); }
}  // namespace hca::testbench
