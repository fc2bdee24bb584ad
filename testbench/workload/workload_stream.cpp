// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload/workload_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hca::testbench {
namespace {
constexpr u8 kPoison = 0xdb;  // what a READ or ATOMIC must overwrite
}  // namespace

StreamSender::StreamSender(const Endpoint& end, const Traffic& traffic, Way way,
                           SharedByThreads shared)
    : checker(way == Way::ToServer ? "client" : "server", traffic, way),
      end_(end),
      traffic_(traffic),
      buffers_(end_, traffic),
      peer_buffers_(*end_.peer, traffic, shared.served ? *shared.served : *end_.peer),
      ledger_(end, traffic, std::move(shared.numbers)),
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
  const ServedPlaces& served = peer_buffers_.served_places();
  std::vector<bool> filled(served.places().count());
  for (u32 qp = 0; qp < traffic.qps; ++qp)
    for (u64 k = 0; k < served.covering(traffic.messages_on(qp)); ++k) {
      const u64 place = served.of(qp, k);
      if (filled[place]) continue;
      filled[place] = true;
      checker.fill_served(*end_.peer_memory, peer_buffers_.served(qp, k).addr,
                          served.content(qp, k));
    }
}

Cycle StreamSender::act(Cycle now) {
  if (!began_) {
    began_ = true;
    first_post_ = now;
  }
  if (traffic_.is_open()) admit((now - first_post_) * end_.period);
  const bool any = has_schedule() ? waiting_ != 0
                                  : in_flight_ < u64{traffic_.depth} * traffic_.qps &&
                                        planned_ < traffic_.messages;
  if (!in_flight_) filling_ = true;
  if (any && filling_)
    if (const Cycle posted = post_next(now)) return posted;
  if (!traffic_.is_open() && planned_ < traffic_.messages) full_since_ = std::min(full_since_, now);
  filling_ = !traffic_.batches;
  return poll(now);
}

Cycle StreamSender::post_next(Cycle now) {
  const auto qp = choose(next_post_, ready_);
  return qp ? post_on(*qp, now) : 0;
}

Cycle StreamSender::post_on(u32 qp, Cycle now) {
  const Cycle since = std::min(std::exchange(full_since_, engine::kNever), now);
  if ((since < now || now == first_post_) && !traffic_.keep_posts && !has_schedule())
    end_.cpu->tell([&](HostMeter& meter) { meter.was_full(this, since, now); });
  lock(end_.qps[qp], now, next_list(qp) * end_.cpu->post_send + end_.cpu->doorbell);
  return end_.cpu->take_posts(post_list(qp, now));
}

// What threads share is used by one at a time, for its work.
void StreamSender::lock(const void* queue, Cycle now, Cycle work) {
  if (traffic_.sharing_threads > 1) end_.writes->lock_queue(*end_.cpu, queue, now, work);
}

// The messages that a queue pair with work takes with the next doorbell.
u32 StreamSender::next_list(u32 qp) const {
  const Queue& queue = queues_[qp];
  const u64 left = has_schedule() ? queue.waiting.size() : traffic_.messages_on(qp) - queue.posted;
  return u32(std::min({u64{traffic_.list}, left, queue.done + traffic_.depth - queue.posted}));
}

Cycle StreamSender::wakes_at() const {
  if (!traffic_.is_open() || planned_ == traffic_.messages) return engine::kNever;
  const Cycle distance = (arrivals_.next() + end_.period - 1) / end_.period;
  return std::max(first_post_ + distance, end_.cpu->self.now() + 1);
}

bool StreamSender::has_work(u32 qp) const {
  const Queue& queue = queues_[qp];
  if (queue.posted - queue.done >= traffic_.depth) return false;
  return has_schedule() ? !queue.waiting.empty() : queue.posted < traffic_.messages_on(qp);
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
  const Buffer buffer = buffers_.local(m, qp, k);
  const SgeList sge{buffer.addr, m.bytes, buffer.lkey};
  if (m.row().fetches())
    end_.verbs->memory().fill(sge.addr, kPoison, traffic_.held_of(m.bytes));
  else if (m.row().work().sends_payload())
    checker.fill(end_.verbs->memory(), sge.addr, qp, k);
  if (m.row().flushes)
    pieces_.emplace_back();
  else
    pieces_.emplace_back(sge, m.row().is_atomic() ? 1 : traffic_.sges);
  SendWr& wr = requests_.emplace_back(
      work_request(end_, peer_buffers_, traffic_, qp, k, pieces_.back().list()));
  if (m.row().is_atomic()) ledger_.post(wr, qp);
  u64& since = queue.since[k % traffic_.depth];
  if (has_schedule()) {
    since = queue.waiting.front();
    queue.waiting.pop_front();
    --waiting_;
  } else {
    since = (now - first_post_) * end_.period;
    ++planned_;
  }
  if (trips_) trips_->posted(qp, k, first_post_ * end_.period + since, now * end_.period);
  if (traffic_.keep_posts) posts_.push_back(now);
  ++in_flight_;
}

