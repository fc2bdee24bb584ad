// SPDX-License-Identifier: Apache-2.0
// The PSNs of the requester: which a message and its packets take, the window, what an acknowledgement covers, and where
// go-back-N stands (proto::SendPsns).
//
// Streams. packets_in has one beat for each step, of any source, in the order in which it happens to its queue pair: a message
// begins, a packet of it is sent or sent again, an ACK or response, a NAK or a missing response, a timer. `psn` is that of an
// answer, or of packets their message's first one, with `index` PSNs of it in front of the packet; byte_len, up to 2^31, and
// kind say how many PSNs the message has. packets_out has one beat for each step: PSN and count that the message or packet takes,
// else the oldest unacknowledged PSN and 0; what came of it; and the context as it is now, which is its write-back.
//
// Look-ups. A context is asked for in the cycle behind its step. Answers come in the order of the asks, at most one a cycle,
// in any cycle behind the ask; this block has room for them. A context holds all write-backs of the cycles before; later
// ones of the same queue pair are forwarded in here.
//
// Grants. As in rtl/icrc.sv, but with room for Slots steps of its own, from the beat on until their start, which needs
// packets_out_ready_i: packets_out_start_o takes the room behind exactly Latency cycles ahead of the result. A stalled
// look-up holds its step and those behind, in their order; the stages are never stalled.
//
// Timing. Beat in n, answer at once: ask in n + 1, answer in n + 2, start in n + 3, result in n + 6, Latency = 3; one step a
// cycle. Combinational path: packets_out_ready_i to packets_out_start_o, one gate. All else is registered.
module requester_psn #(
  /* verilator lint_off UNUSEDPARAM */  // no data: the assertions alone know how long a beat is
  parameter int unsigned Width = 512  // 256 or 512
  /* verilator lint_on UNUSEDPARAM */
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic                  packets_in_valid_i,
  output logic                  packets_in_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // its place, which the assertions look at
  input  hca_pkg::psn_step_t    packets_in_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic                  context_ask_valid_o,
  output logic [23:0]           context_ask_o,
  input  logic                  context_valid_i,
  input  hca_pkg::psn_context_t context_i,
  output logic                  packets_out_start_o,
  output logic                  packets_out_valid_o,
  input  logic                  packets_out_ready_i,
  output hca_pkg::psn_stepped_t packets_out_o
);
  localparam int unsigned SlotBits = 3;
  localparam int unsigned Slots = 1 << SlotBits;
  localparam logic [SlotBits:0] AllSlots = Slots[SlotBits:0];
  localparam int unsigned Context = hca_pkg::PsnContextBits;
  localparam int unsigned Judge = 2;  // the stage that needs the state

  typedef struct packed {
    logic [2:0] op;
    logic [1:0] kind;
    logic [23:0] qpn;
    logic [23:0] psn;
    logic [23:0] index;
    logic [31:0] byte_len;
  } request_t;
  localparam int unsigned Request = 109;

  typedef struct packed {
    logic [2:0] op;
    logic [23:0] qpn;
    logic [23:0] psn;    // of the packet, else that of the step
    logic [23:0] count;  // PSNs that it takes
  } work_t;

  // ---- 0: grants ----
  logic [SlotBits:0] used_q;
  logic issued;

  assign packets_in_ready_o = used_q != AllSlots;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) used_q <= '0;
    else used_q <= used_q + {{SlotBits{1'b0}}, packets_in_valid_i} - {{SlotBits{1'b0}}, issued};
  end

  // ---- 1: a slot for each step, asks ----
  request_t request_in;
  logic [SlotBits-1:0] tail_q, answer_q, head_q;  // the next step, context and start
  logic [Slots*Request-1:0] request_q;
  logic [Slots*Context-1:0] context_q;
  logic [Slots-1:0] ready_q;
  logic context_ask_valid_q;
  logic [23:0] context_ask_q;

  always_comb begin
    request_in.op = packets_in_i.op;
    request_in.kind = packets_in_i.kind;
    request_in.qpn = packets_in_i.qpn;
    request_in.psn = packets_in_i.psn;
    request_in.index = packets_in_i.index;
    request_in.byte_len = packets_in_i.byte_len;
  end
  assign context_ask_valid_o = context_ask_valid_q;
  assign context_ask_o = context_ask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      tail_q <= '0;
      answer_q <= '0;
      head_q <= '0;
      ready_q <= '0;
      context_ask_valid_q <= 1'b0;
    end else begin
      context_ask_valid_q <= packets_in_valid_i;
      if (packets_in_valid_i) tail_q <= tail_q + 1'b1;
      if (context_valid_i) answer_q <= answer_q + 1'b1;
      if (issued) head_q <= head_q + 1'b1;
      if (context_valid_i) ready_q[answer_q] <= 1'b1;
      if (issued) ready_q[head_q] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    context_ask_q <= packets_in_i.qpn;
    for (int s = 0; s < Slots; s++)
      if (packets_in_valid_i && tail_q == s[SlotBits-1:0]) request_q[s*Request +: Request] <= request_in;
    context_q <= current[0 +: Slots*Context];
  end

  // ---- 2: hazards: what is judged in this cycle or leaves in it changes the contexts that are here ----
  logic out_valid_q;
  hca_pkg::psn_stepped_t out_q, out_d;
  logic [Judge:1] valid_q;
  request_t request_0, request_1_q;
  work_t work_2_q;
  hca_pkg::psn_context_t context_0, context_1_q;
  /* verilator lint_off UNUSEDSIGNAL */  // of the last stage the state alone, of results context and queue pair
  hca_pkg::psn_context_t context_2_q;
  request_t here;
  hca_pkg::psn_stepped_t judged;
  /* verilator lint_on UNUSEDSIGNAL */
  hca_pkg::psn_context_t held_context;

  // Contexts that are here: of the slots, of which one may be answered now, and in front of the last stage.
  localparam int unsigned Held = Slots + Judge - 1;
  logic [Held*Context-1:0] held, current;
  logic [Held*24-1:0] held_qpn;
  logic judged_valid;

  always_comb begin
    held = {context_1_q, context_q};
    held_qpn = '0;
    held_qpn[24*Slots +: 24] = request_1_q.qpn;
    for (int s = 0; s < Slots; s++) begin
      here = request_q[s*Request +: Request];
      held_qpn[24*s +: 24] = here.qpn;
      if (context_valid_i && answer_q == s[SlotBits-1:0]) held[s*Context +: Context] = context_i;
    end
    current = held;
    for (int i = 0; i < Held; i++) begin
      held_context = held[i*Context +: Context];
      for (int late = 0; late < 2; late++) begin
        judged = late == 0 ? out_q : out_d;
        judged_valid = late == 0 ? out_valid_q : valid_q[Judge];
        if (judged_valid && held_qpn[24*i +: 24] == judged.qpn) held_context.state = judged.state;
      end
      current[i*Context +: Context] = held_context;
    end
  end

  // ---- 3: start ----
  assign issued = ready_q[head_q] && packets_out_ready_i;
  assign packets_out_start_o = issued;
  always_comb begin
    request_0 = '0;
    context_0 = '0;
    for (int s = 0; s < Slots; s++)
      if (head_q == s[SlotBits-1:0]) begin
        request_0 = request_q[s*Request +: Request];
        context_0 = current[s*Context +: Context];
      end
  end

  // ---- 4: stage 1: how many PSNs ----
  work_t work_1;
  logic [23:0] packets;
  /* verilator lint_off UNUSEDSIGNAL */  // bytes below a packet
  logic [43:0] padded;
  /* verilator lint_on UNUSEDSIGNAL */

  always_comb begin
    padded = {12'd0, request_1_q.byte_len} + {31'd0, context_1_q.path_mtu} - 44'd1;
    packets = 24'd1;
    if (request_1_q.kind != hca_pkg::PsnKindAtomic && request_1_q.byte_len != 32'd0)
      for (int i = 8; i <= 12; i++)
        if (context_1_q.path_mtu[i]) packets = padded[i +: 24];
    work_1.op = request_1_q.op;
    work_1.qpn = request_1_q.qpn;
    work_1.psn = request_1_q.psn;
    work_1.count = packets;
    if (request_1_q.op == hca_pkg::PsnOpPacket) begin
      work_1.psn = request_1_q.psn + request_1_q.index;
      work_1.count = request_1_q.kind == hca_pkg::PsnKindRead ? packets - request_1_q.index : 24'd1;
    end
  end

  // ---- 5: stage 2: what it does to the state ----
  hca_pkg::psn_state_t state, next;
  logic [23:0] place, waiting, going_on, behind, further, up_to, acked;
  logic [24:0] window;
  logic outstanding, moves;

  always_comb begin
    state = context_2_q.state;
    next = state;
    out_d = '0;
    out_d.first = 1'b1;
    out_d.last = 1'b1;
    out_d.op = work_2_q.op;
    out_d.qpn = work_2_q.qpn;
    out_d.result = hca_pkg::PsnResultDone;

    waiting = state.sent_psn - state.unacked_psn;
    place = work_2_q.psn - state.unacked_psn;
    outstanding = place < waiting;
    window = {1'b0, state.next_psn - state.unacked_psn} + {1'b0, work_2_q.count};
    behind = work_2_q.psn + work_2_q.count;
    further = behind - state.send_psn;
    going_on = state.send_psn - state.unacked_psn;
    moves = 1'b0;
    up_to = state.unacked_psn;

    unique case (work_2_q.op)
      hca_pkg::PsnOpStart: begin
        next.next_psn = work_2_q.psn;
        next.unacked_psn = work_2_q.psn;
        next.sent_psn = work_2_q.psn;
        next.send_psn = work_2_q.psn;
      end
      hca_pkg::PsnOpMessage: begin
        if (window > {1'b0, hca_pkg::PsnWindow}) out_d.result = hca_pkg::PsnResultFull;
        else next.next_psn = state.next_psn + work_2_q.count;
      end
      hca_pkg::PsnOpPacket: begin
        if (work_2_q.psn == state.send_psn || (further != 24'd0 && !further[23])) next.send_psn = behind;
        out_d.repeated = work_2_q.psn != state.sent_psn;
        if (!out_d.repeated) next.sent_psn = behind;
      end
      hca_pkg::PsnOpAcknowledge: begin
        moves = outstanding;
        up_to = work_2_q.psn + 24'd1;
        if (!outstanding) out_d.result = place == 24'hffffff ? hca_pkg::PsnResultNewest : hca_pkg::PsnResultGhost;
      end
      hca_pkg::PsnOpGoBack: begin
        moves = outstanding;
        up_to = work_2_q.psn;
        if (!moves) out_d.result = hca_pkg::PsnResultGhost;
      end
      hca_pkg::PsnOpTimeout: moves = 1'b1;
      default: ;
    endcase
    acked = up_to - state.unacked_psn;
    if (moves) begin
      out_d.progress = acked != 24'd0;
      next.unacked_psn = up_to;
      if (work_2_q.op != hca_pkg::PsnOpAcknowledge || going_on < acked) next.send_psn = up_to;
    end

    out_d.psn = next.unacked_psn;
    out_d.count = 24'd0;
    if (work_2_q.op == hca_pkg::PsnOpMessage || work_2_q.op == hca_pkg::PsnOpPacket) begin
      out_d.psn = work_2_q.op == hca_pkg::PsnOpMessage ? state.next_psn : work_2_q.psn;
      out_d.count = work_2_q.count;
    end
    out_d.unacked = next.sent_psn != next.unacked_psn;
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
    context_1_q <= context_0;
    work_2_q <= work_1;
    context_2_q <= current[Slots*Context +: Context];
    out_q <= out_d;
  end

`ifdef HCA_ASSERT
  localparam int unsigned BeatBytes = Width / 8;
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Latency = Judge + 1;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b1;
  localparam logic BytesFill = 1'b0;  // there are none
`include "stream_assert.svh"
`include "requester_psn_assert.svh"
`endif
endmodule
