// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/workload_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hca::testbench {
namespace {
constexpr u32 kPollBatch = 16;  // as perftest does
constexpr u8 kPoison = 0xdb;    // what a READ or ATOMIC must overwrite
// A completion that nothing explains.
void check_no_more(Cq& cq, const Endpoint& end, Checker& checker) {
  std::array<Wc, 1> wc;
  if (end.verbs->poll_cq(cq, wc))
    checker.fail(fmt::format("a completion too many: work request {} of QP {:#x}", wc[0].wr_id,
                             wc[0].qp_num));
}
}  // namespace

StreamSender::StreamSender(const Endpoint& end, const Traffic& traffic, Way way,
                           std::shared_ptr<AtomicNumbers> numbers)
    : checker(way == Way::ToServer ? "client" : "server", traffic, way),
      end_(end),
      traffic_(traffic),
      layout_(traffic),
      ledger_(end, traffic, std::move(numbers)),
      queues_(traffic.qps),
      ready_(traffic.qps),
      unplanned_(traffic.qps),
      random_(traffic.seed ^ 0x51ed270b),
      arrivals_(traffic.exponential, traffic.seed ^ 0xa5a5a5a5) {
  for (u32 qp = 0; qp < traffic.qps; ++qp) {
    queues_[qp].since.resize(traffic.depth);
    ready_.set(qp, has_work(qp));
    unplanned_.set(qp, traffic.messages_on(qp) != 0);
  }
  if (traffic.keep_posts) posts_.reserve(traffic.messages);
  if (!traffic.has([](const OperationRow& r) { return r.is_read(); })) return;
  for (u32 qp = 0; qp < traffic.qps; ++qp)
    for (u64 k = 0; k < std::min<u64>(traffic.depth, traffic.messages_on(qp)); ++k)
      checker.fill_served(*end_.peer_memory, end_.peer_fetch.addr + layout_.served(qp, k), qp, k);
}

Cycle StreamSender::act(Cycle now) {
  if (!began_) {
    began_ = true;
    first_post_ = now;
  }
  if (traffic_.is_open()) admit((now - first_post_) * end_.period);
  const bool any = traffic_.is_open() ? waiting_ != 0
                                      : in_flight_ < u64{traffic_.depth} * traffic_.qps &&
                                            planned_ < traffic_.messages;
  if (!in_flight_) filling_ = true;
  if (any && filling_)
    if (const auto qp = choose(next_post_, ready_)) return post_on(*qp, now);
  if (!traffic_.is_open() && planned_ < traffic_.messages) full_since_ = std::min(full_since_, now);
  filling_ = !traffic_.batches;
  return poll(now);
}

Cycle StreamSender::post_on(u32 qp, Cycle now) {
  const Cycle since = std::min(std::exchange(full_since_, engine::kNever), now);
  if ((since < now || now == first_post_) && !traffic_.keep_posts && !traffic_.is_open())
    end_.cpu->tell([&](HostMeter& meter) { meter.was_full(this, since, now); });
  return end_.cpu->take_posts(post_list(qp, now));
}

Cycle StreamSender::wakes_at() const {
  if (!traffic_.is_open() || planned_ == traffic_.messages) return engine::kNever;
  const Cycle distance = (arrivals_.next() + end_.period - 1) / end_.period;
  return std::max(first_post_ + distance, end_.cpu->self.now() + 1);
}

bool StreamSender::has_work(u32 qp) const {
  const Queue& queue = queues_[qp];
  if (queue.posted - queue.completed >= traffic_.depth) return false;
  return traffic_.is_open() ? !queue.waiting.empty() : queue.posted < traffic_.messages_on(qp);
}

// The next queue pair that fits: in turn, or from a random one on.
std::optional<u32> StreamSender::choose(u32& next, const IndexSet& fitting) {
  const std::optional<u32> qp =
      fitting.next(traffic_.random_qps ? u32(random_.below(traffic_.qps)) : next);
  if (qp) next = *qp + 1 == traffic_.qps ? 0 : *qp + 1;
  return qp;
}

