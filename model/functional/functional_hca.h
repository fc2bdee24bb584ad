// SPDX-License-Identifier: Apache-2.0
// The HCA as seen by host software and the wire, without time: calls the rules of model/proto back
// to back. Work takes no time; only advance_to() moves the clock, and timers fire when due.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "model/device/event_queue.h"
#include "model/device/execute_command.h"
#include "model/device/memory_keys.h"
#include "model/device/migration.h"
#include "model/device/port_counts.h"
#include "model/proto/transport/ee_context.h"
#include "model/proto/transport/kept_requests.h"
#include "model/proto/transport/qp_transitions.h"
#include "model/proto/transport/reply_rules.h"
#include "model/proto/transport/response_rules.h"
#include "model/proto/transport/work_rules.h"

namespace hca::functional {
using Nanoseconds = u64;

// The interface to the device's surroundings. `transmit` must not call back into the device. Ports
// count from 1.
struct Io {
  // False: the memory cannot be read; the bytes are then all ones.
  std::function<bool(u64 address, std::span<u8> bytes)> read;
  // False: the write is lost.
  std::function<bool(u64 address, std::span<const u8> bytes)> write;
  std::function<void(u32 port, std::span<const u8> frame)> transmit;
  // Called for each request that a queue pair has judged; may be empty.
  std::function<void(const proto::RequestVerdict&)> judged = {};
};

struct Counters {
  u64 bad_doorbells = 0;
  u64 lost_events = 0;  // no event queue, or no room in it
};
// One per port, a counter for each cause.
struct PortCounters {
  u64 sent = 0, received = 0;
  u64 unexpected_answers = 0;
  std::array<u64, std::size_t(proto::RequestCause::Count)> requests{};  // by cause
};

class FunctionalHca {
 public:
  explicit FunctionalHca(Io io, const proto::TransportOptions& options = {},
                         const device::ObjectLimits& limits = {})
      : io_(std::move(io)), contexts_(limits), port_counters_(limits.ports) {
    contexts_.options = options;
  }

  // A write to the BAR: a doorbell, or a doorbell and its WQE to the push buffer.
  void mmio_write(u32 offset, std::span<const u8> bytes);
  // A frame from the wire of a port, without FCS. `at_once`: it directly follows the previous
  // frame, so READs and ATOMICs requested by that frame and earlier ones of the same burst are not
  // finished.
  void receive(std::span<const u8> frame, u32 port = 1, bool at_once = false);

  // The cable of a port breaks or is repaired (T15).
  void change_cable(u32 port, bool is_broken) {
    raise_of_port(port, device::change_cable(contexts_, port, is_broken));
  }

  Nanoseconds now() const { return now_; }
  // When the next timer is due, if one runs.
  std::optional<Nanoseconds> next_timer() const;
  std::optional<Nanoseconds> timer_of(u32 qpn) const;
  // Moves the clock to `time`; timers up to then fire in order.
  void advance_to(Nanoseconds time);

  // For tests: an idle queue pair may be put into a state that no command reaches.
  device::Contexts& contexts() { return contexts_; }
  const Counters& counters() const { return host_counters_; }
  const PortCounters& port_counters(u32 port = 1) const { return port_counters_[port - 1]; }
  const proto::DropCounters& drops(u32 port = 1) const { return contexts_.drops[port - 1]; }

