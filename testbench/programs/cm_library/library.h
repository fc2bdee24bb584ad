// SPDX-License-Identifier: Apache-2.0
// The API of rdma_cm for programs on HCAs of `hca serve`. The server holds the identifiers and
// their connections; the library has the program's copies, and handles their queue pairs, using
// only the public functions of the verbs.
#pragma once
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <mutex>
#include <vector>

#include "testbench/programs/server/cm_address.h"
#include "testbench/programs/server/packet_socket.h"

// A function of the API.
#define HCA_CM extern "C" __attribute__((visibility("default")))

namespace hca::cm_library {
using attach::address_of;
using attach::CmCall;

constexpr int kResolveMs = 2000;  // timeout of waiting calls; no request takes time

// The result of a failed function: -1, or nullptr.
inline int fail(int error) {
  errno = error;
  return -1;
}
// The same for an error that may be 0.
inline int told(int error) { return error ? fail(error) : 0; }
// EAGAIN. A caller that repeats this waits: in simulated time other threads continue.
int fail_for_now();
// Prints one line that names the unsupported feature, and returns -1 with EOPNOTSUPP.
int refuse(const char* call, const char* what);

struct Id;
struct Channel : rdma_event_channel {
  Channel() : rdma_event_channel{} {}
  u32 handle = 0;
  std::atomic<u32> waiting{0};  // threads that wait for its events
};
struct Id : rdma_cm_id {
  Id() : rdma_cm_id{} {}
  u32 handle = 0;
  bool waits = false;                // it has its own channel, and calls wait for their events
  attach::CmParameters requested{};  // for a connection request: the peer's capabilities
  // For a listener created by rdma_create_ep(): used by rdma_get_request().
  ibv_qp_init_attr* queue_pairs = nullptr;
  ibv_pd* given_pd = nullptr;
  u32 reported = 0, acknowledged = 0;  // events; protected by the mutex of the library
  struct Group {
    u64 number;
    attach::CmAddress address;
    ibv_gid gid;
    u16 lid;
    bool attached, receives;
    void* context;
  };
  u64 last_group = 0;
  std::vector<Group> groups;
  ibv_sa_path_rec path{};
};
inline Id& id_of(rdma_cm_id* id) { return *static_cast<Id*>(id); }

struct Event : rdma_cm_event {
  Event() : rdma_cm_event{} {}
  attach::CmEvent said{};
  void* context = nullptr;  // of the caller that joined a group
};

// ---- The server (server.cpp)
// False: the server is not reachable, errno gives the reason.
bool open_server();
// Returns an errno value.
int ask(CmCall call, u32 object, attach::Request& request, attach::Reply& reply,
        std::vector<attach::Descriptor>* descriptors = nullptr);
int ask(CmCall call, u32 object, u32 second = 0, u32 third = 0);
template <class Structure>
int ask_with(CmCall call, u32 object, const Structure& structure, attach::Reply& reply) {
  attach::Request request;
  put(request.body, structure);
  return ask(call, object, request, reply);
}
template <class Structure>
int ask_with(CmCall call, u32 object, const Structure& structure) {
  attach::Reply reply;
  return ask_with(call, object, structure, reply);
}
// The program's only context of a device, by its number in the list; nullptr: see errno.
ibv_context* context_of(s32 device);
std::vector<s32> devices();  // visible to the program
ibv_pd* domain_of(s32 device);

// ---- Identifiers
std::recursive_mutex& mutex();
Id* find_id(u32 handle);
Id& add_id(u32 handle, rdma_event_channel* channel, void* context, rdma_port_space space);
void remove_id(Id& id);
// Stores its device, its addresses and its path. Returns an errno value.
int take_route(Id& id, const attach::CmRoute& route);
void put_address(const attach::CmAddress& from, sockaddr_storage& to);
constexpr bool is_datagram(rdma_port_space space) {
  return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB;
}
// Creates an identifier with its own channel. -1: see errno.
int create_id_of(rdma_cm_id** id, rdma_port_space space, ibv_qp_type type);
// Waits until the program has acknowledged all its received events.
void await_acknowledged(Id& id);
// Waits for the event of a call, if the identifier is synchronous. Returns the result of the call.
int complete(Id& id);

// ---- Queue pairs
// All functions except path_of() return errno values.
int negotiated(const Id& id, attach::CmNegotiated& all);
int to_init(Id& id);
// Uses these limits of READs and ATOMICs, as far as the peer allows them.
int to_rts(Id& id, u8 responder_resources, u8 initiator_depth);
int to_error(Id& id);
ibv_ah_attr path_of(const attach::CmRoute& route);
int attach_group(Id& id, const attach::CmEvent& event, Event& out);
}  // namespace hca::cm_library
