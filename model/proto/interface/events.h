// SPDX-License-Identifier: Apache-2.0
// Events: the list, their event queues, and their format in an event queue (T15, T17).
#pragma once
#include <algorithm>
#include <array>
#include <optional>

#include "model/proto/interface/device.h"
#include "model/proto/interface/event_sources.h"

namespace hca::proto {
enum class EventType : u8 {
  Completion,
  QpFatal,
  QpReqErr,
  QpAccessErr,
  CqErr,
  CommEst,
  SqDrained,
  QpSuspended,
  DeviceFatal,
  QpLastWqeReached,
  SrqLimitReached,
  SrqErr,
  PortErr,
  PortActive,
  LidChange,
  GidChange,
  PkeyChange,
  SmChange,
  ClientReregister,
  PathMig,
  PathMigErr,
  EecFatal,
  EecCommEst
};
enum class EventObject : u8 { Qp, Cq, Srq, Port, Device, Eec };
// T16: an event of no queue pair, CQ, SRQ or EE context.
constexpr bool is_unaffiliated(EventObject object) {
  return object == EventObject::Port || object == EventObject::Device;
}

// The queue of all asynchronous events. Completion events go to the EQ that their CQ names.
inline constexpr u32 kAsyncEq = 0;

// The state of a queue pair as the driver's entries have it (AEQ-10).
enum class DriverState : u8 { None, Idle, Rts, Sqd, Rtr, Terminate, Error };

// An asynchronous event, with its code and source in the entry of T17. A code of this device's own
// has source 0, which names no object: a driver that does not know the code would end the queue
// pair that the entry names (AEQ-12).
struct EventRow {
  EventType type;
  EventObject object;
  u16 code;
  u8 source;
  std::string_view name;  // without IBV_EVENT_
  std::string_view statement, meaning;
  DriverState state = DriverState::None;  // in which it finds or leaves its queue pair
};
inline constexpr std::array kAsyncEvents{
    // clang-format off
    EventRow{EventType::QpFatal,     EventObject::Qp, 0x700, 0x1, "QP_FATAL",      "T15-QP_FATAL",      "a completion is impossible, a receive WQE is broken, or a WQE is unreadable; send queue: source 0x5; data of a READ are unreadable: source 0xd", DriverState::Error},
    EventRow{EventType::QpReqErr,    EventObject::Qp, 0x208, 0x9, "QP_REQ_ERR",    "T15-QP_REQ_ERR",    "an invalid request without a receive WQE", DriverState::Error},
    EventRow{EventType::QpAccessErr, EventObject::Qp, 0x20d, 0x9, "QP_ACCESS_ERR", "T15-QP_ACCESS_ERR", "an R_Key violation without a receive WQE", DriverState::Error},
    EventRow{EventType::CqErr,       EventObject::Cq, 0x203, 0x2, "CQ_ERR",        "T15-CQ_ERR",        "the CQ overflowed and accepts no more CQEs"},
    EventRow{EventType::CommEst,     EventObject::Qp, 0xf01, 0x0, "COMM_EST",      "T15-COMM_EST",      "the first packet arrived in RTR; the code is this device's own", DriverState::Rtr},
    EventRow{EventType::SqDrained,   EventObject::Qp, 0xf0c, 0x0, "SQ_DRAINED",    "T15-SQ_DRAINED",    "SQD: all messages begun are completed; own code", DriverState::Sqd},
    EventRow{EventType::QpLastWqeReached, EventObject::Qp, 0xf02, 0x0, "QP_LAST_WQE_REACHED", "T15-QP_LAST_WQE_REACHED", "a queue pair with an SRQ is in Error and has completed all its WQEs; own code", DriverState::Error},
    EventRow{EventType::SrqLimitReached, EventObject::Srq, 0xf03, 0x0, "SRQ_LIMIT_REACHED", "T15-SRQ_LIMIT_REACHED", "fewer WQEs are left than the limit; own code"},
    EventRow{EventType::SrqErr,      EventObject::Srq, 0xf04, 0x0, "SRQ_ERR",       "T15-SRQ_ERR",       "the WQEs of the SRQ cannot be read; own code"},
    EventRow{EventType::QpSuspended, EventObject::Qp, 0x900, 0x5, "QP_SUSPENDED",   "AEQ-22",            "SQD: all messages begun are completed, and ModifyQp asked for this event instead of SQ_DRAINED; libibverbs has no such event", DriverState::Sqd},
    EventRow{EventType::DeviceFatal, EventObject::Device, 0x701, 0x0, "DEVICE_FATAL", "T15-DEVICE_FATAL", "a completion event queue, or the message of a vector, cannot be written: the device has failed"},
    EventRow{EventType::PortErr,     EventObject::Port, 0xf05, 0x0, "PORT_ERR",      "T15-PORT_ACTIVE",   "the port went Down; own code, like the next ones"},
    EventRow{EventType::PortActive,  EventObject::Port, 0xf06, 0x0, "PORT_ACTIVE",   "T15-PORT_ACTIVE",   "the port is Active again"},
    EventRow{EventType::LidChange,   EventObject::Port, 0xf07, 0x0, "LID_CHANGE",    "T15-PORT_ACTIVE",   "its LID changed"},
    EventRow{EventType::GidChange,   EventObject::Port, 0xf08, 0x0, "GID_CHANGE",    "T15-PORT_ACTIVE",   "an entry of its GID table changed"},
    EventRow{EventType::PkeyChange,  EventObject::Port, 0xf09, 0x0, "PKEY_CHANGE",   "T15-PORT_ACTIVE",   "an entry of its P_Key table changed"},
    EventRow{EventType::SmChange,    EventObject::Port, 0xf0a, 0x0, "SM_CHANGE",     "T15-PORT_ACTIVE",   "SmLID changed"},
    EventRow{EventType::ClientReregister, EventObject::Port, 0xf0b, 0x0, "CLIENT_REREGISTER", "T15-PORT_ACTIVE", "SetPort with Reregister"},
    EventRow{EventType::PathMig,     EventObject::Qp, 0xf0d, 0x0, "PATH_MIG",      "T15-PATH_MIG",      "the queue pair migrated to its alternate path; own code"},
    EventRow{EventType::PathMigErr,  EventObject::Qp, 0xf0e, 0x0, "PATH_MIG_ERR",  "T15-PATH_MIG_ERR",  "a migration request from another path than the alternate one; own code"},
    EventRow{EventType::EecFatal,    EventObject::Eec, 0xf10, 0x0, "EEC_FATAL",     "T15-EEC_FATAL",     "RD: an EE context went to Error, and no WQE reports it; own code"},
    EventRow{EventType::EecCommEst,  EventObject::Eec, 0xf11, 0x0, "EEC_COMM_EST",  "T15-EEC_FATAL",     "RD: the first packet arrived for an EE context in RTR; own code"},
    // clang-format on
};
inline constexpr auto kAsyncEventNames = [] {
  std::array<std::string_view, kAsyncEvents.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kAsyncEvents[i].name;
  return names;
}();
// Codes of T17 for errors that RoCE does not report in any entry.
struct UnusedEventCode {
  u16 code;
  std::string_view meaning, reason;
};
inline constexpr std::array kUnusedEventCodes{
    // clang-format off
    UnusedEventCode{0x207, "READ request queue full",  "reported as an invalid request: 0x208 (T10-4)"},
    UnusedEventCode{0x20e, "remote operational error", "reported by the CQE of the receive WQE, or as 0x700 (T11)"},
    UnusedEventCode{0x316, "response length error",    "class B: reported by the CQE of the work request (T9-16)"},
    UnusedEventCode{0x50a, "too many retries",         "class B: reported by the CQE of the work request (T9-4)"},
    UnusedEventCode{0x50f, "too many RNR NAKs",        "class B: reported by the CQE of the work request (G8.2)"},
    UnusedEventCode{0x702, "CQ catastrophic",          "a failed CQ is reported only as 0x203"},
    // clang-format on
};
constexpr const EventRow* async_event(EventType type) {
  for (const EventRow& row : kAsyncEvents)
    if (row.type == type) return &row;
  return nullptr;
}
constexpr const EventRow* async_event_of_code(u16 code) {
  for (const EventRow& row : kAsyncEvents)
    if (row.code == code) return &row;
  return nullptr;
}
static_assert([] {
  for (const EventRow& row : kAsyncEvents)
    if (async_event(row.type) != &row || async_event_of_code(row.code) != &row) return false;
  for (const UnusedEventCode& row : kUnusedEventCodes)
    if (async_event_of_code(row.code)) return false;
  return true;
}());

inline constexpr u32 kEqeBytes = 16;

// A completion event.
struct Eqe {
  u32 cqn;
  bool phase;
};
template <>
struct Layout<Eqe> {
  static constexpr std::string_view name = "completion EQE";
  static constexpr auto fields =
      make_rows(unused(8), field(&Eqe::cqn, "CQN", 24, "completion queue"), unused(64), unused(31),
                field(&Eqe::phase, "Phase", 1, "as in a CQE"));
};
static_assert(bytes_of<Eqe>() == kEqeBytes);

// An asynchronous event: two 64-bit little-endian words (T17), here each from its bit 63 on.
struct Aeqe {
  u64 context;
  bool valid;
  u8 q2_data;
  u8 tcp_state;
  DriverState state;
  u8 source;
  u8 object_high;  // bits 21:19 of the object's number; used only by this device
  bool object_18;
  u16 code;
  bool overflow;
  u16 wqe_index;
  u32 object_low;

