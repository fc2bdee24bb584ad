// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "model/blocks/send/requester/ack_timers.h"
#include "model/blocks/send/requester/fetched_turns.h"
#include "model/proto/transport/response_rules.h"

namespace hca::blocks {
// Selects the packets that are sent again after a loss, by the policy of the device
// (proto/transport/recovery.h). The scheduler fetches again from the WQE of the first of them.
class LossRecovery : RequesterPart {
 public:
  LossRecovery(const RequesterPart& shared, RequesterOutbox& outbox, FetchedTurns& turns,
               AckTimers& timers)
      : RequesterPart(shared), outbox_(outbox), turns_(turns), timers_(timers) {}

  // Goes back to the PSN that the verdict names. `kind`: Rewind, or Pause.
  void go_back(u32 qpn, const proto::AckVerdict& verdict, NoteKind kind);
  // `before`: the previous oldest unacknowledged PSN.
  void acknowledged(u32 qpn, proto::Psn before);

  // True: single packets are sent again. Only then the functions below are called.
  bool selects() const { return contexts_.options.recovery != proto::Recovery::GoBackN; }
  // The responder keeps the packet with this PSN and lacks one before it.
  void take_kept(u32 qpn, proto::Psn psn);
  // Moves to the next packet of the message in progress to be sent. False: there is none now.
  bool may_cut(u32 qpn, SendQueue& q);
  // Call when its headers are written. True: AckReq is set now, as it was not before.
  bool asks(u32 qpn, Packet& packet) const;
  void sent(u32 qpn, const proto::PsnRange& packet, bool is_new);
  // The queue pair has another path.
  void migrated(u32 qpn);
  // The queue pair was reset.
  void clear(u32 qpn) { records_[qpn] = {}; }

 private:
  template <class Policy>
  typename Policy::Record& record(u32 qpn) {
    if constexpr (std::is_same_v<Policy, proto::GoBackN>)
      return nothing_;
    else
      return records_[qpn];
  }
  u32 index_of(u32 qpn, proto::Psn psn) const;
  proto::PsnRange packet_of(u32 qpn, proto::Psn psn) const;
  void rewind(u32 qpn, NoteKind kind);

  RequesterOutbox& outbox_;
  FetchedTurns& turns_;
  AckTimers& timers_;
  proto::GoBackN::Record nothing_;
  ByQp<proto::LossRecord> records_;
};
}  // namespace hca::blocks