 private:
  // A run of bytes in host memory that passed its key check.
  struct Piece {
    u64 address;
    u32 bytes;
  };
  using Pieces = std::vector<Piece>;
  // A send WQE as fetched; `status`: the reason why it cannot be executed.
  struct SendWork {
    proto::SendWqe wqe;
    proto::WorkOperands operands;
    proto::AddressHandle address;  // UD
    proto::Path path;              // UD
    proto::RdAddress rd;           // RD
    u32 bytes;
    Pieces pieces;
    proto::WcStatus status;
    bool unreadable;  // the WQEs are not known
  };
  // The end of a RESYNC: the work request that failed completes; one that an RNR NAK suspended waits
  // for its time; of one whose queue pair left, nothing.
  enum class Resync : u8 { None, Fails, Suspends, Leaves };
  // State of a QP, or of an EE context, beyond its contexts.
  struct Progress {
    u32 posted = 0;                   // send WQEs
    Nanoseconds due = 0;              // expiry of its timer; 0: it does not run
    std::vector<proto::Sge> scatter;  // of the receive WQE in use
    u32 received = 0;
    u64 row = 0;             // the burst of frames in which it got its last request
    u32 reads_finished = 0;  // READs and ATOMICs accepted before that burst
    proto::SavedRequests saved;
    proto::ToldCredits told;
    std::optional<u32> refused;  // send WQE without packets that will fail
    Nanoseconds next_cnp = 0;    // earliest time
    bool congested = false;      // G26.1
    proto::LossRecord losses;
    std::map<proto::Psn, std::vector<u8>> kept;  // frames of requests ahead
    // RD queue pair: the EE context that it asks for its next work request (ee_number()).
    std::optional<u32> asks;
    bool suspended = false;  // an RNR NAK interrupted that work request (G13.4)
    // EE context: the queue pairs that ask for it, and the message that it sends.
    std::deque<u32> asking;
    bool serves = false;
    proto::RdAddress address{};
    Resync resync = Resync::None;
    proto::WcStatus status{};  // Resync::Fails
  };

  device::Connection connection_of(u32 qpn) const { return contexts_.connection_of(qpn); }
  // The attributes for a message: of a queue pair, or of an EE context (ee_number()).
  const proto::QpConfig& sender(u32 number) const { return contexts_.qps[number]; }
  const proto::QpConfig& receiver(u32 number) const {
    return contexts_.qps[device::is_ee(number) ? device::receiver_number(number) : number];
  }
  bool is_rd_queue(u32 number) const {
    return !device::is_ee(number) && contexts_.qps[number].service == proto::Service::Rd;
  }
  // The WQE of message `index`: an EE context sends the oldest one of the queue pair that it serves.
  u32 wqe_of(const proto::QpConfig& qp, u32 index) const {
    return device::is_ee(qp.qpn) ? contexts_.send_of(qp.served).completed : index;
  }

  // Host side: host_side.cpp.
  void ring_send(u32 qpn, u16 producer);
  void ring_receive(u32 qpn, u16 producer);
  void ring_shared(u32 srqn, u16 producer);
  void run_command(u64 address);
  void complete(u32 cqn, const proto::Cqe& cqe);
  void complete_of(const proto::QpConfig& qp, device::ReceiveQueue queue, proto::Cqe cqe);
  void notify(u32 cqn);
  device::CqTime time_of(const device::EventRing& cq) const;
  void watch(u32 cqn);
  std::optional<std::pair<Nanoseconds, u32>> next_cq_timer() const;  // (due time, CQN)
  void raise(u32 eqn, const proto::Event& event);
  void raise_of_port(u32 port, proto::PortEvents events);
  void raise(proto::EventType type, u32 object) { raise(proto::kAsyncEq, {type, object}); }
  void interrupt(std::optional<u16> vector);
  void raise_if_drained(u32 qpn);
  void overflow(proto::CqResult result, u32 cqn, const proto::Cqe& cqe);
  void fail_if_fatal();
  void take_write(u32 offset, std::span<const u8> bytes);
  void take_frame(std::span<const u8> frame, u32 port);
  void enter_error(u32 qpn);
  void flush_sends(u32 qpn);
  void flush_receives(u32 qpn);
  std::vector<proto::Sge> read_sges(u64 address, u32 count);
  std::vector<u64> read_pages(const proto::PageList& list);
  // False: memory returned an error.
  bool read_memory(u32 key, u64 va, std::span<u8> to);
  void write_memory(u32 key, u64 va, std::span<const u8> from);
  void set_timer(u32 qpn, Nanoseconds delay);
  void stop_timer(u32 qpn);
  Progress& progress(u32 qpn);
  PortCounters& counters(const proto::QpConfig& qp) { return port_counters_[qp.port - 1u]; }

