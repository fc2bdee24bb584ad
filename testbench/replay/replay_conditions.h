// SPDX-License-Identifier: Apache-2.0
// The conditions of the allowed differences, grouped as the table is.
#pragma once
#include "testbench/replay/replay_allowed.h"

namespace hca::testbench::conditions {
// Fields that the sender chooses.
bool whole_datagrams(const Situation& s);
bool both_checksums_right(const Situation& s);
bool dynamic_ports(const Situation& s);
bool connected_migrated(const Situation& s);
bool sends_controlled_qkey(const Situation&);
bool counts_datagrams(const Situation&);
bool ack_without_credits(const Situation& s);
bool both_icrcs_good(const Situation& s);
bool both_vcrcs_good(const Situation& s);
bool pads_ethernet(const Situation& s);
bool hop_limit_of_route(const Situation& s);
bool no_flow_label(const Situation& s);

// Freedoms.
bool counted_down(const Situation& s);
bool any_value(const Situation&);
bool sums_up_or_is_zero(const Situation& s);
bool may_ask_seldom(const Situation& s);
bool congested_on_the_way(const Situation& s);
bool merged_ack(const Situation& s);
bool unasked_ack(const Situation& s);
bool sent_again_later(const Situation& s);
bool sent_again_by_timer(const Situation& s);
bool doubled_on_the_way(const Situation& s);
bool lost_before_recording(const Situation& s);
bool failed_post(const Situation& s);

// Fields of answers to requests.
bool resumes_read_in_place(const Situation& s);
bool lacks_aeth_of_resumed_read(const Situation& s);
bool longer_by_aeth_of_resumed_read(const Situation& s);
bool acknowledges_newest_write(const Situation& s);
bool nak_of_too_long_send(const Situation& s);
bool nak_of_too_long_read(const Situation& s);

// Frames that only the recording has.
bool sequence_nak_behind_rnr_nak(const Situation& s);
bool back_to_first_packet(const Situation& s);
bool copy_by_timer_behind_rnr_nak(const Situation& s);
bool ack_of_bad_invalidate(const Situation& s);
bool msn_of_bad_invalidate(const Situation& s);
bool breaks_uc_message(const Situation& s);
bool ack_of_broken_words(const Situation& s);
bool send_beyond_credits(const Situation& s);
// Frames that only we have.
bool nak_of_bad_send_length(const Situation& s);
bool nak_of_reserved_opcode(const Situation& s);
bool nak_of_window_bounds(const Situation& s);
bool response_to_read_further_back(const Situation& s);
bool second_go_back(const Situation& s);
bool notifies_of_congestion(const Situation& s);
bool credits_behind_none(const Situation& s);
bool answer_behind_recording(const Situation& s);
// A frame that the recorded device never received.
bool never_came(const Situation& s);

// A post that never reached the device.
bool refused_by_library(const Situation& s);

// Statuses of completions.
bool too_long_for_receive(const Situation& s);
bool bad_local_key(const Situation& s);
bool read_refused_midway(const Situation& s);
bool response_too_long(const Situation& s);
bool invalid_rd_request(const Situation& s);
bool error_after_long_datagram(const Situation& s);
bool refused_key_of_immediate(const Situation& s);
bool refused_length_of_immediate(const Situation& s);
// Completions that only one side has.
bool response_too_short(const Situation& s);
bool completed_by_plain_ack(const Situation& s);
bool reserved_nak_code(const Situation& s);
bool completion_of_bind(const Situation& s);
// The vendor code of a completion in error.
bool vendor_code_of_error(const Situation& s);

// Asynchronous events that only one side has.
bool refused_without_receive(const Situation& s);
bool event_of_no_queue(const Situation& s);

// Bytes of memory; `our_value` is the address.
bool lost_in_receiver(const Situation& s);
bool in_failed_receive(const Situation& s);
}  // namespace hca::testbench::conditions
