// SPDX-License-Identifier: Apache-2.0
// The allowed differences between a recording and a replay: nothing else may differ. The deviations
// are the profile "soft-roce", with the numbers of vectors/captures/README.md, which also lists
// those that need no row.
#include "testbench/replay/replay_allowed.h"

#include "testbench/replay/replay_conditions.h"

namespace hca::testbench {
using namespace conditions;

namespace {
using enum AllowedKind;
constexpr AllowedDifference kAllowed[] = {
    // clang-format off
    // kind      header       field              condition                                                                      holds                            statement                  reason
    // What a statement leaves open, in every capture.
    {Freedom, "IPv4",     "Identification", "both datagrams are whole and have DF set",                                    whole_datagrams,                 "G34, RFC 6864",           "a counter of the sender; without fragments it means nothing"},
    {Freedom, "IPv4",     "HeaderChecksum", "each is right for its own header",                                            both_checksums_right,            "RFC 791",                 "follows from the fields around it"},
    {Freedom, "UDP",      "SourcePort",     "any",                                                                         dynamic_ports,                   "G34.4",                   "the sender's choice; the range is a recommendation"},
    {Freedom, "BTH",      "M",              "RC, UC or UD: one says 0 and the other 1",                                    connected_migrated,              "BTH-7",                   "the sender says that its path has migrated, or says nothing of it"},
    {Freedom, "AETH",     "Syndrome",       "both are ACKs; recorded 31, fewer, or receives are learned",                     ack_without_credits,             "G6.1",                    "credits are advertised or not"},
    {Freedom, "ICRC",     "Value",          "each is good for its own frame",                                              both_icrcs_good,                 "C9-1",                    "follows from the fields above"},
    {Freedom, "VCRC",     "Value",          "each is good for its own frame",                                              both_vcrcs_good,                 "T12-1",                    "follows from the fields above"},
    {Freedom, "frame",    "Padding",        "Ethernet: after the ICRC",                                                    pads_ethernet,                   "G34.3",                   "a frame check sequence, or the padding of a short frame"},
    {Freedom, "IPv4",     "TTL",            "recorded no more than ours",                                                  counted_down,                    "G34.4",                   "routers count it down"},
    {Freedom, "IPv6",     "HopLimit",       "recorded no more than ours",                                                  counted_down,                    "G34.4",                   "routers count it down"},
    {Freedom, "GRH",      "HopLmt",         "recorded no more than ours",                                                  counted_down,                    "G34.4",                   "routers count it down"},
    {Freedom, "IPv4",     "TOS",            "any",                                                                         any_value,                       "G34.4, G26.2",            "a DSCP may be rewritten on the way, and CE set"},
    {Freedom, "IPv6",     "TrafficClass",   "any",                                                                         any_value,                       "G34.4, G26.2",            "a DSCP may be rewritten on the way, and CE set"},
    {Freedom, "GRH",      "TClass",         "any",                                                                         any_value,                       "G34.4, G26.2",            "rewritten on the way"},
    {Freedom, "UDP",      "Checksum",       "0, or right for the packet",                                                  sums_up_or_is_zero,              "G34.3",                   "the sender may compute it or send 0"},
    {Freedom, "BTH",      "A",              "a request of RC",                                                             may_ask_seldom,                  "G4.5",                    "how often an ACK is requested is the requester's choice"},
    {Freedom, "BTH",      "F",              "recorded 1, ours 0",                                                          congested_on_the_way,            "G26.1, BTH-14",           "set by a switch"},
    {Freedom, "frame",    kOursOnly,        "an ACK; the recording has a later answer that acknowledges the same",         merged_ack,                      "G4.2",                    "ACKs may be merged"},
    {Freedom, "frame",    kRecordedOnly,    "an ACK of a packet that is executed, with its MSN, not before the last one",  unasked_ack,                     "G4.1, G6.6",              "ACKs may be sent one by one, and repeated to advertise credits"},
    {Freedom, "frame",    kOursOnly,        "a request again that the recording has later, or not any more",               sent_again_later,                "G11.3, READ-12",          "when a request is repeated is bounded only by the timers"},
    {Freedom, "frame",    kRecordedOnly,    "learned: a request again as it was sent before",                              sent_again_by_timer,             "G11.3",                   "the timers of a device are not learned"},
    {Freedom, "frame",    kRecordedOnly,    "learned: a frame byte by byte as one before",                              doubled_on_the_way,              "G2.4, G12.1",             "packets may be doubled on the way"},
    {Freedom, "post",     kRecordedOnly,    "the host's library refused it",                                               failed_post,                     "T10-3/RC",                "it never reached the device"},
    {Freedom, "frame",    kOursOnly,        "CNP for a packet that came with ECN 11b",                                     notifies_of_congestion,          "G26.2, oddity 4",         "CNPs are of devices with congestion control"},
    {Freedom, "frame",    kOursOnly,        "our last ACK again with credits, after it advertised none",                         credits_behind_none,             "G6.6",                    "an ACK may be repeated to advertise credits"},
    {Freedom, "frame",    kOursOnly,        "stock tool: answer after the last recorded frame of its queue pair",         answer_behind_recording,         "G4.1",                    "the recording ended before the answer came"},
    {Freedom, "wc",       "status",         "R_Key of WRITE with Immediate: recorded REM_ACCESS_ERR, ours LOC_ACCESS_ERR", refused_key_of_immediate,        "T11",                     "public devices differ there"},
    {Freedom, "wc",       "status",         "length of WRITE with Immediate: recorded REM_INV_REQ_ERR, ours LOC_LEN_ERR",  refused_length_of_immediate,     "T11",                     "public devices differ there"},
    {Freedom, "wc",       kRecordedOnly,    "SUCCESS of a bind_mw: ours is a command",                                     completion_of_bind,              "MW-8",                    "how a window of type 1 is bound is the device's own"},
    {Freedom, "wc",       "vendor_err",     "a completion in error: ours has none",                                      vendor_code_of_error,            "T14",                     "a code of only the recording device"},
    {Freedom, "async",    kRecordedOnly,    "of a port or of the device, not of a queue pair or CQ",                       event_of_no_queue,               "T15",                     "events of a link or device are not in a capture"},
    {Freedom, "memory",   "Byte",           "inside the buffer of a receive that completed in error",                      in_failed_receive,               "T11, oddity 7",           "the contents of such a buffer are undefined"},
    // The last explanation; never where the JSON says that the wire is all recorded.
    {Loss, "frame",    kNeverCame,       "expected request unanswered till it came again, older PSN acknowledged after", never_came,                      "G2.2, G3.1",              "lost between the recording point and the device"},
    {Loss, "frame",    kOursOnly,        "learned: a response; a later answer of the queue pair is there",               lost_before_recording,           "G4.3",                    "lost between the device and the recording point"},
    // A device's violations of statements: its profile, applied only to its captures.
    {Deviation, "DETH",     "Q_Key",          "recorded with bit 31 set, ours that of the queue pair",                       sends_controlled_qkey,           "G15.2, oddity 23",        "a controlled Q_Key is replaced by the queue pair's own"},
    {Deviation, "IPv4",     "TTL",            "recorded 64, ours as in the path",                                          hop_limit_of_route,              "G34.4, oddity 4",         "the recording device takes the route's hop limit"},
    {Deviation, "IPv6",     "HopLimit",       "recorded 64, ours as in the path",                                          hop_limit_of_route,              "G34.4, oddity 4",         "the recording device takes the route's hop limit"},
    {Deviation, "IPv6",     "FlowLabel",      "recorded 0, ours as in the path",                                           no_flow_label,                   "G34.4, oddity 4",         "the recording device sends no flow label"},
    {Deviation, "BTH",      "OpCode",         "part of a READ again: recorded by its place in the whole",                    resumes_read_in_place,           "G3.3, oddity 9",          "a repeated READ is answered from First or Only on"},
    {Deviation, "frame",    "Headers",        "the same: our First has the AETH, the recorded Middle none",                  lacks_aeth_of_resumed_read,      "G3.3, oddity 9",          "follows from the opcode"},
    {Deviation, "IPv4",     "TotalLength",    "the same: ours is longer by that AETH",                                       longer_by_aeth_of_resumed_read,  "G3.3, oddity 9",          "follows from the opcode"},
    {Deviation, "IPv6",     "PayloadLength",  "the same: ours is longer by that AETH",                                       longer_by_aeth_of_resumed_read,  "G3.3, oddity 9",          "follows from the opcode"},
    {Deviation, "UDP",      "Length",         "the same: ours is longer by that AETH",                                       longer_by_aeth_of_resumed_read,  "G3.3, oddity 9",          "follows from the opcode"},
    {Deviation, "BTH",      "PSN",            "ACK of a duplicate: ours ePSN - 1, recorded the newest non-READ",             acknowledges_newest_write,       "G3.1, oddity 11",         "the recording device does not count READs, and begins with 0xffffff"},
    {Deviation, "AETH",     "Syndrome",       "SEND longer than its receive WQE: recorded 0x63, ours 0x61",                  nak_of_too_long_send,            "T10-16, oddity 7",        "a length error is an invalid request"},
    {Deviation, "AETH",     "Syndrome",       "READ of more than 2^31 bytes: recorded 0x62, ours 0x61",                      nak_of_too_long_read,            "T10-16, oddity 17",       "the length is checked before the bounds"},
    {Deviation, "frame",    kRecordedOnly,    "0x60 for the PSN of our RNR NAK, once, a later packet having come",           sequence_nak_behind_rnr_nak,     "G2.5, oddity 5",          "packets after an RNR NAK are dropped silently"},
    {Deviation, "frame",    kRecordedOnly,    "after an RNR NAK inside a message: its packets before that, in order",        back_to_first_packet,            "G8.2, G8.3, oddity 6",    "the RNR NAK acknowledged them"},
    {Deviation, "frame",    kRecordedOnly,    "after an RNR NAK: a copy, one timeout after the first",                       copy_by_timer_behind_rnr_nak,    "G8.3, oddity 6",          "the transport timer stops during the RNR wait"},
    {Deviation, "frame",    kRecordedOnly,    "ACK with MSN 0 of a SEND with Invalidate of an unknown key",                  ack_of_bad_invalidate,           "INV-9, G10.4, oddity 19", "the ACK may come before the invalidation or not at all"},
    {Deviation, "frame",    kRecordedOnly,    "ACK of a packet that is not whole words",                                     ack_of_broken_words,             "T12-4, oddity 13",        "such a packet is dropped", Then::Parts},
    {Deviation, "frame",    kRecordedOnly,    "a message more than one beyond the advertised credits",                             send_beyond_credits,             "G6.3, oddity 2",          "the recording device ignores credits", Then::Parts},
    {Deviation, "frame",    kOursOnly,        "0x61 for a SEND packet of a length that T7 forbids",                          nak_of_bad_send_length,          "T10-16, oddity 12",       "the recording device takes SENDs of any length", Then::Parts},
    {Deviation, "frame",    kOursOnly,        "0x61 for a reserved opcode of RC at ePSN",                                    nak_of_reserved_opcode,          "T10-2, oddity 16",        "the recording device drops it silently", Then::Parts},
    {Deviation, "frame",    kOursOnly,        "0x62 for a WRITE or READ beyond its window, inside the window's region",      nak_of_window_bounds,            "MW-6, G22.2, oddity 18",  "the recording device does not look at the bounds of a window", Then::Parts},
    {Deviation, "frame",    kOursOnly,        "response to a READ repeated from before its last repetition",                 response_to_read_further_back,   "G3.3, oddity 9",          "any part of a held READ is answered"},
    {Deviation, "frame",    kOursOnly,        "the same packet again, requested by a second sequence NAK",                   second_go_back,                  "G11.4",                   "the recording device goes back once until something is acknowledged"},
    {Deviation, "post",     kRecordedOnly,    "an ATOMIC at an address that is no multiple of 8",                            refused_by_library,              "T10-3, oddity 25",        "the recording host's library refuses it before the device"},
    {Deviation, "wc",       "status",         "message longer than the receive: recorded LOC_QP_OP_ERR, ours LOC_LEN_ERR",   too_long_for_receive,            "T14, oddity 7",           "the device's own choice of status"},
    {Deviation, "wc",       "status",         "an SGE breaks protection: recorded LOC_QP_OP_ERR, ours LOC_PROT_ERR",         bad_local_key,                   "T14, oddity 8",           "the device's own choice of status"},
    {Deviation, "wc",       "status",         "READ refused after its first response: recorded SUCCESS, ours the NAK's",    read_refused_midway,             "C9-214, oddity 20",       "the message is not complete"},
    {Deviation, "wc",       "status",         "READ response too long: recorded LOC_PROT_ERR, ours LOC_LEN_ERR",             response_too_long,               "T9-16, oddity 20",        "the device's own choice of status"},
    {Deviation, "wc",       "status",         "NAK 0x64: recorded REM_OP_ERR, ours REM_INV_RD_REQ_ERR",                      invalid_rd_request,              "T5, oddity 21",           "the device's own choice of status"},
    {Deviation, "wc",       kOursOnly,        "LOC_LEN_ERR for a Last or Only response that ends a READ too early",          response_too_short,              "T9-16, oddity 20",        "the recording device takes it or waits", Then::Parts},
    {Deviation, "wc",       kRecordedOnly,    "SUCCESS of a READ or ATOMIC after an ACK without its data",                   completed_by_plain_ack,          "ERR-17, oddity 20",       "such an ACK is dropped", Then::Parts},
    {Deviation, "wc",       kRecordedOnly,    "REM_OP_ERR after a NAK of a reserved code",                                   reserved_nak_code,               "T5, oddity 21",           "a reserved code is ignored", Then::Parts},
    {Deviation, "async",    kOursOnly,        "QP_ACCESS_ERR or QP_REQ_ERR for our NAK 0x62 or 0x61, no receive in use",     refused_without_receive,         "T11",                     "the recording device reports no refused request to its host"},
    {Deviation, "state",    kRecordedOnly,    "UC: the expected PSN is one that was delivered",                              lost_in_receiver,                "G14.2, oddity 22",        "lost between the recording point and the device, which waits for a First or Only", Then::Parts},
    {Deviation, "QP",       "rq_psn",         "UD: recorded the PSN after the last datagram taken, ours 0",                 counts_datagrams,                "G15.1, oddity 28",        "no PSN is expected of a datagram"},
    {Deviation, "AETH",     "MSN",            "ACK of a SEND with Invalidate of an unknown key: recorded 0",                 msn_of_bad_invalidate,           "G5.3, oddity 19",         "the message counts"},
    {Deviation, "QP",       "state",          "UD: recorded ERR after a datagram longer than its receive, ours as it was",    error_after_long_datagram,       "T10-16/UD, oddity 23",    "the recording device takes the queue pair to Error"},
    {Deviation, "wc",       kRecordedOnly,    "UD: an error of a datagram longer than its receive, which ours drops",        error_after_long_datagram,       "T10-16/UD, oddity 23",    "the recording device takes the queue pair to Error", Then::Parts},
    {Deviation, "frame",    kBreaks,          "UC: a packet that continues no message while one is open, or comes again",    breaks_uc_message,               "G14.2, oddity 22",        "the recording device drops the next message as well", Then::Parts},
    // clang-format on
};
}  // namespace

std::span<const AllowedDifference> allowed_differences() { return kAllowed; }

const AllowedDifference* find_allowed(std::string_view header, std::string_view field,
                                      const Situation& situation, AllowedUses& uses) {
  uses.resize(std::size(kAllowed));
  for (std::size_t i = 0; i < std::size(kAllowed); ++i) {
    const AllowedDifference& row = kAllowed[i];
    if (row.kind == Deviation && uses.profile != kSoftRoce) continue;
    if (row.header != header || row.field != field || !row.holds(situation)) continue;
    ++uses[i];
    return &row;
  }
  return nullptr;
}
}  // namespace hca::testbench
