// SPDX-License-Identifier: Apache-2.0
// The allowed differences between a recording and a replay: nothing else may differ. The numbered
// oddities are those of vectors/captures/README.md, where it also says which of them need no row.
#include "testbench/replay_allowed.h"

#include "testbench/replay_conditions.h"

namespace hca::testbench {
using namespace conditions;

namespace {
constexpr std::array kAllowed{
    // clang-format off
    //                header   field             condition                                                        holds                           statement                reason
    AllowedDifference{"IPv4",  "Identification", "both datagrams are whole and have DF set",                       whole_datagrams,                "G34, RFC 6864",         "a counter of the sender; without fragments it means nothing"},
    AllowedDifference{"IPv4",  "HeaderChecksum", "each is right for its own header",                               both_checksums_right,           "RFC 791",               "follows from the fields around it"},
    AllowedDifference{"UDP",   "SourcePort",     "both are in the range of RoCEv2",                                   dynamic_ports,                  "G34.4",                 "the sender's choice for each queue pair"},
    AllowedDifference{"BTH",   "M",              "RC, UC or UD, recorded 0 and ours 1",                            connected_migrated,             "G17.5, oddity 1",       "the recording device never says that the path is migrated"},
    AllowedDifference{"DETH",  "Q_Key",          "recorded with bit 31 set, ours that of the queue pair",          sends_controlled_qkey,          "G15.2, oddity 23",      "a controlled Q_Key is replaced by the queue pair's own"},
    AllowedDifference{"AETH",  "Syndrome",       "both are ACKs, the recorded credit is 31",                       ack_without_credits,            "G6.1, oddity 2",        "the recording device announces no credits"},
    AllowedDifference{"ICRC",  "Value",          "each is good for its own frame",                                 both_icrcs_good,                "C9-1",                  "follows from the fields above"},
    AllowedDifference{"IPv4",  "TTL",            "recorded 64, ours as the path asks",                             hop_limit_of_route,             "G34.4, oddity 4",       "the recording device takes the route's hop limit"},
    AllowedDifference{"IPv6",  "HopLimit",       "recorded 64, ours as the path asks",                             hop_limit_of_route,             "G34.4, oddity 4",       "the recording device takes the route's hop limit"},
    AllowedDifference{"IPv6",  "FlowLabel",      "recorded 0, ours as the path asks",                              no_flow_label,                  "G34.4, oddity 4",       "the recording device sends no flow label"},
    // Answers of a responder.
    AllowedDifference{"BTH",   "OpCode",         "part of a READ again: recorded by its place in the whole",       resumes_read_in_place,          "G3.3, oddity 9",        "a repeated READ is answered from First or Only on"},
    AllowedDifference{"frame", "Headers",        "the same: our First has the AETH, the recorded Middle none",     lacks_aeth_of_resumed_read,     "G3.3, oddity 9",        "follows from the opcode"},
    AllowedDifference{"IPv4",  "TotalLength",    "the same: ours is longer by that AETH",                          longer_by_aeth_of_resumed_read, "G3.3, oddity 9",        "follows from the opcode"},
    AllowedDifference{"IPv6",  "PayloadLength",  "the same: ours is longer by that AETH",                          longer_by_aeth_of_resumed_read, "G3.3, oddity 9",        "follows from the opcode"},
    AllowedDifference{"UDP",   "Length",         "the same: ours is longer by that AETH",                          longer_by_aeth_of_resumed_read, "G3.3, oddity 9",        "follows from the opcode"},
    AllowedDifference{"BTH",   "PSN",            "ACK of a duplicate: ours ePSN - 1, recorded the newest non-READ", acknowledges_newest_write,     "G3.1, oddity 11",       "the recording device does not count READs, and begins with 0xffffff"},
    AllowedDifference{"AETH",  "Syndrome",       "SEND longer than its receive WQE: recorded 0x63, ours 0x61",     nak_of_too_long_send,           "T10-16, oddity 7",      "a length error is an invalid request"},
    AllowedDifference{"AETH",  "Syndrome",       "READ of more than 2^31 bytes: recorded 0x62, ours 0x61",         nak_of_too_long_read,           "T10-16, oddity 17",     "the length is checked before the bounds"},
    // Frames of one side only.
    AllowedDifference{"frame", kRecordedOnly,    "0x60 for the PSN of our RNR NAK, once, a later packet having come", sequence_nak_behind_rnr_nak, "G2.5, oddity 5",        "packets behind an RNR NAK are dropped silently"},
    AllowedDifference{"frame", kRecordedOnly,    "after an RNR NAK inside a message: its packets before that, in order", back_to_first_packet,     "G8.2, G8.3, oddity 6",  "the RNR NAK acknowledged them"},
    AllowedDifference{"frame", kRecordedOnly,    "after an RNR NAK: a copy, one timeout after the first",          copy_by_timer_behind_rnr_nak,   "G8.3, oddity 6",        "the transport timer stops during the RNR wait"},
    AllowedDifference{"frame", kRecordedOnly,    "ACK with MSN 0 of a SEND with Invalidate of an unknown key",     ack_of_bad_invalidate,          "INV-9, G10.4, oddity 19", "the ACK may come before the invalidation or not at all"},
    AllowedDifference{"frame", kRecordedOnly,    "ACK of a packet that is not whole words",                        ack_of_broken_words,            "T12-4, oddity 13",      "such a packet is dropped", Then::Parts},
    AllowedDifference{"frame", kRecordedOnly,    "a message more than one beyond the credits told",                send_beyond_credits,            "G6.3, oddity 2",        "the recording device ignores credits", Then::Parts},
    AllowedDifference{"frame", kOursOnly,        "0x61 for a SEND packet of a length that T7 forbids",             nak_of_bad_send_length,         "T10-16, oddity 12",     "the recording device takes SENDs of any length", Then::Parts},
    AllowedDifference{"frame", kOursOnly,        "0x61 for a reserved opcode of RC at ePSN",                       nak_of_reserved_opcode,         "T10-2, oddity 16",      "the recording device drops it silently", Then::Parts},
    AllowedDifference{"frame", kOursOnly,        "0x62 for a WRITE or READ beyond its window, inside the window's region", nak_of_window_bounds,   "MW-6, G22.2, oddity 18", "the recording device does not look at the bounds of a window", Then::Parts},
    AllowedDifference{"frame", kOursOnly,        "response to a READ repeated from before its last repetition",    response_to_read_further_back,  "G3.3, oddity 9",        "any part of a held READ is answered"},
    AllowedDifference{"frame", kOursOnly,        "the same packet again, asked for by a second sequence NAK",      second_go_back,                 "G11.4",                 "the recording device goes back once until something is acknowledged"},
    AllowedDifference{"frame", kOursOnly,        "CNP for a packet that came with ECN 11b",                        notifies_of_congestion,         "G26.2, oddity 4",       "the recording device makes no CNPs"},
    AllowedDifference{"frame", kOursOnly,        "our last ACK again with credits, after it told none",            credits_behind_none,            "G6.6, oddity 2",        "the recording device announces no credits"},
    AllowedDifference{"frame", kOursOnly,        "stock tool: answer behind the last recorded frame of its queue pair", answer_behind_recording,   "G4.1",                  "the recording ended before the answer came"},
    AllowedDifference{"frame", kNeverCame,       "expected request unanswered till it came again, older PSN acknowledged after", never_came,       "G2.2, G3.1",            "lost between the recording point and the device"},
    AllowedDifference{"post",  kRecordedOnly,    "an ATOMIC at an address that is no multiple of 8",              refused_by_library,             "T10-3, oddity 25",      "the recording host's library refuses it in front of the device"},
    // Completions and memory.
    AllowedDifference{"wc",    "status",         "message longer than the receive: recorded LOC_QP_OP_ERR, ours LOC_LEN_ERR", too_long_for_receive, "T14, oddity 7",        "the device's own choice of status"},
    AllowedDifference{"wc",    "status",         "an SGE breaks protection: recorded LOC_QP_OP_ERR, ours LOC_PROT_ERR", bad_local_key,             "T14, oddity 8",         "the device's own choice of status"},
    AllowedDifference{"wc",    "status",         "READ refused behind its first response: recorded SUCCESS, ours the NAK's", read_refused_midway,  "C9-214, oddity 20",     "the message is not complete"},
    AllowedDifference{"wc",    "status",         "READ response too long: recorded LOC_PROT_ERR, ours LOC_LEN_ERR", response_too_long,             "T9-16, oddity 20",      "the device's own choice of status"},
    AllowedDifference{"wc",    "status",         "NAK 0x64: recorded REM_OP_ERR, ours REM_INV_RD_REQ_ERR",         invalid_rd_request,             "T5, oddity 21",         "the device's own choice of status"},
    AllowedDifference{"wc",    "status",         "R_Key of WRITE with Immediate: recorded REM_ACCESS_ERR, ours LOC_ACCESS_ERR", refused_key_of_immediate, "T11",               "public devices differ there"},
    AllowedDifference{"wc",    "status",         "length of WRITE with Immediate: recorded REM_INV_REQ_ERR, ours LOC_LEN_ERR", refused_length_of_immediate, "T11",             "public devices differ there"},
    AllowedDifference{"wc",    kOursOnly,        "LOC_LEN_ERR for a Last or Only response that ends a READ too early", response_too_short,         "T9-16, oddity 20",      "the recording device takes it or waits", Then::Parts},
    AllowedDifference{"wc",    kRecordedOnly,    "SUCCESS of a READ or ATOMIC after an ACK without its data",      completed_by_plain_ack,         "ERR-17, oddity 20",     "such an ACK is dropped", Then::Parts},
    AllowedDifference{"wc",    kRecordedOnly,    "REM_OP_ERR after a NAK of a reserved code",                      reserved_nak_code,              "T5, oddity 21",         "a reserved code is ignored", Then::Parts},
    AllowedDifference{"wc",    kRecordedOnly,    "SUCCESS of a bind_mw: ours is a command",                        completion_of_bind,             "MW-8",                  "how a window of type 1 is bound is the device's own"},
    AllowedDifference{"wc",    "vendor_err",     "a completion in error: ours tells none",                         vendor_code_of_error,           "T14",                   "a code of the recording device alone"},
    AllowedDifference{"async", kOursOnly,        "QP_ACCESS_ERR or QP_REQ_ERR for our NAK 0x62 or 0x61, no receive in use", refused_without_receive, "T11",               "the recording device tells its host of no request that it refused"},
    AllowedDifference{"async", kRecordedOnly,    "of a port or of the device, not of a queue pair or CQ",          event_of_no_queue,              "T15",                   "what happens to a link and a device is not in a capture"},
    AllowedDifference{"state", kRecordedOnly,    "UC: the expected PSN is one that was delivered",                 lost_in_receiver,               "G14.2, oddity 22",      "lost between the recording point and the device, which waits for a First or Only", Then::Parts},
    AllowedDifference{"QP",    "rq_psn",         "UD: recorded the PSN behind the last datagram taken, ours 0",    counts_datagrams,               "G15.1, oddity 28",      "no PSN is expected of a datagram"},
    AllowedDifference{"memory", "Byte",          "inside the buffer of a receive that completed in error",         in_failed_receive,              "T11, oddity 7",         "what such a buffer holds is undefined"},
    // clang-format on
};
}  // namespace

std::span<const AllowedDifference> allowed_differences() { return kAllowed; }

const AllowedDifference* find_allowed(std::string_view header, std::string_view field,
                                      const Situation& situation, AllowedUses& uses) {
  uses.resize(kAllowed.size());
  for (std::size_t i = 0; i < kAllowed.size(); ++i) {
    const AllowedDifference& row = kAllowed[i];
    if (row.header != header || row.field != field || !row.holds(situation)) continue;
    ++uses[i];
    return &row;
  }
  return nullptr;
}
}  // namespace hca::testbench
