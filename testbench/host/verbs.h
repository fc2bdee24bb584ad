// SPDX-License-Identifier: Apache-2.0
// Host software's view of an HCA, with the names and meanings of libibverbs. It writes WQEs into
// rings in host memory, rings doorbells and reads CQEs. It only uses MMIO writes and host memory,
// so it works with any model of the device interface.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/proto/interface/commands.h"
#include "model/proto/interface/event_sources.h"
#include "model/proto/memory/memory_region.h"
#include "model/proto/transport/qp.h"
#include "tlm/host_memory/host_memory.h"

namespace hca::testbench {
constexpr u32 kFirstUserQpn = 16;  // lower numbers are for management and well-known queue pairs
struct Pd {
  u32 number = 0;
};

struct Mr {
  u64 addr = 0, length = 0;
  u32 lkey = 0, rkey = 0;
};

// A memory window. For type 2 the R_Key is that of the last bind, as known to software.
struct Mw {
  u32 rkey = 0;
  proto::KeyKind type{};
};
// ibv_mw_bind_info, or the parameters of REG_MR for a region.
struct MemoryInfo {
  u64 addr = 0, length = 0;
  u32 lkey = 0;  // of the region to which a window is bound
  proto::Rights access = 0;
  u64 physical = 0;
  u8 log_page = 0;
};

// An event queue and its interrupt vector, which writes a word of host memory.
struct CompChannel {
  u32 eqn = 0;
  u8 log_entries = 0;
  u16 vector = 0;
  u64 address = 0, message = 0;
  u32 consumer = 0;
  u32 entries() const { return u32{1} << log_entries; }
};

struct Cq {
  u32 cqn = 0;
  u8 log_entries = 0;
  u64 address = 0;
  u32 consumer = 0, reported = 0;  // reported: last value sent to the HCA
  proto::Arm armed{};              // as known to software
  bool destroyed = false;
  u32 entries() const { return u32{1} << log_entries; }
};

// ibv_moderate_cq: CQEs and microseconds for each event.
struct ModerateCq {
  u16 cq_count = 0, cq_period = 0;
};

// ibv_srq_init_attr.
struct SrqInitAttr {
  u32 max_wr = 128, max_sge = 1, srq_limit = 0;
  const Pd* pd = nullptr;  // nullptr: the context's own
  u32 port = 1;            // of its queue pairs
  u32 xrcd = 0;            // SRQ of XRC: its domain and CQ
  const Cq* cq = nullptr;
};
struct Srq {
  struct Slot {
    u64 wr_id = 0;
    bool in_use = false;  // posted, not completed
  };
  u32 srqn = 0;
  u32 max_wr = 0, max_sge = 0;
  u8 log_stride = 5;
  u64 address = 0;
  u32 posted = 0, outstanding = 0;
  std::vector<Slot> slots;
  bool destroyed = false;
};

// ibv_qp_cap and ibv_qp_init_attr.
struct QpInitAttr {
  proto::Service service = proto::Service::Rc;
  Cq* send_cq = nullptr;
  Cq* recv_cq = nullptr;
  const Pd* pd = nullptr;                    // nullptr: the context's own
  Srq* srq = nullptr;                        // instead of a receive queue
  proto::QpSide side = proto::QpSide::Both;  // XRC: one of the others
  u32 xrcd = 0;                              // domain of an XRC target
  u32 max_send_wr = 128, max_recv_wr = 128;
  u32 max_send_sge = 1, max_recv_sge = 1;
  u32 max_inline_data = 0;
  bool sq_sig_all = false;
  bool privileged = false;   // SGEs may have L_Key 0 and physical addresses
  bool blocks_self = false;  // receives no copy of its own multicast datagrams
};

struct Qp {
  u32 qpn = 0;
  proto::QpState state = proto::QpState::Reset;  // as known to software
  QpInitAttr cap;
  u8 sq_log_stride = 6, rq_log_stride = 5;
  u64 sq_address = 0, rq_address = 0;
  u32 sq_posted = 0, sq_completed = 0, rq_posted = 0, rq_completed = 0;
  std::vector<u64> send_ids, recv_ids;  // wr_id by slot
  u16 last_event_code = 0;              // AEQ-10; not SQ_DRAINED or QP_SUSPENDED
};

struct SgeList {
  u64 addr = 0;
  u32 length = 0;
  u32 lkey = 0;
};

// ibv_send_flags
enum SendFlags : u32 { kFence = 1, kSignaled = 2, kSolicited = 4, kInline = 8 };

struct SendWr {
  u64 wr_id = 0;
  std::span<const SgeList> sg_list;
  proto::WorkOpcode opcode = proto::WorkOpcode::Send;
  u32 send_flags = 0;
  u32 imm_data = 0;  // or the R_Key to invalidate
  u64 remote_addr = 0;
  u32 rkey = 0;
  u64 compare_add = 0, swap = 0;   // ATOMICs
  proto::WorkOperands operands{};  // operands that have no argument here
  MemoryInfo memory{};             // BIND_MW, REG_MR; rkey: the new key
  proto::AddressHandle ah{};       // UD
  u32 remote_srqn = 0;             // XRC
  proto::RdAddress rd{};           // RD
  bool push = false;               // the WQE is pushed with its doorbell; only the last of a list
};
struct RecvWr {
  u64 wr_id = 0;
  std::span<const SgeList> sg_list;
};

struct Wc {
  u64 wr_id = 0;
  proto::WcStatus status{};
  proto::CqeOpcode opcode{};
  u32 byte_len = 0, imm_data = 0, qp_num = 0, src_qp = 0, srqn = 0;
  bool with_imm = false, with_invalidate = false, has_grh = false;
  u16 slid = 0, pkey_index = 0;
  u8 sl = 0;
};

// ibv_async_event; `element`: number of the QP, CQ, SRQ or port.
struct AsyncEvent {
  proto::EventType type{};  // Completion: the code is not known
  u32 element = 0;
  proto::EventPart part{};  // by its source (T17)
  u16 code = 0, wqe_index = 0;
  bool events_lost = false;  // events before this one were lost
  u64 context = 0;           // set when the object was created
  proto::Aeqe entry{};       // as it was in the queue
};

// Software's reactions to asynchronous events; an empty one does nothing.
struct AsyncCallbacks {
  std::function<void(Qp&, const AsyncEvent&)> qp;
  std::function<void(Cq&, const AsyncEvent&)> cq;
  std::function<void(Srq&, const AsyncEvent&)> srq;
  std::function<void(u32 port, const AsyncEvent&)> port;  // port 0: the device
  std::function<void(u32 eecn, const AsyncEvent&)> eec{};
};

// Immediate errors, with errno's values.
enum class Error : int { None = 0, NoMemory = 12, Busy = 16, Invalid = 22 };
constexpr std::string_view name_of(Error error) {
  return error == Error::None       ? "success"
         : error == Error::NoMemory ? "ENOMEM"
         : error == Error::Busy     ? "EBUSY"
                                    : "EINVAL";
}

constexpr Error error_of(proto::CommandStatus status) {
  switch (status) {
    case proto::CommandStatus::Ok:
      return Error::None;
    case proto::CommandStatus::NoResources:
      return Error::NoMemory;
    case proto::CommandStatus::Busy:
      return Error::Busy;
    default:
      return Error::Invalid;
  }
}

class VerbsContext {
 public:
  // The target of writes to a user page; offsets are those of proto::BarOffset.
  using MmioWrite = std::function<void(u32 offset, std::span<const u8> data)>;
  // Lets the device work; false: it has nothing more to do.
  using Step = std::function<bool()>;

