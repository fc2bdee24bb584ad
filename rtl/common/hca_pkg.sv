// SPDX-License-Identifier: Apache-2.0
// Made by `hca rtl package` from the tables of model/proto: change those, then make this file again.
package hca_pkg;
  /* verilator lint_off UNUSEDPARAM */  // no block needs all of them

  // LRH, 8 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [3:0] vl;  // variant
    logic [3:0] lver;
    logic [3:0] sl;
    logic [1:0] resv2_at12;
    logic [1:0] lnh;
    logic [15:0] dlid;
    logic [4:0] resv5_at32;
    logic [10:0] pktlen;
    logic [15:0] slid;
  } lrh_t;

  // GRH, 40 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [3:0] ipver;
    logic [7:0] tclass;  // variant
    logic [19:0] flowlabel;  // variant
    logic [15:0] paylen;
    logic [7:0] nxthdr;
    logic [7:0] hoplmt;  // variant
    logic [127:0] sgid;
    logic [127:0] dgid;
  } grh_t;

  // Ethernet, 14 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [47:0] destination;
    logic [47:0] source;
    logic [15:0] ethertype;
  } ethernet_t;

  // VLAN, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [2:0] pcp;
    logic dei;
    logic [11:0] vid;
    logic [15:0] ethertype;
  } vlan_t;

  // IPv4, 20 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [3:0] version;
    logic [3:0] ihl;
    logic [7:0] tos;  // variant
    logic [15:0] totallength;
    logic [15:0] identification;
    logic reserved;
    logic df;
    logic mf;
    logic [12:0] fragmentoffset;
    logic [7:0] ttl;  // variant
    logic [7:0] protocol;
    logic [15:0] headerchecksum;  // variant
    logic [31:0] source;
    logic [31:0] destination;
  } ipv4_t;

  // IPv6, 40 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [3:0] version;
    logic [7:0] trafficclass;  // variant
    logic [19:0] flowlabel;  // variant
    logic [15:0] payloadlength;
    logic [7:0] nextheader;
    logic [7:0] hoplimit;  // variant
    logic [127:0] source;
    logic [127:0] destination;
  } ipv6_t;

  // UDP, 8 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [15:0] sourceport;
    logic [15:0] destinationport;
    logic [15:0] length;
    logic [15:0] checksum;  // variant
  } udp_t;

  // BTH, 12 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [7:0] opcode;
    logic se;
    logic m;
    logic [1:0] padcnt;
    logic [3:0] tver;
    logic [15:0] p_key;
    logic f;  // variant
    logic b;  // variant
    logic [5:0] resv6_at34;  // variant
    logic [23:0] destqp;
    logic a;
    logic [6:0] resv7_at65;
    logic [23:0] psn;
  } bth_t;

  // RDETH, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [7:0] reserved_at0;
    logic [23:0] eecontext;
  } rdeth_t;

  // DETH, 8 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [31:0] q_key;
    logic [7:0] reserved_at32;
    logic [23:0] srcqp;
  } deth_t;

  // XRCETH, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [7:0] reserved_at0;
    logic [23:0] xrcsrq;
  } xrceth_t;

  // EOETH, 12 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [15:0] reserved_at0;
    logic [15:0] extendedopcode;
    logic [31:0] responsedatalength;
    logic [31:0] offset;
  } eoeth_t;

  // FETH, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [25:0] reserved_at0;
    logic [1:0] sel;
    logic [3:0] plt;
  } feth_t;

  // RETH, 16 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [63:0] va;
    logic [31:0] r_key;
    logic [31:0] dmalen;
  } reth_t;

  // AtomicETH, 28 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [63:0] va;
    logic [31:0] r_key;
    logic [63:0] swapdt_adddt;
    logic [63:0] cmpdt;
  } atomiceth_t;

  // AETH, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [7:0] syndrome;
    logic [23:0] msn;
  } aeth_t;

  // AtomicAckETH, 8 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [63:0] origremdt;
  } atomicacketh_t;

  // ImmDt, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [31:0] immdt;
  } immdt_t;

  // IETH, 4 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [31:0] r_key;
  } ieth_t;

  // Side band of a packet: its framing.
  typedef enum logic [2:0] {
    IbLocal = 3'd0,
    IbGlobal = 3'd1,
    RoceV1 = 3'd2,
    RoceV2Ip4 = 3'd3,
    RoceV2Ip6 = 3'd4
  } framing_e;

  typedef enum logic [1:0] {IcrcBypass = 2'd0, IcrcGenerate = 2'd1, IcrcCheck = 2'd2} icrc_mode_e;

  // An LRH in front, a VCRC behind.
  function automatic logic is_native(input framing_e framing);
    is_native = 1'b0;
    if (framing == 3'd0) is_native = 1'b1;  // IbLocal
    if (framing == 3'd1) is_native = 1'b1;  // IbGlobal
  endfunction

  // Variant bits of the first bytes of a frame: the ICRC sees ones.
  localparam int unsigned MaskBytes = 128;
  function automatic logic [1023:0] icrc_ones(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_ones = 1024'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff0000000000000000000000f0;  // IbLocal
      4'b0010: icrc_ones = 1024'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000;  // IbGlobal
      4'b0100: icrc_ones = 1024'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000000000000000;  // RoceV1
      4'b0101: icrc_ones = 1024'h0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_ones = 1024'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff00000000ffff0000000000000000000000000000ffff00ff000000000000ff000000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_ones = 1024'h0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff00000000ffff0000000000000000000000000000ffff00ff000000000000ff00000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_ones = 1024'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff00000000ffff0000000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_ones = 1024'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff00000000ffff0000000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_ones = 1024'd0;
    endcase
  endfunction

  // Which of the first 32 bytes the ICRC covers: not the Ethernet header or the LRH in front of a GRH.
  function automatic logic [255:0] icrc_covered(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_covered = 256'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;  // IbLocal
      4'b0010: icrc_covered = 256'hffffffffffffffffffffffffffffffffffffffffffffffff0000000000000000;  // IbGlobal
      4'b0100: icrc_covered = 256'hffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV1
      4'b0101: icrc_covered = 256'hffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_covered = 256'hffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_covered = 256'hffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_covered = 256'hffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_covered = 256'hffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_covered = 256'd0;
    endcase
  endfunction

  // The start value, to be XORed into the first covered bytes of a register that starts at 0.
  // Behind an Ethernet header it is the register after the 8 bytes of ones that stand for the LRH.
  function automatic logic [255:0] icrc_seed(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_seed = 256'h00000000000000000000000000000000000000000000000000000000ffffffff;  // IbLocal
      4'b0010: icrc_seed = 256'h0000000000000000000000000000000000000000debb20e30000000000000000;  // IbGlobal
      4'b0100: icrc_seed = 256'h0000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV1
      4'b0101: icrc_seed = 256'h00000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_seed = 256'h0000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_seed = 256'h00000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_seed = 256'h0000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_seed = 256'h00000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_seed = 256'd0;
    endcase
  endfunction

  // The shortest frame with a BTH and its CRCs.
  function automatic logic [6:0] icrc_min_bytes(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_min_bytes = 7'd26;  // IbLocal
      4'b0010: icrc_min_bytes = 7'd66;  // IbGlobal
      4'b0100: icrc_min_bytes = 7'd70;  // RoceV1
      4'b0101: icrc_min_bytes = 7'd74;  // RoceV1, vlan
      4'b0110: icrc_min_bytes = 7'd58;  // RoceV2Ip4
      4'b0111: icrc_min_bytes = 7'd62;  // RoceV2Ip4, vlan
      4'b1000: icrc_min_bytes = 7'd78;  // RoceV2Ip6
      4'b1001: icrc_min_bytes = 7'd82;  // RoceV2Ip6, vlan
      default: icrc_min_bytes = 7'd0;
    endcase
  endfunction

  // What stands beside the data of a beat.
  typedef struct packed {
    logic [6:0] spare;
    logic vcrc_ok;
    logic icrc_ok;
    logic vlan;
    framing_e framing;
    icrc_mode_e mode;
    logic first;
    logic last;
    logic [6:0] bytes;
  } beat_t;

  // Where packets go: what the headers in front of the BTH are made from.
  typedef struct packed {
    logic [127:0] source_gid;
    logic [127:0] destination_gid;
    logic [47:0] source_mac;
    logic [47:0] destination_mac;
    logic [15:0] source_lid;
    logic [15:0] destination_lid;
    logic [15:0] udp_source_port;
    logic [7:0] traffic_class;
    logic [7:0] hop_limit;
    logic [3:0] service_level;
    logic [3:0] virtual_lane;
    logic [19:0] flow_label;
    logic [11:0] vlan_id;
    logic [2:0] vlan_priority;
    logic spare;
    framing_e framing;
    logic vlan;
  } address_t;

  // The headers that can follow a BTH, in their order.
  typedef struct packed {
    rdeth_t rdeth;
    deth_t deth;
    xrceth_t xrceth;
    eoeth_t eoeth;
    feth_t feth;
    reth_t reth;
    atomiceth_t atomiceth;
    aeth_t aeth;
    atomicacketh_t atomicacketh;
    immdt_t immdt;
    ieth_t ieth;
  } ext_headers_t;

  // What stands beside the data of a payload: the packet that it becomes.
  typedef struct packed {
    logic [1:0] spare;
    logic [15:0] ip_id;
    logic [12:0] payload_bytes;
    logic first;
    logic last;
    logic [6:0] bytes;
    address_t address;
    bth_t bth;
    ext_headers_t ext;
  } descriptor_t;

  // The first thing that does not hold in a frame.
  typedef enum logic [4:0] {
    VerdictGood = 5'd0,
    VerdictTruncated = 5'd1,
    VerdictUnknownEtherType = 5'd2,
    VerdictRawPacket = 5'd3,
    VerdictBadLVer = 5'd4,
    VerdictBadIPVersion = 5'd5,
    VerdictBadIHL = 5'd6,
    VerdictBadIPChecksum = 5'd7,
    VerdictFragment = 5'd8,
    VerdictNotUDP = 5'd9,
    VerdictBadUDPPort = 5'd10,
    VerdictBadUDPChecksum = 5'd11,
    VerdictBadNxtHdr = 5'd12,
    VerdictBadLength = 5'd13,
    VerdictBadPadCnt = 5'd14,
    VerdictBadTVer = 5'd15,
    VerdictReservedOpCode = 5'd16,
    VerdictBadICRC = 5'd17,
    VerdictBadVCRC = 5'd18
  } verdict_e;

  // What stands beside the data of a payload that was received.
  typedef struct packed {
    logic [1:0] spare;
    verdict_e verdict;
    logic [15:0] payload_bytes;
    logic first;
    logic last;
    logic [6:0] bytes;
    address_t address;
    bth_t bth;
    ext_headers_t ext;
  } parsed_t;

  localparam logic [15:0] EtherTypeVlan = 16'h8100;
  localparam logic [15:0] EtherTypeIpv4 = 16'h800;
  localparam logic [15:0] EtherTypeIpv6 = 16'h86dd;
  localparam logic [15:0] EtherTypeRoce = 16'h8915;
  localparam logic [15:0] RoceUdpPort = 16'h12b7;
  localparam logic [7:0] IpProtocolUdp = 8'h11;
  localparam logic [7:0] NextHeaderIba = 8'h1b;
  localparam logic [1:0] LnhGlobal = 2'h3;
  localparam logic [1:0] LnhLocal = 2'h2;
  localparam logic [3:0] IpVersion4 = 4'h4;
  localparam logic [3:0] IpVersion6 = 4'h6;
  localparam logic [3:0] Ipv4HeaderWords = 4'h5;
  localparam logic [12:0] MaxPayload = 13'h1000;
  localparam int unsigned IcrcBytes = 4;
  localparam int unsigned VcrcBytes = 2;
  localparam int unsigned MaxHeaderBytes = 128;
  localparam int unsigned LrhBytes = 8;
  localparam int unsigned GrhBytes = 40;
  localparam int unsigned EthernetBytes = 14;
  localparam int unsigned VlanBytes = 4;
  localparam int unsigned Ipv4Bytes = 20;
  localparam int unsigned Ipv6Bytes = 40;
  localparam int unsigned UdpBytes = 8;
  localparam int unsigned BthBytes = 12;
  localparam int unsigned RdethBytes = 4;
  localparam int unsigned DethBytes = 8;
  localparam int unsigned XrcethBytes = 4;
  localparam int unsigned EoethBytes = 12;
  localparam int unsigned FethBytes = 4;
  localparam int unsigned RethBytes = 16;
  localparam int unsigned AtomicethBytes = 28;
  localparam int unsigned AethBytes = 4;
  localparam int unsigned AtomicackethBytes = 8;
  localparam int unsigned ImmdtBytes = 4;
  localparam int unsigned IethBytes = 4;

  // The headers that can follow a BTH, in their order.
  localparam int unsigned ExtCount = 12;
  localparam int unsigned MaxExtBytes = 40;
  localparam int unsigned ExtRdeth = 0;
  localparam int unsigned ExtDeth = 1;
  localparam int unsigned ExtXrceth = 2;
  localparam int unsigned ExtEoeth = 3;
  localparam int unsigned ExtFeth = 4;
  localparam int unsigned ExtReth = 5;
  localparam int unsigned ExtAtomiceth = 6;
  localparam int unsigned ExtAeth = 7;
  localparam int unsigned ExtAtomicacketh = 8;
  localparam int unsigned ExtImmdt = 9;
  localparam int unsigned ExtIeth = 10;
  localparam int unsigned ExtCnp = 11;

  // Which of them the packets of an opcode have, one bit each; all: the opcode is reserved.
  function automatic logic [11:0] opcode_row(input logic [7:0] opcode);
    unique case (opcode)
      8'h00: opcode_row = 12'h000;  // SEND First
      8'h01: opcode_row = 12'h000;  // SEND Middle
      8'h02: opcode_row = 12'h000;  // SEND Last
      8'h03: opcode_row = 12'h200;  // SEND Last with Immediate
      8'h04: opcode_row = 12'h000;  // SEND Only
      8'h05: opcode_row = 12'h200;  // SEND Only with Immediate
      8'h06: opcode_row = 12'h020;  // RDMA WRITE First
      8'h07: opcode_row = 12'h000;  // RDMA WRITE Middle
      8'h08: opcode_row = 12'h000;  // RDMA WRITE Last
      8'h09: opcode_row = 12'h200;  // RDMA WRITE Last with Immediate
      8'h0a: opcode_row = 12'h020;  // RDMA WRITE Only
      8'h0b: opcode_row = 12'h220;  // RDMA WRITE Only with Immediate
      8'h0c: opcode_row = 12'h020;  // RDMA READ Request
      8'h0d: opcode_row = 12'h080;  // RDMA READ Response First
      8'h0e: opcode_row = 12'h000;  // RDMA READ Response Middle
      8'h0f: opcode_row = 12'h080;  // RDMA READ Response Last
      8'h10: opcode_row = 12'h080;  // RDMA READ Response Only
      8'h11: opcode_row = 12'h080;  // Acknowledge
      8'h12: opcode_row = 12'h180;  // ATOMIC Acknowledge
      8'h13: opcode_row = 12'h040;  // CmpSwap
      8'h14: opcode_row = 12'h040;  // FetchAdd
      8'h16: opcode_row = 12'h400;  // SEND Last with Invalidate
      8'h17: opcode_row = 12'h400;  // SEND Only with Invalidate
      8'h1a: opcode_row = 12'h028;  // GET class operation
      8'h1b: opcode_row = 12'h028;  // PUT class operation
      8'h1c: opcode_row = 12'h030;  // FLUSH
      8'h1d: opcode_row = 12'h020;  // ATOMIC WRITE
      8'h20: opcode_row = 12'h000;  // SEND First
      8'h21: opcode_row = 12'h000;  // SEND Middle
      8'h22: opcode_row = 12'h000;  // SEND Last
      8'h23: opcode_row = 12'h200;  // SEND Last with Immediate
      8'h24: opcode_row = 12'h000;  // SEND Only
      8'h25: opcode_row = 12'h200;  // SEND Only with Immediate
      8'h26: opcode_row = 12'h020;  // RDMA WRITE First
      8'h27: opcode_row = 12'h000;  // RDMA WRITE Middle
      8'h28: opcode_row = 12'h000;  // RDMA WRITE Last
      8'h29: opcode_row = 12'h200;  // RDMA WRITE Last with Immediate
      8'h2a: opcode_row = 12'h020;  // RDMA WRITE Only
      8'h2b: opcode_row = 12'h220;  // RDMA WRITE Only with Immediate
      8'h40: opcode_row = 12'h003;  // SEND First
      8'h41: opcode_row = 12'h003;  // SEND Middle
      8'h42: opcode_row = 12'h003;  // SEND Last
      8'h43: opcode_row = 12'h203;  // SEND Last with Immediate
      8'h44: opcode_row = 12'h003;  // SEND Only
      8'h45: opcode_row = 12'h203;  // SEND Only with Immediate
      8'h46: opcode_row = 12'h023;  // RDMA WRITE First
      8'h47: opcode_row = 12'h003;  // RDMA WRITE Middle
      8'h48: opcode_row = 12'h003;  // RDMA WRITE Last
      8'h49: opcode_row = 12'h203;  // RDMA WRITE Last with Immediate
      8'h4a: opcode_row = 12'h023;  // RDMA WRITE Only
      8'h4b: opcode_row = 12'h223;  // RDMA WRITE Only with Immediate
      8'h4c: opcode_row = 12'h023;  // RDMA READ Request
      8'h4d: opcode_row = 12'h081;  // RDMA READ Response First
      8'h4e: opcode_row = 12'h001;  // RDMA READ Response Middle
      8'h4f: opcode_row = 12'h081;  // RDMA READ Response Last
      8'h50: opcode_row = 12'h081;  // RDMA READ Response Only
      8'h51: opcode_row = 12'h081;  // Acknowledge
      8'h52: opcode_row = 12'h181;  // ATOMIC Acknowledge
      8'h53: opcode_row = 12'h043;  // CmpSwap
      8'h54: opcode_row = 12'h043;  // FetchAdd
      8'h55: opcode_row = 12'h003;  // RESYNC
      8'h5a: opcode_row = 12'h02b;  // GET class operation
      8'h5b: opcode_row = 12'h02b;  // PUT class operation
      8'h5c: opcode_row = 12'h033;  // FLUSH
      8'h64: opcode_row = 12'h002;  // SEND Only
      8'h65: opcode_row = 12'h202;  // SEND Only with Immediate
      8'h80: opcode_row = 12'h800;  // CN
      8'h81: opcode_row = 12'h800;  // CNP
      8'ha0: opcode_row = 12'h004;  // SEND First
      8'ha1: opcode_row = 12'h004;  // SEND Middle
      8'ha2: opcode_row = 12'h004;  // SEND Last
      8'ha3: opcode_row = 12'h204;  // SEND Last with Immediate
      8'ha4: opcode_row = 12'h004;  // SEND Only
      8'ha5: opcode_row = 12'h204;  // SEND Only with Immediate
      8'ha6: opcode_row = 12'h024;  // RDMA WRITE First
      8'ha7: opcode_row = 12'h004;  // RDMA WRITE Middle
      8'ha8: opcode_row = 12'h004;  // RDMA WRITE Last
      8'ha9: opcode_row = 12'h204;  // RDMA WRITE Last with Immediate
      8'haa: opcode_row = 12'h024;  // RDMA WRITE Only
      8'hab: opcode_row = 12'h224;  // RDMA WRITE Only with Immediate
      8'hac: opcode_row = 12'h024;  // RDMA READ Request
      8'had: opcode_row = 12'h080;  // RDMA READ Response First
      8'hae: opcode_row = 12'h000;  // RDMA READ Response Middle
      8'haf: opcode_row = 12'h080;  // RDMA READ Response Last
      8'hb0: opcode_row = 12'h080;  // RDMA READ Response Only
      8'hb1: opcode_row = 12'h080;  // Acknowledge
      8'hb2: opcode_row = 12'h180;  // ATOMIC Acknowledge
      8'hb3: opcode_row = 12'h044;  // CmpSwap
      8'hb4: opcode_row = 12'h044;  // FetchAdd
      8'hb6: opcode_row = 12'h404;  // SEND Last with Invalidate
      8'hb7: opcode_row = 12'h404;  // SEND Only with Invalidate
      8'hba: opcode_row = 12'h02c;  // GET class operation
      8'hbb: opcode_row = 12'h02c;  // PUT class operation
      8'hbc: opcode_row = 12'h034;  // FLUSH
      default: opcode_row = '1;
    endcase
  endfunction
  function automatic logic opcode_known(input logic [7:0] opcode);
    opcode_known = opcode_row(opcode) != '1;
  endfunction
  // An operation that no device executes: refused whatever stands behind its BTH.
  function automatic logic opcode_extended(input logic [7:0] opcode);
    unique case (opcode)
      8'h1a: opcode_extended = 1'b1;  // GET class operation
      8'h1b: opcode_extended = 1'b1;  // PUT class operation
      8'h1c: opcode_extended = 1'b1;  // FLUSH
      8'h1d: opcode_extended = 1'b1;  // ATOMIC WRITE
      8'h5a: opcode_extended = 1'b1;  // GET class operation
      8'h5b: opcode_extended = 1'b1;  // PUT class operation
      8'h5c: opcode_extended = 1'b1;  // FLUSH
      8'hba: opcode_extended = 1'b1;  // GET class operation
      8'hbb: opcode_extended = 1'b1;  // PUT class operation
      8'hbc: opcode_extended = 1'b1;  // FLUSH
      default: opcode_extended = 1'b0;
    endcase
  endfunction
  // The Extended OpCode that the packets of a functional class have; 0: it is no class.
  function automatic logic [15:0] extended_opcode(input logic [7:0] opcode);
    unique case (opcode)
      8'h1a: extended_opcode = 16'd1;  // GET Memory
      8'h1b: extended_opcode = 16'd2;  // PUT Memory Only
      8'h5a: extended_opcode = 16'd1;  // GET Memory
      8'h5b: extended_opcode = 16'd2;  // PUT Memory Only
      8'hba: extended_opcode = 16'd1;  // GET Memory
      8'hbb: extended_opcode = 16'd2;  // PUT Memory Only
      default: extended_opcode = 16'd0;
    endcase
  endfunction
  // None of a reserved one.
  function automatic logic [11:0] opcode_ext(input logic [7:0] opcode);
    opcode_ext = opcode_row(opcode);
    if (opcode_ext == '1) opcode_ext = '0;
  endfunction

  // Bytes of a BTH and of these behind it.
  function automatic logic [6:0] transport_bytes(input logic [11:0] has);
    unique case (has)
      12'h000: transport_bytes = 7'd12;
      12'h001: transport_bytes = 7'd16;
      12'h002: transport_bytes = 7'd20;
      12'h003: transport_bytes = 7'd24;
      12'h004: transport_bytes = 7'd16;
      12'h008: transport_bytes = 7'd24;
      12'h00b: transport_bytes = 7'd36;
      12'h00c: transport_bytes = 7'd28;
      12'h020: transport_bytes = 7'd28;
      12'h023: transport_bytes = 7'd40;
      12'h024: transport_bytes = 7'd32;
      12'h028: transport_bytes = 7'd40;
      12'h02b: transport_bytes = 7'd52;
      12'h02c: transport_bytes = 7'd44;
      12'h030: transport_bytes = 7'd32;
      12'h033: transport_bytes = 7'd44;
      12'h034: transport_bytes = 7'd36;
      12'h040: transport_bytes = 7'd40;
      12'h043: transport_bytes = 7'd52;
      12'h044: transport_bytes = 7'd44;
      12'h080: transport_bytes = 7'd16;
      12'h081: transport_bytes = 7'd20;
      12'h180: transport_bytes = 7'd24;
      12'h181: transport_bytes = 7'd28;
      12'h200: transport_bytes = 7'd16;
      12'h202: transport_bytes = 7'd24;
      12'h203: transport_bytes = 7'd28;
      12'h204: transport_bytes = 7'd20;
      12'h220: transport_bytes = 7'd32;
      12'h223: transport_bytes = 7'd44;
      12'h224: transport_bytes = 7'd36;
      12'h400: transport_bytes = 7'd16;
      12'h404: transport_bytes = 7'd20;
      12'h800: transport_bytes = 7'd28;
      default: transport_bytes = 7'd12;
    endcase
  endfunction

  // The extension headers of a packet, the first one in the most significant bits; `ext` is an ext_headers_t. A CNP has zeros.
  function automatic logic [319:0] ext_headers(input logic [11:0] has, input logic [767:0] ext);
    ext_headers = '0;
    unique case (has)
      12'h001: ext_headers = {ext[767 -: 32], 288'd0};  // RDETH
      12'h002: ext_headers = {ext[735 -: 64], 256'd0};  // DETH
      12'h003: ext_headers = {ext[767 -: 32], ext[735 -: 64], 224'd0};  // RDETH DETH
      12'h004: ext_headers = {ext[671 -: 32], 288'd0};  // XRCETH
      12'h008: ext_headers = {ext[639 -: 96], 224'd0};  // EOETH
      12'h00b: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[639 -: 96], 128'd0};  // RDETH DETH EOETH
      12'h00c: ext_headers = {ext[671 -: 32], ext[639 -: 96], 192'd0};  // XRCETH EOETH
      12'h020: ext_headers = {ext[511 -: 128], 192'd0};  // RETH
      12'h023: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[511 -: 128], 96'd0};  // RDETH DETH RETH
      12'h024: ext_headers = {ext[671 -: 32], ext[511 -: 128], 160'd0};  // XRCETH RETH
      12'h028: ext_headers = {ext[639 -: 96], ext[511 -: 128], 96'd0};  // EOETH RETH
      12'h02b: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[639 -: 96], ext[511 -: 128]};  // RDETH DETH EOETH RETH
      12'h02c: ext_headers = {ext[671 -: 32], ext[639 -: 96], ext[511 -: 128], 64'd0};  // XRCETH EOETH RETH
      12'h030: ext_headers = {ext[543 -: 32], ext[511 -: 128], 160'd0};  // FETH RETH
      12'h033: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[543 -: 32], ext[511 -: 128], 64'd0};  // RDETH DETH FETH RETH
      12'h034: ext_headers = {ext[671 -: 32], ext[543 -: 32], ext[511 -: 128], 128'd0};  // XRCETH FETH RETH
      12'h040: ext_headers = {ext[383 -: 224], 96'd0};  // AtomicETH
      12'h043: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[383 -: 224]};  // RDETH DETH AtomicETH
      12'h044: ext_headers = {ext[671 -: 32], ext[383 -: 224], 64'd0};  // XRCETH AtomicETH
      12'h080: ext_headers = {ext[159 -: 32], 288'd0};  // AETH
      12'h081: ext_headers = {ext[767 -: 32], ext[159 -: 32], 256'd0};  // RDETH AETH
      12'h180: ext_headers = {ext[159 -: 32], ext[127 -: 64], 224'd0};  // AETH AtomicAckETH
      12'h181: ext_headers = {ext[767 -: 32], ext[159 -: 32], ext[127 -: 64], 192'd0};  // RDETH AETH AtomicAckETH
      12'h200: ext_headers = {ext[63 -: 32], 288'd0};  // ImmDt
      12'h202: ext_headers = {ext[735 -: 64], ext[63 -: 32], 224'd0};  // DETH ImmDt
      12'h203: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[63 -: 32], 192'd0};  // RDETH DETH ImmDt
      12'h204: ext_headers = {ext[671 -: 32], ext[63 -: 32], 256'd0};  // XRCETH ImmDt
      12'h220: ext_headers = {ext[511 -: 128], ext[63 -: 32], 160'd0};  // RETH ImmDt
      12'h223: ext_headers = {ext[767 -: 32], ext[735 -: 64], ext[511 -: 128], ext[63 -: 32], 64'd0};  // RDETH DETH RETH ImmDt
      12'h224: ext_headers = {ext[671 -: 32], ext[511 -: 128], ext[63 -: 32], 128'd0};  // XRCETH RETH ImmDt
      12'h400: ext_headers = {ext[31 -: 32], 288'd0};  // IETH
      12'h404: ext_headers = {ext[671 -: 32], ext[31 -: 32], 256'd0};  // XRCETH IETH
      default: ;
    endcase
  endfunction

  // The other way round: an ext_headers_t of what stands behind a BTH; what is not there is 0, reserved bits are.
  function automatic logic [767:0] ext_fields(input logic [11:0] has, input logic [319:0] packet);
    ext_fields = '0;
    unique case (has)
      12'h001: ext_fields = {packet[319 -: 32], 736'd0};
      12'h002: ext_fields = {32'd0, packet[319 -: 64], 672'd0};
      12'h003: ext_fields = {packet[319 -: 32], packet[287 -: 64], 672'd0};
      12'h004: ext_fields = {96'd0, packet[319 -: 32], 640'd0};
      12'h008: ext_fields = {128'd0, packet[319 -: 96], 544'd0};
      12'h00b: ext_fields = {packet[319 -: 32], packet[287 -: 64], 32'd0, packet[223 -: 96], 544'd0};
      12'h00c: ext_fields = {96'd0, packet[319 -: 32], packet[287 -: 96], 544'd0};
      12'h020: ext_fields = {256'd0, packet[319 -: 128], 384'd0};
      12'h023: ext_fields = {packet[319 -: 32], packet[287 -: 64], 160'd0, packet[223 -: 128], 384'd0};
      12'h024: ext_fields = {96'd0, packet[319 -: 32], 128'd0, packet[287 -: 128], 384'd0};
      12'h028: ext_fields = {128'd0, packet[319 -: 96], 32'd0, packet[223 -: 128], 384'd0};
      12'h02b: ext_fields = {packet[319 -: 32], packet[287 -: 64], 32'd0, packet[223 -: 96], 32'd0, packet[127 -: 128], 384'd0};
      12'h02c: ext_fields = {96'd0, packet[319 -: 32], packet[287 -: 96], 32'd0, packet[191 -: 128], 384'd0};
      12'h030: ext_fields = {224'd0, packet[319 -: 32], packet[287 -: 128], 384'd0};
      12'h033: ext_fields = {packet[319 -: 32], packet[287 -: 64], 128'd0, packet[223 -: 32], packet[191 -: 128], 384'd0};
      12'h034: ext_fields = {96'd0, packet[319 -: 32], 96'd0, packet[287 -: 32], packet[255 -: 128], 384'd0};
      12'h040: ext_fields = {384'd0, packet[319 -: 224], 160'd0};
      12'h043: ext_fields = {packet[319 -: 32], packet[287 -: 64], 288'd0, packet[223 -: 224], 160'd0};
      12'h044: ext_fields = {96'd0, packet[319 -: 32], 256'd0, packet[287 -: 224], 160'd0};
      12'h080: ext_fields = {608'd0, packet[319 -: 32], 128'd0};
      12'h081: ext_fields = {packet[319 -: 32], 576'd0, packet[287 -: 32], 128'd0};
      12'h180: ext_fields = {608'd0, packet[319 -: 32], packet[287 -: 64], 64'd0};
      12'h181: ext_fields = {packet[319 -: 32], 576'd0, packet[287 -: 32], packet[255 -: 64], 64'd0};
      12'h200: ext_fields = {704'd0, packet[319 -: 32], 32'd0};
      12'h202: ext_fields = {32'd0, packet[319 -: 64], 608'd0, packet[255 -: 32], 32'd0};
      12'h203: ext_fields = {packet[319 -: 32], packet[287 -: 64], 608'd0, packet[223 -: 32], 32'd0};
      12'h204: ext_fields = {96'd0, packet[319 -: 32], 576'd0, packet[287 -: 32], 32'd0};
      12'h220: ext_fields = {256'd0, packet[319 -: 128], 320'd0, packet[191 -: 32], 32'd0};
      12'h223: ext_fields = {packet[319 -: 32], packet[287 -: 64], 160'd0, packet[223 -: 128], 320'd0, packet[95 -: 32], 32'd0};
      12'h224: ext_fields = {96'd0, packet[319 -: 32], 128'd0, packet[287 -: 128], 320'd0, packet[159 -: 32], 32'd0};
      12'h400: ext_fields = {736'd0, packet[319 -: 32]};
      12'h404: ext_fields = {96'd0, packet[319 -: 32], 608'd0, packet[287 -: 32]};
      default: ;
    endcase
    ext_fields = ext_fields & 768'h00ffffffffffffff00ffffff00ffffff0000ffffffffffffffffffff0000003fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;
  endfunction

  localparam int unsigned MaxPathBytes = 66;
  // Bytes in front of the BTH.
  function automatic logic [6:0] path_bytes(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: path_bytes = 7'd8;  // IbLocal
      4'b0010: path_bytes = 7'd48;  // IbGlobal
      4'b0100: path_bytes = 7'd54;  // RoceV1
      4'b0101: path_bytes = 7'd58;  // RoceV1, vlan
      4'b0110: path_bytes = 7'd42;  // RoceV2Ip4
      4'b0111: path_bytes = 7'd46;  // RoceV2Ip4, vlan
      4'b1000: path_bytes = 7'd62;  // RoceV2Ip6
      4'b1001: path_bytes = 7'd66;  // RoceV2Ip6, vlan
      default: path_bytes = 7'd0;
    endcase
  endfunction

  localparam logic [3:0] ActionExecute = 4'h0;
  localparam logic [3:0] ActionAcknowledge = 4'h1;
  localparam logic [3:0] ActionRepeat = 4'h2;
  localparam logic [3:0] ActionNak = 4'h3;
  localparam logic [3:0] ActionNakAndFail = 4'h4;
  localparam logic [3:0] ActionNakAndEnd = 4'h5;
  localparam logic [3:0] ActionRnrNak = 4'h6;
  localparam logic [3:0] ActionFail = 4'h7;
  localparam logic [3:0] ActionDrop = 4'h8;
  localparam logic [3:0] ActionAbandon = 4'h9;
  localparam logic [4:0] CauseGood = 5'h0;
  localparam logic [4:0] CauseWrongService = 5'h1;
  localparam logic [4:0] CauseBadQpState = 5'h2;
  localparam logic [4:0] CauseWrongPath = 5'h3;
  localparam logic [4:0] CauseWrongVl = 5'h4;
  localparam logic [4:0] CauseBadPkey = 5'h5;
  localparam logic [4:0] CauseBadQkey = 5'h6;
  localparam logic [4:0] CauseNoXrcSrq = 5'h7;
  localparam logic [4:0] CauseWrongXrcDomain = 5'h8;
  localparam logic [4:0] CauseNoRdQueue = 5'h9;
  localparam logic [4:0] CauseWrongRdDomain = 5'ha;
  localparam logic [4:0] CauseDuplicate = 5'hb;
  localparam logic [4:0] CauseNakPending = 5'hc;
  localparam logic [4:0] CausePsnAhead = 5'hd;
  localparam logic [4:0] CauseBadSequence = 5'he;
  localparam logic [4:0] CauseUnsupported = 5'hf;
  localparam logic [4:0] CauseTooManyReads = 5'h10;
  localparam logic [4:0] CauseNoReceiveWqe = 5'h11;
  localparam logic [4:0] CauseSharedQueueFailed = 5'h12;
  localparam logic [4:0] CauseBadLength = 5'h13;
  localparam logic [4:0] CauseMisaligned = 5'h14;
  localparam logic [4:0] CauseBadRkey = 5'h15;
  localparam logic [4:0] CauseNotSaved = 5'h16;
  localparam logic [4:0] CauseReceiveTooShort = 5'h17;
  localparam logic [4:0] CauseLocalProtection = 5'h18;
  localparam logic [4:0] CauseBadReceiveWqe = 5'h19;
  localparam logic [4:0] CauseUnreadableReceiveWqe = 5'h1a;
  localparam logic [4:0] CauseBadInvalidate = 5'h1b;
  localparam logic [4:0] CauseUnreadableMemory = 5'h1c;
  localparam logic [2:0] QpStateReset = 3'h0;
  localparam logic [2:0] QpStateInit = 3'h1;
  localparam logic [2:0] QpStateRTR = 3'h2;
  localparam logic [2:0] QpStateRTS = 3'h3;
  localparam logic [2:0] QpStateSQD = 3'h4;
  localparam logic [2:0] QpStateSQE = 3'h5;
  localparam logic [2:0] QpStateError = 3'h6;
  localparam logic [1:0] PositionFirst = 2'h0;
  localparam logic [1:0] PositionMiddle = 2'h1;
  localparam logic [1:0] PositionLast = 2'h2;
  localparam logic [1:0] PositionOnly = 2'h3;
  localparam logic [2:0] NakPsnSequenceError = 3'h0;
  localparam logic [2:0] NakInvalidRequest = 3'h1;
  localparam logic [2:0] NakRemoteAccessError = 3'h2;
  localparam logic [2:0] NakRemoteOperationalError = 3'h3;
  localparam logic [2:0] NakInvalidRdRequest = 3'h4;
  localparam logic [2:0] NakOperationInProgress = 3'h5;
  localparam logic [2:0] ServiceRC = 3'h0;
  localparam logic [2:0] ServiceUC = 3'h1;
  localparam logic [2:0] ServiceRD = 3'h2;
  localparam logic [2:0] ServiceUD = 3'h3;
  localparam logic [2:0] ServiceXRC = 3'h5;
  localparam logic [3:0] OperationSend = 4'h0;
  localparam logic [3:0] OperationWrite = 4'h1;
  localparam logic [3:0] OperationReadRequest = 4'h2;
  localparam logic [3:0] OperationCompareSwap = 4'h6;
  localparam logic [3:0] OperationFetchAdd = 4'h7;
  localparam logic [3:0] OperationResync = 4'h8;
  localparam logic [3:0] OperationGet = 4'h9;
  localparam logic [3:0] OperationPut = 4'ha;
  localparam logic [3:0] OperationFlush = 4'hb;
  localparam logic [3:0] OperationAtomicWrite = 4'hc;
  localparam logic [1:0] InMessageNone = 2'h0;
  localparam logic [1:0] InMessageSend = 2'h1;
  localparam logic [1:0] InMessageWrite = 2'h2;
  localparam logic [1:0] InMessagePut = 2'h3;
  localparam logic [1:0] KeyStateValid = 2'h2;
  localparam logic [15:0] RemoteWrite = 16'h2;
  localparam logic [15:0] RemoteRead = 16'h4;
  localparam logic [15:0] RemoteAtomic = 16'h8;
  localparam logic [15:0] RemoteAtomicWrite = 16'h100;
  localparam logic [15:0] FlushGlobal = 16'h200;
  localparam logic [15:0] FlushPersistent = 16'h400;
  localparam logic [1:0] FlushRegion = 2'h1;
  localparam logic [31:0] AnyQp = 32'hffffffff;
  localparam logic [31:0] AtomicBytes = 32'h8;
  localparam logic [15:0] MaxGetRequestBytes = 16'h100;
  localparam logic [31:0] MaxMessageBytes = 32'h80000000;
  localparam logic [23:0] Qp0 = 24'h0;
  localparam logic [23:0] Qp1 = 24'h1;
  localparam logic [3:0] Qp0Lane = 4'hf;
  localparam logic [31:0] Qp1Qkey = 32'h80010000;
  localparam logic [63:0] DefaultGidPrefix = 64'hfe80000000000000;
  localparam logic [2:0] AckKind = 3'h0;
  localparam logic [2:0] RnrNakKind = 3'h1;
  localparam logic [2:0] NakKind = 3'h3;
  localparam logic [4:0] CreditsUnused = 5'h1f;
  localparam int unsigned PkeyEntries = 16;
  localparam int unsigned ContextBits = 1120;
  localparam int unsigned RegionBits = 248;
  localparam int unsigned StateBits = 488;
  localparam int unsigned StateRqLimitAt = 8;
  localparam int unsigned StateOwnerAt = 136;
  localparam int unsigned StateOwnerConsumedAt = 104;
  localparam int unsigned ContextSharedAt = 492;
  localparam int unsigned ContextSrqnAt = 584;
  localparam int unsigned Capabilities = 6;
  localparam int unsigned ContextCapabilitiesAt = 496;

  // What the packets of an opcode are: request (1 bit), operation (4), position (2).
  function automatic logic [6:0] opcode_kind(input logic [7:0] opcode);
    unique case (opcode)
      8'h00: opcode_kind = {1'b1, 4'd0, 2'd0};  // SEND First
      8'h01: opcode_kind = {1'b1, 4'd0, 2'd1};  // SEND Middle
      8'h02: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last
      8'h03: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Immediate
      8'h04: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only
      8'h05: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Immediate
      8'h06: opcode_kind = {1'b1, 4'd1, 2'd0};  // RDMA WRITE First
      8'h07: opcode_kind = {1'b1, 4'd1, 2'd1};  // RDMA WRITE Middle
      8'h08: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last
      8'h09: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last with Immediate
      8'h0a: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only
      8'h0b: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only with Immediate
      8'h0c: opcode_kind = {1'b1, 4'd2, 2'd3};  // RDMA READ Request
      8'h0d: opcode_kind = {1'b0, 4'd3, 2'd0};  // RDMA READ Response First
      8'h0e: opcode_kind = {1'b0, 4'd3, 2'd1};  // RDMA READ Response Middle
      8'h0f: opcode_kind = {1'b0, 4'd3, 2'd2};  // RDMA READ Response Last
      8'h10: opcode_kind = {1'b0, 4'd3, 2'd3};  // RDMA READ Response Only
      8'h11: opcode_kind = {1'b0, 4'd4, 2'd3};  // Acknowledge
      8'h12: opcode_kind = {1'b0, 4'd5, 2'd3};  // ATOMIC Acknowledge
      8'h13: opcode_kind = {1'b1, 4'd6, 2'd3};  // CmpSwap
      8'h14: opcode_kind = {1'b1, 4'd7, 2'd3};  // FetchAdd
      8'h16: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Invalidate
      8'h17: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Invalidate
      8'h1a: opcode_kind = {1'b1, 4'd9, 2'd3};  // GET class operation
      8'h1b: opcode_kind = {1'b1, 4'd10, 2'd3};  // PUT class operation
      8'h1c: opcode_kind = {1'b1, 4'd11, 2'd3};  // FLUSH
      8'h1d: opcode_kind = {1'b1, 4'd12, 2'd3};  // ATOMIC WRITE
      8'h20: opcode_kind = {1'b1, 4'd0, 2'd0};  // SEND First
      8'h21: opcode_kind = {1'b1, 4'd0, 2'd1};  // SEND Middle
      8'h22: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last
      8'h23: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Immediate
      8'h24: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only
      8'h25: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Immediate
      8'h26: opcode_kind = {1'b1, 4'd1, 2'd0};  // RDMA WRITE First
      8'h27: opcode_kind = {1'b1, 4'd1, 2'd1};  // RDMA WRITE Middle
      8'h28: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last
      8'h29: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last with Immediate
      8'h2a: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only
      8'h2b: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only with Immediate
      8'h40: opcode_kind = {1'b1, 4'd0, 2'd0};  // SEND First
      8'h41: opcode_kind = {1'b1, 4'd0, 2'd1};  // SEND Middle
      8'h42: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last
      8'h43: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Immediate
      8'h44: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only
      8'h45: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Immediate
      8'h46: opcode_kind = {1'b1, 4'd1, 2'd0};  // RDMA WRITE First
      8'h47: opcode_kind = {1'b1, 4'd1, 2'd1};  // RDMA WRITE Middle
      8'h48: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last
      8'h49: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last with Immediate
      8'h4a: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only
      8'h4b: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only with Immediate
      8'h4c: opcode_kind = {1'b1, 4'd2, 2'd3};  // RDMA READ Request
      8'h4d: opcode_kind = {1'b0, 4'd3, 2'd0};  // RDMA READ Response First
      8'h4e: opcode_kind = {1'b0, 4'd3, 2'd1};  // RDMA READ Response Middle
      8'h4f: opcode_kind = {1'b0, 4'd3, 2'd2};  // RDMA READ Response Last
      8'h50: opcode_kind = {1'b0, 4'd3, 2'd3};  // RDMA READ Response Only
      8'h51: opcode_kind = {1'b0, 4'd4, 2'd3};  // Acknowledge
      8'h52: opcode_kind = {1'b0, 4'd5, 2'd3};  // ATOMIC Acknowledge
      8'h53: opcode_kind = {1'b1, 4'd6, 2'd3};  // CmpSwap
      8'h54: opcode_kind = {1'b1, 4'd7, 2'd3};  // FetchAdd
      8'h55: opcode_kind = {1'b1, 4'd8, 2'd3};  // RESYNC
      8'h5a: opcode_kind = {1'b1, 4'd9, 2'd3};  // GET class operation
      8'h5b: opcode_kind = {1'b1, 4'd10, 2'd3};  // PUT class operation
      8'h5c: opcode_kind = {1'b1, 4'd11, 2'd3};  // FLUSH
      8'h64: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only
      8'h65: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Immediate
      8'h80: opcode_kind = {1'b0, 4'd13, 2'd3};  // CN
      8'h81: opcode_kind = {1'b0, 4'd13, 2'd3};  // CNP
      8'ha0: opcode_kind = {1'b1, 4'd0, 2'd0};  // SEND First
      8'ha1: opcode_kind = {1'b1, 4'd0, 2'd1};  // SEND Middle
      8'ha2: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last
      8'ha3: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Immediate
      8'ha4: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only
      8'ha5: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Immediate
      8'ha6: opcode_kind = {1'b1, 4'd1, 2'd0};  // RDMA WRITE First
      8'ha7: opcode_kind = {1'b1, 4'd1, 2'd1};  // RDMA WRITE Middle
      8'ha8: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last
      8'ha9: opcode_kind = {1'b1, 4'd1, 2'd2};  // RDMA WRITE Last with Immediate
      8'haa: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only
      8'hab: opcode_kind = {1'b1, 4'd1, 2'd3};  // RDMA WRITE Only with Immediate
      8'hac: opcode_kind = {1'b1, 4'd2, 2'd3};  // RDMA READ Request
      8'had: opcode_kind = {1'b0, 4'd3, 2'd0};  // RDMA READ Response First
      8'hae: opcode_kind = {1'b0, 4'd3, 2'd1};  // RDMA READ Response Middle
      8'haf: opcode_kind = {1'b0, 4'd3, 2'd2};  // RDMA READ Response Last
      8'hb0: opcode_kind = {1'b0, 4'd3, 2'd3};  // RDMA READ Response Only
      8'hb1: opcode_kind = {1'b0, 4'd4, 2'd3};  // Acknowledge
      8'hb2: opcode_kind = {1'b0, 4'd5, 2'd3};  // ATOMIC Acknowledge
      8'hb3: opcode_kind = {1'b1, 4'd6, 2'd3};  // CmpSwap
      8'hb4: opcode_kind = {1'b1, 4'd7, 2'd3};  // FetchAdd
      8'hb6: opcode_kind = {1'b1, 4'd0, 2'd2};  // SEND Last with Invalidate
      8'hb7: opcode_kind = {1'b1, 4'd0, 2'd3};  // SEND Only with Invalidate
      8'hba: opcode_kind = {1'b1, 4'd9, 2'd3};  // GET class operation
      8'hbb: opcode_kind = {1'b1, 4'd10, 2'd3};  // PUT class operation
      8'hbc: opcode_kind = {1'b1, 4'd11, 2'd3};  // FLUSH
      default: opcode_kind = '0;
    endcase
  endfunction

  // Of an operation: the message that its packets are part of, whether it takes an entry of the saved requests, is
  // answered by READ responses, has an AtomicETH, 8 bytes at a multiple of 8, 8 bytes of payload, the capability of the
  // device, and the right of its key and its queue pair.
  typedef struct packed {
    logic [1:0] message;
    logic saved;
    logic reads;
    logic atomic;
    logic exact;
    logic eight;
    logic [5:0] capability;
    logic [15:0] right;
  } operation_t;
  function automatic logic [28:0] operation_traits(input logic [3:0] operation);
    unique case (operation)
      OperationSend: operation_traits = {2'd1, 5'b00000, 6'd0, 16'h0};
      OperationWrite: operation_traits = {2'd2, 5'b00000, 6'd0, 16'h2};
      OperationReadRequest: operation_traits = {2'd0, 5'b11000, 6'd0, 16'h4};
      OperationCompareSwap: operation_traits = {2'd0, 5'b10110, 6'd0, 16'h8};
      OperationFetchAdd: operation_traits = {2'd0, 5'b10110, 6'd0, 16'h8};
      OperationResync: operation_traits = {2'd0, 5'b00000, 6'd1, 16'h0};
      OperationGet: operation_traits = {2'd0, 5'b11000, 6'd2, 16'h4};
      OperationPut: operation_traits = {2'd3, 5'b00000, 6'd2, 16'h2};
      OperationFlush: operation_traits = {2'd0, 5'b10000, 6'd32, 16'h600};
      OperationAtomicWrite: operation_traits = {2'd0, 5'b10011, 6'd16, 16'h100};
      default: operation_traits = '0;
    endcase
  endfunction

  // The rules of 9.6 and 9.7 in their order, by their statements.
  localparam int unsigned RuleCount = 55;
  localparam int unsigned RuleC9_38 = 0;
  localparam int unsigned RuleG24_1 = 1;
  localparam int unsigned RuleC9_37 = 2;
  localparam int unsigned RuleT8_2 = 3;
  localparam int unsigned RuleVAL_6 = 4;
  localparam int unsigned RuleC9_56 = 5;
  localparam int unsigned RuleG27_2 = 6;
  localparam int unsigned RuleC9_43 = 7;
  localparam int unsigned RuleT10_13_UD = 8;
  localparam int unsigned RuleT10_12_UD = 9;
  localparam int unsigned RuleT10_14_RD = 10;
  localparam int unsigned RuleT10_11_RD = 11;
  localparam int unsigned RuleT10_12_RD = 12;
  localparam int unsigned RuleG3_3 = 13;
  localparam int unsigned RuleG3_1 = 14;
  localparam int unsigned RuleG2_3 = 15;
  localparam int unsigned RuleT10_8_RC = 16;
  localparam int unsigned RuleT10_8_XRC = 17;
  localparam int unsigned RuleT10_8_RD = 18;
  localparam int unsigned RuleT10_8_UC = 19;
  localparam int unsigned RuleT10_21_XRC = 20;
  localparam int unsigned RuleT10_22_XRC = 21;
  localparam int unsigned RuleG24_5 = 22;
  localparam int unsigned RuleT10_9_RC = 23;
  localparam int unsigned RuleT10_9_XRC = 24;
  localparam int unsigned RuleEXT_5 = 25;
  localparam int unsigned RuleT10_9_RD = 26;
  localparam int unsigned RuleT10_10_UC = 27;
  localparam int unsigned RuleT10_2_RC = 28;
  localparam int unsigned RuleT10_2_XRC = 29;
  localparam int unsigned RuleT10_2_RD = 30;
  localparam int unsigned RuleT10_2_UC = 31;
  localparam int unsigned RuleT10_2_UD = 32;
  localparam int unsigned RuleT10_4_RC = 33;
  localparam int unsigned RuleT10_4_XRC = 34;
  localparam int unsigned RuleT10_4_RD = 35;
  localparam int unsigned RuleT10_20_RC = 36;
  localparam int unsigned RuleT10_20_XRC = 37;
  localparam int unsigned RuleT10_20_UC = 38;
  localparam int unsigned RuleT10_20_UD = 39;
  localparam int unsigned RuleG15_5 = 40;
  localparam int unsigned RuleG23_3 = 41;
  localparam int unsigned RuleG8_1 = 42;
  localparam int unsigned RuleT10_16_RC = 43;
  localparam int unsigned RuleT10_16_XRC = 44;
  localparam int unsigned RuleT10_16_RD = 45;
  localparam int unsigned RuleT10_16_UC = 46;
  localparam int unsigned RuleT10_16_UD = 47;
  localparam int unsigned RuleT10_3_RC = 48;
  localparam int unsigned RuleT10_3_XRC = 49;
  localparam int unsigned RuleT10_3_RD = 50;
  localparam int unsigned RuleT10_5_RC = 51;
  localparam int unsigned RuleT10_5_XRC = 52;
  localparam int unsigned RuleT10_5_RD = 53;
  localparam int unsigned RuleT10_5_UC = 54;

  // Those that hold for a service.
  function automatic logic [54:0] request_rules(input logic [2:0] service);
    unique case (service)
      3'd0: request_rules = 55'h90c121281e0d5;  // RC
      3'd1: request_rules = 55'h404240880800d5;  // UC
      3'd2: request_rules = 55'h2424084404fcd8;  // RD
      3'd3: request_rules = 55'h818100000365;  // UD
      3'd5: request_rules = 55'h1214242372e0d7;  // XRC
      default: request_rules = '0;
    endcase
  endfunction

  // What becomes of a request that breaks these: action, cause, NAK code. The first one decides.
  function automatic logic [11:0] request_verdict(input logic [54:0] broken);
    request_verdict = {ActionExecute, CauseGood, 3'd0};
    if (broken[RuleT10_5_UC]) request_verdict = {ActionAbandon, CauseBadRkey, 3'd0};
    if (broken[RuleT10_5_RD]) request_verdict = {ActionNakAndEnd, CauseBadRkey, NakRemoteAccessError};
    if (broken[RuleT10_5_XRC]) request_verdict = {ActionNakAndFail, CauseBadRkey, NakRemoteAccessError};
    if (broken[RuleT10_5_RC]) request_verdict = {ActionNakAndFail, CauseBadRkey, NakRemoteAccessError};
    if (broken[RuleT10_3_RD]) request_verdict = {ActionNakAndEnd, CauseMisaligned, NakInvalidRequest};
    if (broken[RuleT10_3_XRC]) request_verdict = {ActionNakAndFail, CauseMisaligned, NakInvalidRequest};
    if (broken[RuleT10_3_RC]) request_verdict = {ActionNakAndFail, CauseMisaligned, NakInvalidRequest};
    if (broken[RuleT10_16_UD]) request_verdict = {ActionDrop, CauseBadLength, 3'd0};
    if (broken[RuleT10_16_UC]) request_verdict = {ActionAbandon, CauseBadLength, 3'd0};
    if (broken[RuleT10_16_RD]) request_verdict = {ActionNakAndEnd, CauseBadLength, NakInvalidRequest};
    if (broken[RuleT10_16_XRC]) request_verdict = {ActionNakAndFail, CauseBadLength, NakInvalidRequest};
    if (broken[RuleT10_16_RC]) request_verdict = {ActionNakAndFail, CauseBadLength, NakInvalidRequest};
    if (broken[RuleG8_1]) request_verdict = {ActionRnrNak, CauseNoReceiveWqe, 3'd0};
    if (broken[RuleG23_3]) request_verdict = {ActionAbandon, CauseNoReceiveWqe, 3'd0};
    if (broken[RuleG15_5]) request_verdict = {ActionDrop, CauseNoReceiveWqe, 3'd0};
    if (broken[RuleT10_20_UD]) request_verdict = {ActionFail, CauseSharedQueueFailed, 3'd0};
    if (broken[RuleT10_20_UC]) request_verdict = {ActionFail, CauseSharedQueueFailed, 3'd0};
    if (broken[RuleT10_20_XRC]) request_verdict = {ActionNakAndFail, CauseSharedQueueFailed, NakRemoteOperationalError};
    if (broken[RuleT10_20_RC]) request_verdict = {ActionNakAndFail, CauseSharedQueueFailed, NakRemoteOperationalError};
    if (broken[RuleT10_4_RD]) request_verdict = {ActionNakAndEnd, CauseTooManyReads, NakInvalidRequest};
    if (broken[RuleT10_4_XRC]) request_verdict = {ActionNakAndFail, CauseTooManyReads, NakInvalidRequest};
    if (broken[RuleT10_4_RC]) request_verdict = {ActionNakAndFail, CauseTooManyReads, NakInvalidRequest};
    if (broken[RuleT10_2_UD]) request_verdict = {ActionDrop, CauseUnsupported, 3'd0};
    if (broken[RuleT10_2_UC]) request_verdict = {ActionAbandon, CauseUnsupported, 3'd0};
    if (broken[RuleT10_2_RD]) request_verdict = {ActionNakAndEnd, CauseUnsupported, NakInvalidRequest};
    if (broken[RuleT10_2_XRC]) request_verdict = {ActionNakAndFail, CauseUnsupported, NakInvalidRequest};
    if (broken[RuleT10_2_RC]) request_verdict = {ActionNakAndFail, CauseUnsupported, NakInvalidRequest};
    if (broken[RuleT10_10_UC]) request_verdict = {ActionAbandon, CauseBadSequence, 3'd0};
    if (broken[RuleT10_9_RD]) request_verdict = {ActionNakAndEnd, CauseBadSequence, NakInvalidRequest};
    if (broken[RuleEXT_5]) request_verdict = {ActionNakAndFail, CauseBadSequence, NakInvalidRequest};
    if (broken[RuleT10_9_XRC]) request_verdict = {ActionNakAndFail, CauseBadSequence, NakInvalidRequest};
    if (broken[RuleT10_9_RC]) request_verdict = {ActionNakAndFail, CauseBadSequence, NakInvalidRequest};
    if (broken[RuleG24_5]) request_verdict = {ActionNakAndFail, CauseNoXrcSrq, NakInvalidRdRequest};
    if (broken[RuleT10_22_XRC]) request_verdict = {ActionNakAndFail, CauseWrongXrcDomain, NakInvalidRdRequest};
    if (broken[RuleT10_21_XRC]) request_verdict = {ActionNakAndFail, CauseNoXrcSrq, NakInvalidRdRequest};
    if (broken[RuleT10_8_UC]) request_verdict = {ActionAbandon, CausePsnAhead, 3'd0};
    if (broken[RuleT10_8_RD]) request_verdict = {ActionNak, CausePsnAhead, NakPsnSequenceError};
    if (broken[RuleT10_8_XRC]) request_verdict = {ActionNak, CausePsnAhead, NakPsnSequenceError};
    if (broken[RuleT10_8_RC]) request_verdict = {ActionNak, CausePsnAhead, NakPsnSequenceError};
    if (broken[RuleG2_3]) request_verdict = {ActionDrop, CauseNakPending, 3'd0};
    if (broken[RuleG3_1]) request_verdict = {ActionAcknowledge, CauseDuplicate, 3'd0};
    if (broken[RuleG3_3]) request_verdict = {ActionRepeat, CauseDuplicate, 3'd0};
    if (broken[RuleT10_12_RD]) request_verdict = {ActionNak, CauseBadQkey, NakInvalidRdRequest};
    if (broken[RuleT10_11_RD]) request_verdict = {ActionNak, CauseWrongRdDomain, NakInvalidRdRequest};
    if (broken[RuleT10_14_RD]) request_verdict = {ActionNak, CauseNoRdQueue, NakInvalidRdRequest};
    if (broken[RuleT10_12_UD]) request_verdict = {ActionDrop, CauseBadQkey, 3'd0};
    if (broken[RuleT10_13_UD]) request_verdict = {ActionDrop, CauseBadPkey, 3'd0};
    if (broken[RuleC9_43]) request_verdict = {ActionDrop, CauseBadPkey, 3'd0};
    if (broken[RuleG27_2]) request_verdict = {ActionDrop, CauseWrongVl, 3'd0};
    if (broken[RuleC9_56]) request_verdict = {ActionDrop, CauseWrongPath, 3'd0};
    if (broken[RuleVAL_6]) request_verdict = {ActionDrop, CauseWrongPath, 3'd0};
    if (broken[RuleT8_2]) request_verdict = {ActionDrop, CauseBadQpState, 3'd0};
    if (broken[RuleC9_37]) request_verdict = {ActionDrop, CauseBadQpState, 3'd0};
    if (broken[RuleG24_1]) request_verdict = {ActionDrop, CauseWrongService, 3'd0};
    if (broken[RuleC9_38]) request_verdict = {ActionDrop, CauseWrongService, 3'd0};
  endfunction

  // The code of the largest count of receive WQEs that is not above `available`.
  function automatic logic [4:0] credit_code(input logic [31:0] available);
    credit_code = 5'd0;
    if (available >= 32'd1) credit_code = 5'd1;
    if (available >= 32'd2) credit_code = 5'd2;
    if (available >= 32'd3) credit_code = 5'd3;
    if (available >= 32'd4) credit_code = 5'd4;
    if (available >= 32'd6) credit_code = 5'd5;
    if (available >= 32'd8) credit_code = 5'd6;
    if (available >= 32'd12) credit_code = 5'd7;
    if (available >= 32'd16) credit_code = 5'd8;
    if (available >= 32'd24) credit_code = 5'd9;
    if (available >= 32'd32) credit_code = 5'd10;
    if (available >= 32'd48) credit_code = 5'd11;
    if (available >= 32'd64) credit_code = 5'd12;
    if (available >= 32'd96) credit_code = 5'd13;
    if (available >= 32'd128) credit_code = 5'd14;
    if (available >= 32'd192) credit_code = 5'd15;
    if (available >= 32'd256) credit_code = 5'd16;
    if (available >= 32'd384) credit_code = 5'd17;
    if (available >= 32'd512) credit_code = 5'd18;
    if (available >= 32'd768) credit_code = 5'd19;
    if (available >= 32'd1024) credit_code = 5'd20;
    if (available >= 32'd1536) credit_code = 5'd21;
    if (available >= 32'd2048) credit_code = 5'd22;
    if (available >= 32'd3072) credit_code = 5'd23;
    if (available >= 32'd4096) credit_code = 5'd24;
    if (available >= 32'd6144) credit_code = 5'd25;
    if (available >= 32'd8192) credit_code = 5'd26;
    if (available >= 32'd12288) credit_code = 5'd27;
    if (available >= 32'd16384) credit_code = 5'd28;
    if (available >= 32'd24576) credit_code = 5'd29;
    if (available >= 32'd32768) credit_code = 5'd30;
  endfunction

  // Of a context: what requests change, of the queue pair and of its receive queue.
  typedef struct packed {
    logic [63:0] write_va;
    logic [31:0] write_rkey;
    logic [31:0] write_left;
    logic [31:0] write_bytes;
    logic [31:0] reads_accepted;
    logic [31:0] shared_wqe;
    logic [31:0] shared_taken;
    logic [23:0] epsn;
    logic [23:0] msn;
    logic [23:0] xrc_srqn;
    logic [23:0] owner;
    logic [31:0] owner_consumed;
    logic [31:0] held_wqe;
    logic [31:0] rq_consumed;
    logic [31:0] rq_limit;
    logic [3:0] spare;
    logic [1:0] message;
    logic nak_sent;
    logic failing;
  } checked_state_t;

  // The context of a queue pair, as it answers.
  typedef struct packed {
    logic [127:0] own_gid;
    logic [127:0] peer_gid;
    logic [15:0] own_lid;
    logic [15:0] peer_lid;
    logic [31:0] pd;
    logic [31:0] qkey;
    logic [31:0] reads_finished;
    logic [31:0] rq_posted;
    logic [31:0] domain;
    logic [31:0] queue_domain;
    logic [31:0] queue_pd;
    logic [23:0] srqn;
    logic [15:0] pkey;
    logic [12:0] path_mtu;
    framing_e framing;
    logic [15:0] access;
    logic [7:0] max_reads;
    logic [4:0] min_rnr_timer;
    logic [2:0] service;
    logic resync_needs_queue;
    logic has_queue;
    logic [2:0] queue_service;
    logic [2:0] queue_state;
    logic completes_at_resync;
    logic completes_at_error;
    logic takes_get_offset;
    logic refuses_put_response;
    logic keeps_put;
    logic initiator;
    logic keys_of_queue;
    logic keeps_queue;
    logic [1:0] capabilities_spare;
    logic flush;
    logic atomic_write;
    logic xrc;
    logic apm;
    logic extended;
    logic rd;
    logic [2:0] qp_state;
    logic shared;
    logic credits;
    logic drop_after_rnr;
    logic congestion_control;
    logic rq_failed;
    checked_state_t state;
  } context_t;

  // What an R_Key names.
  typedef struct packed {
    logic [63:0] start;
    logic [63:0] bytes;
    logic [31:0] key;
    logic [31:0] pd;
    logic [31:0] qpn;
    logic [15:0] access;
    logic [4:0] spare;
    logic [1:0] state;
    logic exists;
  } region_t;

  // The verdict on a request, and the context that it leaves behind.
  typedef struct packed {
    logic [23:0] qpn;
    logic [2:0] spare;
    logic ee;
    logic keeps_wqe;
    logic first;
    logic last;
    logic completes_message;
    logic [3:0] action;
    logic [4:0] cause;
    logic [2:0] nak;
    logic congested;
    logic takes_shared;
    logic below_limit;
    logic shared;
    logic [7:0] syndrome;
    logic [23:0] srqn;
    logic [23:0] ack_psn;
    logic [23:0] msn;
    logic [31:0] packets;
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] byte_len;
    logic [31:0] receive_wqe;
    logic [31:0] free_receives;
    checked_state_t state;
  } judged_t;

  // What happens to the PSNs of a requester, how a message takes them, and what comes of it.
  localparam logic [2:0] PsnOpStart = 3'h0;
  localparam logic [2:0] PsnOpMessage = 3'h1;
  localparam logic [2:0] PsnOpPacket = 3'h2;
  localparam logic [2:0] PsnOpAcknowledge = 3'h3;
  localparam logic [2:0] PsnOpGoBack = 3'h4;
  localparam logic [2:0] PsnOpTimeout = 3'h5;
  localparam logic [2:0] PsnOpResync = 3'h6;
  localparam logic [1:0] PsnKindData = 2'h0;
  localparam logic [1:0] PsnKindRead = 2'h1;
  localparam logic [1:0] PsnKindAtomic = 2'h2;
  localparam logic [1:0] PsnResultDone = 2'h0;
  localparam logic [1:0] PsnResultFull = 2'h1;
  localparam logic [1:0] PsnResultGhost = 2'h2;
  localparam logic [1:0] PsnResultNewest = 2'h3;
  localparam logic [23:0] PsnWindow = 24'h800000;
  localparam int unsigned PsnContextBits = 112;
  localparam int unsigned PsnStateBits = 96;

  // Where the PSNs of a queue pair stand.
  typedef struct packed {
    logic [23:0] next_psn;
    logic [23:0] unacked_psn;
    logic [23:0] sent_psn;
    logic [23:0] send_psn;
  } psn_state_t;

  // What of its context they need.
  typedef struct packed {
    logic [2:0] spare;
    logic [12:0] path_mtu;
    psn_state_t state;
  } psn_context_t;

  // What happens to them.
  typedef struct packed {
    logic [23:0] qpn;
    logic [23:0] psn;
    logic [23:0] index;
    logic [31:0] byte_len;
    logic spare;
    logic ee;
    logic [2:0] op;
    logic [1:0] kind;
    logic first;
    logic last;
    logic [6:0] bytes;
  } psn_step_t;

  // What comes of it, and the context that it leaves behind.
  typedef struct packed {
    logic [23:0] qpn;
    logic [23:0] psn;
    logic [23:0] count;
    logic [4:0] spare;
    logic ee;
    logic [2:0] op;
    logic [1:0] result;
    logic repeated;
    logic progress;
    logic unacked;
    logic first;
    logic last;
    psn_state_t state;
  } psn_stepped_t;

  // What happens to a CQ, and what comes of it.
  localparam logic [0:0] CqOpComplete = 1'h0;
  localparam logic [0:0] CqOpDoorbell = 1'h1;
  localparam logic [1:0] CqResultWritten = 2'h0;
  localparam logic [1:0] CqResultFirstLost = 2'h1;
  localparam logic [1:0] CqResultLost = 2'h2;
  localparam logic [1:0] CqResultNoQueue = 2'h3;
  localparam logic [7:0] WcStatusSuccess = 8'h0;
  localparam logic [4:0] MaxLogQueueEntries = 5'h16;
  localparam int unsigned CqContextBits = 144;
  localparam int unsigned CqStateBits = 72;

  // CQE, 32 bytes, as sent: most significant bit first.
  typedef struct packed {
    logic [7:0] opcode;
    logic [7:0] status;
    logic immediate;
    logic invalidate;
    logic solicited;
    logic grh;
    logic [3:0] reserved_at20;
    logic [7:0] vendorerror;
    logic [7:0] reserved_at32;
    logic [23:0] qpn;
    logic [15:0] reserved_at64;
    logic [15:0] wqeindex;
    logic [31:0] bytelen;
    logic [31:0] immdt;
    logic [7:0] reserved_at160;
    logic [23:0] srcqp;
    logic [15:0] slid;
    logic [15:0] p_keyindex;
    logic [3:0] sl;
    logic [2:0] reserved_at228;
    logic [23:0] srqn;
    logic phase;
  } cqe_t;

  // Where the producer of a CQ stands.
  typedef struct packed {
    logic [31:0] producer;
    logic [31:0] consumer;
    logic [6:0] spare;
    logic overflowed;
  } cq_state_t;

  // What of its context a CQE needs.
  typedef struct packed {
    logic [63:0] address;
    logic [1:0] spare;
    logic allocated;
    logic [4:0] log_entries;
    cq_state_t state;
  } cq_context_t;

  // What happens to it.
  typedef struct packed {
    logic [23:0] cqn;
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
    logic [5:0] spare;
    logic op;
    logic first;
    logic last;
    logic [6:0] bytes;
  } cq_step_t;

  // What comes of it, and the context that it leaves behind.
  typedef struct packed {
    logic [63:0] address;
    logic [23:0] cqn;
    logic [1:0] spare;
    logic op;
    logic [1:0] result;
    logic solicited;
    logic first;
    logic last;
    cqe_t cqe;
    cq_state_t state;
  } cq_stepped_t;

  // The registers of ICRC (CRC-32) and VCRC (CRC-16), reflected, not complemented. Each function is one matrix of
  // XORs. The residue stands in the register after good bytes and their CRC.
  localparam logic [31:0] IcrcResidue = 32'hdebb20e3;

  // 32 bytes into a register of 0.
  function automatic logic [31:0] icrc_fold_32(input logic [255:0] x);
    icrc_fold_32[0] = ^(x & 256'h04d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112);
    icrc_fold_32[1] = ^(x & 256'h09a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e8904225);
    icrc_fold_32[2] = ^(x & 256'h1344077d206d396bc60be81fad1b78bc5e0c28d31bc0195f3b8f5405d120844a);
    icrc_fold_32[3] = ^(x & 256'h26880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba2410895);
    icrc_fold_32[4] = ^(x & 256'h4d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112a);
    icrc_fold_32[5] = ^(x & 256'h9a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e89042255);
    icrc_fold_32[6] = ^(x & 256'h3091760d4ec8d8e6913c7bfd3af155eaf74187057af193a47616955c664065b8);
    icrc_fold_32[7] = ^(x & 256'h6122ec1a9d91b1cd2278f7fa75e2abd5ee830e0af5e32748ec2d2ab8cc80cb71);
    icrc_fold_32[8] = ^(x & 256'hc245d8353b23639a44f1eff4ebc557abdd061c15ebc64e91d85a5571990196e3);
    icrc_fold_32[9] = ^(x & 256'h805ab1b53e5d896e786125ee3ccc7178ad8f321f117c9b747e577fe2464b0cd4);
    icrc_fold_32[10] = ^(x & 256'h046462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb);
    icrc_fold_32[11] = ^(x & 256'h08c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc7176);
    icrc_fold_32[12] = ^(x & 256'h11918ad4d28172180502c76e4b78f3793275b82b9024c2fcc934ab17e378e2ec);
    icrc_fold_32[13] = ^(x & 256'h232315a9a502e4300a058edc96f1e6f264eb7057204985f99269562fc6f1c5d8);
    icrc_fold_32[14] = ^(x & 256'h46462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb0);
    icrc_fold_32[15] = ^(x & 256'h8c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc71760);
    icrc_fold_32[16] = ^(x & 256'h1dc9ac92600c6fdaa1ae8ce35cc9e9bc30d8888dc4bc299b5da9647f43c60fd2);
    icrc_fold_32[17] = ^(x & 256'h3b935924c018dfb5435d19c6b993d37861b1111b89785336bb52c8fe878c1fa5);
    icrc_fold_32[18] = ^(x & 256'h7726b2498031bf6a86ba338d7327a6f0c362223712f0a66d76a591fd0f183f4a);
    icrc_fold_32[19] = ^(x & 256'hee4d649300637ed50d74671ae64f4de186c4446e25e14cdaed4b23fa1e307e95);
    icrc_fold_32[20] = ^(x & 256'hd84bc8f948ddb3f0eb6a343227d845ec1a0b82e88d329fe2147592f54828dc39);
    icrc_fold_32[21] = ^(x & 256'hb446902dd9a029bb27569263a4f655f723940fe5dc953993e608f0ebe4199960);
    icrc_fold_32[22] = ^(x & 256'h6c5c2184fb5b1d2cbf2fdec0a2aa75c150ab15ff7fda757002f234d6bc7b13d3);
    icrc_fold_32[23] = ^(x & 256'hd8b84309f6b63a597e5fbd814554eb82a1562bfeffb4eae005e469ad78f627a7);
    icrc_fold_32[24] = ^(x & 256'hb5a187cca5773ae80d3d810561ef092a552f5dc93999d397c52b065b85a46e5d);
    icrc_fold_32[25] = ^(x & 256'h6f920e4602f53b8aebf9f80d2898cc7bbdddb1a6b5c3a17844b5d9b67f00fda8);
    icrc_fold_32[26] = ^(x & 256'hdf241c8c05ea7715d7f3f01a513198f77bbb634d6b8742f0896bb36cfe01fb50);
    icrc_fold_32[27] = ^(x & 256'hba9938c743cfa0715e651a334925efc1e0f5ccae11fe83b6dc34b3d8884bd7b2);
    icrc_fold_32[28] = ^(x & 256'h71e37051cf840eb84d48ce61790d01acd6689368e50d013a768ab2b064df8e77);
    icrc_fold_32[29] = ^(x & 256'he3c6e0a39f081d709a919cc2f21a0359acd126d1ca1a0274ed156560c9bf1cef);
    icrc_fold_32[30] = ^(x & 256'hc35cc098760b74bbc4a1c3820f72d89c4e21479752c402be14c91fc0e73618cd);
    icrc_fold_32[31] = ^(x & 256'h826880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba241089);
  endfunction

  // The register after 32 bytes of 0.
  function automatic logic [31:0] icrc_advance_32(input logic [31:0] x);
    icrc_advance_32[0] = ^(x & 32'h74482112);
    icrc_advance_32[1] = ^(x & 32'he8904225);
    icrc_advance_32[2] = ^(x & 32'hd120844a);
    icrc_advance_32[3] = ^(x & 32'ha2410895);
    icrc_advance_32[4] = ^(x & 32'h4482112a);
    icrc_advance_32[5] = ^(x & 32'h89042255);
    icrc_advance_32[6] = ^(x & 32'h664065b8);
    icrc_advance_32[7] = ^(x & 32'hcc80cb71);
    icrc_advance_32[8] = ^(x & 32'h990196e3);
    icrc_advance_32[9] = ^(x & 32'h464b0cd4);
    icrc_advance_32[10] = ^(x & 32'hf8de38bb);
    icrc_advance_32[11] = ^(x & 32'hf1bc7176);
    icrc_advance_32[12] = ^(x & 32'he378e2ec);
    icrc_advance_32[13] = ^(x & 32'hc6f1c5d8);
    icrc_advance_32[14] = ^(x & 32'h8de38bb0);
    icrc_advance_32[15] = ^(x & 32'h1bc71760);
    icrc_advance_32[16] = ^(x & 32'h43c60fd2);
    icrc_advance_32[17] = ^(x & 32'h878c1fa5);
    icrc_advance_32[18] = ^(x & 32'h0f183f4a);
    icrc_advance_32[19] = ^(x & 32'h1e307e95);
    icrc_advance_32[20] = ^(x & 32'h4828dc39);
    icrc_advance_32[21] = ^(x & 32'he4199960);
    icrc_advance_32[22] = ^(x & 32'hbc7b13d3);
    icrc_advance_32[23] = ^(x & 32'h78f627a7);
    icrc_advance_32[24] = ^(x & 32'h85a46e5d);
    icrc_advance_32[25] = ^(x & 32'h7f00fda8);
    icrc_advance_32[26] = ^(x & 32'hfe01fb50);
    icrc_advance_32[27] = ^(x & 32'h884bd7b2);
    icrc_advance_32[28] = ^(x & 32'h64df8e77);
    icrc_advance_32[29] = ^(x & 32'hc9bf1cef);
    icrc_advance_32[30] = ^(x & 32'he73618cd);
    icrc_advance_32[31] = ^(x & 32'hba241089);
  endfunction

  // 64 bytes into a register of 0.
  function automatic logic [31:0] icrc_fold_64(input logic [511:0] x);
    icrc_fold_64[0] = ^(x & 512'h04d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112a998da2757f68d2fc30eedb88e65954877971b956500d811d04d951be5fe1c77);
    icrc_fold_64[1] = ^(x & 512'h09a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e89042255331b44eafed1a5f861ddb711ccb2a90ef2e372aca01b023a09b2a37cbfc38ee);
    icrc_fold_64[2] = ^(x & 512'h1344077d206d396bc60be81fad1b78bc5e0c28d31bc0195f3b8f5405d120844aa663689d5fda34bf0c3bb6e239965521de5c6e55940360474136546f97f871dd);
    icrc_fold_64[3] = ^(x & 512'h26880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba24108954cc6d13abfb4697e18776dc4732caa43bcb8dcab2806c08e826ca8df2ff0e3ba);
    icrc_fold_64[4] = ^(x & 512'h4d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112a998da2757f68d2fc30eedb88e65954877971b956500d811d04d951be5fe1c775);
    icrc_fold_64[5] = ^(x & 512'h9a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e89042255331b44eafed1a5f861ddb711ccb2a90ef2e372aca01b023a09b2a37cbfc38eea);
    icrc_fold_64[6] = ^(x & 512'h3091760d4ec8d8e6913c7bfd3af155eaf74187057af193a47616955c664065b8cfae53f2aa55c6df00b5839b1700c7559251fecc2536dc65c328d3e29a7901a2);
    icrc_fold_64[7] = ^(x & 512'h6122ec1a9d91b1cd2278f7fa75e2abd5ee830e0af5e32748ec2d2ab8cc80cb719f5ca7e554ab8dbe016b07362e018eab24a3fd984a6db8cb8651a7c534f20345);
    icrc_fold_64[8] = ^(x & 512'hc245d8353b23639a44f1eff4ebc557abdd061c15ebc64e91d85a5571990196e33eb94fcaa9571b7c02d60e6c5c031d564947fb3094db71970ca34f8a69e4068b);
    icrc_fold_64[9] = ^(x & 512'h805ab1b53e5d896e786125ee3ccc7178ad8f321f117c9b747e577fe2464b0cd4d4ea45b20558bbd7c6a2f1603663afe4e518edf44cb63b3fc90b0a0f36361160);
    icrc_fold_64[10] = ^(x & 512'h046462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb004c51435d47fa804e4b0f78e2a2ca81bda6c07dfc6cae6e425b810589923eb7);
    icrc_fold_64[11] = ^(x & 512'h08c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc71760098a286ba8ff5009c961ef1c54595037b4d80fbf8d95cdc84b7020b13247d6f);
    icrc_fold_64[12] = ^(x & 512'h11918ad4d28172180502c76e4b78f3793275b82b9024c2fcc934ab17e378e2ec0131450d751fea01392c3de38a8b2a06f69b01f7f1b2b9b9096e04162648fade);
    icrc_fold_64[13] = ^(x & 512'h232315a9a502e4300a058edc96f1e6f264eb7057204985f99269562fc6f1c5d802628a1aea3fd40272587bc71516540ded3603efe365737212dc082c4c91f5bd);
    icrc_fold_64[14] = ^(x & 512'h46462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb004c51435d47fa804e4b0f78e2a2ca81bda6c07dfc6cae6e425b810589923eb7a);
    icrc_fold_64[15] = ^(x & 512'h8c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc71760098a286ba8ff5009c961ef1c54595037b4d80fbf8d95cdc84b7020b13247d6f4);
    icrc_fold_64[16] = ^(x & 512'h1dc9ac92600c6fdaa1ae8ce35cc9e9bc30d8888dc4bc299b5da9647f43c60fd2ba8c8af006082d3c51cd338026d735271e2704ea7e2b438146add4798171b19f);
    icrc_fold_64[17] = ^(x & 512'h3b935924c018dfb5435d19c6b993d37861b1111b89785336bb52c8fe878c1fa5751915e00c105a78a39a67004dae6a4e3c4e09d4fc5687028d5ba8f302e3633e);
    icrc_fold_64[18] = ^(x & 512'h7726b2498031bf6a86ba338d7327a6f0c362223712f0a66d76a591fd0f183f4aea322bc01820b4f14734ce009b5cd49c789c13a9f8ad0e051ab751e605c6c67d);
    icrc_fold_64[19] = ^(x & 512'hee4d649300637ed50d74671ae64f4de186c4446e25e14cdaed4b23fa1e307e95d4645780304169e28e699c0136b9a938f1382753f15a1c0a356ea3cc0b8d8cfa);
    icrc_fold_64[20] = ^(x & 512'hd84bc8f948ddb3f0eb6a343227d845ec1a0b82e88d329fe2147592f54828dc390150752737745eeadfddd5bae316c73995e7553287b4e005ba90d283f2e50583);
    icrc_fold_64[21] = ^(x & 512'hb446902dd9a029bb27569263a4f655f723940fe5dc953993e608f0ebe4199960ab383069391e30fa7cb546cd48481b3b5c59b1f06a69181aa56c301c00341771);
    icrc_fold_64[22] = ^(x & 512'h6c5c2184fb5b1d2cbf2fdec0a2aa75c150ab15ff7fda757002f234d6bc7b13d3ffe8baf525caecdb3a6460221ef5a33ecf247875b1d2e8249a95f523e5963294);
    icrc_fold_64[23] = ^(x & 512'hd8b84309f6b63a597e5fbd814554eb82a1562bfeffb4eae005e469ad78f627a7ffd175ea4b95d9b674c8c0443deb467d9e48f0eb63a5d049352bea47cb2c6528);
    icrc_fold_64[24] = ^(x & 512'hb5a187cca5773ae80d3d810561ef092a552f5dc93999d397c52b065b85a46e5d563a31f3c0dd3e432a9f6d30f5b319b34b06fa43a24b7883ba1a419473a6d627);
    icrc_fold_64[25] = ^(x & 512'h6f920e4602f53b8aebf9f80d2898cc7bbdddb1a6b5c3a17844b5d9b67f00fda805ecb9c0d64cf1a9963037d96503a62ee19aef1221962916a479163302b3b039);
    icrc_fold_64[26] = ^(x & 512'hdf241c8c05ea7715d7f3f01a513198f77bbb634d6b8742f0896bb36cfe01fb500bd97381ac99e3532c606fb2ca074c5dc335de24432c522d48f22c6605676073);
    icrc_fold_64[27] = ^(x & 512'hba9938c743cfa0715e651a334925efc1e0f5ccae11fe83b6dc34b3d8884bd7b2be2a3d240ec54b899bce32dd1a6b0df3f1fca7dde3587c4b41a9cdd7ef30dc91);
    icrc_fold_64[28] = ^(x & 512'h71e37051cf840eb84d48ce61790d01acd6689368e50d013a768ab2b064df8e77d5cca06f4a7c1a3cf4928802bab38eaf946e542ea3b02087531e0eb43b9fa554);
    icrc_fold_64[29] = ^(x & 512'he3c6e0a39f081d709a919cc2f21a0359acd126d1ca1a0274ed156560c9bf1cefab9940de94f83479e925100575671d5f28dca85d4760410ea63c1d68773f4aa8);
    icrc_fold_64[30] = ^(x & 512'hc35cc098760b74bbc4a1c3820f72d89c4e21479752c402be14c91fc0e73618cdfeaa5b9a7e06e5dc1144cdb264abaff6262e4b2febc05a0c9c35afcb0b808926);
    icrc_fold_64[31] = ^(x & 512'h826880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba24108954cc6d13abfb4697e18776dc4732caa43bcb8dcab2806c08e826ca8df2ff0e3b);
  endfunction

  // The register after 64 bytes of 0.
  function automatic logic [31:0] icrc_advance_64(input logic [31:0] x);
    icrc_advance_64[0] = ^(x & 32'he5fe1c77);
    icrc_advance_64[1] = ^(x & 32'hcbfc38ee);
    icrc_advance_64[2] = ^(x & 32'h97f871dd);
    icrc_advance_64[3] = ^(x & 32'h2ff0e3ba);
    icrc_advance_64[4] = ^(x & 32'h5fe1c775);
    icrc_advance_64[5] = ^(x & 32'hbfc38eea);
    icrc_advance_64[6] = ^(x & 32'h9a7901a2);
    icrc_advance_64[7] = ^(x & 32'h34f20345);
    icrc_advance_64[8] = ^(x & 32'h69e4068b);
    icrc_advance_64[9] = ^(x & 32'h36361160);
    icrc_advance_64[10] = ^(x & 32'h89923eb7);
    icrc_advance_64[11] = ^(x & 32'h13247d6f);
    icrc_advance_64[12] = ^(x & 32'h2648fade);
    icrc_advance_64[13] = ^(x & 32'h4c91f5bd);
    icrc_advance_64[14] = ^(x & 32'h9923eb7a);
    icrc_advance_64[15] = ^(x & 32'h3247d6f4);
    icrc_advance_64[16] = ^(x & 32'h8171b19f);
    icrc_advance_64[17] = ^(x & 32'h02e3633e);
    icrc_advance_64[18] = ^(x & 32'h05c6c67d);
    icrc_advance_64[19] = ^(x & 32'h0b8d8cfa);
    icrc_advance_64[20] = ^(x & 32'hf2e50583);
    icrc_advance_64[21] = ^(x & 32'h00341771);
    icrc_advance_64[22] = ^(x & 32'he5963294);
    icrc_advance_64[23] = ^(x & 32'hcb2c6528);
    icrc_advance_64[24] = ^(x & 32'h73a6d627);
    icrc_advance_64[25] = ^(x & 32'h02b3b039);
    icrc_advance_64[26] = ^(x & 32'h05676073);
    icrc_advance_64[27] = ^(x & 32'hef30dc91);
    icrc_advance_64[28] = ^(x & 32'h3b9fa554);
    icrc_advance_64[29] = ^(x & 32'h773f4aa8);
    icrc_advance_64[30] = ^(x & 32'h0b808926);
    icrc_advance_64[31] = ^(x & 32'hf2ff0e3b);
  endfunction

  // The register as it was before 1 bytes of 0.
  function automatic logic [31:0] icrc_rewind_1(input logic [31:0] x);
    icrc_rewind_1[0] = ^(x & 32'hab000000);
    icrc_rewind_1[1] = ^(x & 32'h56000000);
    icrc_rewind_1[2] = ^(x & 32'hac000000);
    icrc_rewind_1[3] = ^(x & 32'h58000000);
    icrc_rewind_1[4] = ^(x & 32'hb0000000);
    icrc_rewind_1[5] = ^(x & 32'h60000000);
    icrc_rewind_1[6] = ^(x & 32'h6b000000);
    icrc_rewind_1[7] = ^(x & 32'hd6000000);
    icrc_rewind_1[8] = ^(x & 32'hac000001);
    icrc_rewind_1[9] = ^(x & 32'hf3000002);
    icrc_rewind_1[10] = ^(x & 32'h4d000004);
    icrc_rewind_1[11] = ^(x & 32'h9a000008);
    icrc_rewind_1[12] = ^(x & 32'h34000010);
    icrc_rewind_1[13] = ^(x & 32'h68000020);
    icrc_rewind_1[14] = ^(x & 32'hd0000040);
    icrc_rewind_1[15] = ^(x & 32'ha0000080);
    icrc_rewind_1[16] = ^(x & 32'heb000100);
    icrc_rewind_1[17] = ^(x & 32'hd6000200);
    icrc_rewind_1[18] = ^(x & 32'hac000400);
    icrc_rewind_1[19] = ^(x & 32'h58000800);
    icrc_rewind_1[20] = ^(x & 32'h1b001000);
    icrc_rewind_1[21] = ^(x & 32'h9d002000);
    icrc_rewind_1[22] = ^(x & 32'h91004000);
    icrc_rewind_1[23] = ^(x & 32'h22008000);
    icrc_rewind_1[24] = ^(x & 32'hef010000);
    icrc_rewind_1[25] = ^(x & 32'h75020000);
    icrc_rewind_1[26] = ^(x & 32'hea040000);
    icrc_rewind_1[27] = ^(x & 32'h7f080000);
    icrc_rewind_1[28] = ^(x & 32'h55100000);
    icrc_rewind_1[29] = ^(x & 32'haa200000);
    icrc_rewind_1[30] = ^(x & 32'hff400000);
    icrc_rewind_1[31] = ^(x & 32'h55800000);
  endfunction

  // The register as it was before 2 bytes of 0.
  function automatic logic [31:0] icrc_rewind_2(input logic [31:0] x);
    icrc_rewind_2[0] = ^(x & 32'h1aab0000);
    icrc_rewind_2[1] = ^(x & 32'h35560000);
    icrc_rewind_2[2] = ^(x & 32'h6aac0000);
    icrc_rewind_2[3] = ^(x & 32'hd5580000);
    icrc_rewind_2[4] = ^(x & 32'haab00000);
    icrc_rewind_2[5] = ^(x & 32'h55600000);
    icrc_rewind_2[6] = ^(x & 32'hb06b0000);
    icrc_rewind_2[7] = ^(x & 32'h60d60000);
    icrc_rewind_2[8] = ^(x & 32'hc1ac0000);
    icrc_rewind_2[9] = ^(x & 32'h99f30000);
    icrc_rewind_2[10] = ^(x & 32'h294d0000);
    icrc_rewind_2[11] = ^(x & 32'h529a0000);
    icrc_rewind_2[12] = ^(x & 32'ha5340000);
    icrc_rewind_2[13] = ^(x & 32'h4a680000);
    icrc_rewind_2[14] = ^(x & 32'h94d00000);
    icrc_rewind_2[15] = ^(x & 32'h29a00000);
    icrc_rewind_2[16] = ^(x & 32'h49eb0001);
    icrc_rewind_2[17] = ^(x & 32'h93d60002);
    icrc_rewind_2[18] = ^(x & 32'h27ac0004);
    icrc_rewind_2[19] = ^(x & 32'h4f580008);
    icrc_rewind_2[20] = ^(x & 32'h841b0010);
    icrc_rewind_2[21] = ^(x & 32'h129d0020);
    icrc_rewind_2[22] = ^(x & 32'h3f910040);
    icrc_rewind_2[23] = ^(x & 32'h7f220080);
    icrc_rewind_2[24] = ^(x & 32'he4ef0100);
    icrc_rewind_2[25] = ^(x & 32'hd3750200);
    icrc_rewind_2[26] = ^(x & 32'ha6ea0400);
    icrc_rewind_2[27] = ^(x & 32'h577f0800);
    icrc_rewind_2[28] = ^(x & 32'hb4551000);
    icrc_rewind_2[29] = ^(x & 32'h68aa2000);
    icrc_rewind_2[30] = ^(x & 32'hcbff4000);
    icrc_rewind_2[31] = ^(x & 32'h8d558000);
  endfunction

  // The register as it was before 4 bytes of 0.
  function automatic logic [31:0] icrc_rewind_4(input logic [31:0] x);
    icrc_rewind_4[0] = ^(x & 32'hc8851aab);
    icrc_rewind_4[1] = ^(x & 32'h910a3556);
    icrc_rewind_4[2] = ^(x & 32'h22146aac);
    icrc_rewind_4[3] = ^(x & 32'h4428d558);
    icrc_rewind_4[4] = ^(x & 32'h8851aab0);
    icrc_rewind_4[5] = ^(x & 32'h10a35560);
    icrc_rewind_4[6] = ^(x & 32'he9c3b06b);
    icrc_rewind_4[7] = ^(x & 32'hd38760d6);
    icrc_rewind_4[8] = ^(x & 32'ha70ec1ac);
    icrc_rewind_4[9] = ^(x & 32'h869899f3);
    icrc_rewind_4[10] = ^(x & 32'hc5b4294d);
    icrc_rewind_4[11] = ^(x & 32'h8b68529a);
    icrc_rewind_4[12] = ^(x & 32'h16d0a534);
    icrc_rewind_4[13] = ^(x & 32'h2da14a68);
    icrc_rewind_4[14] = ^(x & 32'h5b4294d0);
    icrc_rewind_4[15] = ^(x & 32'hb68529a0);
    icrc_rewind_4[16] = ^(x & 32'ha58f49eb);
    icrc_rewind_4[17] = ^(x & 32'h4b1e93d6);
    icrc_rewind_4[18] = ^(x & 32'h963d27ac);
    icrc_rewind_4[19] = ^(x & 32'h2c7a4f58);
    icrc_rewind_4[20] = ^(x & 32'h9071841b);
    icrc_rewind_4[21] = ^(x & 32'he866129d);
    icrc_rewind_4[22] = ^(x & 32'h18493f91);
    icrc_rewind_4[23] = ^(x & 32'h30927f22);
    icrc_rewind_4[24] = ^(x & 32'ha9a1e4ef);
    icrc_rewind_4[25] = ^(x & 32'h9bc6d375);
    icrc_rewind_4[26] = ^(x & 32'h378da6ea);
    icrc_rewind_4[27] = ^(x & 32'ha79e577f);
    icrc_rewind_4[28] = ^(x & 32'h87b9b455);
    icrc_rewind_4[29] = ^(x & 32'h0f7368aa);
    icrc_rewind_4[30] = ^(x & 32'hd663cbff);
    icrc_rewind_4[31] = ^(x & 32'h64428d55);
  endfunction

  // The register as it was before 8 bytes of 0.
  function automatic logic [31:0] icrc_rewind_8(input logic [31:0] x);
    icrc_rewind_8[0] = ^(x & 32'hd33ca1fe);
    icrc_rewind_8[1] = ^(x & 32'ha67943fd);
    icrc_rewind_8[2] = ^(x & 32'h4cf287fb);
    icrc_rewind_8[3] = ^(x & 32'h99e50ff6);
    icrc_rewind_8[4] = ^(x & 32'h33ca1fec);
    icrc_rewind_8[5] = ^(x & 32'h67943fd9);
    icrc_rewind_8[6] = ^(x & 32'h1c14de4c);
    icrc_rewind_8[7] = ^(x & 32'h3829bc99);
    icrc_rewind_8[8] = ^(x & 32'h70537933);
    icrc_rewind_8[9] = ^(x & 32'h339a5399);
    icrc_rewind_8[10] = ^(x & 32'hb40806cd);
    icrc_rewind_8[11] = ^(x & 32'h68100d9b);
    icrc_rewind_8[12] = ^(x & 32'hd0201b37);
    icrc_rewind_8[13] = ^(x & 32'ha040366e);
    icrc_rewind_8[14] = ^(x & 32'h40806cdc);
    icrc_rewind_8[15] = ^(x & 32'h8100d9b8);
    icrc_rewind_8[16] = ^(x & 32'hd13d128f);
    icrc_rewind_8[17] = ^(x & 32'ha27a251f);
    icrc_rewind_8[18] = ^(x & 32'h44f44a3e);
    icrc_rewind_8[19] = ^(x & 32'h89e8947d);
    icrc_rewind_8[20] = ^(x & 32'hc0ed8904);
    icrc_rewind_8[21] = ^(x & 32'h52e7b3f7);
    icrc_rewind_8[22] = ^(x & 32'h76f3c611);
    icrc_rewind_8[23] = ^(x & 32'hede78c22);
    icrc_rewind_8[24] = ^(x & 32'h08f3b9ba);
    icrc_rewind_8[25] = ^(x & 32'hc2dbd28b);
    icrc_rewind_8[26] = ^(x & 32'h85b7a517);
    icrc_rewind_8[27] = ^(x & 32'hd853ebd0);
    icrc_rewind_8[28] = ^(x & 32'h639b765f);
    icrc_rewind_8[29] = ^(x & 32'hc736ecbf);
    icrc_rewind_8[30] = ^(x & 32'h5d517880);
    icrc_rewind_8[31] = ^(x & 32'h699e50ff);
  endfunction

  // The register as it was before 16 bytes of 0.
  function automatic logic [31:0] icrc_rewind_16(input logic [31:0] x);
    icrc_rewind_16[0] = ^(x & 32'h9074ce54);
    icrc_rewind_16[1] = ^(x & 32'h20e99ca9);
    icrc_rewind_16[2] = ^(x & 32'h41d33952);
    icrc_rewind_16[3] = ^(x & 32'h83a672a5);
    icrc_rewind_16[4] = ^(x & 32'h074ce54a);
    icrc_rewind_16[5] = ^(x & 32'h0e99ca95);
    icrc_rewind_16[6] = ^(x & 32'h8d475b7f);
    icrc_rewind_16[7] = ^(x & 32'h1a8eb6ff);
    icrc_rewind_16[8] = ^(x & 32'h351d6dfe);
    icrc_rewind_16[9] = ^(x & 32'hfa4e15a9);
    icrc_rewind_16[10] = ^(x & 32'h64e8e507);
    icrc_rewind_16[11] = ^(x & 32'hc9d1ca0e);
    icrc_rewind_16[12] = ^(x & 32'h93a3941c);
    icrc_rewind_16[13] = ^(x & 32'h27472839);
    icrc_rewind_16[14] = ^(x & 32'h4e8e5072);
    icrc_rewind_16[15] = ^(x & 32'h9d1ca0e4);
    icrc_rewind_16[16] = ^(x & 32'haa4d8f9c);
    icrc_rewind_16[17] = ^(x & 32'h549b1f39);
    icrc_rewind_16[18] = ^(x & 32'ha9363e72);
    icrc_rewind_16[19] = ^(x & 32'h526c7ce4);
    icrc_rewind_16[20] = ^(x & 32'h34ac379c);
    icrc_rewind_16[21] = ^(x & 32'hf92ca16d);
    icrc_rewind_16[22] = ^(x & 32'h622d8c8e);
    icrc_rewind_16[23] = ^(x & 32'hc45b191d);
    icrc_rewind_16[24] = ^(x & 32'h18c2fc6e);
    icrc_rewind_16[25] = ^(x & 32'ha1f13688);
    icrc_rewind_16[26] = ^(x & 32'h43e26d11);
    icrc_rewind_16[27] = ^(x & 32'h17b01477);
    icrc_rewind_16[28] = ^(x & 32'hbf14e6ba);
    icrc_rewind_16[29] = ^(x & 32'h7e29cd75);
    icrc_rewind_16[30] = ^(x & 32'h6c2754bf);
    icrc_rewind_16[31] = ^(x & 32'h483a672a);
  endfunction

  // The register as it was before 32 bytes of 0.
  function automatic logic [31:0] icrc_rewind_32(input logic [31:0] x);
    icrc_rewind_32[0] = ^(x & 32'hbe88e8cc);
    icrc_rewind_32[1] = ^(x & 32'h7d11d199);
    icrc_rewind_32[2] = ^(x & 32'hfa23a332);
    icrc_rewind_32[3] = ^(x & 32'hf4474665);
    icrc_rewind_32[4] = ^(x & 32'he88e8cca);
    icrc_rewind_32[5] = ^(x & 32'hd11d1995);
    icrc_rewind_32[6] = ^(x & 32'h1cb2dbe6);
    icrc_rewind_32[7] = ^(x & 32'h3965b7cd);
    icrc_rewind_32[8] = ^(x & 32'h72cb6f9b);
    icrc_rewind_32[9] = ^(x & 32'h5b1e37fa);
    icrc_rewind_32[10] = ^(x & 32'h08b48738);
    icrc_rewind_32[11] = ^(x & 32'h11690e70);
    icrc_rewind_32[12] = ^(x & 32'h22d21ce1);
    icrc_rewind_32[13] = ^(x & 32'h45a439c2);
    icrc_rewind_32[14] = ^(x & 32'h8b487384);
    icrc_rewind_32[15] = ^(x & 32'h1690e708);
    icrc_rewind_32[16] = ^(x & 32'h93a926dc);
    icrc_rewind_32[17] = ^(x & 32'h27524db8);
    icrc_rewind_32[18] = ^(x & 32'h4ea49b70);
    icrc_rewind_32[19] = ^(x & 32'h9d4936e1);
    icrc_rewind_32[20] = ^(x & 32'h841a850f);
    icrc_rewind_32[21] = ^(x & 32'hb6bde2d2);
    icrc_rewind_32[22] = ^(x & 32'hd3f32d69);
    icrc_rewind_32[23] = ^(x & 32'ha7e65ad2);
    icrc_rewind_32[24] = ^(x & 32'hf1445d69);
    icrc_rewind_32[25] = ^(x & 32'h5c00521e);
    icrc_rewind_32[26] = ^(x & 32'hb800a43c);
    icrc_rewind_32[27] = ^(x & 32'hce89a0b5);
    icrc_rewind_32[28] = ^(x & 32'h239ba9a6);
    icrc_rewind_32[29] = ^(x & 32'h4737534c);
    icrc_rewind_32[30] = ^(x & 32'h30e64e55);
    icrc_rewind_32[31] = ^(x & 32'hdf447466);
  endfunction

  localparam logic [15:0] VcrcResidue = 16'h556f;

  // 32 bytes into a register of 0.
  function automatic logic [15:0] vcrc_fold_32(input logic [255:0] x);
    vcrc_fold_32[0] = ^(x & 256'h111a1a5b48bc59bdf8a3f3c7f525e8cda56d1587ec70523170d543eb6dbd0b96);
    vcrc_fold_32[1] = ^(x & 256'h223434b69178b37bf147e78fea4bd19b4ada2b0fd8e0a462e1aa87d6db7a172c);
    vcrc_fold_32[2] = ^(x & 256'h4468696d22f166f7e28fcf1fd497a33695b4561fb1c148c5c3550fadb6f42e58);
    vcrc_fold_32[3] = ^(x & 256'h88d0d2da45e2cdefc51f9e3fa92f466d2b68ac3f6382918b86aa1f5b6de85cb1);
    vcrc_fold_32[4] = ^(x & 256'h00bbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f4);
    vcrc_fold_32[5] = ^(x & 256'h01777fdf86f384c4e5399f714ef6c82fe7789bf256eae24cfb02fabb6cdb65e8);
    vcrc_fold_32[6] = ^(x & 256'h02eeffbf0de70989ca733ee29ded905fcef137e4add5c499f605f576d9b6cbd0);
    vcrc_fold_32[7] = ^(x & 256'h05ddff7e1bce131394e67dc53bdb20bf9de26fc95bab8933ec0beaedb36d97a0);
    vcrc_fold_32[8] = ^(x & 256'h0bbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f40);
    vcrc_fold_32[9] = ^(x & 256'h1777fdf86f384c4e5399f714ef6c82fe7789bf256eae24cfb02fabb6cdb65e80);
    vcrc_fold_32[10] = ^(x & 256'h2eeffbf0de70989ca733ee29ded905fcef137e4add5c499f605f576d9b6cbd00);
    vcrc_fold_32[11] = ^(x & 256'h5ddff7e1bce131394e67dc53bdb20bf9de26fc95bab8933ec0beaedb36d97a00);
    vcrc_fold_32[12] = ^(x & 256'hbbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f400);
    vcrc_fold_32[13] = ^(x & 256'h6665c5ddbb389d58c13c828903edc72addf6e7d106921eca722ff887b6d8e397);
    vcrc_fold_32[14] = ^(x & 256'hcccb8bbb76713ab18279051207db8e55bbedcfa20d243d94e45ff10f6db1c72e);
    vcrc_fold_32[15] = ^(x & 256'h888d0d2da45e2cdefc51f9e3fa92f466d2b68ac3f6382918b86aa1f5b6de85cb);
  endfunction

  // The register after 32 bytes of 0.
  function automatic logic [15:0] vcrc_advance_32(input logic [15:0] x);
    vcrc_advance_32[0] = ^(x & 16'h0b96);
    vcrc_advance_32[1] = ^(x & 16'h172c);
    vcrc_advance_32[2] = ^(x & 16'h2e58);
    vcrc_advance_32[3] = ^(x & 16'h5cb1);
    vcrc_advance_32[4] = ^(x & 16'hb2f4);
    vcrc_advance_32[5] = ^(x & 16'h65e8);
    vcrc_advance_32[6] = ^(x & 16'hcbd0);
    vcrc_advance_32[7] = ^(x & 16'h97a0);
    vcrc_advance_32[8] = ^(x & 16'h2f40);
    vcrc_advance_32[9] = ^(x & 16'h5e80);
    vcrc_advance_32[10] = ^(x & 16'hbd00);
    vcrc_advance_32[11] = ^(x & 16'h7a00);
    vcrc_advance_32[12] = ^(x & 16'hf400);
    vcrc_advance_32[13] = ^(x & 16'he397);
    vcrc_advance_32[14] = ^(x & 16'hc72e);
    vcrc_advance_32[15] = ^(x & 16'h85cb);
  endfunction

  // 64 bytes into a register of 0.
  function automatic logic [15:0] vcrc_fold_64(input logic [511:0] x);
    vcrc_fold_64[0] = ^(x & 512'h111a1a5b48bc59bdf8a3f3c7f525e8cda56d1587ec70523170d543eb6dbd0b962229e9af8f7b5fadc1804a208714fe7d235bc3027abeb1241bf3cf7df53a17e0);
    vcrc_fold_64[1] = ^(x & 512'h223434b69178b37bf147e78fea4bd19b4ada2b0fd8e0a462e1aa87d6db7a172c4453d35f1ef6bf5b830094410e29fcfa46b78604f57d624837e79efbea742fc1);
    vcrc_fold_64[2] = ^(x & 512'h4468696d22f166f7e28fcf1fd497a33695b4561fb1c148c5c3550fadb6f42e5888a7a6be3ded7eb7060128821c53f9f48d6f0c09eafac4906fcf3df7d4e85f82);
    vcrc_fold_64[3] = ^(x & 512'h88d0d2da45e2cdefc51f9e3fa92f466d2b68ac3f6382918b86aa1f5b6de85cb1114f4d7c7bdafd6e0c02510438a7f3e91ade1813d5f58920df9e7befa9d0bf04);
    vcrc_fold_64[4] = ^(x & 512'h00bbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f400b7735778cea571d984e828f65b19af16e7f325d155a365a4cf38a2a69b69e8);
    vcrc_fold_64[5] = ^(x & 512'h01777fdf86f384c4e5399f714ef6c82fe7789bf256eae24cfb02fabb6cdb65e8016ee6aef19d4ae3b309d051ecb6335e2dcfe64ba2ab46cb499e71454d36d3d0);
    vcrc_fold_64[6] = ^(x & 512'h02eeffbf0de70989ca733ee29ded905fcef137e4add5c499f605f576d9b6cbd002ddcd5de33a95c76613a0a3d96c66bc5b9fcc9745568d96933ce28a9a6da7a1);
    vcrc_fold_64[7] = ^(x & 512'h05ddff7e1bce131394e67dc53bdb20bf9de26fc95bab8933ec0beaedb36d97a005bb9abbc6752b8ecc274147b2d8cd78b73f992e8aad1b2d2679c51534db4f43);
    vcrc_fold_64[8] = ^(x & 512'h0bbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f400b7735778cea571d984e828f65b19af16e7f325d155a365a4cf38a2a69b69e87);
    vcrc_fold_64[9] = ^(x & 512'h1777fdf86f384c4e5399f714ef6c82fe7789bf256eae24cfb02fabb6cdb65e8016ee6aef19d4ae3b309d051ecb6335e2dcfe64ba2ab46cb499e71454d36d3d0e);
    vcrc_fold_64[10] = ^(x & 512'h2eeffbf0de70989ca733ee29ded905fcef137e4add5c499f605f576d9b6cbd002ddcd5de33a95c76613a0a3d96c66bc5b9fcc9745568d96933ce28a9a6da7a1c);
    vcrc_fold_64[11] = ^(x & 512'h5ddff7e1bce131394e67dc53bdb20bf9de26fc95bab8933ec0beaedb36d97a005bb9abbc6752b8ecc274147b2d8cd78b73f992e8aad1b2d2679c51534db4f439);
    vcrc_fold_64[12] = ^(x & 512'hbbbfefc379c262729ccfb8a77b6417f3bc4df92b7571267d817d5db66db2f400b7735778cea571d984e828f65b19af16e7f325d155a365a4cf38a2a69b69e872);
    vcrc_fold_64[13] = ^(x & 512'h6665c5ddbb389d58c13c828903edc72addf6e7d106921eca722ff887b6d8e3974ccf475e1231bc1ec8501bcc3127a050ecbd88a0d1f87a6d85828a30c3e9c704);
    vcrc_fold_64[14] = ^(x & 512'hcccb8bbb76713ab18279051207db8e55bbedcfa20d243d94e45ff10f6db1c72e999e8ebc2463783d90a03798624f40a1d97b1141a3f0f4db0b05146187d38e08);
    vcrc_fold_64[15] = ^(x & 512'h888d0d2da45e2cdefc51f9e3fa92f466d2b68ac3f6382918b86aa1f5b6de85cb1114f4d7c7bdafd6e0c02510438a7f3e91ade1813d5f58920df9e7befa9d0bf0);
  endfunction

  // The register after 64 bytes of 0.
  function automatic logic [15:0] vcrc_advance_64(input logic [15:0] x);
    vcrc_advance_64[0] = ^(x & 16'h17e0);
    vcrc_advance_64[1] = ^(x & 16'h2fc1);
    vcrc_advance_64[2] = ^(x & 16'h5f82);
    vcrc_advance_64[3] = ^(x & 16'hbf04);
    vcrc_advance_64[4] = ^(x & 16'h69e8);
    vcrc_advance_64[5] = ^(x & 16'hd3d0);
    vcrc_advance_64[6] = ^(x & 16'ha7a1);
    vcrc_advance_64[7] = ^(x & 16'h4f43);
    vcrc_advance_64[8] = ^(x & 16'h9e87);
    vcrc_advance_64[9] = ^(x & 16'h3d0e);
    vcrc_advance_64[10] = ^(x & 16'h7a1c);
    vcrc_advance_64[11] = ^(x & 16'hf439);
    vcrc_advance_64[12] = ^(x & 16'he872);
    vcrc_advance_64[13] = ^(x & 16'hc704);
    vcrc_advance_64[14] = ^(x & 16'h8e08);
    vcrc_advance_64[15] = ^(x & 16'h0bf0);
  endfunction

  // The register as it was before 1 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_1(input logic [15:0] x);
    vcrc_rewind_1[0] = ^(x & 16'h9700);
    vcrc_rewind_1[1] = ^(x & 16'h2e00);
    vcrc_rewind_1[2] = ^(x & 16'h5c00);
    vcrc_rewind_1[3] = ^(x & 16'hb800);
    vcrc_rewind_1[4] = ^(x & 16'he700);
    vcrc_rewind_1[5] = ^(x & 16'hce00);
    vcrc_rewind_1[6] = ^(x & 16'h9c00);
    vcrc_rewind_1[7] = ^(x & 16'h3800);
    vcrc_rewind_1[8] = ^(x & 16'h7001);
    vcrc_rewind_1[9] = ^(x & 16'he002);
    vcrc_rewind_1[10] = ^(x & 16'hc004);
    vcrc_rewind_1[11] = ^(x & 16'h8008);
    vcrc_rewind_1[12] = ^(x & 16'h0010);
    vcrc_rewind_1[13] = ^(x & 16'h9720);
    vcrc_rewind_1[14] = ^(x & 16'h2e40);
    vcrc_rewind_1[15] = ^(x & 16'hcb80);
  endfunction

  // The register as it was before 2 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_2(input logic [15:0] x);
    vcrc_rewind_2[0] = ^(x & 16'h9b97);
    vcrc_rewind_2[1] = ^(x & 16'h372e);
    vcrc_rewind_2[2] = ^(x & 16'h6e5c);
    vcrc_rewind_2[3] = ^(x & 16'hdcb8);
    vcrc_rewind_2[4] = ^(x & 16'h22e7);
    vcrc_rewind_2[5] = ^(x & 16'h45ce);
    vcrc_rewind_2[6] = ^(x & 16'h8b9c);
    vcrc_rewind_2[7] = ^(x & 16'h1738);
    vcrc_rewind_2[8] = ^(x & 16'h2e70);
    vcrc_rewind_2[9] = ^(x & 16'h5ce0);
    vcrc_rewind_2[10] = ^(x & 16'hb9c0);
    vcrc_rewind_2[11] = ^(x & 16'h7380);
    vcrc_rewind_2[12] = ^(x & 16'he700);
    vcrc_rewind_2[13] = ^(x & 16'h5597);
    vcrc_rewind_2[14] = ^(x & 16'hab2e);
    vcrc_rewind_2[15] = ^(x & 16'hcdcb);
  endfunction

  // The register as it was before 4 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_4(input logic [15:0] x);
    vcrc_rewind_4[0] = ^(x & 16'hdce1);
    vcrc_rewind_4[1] = ^(x & 16'hb9c3);
    vcrc_rewind_4[2] = ^(x & 16'h7386);
    vcrc_rewind_4[3] = ^(x & 16'he70c);
    vcrc_rewind_4[4] = ^(x & 16'h12f8);
    vcrc_rewind_4[5] = ^(x & 16'h25f0);
    vcrc_rewind_4[6] = ^(x & 16'h4be0);
    vcrc_rewind_4[7] = ^(x & 16'h97c1);
    vcrc_rewind_4[8] = ^(x & 16'h2f82);
    vcrc_rewind_4[9] = ^(x & 16'h5f04);
    vcrc_rewind_4[10] = ^(x & 16'hbe08);
    vcrc_rewind_4[11] = ^(x & 16'h7c11);
    vcrc_rewind_4[12] = ^(x & 16'hf822);
    vcrc_rewind_4[13] = ^(x & 16'h2ca4);
    vcrc_rewind_4[14] = ^(x & 16'h5948);
    vcrc_rewind_4[15] = ^(x & 16'h6e70);
  endfunction

  // The register as it was before 8 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_8(input logic [15:0] x);
    vcrc_rewind_8[0] = ^(x & 16'h2833);
    vcrc_rewind_8[1] = ^(x & 16'h5066);
    vcrc_rewind_8[2] = ^(x & 16'ha0cc);
    vcrc_rewind_8[3] = ^(x & 16'h4198);
    vcrc_rewind_8[4] = ^(x & 16'hab03);
    vcrc_rewind_8[5] = ^(x & 16'h5607);
    vcrc_rewind_8[6] = ^(x & 16'hac0e);
    vcrc_rewind_8[7] = ^(x & 16'h581c);
    vcrc_rewind_8[8] = ^(x & 16'hb039);
    vcrc_rewind_8[9] = ^(x & 16'h6073);
    vcrc_rewind_8[10] = ^(x & 16'hc0e7);
    vcrc_rewind_8[11] = ^(x & 16'h81ce);
    vcrc_rewind_8[12] = ^(x & 16'h039c);
    vcrc_rewind_8[13] = ^(x & 16'h2f0a);
    vcrc_rewind_8[14] = ^(x & 16'h5e15);
    vcrc_rewind_8[15] = ^(x & 16'h9419);
  endfunction

  // The register as it was before 16 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_16(input logic [15:0] x);
    vcrc_rewind_16[0] = ^(x & 16'h2b95);
    vcrc_rewind_16[1] = ^(x & 16'h572a);
    vcrc_rewind_16[2] = ^(x & 16'hae55);
    vcrc_rewind_16[3] = ^(x & 16'h5cab);
    vcrc_rewind_16[4] = ^(x & 16'h92c2);
    vcrc_rewind_16[5] = ^(x & 16'h2584);
    vcrc_rewind_16[6] = ^(x & 16'h4b08);
    vcrc_rewind_16[7] = ^(x & 16'h9610);
    vcrc_rewind_16[8] = ^(x & 16'h2c20);
    vcrc_rewind_16[9] = ^(x & 16'h5840);
    vcrc_rewind_16[10] = ^(x & 16'hb080);
    vcrc_rewind_16[11] = ^(x & 16'h6100);
    vcrc_rewind_16[12] = ^(x & 16'hc201);
    vcrc_rewind_16[13] = ^(x & 16'haf97);
    vcrc_rewind_16[14] = ^(x & 16'h5f2f);
    vcrc_rewind_16[15] = ^(x & 16'h95ca);
  endfunction

  // The register as it was before 32 bytes of 0.
  function automatic logic [15:0] vcrc_rewind_32(input logic [15:0] x);
    vcrc_rewind_32[0] = ^(x & 16'h3be5);
    vcrc_rewind_32[1] = ^(x & 16'h77cb);
    vcrc_rewind_32[2] = ^(x & 16'hef97);
    vcrc_rewind_32[3] = ^(x & 16'hdf2e);
    vcrc_rewind_32[4] = ^(x & 16'h85b9);
    vcrc_rewind_32[5] = ^(x & 16'h0b72);
    vcrc_rewind_32[6] = ^(x & 16'h16e4);
    vcrc_rewind_32[7] = ^(x & 16'h2dc9);
    vcrc_rewind_32[8] = ^(x & 16'h5b93);
    vcrc_rewind_32[9] = ^(x & 16'hb726);
    vcrc_rewind_32[10] = ^(x & 16'h6e4c);
    vcrc_rewind_32[11] = ^(x & 16'hdc98);
    vcrc_rewind_32[12] = ^(x & 16'hb930);
    vcrc_rewind_32[13] = ^(x & 16'h4985);
    vcrc_rewind_32[14] = ^(x & 16'h930b);
    vcrc_rewind_32[15] = ^(x & 16'h1df2);
  endfunction

  // 4 bytes into a register of 0.
  function automatic logic [15:0] vcrc_fold_4(input logic [31:0] x);
    vcrc_fold_4[0] = ^(x & 32'h111a1a5b);
    vcrc_fold_4[1] = ^(x & 32'h223434b6);
    vcrc_fold_4[2] = ^(x & 32'h4468696d);
    vcrc_fold_4[3] = ^(x & 32'h88d0d2da);
    vcrc_fold_4[4] = ^(x & 32'h00bbbfef);
    vcrc_fold_4[5] = ^(x & 32'h01777fdf);
    vcrc_fold_4[6] = ^(x & 32'h02eeffbf);
    vcrc_fold_4[7] = ^(x & 32'h05ddff7e);
    vcrc_fold_4[8] = ^(x & 32'h0bbbfefc);
    vcrc_fold_4[9] = ^(x & 32'h1777fdf8);
    vcrc_fold_4[10] = ^(x & 32'h2eeffbf0);
    vcrc_fold_4[11] = ^(x & 32'h5ddff7e1);
    vcrc_fold_4[12] = ^(x & 32'hbbbfefc3);
    vcrc_fold_4[13] = ^(x & 32'h6665c5dd);
    vcrc_fold_4[14] = ^(x & 32'hcccb8bbb);
    vcrc_fold_4[15] = ^(x & 32'h888d0d2d);
  endfunction

  // The register after 2 bytes of 0.
  function automatic logic [31:0] icrc_advance_2(input logic [31:0] x);
    icrc_advance_2[0] = ^(x & 32'h000104d1);
    icrc_advance_2[1] = ^(x & 32'h000209a2);
    icrc_advance_2[2] = ^(x & 32'h00041344);
    icrc_advance_2[3] = ^(x & 32'h00082688);
    icrc_advance_2[4] = ^(x & 32'h00104d10);
    icrc_advance_2[5] = ^(x & 32'h00209a20);
    icrc_advance_2[6] = ^(x & 32'h00403091);
    icrc_advance_2[7] = ^(x & 32'h00806122);
    icrc_advance_2[8] = ^(x & 32'h0100c245);
    icrc_advance_2[9] = ^(x & 32'h0200805a);
    icrc_advance_2[10] = ^(x & 32'h04000464);
    icrc_advance_2[11] = ^(x & 32'h080008c8);
    icrc_advance_2[12] = ^(x & 32'h10001191);
    icrc_advance_2[13] = ^(x & 32'h20002323);
    icrc_advance_2[14] = ^(x & 32'h40004646);
    icrc_advance_2[15] = ^(x & 32'h80008c8c);
    icrc_advance_2[16] = ^(x & 32'h00001dc9);
    icrc_advance_2[17] = ^(x & 32'h00003b93);
    icrc_advance_2[18] = ^(x & 32'h00007726);
    icrc_advance_2[19] = ^(x & 32'h0000ee4d);
    icrc_advance_2[20] = ^(x & 32'h0000d84b);
    icrc_advance_2[21] = ^(x & 32'h0000b446);
    icrc_advance_2[22] = ^(x & 32'h00006c5c);
    icrc_advance_2[23] = ^(x & 32'h0000d8b8);
    icrc_advance_2[24] = ^(x & 32'h0000b5a1);
    icrc_advance_2[25] = ^(x & 32'h00006f92);
    icrc_advance_2[26] = ^(x & 32'h0000df24);
    icrc_advance_2[27] = ^(x & 32'h0000ba99);
    icrc_advance_2[28] = ^(x & 32'h000071e3);
    icrc_advance_2[29] = ^(x & 32'h0000e3c6);
    icrc_advance_2[30] = ^(x & 32'h0000c35c);
    icrc_advance_2[31] = ^(x & 32'h00008268);
  endfunction

endpackage
