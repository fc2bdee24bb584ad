// SPDX-License-Identifier: Apache-2.0
// What a replayed queue pair has seen up to now, as far as frames and posts tell: what the
// conditions of the allowed differences look at. It follows the wire, not the model.
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
// A frame taken apart; `good`: whole, and its ICRC is right.
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
  // Of an Acknowledge packet; others have no syndrome that matters here.
  bool is_nak(proto::NakCode code) const;
  bool is_rnr_nak() const;
  bool is_ack() const;
};

struct QpHistory {
  // Responder: what the delivered requests make of it.
  struct Responder {
    u32 epsn = 0, msn = 0;
    // The newest SEND, WRITE or ATOMIC packet that was executed: the recording device acknowledges
    // duplicates with it. 0xffffff before the first.
    u32 newest = proto::kPsnMask;
    u64 send_bytes = 0;             // of the SEND in progress or just ended
    std::size_t receives_used = 0;  // of `receives`
  };
  struct Read {
    u32 first_psn, packets;
    u64 origin;  // VA at which its last repetition began
  };

  QpHistory(const Capture& capture, End end, const ReplayEvent& connect);

  void deliver(const Seen& frame);
  // A frame of ours, and when the recording has it.
  void send(const Seen& frame);
  void post_receive(const ReplayEvent& post) { receives.push_back(&post); }
  // A recorded frame that we need not send.
  void pass(const Seen& frame);

  const SentWork* work_at(u32 psn) const;  // of ours; nullptr: no posted message has this PSN
  const Read* read_at(u32 psn) const;      // of the peer
  // Whether a READ or ATOMIC up to this PSN has no response yet.
  bool awaits_response(u32 psn) const;
  // Of the last request; nullptr: none was posted.
  const ReplayEvent* receive_in_use() const {
    const std::size_t used = attempted.receives_used;
    return used && used <= receives.size() ? receives[used - 1] : nullptr;
  }

  const Capture& capture;
  End end;
  const ReplayEvent& connect;
  Seen last;                    // delivered
  Seen request;                 // the last good one delivered
  Seen answer;                  // the same
  Responder responder, before;  // `before` the last request
  Responder attempted;          // behind it, had it not been refused
  bool executed = false;        // the last request, if it was not refused
  std::vector<Read> reads;
  struct After {
    u32 msn;
    bool asks;  // for an ACK
  };
  std::map<u32, After> msn_after;  // by the last PSN of each request that was executed
  std::map<u32, bool> responses;   // by the last PSN of each READ and ATOMIC: whether it has left
  bool reads_back = false;  // the last request repeats a READ from before its last repetition
  std::vector<const ReplayEvent*> receives;

  // Requester.
  std::vector<SentWork> works;
  struct Sent {
    Seen frame;                   // the newest copy
    std::int64_t first_time = 0;  // of the first copy
  };
  std::map<u32, Sent> sent;      // requests by PSN
  std::optional<Seen> rnr_nak;   // delivered; nothing was acknowledged since
  bool went_back = false;        // after a NAK, and nothing was acknowledged since
  bool goes_back_again = false;  // a second NAK found it so, and no RNR wait
  proto::SendState credits;      // only what the AETHs say (G6)

  std::int64_t newest_frame = 0;  // when the recording has it, sent or delivered

  // Answers of ours; the frames passed since an RNR NAK came or left.
  Seen our_answer;
  std::optional<Seen> newest_answer;  // of the highest PSN, also one that was passed
  proto::ToldCredits told;            // by our ACKs and responses (G6.6)
  std::vector<u32> passed;

 private:
  void note_answer(const Seen& frame);
  void take_request(const Seen& frame);
  void take_answer(const Seen& frame);
};

// An Acknowledge packet as this end sends it.
std::vector<u8> build_answer(const QpHistory& qp, u32 psn, u8 syndrome, u32 msn);
// True if the recording suggests that the device never got this delivered request: it was the
// expected one, it came again with no answer between, and what came after earlier packets had been
// repeated is an ACK of an earlier PSN.
bool was_lost_behind_wire(const QpHistory& qp, std::size_t frame_index);
// Whether an SGE of this work request names memory that its key does not allow.
bool breaks_protection(const Capture& capture, const ReplayEvent& post, std::string_view right);
}  // namespace hca::testbench
