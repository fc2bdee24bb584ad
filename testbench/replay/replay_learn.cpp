// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_learn.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "model/proto/interface/work_rows.h"
#include "model/proto/transport/atomics.h"
#include "model/proto/transport/responder_rules.h"
#include "model/proto/wire/datagram.h"
#include "testbench/packets/frame_text.h"
#include "testbench/replay/replay_message.h"

namespace hca::testbench {
using namespace proto;
using nlohmann::json;

namespace {
// Where the buffers lie that no key on the wire names: above all addresses of user programs.
constexpr u64 kBuffers = u64{3} << 46;
constexpr u64 kBufferBytes = u64{1} << 22;
constexpr const char* kAccess = "LW RW RR RA";

using Packet = LearnedPacket;
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

class Learner {
 public:
  explicit Learner(Capture& capture) : capture_(capture) {}

  void run() {
    c_ = find_conversation(capture_);
    if (packets_.empty()) return;
    const Framing framing = packets_.front().seen.packet.framing;
    if (framing != Framing::RoceV2Ip6) capture_.framing = framing;
    find_ends();
    find_regions();
    make_srqs();
    for (std::size_t pair = 0; pair < c_.pairs.size(); ++pair)
      for (const End end : {End::A, End::B}) connect(pair, end), find_messages(pair, end);
    make_rd_queues();
    for (const Packet& p : packets_)
      if (p.seen.is_response() && !asked_[{p.pair, other(p.from)}].contains(p.seen.psn()))
        throw std::runtime_error(fmt::format("a response of end {} with PSN {} answers no request",
                                             name_of(p.from), p.seen.psn()));
    find_first_causes();
    std::ranges::stable_sort(messages_, {}, [](const SeenMessage& m) { return m.first->time; });
    for (const SeenMessage& m : messages_) take(m.first->from, m);
    count_messages_from_here(capture_, c_, executed_);
    finish();
  }