  // Allocates all its memory from `base` on.
  VerbsContext(tlm_::HostMemory& memory, MmioWrite mmio_write, u64 base = u64{1} << 20);
  VerbsContext(const VerbsContext&) = delete;

  u64 alloc(u64 bytes, u64 alignment = 64);
  // For a device that does not hold all contexts: before the first CQ.
  Error give_context_memory();
  u64 context_memory() const { return context_memory_; }  // 0: it was not given
  tlm_::HostMemory& memory() { return memory_; }

  // Commands are asynchronous: started by a doorbell, done when the HCA sets a flag in the block.
  // The functions below wait with `step`. If the device stops before the command is done, they
  // throw std::runtime_error.
  struct Command {
    u64 block = 0;
  };
  template <class Body>
  Command begin(proto::CommandOpcode opcode, u32 object, const Body& body);
  Command begin(proto::CommandOpcode opcode, u32 object, std::span<const u8> body);
  bool done(Command command) const;
  proto::CommandStatus status(Command command) const;
  void set_step(Step step) { step_ = std::move(step); }
  // The memory of all command blocks.
  static constexpr u32 kCommandSlots = 16;
  static constexpr u64 kCommandBlockBytes = u64{kCommandSlots} * proto::kCommandBytes;
  u64 command_blocks() const { return command_blocks_; }

