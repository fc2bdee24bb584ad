// SPDX-License-Identifier: Apache-2.0
// What a program's verbs library and `hca serve` say to each other: messages over a socket of
// packets, and the memory that they share. A verb that the HCA executes is a mailbox command of the
// device (proto/interface/commands.h), in which the server writes numbers and bus addresses where
// the library cannot know them.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "model/proto/interface/commands.h"
#include "testbench/scenario/fail_config.h"

namespace hca::attach {
inline constexpr u32 kProtocolVersion = 3;
inline constexpr std::size_t kNameBytes = 32, kMaxDevices = 8, kMaxNames = 4, kMaxPorts = 2,
                             kMaxDescriptors = 4;

// The environment that `hca run --attach` gives to a program.
inline constexpr char kSocketVariable[] = "HCA_SOCKET";            // path of the socket
inline constexpr char kDevicesVariable[] = "HCA_DEVICES";          // names, by commas; none: all
inline constexpr char kRunVariable[] = "HCA_RUN";                  // number of the `hca run`
inline constexpr char kReplacementVariable[] = "HCA_REPLACEMENT";  // libibverbs.so.1 for dlopen()

enum class Verb : u32 {
  ListDevices,   // cookie: number of the run; body comes back: DeviceList
  RefreshFiles,  // cookie: number of the run; files of the devices are written anew
  BeginRun,      // of `hca run`; cookie 1: in simulated time, which waits for its first device;
                 // number comes back: of this run, until the connection ends
  QueryRun,      // of the same connection; body comes back: RunSteps
  OpenClock,     // of a program in simulated time; body: the device's name; number: the program's;
                 // with the descriptors of kClock; the caller is its first thread, and wants a turn
  OpenDevice,    // body: OpenDevice; DeviceInfo comes back, with the descriptors of kOpened
  QueryFaults,   // object: a place in the lists; a FaultReport comes back (fault_messages.h)
  ClearFaults,   // of both lists
  AddFault,      // body: a FaultConfig
  AddFail,       // body: a FailConfig
  CreateChannel,   // a descriptor comes back, from which the cookies of CQs are read
  DestroyChannel,  // object: the channel
  CreateAh,        // object: number of a port; names: PD; body: proto::AddressHandle, which comes
                   // back as the HCA needs it
  DestroyAh,       // object: the address handle
  QueryClock,      // body comes back: ClockTime
  CloseDevice,     // of the connection
  Command,         // opcode: one of those that programs may use
  Cm,              // connection management, of a connection of its own (cm_protocol.h)
};

// What a handle names. A handle has its kind in the upper byte.
enum class Kind : u8 { None, Pd, Channel, Cq, Mr, Srq, Qp, Ah, Mw };
inline constexpr std::array<std::string_view, 9> kKindNames{
    "nothing", "PD", "completion channel", "CQ", "MR", "SRQ", "QP", "AH", "MW"};

inline constexpr std::size_t kBodyBytes = proto::kCommandBytes - proto::kCommandHeaderBytes;
using Body = std::array<u8, kBodyBytes>;

struct Request {
  Verb verb{};
  proto::CommandOpcode opcode{};
  u32 object = 0;                      // handle, or number of a port
  std::array<u32, kMaxNames> names{};  // handles that the object is made of, by its row's order
  u64 cookie = 0;                      // of what is created: comes back with its events
  u64 stamps = 0;  // of a CQ whose CQEs get times: where in the shared memory, a CqeTime each
  Body body{};     // the structure of the command
};
struct Reply {
  s32 error = 0;  // errno's values; 0: it is done
  u32 handle = 0, number = 0;
  Body body{};
};
// errno's value for what was asked; 0: it is done.
inline Reply error_reply(int error) {
  Reply reply;
  reply.error = error;
  return reply;
}

struct DeviceList {
  u32 count = 0;
  std::array<std::array<char, kNameBytes>, kMaxDevices> name{};
  std::array<u64, kMaxDevices> node_guid{};
};

// When a CQE came to the memory of the host, in ns.
struct CqeTime {
  u64 simulated = 0, of_day = 0;
};
struct ClockTime {
  u64 nanoseconds = 0;  // simulated
};

// How far the programs of a run have come: how often each.
struct RunSteps {
  u32 files = 0, lists = 0, clocks = 0, devices = 0;  // read and asked for, opened
  u32 lost = 0;                   // turns of threads that the simulation went on without
  std::array<char, 256> first{};  // of those: which thread, and where it was
};

// Of OpenDevice a descriptor of the program's /proc/self/mem comes with it.
struct OpenDevice {
  u32 version = kProtocolVersion;
  u32 run = 0;      // number of the run
  u32 program = 0;  // its number, if it is in simulated time
  std::array<char, kNameBytes> name{};
};
// Descriptors that come back.
enum Opened : std::size_t { kSharedMemory, kWakeServer, kAsyncEvents, kOpened };
enum OpenedClock : std::size_t { kTurns, kWakeForTurn, kClock };
struct DeviceInfo {
  u64 node_guid = 0, shared_bytes = 0;
  u32 vendor_id = 0, vendor_part_id = 0, hw_ver = 0;
  u32 ports = 0;
  u32 pcie_generation = 0, pcie_lanes = 0;
  u32 attachment = 0;  // number of the program's memory, at this HCA
  struct Rate {
    u32 width = 0, speed = 0;  // values of ibv_port_attr
  };
  std::array<Rate, kMaxPorts> active{};
  bool needs_grh = false;  // packets on Ethernet have a GID
  u8 framing = 0;          // proto::Framing, of all ports
  u32 multicast_members = 0, max_ahs = 0;
  std::array<char, kNameBytes> fw_ver{};
  proto::DeviceAttributes attributes{};
};

template <class Message>
inline constexpr bool kFitsBody = std::is_trivially_copyable_v<Message> &&
                                  sizeof(Message) <= kBodyBytes;
static_assert(kFitsBody<DeviceList> && kFitsBody<OpenDevice> && kFitsBody<DeviceInfo> &&
              kFitsBody<ClockTime> && kFitsBody<RunSteps>);
static_assert(std::is_trivially_copyable_v<Request> && std::is_trivially_copyable_v<Reply>);

// ---- Shared memory
// The user page of the HCA cannot be the program's own: a store there must reach the HCA. Writes
// to it are posted in this queue, which the server empties into the HCA's BAR.
struct PostedWrite {
  u32 offset;  // in the user page: a proto::BarOffset
  u32 reserved;
  u64 at;  // ps: when the thread is there, of a program in simulated time
  std::array<u8, 8> data;
};
inline constexpr u32 kPostedWrites = 1024;

// An entry of the list `fail`, as library and server count it.
struct SharedFailure {
  std::atomic<u32> verb;  // a FailVerb and 1; 0: it is none
  s32 error;              // of a call; 0: the server changes completions
  u64 nth, times;
  std::atomic<u64> seen, done;
};
static_assert(std::atomic<u64>::is_always_lock_free);

struct SharedControl {
  alignas(64) std::atomic<u32> server_sleeps;  // it wants a write to kWakeServer
  alignas(64) std::atomic<u32> posted;         // by the program
  alignas(64) std::atomic<u32> taken;          // by the server
  // Changes whenever the program has unmapped memory; 0: it does not hear of that.
  alignas(64) std::atomic<u32> unmapped;
  alignas(64) std::array<PostedWrite, kPostedWrites> writes;
  alignas(64) std::atomic<u32> failures;  // so many of those below are in use
  std::array<SharedFailure, kMostFails> failing;
  // Of a program by the time of day: another number after the HCA has written something, and how
  // many threads sleep until then.
  alignas(64) std::atomic<u32> completions;
  std::atomic<u32> sleepers;
};
static_assert(std::atomic<u32>::is_always_lock_free);

// Behind the control block the library lays out its rings.
inline constexpr u64 kRingsOffset = 1 << 16;
static_assert(sizeof(SharedControl) <= kRingsOffset);

// ---- Addresses
// An HCA reaches a program's memory, and what it shares with it, at bus addresses beyond those of
// the host's own memory: the number of its attachment stands above.
inline constexpr unsigned kAttachmentShift = 48;
inline constexpr u64 kSharedBit = u64{1} << 47;  // addresses of programs lie below
constexpr u64 bus_address(u32 attachment, u64 address) {
  return (u64{attachment} << kAttachmentShift) | address;
}

// A body that a message carries as it is.
template <class Message>
void put(Body& body, const Message& message) {
  static_assert(kFitsBody<Message>);
  __builtin_memcpy(body.data(), &message, sizeof message);
}
template <class Message>
Message get(const Body& body) {
  static_assert(kFitsBody<Message>);
  Message message;
  __builtin_memcpy(&message, body.data(), sizeof message);
  return message;
}
}  // namespace hca::attach
