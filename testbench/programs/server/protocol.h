// SPDX-License-Identifier: Apache-2.0
// The protocol between a program's verbs library and `hca serve`: messages over a socket of
// packets, and shared memory. A verb that the HCA executes is a mailbox command of the device
// (proto/interface/commands.h); the server fills in numbers and bus addresses that the library
// cannot know.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <type_traits>

#include "model/proto/interface/commands.h"
#include "testbench/scenario/fail_config.h"

namespace hca::attach {
inline constexpr u32 kProtocolVersion = 4;
inline constexpr std::size_t kNameBytes = 32, kMaxDevices = 8, kMaxNames = 5, kMaxPorts = 2,
                             kMaxDescriptors = 4;

// Environment variables that `hca run --attach` sets for a program.
inline constexpr char kSocketVariable[] = "HCA_SOCKET";    // path of the socket
inline constexpr char kDevicesVariable[] = "HCA_DEVICES";  // comma-separated names; empty: all
inline constexpr char kRunVariable[] = "HCA_RUN";          // number of the `hca run`
inline constexpr char kReplacementVariable[] = "HCA_REPLACEMENT";  // libibverbs.so.1 for dlopen()

enum class Verb : u32 {
  ListDevices,   // cookie: number of the run; returns a DeviceList
  RefreshFiles,  // cookie: number of the run; files of the devices are rewritten
  // For `hca run`; cookie 1: in simulated time, which waits for its first device. Returns the
  // number of this run, valid until the connection ends.
  BeginRun,
  QueryRun,  // on the same connection; returns RunSteps
  // For a program in simulated time; body: the device's name. Returns the program's number, with
  // the descriptors of kClock; the caller is its first thread, and wants a turn.
  OpenClock,
  OpenDevice,      // body: OpenDevice; returns DeviceInfo, with the descriptors of kOpened
  QueryFaults,     // object: an index into the lists; returns a FaultReport (fault_messages.h)
  ClearFaults,     // clears both lists
  AddFault,        // body: a FaultConfig
  AddFail,         // body: a FailConfig
  CreateChannel,   // returns a descriptor from which the cookies of CQs are read
  DestroyChannel,  // object: the channel
  // object: number of a port; names: PD; body: proto::AddressHandle, returned in the form that the
  // HCA needs.
  CreateAh,
  DestroyAh,  // object: the address handle
  // object: oflags; with a descriptor of the file that names the domain for other programs.
  OpenXrcDomain,
  OpenQp,       // object: number of an XRC target; names: its domain
  QueryClock,   // returns a ClockTime
  CloseDevice,  // for the connection
  Command,      // opcode: an allowed command
  Cm,           // connection management, on its own connection (cm_protocol.h)
};

// The kind of object that a handle refers to, stored in its upper byte.
enum class Kind : u8 { None, Pd, Channel, Cq, Mr, Srq, Qp, Ah, Mw, XrcDomain };
inline constexpr std::array<std::string_view, 10> kKindNames{
    "nothing", "PD", "completion channel", "CQ", "MR", "SRQ", "QP", "AH", "MW", "XRC domain"};

inline constexpr std::size_t kBodyBytes = proto::kCommandBytes - proto::kCommandHeaderBytes;
using Body = std::array<u8, kBodyBytes>;

struct Request {
  Verb verb{};
  proto::CommandOpcode opcode{};
  u32 object = 0;                      // handle, or number of a port
  std::array<u32, kMaxNames> names{};  // handles that the object uses, in the order of its row
  u64 cookie = 0;                      // for a created object: returned with its events
  // for a CQ whose CQEs get times: offset in the shared memory of a CqeTime for each
  u64 stamps = 0;
  Body body{};  // the structure of the command
};
struct Reply {
  s32 error = 0;  // an errno value; 0: done
  u32 handle = 0, number = 0;
  Body body{};
};
// The reply with an errno value; 0: done.
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

// When a CQE was written to host memory, in ns.
struct CqeTime {
  u64 simulated = 0, of_day = 0;
};
struct ClockTime {
  u64 nanoseconds = 0;  // simulated
};

// The progress of a run's programs: counts of their steps.
struct RunSteps {
  // files read, lists and clocks requested, devices opened
  u32 files = 0, lists = 0, clocks = 0, devices = 0;
  u32 lost = 0;                   // turns of threads without which the simulation continued
  std::array<char, 256> first{};  // the first such thread, and its place in the code
};

// OpenDevice comes with a descriptor of the program's /proc/self/mem.
struct OpenDevice {
  u32 version = kProtocolVersion;
  u32 run = 0;      // number of the run
  u32 program = 0;  // its number, if it runs in simulated time
  std::array<char, kNameBytes> name{};
};
// Returned descriptors.
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
// The user page of the HCA cannot be the program's own memory, because a store there must reach the
// HCA. So the library posts writes to it in this queue, and the server writes them to the HCA's
// BAR.
struct PostedWrite {
  u32 offset;  // in the user page: a proto::BarOffset
  u32 reserved;
  u64 at;  // ps: the time of the thread, for a program in simulated time
  std::array<u8, 8> data;
};
inline constexpr u32 kPostedWrites = 1024;

// An entry of the list `fail`, as library and server count it.
struct SharedFailure {
  std::atomic<u32> verb;  // a FailVerb plus 1; 0: unused
  s32 error;              // for a call; 0: the server changes completions
  u64 nth, times;
  std::atomic<u64> seen, done;
};
static_assert(std::atomic<u64>::is_always_lock_free);

struct SharedControl {
  alignas(64) std::atomic<u32> server_sleeps;  // it must be woken by kWakeServer
  alignas(64) std::atomic<u32> posted;         // by the program
  alignas(64) std::atomic<u32> taken;          // by the server
  // Changes whenever the program has unmapped memory; 0: unmappings are not reported.
  alignas(64) std::atomic<u32> unmapped;
  alignas(64) std::array<PostedWrite, kPostedWrites> writes;
  alignas(64) std::atomic<u32> failures;  // number of entries in use below
  std::array<SharedFailure, kMostFails> failing;
  // For a program in real time: a number that changes after each write by the HCA, and the number
  // of threads that sleep until then.
  alignas(64) std::atomic<u32> completions;
  std::atomic<u32> sleepers;
};
static_assert(std::atomic<u32>::is_always_lock_free);

// The library lays out its rings after the control block.
inline constexpr u64 kRingsOffset = 1 << 16;
static_assert(sizeof(SharedControl) <= kRingsOffset);

// ---- Addresses
// An HCA reaches a program's memory, and the shared memory, at bus addresses beyond the host's own
// memory: the attachment number is in the upper bits.
inline constexpr unsigned kAttachmentShift = 48;
inline constexpr u64 kSharedBit = u64{1} << 47;  // addresses of programs are below
constexpr u64 bus_address(u32 attachment, u64 address) {
  return (u64{attachment} << kAttachmentShift) | address;
}

// The body of a message as a plain structure.
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
