// SPDX-License-Identifier: Apache-2.0
// Hand-made recordings of a device that behaves as vectors/captures/README.md describes: one end is
// the device under replay, the other end's frames are given.
#pragma once
#include <string>

#include "model/proto/transport/reply_rules.h"
#include "testbench/replay/replay.h"

namespace hca::testbench {
// Frames and events are one millisecond apart by default.
class Recording {
 public:
  static constexpr u32 kMtu = 256, kQpn = 0x91, kPeerQpn = 0xf00d;
  static constexpr u32 kKey = 0x4321, kPeerKey = 0x8765;
  static constexpr u64 kOurs = u64{1} << 32, kTheirs = u64{2} << 32;  // regions of 16 KiB
  static constexpr u32 kFirst = 0x100, kTheirFirst = 0x900;           // PSNs of requests

  explicit Recording(End device, nlohmann::json connect = nlohmann::json::object())
      : device_(device) {
    capture_.name = "hand-made", capture_.profile = kSoftRoce;
    for (const End end : {End::A, End::B}) {
      ReplaySide& side = capture_.sides[unsigned(end)];
      side.mac = 0x020000000001 + unsigned(end);
      side.gid4 = proto::gid_of_ipv4(0xc0000201 + unsigned(end)).bytes;
      side.gid6 = {0xfe, 0x80}, side.gid6[15] = u8(1 + unsigned(end));
    }
    const bool responds = device == End::B;
    event("mr", {{"name", "ours"},
                 {"addr", kOurs},
                 {"len", 16384},
                 {"init_seed", 1},
                 {"access", "LW RW RR RA MWB"},
                 {"lkey", kKey},
                 {"rkey", kKey}});
    event("qp", {{"type", "RC"}, {"qpn", kQpn}});
    nlohmann::json all{{"qpn", kQpn},
                       {"dest_qpn", kPeerQpn},
                       {"path_mtu", kMtu},
                       {"sq_psn", responds ? kTheirFirst : kFirst},
                       {"rq_psn", responds ? kFirst : kTheirFirst},
                       {"timeout", 14},
                       {"retry_cnt", 3},
                       {"rnr_retry", 7},
                       {"min_rnr_timer", 12},
                       {"max_rd_atomic", 4},
                       {"max_dest_rd_atomic", 4},
                       {"qp_access", "LW RW RR RA"},
                       {"ipv6", 0},
                       {"traffic_class", 0},
                       {"hop_limit", 64},
                       {"flow_label", 0}};
    all.update(connect);
    is_ipv6_ = all["ipv6"] != 0;
    event("connect", all);
  }

  const Capture& capture() const { return capture_; }
  Capture& capture() { return capture_; }

  Recording& event(const char* kind, nlohmann::json values) {
    capture_.events.push_back({tick(), kind, device_, std::move(values), "events"});
    return *this;
  }
  Recording& post_recv(u64 id, u32 bytes, u64 offset = 0, u32 key = kKey) {
    return event("post_recv",
                 {{"qpn", kQpn}, {"wr_id", id}, {"sge", {{kOurs + offset, bytes, key}}}});
  }
  Recording& post_send(u64 id, const char* op, u32 bytes, nlohmann::json more = {},
                       u32 key = kKey) {
    nlohmann::json all{{"qpn", kQpn},
                       {"wr_id", id},
                       {"op", op},
                       {"signaled", 1},
                       {"solicited", 0},
                       {"fence", 0},
                       {"inline", 0},
                       {"sge", {{kOurs, bytes, key}}},
                       {"remote_addr", kTheirs},
                       {"rkey", kPeerKey},
                       {"imm", 7}};
    if (!more.is_null()) all.update(more);
    return event("post_send", all);
  }
  Recording& wc(const char* queue, u64 id, const char* status, const char* opcode = "",
                u32 bytes = 0) {
    return event("wc", {{"qpn", kQpn},
                        {"queue", queue},
                        {"wr_id", id},
                        {"status", status},
                        {"opcode", opcode},
                        {"byte_len", bytes},
                        {"wc_flags", 0}});
  }
  Recording& state(const char* name, u32 sq_psn, u32 rq_psn) {
    return event("qp_state",
                 {{"qpn", kQpn}, {"state", name}, {"sq_psn", sq_psn}, {"rq_psn", rq_psn}});
  }

