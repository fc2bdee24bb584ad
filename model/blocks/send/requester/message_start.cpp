// SPDX-License-Identifier: Apache-2.0
#include "model/blocks/send/requester/message_start.h"

#include "model/proto/transport/ee_context.h"
#include "model/proto/transport/work_rules.h"

namespace hca::blocks {
using namespace proto;

bool MessageStart::waits_for_probe(u32 qpn, const SendQueue& q) const {
  const SendState& s = state_of(qpn);
  return probes(s, contexts_.qps[qpn], *q.message, q.index + 1 == s.started);
}

// An acknowledged WQE needs no repetition. A completed WQE may have been fetched after the host had
// reused its slot.
bool MessageStart::is_acknowledged(u32 qpn, u32 index) {
  const SendState& s = state_of(qpn);
  if (index == s.started) return false;
  return index - s.completed >= s.started - s.completed ||
         psn_distance(message_of(qpn, index).end_psn(), s.send_psn) >= 0;
}

bool MessageStart::begin(u32 qpn, SendQueue& q, const Turn& turn) {
  const QpConfig& qp = contexts_.qps[qpn];
  if (qp.service == Service::Rd && !device::is_ee(qpn)) [[unlikely]] {
    ask(qpn, q, turn);
    return false;
  }
  SendState& s = state_of(qpn);
  const u32 index = turn.first + q.at;
  if (is_acknowledged(qpn, index)) {  // the ACK came while it waited to be repeated
    parts_.turns.finish_wqe(qpn, q);
    return false;
  }
  // resume() or end() of a local work request activates the queue again.
  if (index == s.started && (starts_nothing(qp, s) || q.waits_local)) return false;
  const u32 at = q.at;
  const u8* wqe = turn.wqes.data() + at * qp.sq.stride();
  if (turn.unreadable) [[unlikely]] {
    parts_.ends.fail_unread(qpn);
    return false;
  }
  u64 bytes = 0;
  const WcStatus status = check_wqe(qp, q, wqe, turn.first + at, bytes);
  if (status != WcStatus::Success) {  // the WQE fails when those before it are done (C9-209)
    q.waits_to_fail = index != s.completed;
    if (!q.waits_to_fail) parts_.ends.fail(qpn, index, status);
    return false;
  }
  SentMessage& m = message_of(qpn, index);
  if (index == s.started && !start(qpn, q, m, wqe, index, u32(bytes))) return false;
  q.message = &m;
  q.index = index;
  q.packet = psns_between(m.first_psn, s.send_psn);
  if (m.answer != Answer::Read && row_of(q.wqe).sends_payload())
    q.cursor.skip(q.packet * qp.path_mtu);
  q.sending = true;
  q.repeated.forget();
  return true;
}

// RD: the oldest WQE asks its EE context for service; the end of the one before it activates the
// queue again.
[[gnu::cold]] void MessageStart::ask(u32 qpn, SendQueue& q, const Turn& turn) {
  const QpConfig& qp = contexts_.qps[qpn];
  const SendState& s = state_of(qpn);
  const u32 index = turn.first + q.at;
  if (q.asks || s.waits_rnr || q.waits_local || index != s.completed) return;
  if (s.started == index && starts_nothing(qp, s)) return;
  if (turn.unreadable) return parts_.ends.fail_unread(qpn);
  const u8* const wqe = turn.wqes.data() + q.at * qp.sq.stride();
  u64 bytes = 0;
  WcStatus status = check_wqe(qp, q, wqe, index, bytes);
  const bool good = status == WcStatus::Success;
  if (good && row_of(q.wqe).is_local())
    return void(start(qpn, q, message_of(qpn, index), wqe, index, u32(bytes)));
  if (!good) return parts_.ends.fail(qpn, index, status);
  const auto address = decode<RdAddress>(wqe + rd_address_offset(row_of(q.wqe)));
  const u32 ee = device::ee_number(address.eecn);
  status = check_ee_context(qp, contexts_.find_number(ee));
  if (status != WcStatus::Success) return parts_.ends.fail(qpn, index, status);
  parts_.ee_service.ask(qpn, q, ee);
}

// Starts a new message. False: it waits, or sends no packet.
inline bool MessageStart::start(u32 qpn, SendQueue& q, SentMessage& m, const u8* wqe, u32 index,
                                u32 bytes) {
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = state_of(qpn);
  const SendWait wait = send_wait(s, qp, q.wqe, psns_of_message(row_of(q.wqe), bytes, qp.path_mtu));
  if (wait != q.waits) [[unlikely]]
    change_wait(q, wait);
  if (wait != SendWait::None) return false;  // its event activates the queue again
  const SendPsns before = static_cast<const SendPsns&>(s);
  begin_message(m, s, q.wqe, q.operands, index, bytes, qp.path_mtu, qp.signal_all);
  if (parts_.psns.stand_in) [[unlikely]]
    parts_.psns.begin(qpn, before, m);
  ++s.started;
  if (row_of(q.wqe).is_local()) {
    parts_.local_works.start(qpn, q, wqe, index);
    parts_.turns.finish_wqe(qpn, q);
    return false;
  }
  if (has_response(row_of(q.wqe).answer)) parts_.data.keep_buffers(index, q, m);
  ++counters_.messages;
  return true;
}

// Resolves the destination of a datagram. False: its address handle is invalid.
bool MessageStart::take_address(const QpConfig& qp, const u8* handle) {
  datagram_.address = decode<AddressHandle>(handle);
  const auto path = path_of_datagram(qp, datagram_.address, contexts_.ports[port_of(qp)]);
  if (path) datagram_.path = *path;
  return path.has_value();
}

// Checks the form of a WQE and its local access rights; `bytes`: the sum of its lengths.
WcStatus MessageStart::check_wqe(const QpConfig& qp, SendQueue& q, const u8* wqe, u32 index,
                                 u64& bytes) {
  decode_to(wqe, q.wqe);
  const WcStatus form = check_send_wqe(q.wqe, index, qp);
  if (form != WcStatus::Success) return form;
  const WorkRow& row = row_of(q.wqe);
  if (row.segment_bytes()) take_operands(row, wqe + kSendWqeBytes, q.operands);
  q.cursor = {wqe + segments_offset(row, qp.service), q.wqe.sge_count};
  const bool datagram = qp.service == Service::Ud;
  if (datagram && !take_address(qp, wqe + kSendWqeBytes)) [[unlikely]]
    return WcStatus::LocQpOpErr;
  if (q.wqe.inline_data) {
    q.cursor.count = 0;
    bytes = q.wqe.inline_bytes;
    const bool bounded = datagram || row.exact_bytes;
    return bounded ? check_message_bytes(row, bytes, qp) : WcStatus::Success;
  }
  bytes = bytes_of_operands(row, q.operands);
  for (u32 i = 0; i < q.wqe.sge_count; ++i) {
    const auto sge = decode<Sge>(q.cursor.segments + i * kSgeBytes);
    if (sge.bytes && !protection_.local(sge, accessor_of(qp), qp, local_right(row)))
      return WcStatus::LocProtErr;
    bytes += sge.bytes;
  }
  return split_message_bytes(row, q.operands, bytes, qp);
}

// The cause for which the queue's next message waits has changed or ended.
[[gnu::cold]] void MessageStart::change_wait(SendQueue& q, SendWait wait) {
  using C = RequesterCounters;
  constexpr std::array<u64 C::*, 5> kCounters{nullptr, &C::waits_window, &C::waits_reads,
                                              &C::waits_fence, &C::waits_credits};
  if (q.waits != SendWait::None) counters_.*kCounters[unsigned(q.waits)] += now() - q.waits_since;
  q.waits = wait;
  q.waits_since = now();
}

RequesterHold MessageStart::hold(u32 qpn, const SendQueue& q) const {
  RequesterHold h;
  h.has_wqe = q.head;
  h.listed = q.active;
  h.failing = q.failing || q.waits_to_fail;
  h.waits_local = q.waits_local;
  if (!h.has_wqe || h.listed) return h;
  const QpConfig& qp = contexts_.qps[qpn];
  const SendState& s = state_of(qpn);
  h.probes = q.sending;
  if (q.sending || !must_wait(s, qp, q.wqe, 1)) return h;
  h.waits_data = reads_outstanding(s) && (q.wqe.fence || has_response(row_of(q.wqe).answer));
  h.waits_window = !h.waits_data && s.is_full(1);
  h.waits_credits = !h.waits_data && !h.waits_window;
  return h;
}
}  // namespace hca::blocks
