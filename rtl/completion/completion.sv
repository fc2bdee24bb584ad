// SPDX-License-Identifier: Apache-2.0
// The producers of CQs: the ring entry of a CQE, its bytes with the phase, and the result for a CQ without room
// (proto::EntryRing, proto::put_cqe).
//
// Streams. packets_in has one beat for each step, in the order of the steps of its CQ: a completion with the fields of its CQE,
// or a doorbell with the number of CQEs that software has consumed. packets_out has one beat for each step: its result, the
// entry's address and bytes, the most significant first, and the new context, which is its write-back. A CQE without an entry
// comes back with its fields, for the events of CQ and queue pair; address and phase are 0.
//
// Look-ups, hazards, grants: rtl/common/look_up_slots.sv. A stalled look-up holds its step and those after it, in their order;
// the stages are never stalled. packets_out_start_o takes the room after the block exactly Latency cycles ahead of the result.
//
// Timing. Beat in n, answer at once: look-up in n + 1, answer in n + 2, start in n + 3, result in n + 6, Latency = 3; one step
// a cycle. Combinational path: packets_out_ready_i to packets_out_start_o, one gate. All else is registered.
module completion #(
  /* verilator lint_off UNUSEDPARAM */  // no data: only the assertions use the length of a beat
  parameter int unsigned Width = 512  // 256 or 512
  /* verilator lint_on UNUSEDPARAM */
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 packets_in_valid_i,
  output logic                 packets_in_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // only the assertions use its place
  input  hca_pkg::cq_step_t    packets_in_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                 context_ask_valid_o,
  output logic [23:0]          context_ask_o,
  input  logic                 context_valid_i,
  input  hca_pkg::cq_context_t context_i,
  output logic                 packets_out_start_o,
  output logic                 packets_out_valid_o,
  input  logic                 packets_out_ready_i,
  output hca_pkg::cq_stepped_t packets_out_o
);
  localparam int unsigned Context = hca_pkg::CqContextBits;
  localparam int unsigned State = hca_pkg::CqStateBits;
  localparam int unsigned Judge = 2;  // the stage that needs the state

  typedef struct packed {
    logic op;
    logic [31:0] consumer;
    logic [23:0] qpn;
    logic [23:0] src_qp;
    logic [23:0] srqn;
    logic [31:0] byte_len;
    logic [31:0] immediate;
    logic [15:0] wqe_index;
    logic [15:0] slid;
    logic [15:0] pkey_index;
    logic [7:0] opcode;
    logic [7:0] status;
    logic [7:0] vendor_error;
    logic [3:0] sl;
    logic with_immediate;
    logic with_invalidate;
    logic solicited;
    logic has_grh;
    logic [23:0] cqn;
  } request_t;
  localparam int unsigned Request = 273;

  // ---- 1 to 3: slots, asks, hazards, start ----
  request_t request_in, request_0, request_1_q, request_2_q;
  /* verilator lint_off UNUSEDSIGNAL */  // no other look-ups; each stage uses parts of the contexts
  logic [2:0] answered_slot, start_slot;
  logic [Request-1:0] answered;
  hca_pkg::cq_context_t context_1_q, context_2_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic issued;
  logic out_valid_q;
  hca_pkg::cq_stepped_t out_q, out_d;
  logic [Judge:1] valid_q;

  always_comb begin
    request_in.op = packets_in_i.op;
    request_in.consumer = packets_in_i.consumer;
    request_in.qpn = packets_in_i.qpn;
    request_in.src_qp = packets_in_i.src_qp;
    request_in.srqn = packets_in_i.srqn;
    request_in.byte_len = packets_in_i.byte_len;
    request_in.immediate = packets_in_i.immediate;
    request_in.wqe_index = packets_in_i.wqe_index;
    request_in.slid = packets_in_i.slid;
    request_in.pkey_index = packets_in_i.pkey_index;
    request_in.opcode = packets_in_i.opcode;
    request_in.status = packets_in_i.status;
    request_in.vendor_error = packets_in_i.vendor_error;
    request_in.sl = packets_in_i.sl;
    request_in.with_immediate = packets_in_i.with_immediate;
    request_in.with_invalidate = packets_in_i.with_invalidate;
    request_in.solicited = packets_in_i.solicited;
    request_in.has_grh = packets_in_i.has_grh;
    request_in.cqn = packets_in_i.cqn;
  end
  look_up_slots #(
    .Request(Request),
    .Context(Context),
    .State(State),
    .Stages(Judge)
  ) u_slots (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .room_o(packets_in_ready_o),
    .take_i(packets_in_valid_i),
    .drop_i(1'b0),
    .enter_i(packets_in_valid_i),
    .request_i(request_in),
    .context_ask_valid_o(context_ask_valid_o),
    .context_ask_o(context_ask_o),
    .context_valid_i(context_valid_i),
    .context_i(context_i),
    .answered_slot_o(answered_slot),
    .answered_o(answered),
    .hold_i(1'b0),
    .more_valid_i(1'b0),
    .more_slot_i(3'd0),
    .room_behind_i(packets_out_ready_i),
    .start_o(issued),
    .start_slot_o(start_slot),
    .start_request_o(request_0),
    .stage_number_i(request_1_q.cqn),
    .stage_context_o({context_2_q, context_1_q}),
    .result_valid_i({valid_q[Judge], out_valid_q}),
    .result_number_i({out_d.cqn, out_q.cqn}),
    .result_state_i({out_d.state, out_q.state}),
    .result_shared_i(2'd0),
    .result_queue_i(48'd0)
  );
  assign packets_out_start_o = issued;

  // ---- 4: stage 1: the size of the ring ----
  logic [31:0] entries_1, entries_2_q;

  assign entries_1 = 32'd1 << context_1_q.log_entries;

  // ---- 5: stage 2: its effect on the state ----
  hca_pkg::cq_state_t state, next;
  logic [31:0] waiting, index;
  logic full, written, completes;

  always_comb begin
    state = context_2_q.state;
    next = state;
    completes = request_2_q.op == hca_pkg::CqOpComplete;
    waiting = state.producer - state.consumer;
    full = waiting >= entries_2_q;
    index = state.producer & (entries_2_q - 32'd1);
    written = completes && context_2_q.allocated && !state.overflowed && !full;

    out_d = '0;
    out_d.first = 1'b1;
    out_d.last = 1'b1;
    out_d.op = request_2_q.op;
    out_d.cqn = request_2_q.cqn;
    if (!context_2_q.allocated) out_d.result = hca_pkg::CqResultNoQueue;
    else if (!completes) begin
      out_d.result = hca_pkg::CqResultWritten;
      next.consumer = request_2_q.consumer;
    end else if (written) begin
      out_d.result = hca_pkg::CqResultWritten;
      out_d.address = context_2_q.address + {27'd0, index, 5'd0};
      out_d.solicited = request_2_q.solicited || request_2_q.status != hca_pkg::WcStatusSuccess;
      next.producer = state.producer + 32'd1;
    end else begin
      out_d.result = state.overflowed ? hca_pkg::CqResultLost : hca_pkg::CqResultFirstLost;
      next.overflowed = full || state.overflowed;  // one of the two
    end

    // The format of a CQE; bits without a meaning are 0.
    if (completes) begin
      out_d.cqe.opcode = request_2_q.opcode;
      out_d.cqe.status = request_2_q.status;
      out_d.cqe.immediate = request_2_q.with_immediate;
      out_d.cqe.invalidate = request_2_q.with_invalidate;
      out_d.cqe.solicited = request_2_q.solicited;
      out_d.cqe.grh = request_2_q.has_grh;
      out_d.cqe.vendorerror = request_2_q.vendor_error;
      out_d.cqe.qpn = request_2_q.qpn;
      out_d.cqe.wqeindex = request_2_q.wqe_index;
      out_d.cqe.bytelen = request_2_q.byte_len;
      out_d.cqe.immdt = request_2_q.immediate;
      out_d.cqe.srcqp = request_2_q.src_qp;
      out_d.cqe.srqn = request_2_q.srqn;
      out_d.cqe.slid = request_2_q.slid;
      out_d.cqe.p_keyindex = request_2_q.pkey_index;
      out_d.cqe.sl = request_2_q.sl;
      out_d.cqe.phase = written && (state.producer & entries_2_q) == 32'd0;  // 1 on the first turn
    end
    out_d.state = next;
  end

  assign packets_out_valid_o = out_valid_q;
  assign packets_out_o = out_q;

  // ---- registers of the stages ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      out_valid_q <= 1'b0;
    end else begin
      valid_q <= {valid_q[1], issued};
      out_valid_q <= valid_q[Judge];
    end
  end
  always_ff @(posedge clk_i) begin
    request_1_q <= request_0;
    request_2_q <= request_1_q;
    entries_2_q <= entries_1;
    out_q <= out_d;
  end

`ifdef HCA_ASSERT
  localparam int unsigned BeatBytes = Width / 8;
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Latency = Judge + 1;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b1;
  localparam logic BytesFill = 1'b0;  // there are none
`include "stream_assert.svh"
`include "completion_assert.svh"
`endif
endmodule
