// SPDX-License-Identifier: Apache-2.0
// Puts headers before payloads that pass at a beat of Width bits a cycle: all framings, all opcodes.
//
// Streams. Byte i of a beat is data[8*i+7:8*i]. packets_in brings a payload, which starts with its first beat's byte 0 and
// fills every beat but the last; a packet without payload is one beat of 0 bytes. The descriptor beside the first beat
// determines the frame: the addresses, the BTH (its PadCnt is not read), the extension headers (those that the opcode has are
// used), the IPv4 identification and payload_bytes, the whole payload, at most MaxPayload. Data after the last byte, and
// descriptors beside other beats, are ignored. packets_out is the frame up to the ICRC as rtl/icrc/icrc.sv takes it, in mode
// IcrcGenerate: headers with lengths, PadCnt and IPv4 checksum (the UDP checksum is 0), payload, pad of zeros; data after the
// last byte is 0.
//
// Grants. As in rtl/icrc/icrc.sv: a start in cycle n needs `ready` in cycle n; once high, ready falls only after a start; from
// first to last beat valid stays high and ready is ignored. packets_out_start_o takes the room after the block exactly Latency
// cycles ahead of the first beat; nothing is ever stalled inside.
//
// Timing. First beat in n: first beat out in n + Latency, Latency = 4, for all packets; the next packet starts when this
// one's beats have left, so that packets_out can be full at a beat a cycle.
// Combinational paths: packets_out_ready_i to packets_in_ready_o, packets_in_valid_i and .first to packets_out_start_o,
// one gate each. All else is registered.
module packetizer #(
  parameter int unsigned Width = 512  // 256 or 512
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  logic                 packets_in_valid_i,
  output logic                 packets_in_ready_o,
  input  hca_pkg::descriptor_t packets_in_i,
  input  logic [Width-1:0]     packets_in_data_i,
  output logic                 packets_out_start_o,
  output logic                 packets_out_valid_o,
  input  logic                 packets_out_ready_i,
  output hca_pkg::beat_t       packets_out_o,
  output logic [Width-1:0]     packets_out_data_o
);
  localparam int unsigned BeatBytes = Width / 8;
  localparam int unsigned BeatBits = $clog2(BeatBytes);
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Front = 8 * hca_pkg::MaxPathBytes;  // bits before the BTH
  localparam int unsigned Net = 8 * (hca_pkg::Ipv6Bytes + hca_pkg::UdpBytes);
  localparam int unsigned Ext = 8 * hca_pkg::MaxExtBytes;
  localparam int unsigned Bth = 8 * hca_pkg::BthBytes;
  localparam logic [15:0] IcrcBytes = hca_pkg::IcrcBytes[15:0];
  localparam logic [15:0] UdpBytes = hca_pkg::UdpBytes[15:0];
  localparam logic [15:0] Ipv4Bytes = hca_pkg::Ipv4Bytes[15:0];
  localparam int unsigned Image = 8 * hca_pkg::MaxHeaderBytes;
  localparam int unsigned Kept = hca_pkg::MaxHeaderBytes / BeatBytes;  // earlier beats of payload that are kept

  // ---- 0: grants ----
  logic open_q, open_d;        // a packet may start in this cycle, if there is room after the block
  logic [7:0] wait_q, wait_d;  // cycles in which none may start
  logic [hca_pkg::ExtCount-1:0] has;  // extension headers
  logic [6:0] path_bytes, header_bytes;
  logic [1:0] pad;
  logic [12:0] frame_bytes;  // up to the ICRC

  assign packets_in_ready_o = open_q && packets_out_ready_i;
  assign packets_out_start_o = packets_in_valid_i && packets_in_i.first;

  always_comb begin
    has = hca_pkg::opcode_ext(packets_in_i.bth.opcode);
    path_bytes = hca_pkg::path_bytes(packets_in_i.address.framing, packets_in_i.address.vlan);
    header_bytes = path_bytes + hca_pkg::transport_bytes(has);
    pad = 2'd0 - packets_in_i.payload_bytes[1:0];
    frame_bytes = packets_in_i.payload_bytes + {11'd0, pad} + {6'd0, header_bytes};
    wait_d = wait_q == 8'd0 ? 8'd0 : wait_q - 8'd1;
    if (packets_out_start_o) begin
      wait_d = '0;  // one cycle less than it has beats
      wait_d[12-BeatBits:0] = frame_bytes[12:BeatBits];
      if (frame_bytes[BeatBits-1:0] == '0) wait_d = wait_d - 8'd1;
    end
    open_d = wait_d == 8'd0;
  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      open_q <= 1'b1;
      wait_q <= 8'd0;
    end else begin
      open_q <= open_d;
      wait_q <= wait_d;
    end
  end

  // ---- 1: input register: the descriptor held, data cleared after the last byte ----
  logic s1_valid_q, s1_first_q;
  /* verilator lint_off UNUSEDSIGNAL */  // the place of a beat is not used again
  hca_pkg::descriptor_t s1_q;
  /* verilator lint_on UNUSEDSIGNAL */
  logic [Width-1:0] s1_data_q;
  logic [hca_pkg::ExtCount-1:0] s1_has_q;
  logic [6:0] s1_path_bytes_q, s1_header_bytes_q;
  logic [12:0] s1_frame_bytes_q;

  // ---- 2: headers with their lengths, most significant bit first, in two parts; the sum of the IPv4 header ----
  logic s2_valid_q, s2_first_q;
  logic [Width-1:0] s2_data_q;
  logic [Front-1:0] s2_front_q, s2_front_d;          // before the BTH
  logic [Bth+Ext-1:0] s2_behind_q, s2_behind_d;      // BTH and extension headers
  logic [19:0] s2_ip_sum_q, s2_ip_sum_d;
  logic [6:0] s2_path_bytes_q, s2_header_bytes_q;
  logic [12:0] s2_frame_bytes_q;
  hca_pkg::framing_e s2_framing_q;
  logic s2_vlan_q;
  hca_pkg::framing_e framing;
  logic native;
  logic [15:0] behind_path, udp_length, ether_type;  // lengths: from the BTH, from the UDP header to the ICRC
  hca_pkg::lrh_t lrh;
  hca_pkg::grh_t grh;
  hca_pkg::ethernet_t ethernet;
  hca_pkg::vlan_t vlan;
  hca_pkg::ipv4_t ipv4;
  hca_pkg::ipv6_t ipv6;
  hca_pkg::udp_t udp;
  hca_pkg::bth_t bth;
  logic [Net-1:0] network;

  always_comb begin
    framing = s1_q.address.framing;
    native = hca_pkg::is_native(framing);
    behind_path = {3'd0, s1_frame_bytes_q} - {9'd0, s1_path_bytes_q} + IcrcBytes;
    udp_length = behind_path + UdpBytes;

    lrh = '0;
    lrh.vl = s1_q.address.virtual_lane;
    lrh.sl = s1_q.address.service_level;
    lrh.lnh = framing == hca_pkg::IbGlobal ? hca_pkg::LnhGlobal : hca_pkg::LnhLocal;
    lrh.dlid = s1_q.address.destination_lid;
    lrh.pktlen = s1_frame_bytes_q[12:2] + IcrcBytes[12:2];
    lrh.slid = s1_q.address.source_lid;

    grh.ipver = hca_pkg::IpVersion6;
    grh.tclass = s1_q.address.traffic_class;
    grh.flowlabel = s1_q.address.flow_label;
    grh.paylen = behind_path;
    grh.nxthdr = hca_pkg::NextHeaderIba;
    grh.hoplmt = s1_q.address.hop_limit;
    grh.sgid = s1_q.address.source_gid;
    grh.dgid = s1_q.address.destination_gid;

    ipv6.version = hca_pkg::IpVersion6;
    ipv6.trafficclass = s1_q.address.traffic_class;
    ipv6.flowlabel = s1_q.address.flow_label;
    ipv6.payloadlength = udp_length;
    ipv6.nextheader = hca_pkg::IpProtocolUdp;
    ipv6.hoplimit = s1_q.address.hop_limit;
    ipv6.source = s1_q.address.source_gid;
    ipv6.destination = s1_q.address.destination_gid;

    ipv4 = '0;
    ipv4.version = hca_pkg::IpVersion4;
    ipv4.ihl = hca_pkg::Ipv4HeaderWords;
    ipv4.tos = s1_q.address.traffic_class;
    ipv4.totallength = udp_length + Ipv4Bytes;
    ipv4.identification = s1_q.ip_id;
    ipv4.df = 1'b1;
    ipv4.ttl = s1_q.address.hop_limit;
    ipv4.protocol = hca_pkg::IpProtocolUdp;
    ipv4.source = s1_q.address.source_gid[31:0];
    ipv4.destination = s1_q.address.destination_gid[31:0];
    s2_ip_sum_d = 20'd0;
    for (int i = 0; i < hca_pkg::Ipv4Bytes / 2; i++) s2_ip_sum_d = s2_ip_sum_d + {4'd0, ipv4[16*i +: 16]};

    udp.sourceport = s1_q.address.udp_source_port;
    udp.destinationport = hca_pkg::RoceUdpPort;
    udp.length = udp_length;
    udp.checksum = 16'd0;

    ether_type = hca_pkg::EtherTypeRoce;
    if (framing == hca_pkg::RoceV2Ip4) ether_type = hca_pkg::EtherTypeIpv4;
    if (framing == hca_pkg::RoceV2Ip6) ether_type = hca_pkg::EtherTypeIpv6;
    ethernet.destination = s1_q.address.destination_mac;
    ethernet.source = s1_q.address.source_mac;
    ethernet.ethertype = s1_q.address.vlan ? hca_pkg::EtherTypeVlan : ether_type;
    vlan.pcp = s1_q.address.vlan_priority;
    vlan.dei = 1'b0;
    vlan.vid = s1_q.address.vlan_id;
    vlan.ethertype = ether_type;

    bth = s1_q.bth;
    bth.padcnt = 2'd0 - s1_q.payload_bytes[1:0];

    network = '0;
    unique case (framing)
      hca_pkg::IbGlobal, hca_pkg::RoceV1: network[Net-1 -: 8*hca_pkg::GrhBytes] = grh;
      hca_pkg::RoceV2Ip4: network[Net-1 -: 8*(hca_pkg::Ipv4Bytes + hca_pkg::UdpBytes)] = {ipv4, udp};
      hca_pkg::RoceV2Ip6: network = {ipv6, udp};
      default: ;  // no header between LRH and BTH
    endcase
    s2_front_d = '0;
    if (native) s2_front_d[Front-1 -: 8*hca_pkg::LrhBytes+Net] = {lrh, network};
    else if (s1_q.address.vlan) s2_front_d = {ethernet, vlan, network};
    else s2_front_d[Front-1 -: 8*hca_pkg::EthernetBytes+Net] = {ethernet, network};
  end

  assign s2_behind_d = {bth, hca_pkg::ext_headers(s1_has_q, s1_q.ext)};

  // ---- 3: all headers in one image, byte 0 lowest; payload rotated to its place in a beat ----
  logic [Width-1:0] s3_data_q, s3_data_d;
  logic [Kept*Width-1:0] s3_kept_q;  // the beats before, the newest lowest
  logic [Image-1:0] image_q, image_d, image_be;
  logic active_q, active_d;    // a packet leaves
  logic [2:0] index_q;         // its beats that have left, up to 7
  logic [12:0] left_q;         // its bytes that have not left
  logic [6:0] s3_header_bytes_q;
  hca_pkg::framing_e s3_framing_q;
  logic s3_vlan_q;
  logic [16:0] ip_sum;
  hca_pkg::ipv4_t checksum;  // all its other bits are 0
  logic [9:0] turn;  // bits

  always_comb begin
    ip_sum = {1'b0, s2_ip_sum_q[15:0]} + {13'd0, s2_ip_sum_q[19:16]};
    checksum = '0;
    checksum.headerchecksum = ~(ip_sum[15:0] + {15'd0, ip_sum[16]});
    image_be = '0;
    image_be[Image-1 -: Bth+Ext] = s2_behind_q;
    image_be = image_be >> {s2_path_bytes_q, 3'd0};
    image_be[Image-1 -: Front] = image_be[Image-1 -: Front] | s2_front_q;
    if (s2_framing_q == hca_pkg::RoceV2Ip4) begin
      if (s2_vlan_q)
        image_be[Image-1-8*(hca_pkg::EthernetBytes+hca_pkg::VlanBytes) -: 8*hca_pkg::Ipv4Bytes] =
            image_be[Image-1-8*(hca_pkg::EthernetBytes+hca_pkg::VlanBytes) -: 8*hca_pkg::Ipv4Bytes] | checksum;
      else
        image_be[Image-1-8*hca_pkg::EthernetBytes -: 8*hca_pkg::Ipv4Bytes] =
            image_be[Image-1-8*hca_pkg::EthernetBytes -: 8*hca_pkg::Ipv4Bytes] | checksum;
    end
    for (int i = 0; i < Image / 8; i++) image_d[8*i +: 8] = image_be[Image-1-8*i -: 8];
  end

  always_comb begin
    turn = '0;
    turn[BeatBits+2:3] = s2_header_bytes_q[BeatBits-1:0];
    s3_data_d = s2_valid_q ? s2_data_q << turn | s2_data_q >> (Width[9:0] - turn) : '0;
  end

  // ---- 4: header bytes, the end of one beat of payload and the beginning of the next ----
  logic s4_valid_q;
  hca_pkg::beat_t s4_q, s4_d;
  logic [Width-1:0] s4_data_q, s4_data_d;
  logic [2:0] delay;  // beats that contain only headers
  logic [(Kept+1)*Width-1:0] kept;
  logic [Width-1:0] newer, older, upper;

  always_comb begin
    delay = '0;
    delay[6-BeatBits:0] = s3_header_bytes_q[6:BeatBits];
    kept = {s3_kept_q, s3_data_q};
    newer = '0;
    older = '0;
    for (int i = 0; i < Kept; i++) begin
      if (delay == i[2:0] && index_q >= delay) newer = kept[i*Width +: Width];
      if (delay == i[2:0] && index_q > delay) older = kept[(i+1)*Width +: Width];
    end
    upper = {Width{1'b1}} << {s3_header_bytes_q[BeatBits-1:0], 3'd0};
    s4_data_d = image_q[Width-1:0] | (newer & upper) | (older & ~upper);

    s4_d = '0;
    s4_d.mode = hca_pkg::IcrcGenerate;
    s4_d.framing = s3_framing_q;
    s4_d.vlan = s3_vlan_q;
    s4_d.first = index_q == 3'd0;
    s4_d.last = left_q <= {6'd0, Full};
    s4_d.bytes = s4_d.last ? left_q[6:0] : Full;
    active_d = s2_first_q || (active_q && !s4_d.last);
  end

  assign packets_out_valid_o = s4_valid_q;
  assign packets_out_o = s4_q;
  assign packets_out_data_o = s4_data_q;

  // ---- registers ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s1_valid_q <= 1'b0;
      s1_first_q <= 1'b0;
      s2_valid_q <= 1'b0;
      s2_first_q <= 1'b0;
      active_q <= 1'b0;
      s4_valid_q <= 1'b0;
    end else begin
      s1_valid_q <= packets_in_valid_i;
      s1_first_q <= packets_out_start_o;
      s2_valid_q <= s1_valid_q;
      s2_first_q <= s1_first_q;
      active_q <= active_d;
      s4_valid_q <= active_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (packets_in_valid_i) s1_data_q <= packets_in_data_i & ~({Width{1'b1}} << {packets_in_i.bytes, 3'd0});
    if (packets_out_start_o) begin
      s1_q <= packets_in_i;
      s1_has_q <= has;
      s1_path_bytes_q <= path_bytes;
      s1_header_bytes_q <= header_bytes;
      s1_frame_bytes_q <= frame_bytes;
    end
    s2_data_q <= s1_data_q;
    if (s1_first_q) begin
      s2_front_q <= s2_front_d;
      s2_behind_q <= s2_behind_d;
      s2_ip_sum_q <= s2_ip_sum_d;
      s2_path_bytes_q <= s1_path_bytes_q;
      s2_header_bytes_q <= s1_header_bytes_q;
      s2_frame_bytes_q <= s1_frame_bytes_q;
      s2_framing_q <= s1_q.address.framing;
      s2_vlan_q <= s1_q.address.vlan;
    end
    s3_data_q <= s3_data_d;
    s3_kept_q <= kept[Kept*Width-1:0];
    if (s2_first_q) begin
      image_q <= image_d;
      index_q <= 3'd0;
      left_q <= s2_frame_bytes_q;
      s3_header_bytes_q <= s2_header_bytes_q;
      s3_framing_q <= s2_framing_q;
      s3_vlan_q <= s2_vlan_q;
    end else begin
      image_q <= image_q >> Width;
      if (index_q != 3'd7) index_q <= index_q + 3'd1;
      left_q <= left_q - {6'd0, Full};
    end
    if (active_q) begin
      s4_q <= s4_d;
      s4_data_q <= s4_data_d;
    end
  end

`ifdef HCA_ASSERT
  localparam logic BytesFill = 1'b1;
  localparam int unsigned Latency = 4;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b1;
`include "stream_assert.svh"
`include "packetizer_assert.svh"
`endif
endmodule