  // Requester: requester_side.cpp.
  void pump(u32 qpn);
  bool send_next_message(u32 qpn);
  void send_packets(u32 qpn, u32 index);
  void fetch_send(const proto::QpConfig& qp, u32 index);
  void add_pieces(const proto::Sge& sge);
  bool execute_local(const proto::QpConfig& qp, u32 index);
  void receive_answer(const proto::QpConfig& qp, const proto::ParsedPacket& packet,
                      std::span<const u8> frame);
  void receive_response(const proto::QpConfig& qp, const proto::ParsedPacket& packet,
                        std::span<const u8> payload);
  proto::WcStatus place(const proto::QpConfig& qp, u32 index, u32 offset, std::span<const u8> data);
  const proto::SentMessage* awaited(u32 qpn);
  void act(u32 qpn, const proto::AckVerdict& judged);
  void go_back(u32 qpn, const proto::AckVerdict& verdict);
  proto::PsnRange packet_of(u32 qpn, proto::Psn psn) const;
  void note_kept(u32 qpn, proto::Psn psn);
  template <class Policy>
  typename Policy::Record& losses(u32 qpn) {
    if constexpr (std::is_same_v<Policy, proto::GoBackN>)
      return nothing_;
    else
      return progress(qpn).losses;
  }
  void complete_sent(u32 qpn);
  void fail_send(u32 qpn, proto::WcStatus status);
  void fail_unread(u32 qpn);
  void time_out(u32 qpn);
  void gather(const Pieces& pieces, u32 offset, std::span<u8> to);
  void transmit(const proto::QpConfig& qp, const proto::OpcodeRow& row, const proto::Bth& bth,
                const proto::ExtHeaders& ext, u32 payload_bytes) {
    transmit(qp, qp.path, row, bth, ext, payload_bytes);
  }
  void transmit(const proto::QpConfig& qp, const proto::Path& path, const proto::OpcodeRow& row,
                const proto::Bth& bth, const proto::ExtHeaders& ext, u32 payload_bytes);

  // RD, requester: ee_contexts.cpp.
  void ask(u32 qpn);
  void serve_next(u32 ee);
  bool send_resync(u32 ee);
  void start_resync(u32 ee, Resync end);
  void end_message(u32 ee);
  void fail_message(u32 ee, proto::WcStatus status);
  void suspend(u32 ee, u8 rnr_code);
  void leave(u32 qpn);
  void free_context(u32 ee);
  void end_context(u32 ee, proto::WcStatus served, proto::WcStatus asking);
  // RD, responder: ee_receive.cpp.
  void receive_rd(proto::ParsedPacket& packet, std::span<const u8> frame, u32 port);
  void receive_rd_answer(const proto::QpConfig& context, const proto::ParsedPacket& packet,
                         std::span<const u8> frame);
  void prepare_rd(u32 ee, const proto::ParsedPacket& packet, const proto::RequestVerdict& v);
  void abort_received(u32 ee, std::optional<proto::WcStatus> status);
  void end_refused(u32 ee, const proto::ParsedPacket& packet, const proto::RequestVerdict& v);
  void fail_queue_pair(u32 ee, const proto::ParsedPacket& packet, const proto::RequestVerdict& v);
  void complete_taken(u32 qpn, u32 index, proto::WcStatus status);
  proto::ReceiveState* oldest_received(u32 qpn);
  void forget_received(u32 qpn, bool completes);