// The messages that were planned until now enter the queue.
void StreamSender::admit(u64 until) {
  const u64 offered = planned_ + dropped_;
  u64 last = 0;
  while (planned_ < traffic_.messages && arrivals_.next() <= until) {
    const u32 qp = *choose(next_plan_, unplanned_);
    Queue& queue = queues_[qp];
    // One without a byte takes the time of one byte: time must pass.
    const u64 bits = u64{std::max(traffic_.message(qp, queue.planned).bytes, 1u)} * 8;
    last = arrivals_.next();
    if (waiting_ == traffic_.queue) {
      ++dropped_;
    } else {
      queue.waiting.push_back(arrivals_.next());
      queued_most_ = std::max(queued_most_, ++waiting_);
      ++queue.planned;
      ++planned_;
      unplanned_.set(qp, queue.planned < traffic_.messages_on(qp));
      ready_.set(qp, has_work(qp));
    }
    if (traffic_.messages_per_second)
      arrivals_.advance(engine::kPicosecondsPerSecond, traffic_.messages_per_second);
    else
      arrivals_.advance(engine::u128{bits} * engine::kPicosecondsPerSecond,
                        traffic_.bits_per_second);
  }
  if (offered != planned_ + dropped_)
    end_.cpu->tell([&](HostMeter& meter) {
      meter.offers(this,
                   {planned_ + dropped_, dropped_, first_post_ + last / end_.period,
                    traffic_.messages_per_second ? "workload[].message_rate" : "workload[].rate",
                    traffic_.entry, queued_most_, traffic_.queue});
    });
}

// With one doorbell; returns how many.
u32 StreamSender::post_list(u32 qp, Cycle now) {
  requests_.clear();
  pieces_.clear();
  while (requests_.size() < traffic_.list && has_work(qp)) prepare(qp, now);
  ready_.set(qp, has_work(qp));
  for (std::size_t i = 0; i < requests_.size(); ++i) requests_[i].sg_list = pieces_[i].list();
  std::size_t posted = 0;
  if (const Error error = end_.verbs->post_send(*end_.qps[qp], requests_, &posted);
      error != Error::None)
    checker.fail(
        traffic_.operation,
        fmt::format("post_send of {} gives error {}",
                    checker.name(qp, queues_[qp].posted - requests_.size() + posted), int(error)));
  return u32(requests_.size());
}

// The next message of a queue pair becomes the next work request of the list.
void StreamSender::prepare(u32 qp, Cycle now) {
  Queue& queue = queues_[qp];
  const u64 k = queue.posted++;
  const Message m = traffic_.message(qp, k);
  const bool fetches = m.row().fetches();
  const Mr& mr = fetches ? end_.fetch_mr : end_.send_mr;
  const u64 offset = fetches ? layout_.fetched(qp, k) : layout_.in_flight(qp, k);
  const SgeList sge{mr.addr + offset, m.bytes, mr.lkey};
  if (fetches)
    end_.verbs->memory().fill(sge.addr, kPoison, m.bytes);
  else if (m.row().work().sends_payload())
    checker.fill(end_.verbs->memory(), sge.addr, qp, k);
  if (m.row().flushes)
    pieces_.emplace_back();
  else
    pieces_.emplace_back(sge, m.row().is_atomic() ? 1 : traffic_.sges);
  SendWr& wr = requests_.emplace_back(work_request(end_, traffic_, qp, k, pieces_.back().list()));
  if (m.row().is_atomic()) ledger_.post(wr, qp);
  u64& since = queue.since[k % traffic_.depth];
  if (traffic_.is_open()) {
    since = queue.waiting.front();
    queue.waiting.pop_front();
    --waiting_;
  } else {
    since = (now - first_post_) * end_.period;
    ++planned_;
  }
  if (traffic_.keep_posts) posts_.push_back(now);
  ++in_flight_;
}

