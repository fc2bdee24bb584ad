// SPDX-License-Identifier: Apache-2.0
#include "testbench/host/aeq_driver.h"

namespace hca::testbench {
using proto::DriverState;
using proto::EventPart;

// AEQ-6, AEQ-7: the code may name the object; the source is read after it, unless it is ignored.
AeqDriver::Info AeqDriver::read(const proto::Aeqe& entry) {
  const DriverCode& code = driver_code(entry.code);
  Info info{entry, entry.object(), code.reaction};
  info.of_qp = code.object == CodeObject::Qp || code.object == CodeObject::QpAlone;
  info.of_cq = code.object == CodeObject::CqAlone;
  if (code.object == CodeObject::QpAlone || code.object == CodeObject::CqAlone) return info;
  const EventPart part = proto::kEventSources[entry.source];
  info.of_qp |= proto::is_of_queue_pair(part);
  info.of_cq |= part == EventPart::Cq;
  info.of_receives = part == EventPart::ReceiveQueue;
  return info;
}

void AeqDriver::take(const proto::Aeqe& entry) {
  const Info info = read(entry);
  if (!info.of_qp) {
    const bool tells = info.reaction == Reaction::CqError && device_.has_cq(info.number);
    totals.cq_errors += tells;  // AEQ-8, AEQ-11
    return;
  }
  if (!device_.has_qp(info.number)) {
    if (info.reaction == Reaction::Suspended) count_suspend(), ++totals.wakes;  // AEQ-9
    return;
  }
  DriverQp& qp = qps[info.number];
  qp.tcp_state = entry.tcp_state;
  qp.iwarp_state = u32(entry.state);
  if (info.reaction != Reaction::Suspended) qp.last_code = entry.code;  // AEQ-10
  react(info, qp);
}

void AeqDriver::react(const Info& info, DriverQp& qp) {
  switch (info.reaction) {
    case Reaction::Nothing:
      return;
    case Reaction::Established:
      if (std::exchange(qp.accept_pending, 0)) --totals.accepts;
      qp.established = 1;
      return;
    case Reaction::Closing:
      return closing(info.number, qp);
    case Reaction::Closed:
      if (qp.terminating) return void(++qp.terminate_done);
      return disconnect(info.number, qp);
    case Reaction::BadClose:
      fail(info.number, qp);
      return disconnect(info.number, qp);
    case Reaction::Reset:
      if (!qp.close_timers) disconnect(info.number, qp);
      return;
    case Reaction::Suspended:
      return suspended(qp);
    case Reaction::SendsFin:
      return void(++qp.fins);
    case Reaction::TakesTerminate:
      return void(++qp.terminate_messages);
    case Reaction::CqError:
      if (device_.has_cq(info.number)) ++totals.cq_errors;
      return;
    case Reaction::Abnormal:
      return abnormal(info, qp);
  }
}

// AEQ-12; with iWARP the connection is terminated instead, if it is in RTS or being terminated.
void AeqDriver::abnormal(const Info& info, DriverQp& qp) {
  qp.failed_wqe_valid = info.of_receives;
  if (info.of_receives) qp.failed_wqe = info.entry.wqe_index;
  if (is_roce) {
    ++qp.flushes;
    return disconnect(info.number, qp);
  }
  const auto state = DriverState(qp.iwarp_state);
  if (state == DriverState::Rts || state == DriverState::Terminate) return void(++qp.terminates);
  fail(info.number, qp);
  disconnect(info.number, qp);
}

void AeqDriver::closing(u32 qpn, DriverQp& qp) {
  if (qp.terminating || ++qp.close_timers != 1) return;
  qp.tcp_state = kTcpCloseWait;
  if (!qp.in_rts) return;
  ++qp.closings;
  disconnect(qpn, qp);
}

void AeqDriver::suspended(DriverQp& qp) {
  if (totals.traffic_change) {
    count_suspend();
    totals.wakes += totals.suspends == 0;
  }
  totals.wakes += std::exchange(qp.suspend_pending, 0);
}

void AeqDriver::count_suspend() { --totals.suspends; }

void AeqDriver::fail(u32 qpn, DriverQp& qp) {
  ++qp.errors;
  device_.to_error(qpn);
}

// The connection manager's part takes the queue pair to Error and flushes it.
void AeqDriver::disconnect(u32 qpn, DriverQp& qp) {
  ++qp.disconnects;
  device_.to_error(qpn);
}
}  // namespace hca::testbench