Cycle StreamSender::poll(Cycle now, bool sleeps) {
  std::array<Wc, kPollBatch> wcs;
  const u32 found = end_.verbs->poll_cq(*end_.send_cq, wcs);
  for (u32 i = 0; i < found; ++i) {
    if (!checker.check(wcs[i])) continue;
    const u32 qp = wcs[i].qp_num - end_.qp->qpn;
    Queue& queue = queues_[qp];
    if (!traffic_.is_request()) queue.last_completion = now;
    if (const u64 next = next_signaled(qp); wcs[i].wr_id != next)
      checker.fail(fmt::format("{} completes, expected is {}", checker.name(qp, wcs[i].wr_id),
                               checker.name(qp, next)));
    for (; queue.completed <= wcs[i].wr_id; ++queue.completed) complete(qp, queue.completed, now);
    settle(qp);
  }
  if (!found) return finished() || !sleeps ? 0 : found_nothing(end_, traffic_, *end_.send_cq);
  lock(end_.send_cq, now, end_.cpu->poll + found * end_.cpu->completion);
  if (!traffic_.is_request()) last_completion_ = now;
  return end_.cpu->take_completions(found);
}

u64 StreamSender::next_signaled(u32 qp) const {
  const u64 done = queues_[qp].completed;
  return std::min(done - done % traffic_.signal_every + traffic_.signal_every,
                  traffic_.messages_on(qp)) -
         1;
}

// Messages that are over make room for others.
void StreamSender::settle(u32 qp) {
  Queue& queue = queues_[qp];
  const u64 done =
      traffic_.is_request() ? std::min(queue.completed, queue.answered) : queue.completed;
  completed_ += done - queue.done;
  in_flight_ -= done - queue.done;
  queue.done = done;
  ready_.set(qp, has_work(qp));
}

void StreamSender::measure(u32 qp, u64 k, Cycle now) {
  const u64 at = (now - first_post_) * end_.period;
  if (!traffic_.measures(at)) return;
  ++measured_;
  bytes_measured_ += traffic_.message(qp, k).bytes;
  latencies_.add(at - queues_[qp].since[k % traffic_.depth]);
  if (trips_) trips_->answered(qp, k, now * end_.period);
}

void StreamSender::answered(u32 qp, u64 k) {
  const Cycle now = end_.cpu->self.now();
  Queue& queue = queues_[qp];
  if (queue.answered != k)
    checker.fail(fmt::format("the answer to {} came, expected is that to {}", checker.name(qp, k),
                             checker.name(qp, queue.answered)));
  ++queue.answered;
  queue.last_completion = last_completion_ = now;
  measure(qp, k, now);
  settle(qp);
}

void StreamSender::release(u32 qp) {
  Queue& queue = queues_[qp];
  queue.waiting.push_back((end_.cpu->self.now() - first_post_) * end_.period);
  ++waiting_, ++queue.planned, ++planned_;
  ready_.set(qp, has_work(qp));
}

void StreamSender::complete(u32 qp, u64 k, Cycle now) {
  const Message m = traffic_.message(qp, k);
  end_.cpu->completed({now, end_.qps[qp]->qpn, m.bytes, u8(m.operation), traffic_.entry});
  if (!traffic_.is_request()) measure(qp, k, now);
  // A FLUSH, or a WRITE without a byte and without a receive, shows nowhere else.
  if (!m.row().fetches() && !m.lands() && !m.takes_receive()) checker.check(true, qp, k, "");
  if (!m.row().fetches()) return;
  const u64 at = buffers_.local(m, qp, k).addr;
  if (m.row().is_read())
    return checker.check_served(end_.verbs->memory(), at, qp, k,
                                peer_buffers_.served_places().content(qp, k));
  std::array<u8, proto::kAtomicBytes> bytes;
  end_.verbs->memory().read(at, bytes.data(), bytes.size());
  const auto wrong = ledger_.returned(m.operation, qp, proto::load_le8(bytes.data()));
  checker.check(!wrong, qp, k, wrong ? checker.name(qp, k) + " " + *wrong : "");
}

void StreamSender::check_end() {
  check_no_more(*end_.send_cq, end_, checker);
  if (const auto wrong = ledger_.wrong_end()) checker.fail(*wrong);
}
}  // namespace hca::testbench
