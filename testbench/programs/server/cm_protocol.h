// SPDX-License-Identifier: Apache-2.0
// The protocol between a program's connection management library and `hca serve`. A connection to
// the server has channels, from which events are read, and identifiers as in rdma_cm.
#pragma once
#include "testbench/programs/server/protocol.h"

namespace hca::attach {
// For Verb::Cm, in Request::names[0]. Request::object: the channel or identifier.
enum class CmCall : u32 {
  Open,            // body: CmOpen
  CreateChannel,   // returns a descriptor with a word for each event
  DestroyChannel,  // EBUSY: it still has identifiers
  CreateId,        // names[1]: the channel; body: CmNewId
  DestroyId,
  Migrate,  // names[1]: another channel
  Bind,     // body: CmAddress; returns a CmRoute
  Listen,   // names[1]: backlog of requests
  Resolve,  // body: CmResolve
  ResolveRoute,
  Connect,  // body: CmParameters
  Accept,   // the same
  Refuse,   // the same
  Confirm,  // for the answer to a connection request: the queue pair is ready
  Notify,   // the first data have arrived
  Disconnect,
  Query,      // returns a CmNegotiated
  Join,       // body: CmAddress; cookie: returned with the event
  SetOption,  // names[1]: CmOption; names[2]: its value
  TakeEvent,  // for a channel; returns a CmEvent
  Count
};
enum class CmOption : u32 { TrafficClass, ReuseAddress, AckTimeout };

// Values of rdma_cm_event_type.
enum class CmEventType : u32 {
  AddressResolved = 0,
  RouteResolved = 2,
  ConnectRequest = 4,
  ConnectResponse = 5,
  Unreachable = 7,
  Rejected = 8,
  Established = 9,
  Disconnected = 10,
  MulticastJoin = 12,
  TimewaitExit = 15
};

enum class CmPortSpace : u16 { Ipoib = 0x0002, Tcp = 0x0106, Udp = 0x0111 };
inline constexpr u32 kUdpQkey = 0x01234567;  // RDMA_UDP_QKEY

struct CmOpen {
  u32 program = 0;  // its number, if it runs in simulated time
  u32 devices = 0;  // devices that it may use, a bit each
};
struct CmNewId {
  u16 port_space = 0;
  bool unreliable = false;  // the connection uses service UC
};
inline constexpr u8 kIpv4 = 4, kIpv6 = 6;  // families
inline constexpr std::size_t kIpv4At = 12;
// An IPv4 address occupies the last four bytes, after zeros.
struct CmAddress {
  u8 family = 0;  // 0: none
  u16 port = 0;
  std::array<u8, 16> ip{};
};
struct CmResolve {
  CmAddress source{}, destination{};
};

// The device of an identifier, its addresses, and the path.
inline constexpr u8 kHopLimit = 64;
struct CmRoute {
  s32 device = -1;  // number in the list of devices; -1: none
  u32 port = 1;
  CmAddress local{}, remote{};
  std::array<u8, 16> sgid{}, dgid{};
  u16 slid = 0, dlid = 0;
  bool global = false;
  u8 sgid_index = 0, sl = 0, traffic_class = 0, hop_limit = 0;
  u8 mtu = 0;  // as in ibv_mtu
  u8 ack_timeout = 0;
};

inline constexpr std::size_t kMostPrivate = 196;  // of a REP
struct CmParameters {
  u32 qpn = 0, qkey = 0;
  u8 responder_resources = 0, initiator_depth = 0, flow_control = 0, retry_count = 0,
     rnr_retry_count = 0, srq = 0;
  bool unreliable = false;  // for a request: its connection uses service UC
  u8 private_bytes = 0;
  std::array<u8, kMostPrivate> private_data{};
};
// The values from which a queue pair's attributes are computed.
struct CmNegotiated {
  CmRoute route{};
  u32 qpn = 0, qkey = 0, sq_psn = 0, rq_psn = 0;
  u8 responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
};
struct CmEvent {
  CmEventType type{};
  s32 status = 0;
  u32 id = 0;
  u32 request = 0;  // the identifier created for a connection request
  u64 cookie = 0;
  CmRoute route{};
  CmParameters parameters{};
};
static_assert(kFitsBody<CmEvent> && kFitsBody<CmNegotiated> && kFitsBody<CmResolve>);
}  // namespace hca::attach
