// SPDX-License-Identifier: Apache-2.0
// The requester: from send WQEs to packets, and the effects of answers and timers.
#include <algorithm>

#include "model/functional/functional_hca.h"
#include "model/proto/transport/congestion_rules.h"
#include "model/proto/transport/port_rules.h"
#include "model/proto/transport/timeout.h"

namespace hca::functional {
using namespace proto;

// Sends all that may be sent now.
void FunctionalHca::pump(u32 qpn) {
  if (is_rd_queue(qpn)) return ask(qpn);
  if (device::is_ee(qpn)) serve_next(qpn);
  while (sends(sender(qpn).state) && !contexts_.send_of(qpn).waits_rnr && send_next_message(qpn)) {
  }
  const SendState& s = contexts_.send_of(qpn);
  if (s.anything_unacked() && !s.waits_rnr && !progress(qpn).due && sends(sender(qpn).state))
    set_timer(qpn, ack_timeout_ns(sender(qpn).timeout));  // G11.1
}

// Goes on with the message that holds send_psn, or begins a new one; false: nothing to send.
bool FunctionalHca::send_next_message(u32 qpn) {
  const QpConfig& qp = sender(qpn);
  SendState& s = contexts_.send_of(qpn);
  const u32 index =
      wqe_of_psn(s.completed, s.started, s.send_psn,
                 [&](u32 i) -> const SentMessage& { return sent_.message(connection_of(qpn), i); });
  if (index == progress(qpn).posted || (index == s.started && starts_nothing(qp, s))) return false;
  if (progress(qpn).resync != Resync::None) return send_resync(qpn);
  fetch_send(qp, wqe_of(qp, index));
  if (work_.unreadable) {
    fail_unread(queue_pair_of(qp));
    return false;
  }
  if (work_.status == WcStatus::Success && index == s.started) {
    if (must_wait(s, qp, work_.wqe, psns_of_message(row_of(work_.wqe), work_.bytes, qp.path_mtu)))
      return false;
    begin_message(sent_.message(connection_of(qpn), index), s, work_.wqe, work_.operands, index,
                  work_.bytes, qp.path_mtu, qp.signal_all);
    if (row_of(work_.wqe).is_local()) return execute_local(qp, index);
    ++s.started;
  }
  if (work_.status != WcStatus::Success) {  // it fails when those before it are done (C9-209)
    if (index == s.completed) fail_send(qpn, work_.status);
    return false;
  }
  const u32 psn = s.send_psn;
  send_packets(qpn, index);
  return s.send_psn != psn;
}

void FunctionalHca::send_packets(u32 qpn, u32 index) {
  const QpConfig& qp = sender(qpn);
  SendState& s = contexts_.send_of(qpn);
  SentMessage& m = sent_.message(connection_of(qpn), index);
  ExtHeaders ext;
  const bool datagram = qp.service == Service::Ud;
  const Path& path = datagram ? work_.path : qp.path;
  const Recovery recovery = recovery_of(qp);
  for (u32 i = psns_between(m.first_psn, s.send_psn); i < m.packets;) {
    PacketPlan plan = plan_packet(qp, work_.wqe, m, i);
    m.resumed |= m.answer == Answer::Read && i;
    const bool probe = probes(s, qp, m, index + 1 == s.started);
    if (probe && i) return;
    plan.ack_requested |= probe;
    const bool is_new = plan.psns.first == s.sent_psn;
    if (recovery != Recovery::GoBackN) {
      if (!SelectiveRepeat::may_send(s, qp, plan.psns.first)) return;
      plan.ack_requested |= !is_new || SelectiveRepeat::asks(qp, plan.psns.first);
    }
    request_headers(ext, work_.wqe, work_.operands, m, plan);
    const u32 headers = header_bytes(path, *plan.row);
    const std::span<u8> payload{frame_.data() + headers, plan.bytes};
    s.send(plan.psns);
    by_recovery(recovery, [&](auto policy) {
      policy.on_sent(s, losses<decltype(policy)>(qpn), plan.psns, is_new);
    });
    gather(work_.pieces, m.answer == Answer::Read ? 0 : plan.offset, payload);
    Bth bth = request_bth(qp, plan);
    if (datagram) address_datagram(bth, ext, qp, work_.address);
    if (device::is_ee(qpn)) ext.deth = deth_of(qp, progress(qpn).address);
    transmit(qp, path, *plan.row, bth, ext, plan.bytes);
    i += plan.psns.count;
    if (recovery != Recovery::GoBackN) i = std::max(i, psns_between(m.first_psn, s.send_psn));
  }
  if (ends_when_sent(qp)) {
    s.acknowledge(s.sent_psn);
    complete_sent(qpn);
  }
}

// Reads send WQE `index` into work_ and checks its form and keys.
void FunctionalHca::fetch_send(const QpConfig& qp, u32 index) {
  std::array<u8, kSendWqeBytes> raw;
  const u64 slot = qp.sq.slot(index);
  work_.unreadable = !io_.read(slot, raw);
  work_.wqe = decode<SendWqe>(raw.data());
  work_.pieces.clear();
  work_.status = check_send_wqe(work_.wqe, index, qp);
  if (work_.status != WcStatus::Success) return;
  const WorkRow& row = row_of(work_.wqe);
  const u64 segments = slot + segments_offset(row, qp.service);
  if (qp.service == Service::Ud) {
    std::array<u8, kAddressHandleBytes> handle;
    io_.read(slot + kSendWqeBytes, handle);
    work_.address = decode<AddressHandle>(handle.data());
    const auto path = path_of_datagram(qp, work_.address, contexts_.ports[qp.port - 1u]);
    if (!path) return void(work_.status = WcStatus::LocQpOpErr);
    work_.path = *path;
  }
  if (qp.service == Service::Rd) {
    std::array<u8, kRdAddressBytes> address;
    io_.read(slot + rd_address_offset(row), address);
    work_.rd = decode<RdAddress>(address.data());
  }
  if (row.segment_bytes())
    io_.read(slot + kSendWqeBytes, {work_.operands.bytes.data(), row.segment_bytes()});
  u64 bytes = bytes_of_operands(row, work_.operands);
  if (work_.wqe.inline_data) {
    bytes = work_.wqe.inline_bytes;
    if (bytes) work_.pieces.push_back({segments, u32(bytes)});
  } else {
    for (const Sge& sge : read_sges(segments, work_.wqe.sge_count)) {
      const Region* region = contexts_.find_region(sge.lkey);
      if (!sge_is_good(region, sge, accessor_of(qp), qp, local_right(row)))
        return void(work_.status = WcStatus::LocProtErr);
      bytes += sge.bytes;
      add_pieces(sge);
    }
  }
  work_.status = split_message_bytes(row, work_.operands, bytes, qp);
  work_.bytes = u32(bytes);
}

// The pages of an SGE that passed its checks.
void FunctionalHca::add_pieces(const Sge& sge) {
  for (u32 done = 0; done < sge.bytes;) {
    const Run run =
        run_of(contexts_.find_region(sge.lkey), sge.lkey, sge.va + done, sge.bytes - done);
    work_.pieces.push_back({run.address, run.bytes});
    done += run.bytes;
  }
}

// BIND_MW, LOCAL_INV, REG_MR: done before the next work request begins. False: it waits, or fails.
bool FunctionalHca::execute_local(const QpConfig& qp, u32 index) {
  const bool names_memory = row_of(work_.wqe).operands == Operands::Memory;
  const auto memory =
      names_memory ? decode<MemorySegment>(work_.operands.bytes.data()) : MemorySegment{};
  const device::LocalWork work{qp.qpn, 0, index, work_.wqe, memory};
  std::optional<u32>& refused = progress(qp.qpn).refused;
  if (refused == index ||
      !device::execute_local(contexts_, work, read_pages(device::page_list_of(work)))) {
    refused = index;  // it fails when those before it are done (C9-209)
    if (index == contexts_.send_of(qp.qpn).completed) {
      refused.reset();
      fail_send(qp.qpn, refused_local_status());
    }
    return false;
  }
  contexts_.left_page_lists.clear();  // no access is under way
  ++contexts_.send_of(qp.qpn).started;
  complete_sent(qp.qpn);
  return true;
}

void FunctionalHca::gather(const Pieces& pieces, u32 offset, std::span<u8> to) {
  for (const Piece& piece : pieces) {
    if (to.empty()) return;
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const std::size_t n = std::min<std::size_t>(piece.bytes - offset, to.size());
    io_.read(piece.address + offset, to.first(n));
    to = to.subspan(n);
    offset = 0;
  }
}

// The payload lies in frame_ after the room for the headers.
void FunctionalHca::transmit(const QpConfig& qp, const Path& path, const OpcodeRow& row,
                             const Bth& bth, const ExtHeaders& ext, u32 payload_bytes) {
  ExtHeaders headers = ext;
  headers.rdeth = {qp.remote_eecn};
  write_headers(path, row, bth, headers, payload_bytes, frame_.data(), ip_id_++);
  const u32 bytes = finish_frame(frame_.data(), shape_of(path, row, payload_bytes));
  if (!may_send(contexts_.ports[qp.port - 1u], qp.qpn)) return;
  ++counters(qp).sent;
  if (!names_partition(qp)) return;
  io_.transmit(qp.port, {frame_.data(), bytes});
  if (bth.dest_qp == kMulticastQp && qp.options.multicast_loop_back)
    turn(qp, {frame_.data(), bytes});
}

// ---- Answers
// G12; the header is checked by the rules that hold for requests too.
void FunctionalHca::receive_answer(const QpConfig& qp, const ParsedPacket& packet,
                                   std::span<const u8> frame) {
  const RequestView view{packet, frame, qp, contexts_.receive_of(qp.qpn), nullptr};
  SendState& s = contexts_.send_of(qp.qpn);
  if (const RequestCause cause = judge_response_header(view); cause != RequestCause::Good) {
    ++counters(qp).unexpected_answers;
    return counts_.drop(qp.port, counter_of(cause, qp, frame.data(), packet));
  }
  if (draws_cnp(frame.data(), packet))
    notify_congestion(qp, packet, frame);
  else if (response_draws_cn(qp, packet))
    send_cn(qp, packet, frame);
  if (packet.opcode->operation != Operation::Acknowledge)
    return receive_response(qp, packet, frame.subspan(packet.payload_offset, packet.payload_bytes));
  const AckVerdict verdict =
      judge_ack(s, qp, awaited(qp.qpn), packet.bth.psn, packet.aeth.syndrome, packet.payload_bytes);
  if (verdict.action != AckAction::Drop) take_credits(s, packet.aeth.msn, packet.aeth.syndrome);
  act(qp.qpn, verdict);
  if (verdict.selective) note_kept(qp.qpn, packet.aeth.msn);
}

const SentMessage* FunctionalHca::awaited(u32 qpn) {
  const SendState& s = contexts_.send_of(qpn);
  return response::awaits_response(s) ? &sent_.message(connection_of(qpn), s.awaited) : nullptr;
}

// A READ response or an ATOMIC Acknowledge.
void FunctionalHca::receive_response(const QpConfig& qp, const ParsedPacket& packet,
                                     std::span<const u8> payload) {
  SendState& s = contexts_.send_of(qp.qpn);
  ResponseVerdict v = judge_response(s, qp, awaited(qp.qpn), packet);
  std::array<u8, kAtomicBytes> original;
  if (packet.has(Ext::AtomicAckEth)) {
    store_le8(original.data(), packet.atomic_ack_eth.original);
    payload = original;
  }
  if (v.places && !payload.empty())
    if (const WcStatus status =
            place(qp, s.awaited, response_offset(*awaited(qp.qpn), v.offset), payload);
        status != WcStatus::Success)
      v = {response::fail(packet.bth.psn, status, "T9-15")};
  if (v.places && packet.has(Ext::Aeth)) take_credits(s, packet.aeth.msn, packet.aeth.syndrome);
  if (v.completes) {
    ++s.reads_placed;
    answer_awaited(
        s, [&](u32 i) -> const SentMessage& { return sent_.message(connection_of(qp.qpn), i); });
  }
  act(qp.qpn, v);
}

// Writes response data to the buffers of WQE `index`.
WcStatus FunctionalHca::place(const QpConfig& qp, u32 index, u32 offset, std::span<const u8> data) {
  fetch_send(qp, wqe_of(qp, index));
  if (work_.status != WcStatus::Success) return work_.status;
  for (const Piece& piece : work_.pieces) {
    if (data.empty()) break;
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const std::size_t n = std::min<std::size_t>(piece.bytes - offset, data.size());
    io_.write(piece.address + offset, data.first(n));
    data = data.subspan(n);
    offset = 0;
  }
  return WcStatus::Success;
}

void FunctionalHca::act(u32 qpn, const AckVerdict& judged) {
  const AckVerdict verdict = or_migrate(contexts_.qps[qpn], judged);
  if (verdict.action == AckAction::Drop) {
    ++counters(sender(qpn)).unexpected_answers;
    return;
  }
  if (verdict.action == AckAction::Credits) return pump(qpn);
  const QpConfig& qp = sender(qpn);
  SendState& s = contexts_.send_of(qpn);
  const bool progress = verdict.psn != s.unacked_psn;
  if (verdict.implied) counts_.implied_nak(qp);
  const Psn before = s.unacked_psn;
  apply(s, qp, verdict);
  by_recovery(recovery_of(qp), [&](auto policy) {
    policy.on_acknowledged(s, losses<decltype(policy)>(qpn), before);
  });
  complete_sent(qpn);
  if (!sends(qp.state)) return;                   // the CQ was full
  if (progress && !s.waits_rnr) stop_timer(qpn);  // G11.1: pump() starts it again
  switch (verdict.action) {
    case AckAction::Fail:
      return fail_send(qpn, verdict.status);
    case AckAction::Wait:
      if (device::is_ee(qpn) && this->progress(qpn).resync == Resync::None)
        return suspend(qpn, verdict.rnr_code);
      s.waits_rnr = true;
      set_timer(qpn, rnr_delay_ns(verdict.rnr_code));  // G8.2, G8.3
      [[fallthrough]];
    case AckAction::Migrate:
    case AckAction::Resend:
      if (verdict.action == AckAction::Migrate) migrate(qpn);
      go_back(qpn, verdict);
      ++s.epoch;
      if (verdict.action != AckAction::Wait) {
        stop_timer(qpn);
        s.waits_rnr = false;
      }
      break;
    default:
      break;
  }
  pump(qpn);
}

// G12.2: completes the messages that are acknowledged to their end.
void FunctionalHca::complete_sent(u32 qpn) {
  const QpConfig& qp = sender(qpn);
  SendState& s = contexts_.send_of(qpn);
  while (s.completed != s.started && sends(qp.state)) {
    const SentMessage m = sent_.message(connection_of(qpn), s.completed);
    if (psn_distance(m.end_psn(), s.unacked_psn) < 0) return;
    if (device::is_ee(qpn)) return end_message(qpn);
    Cqe cqe{};
    cqe.qpn = qpn;
    cqe.wqe_index = u16(s.completed++);
    cqe.byte_len = m.bytes;
    cqe.opcode = kWorkRows[std::size_t(m.opcode)].completion;
    if (m.signaled) complete(qp.send_cq, cqe);  // G21.1
  }
  raise_if_drained(qpn);
}

// Class B: the oldest WQE completes with `status`, all later ones are flushed; the receive queue of
// an unreliable service continues.
void FunctionalHca::fail_send(u32 qpn, WcStatus status) {
  if (device::is_ee(qpn)) return fail_message(qpn, status);
  const QpConfig& qp = contexts_.qps[qpn];
  SendState& s = contexts_.send_of(qpn);
  Cqe cqe{};
  cqe.qpn = qpn;
  cqe.status = status;
  cqe.wqe_index = u16(s.completed);
  if (s.completed++ == s.started) ++s.started;
  contexts_.qps[qpn].state = state_of_failed_sends(qp.service, qp.options.rd_send_error);
  complete(qp.send_cq, cqe);
  if (qp.state == QpState::Error) return enter_error(qpn);
  s.notify_drained = SqdNotify::None;
  flush_sends(qpn);
}

// Class C (C9-216): no WQE is blamed, and none waits for its answer any more.
void FunctionalHca::fail_unread(u32 qpn) {
  contexts_.qps[qpn].state = QpState::Error;
  raise(kAsyncEq, {EventType::QpFatal, qpn, EventPart::SendQueue});
  enter_error(qpn);
}

void FunctionalHca::time_out(u32 qpn) {
  SendState& s = contexts_.send_of(qpn);
  if (std::exchange(s.waits_rnr, false)) return pump(qpn);  // G8.2
  counts_.timeout(sender(qpn));
  act(qpn, judge_timeout(s));
}
}  // namespace hca::functional
