// SPDX-License-Identifier: Apache-2.0
// The states of a connection and the effect of each event (12.9.5 to 12.9.8, 12.11.2), as one
// table. A pair without a row is not answered and changes nothing.
#pragma once
#include <array>
#include <optional>

#include "model/proto/types.h"

namespace hca::cm {
// "Mra" states: the peer, or this side, has announced that its answer takes longer.
enum class State : u8 {
  Idle,
  ReqSent,
  ReqMraReceived,
  RepReceived,
  RepMraSent,
  ReqReceived,
  ReqMraSent,
  RepSent,
  RepMraReceived,
  Established,
  DreqSent,
  DreqReceived,
  TimeWait,
  Refused,  // by this side: a repeated REQ is refused again
  SidrReqSent,
  SidrReqReceived,
  SidrAnswered,
  Ended
};
enum class Event : u8 {
  // by the program. Its message is sent; Resolve: a SIDR_REQ; Confirm: a REP is taken; Notify: data
  // have arrived
  Connect,
  Resolve,
  Accept,
  Refuse,
  Confirm,
  Notify,
  Disconnect,
  Leave,  // the program drops the connection
  // a message arrives
  Req,
  Mra,
  Rej,
  Rep,
  Rtu,
  Dreq,
  Drep,
  SidrReq,
  SidrRep,
  // by time: no answer; no answer after enough repetitions
  Timeout,
  Exhausted
};
// Given: the message from the program; Again: the last message; in a service ID resolution a REJ is
// sent as a SIDR_REP.
enum class Send : u8 { Nothing, Given, Again, Mra, Rtu, Dreq, Drep, RejTimeout, RejConsumer };
// The event that the program gets.
enum class Tell : u8 {
  Nothing,
  Request,
  Response,
  Established,
  Refused,
  Disconnected,
  Unreachable,
  Answered,  // service ID resolution is answered
  TimeWaitExit
};

using States = u32;
template <class... State>
constexpr States in(State... state) {
  return ((States{1} << unsigned(state)) | ...);
}
constexpr bool is_in(State state, States states) { return (states >> unsigned(state) & 1) != 0; }
struct Row {
  States states;
  Event event;
  std::optional<State> next;  // empty: unchanged
  Send send = Send::Nothing;
  Tell tell = Tell::Nothing;
};
inline constexpr std::nullopt_t kSame = std::nullopt;

// clang-format off
using enum State;
inline constexpr std::array kRows{
    // ---- the active side
    Row{in(Idle),                        Event::Connect,    ReqSent,         Send::Given},
    Row{in(ReqSent, ReqMraReceived),     Event::Timeout,    kSame,           Send::Again},
    Row{in(ReqSent, ReqMraReceived),     Event::Exhausted,  Ended,           Send::RejTimeout,  Tell::Unreachable},
    Row{in(ReqSent),                     Event::Mra,        ReqMraReceived},
    Row{in(ReqSent, ReqMraReceived),     Event::Rep,        RepReceived,     Send::Nothing,     Tell::Response},
    Row{in(ReqSent, ReqMraReceived),     Event::Rej,        Ended,           Send::Nothing,     Tell::Refused},
    Row{in(ReqSent, ReqMraReceived),     Event::Leave,      Ended,           Send::RejTimeout},
    Row{in(RepReceived),                 Event::Rep,        RepMraSent,      Send::Mra},
    Row{in(RepMraSent),                  Event::Rep,        kSame,           Send::Again},
    Row{in(RepReceived, RepMraSent),     Event::Confirm,    Established,     Send::Rtu},
    Row{in(RepReceived, RepMraSent),     Event::Refuse,     Ended,           Send::Given},
    Row{in(RepReceived, RepMraSent),     Event::Leave,      Ended,           Send::RejConsumer},
    Row{in(RepReceived, RepMraSent),     Event::Rej,        Ended,           Send::Nothing,     Tell::Refused},
    Row{in(Established),                 Event::Rep,        kSame,           Send::Rtu},
    // ---- the passive side
    Row{in(Idle),                        Event::Req,        ReqReceived,     Send::Nothing,     Tell::Request},
    Row{in(ReqReceived),                 Event::Req,        ReqMraSent,      Send::Mra},
    Row{in(ReqMraSent, RepSent, RepMraReceived, Refused), Event::Req, kSame, Send::Again},
    Row{in(ReqReceived, ReqMraSent),     Event::Accept,     RepSent,         Send::Given},
    Row{in(ReqReceived, ReqMraSent),     Event::Refuse,     Refused,         Send::Given},
    Row{in(ReqReceived, ReqMraSent),     Event::Leave,      Refused,         Send::RejConsumer},
    Row{in(ReqReceived, ReqMraSent),     Event::Rej,        Ended,           Send::Nothing,     Tell::Refused},
    Row{in(RepSent, RepMraReceived),     Event::Timeout,    kSame,           Send::Again},
    Row{in(RepSent, RepMraReceived),     Event::Exhausted,  TimeWait,        Send::RejTimeout,  Tell::Unreachable},
    Row{in(RepSent),                     Event::Mra,        RepMraReceived},
    Row{in(RepSent, RepMraReceived),     Event::Rtu,        Established,     Send::Nothing,     Tell::Established},
    Row{in(RepSent, RepMraReceived),     Event::Notify,     Established,     Send::Nothing,     Tell::Established},
    Row{in(RepSent, RepMraReceived),     Event::Rej,        TimeWait,        Send::Nothing,     Tell::Refused},
    Row{in(RepSent, RepMraReceived),     Event::Leave,      TimeWait,        Send::RejConsumer},
    Row{in(RepSent, RepMraReceived),     Event::Dreq,       DreqReceived,    Send::Nothing,     Tell::Disconnected},
    // ---- the end
    Row{in(Established, RepSent, RepMraReceived), Event::Disconnect, DreqSent, Send::Dreq},
    Row{in(Established),                 Event::Leave,      DreqSent,        Send::Dreq},
    Row{in(Established),                 Event::Dreq,       DreqReceived,    Send::Nothing,     Tell::Disconnected},
    Row{in(Established),                 Event::Rej,        TimeWait,        Send::Nothing,     Tell::Disconnected},
    Row{in(DreqSent),                    Event::Timeout,    kSame,           Send::Again},
    Row{in(DreqSent),                    Event::Exhausted,  TimeWait,        Send::Nothing,     Tell::Disconnected},
    Row{in(DreqSent),                    Event::Drep,       TimeWait,        Send::Nothing,     Tell::Disconnected},
    Row{in(DreqSent),                    Event::Dreq,       TimeWait,        Send::Drep,        Tell::Disconnected},
    Row{in(DreqReceived),                Event::Disconnect, TimeWait,        Send::Drep},
    Row{in(DreqReceived),                Event::Leave,      TimeWait,        Send::Drep},
    Row{in(TimeWait),                    Event::Dreq,       kSame,           Send::Drep},
    Row{in(TimeWait),                    Event::Exhausted,  Ended,           Send::Nothing,     Tell::TimeWaitExit},
    Row{in(Refused),                     Event::Exhausted,  Ended},
    // ---- service ID resolution
    Row{in(Idle),                        Event::Resolve,    SidrReqSent,     Send::Given},
    Row{in(SidrReqSent),                 Event::Timeout,    kSame,           Send::Again},
    Row{in(SidrReqSent),                 Event::Exhausted,  Ended,           Send::Nothing,     Tell::Unreachable},
    Row{in(SidrReqSent),                 Event::SidrRep,    Ended,           Send::Nothing,     Tell::Answered},
    Row{in(SidrReqSent),                 Event::Leave,      Ended},
    Row{in(Idle),                        Event::SidrReq,    SidrReqReceived, Send::Nothing,     Tell::Request},
    Row{in(SidrReqReceived),             Event::Accept,     SidrAnswered,    Send::Given},
    Row{in(SidrReqReceived),             Event::Refuse,     SidrAnswered,    Send::Given},
    Row{in(SidrReqReceived),             Event::Leave,      SidrAnswered,    Send::RejConsumer},
    Row{in(SidrAnswered),                Event::SidrReq,    kSame,           Send::Again},
    Row{in(SidrAnswered),                Event::Exhausted,  Ended},
};
// clang-format on
constexpr const Row* find_row(State state, Event event) {
  for (const Row& row : kRows)
    if (row.event == event && is_in(state, row.states)) return &row;
  return nullptr;
}

// The event for which a state waits, with a time limit.
enum class Wait : u8 { Nothing, Answer, LateAnswer, Quiet };
constexpr Wait wait_of(State state) {
  if (is_in(state, in(ReqSent, RepSent, DreqSent, SidrReqSent))) return Wait::Answer;
  if (is_in(state, in(ReqMraReceived, RepMraReceived))) return Wait::LateAnswer;
  return is_in(state, in(TimeWait, Refused, SidrAnswered)) ? Wait::Quiet : Wait::Nothing;
}
}  // namespace hca::cm
