// SPDX-License-Identifier: Apache-2.0
// The verbs API for programs on an HCA of `hca serve`, like the user-space provider of a real one.
// It lays out rings, writes WQEs, reads CQEs and rings doorbells; all else is a request to the
// server. It uses only the public verbs header.
#pragma once
#include <infiniband/verbs.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "testbench/programs/server/failures.h"
#include "testbench/programs/server/let_others.h"
#include "testbench/programs/server/packet_socket.h"
#include "testbench/programs/time_library/clock.h"
#include "testbench/programs/verbs_library/locks.h"

// A function of the API: the program finds it before the system's.
#define HCA_VERB extern "C" __attribute__((visibility("default")))

namespace hca::verbs_library {
// Allocates rings in the shared memory, in sizes of powers of two from a page on; freed pieces are
// reused.
class RingSpace {
 public:
  void set_end(u64 end) { end_ = end; }
  u64 take(u64 bytes);  // 0: no room
  void give_back(u64 offset, u64 bytes) { free_[size_of(bytes)].push_back(offset); }

 private:
  static u64 size_of(u64 bytes);
  u64 next_ = attach::kRingsOffset, end_ = 0;
  std::map<u64, std::vector<u64>> free_;
};

// Detects a child process of the one that created this object: the kernel wipes the page in a child
// (opened_here.cpp).
class OpenedHere {
 public:
  OpenedHere();
  ~OpenedHere();
  OpenedHere(const OpenedHere&) = delete;
  explicit operator bool() const { return *page_; }

 private:
  const std::atomic<bool>* page_;
};

struct Cq;
struct Qp;
struct Srq;

// Kept by a thread that waits for an event, in case another thread closes the device.
struct OpenState {
  std::mutex mutex;  // protects the handling of an event
  bool closed = false;
};
// The source of events: a device, or a completion channel.
struct EventSource {
  EventSource(attach::Descriptor end, std::shared_ptr<OpenState> of)
      : descriptor(std::move(end)), device(std::move(of)) {}
  const attach::Descriptor descriptor;
  const std::shared_ptr<OpenState> device;
  bool closed = false;  // protected by the mutex of its device
};

// An open device. Programs hold pointers to the base of an object.
struct Context : verbs_context {
  Context() : verbs_context{} {}
  attach::Descriptor socket, wake;
  std::shared_ptr<OpenState> state = std::make_shared<OpenState>();
  std::shared_ptr<EventSource> events;
  attach::DeviceInfo info;
  u8* shared = nullptr;
  std::recursive_mutex mutex;  // protects the socket, and the members below
  class Awaited* awaited = nullptr;
  RingSpace rings;
  std::set<Qp*> qps;
  std::map<u64, void*> by_cookie;  // existing CQs, queue pairs and SRQs
  u64 last_cookie = 0;
  std::map<u32, Qp*> by_number;
  std::map<u32, Srq*> xrc_srqs;   // by number
  Lock numbers;                   // protects by_number and xrc_srqs
  Lock doorbells;                 // protects the queue of posted writes
  std::atomic<bool> lost{false};  // the server is gone
  bool told_lost = false;
  OpenedHere opened_here;
  attach::Descriptor stop_watch;
  pthread_t watcher{};
  int watched_in = 0;  // the process that has the watching thread; 0: none

  attach::LetOthers let_others;  // of the last poller: it need not be exact