  // A frame that the peer sent and the device received.
  Recording& in(u8 opcode, u32 psn, u32 bytes = 0, proto::ExtHeaders ext = {}, bool ack = true) {
    capture_.events.push_back({tick() + 999'000, "raw_tx", other(device_), {}, "events"});
    return frame(other(device_), opcode, psn, bytes, ext, ack);
  }
  Recording& in_answer(u32 psn, u8 syndrome, u32 msn) {
    proto::ExtHeaders ext;
    ext.aeth = {syndrome, msn};
    return in(0x11, psn, 0, ext, false);
  }
  // A frame that the device sent.
  Recording& out(u8 opcode, u32 psn, u32 bytes = 0, proto::ExtHeaders ext = {}, bool ack = false) {
    return frame(device_, opcode, psn, bytes, ext, ack);
  }
  Recording& out_answer(u32 psn, u8 syndrome, u32 msn) {
    proto::ExtHeaders ext;
    ext.aeth = {syndrome, msn};
    return out(0x11, psn, 0, ext);
  }
  Recording& wait(u64 ns) {
    now_ += ns;
    return *this;
  }
  std::vector<u8>& last_frame() { return capture_.frames.back().bytes; }

  static proto::ExtHeaders reth(u64 va, u32 key, u32 bytes, u32 immediate = 0) {
    proto::ExtHeaders ext;
    ext.reth = {va, key, bytes};
    ext.imm_dt = {immediate};
    return ext;
  }
  static proto::ExtHeaders aeth(u8 syndrome, u32 msn) {
    proto::ExtHeaders ext;
    ext.aeth = {syndrome, msn};
    return ext;
  }
  // Corrects the IPv4 checksum and the ICRC of a changed frame.
  static void make_good(std::vector<u8>& frame) {
    if (frame[12] == 0x08) {
      u32 sum = 0;
      frame[24] = frame[25] = 0;
      for (u32 at = 14; at < 34; at += 2) sum += u32(proto::load_be<2>(&frame[at]));
      sum = (sum & 0xffff) + (sum >> 16);
      proto::store_be<2>(&frame[24], u16(~((sum & 0xffff) + (sum >> 16))));
    }
    proto::ParsedPacket p{};
    proto::parse(frame, proto::LinkLayer::Ethernet, p);
    const u32 icrc = proto::icrc_of(frame.data(), p);
    for (u32 i = 0; i < 4; ++i) frame[p.icrc_offset + i] = u8(icrc >> 8 * i);
  }

 private:
  u64 tick() { return now_ += 1'000'000; }

  // The recorded device sends M = 0; payloads are those of its region at the packet's offset.
  Recording& frame(End from, u8 opcode, u32 psn, u32 bytes, const proto::ExtHeaders& ext,
                   bool ack) {
    using namespace proto;
    const ReplaySide &us = capture_.side(from), &peer = capture_.side(other(from));
    AddressVector av;
    av.framing = is_ipv6_ ? Framing::RoceV2Ip6 : Framing::RoceV2Ip4;
    av.source_mac = us.mac, av.destination_mac = peer.mac;
    av.source_gid = {is_ipv6_ ? us.gid6 : us.gid4};
    av.destination_gid = {is_ipv6_ ? peer.gid6 : peer.gid4};
    const Path path = make_path(av);
    Bth bth{};
    bth.pkey = 0xffff, bth.psn = psn, bth.ack_req = ack;
    bth.dest_qp = from == device_ ? kPeerQpn : kQpn;
    const OpcodeRow& row = *opcode_row(opcode);
    std::vector<u8> out(frame_bytes(path, row, bytes));
    const u32 at = write_headers(path, row, bth, ext, bytes, out.data(), 0);
    const u32 place = (psn - kFirst) * kMtu;
    for (u32 i = 0; i < bytes; ++i) out[at + i] = pattern(place + i);
    finish_frame(out.data(), shape_of(path, row, bytes));
    capture_.frames.push_back({tick(), from, Fate::Forwarded, std::move(out)});
    return *this;
  }
  static u8 pattern(u32 i) { return u8(31 + 7 * i + 13 * (i >> 8)); }

  Capture capture_;
  End device_;
  bool is_ipv6_ = false;
  u64 now_ = 0;
};
}  // namespace hca::testbench
