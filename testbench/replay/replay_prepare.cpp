// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_prepare.h"

#include <algorithm>
#include <map>

#include "model/proto/transport/psn.h"
#include "model/proto/wire/packet.h"
#include "testbench/packets/frame_text.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
namespace {
constexpr std::size_t kTypeOffset = 12, kTagBytes = 4;

// Whether the datagrams of an end, or to it, travel over IPv6.
bool sends_ipv6(const Capture& capture, End end) {
  for (const bool from_it : {true, false})
    for (const ReplayFrame& frame : capture.frames) {
      proto::ParsedPacket p;
      if ((frame.from == end) == from_it &&
          proto::parse(frame.bytes, frame.link, p) == proto::PacketVerdict::Good)
        return p.framing == proto::Framing::RoceV2Ip6;
    }
  return false;
}

// A datagram queue pair made ready, as the connection to the one at the other end that it speaks
// with: what a connection has beyond that means nothing there.
void connect_datagrams(Capture& capture) {
  for (ReplayEvent& e : capture.events) {
    if (e.kind != "ud_ready") continue;
    u64 peer = 0;
    for (const ReplayEvent& qp : capture.events)
      if (qp.kind == "qp" && qp.side != e.side && qp.text("type") == "UD") peer = qp.number("qpn");
    for (const char* name :
         {"rq_psn", "timeout", "retry_cnt", "rnr_retry", "min_rnr_timer", "max_rd_atomic",
          "max_dest_rd_atomic", "ipv6", "traffic_class", "flow_label"})
      if (!e.has(name)) e.values[name] = 0;
    if (!e.has("ipv6")) e.values["ipv6"] = int(sends_ipv6(capture, e.side));
    e.kind = "connect";
    e.values["dest_qpn"] = peer;
    e.values["path_mtu"] = 4096;
    e.values["qp_access"] = "";
    e.values["hop_limit"] = 64;
  }
}

// The traffic class of an address handle is not recorded: it is learned from the datagram.
void learn_traffic_classes(Capture& capture) {
  std::map<std::pair<End, u64>, u32> next;  // PSN, by queue pair
  for (ReplayEvent& e : capture.events) {
    if (e.kind == "connect" && e.has("qkey"))
      next[{e.side, e.number("qpn")}] = u32(e.number("sq_psn"));
    if (e.kind != "post_send" || !e.has("remote_qpn")) continue;
    const u32 psn = next[{e.side, e.number("qpn")}]++ & proto::kPsnMask;
    for (const ReplayFrame& frame : capture.frames) {
      proto::ParsedPacket p;
      if (frame.from == e.side && was_sent(frame.fate) &&
          proto::parse(frame.bytes, frame.link, p) == proto::PacketVerdict::Good &&
          p.opcode->service == proto::Service::Ud && p.bth.psn == psn)
        e.values["traffic_class"] = proto::addressing_of(frame.bytes.data(), p).traffic_class;
    }
  }
}

// Marks posts that the library refused, by the following post_send_failed event.
void mark_failed_posts(Capture& capture) {
  for (std::size_t i = 0; i < capture.events.size(); ++i) {
    ReplayEvent& failed = capture.events[i];
    if (failed.kind != "post_send_failed") continue;
    failed.kind = "refused_post";
    for (std::size_t j = i; j-- > 0;) {
      ReplayEvent& post = capture.events[j];
      if (post.kind != "post_send" || post.side != failed.side ||
          post.number("qpn") != failed.number("qpn") ||
          post.number("wr_id") != failed.number("wr_id"))
        continue;
      post.values["failed"] = 1;
      break;
    }
  }
}

const ReplayEvent* region_at(const Capture& capture, End end, u64 address) {
  for (const ReplayEvent& e : capture.events)
    if (e.kind == "mr" && e.side == end && address >= e.number("addr") &&
        address - e.number("addr") < e.number("len"))
      return &e;
  return nullptr;
}

// The bytes of a packet of this message, as first sent.
std::vector<u8> first_payload(const Capture& capture, const SentWork& work, u32 psn) {
  for (const ReplayFrame& frame : capture.frames) {
    proto::ParsedPacket p;
    if (frame.from == work.post->side && was_sent(frame.fate) &&
        proto::parse(frame.bytes, frame.link, p) == proto::PacketVerdict::Good &&
        p.opcode->is_request && connection_named_by(p) == work.peer && p.bth.psn == psn)
      return {frame.bytes.begin() + p.payload_offset,
              frame.bytes.begin() + p.payload_offset + p.payload_bytes};
  }
  return {};
}

// The contents of a region without a pattern are learned from the data sent from it.
void learn_contents(Capture& capture) {
  std::vector<ReplayEvent> sets;
  for (const SentWork& work : sent_works(capture)) {
    std::vector<u8> payload;
    for (u32 psn = work.first_psn;; psn = proto::psn_add(psn, 1)) {
      const std::vector<u8> part = first_payload(capture, work, psn);
      payload.insert(payload.end(), part.begin(), part.end());
      if (psn == work.last_psn || part.empty()) break;
    }
    std::size_t at = 0;
    for (const JsonAt& sge : work.post->at("sge").entries()) {
      const ReplayEvent* region = region_at(capture, work.post->side, sge[0].number());
      const std::size_t bytes = std::min<std::size_t>(sge[1].number(), payload.size() - at);
      const std::size_t from = std::exchange(at, at + bytes);
      if (!region || region->has("init_seed") || !bytes) continue;
      sets.push_back({work.post->time_ns,
                      "mem_set",
                      work.post->side,
                      {{"mr", region->text("name")},
                       {"off", sge[0].number() - region->number("addr")},
                       {"hex", hex_text(std::span(payload).subspan(from, bytes))}},
                      work.post->path});
    }
  }
  for (ReplayEvent& set : sets) {
    const auto post = std::ranges::find(capture.events, set.path, &ReplayEvent::path);
    capture.events.insert(post, std::move(set));
  }
}
}  // namespace

std::size_t take_tags_off(Capture& capture) {
  std::size_t tags = 0;
  for (ReplayFrame& frame : capture.frames) {
    const auto type = frame.bytes.begin() + kTypeOffset;
    if (frame.link != proto::LinkLayer::Ethernet ||
        frame.bytes.size() < kTypeOffset + kTagBytes + 2 ||
        proto::load_be<2>(&*type) != proto::kEtherTypeVlan)
      continue;
    frame.bytes.erase(type, type + kTagBytes);
    ++tags;
  }
  return tags;
}

void prepare_events(Capture& capture) {
  connect_datagrams(capture);
  learn_traffic_classes(capture);
  mark_failed_posts(capture);
  if (std::ranges::any_of(capture.events, [](const ReplayEvent& e) {
        return e.kind == "mr" && !e.has("init_seed");
      }))
    learn_contents(capture);
}
}  // namespace hca::testbench