  // Responder: responder_side.cpp.
  void count(const proto::QpConfig& qp, const proto::RequestVerdict& verdict) {
    ++counters(qp).requests[std::size_t(verdict.cause)];
    counts_.add(qp, verdict.cause);
    if (io_.judged) io_.judged(verdict);
  }
  void migrate(u32 qpn);
  bool refuses_path(u32 qpn, const proto::ParsedPacket& packet, std::span<const u8> frame,
                    u32 port);
  // `sender`: the queue pair of this port that sent the datagram, else kAnyQp.
  void receive_multicast(const proto::ParsedPacket& packet, std::span<const u8> frame, u32 port,
                         u32 sender);
  void turn(const proto::QpConfig& qp, std::span<const u8> frame);
  void notify_congestion(const proto::QpConfig& qp, const proto::ParsedPacket& packet,
                         std::span<const u8> frame);
  void send_cn(const proto::QpConfig& qp, const proto::ParsedPacket& packet,
               std::span<const u8> frame);
  void receive_request(u32 qpn, const proto::ParsedPacket& packet, std::span<const u8> frame);
  void judge(u32 qpn, const proto::ParsedPacket& packet, std::span<const u8> frame);
  void keep(u32 qpn, proto::Psn psn, std::span<const u8> frame);
  std::vector<u8> take_kept(u32 qpn);
  void receive_datagram(u32 qpn, proto::ParsedPacket packet, std::span<const u8> frame);
  proto::RequestVerdict find_place(u32 qpn, const proto::ParsedPacket& packet);
  proto::RequestVerdict find_own_place(u32 qpn, const proto::ParsedPacket& packet);
  void execute(u32 qpn, const proto::ParsedPacket& packet, const proto::RequestEffect& effect,
               std::span<const u8> payload);
  void complete_receive(u32 qpn, const proto::ParsedPacket& packet,
                        const proto::RequestEffect& effect);
  void execute_read(u32 qpn, const proto::ParsedPacket& packet, const proto::RequestEffect& effect,
                    std::span<const u8> frame);
  void repeat_read(u32 qpn, const proto::ParsedPacket& packet, const proto::RequestEffect& effect);
  void respond_read(const proto::QpConfig& qp, const proto::RequestEffect& effect, bool is_new);
  void fail_read(u32 qpn, proto::RequestEffect effect, u32 psn, bool is_new);
  void respond_once(const proto::QpConfig& qp, proto::Answer kind,
                    const proto::RequestEffect& effect, u64 original);
  void fail_invalidate(u32 qpn, const proto::RequestEffect& effect);
  void fail_shared(u32 srqn);
  void abandon_shared(u32 qpn, u32 index, proto::RequestCause cause);
  void fail_receive(u32 qpn, const proto::ParsedPacket& packet, const proto::RequestVerdict& v);
  proto::RequestVerdict read_receive_wqe(u32 qpn, device::ReceiveQueue queue);
  void scatter(Progress& s, std::span<const u8> payload);
  void answer(const proto::QpConfig& qp, const proto::RequestVerdict& verdict,
              const proto::RequestEffect& effect);
  void tell_credits(const proto::QpConfig& qp);

  Io io_;
  u32 reads_unfinished(u32 qpn);

  Nanoseconds now_ = 0;
  u64 row_ = 0;  // number of the current burst of frames
  device::Contexts contexts_;
  const device::SentMessages sent_{contexts_};
  const device::CompletionRings cqs_{contexts_};
  const device::EventRings eqs_{contexts_};
  const device::Vectors vectors_{contexts_};
  const device::PortCounts counts_{contexts_};
  std::array<std::vector<Progress>, 2> progress_;  // of queue pairs, of EE contexts
  std::set<std::pair<Nanoseconds, u32>> timers_;   // (due, QPN)
  std::map<u32, Nanoseconds> cq_timers_;           // by CQN: its moderation timer, if it runs
  SendWork work_;
  proto::GoBackN::Record nothing_;
  std::array<u8, 4096 + proto::kMaxHeaderBytes> frame_;          // frame under construction
  std::array<u8, 4096 + proto::kMaxHeaderBytes + 64> datagram_;  // with its header before it
  u16 ip_id_ = 0;
  bool is_fatal_ = false;                    // the device will fail as a whole
  std::vector<PortCounters> port_counters_;  // from port 1 on
  Counters host_counters_;
};
}  // namespace hca::functional