Cycle StreamSender::poll(Cycle now) {
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.send_cq, wcs);
  for (u32 i = 0; i < found; ++i) {
    if (!checker.check(wcs[i])) continue;
    const u32 qp = wcs[i].qp_num - end_.qp->qpn;
    Queue& queue = queues_[qp];
    queue.last_completion = now;
    if (const u64 next = next_signaled(qp); wcs[i].wr_id != next)
      checker.fail(fmt::format("{} completes, expected is {}", checker.name(qp, wcs[i].wr_id),
                               checker.name(qp, next)));
    for (; queue.completed <= wcs[i].wr_id; ++queue.completed) complete(qp, queue.completed, now);
    ready_.set(qp, has_work(qp));
  }
  if (!found) return finished() ? 0 : found_nothing(end_, traffic_, *end_.send_cq);
  last_completion_ = now;
  return end_.cpu->take_completions(found);
}

u64 StreamSender::next_signaled(u32 qp) const {
  const u64 done = queues_[qp].completed;
  return std::min(done - done % traffic_.signal_every + traffic_.signal_every,
                  traffic_.messages_on(qp)) -
         1;
}

void StreamSender::complete(u32 qp, u64 k, Cycle now) {
  const Message m = traffic_.message(qp, k);
  ++completed_;
  --in_flight_;
  end_.cpu->completed({now, end_.qps[qp]->qpn, m.bytes, u8(m.operation), traffic_.entry});
  if (const u64 at = (now - first_post_) * end_.period; traffic_.measures(at)) {
    ++measured_;
    bytes_measured_ += m.bytes;
    latencies_.add(at - queues_[qp].since[k % traffic_.depth]);
  }
  // A FLUSH, or a WRITE without a byte and without a receive, shows nowhere else.
  if (!m.row().fetches() && !m.lands() && !m.takes_receive()) checker.check(true, qp, k, "");
  if (!m.row().fetches()) return;
  const u64 at = end_.fetch_mr.addr + layout_.fetched(qp, k);
  if (m.row().is_read())
    return checker.check_served(end_.verbs->memory(), at, qp, k, k % traffic_.depth);
  std::array<u8, proto::kAtomicBytes> bytes;
  end_.verbs->memory().read(at, bytes.data(), bytes.size());
  const auto wrong = ledger_.returned(m.operation, qp, proto::load_le8(bytes.data()));
  checker.check(!wrong, qp, k, wrong ? checker.name(qp, k) + " " + *wrong : "");
}

void StreamSender::check_end() {
  check_no_more(*end_.send_cq, end_, checker);
  if (const auto wrong = ledger_.wrong_end()) checker.fail(*wrong);
}

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
  if (takes_receives_) post_receives(end_, traffic_);
  if (end_.shares_receives()) shared_.emplace(end_, traffic_);
}

Cycle StreamReceiver::act(Cycle) {
  if (!takes_receives_) return 0;
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.recv_cq, wcs);
  for (u32 i = 0; i < found; ++i)
    if (traffic_.may_lose || checker.check(wcs[i], "receive WQE")) take(wcs[i]);
  if (!found) return finished() ? 0 : found_nothing(end_, traffic_, *end_.recv_cq);
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
  const SgeList sge =
      shared_ ? shared_buffer(end_, traffic_, slot) : receive_buffer(end_, traffic_, qp, slot);
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
  const SgeList sge =
      shared_ ? shared_buffer(end_, traffic_, slot) : receive_buffer(end_, traffic_, qp, slot);
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
  const bool more = shared_ ? shared_->take_left(slot)
                            : queue.received + traffic_.receive_depth <= queue.receives;
  if (!more) return poster_.post_late();
  post_again(qp, slot);
}
}  // namespace hca::testbench
