// SPDX-License-Identifier: Apache-2.0
// The receiving end of a stream.
#include <fmt/format.h>

#include "testbench/workload/workload_stream.h"

namespace hca::testbench {
StreamReceiver::StreamReceiver(const Endpoint& end, const Traffic& traffic, Way way)
    : checker(way == Way::ToServer ? "server" : "client", traffic, way),
      end_(end),
      traffic_(traffic),
      queues_(traffic.qps),
      takes_receives_(traffic.has([](const OperationRow& r) { return r.takes_receive; })),
      poster_(end_, traffic_) {
  for (u32 qp = 0; qp < traffic.qps; ++qp) {
    if (traffic.may_lose) queues_[qp].seen.resize(traffic.messages_on(qp));
    queues_[qp].receives = traffic.count(qp, [](const Message& m) { return m.takes_receive(); });
    expected_ += traffic.count(qp, [](const Message& m) { return m.takes_receive() || m.lands(); });
  }
  if (traffic.has([](const OperationRow& r) { return r.writes; }))
    watch_ = std::make_unique<WriteWatch>(end_, traffic_, checker);
  if (takes_receives_) poster_.post_first();
  if (end_.shares_receives()) shared_.emplace(end_, traffic_);
}

Cycle StreamReceiver::act(Cycle now) {
  if (!takes_receives_) return 0;
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.recv_cq, wcs);
  for (u32 i = 0; i < found; ++i)
    if (traffic_.may_lose || checker.check(wcs[i], "receive WQE")) take(wcs[i]);
  if (!found) return finished() ? 0 : found_nothing(end_, traffic_, *end_.recv_cq);
  if (traffic_.sharing_threads > 1)
    end_.writes->lock_queue(*end_.cpu, end_.recv_cq, now,
                            end_.cpu->poll + found * end_.cpu->completion);
  return end_.cpu->take_completions(found, found);
}

void StreamReceiver::check_end() {
  if (takes_receives_) check_no_more(*end_.recv_cq, end_, checker);
  if (traffic_.operation == Operation::SendInvalidate && traffic_.mix.empty() && received_ &&
      end_.verbs->query_mr(end_.taken_mr).valid)
    checker.fail(
        fmt::format("key {:#x} is valid after {} invalidations", end_.taken_mr.rkey, received_));
}

template <class Fits>
std::optional<u64> StreamReceiver::find_message(u32 qp, u64 from, Fits&& fits) const {
  const u64 messages = queues_[qp].seen.size();
  for (u64 i = 0; i < messages; ++i)
    if (const u64 k = (from + i) % messages; fits(k)) return k;
  return std::nullopt;
}

// The first message after the last one, or otherwise before it, that has these bytes and has not
// come: some are lost, some come late. With an SRQ the WQE of a message that was begun and not
// ended completes too (G9.2).
std::optional<u64> StreamReceiver::identify(const Wc& wc, u32 qp, u64 slot) {
  Queue& queue = queues_[qp];
  const SgeList sge = poster_.buffer(qp, slot);
  const auto is_it = [&](u64 k) {
    const Message m = traffic_.message(qp, k);
    if (!m.takes_receive() || wc.byte_len != m.bytes + traffic_.receive_header ||
        wc.with_imm != m.row().immediate || (wc.with_imm && wc.imm_data != u32(k)))
      return false;
    return m.row().writes
               ? watch_->has_arrived(qp, k)
               : checker.has(end_.verbs->memory(), sge.addr + traffic_.receive_header, qp, k);
  };
  if (wc.status == proto::WcStatus::RemAbortErr) {
    ++aborted_;
  } else if (!checker.check(wc, "receive WQE")) {
    return std::nullopt;
  } else if (const auto found =
                 find_message(qp, queue.next, [&](u64 k) { return !queue.seen[k] && is_it(k); })) {
    queue.seen[*found] = true;
    return found;
  } else if (!find_message(qp, queue.next, is_it)) {
    checker.fail(fmt::format("{} bytes arrived that were not sent", wc.byte_len));
    return std::nullopt;
  } else {
    ++duplicates_;
  }
  post_again(qp, slot);
  return std::nullopt;
}

bool StreamReceiver::lose_rest() {
  if (!traffic_.may_lose || finished()) return false;
  lost_ = expected_ - received();
  expected_ = received();
  return true;
}

void StreamReceiver::post_again(u32 qp, u64 slot) {
  if (shared_) shared_->in_use[slot] = true;
  poster_.post(qp, slot);
}

// Messages of a queue pair arrive in order, so its receive WQEs are used in order.
void StreamReceiver::take(const Wc& wc) {
  const u32 qp = wc.qp_num - end_.receivers().front()->qpn;
  Queue& queue = queues_[qp];
  // In order: a lost message takes none, or returns it (G14.4). Beyond `receives` only some are
  // reposted.
  const u64 next = queue.received % traffic_.receive_depth;
  const u64 slot = shared_ || traffic_.may_lose ? wc.wr_id : next;
  if (!shared_ && queue.received < queue.receives && wc.wr_id != next)
    return checker.fail(
        fmt::format("receive {} of QP {:#x} completed, the next is {}", wc.wr_id, wc.qp_num, next));
  ++queue.received;
  if (shared_) {
    if (slot >= shared_->in_use.size() || !shared_->in_use[slot])
      return checker.fail(fmt::format("receive {} completed, which was not posted", slot));
    shared_->in_use[slot] = false;
  }
  const SgeList sge = poster_.buffer(qp, slot);
  if (traffic_.may_lose) {
    const auto found = identify(wc, qp, slot);
    if (!found) return;
    queue.next = *found;
  }
  while (!traffic_.message(qp, queue.next).row().takes_receive) ++queue.next;
  const u64 k = queue.next++;
  const Message m = traffic_.message(qp, k);
  const auto fail = [&](const std::string& sentence) {
    checker.fail(m.operation, checker.name(qp, k) + ": " + sentence);
  };
  if (wc.wr_id != slot || wc.byte_len != m.bytes + traffic_.receive_header)
    fail(fmt::format("receive {} with {} bytes completed, expected was {} with {}", wc.wr_id,
                     wc.byte_len, slot, m.bytes + traffic_.receive_header));
  if (wc.with_imm != m.row().immediate || (m.row().immediate && wc.imm_data != u32(k)))
    fail(fmt::format("immediate data {:#x}, sent was {:#x}", wc.imm_data, u32(k)));
  if (wc.with_invalidate != m.row().invalidates ||
      (m.row().invalidates && wc.imm_data != end_.taken_mr.rkey))
    fail(fmt::format("invalidates key {:#x}, sent was {:#x}", wc.imm_data, end_.taken_mr.rkey));
  if (!m.row().writes)
    checker.check(end_.verbs->memory(), sge.addr + traffic_.receive_header, qp, k);
  else if (!watch_->has_arrived(qp, k))
    fail("completed before its last byte");
  else if (!m.lands())
    checker.check(true, qp, k, "");
  ++received_;
  if (arrived) arrived(qp, k);
  const bool more = shared_ ? shared_->take_left(slot)
                            : queue.received + traffic_.receive_depth <= queue.receives;
  if (!more) return poster_.post_late();
  post_again(qp, slot);
}
}  // namespace hca::testbench
