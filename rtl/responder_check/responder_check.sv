// SPDX-License-Identifier: Apache-2.0
// Judges requests: the rules of 9.6 and 9.7 in the order of their table (hca_pkg::request_verdict), and the effect of a verdict
// on the context of its queue pair.
//
// Streams. packets_in is packets_out of rtl/rx_parser/rx_parser.sv without its data, at Width bits a beat: the headers hold in
// all beats, the verdict with the last one. Good frames with a request and those of a reserved OpCode are judged; all others,
// responses among them, are dropped. bth.dest_qp names the queue pair, which exists and has service RC, UC, UD or XRC; with rd_i,
// the device has RD, and RDETH of a request of RD names its EE context, which exists (bit 24 of context_ask_o, `ee`). packets_out
// has one beat for each request judged: verdict, syndrome of the answer, the fields that the following blocks need of the
// request, and the new context, which is its write-back: qpn and state; for a shared receive queue srqn, rq_consumed and
// rq_limit. A context has the receive queue of its request: the queue pair's own, its SRQ, or in XRC the SRQ that the message
// names; srqn is 0 if there is none. context_queue_o is the number in XRCETH, valid with the look-up. The context of an EE context
// is that of two look-ups, its own and that of the queue pair in context_queue_o, DestQP, which may not exist: addresses, P_Key,
// options and state are of the EE context, keys, rights, RNR timer and receive queue of the queue pair. A request that ends a
// message may put a WQE back into the queue of that message's owner: its write-back then is srqn and rq_consumed of the owner.
//
// Look-ups. A context is requested one cycle after the last beat; the region of the R_Key, if the request carries one that is
// not 0, one cycle after its context's answer. Answers come in the order of the look-ups, at most one a cycle, in any cycle
// after the look-up; this block has room for them. A context contains all write-backs of the cycles before; later ones of the
// same queue pair, EE context or receive queue are forwarded in here. pkeys_i is the P_Key table of the port, entry 0 in the low
// bits; it is stable, and so is rd_i.
//
// Grants. As in rtl/icrc/icrc.sv, but with room of its own for Slots requests, from the first beat on until their start into
// the rule stages, which needs packets_out_ready_i: packets_out_start_o takes the room after the block exactly Latency cycles
// ahead of the verdict. A stalled look-up holds its request and those after it, in their order; the rule stages are never
// stalled.
//
// Timing. Last beat in n, both answers at once: context look-up in n + 1, answer in n + 2, R_Key look-up in n + 3, answer in n
// + 4, start in n + 5 (n + 3 without R_Key), verdict in n + 12, Latency = 7; one request a cycle. Combinational path:
// packets_out_ready_i to packets_out_start_o, one gate. All else is registered.
module responder_check #(
  /* verilator lint_off UNUSEDPARAM */  // no data: only the assertions use the length of a beat
  parameter int unsigned Width = 512  // 256 or 512
  /* verilator lint_on UNUSEDPARAM */
) (
  input  logic              clk_i,
  input  logic              rst_ni,
  input  logic              packets_in_valid_i,
  output logic              packets_in_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // headers that no rule uses
  input  hca_pkg::parsed_t  packets_in_i,
  /* verilator lint_on UNUSEDSIGNAL */
  output logic              context_ask_valid_o,
  output logic [24:0]       context_ask_o,
  output logic [23:0]       context_queue_o,
  input  logic              context_valid_i,
  input  hca_pkg::context_t context_i,
  output logic              region_ask_valid_o,
  output logic [31:0]       region_ask_o,
  input  logic              region_valid_i,
  input  hca_pkg::region_t  region_i,
  input  logic [16*hca_pkg::PkeyEntries-1:0] pkeys_i,
  input  logic              rd_i,
  output logic              packets_out_start_o,
  output logic              packets_out_valid_o,
  input  logic              packets_out_ready_i,
  output hca_pkg::judged_t  packets_out_o
);
  localparam int unsigned SlotBits = 3;
  localparam int unsigned Slots = 1 << SlotBits;
  localparam int unsigned Context = hca_pkg::ContextBits;
  localparam int unsigned State = hca_pkg::StateBits;
  localparam int unsigned Region = hca_pkg::RegionBits;
  localparam int unsigned Judge = 6;  // the rule stage that needs the state; earlier ones do not

  // The header fields that the rules use.
  typedef struct packed {
    logic [127:0] source_gid;
    logic [127:0] destination_gid;
    logic [15:0] source_lid;
    logic [15:0] destination_lid;
    logic [3:0] lane;
    logic [2:0] framing;
    logic native;
    logic [23:0] psn;
    logic [7:0] opcode;
    logic known;
    logic fecn;
    logic [15:0] pkey;
    logic [31:0] qkey;
    logic [63:0] va;
    logic [31:0] rkey;        // of a packet that begins a message; else 0: it is not looked up
    logic [31:0] named_rkey;  // of any packet with a RETH
    logic [31:0] dma_len;
    logic eoeth;
    logic unnamed;            // with an unknown Extended OpCode
    logic [31:0] response;    // Response Data Length
    logic [31:0] offset;      // 0 without EOETH
    logic [3:0] placement;    // of a FLUSH
    logic [1:0] selectivity;
    logic [15:0] payload_bytes;
    logic names_srq;          // it has an XRCETH
    logic [23:0] xrc_srqn;
    logic resync;
    logic [23:0] dest_qp;
    logic [24:0] number;      // of its context: {ee, QPN or number of an EE context}
  } request_t;
  localparam int unsigned Request = 701;

  // A request in the rule stages.
  typedef struct packed {
    request_t request;
    logic [hca_pkg::RuleCount-1:0] broken;
    logic [1:0] kind;  // of the message that it belongs to
    logic begins;
    logic ends;
    logic full;        // a packet that is as long as the path MTU
    logic saved;       // it takes an entry of the saved requests, as a READ does
    logic atomic;      // with an AtomicETH
    logic exact;       // 8 bytes at a multiple of 8
    logic eight;       // with 8 bytes of payload
    logic whole;       // FLUSH of the whole region of its key
    logic takes_wqe;
    logic has_reth;
    logic [31:0] packets;  // packets of its response
    logic [15:0] right;    // access right that it needs
  } work_t;

  // The services that answer.
  function automatic logic is_reliable(input logic [2:0] service);
    is_reliable = service == hca_pkg::ServiceRC || service == hca_pkg::ServiceXRC || service == hca_pkg::ServiceRD;
  endfunction

  // ---- 0: grants ----
  logic open_q, room;
  logic arrived, accepted, fallen, issued;

  assign packets_in_ready_o = open_q && room;
  assign arrived = packets_in_valid_i && packets_in_i.last;
  assign accepted = arrived && (packets_in_i.verdict == hca_pkg::VerdictReservedOpCode
                                || (packets_in_i.verdict == hca_pkg::VerdictGood && in_kind[6]));
  assign fallen = arrived && !accepted;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b1;
    else if (packets_in_valid_i) open_q <= packets_in_i.last;
  end

  // ---- 1: a slot for each request, look-ups ----
  request_t request_in, request_0;
  /* verilator lint_off UNUSEDSIGNAL */  // headers that no rule uses; one bit of in_kind
  logic [6:0] in_kind;
  logic [hca_pkg::ExtCount-1:0] in_has;
  /* verilator lint_on UNUSEDSIGNAL */
  logic keyed, of_rd;

  always_comb begin
    in_kind = hca_pkg::opcode_kind(packets_in_i.bth.opcode);
    in_has = hca_pkg::opcode_ext(packets_in_i.bth.opcode);
    request_in.source_gid = packets_in_i.address.source_gid;
    request_in.destination_gid = packets_in_i.address.destination_gid;
    request_in.source_lid = packets_in_i.address.source_lid;
    request_in.destination_lid = packets_in_i.address.destination_lid;
    request_in.lane = packets_in_i.address.virtual_lane;
    request_in.framing = packets_in_i.address.framing;
    request_in.native = hca_pkg::is_native(packets_in_i.address.framing);
    of_rd = rd_i && packets_in_i.bth.opcode[7:5] == hca_pkg::ServiceRD;
    request_in.dest_qp = packets_in_i.bth.destqp;
    request_in.number = {of_rd, of_rd ? packets_in_i.ext.rdeth.eecontext : packets_in_i.bth.destqp};
    request_in.psn = packets_in_i.bth.psn;
    request_in.opcode = packets_in_i.bth.opcode;
    request_in.known = packets_in_i.verdict == hca_pkg::VerdictGood && hca_pkg::opcode_known(packets_in_i.bth.opcode);
    request_in.resync = of_rd && request_in.known && in_kind[5:2] == hca_pkg::OperationResync;
    request_in.fecn = packets_in_i.bth.f;
    request_in.pkey = packets_in_i.bth.p_key;
    request_in.qkey = packets_in_i.ext.deth.q_key;
    request_in.va = in_has[hca_pkg::ExtReth] ? packets_in_i.ext.reth.va : packets_in_i.ext.atomiceth.va;
    request_in.rkey = 32'd0;
    if (in_has[hca_pkg::ExtAtomiceth]) request_in.rkey = packets_in_i.ext.atomiceth.r_key;
    request_in.eoeth = in_has[hca_pkg::ExtEoeth];
    request_in.response = packets_in_i.ext.eoeth.responsedatalength;
    request_in.unnamed = request_in.eoeth
                         && packets_in_i.ext.eoeth.extendedopcode != hca_pkg::extended_opcode(packets_in_i.bth.opcode);
    request_in.offset = request_in.eoeth && !request_in.unnamed ? packets_in_i.ext.eoeth.offset : 32'd0;
    request_in.named_rkey = packets_in_i.ext.reth.r_key;
    if (in_has[hca_pkg::ExtReth] && !(in_kind[5:2] == hca_pkg::OperationPut && request_in.offset != 32'd0))
      request_in.rkey = packets_in_i.ext.reth.r_key;
    request_in.dma_len = packets_in_i.ext.reth.dmalen;
    request_in.placement = packets_in_i.ext.feth.plt;
    request_in.selectivity = packets_in_i.ext.feth.sel;
    request_in.payload_bytes = packets_in_i.payload_bytes;
    request_in.names_srq = request_in.known && in_has[hca_pkg::ExtXrceth];
    request_in.xrc_srqn = request_in.names_srq ? packets_in_i.ext.xrceth.xrcsrq : 24'd0;
  end
  logic [23:0] context_queue_q;
  assign context_queue_o = context_queue_q;
  always_ff @(posedge clk_i) context_queue_q <= of_rd ? packets_in_i.bth.destqp : request_in.xrc_srqn;

  // Waiting R_Keys: their slots, the next look-up and the next answer.
  logic [SlotBits-1:0] asked_q, keys_q;
  logic [Slots*SlotBits-1:0] waiting_q;
  logic [SlotBits-1:0] answered_slot, key_slot, start_slot;
  logic [Slots*Region-1:0] region_q;
  logic region_ask_valid_q;
  logic [31:0] region_ask_q;
  /* verilator lint_off UNUSEDSIGNAL */  // only its R_Key is used
  request_t answered;
  /* verilator lint_on UNUSEDSIGNAL */

  assign keyed = answered.rkey != 32'd0;
  assign key_slot = waiting_q[keys_q*SlotBits +: SlotBits];
  assign region_ask_valid_o = region_ask_valid_q;
  assign region_ask_o = region_ask_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      asked_q <= '0;
      keys_q <= '0;
      region_ask_valid_q <= 1'b0;
    end else begin
      region_ask_valid_q <= context_valid_i && keyed;
      if (context_valid_i && keyed) asked_q <= asked_q + 1'b1;
      if (region_valid_i) keys_q <= keys_q + 1'b1;
    end
  end
  always_ff @(posedge clk_i) begin
    region_ask_q <= answered.rkey;
    if (context_valid_i) waiting_q[asked_q*SlotBits +: SlotBits] <= answered_slot;
    for (int s = 0; s < Slots; s++)
      if (region_valid_i && key_slot == s[SlotBits-1:0]) region_q[s*Region +: Region] <= region_i;
      else if (context_valid_i && answered_slot == s[SlotBits-1:0]) region_q[s*Region +: Region] <= '0;  // has no R_Key
  end

  // ---- 2: hazards; WQEs taken and the limit belong to the SRQ, if the queue pair has one ----
  logic out_valid_q;
  hca_pkg::judged_t out_q, out_d;
  logic [Judge:1] valid_q;
  work_t work_0, work_1_q, work_2_q, work_3_q, work_4_q, work_5_q;
  /* verilator lint_off UNUSEDSIGNAL */  // the stages need a part each
  work_t work_6_q;
  hca_pkg::context_t qp_1_q, qp_2_q, qp_3_q, qp_4_q, qp_5_q, qp_6_q;
  hca_pkg::region_t region_5_q;  // spare bits
  /* verilator lint_on UNUSEDSIGNAL */
  hca_pkg::region_t region_0, region_1_q, region_2_q, region_3_q, region_4_q;

  look_up_slots #(
    .SlotBits(SlotBits),
    .Number(25),
    .Request(Request),
    .Context(Context),
    .State(State),
    .Stages(Judge),
    .Part(64),  // rq_consumed and rq_limit
    .PartAt(hca_pkg::StateRqLimitAt),
    .SharedAt(hca_pkg::ContextSharedAt),
    .QueueAt(hca_pkg::ContextSrqnAt),
    .OwnerAt(hca_pkg::StateOwnerAt),
    .OwnedAt(hca_pkg::StateOwnerConsumedAt)
  ) u_slots (
    .clk_i(clk_i),
    .rst_ni(rst_ni),
    .room_o(room),
    .take_i(packets_in_valid_i && packets_in_i.first),
    .drop_i(fallen),
    .enter_i(accepted),
    .request_i(request_in),
    .context_ask_valid_o(context_ask_valid_o),
    .context_ask_o(context_ask_o),
    .context_valid_i(context_valid_i),
    .context_i(context_i),
    .answered_slot_o(answered_slot),
    .answered_o(answered),
    .hold_i(keyed),
    .more_valid_i(region_valid_i),
    .more_slot_i(key_slot),
    .room_behind_i(packets_out_ready_i),
    .start_o(issued),
    .start_slot_o(start_slot),
    .start_request_o(request_0),
    .stage_number_i({work_5_q.request.number, work_4_q.request.number, work_3_q.request.number, work_2_q.request.number,
                     work_1_q.request.number}),
    .stage_context_o({qp_6_q, qp_5_q, qp_4_q, qp_3_q, qp_2_q, qp_1_q}),
    .result_valid_i({valid_q[Judge], out_valid_q}),
    .result_number_i({{out_d.ee, out_d.qpn}, {out_q.ee, out_q.qpn}}),
    .result_state_i({out_d.state, out_q.state}),
    .result_shared_i({out_d.shared, out_q.shared}),
    .result_queue_i({out_d.srqn, out_q.srqn})
  );

  // ---- 3: start ----
  assign packets_out_start_o = issued;
  always_comb begin
    work_0 = '0;
    work_0.request = request_0;
    region_0 = '0;
    for (int s = 0; s < Slots; s++)
      if (start_slot == s[SlotBits-1:0]) region_0 = region_q[s*Region +: Region];
  end

  // ---- 4: rule stage 1, Header: service, state, addresses ----
  work_t work_1;
  logic from_peer, from_group;
  logic [127:0] source, destination;

  function automatic logic takes_requests(input logic [2:0] qp_state);
    takes_requests = qp_state >= hca_pkg::QpStateRTR && qp_state <= hca_pkg::QpStateSQE;
  endfunction
  function automatic logic of_one_port(input logic [127:0] gid);
    of_one_port = gid[127:120] != 8'hff && (gid[127:64] != 64'd0 || gid[63:0] > 64'd1);
  endfunction
  function automatic logic names_gid(input logic [127:0] found, input logic [127:0] gid);
    names_gid = found == gid || (found[127:64] == hca_pkg::DefaultGidPrefix && found[63:0] == gid[63:0]);
  endfunction
  always_comb begin
    work_1 = work_1_q;
    source = work_1_q.request.source_gid;
    destination = work_1_q.request.destination_gid;
    if (qp_1_q.framing == hca_pkg::IbLocal)
      from_peer = work_1_q.request.source_lid == qp_1_q.peer_lid && work_1_q.request.destination_lid == qp_1_q.own_lid;
    else if (qp_1_q.framing == hca_pkg::RoceV2Ip4)
      from_peer = source == qp_1_q.peer_gid && destination == qp_1_q.own_gid;
    else
      from_peer = of_one_port(source) && names_gid(source, qp_1_q.peer_gid)
                  && of_one_port(destination) && names_gid(destination, qp_1_q.own_gid);
    work_1.broken[hca_pkg::RuleC9_38] = work_1_q.request.opcode[7:5] != qp_1_q.service;
    work_1.broken[hca_pkg::RuleG24_1] = qp_1_q.initiator;
    work_1.broken[hca_pkg::RuleC9_37] = !takes_requests(qp_1_q.qp_state);
    work_1.broken[hca_pkg::RuleT8_2] = work_1.broken[hca_pkg::RuleC9_37];
    from_group = work_1_q.request.native && work_1_q.request.source_lid[15:14] == 2'b11
                 && work_1_q.request.source_lid != 16'hffff;
    work_1.broken[hca_pkg::RuleVAL_6] = work_1_q.request.framing != qp_1_q.framing || !from_peer || from_group;
    work_1.broken[hca_pkg::RuleC9_56] = from_group;
  end

  // ---- 5: rule stage 2, Header: virtual lane, keys ----
  work_t work_2;
  logic in_table, to_qp0, to_qp1;
  logic [31:0] expected_qkey;
  logic for_context;

  // The same partition, not 0, and at least one of both is a full member.
  function automatic logic pkeys_match(input logic [15:0] a, input logic [15:0] b);
    pkeys_match = a[14:0] == b[14:0] && a[14:0] != 15'd0 && (a[15] || b[15]);
  endfunction
  always_comb begin
    work_2 = work_2_q;
    in_table = 1'b0;
    for (int i = 0; i < hca_pkg::PkeyEntries; i++)
      in_table = in_table || pkeys_match(work_2_q.request.pkey, pkeys_i[16*i +: 16]);
    to_qp0 = work_2_q.request.number == {1'b0, hca_pkg::Qp0};
    to_qp1 = work_2_q.request.number == {1'b0, hca_pkg::Qp1};
    expected_qkey = to_qp1 ? hca_pkg::Qp1Qkey : qp_2_q.qkey;
    work_2.broken[hca_pkg::RuleG27_2] = work_2_q.request.native
                                        && (work_2_q.request.lane == hca_pkg::Qp0Lane) != to_qp0;
    work_2.broken[hca_pkg::RuleC9_43] = !pkeys_match(work_2_q.request.pkey, qp_2_q.pkey);
    work_2.broken[hca_pkg::RuleT10_13_UD] = to_qp1 ? !in_table : !to_qp0 && work_2.broken[hca_pkg::RuleC9_43];
    work_2.broken[hca_pkg::RuleT10_12_UD] = work_2_q.request.known && !to_qp0
                                            && work_2_q.request.qkey != expected_qkey;
    work_2.broken[hca_pkg::RuleT10_21_XRC] = work_2_q.request.names_srq && qp_2_q.queue_domain == 32'd0;
    work_2.broken[hca_pkg::RuleT10_22_XRC] = work_2_q.request.names_srq && qp_2_q.queue_domain != qp_2_q.domain;
    // A RESYNC concerns the EE context alone, but by an option.
    for_context = work_2_q.request.resync && !qp_2_q.resync_needs_queue;
    work_2.broken[hca_pkg::RuleT10_14_RD] = !for_context
                                            && !(qp_2_q.has_queue && qp_2_q.queue_service == hca_pkg::ServiceRD
                                                 && takes_requests(qp_2_q.queue_state));
    work_2.broken[hca_pkg::RuleT10_11_RD] = !for_context && qp_2_q.queue_domain != qp_2_q.domain;
    work_2.broken[hca_pkg::RuleT10_12_RD] = !for_context && work_2_q.request.qkey != qp_2_q.qkey;
  end

  // ---- 6: rule stage 3, Support ----
  work_t work_3;
  /* verilator lint_off UNUSEDSIGNAL */  // headers that no rule uses, is_request, and all but capabilities
  logic [6:0] op;
  logic [hca_pkg::ExtCount-1:0] has;
  logic [Context-1:0] context_3;
  /* verilator lint_on UNUSEDSIGNAL */
  hca_pkg::operation_t operation;
  logic [hca_pkg::Capabilities-1:0] offered;
  logic unsupported, flush;
  logic [43:0] padded;
  logic [31:0] left_3;

  always_comb begin
    work_3 = work_3_q;
    op = hca_pkg::opcode_kind(work_3_q.request.opcode);
    has = hca_pkg::opcode_ext(work_3_q.request.opcode);
    operation = hca_pkg::operation_traits(op[5:2]);
    context_3 = qp_3_q;
    offered = context_3[hca_pkg::ContextCapabilitiesAt +: hca_pkg::Capabilities];
    work_3.kind = operation.message;
    work_3.begins = op[1:0] == hca_pkg::PositionFirst || op[1:0] == hca_pkg::PositionOnly;
    work_3.ends = op[1:0] == hca_pkg::PositionLast || op[1:0] == hca_pkg::PositionOnly;
    work_3.full = op[1:0] == hca_pkg::PositionFirst || op[1:0] == hca_pkg::PositionMiddle;
    // A PUT has one opcode: it begins at Offset 0 and ends at DMALen.
    if (op[5:2] == hca_pkg::OperationPut) begin
      work_3.begins = work_3_q.request.offset == 32'd0;
      work_3.ends = {1'b0, work_3_q.request.offset} + {17'd0, work_3_q.request.payload_bytes}
                    == {1'b0, work_3_q.request.dma_len} || work_3_q.request.unnamed;
      work_3.full = !work_3.ends;
    end
    work_3.saved = operation.saved;
    work_3.atomic = operation.atomic;
    work_3.exact = operation.exact;
    work_3.eight = operation.eight;
    flush = has[hca_pkg::ExtFeth];
    work_3.whole = flush && work_3_q.request.selectivity == hca_pkg::FlushRegion;
    work_3.has_reth = has[hca_pkg::ExtReth] && work_3.begins;
    work_3.takes_wqe = work_3.kind == hca_pkg::InMessageSend ? work_3.begins
                       : work_3.kind == hca_pkg::InMessageWrite && has[hca_pkg::ExtImmdt];
    work_3.right = operation.right;
    if (flush)
      work_3.right = (work_3_q.request.placement[0] ? hca_pkg::FlushGlobal : 16'd0)
                     | (work_3_q.request.placement[1] ? hca_pkg::FlushPersistent : 16'd0);
    unsupported = !work_3_q.request.known || work_3_q.request.unnamed || (work_3.kind == hca_pkg::InMessageNone && !work_3.saved && !work_3_q.request.resync)
                  || (operation.capability & ~offered) != '0
                  || (flush && (work_3_q.request.placement == 4'd0 || work_3_q.request.placement[3:2] != 2'd0
                                || work_3_q.request.selectivity[1]))
                  || (work_3.right & ~qp_3_q.access) != 16'd0;
    work_3.broken[hca_pkg::RuleT10_2_RC] = unsupported;
    work_3.broken[hca_pkg::RuleT10_2_XRC] = unsupported;
    work_3.broken[hca_pkg::RuleT10_2_RD] = unsupported;
    work_3.broken[hca_pkg::RuleT10_2_UC] = unsupported;
    work_3.broken[hca_pkg::RuleT10_2_UD] = unsupported;

    // Packets of the response: those of a READ, else one.
    left_3 = work_3_q.request.dma_len - work_3_q.request.offset;
    padded = {12'd0, left_3} + {31'd0, qp_3_q.path_mtu} - 44'd1;
    work_3.packets = 32'd1;
    if (operation.reads && left_3 != 32'd0)
      for (int i = 8; i <= 12; i++)
        if (qp_3_q.path_mtu[i]) work_3.packets = padded[i +: 32];
    if (work_3_q.request.eoeth && (work_3_q.request.unnamed || work_3_q.request.response != work_3_q.request.dma_len
                                   || work_3_q.request.offset > work_3_q.request.dma_len))
      work_3.packets = 32'd0;
  end

  // ---- 7: rule stage 4, Length, by the packet alone ----
  work_t work_4;
  logic bad_length;
  logic [15:0] mtu, payload;

  function automatic logic wrong_left(input logic full, input logic [31:0] left, input logic [15:0] bytes);
    wrong_left = left > hca_pkg::MaxMessageBytes || (full ? left <= {16'd0, bytes} : left != {16'd0, bytes});
  endfunction
  // Its payload goes to the memory that its first packet names.
  function automatic logic places(input logic [1:0] kind);
    places = kind == hca_pkg::InMessageWrite || kind == hca_pkg::InMessagePut;
  endfunction
  always_comb begin
    work_4 = work_4_q;
    mtu = {3'd0, qp_4_q.path_mtu};
    payload = work_4_q.request.payload_bytes;
    if (work_4_q.saved)
      bad_length = (work_4_q.request.eoeth ? payload > hca_pkg::MaxGetRequestBytes
                                                 || (work_4_q.request.offset != 32'd0
                                                     && (!qp_4_q.takes_get_offset
                                                         || work_4_q.request.offset > work_4_q.request.dma_len))
                                                 || work_4_q.request.response != work_4_q.request.dma_len
                                           : payload != (work_4_q.eight ? hca_pkg::AtomicBytes[15:0] : 16'd0))
                   || (work_4_q.has_reth && (work_4_q.exact ? work_4_q.request.dma_len != hca_pkg::AtomicBytes
                                                            : work_4_q.request.dma_len > hca_pkg::MaxMessageBytes));
    else
      bad_length = payload > mtu || (work_4_q.full && payload != mtu) || (work_4_q.ends && !work_4_q.begins && payload == 16'd0)
                   || (work_4_q.request.resync && payload != 16'd0)
                   || (places(work_4_q.kind) && work_4_q.begins
                       && wrong_left(work_4_q.full, work_4_q.request.dma_len, payload))
                   || (work_4_q.kind == hca_pkg::InMessagePut && qp_4_q.refuses_put_response
                       && work_4_q.request.response != 32'd0);
    work_4.broken[hca_pkg::RuleT10_16_RC] = bad_length;
    work_4.broken[hca_pkg::RuleT10_16_XRC] = bad_length;
    work_4.broken[hca_pkg::RuleT10_16_RD] = bad_length;
    work_4.broken[hca_pkg::RuleT10_16_UC] = bad_length;
    work_4.broken[hca_pkg::RuleT10_16_UD] = bad_length;
    work_4.broken[hca_pkg::RuleT10_3_RC] = work_4_q.exact && work_4_q.request.va[2:0] != 3'd0;
    work_4.broken[hca_pkg::RuleT10_3_XRC] = work_4.broken[hca_pkg::RuleT10_3_RC];
    work_4.broken[hca_pkg::RuleT10_3_RD] = work_4.broken[hca_pkg::RuleT10_3_RC];
  end

  // ---- 8: rule stage 5, Access ----
  work_t work_5;
  logic [63:0] wanted, offset;
  logic [31:0] keys_pd;
  logic allowed;

  always_comb begin
    work_5 = work_5_q;
    wanted = {32'd0, work_5_q.atomic ? hca_pkg::AtomicBytes : work_5_q.request.dma_len};
    offset = work_5_q.request.va - region_5_q.start;
    keys_pd = qp_5_q.service == hca_pkg::ServiceXRC && qp_5_q.keys_of_queue && qp_5_q.srqn != 24'd0 ? qp_5_q.queue_pd
                                                                                                    : qp_5_q.pd;
    allowed = region_5_q.exists && region_5_q.key == work_5_q.request.rkey
              && region_5_q.state == hca_pkg::KeyStateValid && region_5_q.pd == keys_pd
              && (region_5_q.qpn == hca_pkg::AnyQp || region_5_q.qpn == {8'd0, work_5_q.request.dest_qp})
              && (work_5_q.right & ~region_5_q.access) == 16'd0
              && (work_5_q.whole || (work_5_q.request.va >= region_5_q.start && wanted <= region_5_q.bytes
                                     && offset <= region_5_q.bytes - wanted));
    work_5.broken[hca_pkg::RuleT10_5_RC] = (work_5_q.atomic || work_5_q.has_reth) && (work_5_q.whole || wanted != 64'd0) && !allowed;
    work_5.broken[hca_pkg::RuleT10_5_XRC] = work_5.broken[hca_pkg::RuleT10_5_RC];
    work_5.broken[hca_pkg::RuleT10_5_RD] = work_5.broken[hca_pkg::RuleT10_5_RC];
    work_5.broken[hca_pkg::RuleT10_5_UC] = work_5.broken[hca_pkg::RuleT10_5_RC];
  end

  // ---- 9: rule stage 6: Order, Sequence, Resource and other rules that need the state; the verdict and its effect ----
  hca_pkg::checked_state_t state, next;
  logic [hca_pkg::RuleCount-1:0] broken;
  logic [23:0] distance;
  logic expected, duplicate, ahead, in_message, known, out_of_sequence, no_wqe, queue_failed, wrong_end;
  logic [31:0] unfinished, bytes;
  logic [11:0] verdict;
  logic [3:0] action;
  logic [4:0] cause;
  logic executes, fails, writes, took, passed_own, fails_own;
  logic ee, resync, ends_message, completes, returns;

  always_comb begin
    state = qp_6_q.state;
    known = work_6_q.request.known;
    ee = work_6_q.request.number[24];
    resync = work_6_q.request.resync;
    distance = work_6_q.request.psn - state.epsn;
    expected = distance == 24'd0;
    duplicate = distance[23];
    ahead = !expected && !duplicate;
    in_message = state.message != hca_pkg::InMessageNone;
    out_of_sequence = in_message ? work_6_q.begins || work_6_q.kind != state.message : !work_6_q.begins;
    unfinished = state.reads_accepted - qp_6_q.reads_finished;
    no_wqe = work_6_q.takes_wqe && qp_6_q.rq_posted == state.rq_consumed;
    queue_failed = work_6_q.takes_wqe && qp_6_q.rq_failed;
    bytes = {16'd0, work_6_q.request.payload_bytes};
    wrong_end = places(work_6_q.kind) && !work_6_q.begins
                && wrong_left(work_6_q.full, state.write_left, work_6_q.request.payload_bytes);

    broken = work_6_q.broken;
    if (state.failing) broken[hca_pkg::RuleC9_37] = 1'b1;
    broken[hca_pkg::RuleG3_3] = duplicate && known && work_6_q.saved;
    broken[hca_pkg::RuleG3_1] = duplicate;
    broken[hca_pkg::RuleG2_3] = ahead && state.nak_sent && !resync;
    broken[hca_pkg::RuleT10_8_RC] = ahead;
    broken[hca_pkg::RuleT10_8_XRC] = ahead;
    broken[hca_pkg::RuleT10_8_RD] = ahead && !resync;
    broken[hca_pkg::RuleT10_8_UC] = !expected && !(known && work_6_q.begins);
    broken[hca_pkg::RuleG24_5] = work_6_q.request.names_srq && in_message && !work_6_q.begins && !qp_6_q.keeps_queue
                                 && work_6_q.request.xrc_srqn != state.xrc_srqn;
    broken[hca_pkg::RuleT10_9_RC] = known && out_of_sequence;
    broken[hca_pkg::RuleT10_9_XRC] = broken[hca_pkg::RuleT10_9_RC];
    broken[hca_pkg::RuleEXT_5] = known && work_6_q.kind == hca_pkg::InMessagePut && !work_6_q.begins
                                 && (work_6_q.request.dma_len - work_6_q.request.offset != state.write_left
                                     || (!qp_6_q.keeps_put
                                         && (work_6_q.request.va + {32'd0, work_6_q.request.offset} != state.write_va
                                             || work_6_q.request.named_rkey != state.write_rkey)));
    broken[hca_pkg::RuleT10_9_RD] = known && !resync
                                    && (out_of_sequence || (in_message && work_6_q.request.dest_qp != state.owner)
                                        || broken[hca_pkg::RuleEXT_5]);
    broken[hca_pkg::RuleT10_10_UC] = known && !work_6_q.begins && work_6_q.kind != state.message;
    broken[hca_pkg::RuleT10_4_RC] = work_6_q.saved && unfinished >= {24'd0, qp_6_q.max_reads};
    broken[hca_pkg::RuleT10_4_XRC] = broken[hca_pkg::RuleT10_4_RC];
    broken[hca_pkg::RuleT10_4_RD] = broken[hca_pkg::RuleT10_4_RC];
    broken[hca_pkg::RuleT10_20_RC] = queue_failed;
    broken[hca_pkg::RuleT10_20_XRC] = queue_failed;
    broken[hca_pkg::RuleT10_20_UC] = queue_failed;
    broken[hca_pkg::RuleT10_20_UD] = queue_failed;
    broken[hca_pkg::RuleG15_5] = qp_6_q.shared && no_wqe;
    broken[hca_pkg::RuleG23_3] = qp_6_q.shared && no_wqe;
    broken[hca_pkg::RuleG8_1] = no_wqe;
    if (wrong_end) begin
      broken[hca_pkg::RuleT10_16_RC] = 1'b1;
      broken[hca_pkg::RuleT10_16_XRC] = 1'b1;
      broken[hca_pkg::RuleT10_16_RD] = 1'b1;
      broken[hca_pkg::RuleT10_16_UC] = 1'b1;
    end
    verdict = hca_pkg::request_verdict(broken & hca_pkg::request_rules(qp_6_q.service));
    action = verdict[11:8];
    cause = verdict[7:3];
    executes = action == hca_pkg::ActionExecute;
    fails = action == hca_pkg::ActionNakAndFail || action == hca_pkg::ActionFail;
    writes = executes && places(work_6_q.kind);

    next = state;
    out_d = '0;
    out_d.first = 1'b1;
    out_d.last = 1'b1;
    {out_d.ee, out_d.qpn} = work_6_q.request.number;
    out_d.shared = qp_6_q.shared;
    out_d.srqn = qp_6_q.srqn;
    out_d.action = action;
    out_d.cause = cause;
    out_d.nak = verdict[2:0];
    if (fails) next.failing = 1'b1;

    // A packet of a WRITE or PUT is placed where the previous one ended.
    if (writes) begin
      if (work_6_q.has_reth) begin
        next.write_va = work_6_q.request.va;
        next.write_rkey = work_6_q.request.rkey;
        next.write_left = work_6_q.request.dma_len;
        next.write_bytes = work_6_q.request.dma_len;
      end
      out_d.va = next.write_va;
      out_d.rkey = next.write_rkey;
      out_d.byte_len = next.write_bytes;
      next.write_left = next.write_left - bytes;
      next.write_va = next.write_va + {32'd0, bytes};
    end

    if (is_reliable(qp_6_q.service)) begin
      out_d.ack_psn = work_6_q.request.psn;
      out_d.congested = work_6_q.request.fecn && qp_6_q.congestion_control && action != hca_pkg::ActionDrop;
      if (known && work_6_q.saved && (executes || action == hca_pkg::ActionRepeat)) begin
        out_d.va = work_6_q.request.va + {32'd0, work_6_q.request.offset};
        out_d.rkey = work_6_q.request.rkey;
        out_d.byte_len = work_6_q.atomic ? hca_pkg::AtomicBytes : work_6_q.request.dma_len - work_6_q.request.offset;
        out_d.packets = work_6_q.packets;
      end
      if (executes && work_6_q.saved) begin
        next.epsn = state.epsn + work_6_q.packets[23:0];
        next.msn = state.msn + 24'd1;
        next.reads_accepted = state.reads_accepted + 32'd1;
        next.nak_sent = 1'b0;
      end else if (executes && resync) begin
        next.epsn = work_6_q.request.psn + 24'd1;
        next.nak_sent = 1'b0;
        out_d.completes_message = 1'b1;
      end else if (executes) begin
        next.epsn = state.epsn + 24'd1;
        if (work_6_q.ends) next.msn = state.msn + 24'd1;
        next.message = work_6_q.ends ? hca_pkg::InMessageNone : work_6_q.kind;
        next.nak_sent = 1'b0;
        out_d.completes_message = work_6_q.ends;
        if (work_6_q.takes_wqe) next.rq_consumed = state.rq_consumed + 32'd1;
      end else if (action == hca_pkg::ActionAcknowledge) begin
        out_d.ack_psn = state.epsn - 24'd1;
      end else if (cause == hca_pkg::CausePsnAhead) begin
        out_d.ack_psn = state.epsn;
        next.nak_sent = 1'b1;
      end else if (action == hca_pkg::ActionRnrNak) begin
        next.nak_sent = qp_6_q.drop_after_rnr;
      end
      if (ee && (action == hca_pkg::ActionNak || action == hca_pkg::ActionNakAndEnd)) next.nak_sent = 1'b1;
      out_d.msn = next.msn;
      out_d.receive_wqe = next.rq_consumed - 32'd1;
      out_d.free_receives = qp_6_q.rq_posted - next.rq_consumed;
      unique case (action)
        hca_pkg::ActionDrop: ;
        hca_pkg::ActionRnrNak: out_d.syndrome = {hca_pkg::RnrNakKind, qp_6_q.min_rnr_timer};
        hca_pkg::ActionNak, hca_pkg::ActionNakAndFail, hca_pkg::ActionNakAndEnd:
          out_d.syndrome = {hca_pkg::NakKind, 2'd0, verdict[2:0]};
        default: out_d.syndrome = {hca_pkg::AckKind, qp_6_q.credits ? hca_pkg::credit_code(out_d.free_receives)
                                                                         : hca_pkg::CreditsUnused};
      endcase
    end else if (qp_6_q.service == hca_pkg::ServiceUD) begin
      out_d.completes_message = executes;
    end else if (action == hca_pkg::ActionFail) begin
      next.epsn = work_6_q.request.psn;
    end else if (action != hca_pkg::ActionDrop) begin
      next.epsn = work_6_q.request.psn + 24'd1;
      next.message = executes && !work_6_q.ends ? work_6_q.kind : hca_pkg::InMessageNone;
      out_d.completes_message = executes && work_6_q.ends;
    end

    // An SRQ gives its WQE with the first packet; it also gives one to a request that failed where it would have taken one.
    took = executes && work_6_q.takes_wqe;
    passed_own = known && work_6_q.takes_wqe && cause != hca_pkg::CauseBadSequence
                 && cause != hca_pkg::CauseUnsupported && cause != hca_pkg::CauseSharedQueueFailed
                 && cause != hca_pkg::CauseNoXrcSrq && cause != hca_pkg::CauseWrongXrcDomain;
    fails_own = action == hca_pkg::ActionNakAndFail && passed_own;
    if (executes && work_6_q.request.names_srq && work_6_q.begins) next.xrc_srqn = work_6_q.request.xrc_srqn;
    if (qp_6_q.shared && !ee && qp_6_q.srqn != 24'd0) begin
      out_d.takes_shared = took || fails_own;
      if (out_d.takes_shared) begin
        next.shared_wqe = state.rq_consumed;
        next.shared_taken = state.shared_taken + 32'd1;
        next.rq_consumed = state.rq_consumed + 32'd1;
        out_d.below_limit = state.rq_limit != 32'd0 && qp_6_q.rq_posted - next.rq_consumed < state.rq_limit;
        if (out_d.below_limit) next.rq_limit = 32'd0;
      end
      out_d.receive_wqe = next.shared_wqe - {31'd0, fails_own};
    end

    // RD: a request that ends the message in progress decides about the WQE that the message holds. It completes, or it returns
    // to its queue if it is the newest one taken there.
    ends_message = ee && (action == hca_pkg::ActionNakAndEnd || (executes && resync));
    completes = executes ? qp_6_q.completes_at_resync : qp_6_q.completes_at_error;
    returns = ends_message && state.message == hca_pkg::InMessageSend && !completes;
    if (ee && executes && !resync) begin
      if (work_6_q.begins) next.owner = work_6_q.request.dest_qp;
      if (work_6_q.takes_wqe) next.held_wqe = state.rq_consumed;
      out_d.receive_wqe = next.held_wqe;
    end
    if (ends_message) next.message = hca_pkg::InMessageNone;
    if (ends_message && completes && passed_own) begin
      next.rq_consumed = state.rq_consumed + 32'd1;
      out_d.receive_wqe = state.rq_consumed;
    end
    if (returns) begin
      out_d.keeps_wqe = state.owner_consumed - 32'd1 == state.held_wqe;
      out_d.srqn = state.owner;
      next.rq_consumed = state.owner_consumed - {31'd0, out_d.keeps_wqe};
    end
    if (ee && next.owner == out_d.srqn) next.owner_consumed = next.rq_consumed;
    out_d.state = next;
  end

  assign packets_out_valid_o = out_valid_q;
  assign packets_out_o = out_q;

  // ---- registers of the rule stages ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      out_valid_q <= 1'b0;
    end else begin
      valid_q <= {valid_q[Judge-1:1], issued};
      out_valid_q <= valid_q[Judge];
    end
  end
  always_ff @(posedge clk_i) begin
    work_1_q <= work_0;
    region_1_q <= region_0;
    work_2_q <= work_1;
    region_2_q <= region_1_q;
    work_3_q <= work_2;
    region_3_q <= region_2_q;
    work_4_q <= work_3;
    region_4_q <= region_3_q;
    work_5_q <= work_4;
    region_5_q <= region_4_q;
    work_6_q <= work_5;
    out_q <= out_d;
  end

`ifdef HCA_ASSERT
  localparam int unsigned BeatBytes = Width / 8;
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Latency = Judge + 1;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b1;
  localparam logic BytesFill = 1'b0;  // bytes counts the payload
`include "stream_assert.svh"
`endif
endmodule
