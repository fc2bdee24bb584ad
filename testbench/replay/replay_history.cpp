// SPDX-License-Identifier: Apache-2.0
#include "testbench/replay/replay_history.h"

#include <algorithm>
#include <array>

#include "model/proto/transport/reply_rules.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/datagram.h"

namespace hca::testbench {
using namespace proto;

Seen::Seen(std::span<const u8> frame, std::int64_t recorded, LinkLayer link)
    : bytes(frame.begin(), frame.end()), packet{}, time(recorded) {
  form = parse(bytes, link, packet);
  good = form == PacketVerdict::Good && icrc_good(bytes, packet);
}
bool Seen::is_nak(NakCode code) const {
  return is(Operation::Acknowledge) && packet.aeth.syndrome == nak_syndrome(code);
}
bool Seen::is_rnr_nak() const {
  return is(Operation::Acknowledge) && syndrome_kind(packet.aeth.syndrome) == SyndromeKind::RnrNak;
}
bool Seen::is_ack() const {
  return is(Operation::Acknowledge) && syndrome_kind(packet.aeth.syndrome) == SyndromeKind::Ack;
}

QpHistory::QpHistory(const Capture& all, End which, const ReplayEvent& event)
    : capture(all), end(which), connect(event) {
  responder.epsn = u32(connect.number("rq_psn"));
  of_context = capture.is_context(end, connect.number("qpn"));
  for (const SentWork& work : sent_works(capture))
    if (work.post->side == end && connection_named_by(*work.post) == connect.number("qpn"))
      works.push_back(work);
}

void QpHistory::deliver(const Seen& frame) {
  last = frame;
  if (frame.is_request()) take_request(frame);
  if (frame.is_response()) take_answer(frame);
}

void QpHistory::take_request(const Seen& frame) {
  const OpcodeRow& row = *frame.packet.opcode;
  const bool is_read = row.operation == Operation::ReadRequest;
  request = frame;
  before = attempted = responder;
  reads_back = false;
  // G14.2: without answers a message may begin at any PSN.
  const bool has_other_qkey = row.service == Service::Ud && connect.has("qkey") &&
                              frame.packet.deth.qkey != connect.number("qkey");
  const bool begins = !is_reliable(row.service) && begins_message(row.position) && !has_other_qkey;
  executed = begins || (frame.psn() == responder.epsn && !has_other_qkey);
  if (begins) responder.epsn = frame.psn();
  if (executed) {
    const u32 packets =
        is_read ? psns_of(frame.packet.reth.dma_len, u32(connect.number("path_mtu"))) : 1;
    responder.epsn = psn_add(responder.epsn, packets);
    if (is_read)
      reads.push_back({frame.psn(), packets, frame.packet.reth.va});
    else
      responder.newest = frame.psn();
    responder.msn += ends_message(row.position) || row.traits().is_saved();
    const u32 newest_psn = psn_sub(responder.epsn, 1);
    msn_after[newest_psn] = {responder.msn, frame.packet.bth.ack_req};
    if (row.traits().is_saved()) responses[newest_psn] = false;
    if (request::takes_receive_wqe(row)) ++responder.receives_used;
    const u32 header = row.service == Service::Ud ? kDatagramHeaderBytes : 0;
    if (row.operation == Operation::Send)
      responder.send_bytes = header + frame.packet.payload_bytes +
                             (begins_message(row.position) ? 0 : responder.send_bytes);
    attempted = responder;
  } else if (is_read && psn_distance(responder.epsn, frame.psn()) < 0) {
    for (Read& read : reads) {
      if (psns_between(read.first_psn, frame.psn()) >= read.packets) continue;
      reads_back = frame.packet.reth.va < read.origin;
      if (!reads_back) read.origin = frame.packet.reth.va;
    }
  }
}

void QpHistory::take_answer(const Seen& frame) {
  answer = frame;
  goes_back_again = false;
  if (frame.packet.has(Ext::Aeth))
    take_credits(credits, frame.packet.aeth.msn, frame.packet.aeth.syndrome);
  if (frame.is_nak(NakCode::PsnSequenceError)) {
    if (!rnr_nak) goes_back_again = std::exchange(went_back, true);
  } else if (frame.is_rnr_nak()) {
    rnr_nak = frame;
    passed.clear();
  } else if (const auto known = sent.find(frame.psn()); known != sent.end() || frame.is_ack()) {
    went_back = false, rnr_nak.reset();
  }
}

void QpHistory::send(const Seen& frame) {
  if (!frame.good || !includes(kExecuted, frame.packet.opcode->service)) return;
  if (frame.is_request()) {
    const auto [at, is_new] = sent.try_emplace(frame.psn(), Sent{frame, frame.time});
    at->second.frame = frame;
    return;
  }
  our_answer = frame;
  note_answer(frame);
  if (frame.packet.has(Ext::Aeth))
    note_told(told, frame.psn(), frame.packet.aeth.msn, frame.packet.aeth.syndrome, 0);
  if (frame.is_rnr_nak()) passed.clear();
  const bool refuses = frame.is(Operation::Acknowledge) && !frame.is_ack();
  if (executed && refuses && frame.psn() == request.psn()) {
    msn_after.erase(psn_sub(responder.epsn, 1));
    responses.erase(psn_sub(responder.epsn, 1));
    responder = before;
    executed = false;
  }
}

void QpHistory::pass(const Seen& frame) {
  passed.push_back(frame.psn());
  if (frame.is_response()) note_answer(frame);
}

void QpHistory::note_answer(const Seen& frame) {
  if (const auto response = responses.find(frame.psn()); response != responses.end())
    response->second |= !frame.is(Operation::Acknowledge);
  const bool refuses = frame.is(Operation::Acknowledge) && !frame.is_ack();
  if (refuses || (newest_answer && psn_distance(newest_answer->psn(), frame.psn()) < 0)) return;
  newest_answer = frame;
}

bool QpHistory::awaits_response(u32 psn) const {
  return std::ranges::any_of(
      responses, [&](const auto& r) { return !r.second && psn_distance(r.first, psn) >= 0; });
}

const SentWork* QpHistory::work_at(u32 psn) const {
  for (const SentWork& work : works)
    if (psns_between(work.first_psn, psn) <= psns_between(work.first_psn, work.last_psn))
      return &work;
  return nullptr;
}

const QpHistory::Read* QpHistory::read_at(u32 psn) const {
  for (const Read& read : reads)
    if (psns_between(read.first_psn, psn) < read.packets) return &read;
  return nullptr;
}

std::vector<u8> build_answer(const QpHistory& qp, u32 psn, u8 syndrome, u32 msn) {
  const ReplaySide &us = qp.capture.side(qp.end), &peer = qp.capture.side(other(qp.end));
  const bool ipv6 = qp.connect.number("ipv6");
  AddressVector av;
  av.framing = ipv6 ? Framing::RoceV2Ip6 : qp.capture.framing;
  av.source_lid = us.lid;
  av.destination_lid = peer.lid;
  av.service_level = qp.connect.has("sl") ? u8(qp.connect.number("sl")) : 0;
  av.source_mac = us.mac;
  av.destination_mac = peer.mac;
  av.source_gid = {ipv6 ? us.gid6 : us.gid4};
  av.destination_gid = {ipv6 ? peer.gid6 : peer.gid4};
  av.traffic_class = u8(qp.connect.number("traffic_class"));
  av.flow_label = u32(qp.connect.number("flow_label"));
  av.hop_limit = u8(qp.connect.number("hop_limit"));
  const Path path = make_path(av);
  QpConfig config;
  config.dest_qpn = u32(qp.connect.number("dest_qpn"));
  ExtHeaders ext;
  ext.aeth = {syndrome, msn};
  if (qp.of_context) {
    ext.rdeth = {config.dest_qpn};
    config.dest_qpn = qp.request.packet.deth.src_qp;  // the queue pair that asked
  }
  const Service service = qp.of_context ? Service::Rd : Service::Rc;
  const OpcodeRow& row = reply_row(service, Operation::Acknowledge);
  std::vector<u8> frame(frame_bytes(path, row, 0));
  write_headers(path, row, reply_bth(config, psn, false), ext, 0, frame.data(), 0);
  finish_frame(frame.data(), shape_of(path, row, 0));
  return frame;
}

bool was_lost_behind_wire(const QpHistory& qp, std::size_t frame_index) {
  const std::vector<ReplayFrame>& frames = qp.capture.frames;
  const Seen lost(frames[frame_index]);
  if (!lost.is_request() || lost.psn() != qp.responder.epsn) return false;
  const u64 us = qp.connect.number("qpn"), peer = qp.connect.number("dest_qpn");
  bool came_again = false, older_came = false;
  for (std::size_t i = frame_index + 1; i < frames.size(); ++i) {
    const Seen seen(frames[i]);
    if (!seen.good || connection_named_by(seen.packet) != (frames[i].from == qp.end ? peer : us))
      continue;
    const s32 behind = psn_distance(lost.psn(), seen.psn());
    if (frames[i].from != qp.end && was_delivered(frames[i].fate) && seen.is_request())
      came_again |= behind == 0, older_came |= behind < 0;
    if (frames[i].from != qp.end || !was_sent(frames[i].fate) || !seen.is_response()) continue;
    if (behind >= 0) return false;  // it was answered
    if (came_again && older_came && seen.is_ack()) return true;
  }
  return false;
}

bool breaks_protection(const Capture& capture, const ReplayEvent& post, std::string_view right) {
  for (const JsonAt& sge : post.at("sge").entries()) {
    const u64 address = sge[0].number(), bytes = sge[1].number(), key = sge[2].number();
    const bool allowed =
        std::any_of(capture.events.begin(), capture.events.end(), [&](const ReplayEvent& e) {
          return e.kind == "mr" && e.side == post.side && e.number("lkey") == key &&
                 e.text("access").find(right) != std::string::npos && address >= e.number("addr") &&
                 bytes <= e.number("len") && address - e.number("addr") <= e.number("len") - bytes;
        });
    if (bytes && !allowed) return true;
  }
  return false;
}
}  // namespace hca::testbench