  constexpr void set_object(u32 number) {
    object_low = number & 0x3ffff;
    object_18 = number >> 18 & 1;
    object_high = u8(number >> 19 & 7);
  }
  constexpr u32 object() const {
    return object_low | u32{object_18} << 18 | u32{object_high} << 19;
  }
};
inline constexpr unsigned kAeqeObjectBits = 22;
template <>
struct Layout<Aeqe> {
  static constexpr std::string_view name = "asynchronous EQE";
  static constexpr auto fields = make_rows(
      field(&Aeqe::context, "Context", 64, "of the QP; for a CQ, shifted right by one"),
      field(&Aeqe::valid, "Valid", 1, "the phase, as in a CQE"),
      field(&Aeqe::q2_data, "Q2Data", 2, "always 0: a RoCE queue pair has none"),
      field(&Aeqe::tcp_state, "TcpState", 4, "always 0: there is no TCP connection"),
      field(&Aeqe::state, "IwarpState", 3,
            "with the option `driver_events`, the state of the QP: 1 Init, 2 RTS, 3 SQD, 4 "
            "RTR, 6 Error; otherwise 0"),
      field(&Aeqe::source, "Source", 4, "see below"),
      field(&Aeqe::object_high, "Object21_19", 3, "bits of the number of QP, CQ or SRQ"),
      field(&Aeqe::object_18, "Object18", 1, "the same"),
      field(&Aeqe::code, "Code", 12, "see below"),
      field(&Aeqe::overflow, "Overflow", 1, "earlier events were lost: the EQ was full"),
      field(&Aeqe::wqe_index, "WqeIndex", 15,
            "QP_FATAL: low bits of the failed WQE's index, if there is one; otherwise 0"),
      field(&Aeqe::object_low, "Object17_0", 18, "bits of the number of QP or CQ"));
};
static_assert(bytes_of<Aeqe>() == kEqeBytes);

inline void swap_words(u8* aeqe) {
  std::reverse(aeqe, aeqe + 8);
  std::reverse(aeqe + 8, aeqe + 16);
}
inline void encode_aeqe(const Aeqe& aeqe, u8* out) {
  encode(aeqe, out);
  swap_words(out);
}
inline Aeqe decode_aeqe(const u8* in) {
  std::array<u8, kEqeBytes> bytes;
  std::copy_n(in, kEqeBytes, bytes.begin());
  swap_words(bytes.data());
  return decode<Aeqe>(bytes.data());
}

// The part of the queue pair whose completion is not possible; Nothing: that of QP_FATAL itself.
constexpr EventPart part_of(CqeOpcode opcode) {
  return is_of_receive(opcode) ? EventPart::Nothing : EventPart::SendQueue;
}

// T15: an event to raise.
struct Event {
  EventType type{};
  u32 object = 0;
  EventPart part{};   // QP_FATAL: the part of its queue pair that failed, if not that of its row
  u16 wqe_index = 0;  // QP_FATAL: the failed WQE, if there is one (AEQ-12)
};
// `context`: the object's own; `has_state`: the entry has the state of its queue pair.
inline void encode_event(const Event& event, u64 context, bool phase, bool overflow, bool has_state,
                         u8* out) {
  const EventRow* row = async_event(event.type);
  if (!row) return encode(Eqe{event.object, phase}, out);
  Aeqe aeqe{};
  const bool shifted = row->object == EventObject::Cq;
  aeqe.context = context >> shifted;
  aeqe.valid = phase;
  aeqe.overflow = overflow;
  aeqe.source = event.part == EventPart::Nothing ? row->source : source_of(event.part);
  aeqe.code = row->code;
  if (has_state) aeqe.state = row->state;
  aeqe.wqe_index = event.wqe_index & 0x7fff;
  aeqe.set_object(event.object);
  encode_aeqe(aeqe, out);
}
// The phase of the EQE at `in` of event queue `eqn`.
constexpr bool phase_of_eqe(u32 eqn, const u8* in) {
  return in[15] >> (eqn == kAsyncEq ? 7 : 0) & 1;
}
}  // namespace hca::proto
