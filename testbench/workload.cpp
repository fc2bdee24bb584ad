// SPDX-License-Identifier: Apache-2.0
#include "testbench/workload.h"

#include <fmt/format.h>

namespace hca::testbench {
namespace {
u64 pattern_seed(const Traffic& traffic, Way way) { return traffic.seed * 2 + u64(way); }
}  // namespace

void Checker::fill(tlm_::HostMemory& memory, u64 address, u64 message) const {
  write_pattern(memory, address, traffic_.bytes, pattern_seed(traffic_, way_), message);
}

void Checker::check(const tlm_::HostMemory& memory, u64 address, u64 message) {
  ++messages_;
  const auto wrong =
      check_pattern(memory, address, traffic_.bytes, pattern_seed(traffic_, way_), message);
  if (wrong)
    fail(fmt::format("message {} of {} bytes: byte {} is {:#04x}, sent was {:#04x}", message,
                     traffic_.bytes, wrong->offset, wrong->found, wrong->expected));
}

bool Checker::check(const Wc& wc) {
  if (wc.status == proto::WcStatus::Success) return true;
  fail(fmt::format("message {}: completed with status {}", wc.wr_id, proto::name_of(wc.status)));
  return false;
}

void Checker::fail(std::string sentence) {
  failed_ = true;
  if (failures_.size() < kKept)
    failures_.push_back(
        fmt::format("{}, {}: {}", where_, kOperationNames[unsigned(traffic_.operation)], sentence));
}

WriteWatch::WriteWatch(const Endpoint& end, const Traffic& traffic, u32 slots, Checker& checker)
    : end_(end), traffic_(traffic), slots_(slots), checker_(checker) {
  watch_ = end_.verbs->memory().watch(end_.recv_mr.addr, slots * slot_bytes(traffic.bytes),
                                      [this](u64 address, u64 bytes) { written(address, bytes); });
}
WriteWatch::~WriteWatch() { end_.verbs->memory().unwatch(watch_); }

void WriteWatch::written(u64 address, u64 bytes) {
  const u64 slot = arrived_ % slots_ * slot_bytes(traffic_.bytes) + end_.recv_mr.addr;
  if (address < slot || address + bytes > slot + traffic_.bytes)
    return checker_.fail(fmt::format("{} bytes written at {:#x}, message {} belongs at {:#x}",
                                     bytes, address, arrived_, slot));
  if (address + bytes != slot + traffic_.bytes) return;
  checker_.check(end_.verbs->memory(), slot, arrived_++);
  end_.cpu->notice();
}

SendWr work_request(const Endpoint& end, const Traffic& t, u64 message, u32 slot,
                    const SgeList& sge) {
  SendWr wr;
  wr.wr_id = message;
  wr.sg_list = {&sge, 1};
  wr.send_flags =
      (message + 1) % t.signal_every == 0 || message + 1 == t.messages ? u32(kSignaled) : 0;
  if (t.bytes < t.inline_below) wr.send_flags |= kInline;
  wr.push = t.push;
  if (t.operation == Operation::Send) return wr;
  wr.opcode = proto::WorkOpcode::RdmaWrite;
  wr.remote_addr = end.peer_recv.addr + slot * slot_bytes(t.bytes);
  wr.rkey = end.peer_recv.rkey;
  return wr;
}

void post_receives(const Endpoint& end, const Traffic& t, u32 slots) {
  std::vector<SgeList> sges;
  std::vector<RecvWr> list;
  for (u32 i = 0; i < slots; ++i)
    sges.push_back({end.recv_mr.addr + i * slot_bytes(t.bytes), t.bytes, end.recv_mr.lkey});
  for (u32 i = 0; i < slots; ++i) list.push_back({i, {&sges[i], 1}});
  end.verbs->post_recv(*end.qp, list);
}
}  // namespace hca::testbench