  attach::SharedControl& control() { return *reinterpret_cast<attach::SharedControl*>(shared); }
};
inline Context& context_of(ibv_context* context) {
  return static_cast<Context&>(*reinterpret_cast<verbs_context*>(reinterpret_cast<char*>(context) -
                                                                 offsetof(verbs_context, context)));
}

// In a child of fork() this is a copy. A destroy call there only frees the copy: the objects, and
// the server's replies, belong to the parent. It has no rings, so posts and polls do nothing there.
inline bool is_inherited(const ibv_context* context) {
  return !context_of(const_cast<ibv_context*>(context)).opened_here;
}

// True if all of these bytes can be read and, if requested, written (mapped.cpp).
bool is_mapped(u64 address, u64 bytes, bool writable);

constexpr u8 kLastServiceLevel = 15;
inline bool has_port(ibv_context* context, u32 number) {
  return number && number <= context_of(context).info.ports;
}

// ---- Requests to the server (connection.cpp)
// Returns an errno value. `descriptors`: received with the reply; `given`: sent with the request.
int ask(Context& context, attach::Request& request, attach::Reply& reply,
        std::vector<attach::Descriptor>* descriptors = nullptr, std::span<const int> given = {});
// A command; its structure is sent, and returned in `reply`.
template <class Structure>
int command(Context& context, proto::CommandOpcode opcode, attach::Request& request,
            const Structure& structure, attach::Reply& reply) {
  request.verb = attach::Verb::Command;
  request.opcode = opcode;
  proto::encode(structure, request.body.data());
  return ask(context, request, reply);
}
int command(Context& context, proto::CommandOpcode opcode, u32 object, attach::Reply& reply);
// Counts one more call of a verb; returns the error that a `fail` entry requests, 0: none.
inline int failure_of(Context& context, attach::FailVerb verb) {
  return attach::failure_of(context.control(), verb);
}
// One write of 8 bytes to the user page, at this simulated time.
void ring(Context& context, proto::BarOffset offset, const std::array<u8, 8>& doorbell, u64 at);
template <class Doorbell>
void ring(Context& context, proto::BarOffset offset, const Doorbell& doorbell,
          u64 at = clock::now()) {
  std::array<u8, 8> bytes;
  proto::encode(doorbell, bytes.data());
  ring(context, offset, bytes, at);
}
// A call found that the server is gone; reports it to the program for all of its devices.
void lose(Context& context);
extern std::atomic<bool> g_any_lost;
// Checks that the server is still there; false: it is not, and `lost` is set.
bool server_is_there(Context& context);
// Until stop_watch(): ends a program that does not notice that the server is gone (watch.cpp).
void start_watch(Context& context);
void stop_watch(Context& context);
// Until forget_unmapping(): reports memory that the program unmaps to the server (unmapping.cpp).
void tell_unmapping(Context& context);
void forget_unmapping(Context& context);
// The cookie by which the server identifies its events.
u64 give_cookie(Context& context, void* object);
void take_cookie(Context& context, u64 cookie);
// nullptr: it was destroyed.
void* find_object(Context& context, u64 cookie);
// Waits until all received asynchronous events of an object are acknowledged.
template <class Object>
void await_acknowledged(Object& object, const u32& completed, const u32& got) {
  pthread_mutex_lock(&object.mutex);
  while (completed != got) pthread_cond_wait(&object.cond, &object.mutex);
  pthread_mutex_unlock(&object.mutex);
}
// The result of a failed function that returns a pointer.
inline std::nullptr_t fail(int error) {
  errno = error;
  return nullptr;
}
// The result of a function that returns an errno value; also sets errno, which programs read.
inline int told(int error) {
  if (error) errno = error;
  return error;
}

// ---- Objects
struct Channel : ibv_comp_channel {
  Channel() : ibv_comp_channel{} {}
  u32 handle = 0;
  std::shared_ptr<EventSource> events;
};
struct Ah : ibv_ah {
  Ah() : ibv_ah{} {}
  proto::AddressHandle path{};
};
struct Td : ibv_td {
  Td() : ibv_td{} {}
  std::atomic<u32> uses{0};
};
struct Xrcd : ibv_xrcd {
  Xrcd() : ibv_xrcd{} {}
  u32 handle = 0;
};
// A parent domain has the handle of its original domain.
struct Pd : ibv_pd {
  Pd() : ibv_pd{} {}
  Pd* parent = nullptr;
  Td* thread_domain = nullptr;
  std::atomic<u32> uses{0};  // for a parent domain: objects; otherwise: parent domains
};
inline Pd& pd_of(ibv_pd* pd) { return static_cast<Pd&>(*pd); }
// Counts an object of the domain up or down. The server counts the objects of plain domains.
inline void use(ibv_pd* pd) { pd_of(pd).uses += pd_of(pd).parent != nullptr; }
inline void leave(ibv_pd* pd) { pd_of(pd).uses -= pd_of(pd).parent != nullptr; }
inline bool is_same_domain(const ibv_pd* a, const ibv_pd* b) {
  return a->context == b->context && a->handle == b->handle;
}
struct Mr : ibv_mr {
  Mr() : ibv_mr{} {}
  u64 iova = 0;
  proto::Rights access = 0;
};

struct Cq : ibv_cq_ex {
  Cq() : ibv_cq_ex{} {}
  u32 number = 0;
  u64 offset = 0;  // of its ring
  u8 log_entries = 0;
  u32 consumer = 0, reported = 0;
  u32 events = 0, async_events = 0;  // received, acknowledged or not
  u64 cookie = 0;
  u32 empty = 0;                  // consecutive polls without success
  std::atomic<bool> told{false};  // it had an event and was not polled since
  u64 stamps = 0;                 // offset of the times of its CQEs; 0: none
  attach::CqeTime time;           // of the last polled completion
  Lock lock;
  ibv_wc current{};      // for the extended API
  bool polling = false;  // between ibv_start_poll() and ibv_end_poll()

