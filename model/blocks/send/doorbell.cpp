// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/doorbell.h"

#include <algorithm>

#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
namespace {
proto::QueueDoorbell queue_bell(const u8* bytes) {
  auto bell = proto::decode<proto::QueueDoorbell>(bytes);
  return bell;
}
}  // namespace

using proto::BarOffset;

void Doorbell::write(Cycle at, u32 offset, std::span<const u8> data) {
  offset %= proto::kUserPageBytes;
  if (proto::is_rest_of_push(offset)) return ignore(at, data.size(), counters.pieces);
  bool push = BarOffset(offset) == BarOffset::PushBuffer;
  if (push ? data.size() < 8 || data.size() > 8 + proto::kPushBytes : data.size() != 8)
    return ignore(at, data.size(), counters.bad);
  if (push && !proto::holds_whole_wqe(data.subspan(8))) {
    push = false;
    offset = u32(BarOffset::SendDoorbell);
    ++counters.fallbacks;
  }
  if (push) {
    PushedWqe* wqe = pool_.take();
    wqe->bytes = u32(data.size() - 8);
    std::copy(data.begin() + 8, data.end(), wqe->wqe.begin());
    pushed_.push(wqe);
  }
  writes_in.deliver(at, arrivals_++, {offset, u32(data.size()), proto::load_be<8>(data.data())});
}

void Doorbell::tick() {
  if (!writes_in.can_pop()) return;
  const Write write = writes_in.front();
  if (!pass(write.offset, write.value)) return;
  writes_in.pop(config_.interval);
  tell_taken(now(), write.bytes);
}

// False: the next block has no room, and will wake this one.
bool Doorbell::pass(u32 offset, u64 value) {
  u8 bytes[8];
  proto::store_be<8>(bytes, value);
  const Cycle extra = config_.latency - 1;
  const auto to = [&](auto* link, auto item) {
    if (!link->can_push()) return false;
    link->push(item, 1, extra);
    ++counters.doorbells;
    return true;
  };
  switch (BarOffset(offset)) {
    case BarOffset::SendDoorbell:
    case BarOffset::PushBuffer: {
      const auto bell = queue_bell(bytes);
      const bool push = BarOffset(offset) == BarOffset::PushBuffer;
      if (!to(outputs.send_out,
              SendBell{bell.qpn, bell.producer, push ? pushed_.front() : nullptr}))
        return false;
      if (push) {
        pushed_.pop();
        ++counters.pushed;
      }
      probe.event(now() + config_.latency, Step::Passed, bell.qpn, bell.producer);
      return true;
    }
    case BarOffset::ReceiveDoorbell: {
      const auto bell = queue_bell(bytes);
      const proto::QpConfig* qp = contexts_.find_qp(bell.qpn);
      return to(outputs.receive_out[qp ? port_of(*qp) : 0], ReceiveBell{bell.qpn, bell.producer});
    }
    case BarOffset::SharedDoorbell: {
      const auto bell = queue_bell(bytes);
      const proto::SharedQueue* srq = contexts_.find_srq(bell.qpn);
      return to(outputs.receive_out[srq ? srq->port - 1 : 0],
                ReceiveBell{bell.qpn, bell.producer, true});
    }
    case BarOffset::CqDoorbell:
      return to(outputs.cq_out, proto::decode<proto::CqDoorbell>(bytes));
    case BarOffset::EqDoorbell:
      return to(outputs.eq_out, proto::decode<proto::EqDoorbell>(bytes));
    case BarOffset::CommandDoorbell:
      return to(outputs.command_out, CommandBell{value});
    default:
      ++counters.bad;
      return true;
  }
}
}  // namespace hca::blocks