  proto::DeviceAttributes query_device();
  Error set_port(const proto::PortAttributes& attributes, u32 port = 1);
  proto::PortAttributes query_port(u32 port = 1);
  Pd* alloc_pd();
  Error dealloc_pd(const Pd& pd);
  Cq* create_cq(u32 cqe, const CompChannel* channel = nullptr);
  proto::QueueAttributes query_cq(const Cq& cq);
  // ibv_resize_cq: room for `cqe` CQEs (CQ-20). Invalid: more unread CQEs than that, or the CQ
  // overflowed.
  Error resize_cq(Cq& cq, u32 cqe);
  // ibv_modify_cq. Invalid: the count is larger than the CQ.
  Error modify_cq(const Cq& cq, const ModerateCq& moderate);
  Error destroy_cq(Cq& cq);
  // `key`: used for both L_Key and R_Key; 0: chosen here. `pd`: nullptr: the context's own.
  Mr reg_mr(u64 addr, u64 length, proto::Rights access, u32 key = 0, const Pd* pd = nullptr);
  // With a list of page addresses in host memory; `addr` is the first byte of the first page.
  Mr reg_mr_pages(u64 addr, u64 length, proto::Rights access, std::span<const u64> pages,
                  u8 log_page);
  // A region for fast registration.
  Mr alloc_mr(u32 key = 0, const Pd* pd = nullptr);
  Error rereg_mr(Mr& mr, u64 addr, u64 length, proto::Rights access, const Pd* pd = nullptr);
  proto::MrAttributes query_mr(const Mr& mr);
  Mw alloc_mw(proto::KeyKind type, u32 key = 0, const Pd* pd = nullptr);
  // Type 1; zero length: unbind.
  Error bind_mw(Mw& mw, const MemoryInfo& memory);
  proto::MwAttributes query_mw(const Mw& mw);
  Error dealloc_mw(const Mw& mw);
  Qp* create_qp(const QpInitAttr& attributes,
                std::optional<u32> qpn = std::nullopt);  // otherwise the next free number
  Error modify_qp(Qp& qp, const proto::QpAttributes& attributes);
  proto::QpAttributes query_qp(const Qp& qp);
  proto::QpCreate query_qp_create(const Qp& qp);

  Error destroy_qp(Qp& qp);
  Error dereg_mr(const Mr& mr);

  // ---- RD domains and EE contexts (verbs_rd.cpp); no number: the device refuses
  std::optional<u32> alloc_rdd();
  Error dealloc_rdd(u32 rdd);
  std::optional<u32> create_eec(std::optional<u32> eecn = {}, u64 context = 0);
  Error modify_eec(u32 eecn, const proto::QpAttributes& attributes);
  proto::QpAttributes query_eec(u32 eecn);
  Error destroy_eec(u32 eecn);

  // ---- XRC domains and shared receive queues (verbs_srq.cpp)
  // Returns the number of the domain; empty: the device refuses. `pd`: the number of a PD, or 0.
  std::optional<u32> alloc_xrcd(u32 pd = 0);
  Error dealloc_xrcd(u32 xrcd);
  Srq* create_srq(const SrqInitAttr& attributes, std::optional<u32> srqn = {});
  Error set_srq_limit(const Srq& srq, u32 limit);
  Error resize_srq(Srq& srq, u32 max_wr);
  // Empty: the query is refused.
  std::optional<proto::SrqAttributes> query_srq(const Srq& srq);
  Error destroy_srq(Srq& srq);
  Error post_srq_recv(Srq& srq, std::span<const RecvWr> list, std::size_t* bad = nullptr);
  Error post_srq_recv(Srq& srq, const RecvWr& wr) { return post_srq_recv(srq, {&wr, 1}); }

  // ---- Events (verbs_events.cpp)
  // Event queue `eqn` with room for `entries`, armed, and its vector of the same number.
  CompChannel* create_comp_channel(u32 entries = 64) { return create_eq(next_eqn_++, entries); }
  // Without this queue asynchronous events are lost.
  CompChannel* open_async_events(u32 entries = 64) { return create_eq(proto::kAsyncEq, entries); }
  Error destroy_comp_channel(const CompChannel& channel);
  proto::QueueAttributes query_eq(const CompChannel& channel);
  Error set_vector(const CompChannel& channel, bool masked);
  proto::VectorAttributes query_vector(const CompChannel& channel);
  // Takes the next event, if there is one; an empty queue is armed again.
  std::optional<u32> get_cq_event(CompChannel& channel);  // number of the CQ
  std::optional<AsyncEvent> get_async_event(CompChannel& channel);
  // Takes all events in order and calls back for existing objects. Returns their number, which is
  // also reported to the device (AEQ-14).
  u32 dispatch_async_events(CompChannel& channel, const AsyncCallbacks& callbacks);
  // True if an interrupt arrived since the last call.
  bool take_interrupt(const CompChannel& channel);
  // Steps the device until an interrupt arrives; false: the device has nothing more to do.
  bool wait_interrupt(const CompChannel& channel);