  u32 entries() const { return u32{1} << log_entries; }
  u64 bytes() const { return u64{entries()} * proto::kCqeBytes; }
  u64 stamp_bytes() const { return u64{entries()} * sizeof(attach::CqeTime); }
  ibv_cq* plain() { return reinterpret_cast<ibv_cq*>(static_cast<ibv_cq_ex*>(this)); }
};
inline Cq& cq_of(ibv_cq_ex* cq) { return static_cast<Cq&>(*cq); }
inline Cq& cq_of(ibv_cq* cq) { return cq_of(reinterpret_cast<ibv_cq_ex*>(cq)); }

// A send, receive or shared receive queue.
struct Queue {
  u64 offset = 0;  // of its ring
  u8 log_entries = 0, log_stride = 0;
  u32 max_sge = 0, max_inline = 0;
  u32 posted = 0, completed = 0;
  u64 rung_at = 0;  // time of its last doorbell: no other one may be earlier
  std::vector<u64> wr_ids;
  std::vector<bool> in_use;  // of a shared queue: slots are taken out of order
  std::vector<bool> binds;   // of a send queue: the WQE belongs to ibv_bind_mw()
  Lock lock;

  u32 entries() const { return u32{1} << log_entries; }
  u64 bytes() const { return u64{1} << (log_entries + log_stride); }
  u32 slot(u32 index) const { return index & (entries() - 1); }
  u64 rings_at() { return rung_at = std::max(rung_at, clock::now()); }
  // Completes all WQEs up to this index; returns the wr_id of the last one.
  u64 complete(u16 index) {
    completed += u16(u16(index + 1) - u16(completed));
    return wr_ids[slot(index)];
  }
};

struct Srq : ibv_srq {
  Srq() : ibv_srq{} {}
  Queue queue;     // its ring may be larger than `max_wr`
  u32 max_wr = 0;  // limit of posted and unpolled receives
  u32 number = 0;
  Cq* cq = nullptr;  // of an SRQ of XRC; nullptr: it is none
  u32 outstanding = 0;
  // Completed but unpolled receives whose slot is reused: by the index in the CQE.
  std::map<u16, u64> unpolled;
  u32 async_events = 0;
  u64 cookie = 0;
};
inline Srq& srq_of(ibv_srq* srq) { return static_cast<Srq&>(*srq); }

// A work request before it is written to the ring.
struct WorkRequest {
  static constexpr std::size_t kMostSges = 14,
                               kMostInline = proto::kMaxSendWqeBytes - proto::kSendWqeBytes;
  u64 wr_id = 0;
  proto::SendWqe head{};
  proto::AtomicOperands atomic{};
  bool binds = false;      // it belongs to ibv_bind_mw()
  bool addressed = false;  // begun by ibv_wr_*: a datagram has its address, one of XRC its SRQ
  proto::MemorySegment memory{};
  proto::AddressHandle path{};
  std::array<proto::Sge, kMostSges> sges{};
  std::array<u8, kMostInline> data{};
};

struct Qp : ibv_qp_ex {
  Qp() : ibv_qp_ex{} {}
  Queue send, receive;
  proto::Service service{};
  proto::QpSide side = proto::QpSide::Both;
  bool signal_all = false;
  bool extended = false;  // created for ibv_wr_*
  u32 async_events = 0;
  u64 cookie = 0;
  u8 max_rd_atomic = 0;
  ibv_qp_init_attr init{};
  std::set<std::array<u64, 3>> groups;  // multicast: GID, LID
  // Valid between ibv_wr_start() and ibv_wr_complete().
  WorkRequest work;
  bool has_work = false;
  u32 begun_at = 0;
  int error = 0;
  u32 opened = 0;  // open ibv_wr_start() calls
};
inline Qp& qp_of(ibv_qp_ex* qp) { return static_cast<Qp&>(*qp); }
inline Qp& qp_of(ibv_qp* qp) { return qp_of(reinterpret_cast<ibv_qp_ex*>(qp)); }

// ---- Shared by the files of the library
// Allocates a ring of at least this many entries with slots of at least `bytes`. Returns an errno
// value.
int make_queue(Context& context, Queue& queue, u32 wrs, u32 bytes, proto::Strides strides);
void free_queue(Context& context, Queue& queue);
void forget_work(Qp& qp);  // resets its rings
// The structure of a bind of a type 2 window in a work request.
void set_bind(WorkRequest& work, u32 rkey, const ibv_mw_bind_info& info);
// The same for a work request; the window gets its new key. Returns an errno value.
int set_bind_2(const Qp& qp, WorkRequest& work, ibv_mw* mw, u32 rkey, const ibv_mw_bind_info& info);
// The CQ's entry of this index, its time, if it has one, and whether it is new.
u8* entry_of(const Cq& cq, u32 index);
attach::CqeTime* stamp_of(const Cq& cq, u32 index);
bool is_new(const Cq& cq, u32 index);
// Sends the HCA the consumer index, or the index up to which unread CQEs are known.
void ring_cq(Cq& cq, proto::Arm arm);
void ring_cq(Cq& cq, proto::Arm arm, u32 seen);
void set_extended(Cq& cq);  // functions of the extended API
// The wr_id of a completed receive of an SRQ, whose slot becomes free.
u64 take_shared(Srq& srq, u16 index);
// Drops the completions of a destroyed queue pair; the WQEs of its SRQ are freed.
void forget_completions(Cq& cq, Qp& qp);
// Drops the completions of a destroyed SRQ of XRC.
void forget_completions(Srq& srq);
// Writes it after the posted ones; returns an errno value.
int write_work(Context& context, Qp& qp, const WorkRequest& work);
void ring_send(Context& context, Qp& qp);
bool may_send(ibv_qp_state state);
void spend_on_sends(u32 count);  // cost of posting this many in a list
// `srq`: the owner of the queue, if it is shared.
int post_receives(Context& context, Queue& queue, ibv_recv_wr* wr, ibv_recv_wr** bad, Srq* srq);
// Makes room for the next receive if its slot is occupied. Call with the queue's lock held, which
// is released meanwhile. Returns an errno value (srq.cpp).
int free_slot(Srq& srq, std::unique_lock<Lock>& guard);
// Receives of an SRQ with unpolled completions in a CQ, by their indices.
std::set<u16> unpolled_receives(Context& context, const Srq& srq);
// For the context's table of operations.
int poll_cq(ibv_cq* cq, int entries, ibv_wc* wc);
int req_notify_cq(ibv_cq* cq, int solicited_only);
int post_send(ibv_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad);
int post_recv(ibv_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad);
int post_srq_recv(ibv_srq* srq, ibv_recv_wr* wr, ibv_recv_wr** bad);
ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type);
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
int dealloc_mw(ibv_mw* mw);
ibv_td* alloc_td(ibv_context* context, ibv_td_init_attr* attributes);
int dealloc_td(ibv_td* td);
ibv_pd* alloc_parent_domain(ibv_context* context, ibv_parent_domain_init_attr* attributes);
int query_port(ibv_context* context, u8 port, ibv_port_attr* attributes, std::size_t bytes);
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attributes, std::size_t bytes);
int query_rt_values(ibv_context* context, ibv_values_ex* values);
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);
int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes);
ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes);
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes);
int get_srq_num(ibv_srq* srq, u32* number);
ibv_xrcd* open_xrcd(ibv_context* context, ibv_xrcd_init_attr* attributes);
int close_xrcd(ibv_xrcd* xrcd);
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attributes);
// Makes the base of a queue pair whose handle and number are known.
void set_up(Qp& qp, ibv_context* context, const ibv_qp_init_attr& attributes);
void set_work_functions(ibv_qp_ex& qp, u64 flags);  // flags of ibv_qp_create_send_ops_flags
}  // namespace hca::verbs_library
