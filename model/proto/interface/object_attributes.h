// SPDX-License-Identifier: Apache-2.0
// The attributes in commands on the device, memory regions, queues and interrupt vectors.
#pragma once
#include <array>

#include "model/proto/interface/capabilities.h"
#include "model/proto/interface/events.h"
#include "model/proto/interface/rights.h"

namespace hca::proto {
inline constexpr u8 kMaxLogQueueEntries = 22;
inline constexpr u8 kWindowTypes = 7;  // bit 0 type 1, bit 1 2A, bit 2 2B

struct DeviceAttributes : Capabilities {  // QueryDevice
  u8 ports, gid_entries, pkey_entries;
  u32 max_qps, max_cqs, max_eqs, max_regions, max_pds, max_vectors, max_srqs;
  u8 max_log_queue_entries, max_log_work_entries, max_rd_atomic;
  bool credits;
  bool needs_context_memory = false;
  u8 window_types = kWindowTypes;
};
template <>
struct Layout<DeviceAttributes> {
  static constexpr std::string_view name = "device attributes";
  static constexpr auto front = make_rows(
      field(&DeviceAttributes::ports, "Ports", 8, "numbered from 1 on"),
      field(&DeviceAttributes::gid_entries, "GidEntries", 8, "of each port"),
      field(&DeviceAttributes::pkey_entries, "PkeyEntries", 8, "of each port"),
      field(&DeviceAttributes::credits, "Credits", 1, "AETHs advertise the free receive WQEs"),
      field(&DeviceAttributes::needs_context_memory, "NeedsContextMemory", 1,
            "not all contexts are held on chip"));
  static constexpr auto back = make_rows(
      unused(6 - kCapabilities.size()),
      field(&DeviceAttributes::max_qps, "MaxQps", 32, "QP numbers are below this"),
      field(&DeviceAttributes::max_cqs, "MaxCqs", 32, "CQ numbers"),
      field(&DeviceAttributes::max_eqs, "MaxEqs", 32, "EQ numbers"),
      field(&DeviceAttributes::max_regions, "MaxRegions", 32, "key indices"),
      field(&DeviceAttributes::max_pds, "MaxPds", 32, "PD numbers"),
      field(&DeviceAttributes::max_vectors, "MaxVectors", 32, "interrupt vectors"),
      field(&DeviceAttributes::max_log_queue_entries, "MaxLogEntries", 8, "of a CQ or EQ"),
      field(&DeviceAttributes::max_log_work_entries, "MaxLogWqes", 8, "of a work queue"),
      field(&DeviceAttributes::max_rd_atomic, "MaxRdAtomic", 8, "READs and ATOMICs of a QP"),
      field(&DeviceAttributes::window_types, "WindowTypes", 8, "1 type 1, 2 type 2A, 4 type 2B"),
      field(&DeviceAttributes::max_srqs, "MaxSrqs", 32, "SRQ numbers"));
  static constexpr auto fields =
      join_rows(join_rows(front, capability_fields<DeviceAttributes>(&CapabilityRow::name)), back);
};

struct ContextMemoryAttributes {  // SetContextMemory
  u64 address;
};
template <>
struct Layout<ContextMemoryAttributes> {
  static constexpr std::string_view name = "context memory";
  static constexpr auto fields = make_rows(
      field(&ContextMemoryAttributes::address, "Address", 64,
            "address of the tables of contexts, used only by the device; a multiple of 256"));
};

enum CqMask : u8 { kCqRing = 1, kCqModeration = 2 };

struct QueueAttributes {  // CreateCq, ModifyCq, CreateEq, QueryCq, QueryEq
  u64 address = 0;
  u8 log_entries = 0;
  u32 eqn = 0;  // for a CQ: the queue of its events; 0: none
  u16 vector = 0;
  u64 context = 0;
  u8 mask = 0;           // ModifyCq
  u16 event_count = 0;   // for a CQ: moderation
  u16 event_period = 0;  // us
  // Read only: added by a query.
  Arm armed = Arm::None;
  bool overflowed = false;
  u32 producer = 0, consumer = 0, uses = 0;
};
template <>
struct Layout<QueueAttributes> {
  static constexpr std::string_view name = "queue attributes";
  static constexpr auto fields = make_rows(
      field(&QueueAttributes::address, "Address", 64, "of the ring in host memory"),
      field(&QueueAttributes::log_entries, "LogEntries", 8,
            "entries as a power of two, at most 22"),
      field(&QueueAttributes::eqn, "EQN", 24, "for a CQ: event queue of its events, 0 none"),
      field(&QueueAttributes::vector, "Vector", 16, "for an EQ: its interrupt vector"),
      field(&QueueAttributes::mask, "Mask", 8,
            "ModifyCq: 1 Address and LogEntries, 2 EventCount and EventPeriod"),
      unused(5), field(&QueueAttributes::overflowed, "Overflowed", 1, "queried: entries were lost"),
      field(&QueueAttributes::armed, "Armed", 2, "queried: as in the CQ doorbell"),
      field(&QueueAttributes::context, "Context", 64,
            "chosen by the host, returned in asynchronous EQEs; even for a CQ"),
      field(&QueueAttributes::producer, "ProducerIndex", 32, "queried: entries written"),
      field(&QueueAttributes::consumer, "ConsumerIndex", 32, "queried: of the last doorbell"),
      field(&QueueAttributes::uses, "Uses", 32,
            "queried: work queues that use a CQ, CQs that use an EQ"),
      field(&QueueAttributes::event_count, "EventCount", 16,
            "for a CQ: number of CQEs that raises its event, at most its entries; 0: no moderation "
            "by number"),
      field(&QueueAttributes::event_period, "EventPeriod", 16,
            "for a CQ: microseconds after which its event is raised with fewer; 0: no moderation "
            "by time"));
};

// The object that a key names, and whether the key may be used (G22.1). Invalid: nothing is
// allocated at this index.
enum class KeyKind : u8 { Region, Window1, Window2A, Window2B };
enum class KeyState : u8 { Invalid, Free, Valid };

inline constexpr u8 kMinLogPage = 12, kMaxLogPage = 30;
// Per page list. Registration copies the list; without a bound one command could ask for 2^52
// addresses, and memory that nobody wrote reads as zeros, which are good addresses.
inline constexpr u32 kMaxPages = 1 << 20;

struct MrAttributes {  // RegisterMr, ReregisterMr, AllocMr, QueryMr
  u64 start;           // virtual address
  u64 bytes;
  u64 physical;  // address of the region's first byte, or of its page list
  u32 pd;
  u32 key;
  Rights access;
  u8 log_page = 0;      // 0: contiguous
  bool valid = false;   // read only
  u32 windows = 0;      // read only
  bool shared = false;  // read only
};
template <>
struct Layout<MrAttributes> {
  static constexpr std::string_view name = "MR attributes";
  static constexpr auto fields = make_rows(
      field(&MrAttributes::start, "Start", 64, "virtual address of the first byte"),
      field(&MrAttributes::bytes, "Length", 64, "of the region"),
      field(&MrAttributes::physical, "Physical", 64,
            "address of its first byte, or of its page list"),
      unused(8), field(&MrAttributes::pd, "PD", 24, "protection domain"),
      field(&MrAttributes::key, "Key", 32, "L_Key and R_Key: index (24 bits) and key byte"),
      field(&MrAttributes::access, "Access", 16, "rights, by the table above"),
      field(&MrAttributes::log_page, "LogPage", 8,
            "0: contiguous; 12 to 30: page size as a power of two, and Physical names a list of 64 "
            "bit page addresses, at most 1048576; Start is a multiple of 8"),
      unused(6),
      field(&MrAttributes::shared, "Shared", 1, "queried: other regions have the same memory"),
      field(&MrAttributes::valid, "Valid", 1, "queried: 0 if the key may not be used (Free)"),
      field(&MrAttributes::windows, "Windows", 32, "queried: windows bound to it"));
};

struct MwAttributes {  // AllocMw, BindMw, QueryMw
  u64 start = 0, bytes = 0;
  u32 region_key = 0;
  u32 pd = 0, key = 0, qpn = 0;
  Rights access = 0;
  KeyKind type{};
  KeyState state{};  // read only
};
template <>
struct Layout<MwAttributes> {
  static constexpr std::string_view name = "MW attributes";
  static constexpr auto fields = make_rows(
      field(&MwAttributes::start, "Start", 64, "virtual address of the first byte"),
      field(&MwAttributes::bytes, "Length", 64, "of the window; BindMw: 0 unbinds it"),
      field(&MwAttributes::region_key, "RegionKey", 32, "key of the region that it is bound to"),
      field(&MwAttributes::key, "Key", 32, "R_Key; BindMw returns the new one"), unused(8),
      field(&MwAttributes::pd, "PD", 24, "protection domain"), unused(8),
      field(&MwAttributes::qpn, "QPN", 24, "queried: queue pair of a bound window of type 2"),
      field(&MwAttributes::access, "Access", 16, "rights, by the table above"),
      field(&MwAttributes::type, "Type", 8, "1 type 1, 2 type 2A, 3 type 2B"),
      field(&MwAttributes::state, "KeyState", 8, "queried: 1 Free, 2 Valid"), unused(32));
};

struct PdAttributes {  // QueryPd
  u32 uses;
};
template <>
struct Layout<PdAttributes> {
  static constexpr std::string_view name = "PD attributes";
  static constexpr auto fields = make_rows(
      field(&PdAttributes::uses, "Uses", 32, "MRs, MWs and QPs that belong to it"), unused(32));
};

// SetVector, QueryVector: an entry of the MSI-X table.
struct VectorAttributes {
  u64 address;  // address of its message
  u32 data;     // the message
  bool masked;
  bool pending = false;  // read only
};
template <>
struct Layout<VectorAttributes> {
  static constexpr std::string_view name = "interrupt vector";
  static constexpr auto fields = make_rows(
      field(&VectorAttributes::address, "Address", 64, "address of its message"),
      field(&VectorAttributes::data, "Data", 32, "the message: 4 bytes, low byte first"),
      unused(30),
      field(&VectorAttributes::pending, "Pending", 1, "queried: a message waits for the unmasking"),
      field(&VectorAttributes::masked, "Masked", 1, "messages are not sent but become pending"));
};
inline constexpr u32 kMessageBytes = 4;

struct MulticastAttributes {  // AttachMulticast, DetachMulticast
  u16 lid;
  u64 gid_high, gid_low;
};
template <>
struct Layout<MulticastAttributes> {
  using M = MulticastAttributes;
  static constexpr std::string_view name = "multicast attributes";
  static constexpr auto fields = make_rows(
      field(&M::lid, "LID", 16, "native InfiniBand: DLID of the group's packets"), unused(48),
      field(&M::gid_high, "GIDHigh", 64, "of the group: ff00::/8, or ::ffff:224.0.0.0/100"),
      field(&M::gid_low, "GIDLow", 64, ""));
};
}  // namespace hca::proto
