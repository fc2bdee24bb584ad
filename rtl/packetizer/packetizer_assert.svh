// SPDX-License-Identifier: Apache-2.0
// Checks descriptors (define HCA_ASSERT). Included inside module packetizer.

  logic [12:0] promised_q, promised;  // bytes of payload that are still to come

  assign promised = packets_in_i.first ? packets_in_i.payload_bytes : promised_q;
  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) begin
      promised_q <= promised - {6'd0, packets_in_i.bytes};
      payload_as_promised: assert (packets_in_i.last == (promised <= {6'd0, Full})
                                   && (!packets_in_i.last || packets_in_i.bytes == promised[6:0]))
        else $error("packets_in: payload_bytes is not the payload");
    end
    if (packets_out_start_o) begin
      opcode_known: assert (hca_pkg::opcode_known(packets_in_i.bth.opcode))
        else $error("packets_in: reserved OpCode %h", packets_in_i.bth.opcode);
      payload_in_range: assert (packets_in_i.payload_bytes <= hca_pkg::MaxPayload)
        else $error("packets_in: %0d bytes of payload", packets_in_i.payload_bytes);
    end
  end
