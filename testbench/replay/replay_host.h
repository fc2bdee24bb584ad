// SPDX-License-Identifier: Apache-2.0
// The host software of a replay: repeats the recorded host's actions, with the recorded numbers.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "testbench/host/replay_device.h"
#include "testbench/host/verbs.h"
#include "testbench/replay/replay_capture.h"

namespace hca::testbench {
// A completion as polled, by the names of the JSON.
struct PolledCompletion {
  std::string queue;  // "send" or "recv"
  Wc wc;
};

class ReplayHost {
 public:
  ReplayHost(const Capture& capture, End end, ReplayDevice& device);

  // Executes a host event; false: not an action of a host. Throws std::runtime_error for an event
  // that the model cannot execute yet.
  bool execute(const ReplayEvent& event);
  std::vector<PolledCompletion> poll();
  std::vector<AsyncEvent> poll_async();
  proto::QpAttributes query(u32 qpn);
  // Compares region `name` with its pattern plus the recorded changes; describes the first
  // difference. `may_differ`: true if the byte at this address may differ.
  std::optional<std::string> compare_memory(const ReplayEvent& mem_final,
                                            const std::function<bool(u64)>& may_differ,
                                            u64& bytes_compared);

 private:
  struct MemoryRegion {
    u64 address = 0, length = 0;
    u64 seed = 0;
    bool has_pattern = true;  // false: only the listed bytes are compared
  };
  void register_region(const ReplayEvent& e);
  void alloc_window(const ReplayEvent& e);
  void bind_window(const ReplayEvent& e);
  void create(const ReplayEvent& e);
  void connect(const ReplayEvent& e);
  void make_ready(const ReplayEvent& e);
  void modify(const ReplayEvent& e);
  void post_send(const ReplayEvent& e);
  void post_recv(const ReplayEvent& e);
  void post_srq_recv(const ReplayEvent& e);
  void create_srq(const ReplayEvent& e);
  void set_memory(const ReplayEvent& e);
  void destroy(const ReplayEvent& e);
  u32 xrc_domain();
  u32 rd_domain();
  Srq& srq_of(const ReplayEvent& post);
  void must_execute(Error error, std::string_view command) const;
  Qp& qp(u32 qpn);
  const MemoryRegion& region_of(const ReplayEvent& e) const;  // named by its `mr`
  static void check_inside(const MemoryRegion& region, u64 offset, u64 bytes, const JsonAt& where);

  const Capture& capture_;
  End end_;
  ReplayDevice& device_;
  VerbsContext verbs_;
  Cq *send_cq_ = nullptr, *recv_cq_ = nullptr;
  Srq* srq_ = nullptr;  // created when a queue pair needs it
  u32 xrcd_ = 0;        // the same holds for the domain of all XRC targets
  u32 rdd_ = 0;         // and for that of all EE contexts and queue pairs of RD
  std::map<u32, Srq*> xrc_srqs_;
  CompChannel* async_ = nullptr;
  std::map<u32, Qp*> qps_;
  std::map<u32, proto::AddressHandle> handles_;  // by datagram queue pair: the peer's handle
  std::map<std::string, MemoryRegion> regions_;
  std::map<u32, Mw> windows_;  // by the index of their key
};

// Initial value of byte `i` of a region with this seed.
constexpr u8 pattern_byte(u64 seed, u64 i) { return u8(31 * seed + 7 * i + 13 * (i >> 8)); }

std::string_view state_name(proto::QpState state);
// The options of a device that has what the capture shows.
DeviceOptions options_of(const Capture& capture);
}  // namespace hca::testbench
