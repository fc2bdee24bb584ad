// SPDX-License-Identifier: Apache-2.0
// Finds the resource that limits a part of a run, from the shares of time in which resources are in
// use or waited for.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
inline constexpr double kShareToName = 0.8;  // a resource below this share limits nothing
inline constexpr double kShareOfAll = 0.95;  // an active resource above this share has no time left
inline constexpr double kShareOfLosses = 0.5;  // most transmissions are repetitions
inline constexpr double kShareInside = 0.5;    // a wait within a full window that explains it
inline constexpr double kShareOfWindow = 0.2;  // a window that limits where nothing else does
inline constexpr double kShareBeside = 0.1;    // a resource this close to the first is named too

// Kinds of limiting resources. A resource that moves items one after the other (`inside` 0) is
// busy; when it has no time left, all queues before it fill up. Among resources that hold items
// until a reply, the innermost one limits: those around it fill up as well. A resource that is in
// use but not always waited for is just sufficient, and the next one around it limits the rest of
// the time. If most transmissions are repetitions, or a work request was repeated too often,
// losses are the cause of everything.
struct LimitKind {
  std::string_view kind;
  u8 inside;
  std::string_view said;  // describes its share
  double explains = 2;    // from this share on it explains all busy resources
};
inline constexpr std::array kLimitKinds{
    LimitKind{"load", 0, "of the offered rate achieved"},  // for open loops
    LimitKind{"link", 0, "busy"},
    LimitKind{"PCIe", 0, "busy"},
    LimitKind{"memory", 0, "busy"},
    LimitKind{"walkers", 0, "busy"},
    LimitKind{"cores", 0, "busy"},
    LimitKind{"registers", 0, "busy"},  // cores wait for them without working
    LimitKind{"core", 0, "busy"},
    LimitKind{"engine", 0, "busy"},
    LimitKind{"interval", 0, "busy"},
    LimitKind{"depth", 1, "of the time waited for"},     // messages that a program has in flight
    LimitKind{"turns", 2, "of the time waited for"},     // per queue pair
    LimitKind{"slots", 3, "of the time waited for"},     // turns of all queue pairs
    LimitKind{"messages", 4, "of the time waited for"},  // READs in flight, credits, window
    LimitKind{"buffers", 5, "of the time waited for"},   // packets, responses, CQEs
    LimitKind{"flow control", 6, "of the time waited for"},  // on the link
    LimitKind{"lock", 7, "of the time waited for"},          // ATOMICs
    LimitKind{"ATOMICs", 7, "busy"},
    LimitKind{"time", 7, "of the time waited for"},  // RNR timers, rate limits
    LimitKind{"WQEs", 7, "of the time waited for"},  // receive WQEs being read
    LimitKind{"misses", 8, "busy"},
    LimitKind{"tags", 9, "busy"},
    LimitKind{"credits", 10, "busy"},  // of PCIe
    LimitKind{"losses", 11, "of the packets are sent again", kShareOfLosses},
    LimitKind{"retries", 12, "used up", 1},  // a work request failed
};
const LimitKind& limit_kind(std::string_view kind);

// A part of the device or its host, and its share of time: in use, or waited for.
struct Use {
  std::string name, kind;
  double share = 0;
  std::string knob{};  // the knob that changes it
  double waited = 1;   // share of time in which something waits for it
};
// The limiting resources: none, one, or two that are equally near; the nearest first. An open loop
// that keeps its schedule is limited by it, whatever else is near.
std::vector<Use> limits_of(const std::vector<Use>& uses);
// "hca0 link transmit: 98 % busy (port.link_rate)".
std::string text_of(const Use& use);
// The same for shares of several parts of a run: "98 to 100 % busy".
std::string text_of(const Use& use, double least, double most);

// Whose cycles are counted; a share refers to one of them.
enum class WaitOf : u8 { Block, QueuePairs, PeersQueuePairs };
// The waits of blocks that may limit a run.
struct WaitRow {
  std::string_view block, cause;  // as named by the counter, link or budget; a prefix
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
    WaitRow{"requester", "waits_read_interval", "time after a READ of a queue pair", "time",
            "requester.read_interval", WaitOf::QueuePairs},
    WaitRow{"requester", "waits_rate", "rate limit", "time", "connection.rate_limit",
            WaitOf::QueuePairs},
    WaitRow{"requester", "waits_fence", "fences", "messages", "workload[].fence",
            WaitOf::QueuePairs},
    WaitRow{"requester", "packet buffers", "packetizer buffers", "buffers",
            "packetizer.buffers, buffer_bytes"},
    WaitRow{"requester", "lane ", "packetizer lane buffers", "buffers",
            "packetizer.lane_buffers, buffer_bytes"},
    WaitRow{"responder_check", "waits_context",
            "responder_check, one request of a queue pair at a time", "lock",
            "responder_check.context_forwarding"},
    WaitRow{"responder_execute", "response buffers", "responder_execute responses", "buffers",
            "responder_execute.responses, response_bytes"},
    WaitRow{"responder_execute", "lane ", "responder_execute lane responses", "buffers",
            "responder_execute.lane_responses, response_bytes"},
    WaitRow{"responder_execute", "waits_wqes", "receive WQE reads, one of a queue pair at a time",
            "WQEs", "responder_execute.batch", WaitOf::PeersQueuePairs},
    WaitRow{"responder_execute", "waits_shared_wqes",
            "SRQ WQE reads, one of a queue pair at a time", "WQEs",
            "responder_execute.shared_batches", WaitOf::PeersQueuePairs},
    WaitRow{"responder_execute", "waits_places", "responder_execute parking", "buffers",
            "responder_execute.parking"},
    WaitRow{"responder_execute", "waits_lock", "ATOMIC lock", "lock",
            "responder_execute.atomic_lock_bits"},
    WaitRow{"link_control", "waits_credits", "link credits", "flow control", "link_control.buffer"},
    WaitRow{"link_control", "waits_pause", "pause of the peer", "flow control",
            "link_control.buffer, xoff"},
    WaitRow{"writes", "MMIO credits", "MMIO credits", "buffers",
            "pcie.device_posted_headers, device_posted_data"},
    WaitRow{"completion", "CQE buffers", "completion buffers", "buffers", "completion.buffers"},
};
// The counters of waits that name no limit: the wait follows from another one, or a busy resource is
// named.
struct Consequence {
  std::string_view block, counter;
};
inline constexpr std::array kConsequences{
    Consequence{"command", "waits_drain"},
    Consequence{"command", "waits_migration"},
    Consequence{"port", "waits_link"},  // the link is a resource
    Consequence{"qp_scheduler", "waits_pushes"},
    Consequence{"responder_execute", "waits_atomics"},
    Consequence{"responder_execute", "waits_engine"},
    Consequence{"responder_execute", "waits_read_interval"},
    Consequence{"dma", "waits_to_read"},
    Consequence{"dma", "waits_to_write"},
    Consequence{"dma", "waits_locked"},
    Consequence{"_cache", "waited"},
    Consequence{"host", "waits_register"},
    Consequence{"host", "waits_combining"},
    Consequence{"host", "waits_queue"},
};
// nullptr: the wait is a consequence of something else.
const WaitRow* wait_row(std::string_view block, std::string_view cause);
// The same for a counter. Throws std::logic_error for one in neither table.
const WaitRow* wait_row_of_counter(std::string_view block, std::string_view counter);
}  // namespace hca::testbench
