// SPDX-License-Identifier: Apache-2.0
// Requests that wait for the late answers of their contexts, and the hazards between all requests inside: slots before the
// stages of a block, and the contexts of slots and stages.
//
// A request takes a slot (take_i) when it enters or with its first beat; with its last beat it is stored there (enter_i) or
// releases it (drop_i). Its context is requested one cycle later. Answers come in the order of the look-ups, in any cycle after
// the look-up. A request that needs more is held at its context's answer (hold_i) and continues with more_valid_i. Requests
// start in their order, when there is room after the block (room_behind_i), and are in stage 1 one cycle after their start.
//
// Results change the low State bits of a context (rtl/common/context_forward.sv). In each cycle two results are forwarded: 0
// leaves the block, and 1, the younger one, is made by its last stage now. An answer contains the write-backs of the cycles
// before, so it gets both; all other contexts inside already have the first one.
//
// Combinational paths: room_behind_i to start_o, one gate; results and answers to the registers.
module look_up_slots #(
  parameter int unsigned SlotBits = 3,
  parameter int unsigned Number = 24,    // bits of the number of a context
  parameter int unsigned Request = 24,   // bits; the lowest are the number of its context
  parameter int unsigned Context = 32,   // bits
  parameter int unsigned State = 32,     // the low bits of the context
  parameter int unsigned Stages = 2,     // up to the one that makes results, 2 or more
  parameter int unsigned Part = 0,       // see rtl/common/context_forward.sv
  parameter int unsigned PartAt = 0,
  parameter int unsigned SharedAt = 0,
  parameter int unsigned QueueAt = 0,
  parameter int unsigned OwnerAt = 0,
  parameter int unsigned OwnedAt = 0
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  output logic                      room_o,
  input  logic                      take_i,
  input  logic                      drop_i,
  input  logic                      enter_i,
  input  logic [Request-1:0]        request_i,
  output logic                      context_ask_valid_o,
  output logic [Number-1:0]         context_ask_o,
  input  logic                      context_valid_i,
  input  logic [Context-1:0]        context_i,
  output logic [SlotBits-1:0]       answered_slot_o,
  output logic [Request-1:0]        answered_o,
  input  logic                      hold_i,
  input  logic                      more_valid_i,
  input  logic [SlotBits-1:0]       more_slot_i,
  input  logic                      room_behind_i,
  output logic                      start_o,
  output logic [SlotBits-1:0]       start_slot_o,
  output logic [Request-1:0]        start_request_o,
  input  logic [Number*(Stages-1)-1:0] stage_number_i,  // numbers of the contexts in stages 1 to Stages - 1, stage 1 lowest
  output logic [Stages*Context-1:0] stage_context_o,
  input  logic [1:0]                result_valid_i,
  input  logic [2*Number-1:0]       result_number_i,
  input  logic [2*State-1:0]        result_state_i,
  input  logic [1:0]                result_shared_i,
  input  logic [2*24-1:0]           result_queue_i
);
  localparam int unsigned Slots = 1 << SlotBits;
  localparam logic [SlotBits:0] AllSlots = Slots[SlotBits:0];
  localparam int unsigned Held = Slots + Stages - 1;  // contexts inside, without that of the last stage

  // ---- slots ----
  logic [SlotBits:0] used_q;
  logic [SlotBits-1:0] tail_q, answer_q, head_q;  // the next request, context and start
  logic [Slots*Request-1:0] request_q;
  logic [Slots*Context-1:0] context_q;
  logic [Slots-1:0] ready_q;
  logic context_ask_valid_q;
  logic [Number-1:0] context_ask_q;
  logic [Stages*Context-1:0] stage_context_q;
  logic [Context-1:0] start_context;

  assign room_o = used_q != AllSlots;
  assign start_o = ready_q[head_q] && room_behind_i;
  assign start_slot_o = head_q;
  assign answered_slot_o = answer_q;
  assign context_ask_valid_o = context_ask_valid_q;
  assign context_ask_o = context_ask_q;
  assign stage_context_o = stage_context_q;
  always_comb begin
    answered_o = '0;
    for (int s = 0; s < Slots; s++)
      if (answer_q == s[SlotBits-1:0]) answered_o = request_q[s*Request +: Request];
  end
  always_comb begin
    start_request_o = '0;
    start_context = '0;
    for (int s = 0; s < Slots; s++)
      if (head_q == s[SlotBits-1:0]) begin
        start_request_o = request_q[s*Request +: Request];
        start_context = current[s*Context +: Context];
      end
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      used_q <= '0;
      tail_q <= '0;
      answer_q <= '0;
      head_q <= '0;
      ready_q <= '0;
      context_ask_valid_q <= 1'b0;
    end else begin
      used_q <= used_q + {{SlotBits{1'b0}}, take_i} - {{SlotBits{1'b0}}, drop_i} - {{SlotBits{1'b0}}, start_o};
      context_ask_valid_q <= enter_i;
      if (enter_i) tail_q <= tail_q + 1'b1;
      if (context_valid_i) answer_q <= answer_q + 1'b1;
      if (start_o) head_q <= head_q + 1'b1;
      if (context_valid_i && !hold_i) ready_q[answer_q] <= 1'b1;
      if (more_valid_i) ready_q[more_slot_i] <= 1'b1;
      if (start_o) ready_q[head_q] <= 1'b0;
    end
  end
  always_ff @(posedge clk_i) begin
    context_ask_q <= request_i[Number-1:0];
    for (int s = 0; s < Slots; s++)
      if (enter_i && tail_q == s[SlotBits-1:0]) request_q[s*Request +: Request] <= request_i;
    context_q <= current[0 +: Slots*Context];
    stage_context_q <= {current[Slots*Context +: (Stages-1)*Context], start_context};
  end

  // ---- hazards: a result of this cycle, judged or leaving, changes the contexts inside ----
  logic [Held*Context-1:0] held, current;
  logic [Held*Number-1:0] held_number;
  logic [Context-1:0] answer;

  context_forward #(
    .Number(Number),
    .Context(Context),
    .State(State),
    .Part(Part),
    .PartAt(PartAt),
    .SharedAt(SharedAt),
    .QueueAt(QueueAt),
    .OwnerAt(OwnerAt),
    .OwnedAt(OwnedAt)
  ) u_answer (
    .number_i(answered_o[Number-1:0]),
    .context_i(context_i),
    .result_valid_i(result_valid_i[0]),
    .result_number_i(result_number_i[0 +: Number]),
    .result_state_i(result_state_i[0 +: State]),
    .result_shared_i(result_shared_i[0]),
    .result_queue_i(result_queue_i[0 +: 24]),
    .context_o(answer)
  );
  always_comb begin
    held = {stage_context_q[0 +: (Stages-1)*Context], context_q};
    held_number = '0;
    held_number[Number*Slots +: Number*(Stages-1)] = stage_number_i;
    for (int s = 0; s < Slots; s++) begin
      held_number[Number*s +: Number] = request_q[s*Request +: Number];
      if (context_valid_i && answer_q == s[SlotBits-1:0]) held[s*Context +: Context] = answer;
    end
  end
  for (genvar i = 0; i < Held; i++) begin : gen_held
    context_forward #(
      .Number(Number),
      .Context(Context),
      .State(State),
      .Part(Part),
      .PartAt(PartAt),
      .SharedAt(SharedAt),
      .QueueAt(QueueAt),
      .OwnerAt(OwnerAt),
      .OwnedAt(OwnedAt)
    ) u_held (
      .number_i(held_number[Number*i +: Number]),
      .context_i(held[i*Context +: Context]),
      .result_valid_i(result_valid_i[1]),
      .result_number_i(result_number_i[Number +: Number]),
      .result_state_i(result_state_i[State +: State]),
      .result_shared_i(result_shared_i[1]),
      .result_queue_i(result_queue_i[24 +: 24]),
      .context_o(current[i*Context +: Context])
    );
  end

`ifdef HCA_ASSERT
  logic [SlotBits:0] asked_q;  // contexts requested in the cycles before and not answered
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) asked_q <= '0;
    else begin
      asked_q <= asked_q + {{SlotBits{1'b0}}, context_ask_valid_q} - {{SlotBits{1'b0}}, context_valid_i};
      if (context_valid_i) begin
        answer_behind_ask: assert (asked_q != '0) else $error("context: an answer that nothing has asked for");
      end
      slots_suffice: assert (used_q <= AllSlots) else $error("more is inside than there are slots");
    end
  end
`endif
endmodule