 private:
  // ---- What there is
  void find_ends() {
    for (const End end : {End::A, End::B}) {
      ReplaySide& side = capture_.sides[unsigned(end)];
      side.mac = usual(end, [](const Addressing& a) { return a.source_mac; });
      side.lid = usual(end, [](const Addressing& a) { return a.slid; });
      side.gid4 = side.gid6 = usual(end, [](const Addressing& a) { return a.source_gid.bytes; });
    }
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
  // Before routers counted them down.
  u8 most_hops(End end) const {
    u8 most = 0;
    for (const Packet& p : packets_)
      if (p.from == end)
        most = std::max(most, addressing_of(p.seen.bytes.data(), p.seen.packet).hop_limit);
    return most;
  }
  u32 qpn(std::size_t pair, End end) const { return c_.pairs[pair].qpn(end); }

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
    for (const Packet& p : packets_)  // a key that is only invalidated names a byte of its own
      if (p.seen.packet.has(Ext::Ieth)) {
        const u64 at = kBuffers + 2 * kBufferBytes + 8 * ranges.size();
        ranges.try_emplace({other(p.from), p.seen.packet.ieth.rkey}, Range{at, at + 1});
        invalidated_.insert({other(p.from), p.seen.packet.ieth.rkey});
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
  // Those that requests of XRC name.
  void make_srqs() {
    std::set<std::pair<End, u32>> srqs;
    for (const Packet& p : packets_)
      if (p.seen.packet.has(Ext::XrcEth))
        srqs.insert({other(p.from), p.seen.packet.xrc_eth.xrc_srq});
    for (const auto& [end, number] : srqs) add(start(), end, "srq", {{"srqn", number}});
  }
  std::string_view type_of(std::size_t pair, End end) const {
    if (c_.service == Service::Rd) return "RD_EEC";
    if (c_.service != Service::Xrc) return name_of(c_.service);
    return c_.pairs[pair].first[unsigned(end)] ? "XRC_SEND" : "XRC_RECV";
  }
  void connect(std::size_t pair, End end) {
    // An end that only answers does not show its own PSN; none is used.
    const auto psn = [&](End from) { return c_.pairs[pair].first[unsigned(from)].value_or(0); };
    const u8 rnr_timer = rnr_timer_of(packets_, pair, end);
    add(start(), end, "qp", {{"type", type_of(pair, end)}, {"qpn", qpn(pair, end)}});
    json values{{"qpn", qpn(pair, end)},
                {"dest_qpn", qpn(pair, other(end))},
                {"sq_psn", psn(end)},
                {"rq_psn", psn(other(end))},
                {"path_mtu", c_.mtu},
                {"timeout", 14},
                {"retry_cnt", 7},
                {"rnr_retry", 7},
                {"min_rnr_timer", rnr_timer},
                {"max_rd_atomic", 64},
                {"max_dest_rd_atomic", 64},
                {"qp_access", kAccess},
                {"ipv6", int(packets_.front().seen.packet.framing == Framing::RoceV2Ip6)},
                {"traffic_class", usual(end, [](const Addressing& a) { return a.traffic_class; })},
                {"hop_limit", most_hops(end)},
                {"sl", usual(end, [](const Addressing& a) { return a.service_level; })},
                {"flow_label", usual(end, [](const Addressing& a) { return a.flow_label; })}};
    for (const Packet& p : packets_)  // UD: what reaches it
      if (p.pair == pair && p.from != end && p.seen.packet.has(Ext::Deth))
        values["qkey"] = p.seen.packet.deth.qkey;
    use_connection(capture_, c_.pairs[pair], end, values);
    add(start(), end, "connect", std::move(values));
  }

  void make_rd_queues() {
    for (const LearnedQueue& queue : find_rd_queues(packets_)) {
      add(start(), queue.end, "qp", {{"type", "RD"}, {"qpn", queue.qpn}});
      add(start(), queue.end, "rd_ready",
          {{"qpn", queue.qpn},
           {"qkey", queue.qkey},
           {"min_rnr_timer", queue.rnr_timer},
           {"qp_access", kAccess}});
    }
  }

  void find_messages(std::size_t pair, End end) {
    std::optional<u32> next;
    SeenMessage m{};
    for (const Packet& p : packets_) {
      if (p.pair != pair || p.from != end || !p.seen.is_request()) continue;
      if (next && p.seen.psn() != *next) continue;  // a repetition
      const Position at = p.seen.packet.opcode->position;
      if (begins_message(at)) m = {.first = &p, .payload = {}};
      m.payload.insert(m.payload.end(), payload_of(p).begin(), payload_of(p).end());
      const u32 packets = psns_of_request(p.seen, c_.mtu);
      next = psn_add(p.seen.psn(), packets);
      for (u32 i = 0; i < packets; ++i) asked_[{pair, end}].insert(psn_add(p.seen.psn(), i));
      if (!ends_message(at)) continue;
      m.last = &p;
      executed_[{pair, end}].push_back(p.seen.psn());
      messages_.push_back(m);
    }
  }

  // For each answer, when what it answers came; of those from there on, the first.
  void find_first_causes() {
    std::map<std::pair<std::size_t, End>, std::map<u32, u64>> asked;
    for (const Packet& p : packets_)
      if (p.seen.is_request()) asked[{p.pair, p.from}].try_emplace(p.seen.psn(), p.time);
    std::map<std::pair<std::size_t, End>, u64> first;
    for (std::size_t i = packets_.size(); i-- > 0;) {
      const Packet& p = packets_[i];
      if (!p.seen.is_response()) continue;
      const auto& requests = asked[{p.pair, other(p.from)}];
      const auto cause = requests.find(p.seen.psn());
      u64& earliest = first.try_emplace({p.pair, p.from}, ~u64{0}).first->second;
      if (cause != requests.end()) earliest = std::min(earliest, cause->second);
      first_causes_[{p.pair, p.from}][p.time] = earliest;
    }
  }
  // Right before its first packet; if an answer to what came before that follows it, before what
  // came: the model answers at once.
  u64 post_time(const Packet& first) const {
    const auto causes = first_causes_.find({first.pair, first.from});
    if (causes == first_causes_.end()) return first.time;
    const auto from_here = causes->second.lower_bound(first.time);
    return from_here == causes->second.end() ? first.time : std::min(first.time, from_here->second);
  }

  void take(End end, const SeenMessage& m) {
    const ParsedPacket &first = m.first->seen.packet, &last = m.last->seen.packet;
    const Operation operation = first.opcode->operation;
    const std::size_t pair = m.first->pair;
    const u64 time = post_time(*m.first);
    const u64 bytes = operation == Operation::ReadRequest  ? first.reth.dma_len
                      : first.opcode->traits().is_atomic() ? kAtomicBytes
                                                           : m.payload.size();
    const u64 at = place(end, "sent", m.payload, bytes, time);
    const bool of_rd = c_.service == Service::Rd;
    json post{{"qpn", of_rd ? first.deth.src_qp : qpn(pair, end)},
              {"wr_id", ++posted_},
              {"op", work_of(m).word},
              {"signaled", 1},
              {"solicited", int(last.bth.solicited)},
              {"fence", 0},
              {"inline", 0},
              {"sge", {{at, bytes, area(end, "sent").key}}}};
    if (first.has(Ext::Reth)) post["remote_addr"] = first.reth.va, post["rkey"] = first.reth.rkey;
    if (first.has(Ext::AtomicEth)) {
      const AtomicEth& a = first.atomic_eth;
      post["remote_addr"] = a.va, post["rkey"] = a.rkey;
      const bool two = has_two_operands(first.opcode->traits().change);
      post["compare_add"] = two ? a.compare : a.swap_add, post["swap"] = two ? a.swap_add : 0;
    }
    if (first.has(Ext::Deth))
      post["remote_qpn"] = first.bth.dest_qp, post["remote_qkey"] = first.deth.qkey;
    if (of_rd) post["eecn"] = qpn(pair, end);
    if (first.has(Ext::XrcEth)) post["remote_srqn"] = first.xrc_eth.xrc_srq;
    if (last.has(Ext::ImmDt)) post["imm"] = last.imm_dt.data;
    if (last.has(Ext::Ieth)) post["invalidate_rkey"] = last.ieth.rkey;
    if (operation == Operation::Send || last.has(Ext::ImmDt)) receive(other(end), m);
    if (operation == Operation::Write) written(other(end), m);
    if (first.opcode->traits().is_saved()) prepare_answer(other(end), m);
    add(time, end, "post_send", std::move(post));
  }

  // Room in a buffer, with these bytes in it.
  u64 place(End end, const char* name, std::span<const u8> payload, u64 bytes, u64 time) {
    Area& buffer = area(end, name);
    u64& used = used_[{end, name}];
    if (bytes > buffer.bytes - used)
      throw std::runtime_error(fmt::format("its messages are longer than {} bytes", kBufferBytes));
    if (!payload.empty())
      add(time, end, "mem_set", {{"mr", name}, {"off", used}, {"hex", hex_text(payload)}});
    return buffer.begin + std::exchange(used, used + bytes);
  }
  // Several targets take the WQEs of an SRQ in an order that is not known: all have room for the
  // longest message, in the same buffer, which is not compared.
  void receive_shared(End end, const SeenMessage& m) {
    Area& buffer = area(end, "received");
    buffer.known = false;
    u64& used = used_[{end, buffer.name}];
    if (!used)
      for (const SeenMessage& other : messages_) used = std::max<u64>(used, other.payload.size());
    add(post_time(*m.first), end, "post_srq_recv",
        {{"srqn", m.first->seen.packet.xrc_eth.xrc_srq},
         {"wr_id", 1000 + posted_},
         {"sge", {{buffer.begin, used, buffer.key}}}});
  }
  void receive(End end, const SeenMessage& m) {
    if (c_.service == Service::Xrc) return receive_shared(end, m);
    const bool send = m.row().operation == Operation::Send;
    std::vector<u8> what = send ? m.payload : std::vector<u8>{};
    if (c_.service == Service::Ud) what = with_network_header(m);
    const u64 bytes = what.size();
    const u64 at = place(end, "received", {}, bytes, 0);
    Area& buffer = area(end, "received");
    if (bytes) buffer.changed.push_back({at - buffer.begin, hex_text(what)});
    add(post_time(*m.first), end, "post_recv",
        {{"qpn",
          c_.service == Service::Rd ? m.first->seen.packet.bth.dest_qp : qpn(m.first->pair, end)},
         {"wr_id", 1000 + posted_},
         {"sge", {{at, bytes, buffer.key}}}});
  }
  Area& area_of_key(End end, u32 key) { return area(end, fmt::format("key {:#x}", key)); }
  void written(End end, const SeenMessage& m) {
    const Reth& reth = m.first->seen.packet.reth;
    Area& target = area_of_key(end, reth.rkey);
    if (!m.payload.empty()) target.changed.push_back({reth.va - target.begin, hex_text(m.payload)});
    for (std::size_t i = 0; i < m.payload.size(); ++i) {
      const u64 at = reth.va + i;
      auto word = words_.upper_bound({end, at});
      if (word == words_.begin()) continue;
      --word;
      const u64 byte = at - word->first.second;
      if (word->first.first != end || byte >= kAtomicBytes) continue;
      word->second &= ~(u64{0xff} << 8 * byte);
      word->second |= u64{m.payload[i]} << 8 * byte;
    }
  }
  // What the recorded answer says was in memory.
  void prepare_answer(End end, const SeenMessage& m) {
    const ParsedPacket& asked = m.first->seen.packet;
    const bool atomic = asked.has(Ext::AtomicEth);
    Area& source = area_of_key(end, remote_key(asked));
    source.known = false;
    const u64 offset = (atomic ? asked.atomic_eth.va : asked.reth.va) - source.begin;
    const u32 packets = psns_of_request(m.first->seen, c_.mtu);
    for (const Packet& p : packets_) {
      const u32 index = psn_sub(p.seen.psn(), m.first->seen.psn());
      if (p.pair != m.first->pair || p.from != end || !p.seen.is_response() || index >= packets)
        continue;
      if (p.seen.packet.has(Ext::AtomicAckEth))
        return prepare_word(source, offset, m, p.seen.packet.atomic_ack_eth.original);
      const u64 at = offset + u64{index} * c_.mtu;
      if (const auto bytes = payload_of(p); !bytes.empty())
        add(m.first->time, end, "mem_set",
            {{"mr", source.name}, {"off", at}, {"hex", hex_text(bytes)}});
    }
  }
  // What the ATOMICs before left is not set again: it is compared. If it is not what this one
  // found, the host wrote there.
  void prepare_word(const Area& area, u64 offset, const SeenMessage& m, u64 found) {
    const AtomicEth& a = m.first->seen.packet.atomic_eth;
    const auto [word, is_new] = words_.try_emplace({area.end, area.begin + offset}, ~found);
    if (word->second != found) {
      capture_.words_set += !is_new;
      std::array<u8, kAtomicBytes> bytes;
      store_le8(bytes.data(), found);
      add(m.first->time, area.end, "mem_set",
          {{"mr", area.name}, {"off", offset}, {"hex", hex_text(bytes)}});
    }
    word->second = atomic_result(m.row(), a, found);
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
           {"access", invalidated_.contains({area.end, area.key}) ? "LW RW RR RA FR" : kAccess},
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
  Conversation c_;
  const std::vector<Packet>& packets_ = c_.packets;
  std::map<std::pair<std::size_t, End>, std::set<u32>> asked_;  // PSNs of the requests
  std::map<std::pair<std::size_t, End>, std::map<u64, u64>> first_causes_;
  Executed executed_;
  std::vector<SeenMessage> messages_;
  std::vector<Area> areas_;
  std::set<std::pair<End, u32>> invalidated_;  // keys that a SEND takes away
  std::map<std::pair<End, std::string>, u64> used_;
  std::map<std::pair<End, u64>, u64> words_;  // of ATOMICs: what the last one left
  u64 posted_ = 0;
};
}  // namespace

void learn_setup(Capture& capture) { Learner(capture).run(); }
}  // namespace hca::testbench
