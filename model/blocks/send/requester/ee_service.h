// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "model/blocks/send/requester/psn_steps.h"
#include "model/blocks/send/requester/work_ends.h"
#include "model/proto/transport/ee_context.h"

namespace hca::blocks {
// RD: queue pairs ask EE contexts for service (G13). An EE context sends one message at a time, as a
// queue pair whose only WQE is a copy of that of the queue pair that it serves. When a message ends
// early, a RESYNC takes its place.
class EeService : RequesterPart {
 public:
  struct Parts {
    RequesterOutbox& outbox;
    SendOrder& order;
    FetchedTurns& turns;
    AckTimers& timers;
    WorkEnds& ends;
    PsnSteps& psns;
  };
  EeService(const RequesterPart& shared, device::Contexts& contexts, const Parts& parts)
      : RequesterPart(shared), served_(contexts), parts_(parts) {}

  // The first WQE of the queue pair, which is good, asks.
  void ask(u32 qpn, SendQueue& q, u32 ee);
  // The next queue pair, if the EE context is free.
  void serve_next(u32 ee);
  // True: a CQE was written.
  bool complete(u32 ee, SendQueue& q);
  // The message fails: class B, or D.
  void fail(u32 ee, proto::WcStatus status);
  // An RNR NAK suspends the message of its queue pair alone.
  void suspend(u32 ee, u8 rnr_code);
  // False: the response is dropped (o9-23.2.1, T9-22).
  bool takes(const Acknowledgement& response);
  // Instead of the scheduler: the WQE is sent again.
  void note(const SchedulerNote& note);

  // These act in the next tick: the queue pair is in Error, or was reset or destroyed; the same of
  // the EE context.
  void leave(u32 qpn, SendQueue& q);
  void end(u32 ee, proto::WcStatus served, proto::WcStatus asking, bool is_reset);
  bool has_any() const { return !leaving_.empty() || !ending_.empty(); }
  void act();

  // The EE context sends a message, and its queue pair learns of its failure.
  bool serves(u32 ee) const;
  bool blames(u32 ee) const;
  proto::WcStatus failed_status(u32 ee) const;

 private:
  // The end of a RESYNC: the WQE that failed completes; one that an RNR NAK suspended waits for its
  // time; of one whose queue pair left, nothing.
  enum class Resync : u8 { None, Fails, Suspends, Leaves };
  struct Context {
    Ring<u32> asking;
    bool serves = false;
    Resync resync = Resync::None;
    proto::WcStatus status{};
    std::array<u8, proto::kMaxSendWqeBytes> wqe{};
  };
  struct Leaving {
    u32 qpn = 0, ee = 0;
  };
  struct Ending {
    u32 ee = 0;
    proto::WcStatus served{}, asking{};
    bool is_reset = false;
  };
  void lend(u32 ee);
  void stop(u32 ee);
  void free_context(u32 ee);
  void start_resync(u32 ee, Resync end);
  void end_resync(u32 ee);
  void fail_queue_pair(u32 qpn, proto::WcStatus status);
  void take_leave(const Leaving& leaving);
  void take_end(const Ending& ending);

  const device::ServedContexts served_;
  const Parts parts_;
  ByQp<Context> ees_;
  Pool<Turn> pool_;
  Ring<Leaving> leaving_;
  Ring<Ending> ending_;
};
}  // namespace hca::blocks
