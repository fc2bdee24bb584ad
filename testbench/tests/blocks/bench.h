// SPDX-License-Identifier: Apache-2.0
// A block test bench: one block alone in a domain, with neighbours controlled by the test.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "model/blocks/memory/accesses.h"
#include "model/engine/domain.h"
#include "model/engine/link.h"
#include "testbench/tests/blocks/pair.h"

namespace hca::test {
template <class T>
using Plan = std::vector<std::pair<Cycle, T>>;
using Cycles = std::vector<Cycle>;

// The link that carries a T.
template <class T>
inline constexpr bool kIsAccess = requires(T item) {
  item.era;
};
template <class T, unsigned N>
using LinkOf = std::conditional_t<kIsAccess<T>, blocks::AccessLink<T, N>, engine::Link<T, N>>;

// Pushes items to a link so that its reader sees each in its given cycle, or as soon after as there
// is room.
template <class L, class T>
class Feeder : public engine::Block {
 public:
  Feeder(L& out, const Plan<T>& plan) : out_(out), plan_(plan.begin(), plan.end()) {}
  void tick() {
    if (plan_.empty()) return;
    if (now() + 1 < plan_.front().first) return wake_at(plan_.front().first - 1);
    if (!out_.can_push()) return;
    out_.push(plan_.front().second), plan_.pop_front();
    if (!plan_.empty()) out_.wake_when_free();
  }

 private:
  L& out_;
  std::deque<std::pair<Cycle, T>> plan_;
};

// Pops items as soon as they are visible, but none before `from`.
template <class T, unsigned N>
class Taker : public engine::Block {
 public:
  Taker(unsigned depth, Cycle from) : in(depth), from_(from) {}
  void tick() {
    if (!in.can_pop()) return;
    if (now() < from_) return wake_at(from_);
    seen.push_back(now()), items.push_back(in.pop());
  }
  LinkOf<T, N> in;
  Cycles seen;
  std::vector<T> items;

 private:
  Cycle from_;
};

// Performs actions in given cycles.
class Doer : public engine::Block {
 public:
  explicit Doer(std::map<Cycle, std::function<void()>> plan) : plan_(std::move(plan)) {}
  void tick() {
    for (; !plan_.empty() && plan_.begin()->first <= now(); plan_.erase(plan_.begin()))
      plan_.begin()->second();
    if (!plan_.empty()) wake_at(plan_.begin()->first);
  }

 private:
  std::map<Cycle, std::function<void()>> plan_;
};

class Bench {
 public:
  template <class B>
  B& add(B& block, const char* name) {
    block.self = {&domain, domain.add(block, name)};
    domain.wake(block.self.block, 1);
    return block;
  }
  // Cycles are those in which `reader` sees the items, at least 2.
  template <class T, unsigned N, template <class, unsigned> class L>
  Feeder<L<T, N>, T>& feed(L<T, N>& link, engine::Block& reader,
                           const Plan<std::type_identity_t<T>>& plan) {
    count(link);
    auto& feeder = add(keep<Feeder<L<T, N>, T>>(link, plan), "feeder");
    link.connect(feeder.self, reader.self, "fed");
    return feeder;
  }
  template <class T, unsigned N, template <class, unsigned> class L>
  Taker<T, N>& take(L<T, N>*& out, engine::Block& writer, unsigned depth = N, Cycle from = 0,
                    const char* name = "taken") {
    auto& taker = add(keep<Taker<T, N>>(depth, from), "taker");
    count(taker.in);
    taker.in.connect(writer.self, taker.self, name);
    out = &taker.in;
    return taker;
  }
  Doer& plan(std::map<Cycle, std::function<void()>> what) {
    return add(keep<Doer>(std::move(what)), "doer");
  }

  engine::Domain domain{engine::Domain::Options{}};
  blocks::Accesses accesses;

 private:
  template <class L>
  void count(L& link) {
    if constexpr (requires { link.accesses; }) link.accesses = &accesses;
  }
  template <class B, class... A>
  B& keep(A&&... args) {
    auto made = std::make_shared<B>(std::forward<A>(args)...);
    kept_.push_back(made);
    return *made;
  }
  std::vector<std::shared_ptr<void>> kept_;
};

// For ports with 100 Gb/s at 400 MHz.
inline PerPort<TxRelease> release(TxStart start) {
  const TxRelease one(start, engine::Rate(100'000'000'000, 400'000'000));
  return {one, one};
}

// The objects of one side of a Pair, without a chip.
inline void set_up(device::Contexts& contexts, u32 qps, bool second = false) {
  PairConfig config;
  config.qps = qps;
  set_up(contexts, config, second);
}

// An RDMA WRITE, or a SEND, of one packet from `from` to its peer, complete with its ICRC.
inline Packet* write_packet(PacketPool& pool, const proto::QpConfig& from, u32 psn, u32 bytes,
                            proto::WorkOpcode opcode = proto::WorkOpcode::RdmaWrite) {
  proto::SendWqe wqe{};
  wqe.opcode = opcode;
  const auto plan = proto::plan_packet(
      from, wqe,
      {.first_psn = psn, .packets = 1, .bytes = bytes, .opcode = wqe.opcode, .signaled = true}, 0);
  Packet* p = pool.take();
  p->qpn = from.qpn, p->psn = psn, p->is_request = true;
  proto::ExtHeaders ext;
  ext.reth = {kData, kKey, bytes};
  proto::write_headers(from.path, *plan.row, proto::request_bth(from, plan), ext, bytes,
                       p->frame());
  p->shape = proto::shape_of(from.path, *plan.row, bytes);
  p->frame_bytes = proto::finish_frame(p->frame(), p->shape);
  return p;
}
// A packet from the wire, in the form for receiving blocks after the port.
inline Packet* parsed(Packet* p) {
  proto::parse({p->frame(), p->frame_bytes}, proto::framing_row(p->shape.framing).link, p->parsed);
  p->qpn = p->parsed.bth.dest_qp;
  return p;
}
}  // namespace hca::test
