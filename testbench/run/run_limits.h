// SPDX-License-Identifier: Apache-2.0
// What limits a part of a run, from the shares of the time in which its parts are in use or are
// waited for.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
inline constexpr double kShareToName = 0.8;    // what is in use or waited for less limits nothing
inline constexpr double kShareOfAll = 0.95;    // of something that moves: it has no time left
inline constexpr double kShareOfLosses = 0.5;  // most of what is sent is sent for nothing
inline constexpr double kShareBeside = 0.1;    // what is as near to the first is named as well

// Kinds of what may limit. What moves items one after the other (`inside` 0) is busy; when it has
// no time left, all that is in front of it fills up. Of what holds items until something comes
// back, the one that is furthest inside limits: those around it fill up as well. One that is in use
// but not always waited for is just enough, and leaves a part to the next one around it. Where most
// is sent again, or a work request was sent again too often, losses are the reason for all of it.
struct LimitKind {
  std::string_view kind;
  u8 inside;
  std::string_view said;  // of its share
  double explains = 2;    // a share from which on it is the reason for all that is busy
};
inline constexpr std::array kLimitKinds{
    LimitKind{"load", 0, "of the offered rate achieved"},  // by open loops
    LimitKind{"link", 0, "busy"},
    LimitKind{"PCIe", 0, "busy"},
    LimitKind{"memory", 0, "busy"},
    LimitKind{"walkers", 0, "busy"},
    LimitKind{"cores", 0, "busy"},
    LimitKind{"registers", 0, "busy"},  // cores wait for them, but not by working
    LimitKind{"core", 0, "busy"},
    LimitKind{"engine", 0, "busy"},
    LimitKind{"interval", 0, "busy"},
    LimitKind{"depth", 1, "of the time waited for"},     // messages that a program has in flight
    LimitKind{"turns", 2, "of the time waited for"},     // of a queue pair
    LimitKind{"slots", 3, "of the time waited for"},     // turns of all
    LimitKind{"messages", 4, "of the time waited for"},  // READs in flight, credits, window
    LimitKind{"buffers", 5, "of the time waited for"},   // packets, responses, CQEs
    LimitKind{"flow control", 6, "of the time waited for"},  // of the link
    LimitKind{"lock", 7, "of the time waited for"},          // ATOMICs
    LimitKind{"ATOMICs", 7, "busy"},
    LimitKind{"time", 7, "of the time waited for"},  // RNR timers, rate limits
    LimitKind{"WQEs", 7, "of the time waited for"},  // of receive queues, that are read
    LimitKind{"misses", 8, "busy"},
    LimitKind{"tags", 9, "busy"},
    LimitKind{"credits", 10, "busy"},  // of PCIe
    LimitKind{"losses", 11, "of the packets are sent again", kShareOfLosses},
    LimitKind{"retries", 12, "used up", 1},  // and a work request failed
};
const LimitKind& limit_kind(std::string_view kind);

// A part of the device or its host, and the share of the time: in use, or waited for.
struct Use {
  std::string name, kind;
  double share = 0;
  std::string knob{};  // that changes it
  double waited = 1;   // of what is in use: share of the time in which something waits for it
};
// Those that limit: none, one, or two that are as near; the first is the nearest. Open loops whose
// plan is kept are limited by it, whatever is near as well.
std::vector<Use> limits_of(const std::vector<Use>& uses);
// "hca0 link transmit: 98 % busy (port.link_rate)".
std::string text_of(const Use& use);
// The same for shares of several parts of a run: "98 to 100 % busy".
std::string text_of(const Use& use, double least, double most);

// Whose cycles are counted: a share is that of one of them.
enum class WaitOf : u8 { Block, QueuePairs, PeersQueuePairs };
// Of the waits that blocks count: those that may limit a run.
struct WaitRow {
  std::string_view block, cause;  // as the counter, link or budget has it, its beginning
  std::string_view name, kind, knob;
  WaitOf of = WaitOf::Block;
};
inline constexpr std::array kWaitRows{
    WaitRow{"qp_scheduler", "waits_turns", "qp_scheduler turns", "turns", "qp_scheduler.turns",
            WaitOf::QueuePairs},
    WaitRow{"qp_scheduler", "turn buffers", "qp_scheduler slots", "slots", "qp_scheduler.slots"},
    WaitRow{"requester", "waits_reads", "max_rd_atomic", "messages", "connection.max_rd_atomic",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_credits", "message credits", "messages", "workload[].receive_depth",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_window", "PSN window", "messages", "", WaitOf::QueuePairs},
    WaitRow{"requester", "waits_rnr", "RNR timers", "time", "connection.min_rnr_timer",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_timeout", "transport timers", "time", "connection.timeout",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_rate", "rate limit", "time", "connection.rate_limit",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_fence", "fences", "messages", "workload[].fence",
            WaitOf::QueuePairs},
    WaitRow{"requester", "packet buffers", "packetizer buffers", "buffers", "packetizer.buffers"},
    WaitRow{"requester", "lane ", "packetizer lane buffers", "buffers", "packetizer.lane_buffers"},
    WaitRow{"responder_check", "waits_context",
            "responder_check, one request of a queue pair at a time", "lock",
            "responder_check.context_forwarding"},
    WaitRow{"responder_execute", "response buffers", "responder_execute responses", "buffers",
            "responder_execute.responses"},
    WaitRow{"responder_execute", "lane ", "responder_execute lane responses", "buffers",
            "responder_execute.lane_responses"},
    WaitRow{"responder_execute", "waits_wqes", "receive WQE reads, one of a queue pair at a time",
            "WQEs", "responder_execute.batch", WaitOf::PeersQueuePairs},
    WaitRow{"responder_execute", "waits_shared_wqes",
            "SRQ WQE reads, one of a queue pair at a time", "WQEs",
            "workload[].qps, connection.srq", WaitOf::PeersQueuePairs},
    WaitRow{"responder_execute", "waits_places", "responder_execute outcomes", "buffers",
            "responder_execute.outcomes, parking"},
    WaitRow{"responder_execute", "waits_lock", "ATOMIC lock", "lock",
            "responder_execute.atomic_lock_bits"},
    WaitRow{"link_control", "waits_credits", "link credits", "flow control", "link_control.buffer"},
    WaitRow{"link_control", "waits_pause", "pause of the peer", "flow control",
            "link_control.xoff"},
    WaitRow{"completion", "CQE buffers", "completion buffers", "buffers", "completion.buffers"},
};
// nullptr: it is a consequence of something else.
const WaitRow* wait_row(std::string_view block, std::string_view cause);
}  // namespace hca::testbench