  // Posts all or, on an error, those before `bad`; their doorbell is rung.
  Error post_send(Qp& qp, std::span<const SendWr> list, std::size_t* bad = nullptr);
  Error post_send(Qp& qp, const SendWr& wr) { return post_send(qp, {&wr, 1}); }
  Error post_recv(Qp& qp, std::span<const RecvWr> list, std::size_t* bad = nullptr);
  Error post_recv(Qp& qp, const RecvWr& wr) { return post_recv(qp, {&wr, 1}); }
  u32 poll_cq(Cq& cq, std::span<Wc> out);
  void req_notify_cq(Cq& cq, bool solicited_only);

  // Reads the least possible state of a ring: true if there is a completion.
  bool has_completion(const Cq& cq) const;
  static u32 free_send_slots(const Qp& qp);
  proto::CommandStatus last_status() const { return last_status_; }

 private:
  template <class Body>
  proto::CommandStatus execute(proto::CommandOpcode opcode, u32 object, const Body& body);
  proto::CommandStatus execute(proto::CommandOpcode opcode, u32 object);
  template <class Body>
  Body query(proto::CommandOpcode opcode, u32 object);
  template <class Body>
  Body answer(Command command) const;
  std::array<u8, proto::kCommandBytes> query_block(proto::CommandOpcode opcode, u32 object);
  u32 number_of(const Pd* pd);
  u32 next_key() {
    ++last_key_;
    return last_key_ << 8 | (last_key_ & 0xff);
  }
  CompChannel* create_eq(u32 eqn, u32 entries);
  bool take_eqe(CompChannel& channel, std::array<u8, proto::kEqeBytes>& eqe);
  void ring_eq(const CompChannel& channel, bool arm);
  std::optional<AsyncEvent> take_async(CompChannel& channel);  // verbs_async.cpp
  void react(const AsyncEvent& event, const AsyncCallbacks& callbacks);
  proto::CommandStatus wait(Command command);
  Error check_send(const Qp& qp, const SendWr& wr) const;
  u32 write_send_wqe(Qp& qp, const SendWr& wr, u8* wqe) const;
  void ring_send(const Qp& qp, bool push, std::span<const u8> wqe);
  void ring_cq(Cq& cq, proto::Arm arm);
  // The CQE with this index, in place; nullptr: not written yet.
  const u8* find_cqe(const Cq& cq, u32 index) const;
  static u8 receive_log_stride(u32 sges);
  void write_receive_wqe(u64 ring, u8 log_stride, u32 slots, u32 index, const RecvWr& wr);
  void ring_receive(proto::BarOffset bell, u32 number, u32 posted);
  static u64 take_shared(Srq& srq, u16 wqe_index);
  void take(const proto::Cqe& cqe, Wc& wc);
  Srq* find_srq(u32 srqn);
  Qp* find_qp(u32 qpn) const { return qpn < by_qpn_.size() ? by_qpn_[qpn] : nullptr; }

  tlm_::HostMemory& memory_;
  MmioWrite mmio_write_;
  Step step_;
  u64 context_memory_ = 0;
  u64 next_;
  u64 command_blocks_;
  u32 next_command_ = 0;
  proto::CommandStatus last_status_ = proto::CommandStatus::Ok;
  u32 last_key_ = 0, next_qpn_ = kFirstUserQpn, next_cqn_ = 1, next_eqn_ = 1, next_pd_ = 1;
  u32 next_srqn_ = 1, next_xrcd_ = 1, next_rdd_ = 1, next_eecn_ = 1;
  const Pd* own_pd_ = nullptr;  // allocated on first use
  std::deque<Pd> pds_;
  std::deque<CompChannel> channels_;
  std::deque<Cq> cqs_;
  std::deque<Srq> srqs_;
  std::deque<Qp> qps_;
  std::vector<Qp*> by_qpn_;
};

template <class Body>
VerbsContext::Command VerbsContext::begin(proto::CommandOpcode opcode, u32 object,
                                          const Body& body) {
  std::array<u8, proto::bytes_of<Body>()> bytes{};
  proto::encode(body, bytes.data());
  return begin(opcode, object, std::span<const u8>(bytes));
}
template <class Body>
proto::CommandStatus VerbsContext::execute(proto::CommandOpcode opcode, u32 object,
                                           const Body& body) {
  return wait(begin(opcode, object, body));
}
template <class Body>
Body VerbsContext::answer(Command command) const {
  std::array<u8, proto::bytes_of<Body>()> body;
  memory_.read(command.block + proto::kCommandHeaderBytes, body.data(), body.size());
  return proto::decode<Body>(body.data());
}
template <class Body>
Body VerbsContext::query(proto::CommandOpcode opcode, u32 object) {
  return proto::decode<Body>(query_block(opcode, object).data() + proto::kCommandHeaderBytes);
}
}  // namespace hca::testbench
