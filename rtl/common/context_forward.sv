// SPDX-License-Identifier: Apache-2.0
// Forwards a result to a context: if both have the same number, the context takes the result's state. With Part, this many bits
// of the state, from PartAt on, are those of a queue, and are forwarded by the number of that queue if the context has the bit
// SharedAt set: the number at QueueAt, if the result is shared too. The highest bit of a context's number says which of two
// kinds it is of, and no queue is of both. A context of the second kind also knows the count of another queue, the highest 32
// bits of such a part: the number of that queue is at OwnerAt, the count at OwnedAt. Combinational.
module context_forward #(
  parameter int unsigned Number = 24,   // bits
  parameter int unsigned Context = 32,  // bits
  parameter int unsigned State = 32,    // the low bits of the context
  parameter int unsigned Part = 0,      // bits; 0: there is no part
  parameter int unsigned PartAt = 0,
  parameter int unsigned SharedAt = 0,
  parameter int unsigned QueueAt = 0,
  parameter int unsigned OwnerAt = 0,
  parameter int unsigned OwnedAt = 0
) (
  input  logic [Number-1:0]  number_i,
  input  logic [Context-1:0] context_i,
  input  logic               result_valid_i,
  input  logic [Number-1:0]  result_number_i,
  input  logic [State-1:0]   result_state_i,
  /* verilator lint_off UNUSEDSIGNAL */  // unused without Part
  input  logic               result_shared_i,
  input  logic [23:0]        result_queue_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic [Context-1:0] context_o
);
  logic same;

  assign same = result_valid_i && number_i == result_number_i;
  if (Part == 0) begin : gen_whole
    assign context_o = same ? {context_i[Context-1:State], result_state_i} : context_i;
  end else begin : gen_part
    logic same_queue, of_owner;
    assign same_queue = context_i[SharedAt]
                        ? result_valid_i && result_shared_i && context_i[QueueAt +: 24] == result_queue_i
                          && number_i[Number-1] == result_number_i[Number-1] : same;
    assign of_owner = result_valid_i && result_shared_i && number_i[Number-1] && result_number_i[Number-1]
                      && context_i[OwnerAt +: 24] == result_queue_i;
    always_comb begin
      context_o = context_i;
      if (same) context_o[0 +: State] = result_state_i;
      else if (of_owner) context_o[OwnedAt +: 32] = result_state_i[PartAt+Part-32 +: 32];
      context_o[PartAt +: Part] = same_queue ? result_state_i[PartAt +: Part] : context_i[PartAt +: Part];
    end
  end
endmodule
