// SPDX-License-Identifier: Apache-2.0
// A driver that reads asynchronous entries as AEQ-7 to AEQ-24 say, and reacts as they say. It knows
// the device only by what it does to it.
#pragma once
#include <functional>
#include <map>

#include "model/proto/interface/event_sources.h"
#include "model/proto/interface/events.h"
#include "testbench/host/driver_codes.h"

namespace hca::testbench {
inline constexpr u32 kTcpCloseWait = 6;

// What the driver keeps of a queue pair; each a number, so that tables can name them.
struct DriverQp {
  u32 last_code = 0;
  u32 tcp_state = 0, iwarp_state = 0;        // of the last entry
  u32 failed_wqe_valid = 0, failed_wqe = 0;  // of the receive queue
  u32 flushes = 0, disconnects = 0, errors = 0;
  u32 terminating = 0, terminates = 0, terminate_done = 0, fins = 0, terminate_messages = 0;
  u32 close_timers = 0;
  u32 closings = 0;  // to the iWARP state Closing
  u32 in_rts = 0;    // as the driver believes
  u32 accept_pending = 0, established = 0;
  u32 suspend_pending = 0;
};
struct DriverTotals {
  u32 suspends = 0;  // pending
  u32 traffic_change = 0;
  u32 accepts = 0;  // pending
  u32 wakes = 0;    // of those who wait for suspends
  u32 cq_errors = 0;
};

struct DriverDevice {
  std::function<bool(u32 qpn)> has_qp;
  std::function<bool(u32 cqn)> has_cq;
  std::function<void(u32 qpn)> to_error;
};

class AeqDriver {
 public:
  explicit AeqDriver(DriverDevice device) : device_(std::move(device)) {}

  void take(const proto::Aeqe& entry);

  bool is_roce = true;
  DriverTotals totals;
  std::map<u32, DriverQp> qps;

 private:
  // What an entry says, by its code and source.
  struct Info {
    const proto::Aeqe& entry;
    u32 number;
    Reaction reaction;
    bool of_qp = false, of_cq = false, of_receives = false;
  };
  static Info read(const proto::Aeqe& entry);
  void react(const Info& info, DriverQp& qp);
  void abnormal(const Info& info, DriverQp& qp);
  void closing(u32 qpn, DriverQp& qp);
  void suspended(DriverQp& qp);
  void count_suspend();
  void fail(u32 qpn, DriverQp& qp);
  void disconnect(u32 qpn, DriverQp& qp);

  DriverDevice device_;
};
}  // namespace hca::testbench
