// SPDX-License-Identifier: Apache-2.0
// The history of a replayed queue pair, derived from frames and posts: the input of the conditions
// of allowed differences. It follows the wire, not the model.
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "model/proto/transport/qp.h"
#include "model/proto/transport/reply_rules.h"
#include "model/proto/transport/syndrome.h"
#include "model/proto/wire/packet.h"
#include "testbench/replay/replay_capture.h"
#include "testbench/replay/replay_timeline.h"

namespace hca::testbench {
// A parsed frame; `good`: complete, with a correct ICRC.
struct Seen {
  std::vector<u8> bytes;
  proto::ParsedPacket packet{};
  proto::PacketVerdict form = proto::PacketVerdict::Good;
  bool good = false;
  std::int64_t time = 0;  // in the recording

  explicit Seen(std::span<const u8> frame, std::int64_t recorded = 0,
                proto::LinkLayer link = proto::LinkLayer::Ethernet);
  explicit Seen(const ReplayFrame& frame, std::int64_t recorded = 0)
      : Seen(frame.bytes, recorded, frame.link) {}
  Seen() = default;
  bool is_request() const { return good && packet.opcode && packet.opcode->is_request; }
  bool is_response() const { return good && packet.opcode && !packet.opcode->is_request; }
  bool is(proto::Operation operation) const {
    return good && packet.opcode && packet.opcode->operation == operation;
  }
  u32 psn() const { return packet.bth.psn; }
  // Only for an Acknowledge packet; other packets have no relevant syndrome.
  bool is_nak(proto::NakCode code) const;
  bool is_rnr_nak() const;
  bool is_ack() const;
};

struct QpHistory {
  // Responder: the effect of the delivered requests.
  struct Responder {
    u32 epsn = 0, msn = 0;
    // The newest executed SEND, WRITE or ATOMIC packet: the recorded device acknowledges duplicates
    // with its PSN. 0xffffff before the first.
    u32 newest = proto::kPsnMask;
    u64 send_bytes = 0;             // of the SEND in progress or just completed
    std::size_t receives_used = 0;  // of `receives`
  };
  struct Read {
    u32 first_psn, packets;
    u64 origin;  // VA at which its last repetition began
  };

  QpHistory(const Capture& capture, End end, const ReplayEvent& connect);

  void deliver(const Seen& frame);
  // A frame that we sent, with its time in the recording.
  void send(const Seen& frame);
  void post_receive(const ReplayEvent& post) { receives.push_back(&post); }
  // A recorded frame that we need not send.
  void pass(const Seen& frame);

  // our work request; nullptr: no posted message has this PSN
  const SentWork* work_at(u32 psn) const;
  const Read* read_at(u32 psn) const;  // the peer's READ
  // True if a READ or ATOMIC up to this PSN has no response yet.
  bool awaits_response(u32 psn) const;
  // The receive of the last request; nullptr: none was posted.
  const ReplayEvent* receive_in_use() const {
    const std::size_t used = attempted.receives_used;
    return used && used <= receives.size() ? receives[used - 1] : nullptr;
  }

  const Capture& capture;
  End end;
  const ReplayEvent& connect;
  bool of_context = false;      // RD: of an EE context
  Seen last;                    // delivered
  Seen request;                 // the last good one delivered
  Seen answer;                  // the last good answer delivered
  Responder responder, before;  // `before`: without the last request
  Responder attempted;          // after the last request, if it had not been refused
  bool executed = false;        // true: the last request was not refused
  std::vector<Read> reads;
  struct After {
    u32 msn;
    bool asks;  // requests an ACK
  };
  std::map<u32, After> msn_after;  // by the last PSN of each executed request
  // by the last PSN of each READ and ATOMIC: whether its response has left
  std::map<u32, bool> responses;
  bool reads_back = false;  // the last request repeats a READ from before its last repetition
  std::vector<const ReplayEvent*> receives;

  // Requester.
  std::vector<SentWork> works;
  struct Sent {
    Seen frame;                   // the newest copy
    std::int64_t first_time = 0;  // of the first copy
  };
  std::map<u32, Sent> sent;      // requests by PSN
  std::optional<Seen> rnr_nak;   // delivered; no acknowledgement since
  bool went_back = false;        // after a NAK; no acknowledgement since
  bool goes_back_again = false;  // after a second NAK while it had gone back, without an RNR wait
  proto::SendState credits;      // only from the AETHs (G6)

  std::int64_t newest_frame = 0;  // its time in the recording, sent or delivered

  // Our latest answer, and the frames passed since an RNR NAK arrived or left.
  Seen our_answer;
  std::optional<Seen> newest_answer;  // highest PSN, including passed ones
  proto::ToldCredits told;            // by our ACKs and responses (G6.6)
  std::vector<u32> passed;

 private:
  void note_answer(const Seen& frame);
  void take_request(const Seen& frame);
  void take_answer(const Seen& frame);
};

// An Acknowledge packet as this end sends it.
std::vector<u8> build_answer(const QpHistory& qp, u32 psn, u8 syndrome, u32 msn);
// True if the recording suggests that the device never received this delivered request: it was the
// expected one; it was repeated without an answer in between; and the next answer, after
// repetitions of earlier packets, is an ACK of an earlier PSN.
bool was_lost_behind_wire(const QpHistory& qp, std::size_t frame_index);
// True if an SGE of this work request names memory that its key does not allow.
bool breaks_protection(const Capture& capture, const ReplayEvent& post, std::string_view right);
}  // namespace hca::testbench
