// SPDX-License-Identifier: Apache-2.0
// The API of rdma_cm as a program sees it, on HCAs of `hca serve`. The server has the identifiers
// and their connections; here are the program's copies of them, and what is done with their queue
// pairs, by the public functions of the verbs alone.
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

constexpr int kResolveMs = 2000;  // for calls that wait; nothing is asked that takes time

// A function of the API fails: -1, or nullptr.
inline int fail(int error) { return errno = error, -1; }
// The same of an error that may be none.
inline int told(int error) { return error ? fail(error) : 0; }
// EAGAIN. Who asks again and again waits: in simulated time others go on.
int fail_for_now();
// One line names what is not there, and -1 with EOPNOTSUPP comes back.
int refuse(const char* call, const char* what);

struct Id;
struct Channel : rdma_event_channel {
  Channel() : rdma_event_channel{} {}
  u32 handle = 0;
  std::atomic<u32> waiting{0};  // threads, for its events
};
struct Id : rdma_cm_id {
  Id() : rdma_cm_id{} {}
  u32 handle = 0;
  bool waits = false;                // it has a channel of its own, and calls wait for their events
  attach::CmParameters requested{};  // of a connection request: what the peer can do
  // Of a listener that rdma_create_ep() has made: for rdma_get_request().
  ibv_qp_init_attr* queue_pairs = nullptr;
  ibv_pd* given_pd = nullptr;
  u32 reported = 0, acknowledged = 0;  // events; under the mutex of the library
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
  void* context = nullptr;  // of who has joined a group
};

// ---- The server (server.cpp)
// The connection is there, or errno says why not and false comes back.
bool open_server();
// errno's values.
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
// The program's one context of a device, by its number in the list; nullptr: errno says why.
ibv_context* context_of(s32 device);
std::vector<s32> devices();  // that the program sees
ibv_pd* domain_of(s32 device);

// ---- Identifiers
std::recursive_mutex& mutex();
Id* find_id(u32 handle);
Id& add_id(u32 handle, rdma_event_channel* channel, void* context, rdma_port_space space);
void remove_id(Id& id);
// Its device, its addresses and its path. errno's values.
int take_route(Id& id, const attach::CmRoute& route);
void put_address(const attach::CmAddress& from, sockaddr_storage& to);
constexpr bool is_datagram(rdma_port_space space) {
  return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB;
}
// An identifier with a channel of its own. -1: errno says why.
int create_id_of(rdma_cm_id** id, rdma_port_space space, ibv_qp_type type);
// Until the program has acknowledged all events that it got of it.
void await_acknowledged(Id& id);
// Waits for the event of a call, if the identifier does. What the call returns.
int complete(Id& id);

// ---- Queue pairs
// All but path_of() return errno's values.
int negotiated(const Id& id, attach::CmNegotiated& all);
int to_init(Id& id);
// With these limits of READs and ATOMICs, as far as the peer allows them.
int to_rts(Id& id, u8 responder_resources, u8 initiator_depth);
int to_error(Id& id);
ibv_ah_attr path_of(const attach::CmRoute& route);
int attach_group(Id& id, const attach::CmEvent& event, Event& out);
}  // namespace hca::cm_library
