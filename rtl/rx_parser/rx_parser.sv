// SPDX-License-Identifier: Apache-2.0
// Parses frames that pass at a beat of Width bits a cycle: headers, payload, and a verdict on form and lengths.
//
// Streams. Byte i of a beat is data[8*i+7:8*i]. packets_in brings whole frames as they leave rtl/icrc/icrc.sv, with any bytes
// after the IP or GRH length as Ethernet padding; of `framing` only the link is read, InfiniBand or Ethernet, with the first
// beat, and icrc_ok and vcrc_ok with the last one. packets_out has as many beats. Beside each are the headers and
// payload_bytes, the size that the headers announce; the payload starts with byte 0 of the first beat and fills all its beats
// but the last; later beats have 0 bytes. verdict is the first check that fails: with the last beat over the whole frame, in
// earlier beats over the first 128 bytes, which contain all headers. If that early verdict is bad there are no headers and no
// payload, except framing, addresses and BTH of a reserved OpCode, and of one of RD also RDETH and DETH, 0 if the frame ends
// before. Bytes that the frame does not have are 0.
//
// Grants. As in rtl/icrc/icrc.sv: a start in cycle n needs `ready` in cycle n; once high, ready falls only after a start; from
// first to last beat valid stays high and ready is ignored. packets_out_start_o takes the room after the block exactly Latency
// cycles ahead of the first beat; nothing is ever stalled inside.
//
// Timing. First beat in n: first beat out in n + Latency, Latency = 128 bytes + 4 beats, for all frames; one beat a cycle,
// back to back. Combinational paths: packets_out_ready_i to packets_in_ready_o, packets_in_valid_i and .first to
// packets_out_start_o, one gate each. All else is registered.
module rx_parser #(
  parameter int unsigned Width = 512  // 256 or 512
) (
  input  logic             clk_i,
  input  logic             rst_ni,
  input  logic             packets_in_valid_i,
  output logic             packets_in_ready_o,
  /* verilator lint_off UNUSEDSIGNAL */  // mode, vlan and the kind of Ethernet framing are not used
  input  hca_pkg::beat_t   packets_in_i,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [Width-1:0] packets_in_data_i,
  output logic             packets_out_start_o,
  output logic             packets_out_valid_o,
  input  logic             packets_out_ready_i,
  output hca_pkg::parsed_t packets_out_o,
  output logic [Width-1:0] packets_out_data_o
);
  localparam int unsigned BeatBytes = Width / 8;
  localparam int unsigned BeatBits = $clog2(BeatBytes);
  localparam logic [6:0] Full = BeatBytes[6:0];
  localparam int unsigned Image = 8 * hca_pkg::MaxHeaderBytes;
  localparam int unsigned Beats = hca_pkg::MaxHeaderBytes / BeatBytes;  // that hold all headers
  localparam int unsigned Line = Beats + 3;  // beats that are kept, the newest first
  localparam int unsigned Ext = 8 * hca_pkg::MaxExtBytes;
  localparam int unsigned Bth = 8 * hca_pkg::BthBytes;
  localparam logic [17:0] EthernetBytes = hca_pkg::EthernetBytes[17:0];
  localparam logic [17:0] VlanBytes = hca_pkg::VlanBytes[17:0];
  localparam logic [17:0] LrhBytes = hca_pkg::LrhBytes[17:0];
  localparam logic [17:0] GrhBytes = hca_pkg::GrhBytes[17:0];
  localparam logic [17:0] Ipv4Bytes = hca_pkg::Ipv4Bytes[17:0];
  localparam logic [17:0] Ipv6Bytes = hca_pkg::Ipv6Bytes[17:0];
  localparam logic [17:0] UdpBytes = hca_pkg::UdpBytes[17:0];
  localparam logic [17:0] BthBytes = hca_pkg::BthBytes[17:0];
  localparam logic [17:0] RdethBytes = hca_pkg::RdethBytes[17:0];
  localparam logic [17:0] DethBytes = hca_pkg::DethBytes[17:0];
  localparam logic [17:0] IcrcBytes = hca_pkg::IcrcBytes[17:0];
  localparam logic [17:0] VcrcBytes = hca_pkg::VcrcBytes[17:0];

  // ---- 0: grants ----
  logic open_q;
  assign packets_in_ready_o = open_q && packets_out_ready_i;
  assign packets_out_start_o = packets_in_valid_i && packets_in_i.first;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) open_q <= 1'b1;
    else if (packets_in_valid_i) open_q <= packets_in_i.last;
  end

  // ---- 1: the line of beats, data cleared after the last byte ----
  logic [Line-1:0] valid_q, first_q, last_q, native_q, icrc_ok_q, vcrc_ok_q;
  logic [7*Line-1:0] bytes_q;
  logic [Line*Width-1:0] data_q;

  // ---- 2: the first 128 bytes, byte 0 in the most significant bits ----
  logic [Beats-1:0] ours;  // belongs to the packet whose first beat is at the end of this part of the line
  logic [Image-1:0] image_d, image_q;
  logic [7:0] size_d, size_q;    // of the frame if it ends here
  logic ended_d, ended_q, image_native_q;

  always_comb begin
    ours = '0;
    ours[Beats-1] = 1'b1;
    for (int i = Beats - 2; i >= 0; i--) ours[i] = ours[i+1] && valid_q[i] && !first_q[i];
    image_d = '0;
    size_d = 8'd0;
    ended_d = 1'b0;
    for (int i = 0; i < Beats; i++) begin
      if (ours[i]) begin
        for (int b = 0; b < BeatBytes; b++)
          image_d[Image-1-8*((Beats-1-i)*BeatBytes+b) -: 8] = data_q[i*Width+8*b +: 8];
        size_d = size_d + {1'b0, bytes_q[7*i +: 7]};
        ended_d = ended_d || last_q[i];
      end
    end
  end

  // ---- 3: header fields ----
  hca_pkg::verdict_e front_d, middle_d, back_d;  // in front of the rule on the frame's end, up to the UDP checksum, behind it
  /* verilator lint_off UNUSEDSIGNAL */  // reserved bits, and bytes after the headers
  hca_pkg::ethernet_t ethernet;
  hca_pkg::vlan_t vlan;
  hca_pkg::lrh_t lrh;
  hca_pkg::grh_t grh;
  hca_pkg::ipv4_t ipv4;
  hca_pkg::ipv6_t ipv6;
  hca_pkg::udp_t udp;
  hca_pkg::bth_t bth;
  logic [Image-1:0] network, transport;
  /* verilator lint_on UNUSEDSIGNAL */
  hca_pkg::framing_e framing;
  logic native, has_tag, is_ip4, is_ip6, is_udp;
  logic [15:0] ether_type;
  logic [6:0] transport_at;
  logic [17:0] size, network_at, need_d, ip_bytes, udp_from_d, udp_bytes, lrh_bytes, bytes, headers, rest, rd_end;
  logic [hca_pkg::ExtCount-1:0] has;
  logic [21:0] ip_sum, pseudo_d;
  logic [16:0] ip_folded;
  logic known;
  logic [15:0] known_ext;  // the Extended OpCode that an EOETH must have; 0: there is none
  hca_pkg::ext_headers_t fields;
  hca_pkg::verdict_e early_d;
  hca_pkg::parsed_t parsed_d;
  logic [6:0] payload_at_d;

  always_comb begin
    native = image_native_q;
    size = ended_q ? {10'd0, size_q} : '1;
    ethernet = image_q[Image-1 -: 8*hca_pkg::EthernetBytes];
    has_tag = !native && ethernet.ethertype == hca_pkg::EtherTypeVlan;
    vlan = image_q[Image-1-8*hca_pkg::EthernetBytes -: 8*hca_pkg::VlanBytes];
    ether_type = has_tag ? vlan.ethertype : ethernet.ethertype;
    lrh = image_q[Image-1 -: 8*hca_pkg::LrhBytes];
    lrh_bytes = {5'd0, lrh.pktlen, 2'd0};
    is_ip4 = !native && ether_type == hca_pkg::EtherTypeIpv4;
    is_ip6 = !native && ether_type == hca_pkg::EtherTypeIpv6;
    is_udp = is_ip4 || is_ip6;
    framing = hca_pkg::RoceV1;
    if (is_ip4) framing = hca_pkg::RoceV2Ip4;
    if (is_ip6) framing = hca_pkg::RoceV2Ip6;
    if (native) framing = lrh.lnh == hca_pkg::LnhGlobal ? hca_pkg::IbGlobal : hca_pkg::IbLocal;

    network = image_q << (8 * hca_pkg::EthernetBytes);
    network_at = EthernetBytes;
    if (has_tag) begin
      network = image_q << (8 * (hca_pkg::EthernetBytes + hca_pkg::VlanBytes));
      network_at = EthernetBytes + VlanBytes;
    end
    if (native) begin
      network = image_q << (8 * hca_pkg::LrhBytes);
      network_at = LrhBytes;
    end
    ipv4 = network[Image-1 -: 8*hca_pkg::Ipv4Bytes];
    ipv6 = network[Image-1 -: 8*hca_pkg::Ipv6Bytes];
    grh = network[Image-1 -: 8*hca_pkg::GrhBytes];
    udp = is_ip4 ? network[Image-1-8*hca_pkg::Ipv4Bytes -: 8*hca_pkg::UdpBytes]
                 : network[Image-1-8*hca_pkg::Ipv6Bytes -: 8*hca_pkg::UdpBytes];
    transport_at = hca_pkg::path_bytes(framing, has_tag);
    transport = image_q << {transport_at, 3'd0};
    bth = transport[Image-1 -: Bth];
    rd_end = {11'd0, transport_at} + BthBytes + RdethBytes + DethBytes + IcrcBytes;

    // Lengths: of the UDP packet, from the BTH to the ICRC, of the whole frame.
    ip_bytes = is_ip4 ? Ipv4Bytes : Ipv6Bytes;
    udp_from_d = network_at + ip_bytes;
    udp_bytes = is_ip4 ? {2'd0, ipv4.totallength} - Ipv4Bytes : {2'd0, ipv6.payloadlength};
    bytes = {2'd0, grh.paylen};
    need_d = network_at + GrhBytes + bytes;
    if (is_udp) begin
      bytes = udp_bytes - UdpBytes;
      need_d = udp_from_d + udp_bytes;
    end
    if (native) begin
      if (framing == hca_pkg::IbLocal) bytes = lrh_bytes - LrhBytes;
      need_d = lrh_bytes + VcrcBytes;
    end

    // Checksums.
    ip_sum = 22'd0;
    for (int i = 0; i < hca_pkg::Ipv4Bytes / 2; i++) ip_sum = ip_sum + {6'd0, ipv4[16*i +: 16]};
    // A correct sum of so few words has no carry here.
    ip_folded = {1'b0, ip_sum[15:0]} + {11'd0, ip_sum[21:16]};
    pseudo_d = {14'd0, hca_pkg::IpProtocolUdp} + {4'd0, udp_bytes};
    for (int i = 0; i < 16; i++)
      if (is_ip6) pseudo_d = pseudo_d + {6'd0, ipv6[16*i +: 16]};
      else if (i < 4) pseudo_d = pseudo_d + {6'd0, ipv4[16*i +: 16]};

    front_d = hca_pkg::VerdictGood;
    if (native) begin
      if (size < LrhBytes) front_d = hca_pkg::VerdictTruncated;
      else if (lrh.lver != 4'd0) front_d = hca_pkg::VerdictBadLVer;
    end else if (size < network_at || size < EthernetBytes) front_d = hca_pkg::VerdictTruncated;
    else if (!is_udp && ether_type != hca_pkg::EtherTypeRoce) front_d = hca_pkg::VerdictUnknownEtherType;
    else if (is_ip4) begin
      if (size < network_at + Ipv4Bytes) front_d = hca_pkg::VerdictTruncated;
      else if (ipv4.version != hca_pkg::IpVersion4) front_d = hca_pkg::VerdictBadIPVersion;
      else if (ipv4.ihl != hca_pkg::Ipv4HeaderWords) front_d = hca_pkg::VerdictBadIHL;
      else if (ip_folded != 17'h0ffff) front_d = hca_pkg::VerdictBadIPChecksum;
      else if ({2'd0, ipv4.totallength} < Ipv4Bytes) front_d = hca_pkg::VerdictBadLength;
    end else begin
      if (size < network_at + Ipv6Bytes) front_d = hca_pkg::VerdictTruncated;
      else if (ipv6.version != hca_pkg::IpVersion6) front_d = hca_pkg::VerdictBadIPVersion;
      else if (!is_udp && grh.nxthdr != hca_pkg::NextHeaderIba) front_d = hca_pkg::VerdictBadNxtHdr;
    end

    middle_d = hca_pkg::VerdictGood;
    if (native) begin
      if (lrh_bytes < LrhBytes) middle_d = hca_pkg::VerdictBadLength;
      else if (lrh.lnh == hca_pkg::LnhLocal) middle_d = hca_pkg::VerdictGood;
      else if (lrh.lnh != hca_pkg::LnhGlobal) middle_d = hca_pkg::VerdictRawPacket;
      else if (lrh_bytes < LrhBytes + GrhBytes) middle_d = hca_pkg::VerdictTruncated;
      else if (grh.ipver != hca_pkg::IpVersion6) middle_d = hca_pkg::VerdictBadIPVersion;
      else if (grh.nxthdr != hca_pkg::NextHeaderIba) middle_d = hca_pkg::VerdictBadNxtHdr;
      else if (bytes != lrh_bytes - LrhBytes - GrhBytes) middle_d = hca_pkg::VerdictBadLength;
    end else if (is_udp) begin
      if (is_ip4 && (ipv4.mf || ipv4.fragmentoffset != 13'd0)) middle_d = hca_pkg::VerdictFragment;
      else if ((is_ip4 ? ipv4.protocol : ipv6.nextheader) != hca_pkg::IpProtocolUdp) middle_d = hca_pkg::VerdictNotUDP;
      else if (udp_bytes < UdpBytes) middle_d = hca_pkg::VerdictTruncated;
      else if (udp.destinationport != hca_pkg::RoceUdpPort) middle_d = hca_pkg::VerdictBadUDPPort;
      else if ({2'd0, udp.length} != udp_bytes) middle_d = hca_pkg::VerdictBadLength;
    end

    // Of a functional class with another Extended OpCode only the EOETH is known.
    has = hca_pkg::opcode_ext(bth.opcode);
    known_ext = hca_pkg::extended_opcode(bth.opcode);
    if (known_ext != 16'd0) begin
      has[hca_pkg::ExtReth] = 1'b0;
      fields = hca_pkg::ext_fields(has, transport[Image-1-Bth -: Ext]);
      if (fields.eoeth.extendedopcode == known_ext) has = hca_pkg::opcode_ext(bth.opcode);
    end
    known = hca_pkg::opcode_known(bth.opcode);
    headers = {11'd0, hca_pkg::transport_bytes(has)};
    rest = bytes - headers - IcrcBytes;
    back_d = hca_pkg::VerdictGood;
    if (bytes < BthBytes + IcrcBytes) back_d = hca_pkg::VerdictTruncated;
    else if (bth.tver != 4'd0) back_d = hca_pkg::VerdictBadTVer;
    else if (!known) back_d = hca_pkg::VerdictReservedOpCode;
    else begin
      if (bytes < headers + IcrcBytes) back_d = hca_pkg::VerdictTruncated;
      else if (bytes[1:0] != 2'd0) back_d = hca_pkg::VerdictBadLength;
      else if ({16'd0, bth.padcnt} > rest) back_d = hca_pkg::VerdictBadPadCnt;
      if (back_d != hca_pkg::VerdictGood && hca_pkg::opcode_extended(bth.opcode)) back_d = hca_pkg::VerdictReservedOpCode;
    end

    early_d = back_d;
    if (middle_d != hca_pkg::VerdictGood) early_d = middle_d;
    if (native && ended_q && size != need_d) early_d = hca_pkg::VerdictBadLength;
    if (ended_q && size < need_d) early_d = hca_pkg::VerdictTruncated;
    if (front_d != hca_pkg::VerdictGood) early_d = front_d;

    // A reserved OpCode of RD has the headers of any request that name its contexts (T8).
    if (early_d == hca_pkg::VerdictReservedOpCode) begin
      has = '0;
      if (bth.opcode[7:5] == hca_pkg::ServiceRD && size >= rd_end) begin
        has[hca_pkg::ExtRdeth] = 1'b1;
        has[hca_pkg::ExtDeth] = 1'b1;
      end
    end
    fields = hca_pkg::ext_fields(has, transport[Image-1-Bth -: Ext]);

    payload_at_d = transport_at + headers[6:0];
    parsed_d = '0;
    parsed_d.verdict = early_d;
    if (early_d == hca_pkg::VerdictGood) parsed_d.payload_bytes = rest[15:0] - {14'd0, bth.padcnt};
    if (early_d == hca_pkg::VerdictGood || early_d == hca_pkg::VerdictReservedOpCode) begin
      parsed_d.bth = bth;
      parsed_d.bth.resv6_at34 = '0;
      parsed_d.bth.resv7_at65 = '0;
      parsed_d.ext = fields;
      parsed_d.address.framing = framing;
      if (native) begin
        parsed_d.address.source_lid = lrh.slid;
        parsed_d.address.destination_lid = lrh.dlid;
        parsed_d.address.service_level = lrh.sl;
        parsed_d.address.virtual_lane = lrh.vl;
      end else begin
        parsed_d.address.source_mac = ethernet.source;
        parsed_d.address.destination_mac = ethernet.destination;
        parsed_d.address.vlan = has_tag;
        if (has_tag) begin
          parsed_d.address.vlan_priority = vlan.pcp;
          parsed_d.address.vlan_id = vlan.vid;
        end
      end
      if (is_ip4) begin
        parsed_d.address.source_gid = {80'd0, 16'hffff, ipv4.source};
        parsed_d.address.destination_gid = {80'd0, 16'hffff, ipv4.destination};
        parsed_d.address.traffic_class = ipv4.tos;
        parsed_d.address.hop_limit = ipv4.ttl;
      end else if (framing != hca_pkg::IbLocal) begin  // a GRH has its fields where IPv6 has them
        parsed_d.address.source_gid = grh.sgid;
        parsed_d.address.destination_gid = grh.dgid;
        parsed_d.address.traffic_class = grh.tclass;
        parsed_d.address.flow_label = grh.flowlabel;
        parsed_d.address.hop_limit = grh.hoplmt;
      end
      if (is_udp) parsed_d.address.udp_source_port = udp.sourceport;
    end
  end

  // ---- 4: the sum of the UDP packet, beat by beat ----
  hca_pkg::parsed_t parsed_q;
  hca_pkg::verdict_e front_q, middle_q, back_q;
  logic [17:0] need_q, udp_from_q, udp_end_q, position_q, position;
  logic native_4_q, checked_q;  // checked: there is a UDP checksum
  logic [21:0] pseudo_q;
  logic [6:0] payload_at_q;
  logic [33:0] sum_q, sum_d;

  always_comb begin
    position = first_q[Line-2] ? 18'd0 : position_q;
    sum_d = first_q[Line-2] ? {12'd0, pseudo_q} : sum_q;
    for (int b = 0; b < BeatBytes; b++)
      if (position + b[17:0] >= udp_from_q && position + b[17:0] < udp_end_q) begin
        if (b % 2 == 0) sum_d = sum_d + {18'd0, data_q[(Line-2)*Width+8*b +: 8], 8'd0};
        else sum_d = sum_d + {26'd0, data_q[(Line-2)*Width+8*b +: 8]};
      end
  end

  // ---- 5: payload, verdict ----
  hca_pkg::parsed_t held_q;
  hca_pkg::verdict_e front_5_q, middle_5_q, back_5_q;
  logic [17:0] need_5_q, seen_q, seen;  // bytes of the frame so far
  logic [15:0] left_q, left;            // bytes of payload that have not left
  logic native_5_q, checked_5_q;
  logic [6:0] payload_at_5_q;
  logic [2:0] delay;  // beats that contain only headers
  logic [9:0] turn;   // bits
  logic [Line-1:0] here;
  logic [Width-1:0] older, newer, joined;
  logic [18:0] sum_folded;
  logic [16:0] sum_twice;
  logic udp_bad;
  logic out_valid_q;
  hca_pkg::parsed_t out_q, out_d;
  logic [Width-1:0] out_data_q, out_data_d;

  always_comb begin
    here = '0;
    here[Line-1] = 1'b1;
    for (int i = Line - 2; i >= 0; i--) here[i] = here[i+1] && valid_q[i] && !first_q[i];
    delay = '0;
    delay[6-BeatBits:0] = payload_at_5_q[6:BeatBits];
    turn = '0;
    turn[BeatBits+2:3] = payload_at_5_q[BeatBits-1:0];
    older = '0;
    newer = '0;
    for (int d = 0; d < Beats; d++)
      if (delay == d[2:0]) begin
        if (here[Line-1-d]) older = data_q[(Line-1-d)*Width +: Width];
        if (here[Line-2-d]) newer = data_q[(Line-2-d)*Width +: Width];
      end
    joined = older >> turn | newer << (Width[9:0] - turn);

    seen = (first_q[Line-1] ? 18'd0 : seen_q) + {11'd0, bytes_q[7*(Line-1) +: 7]};
    left = first_q[Line-1] ? held_q.payload_bytes : left_q;
    sum_folded = {3'd0, sum_q[15:0]} + {1'b0, sum_q[33:16]};
    sum_twice = {1'b0, sum_folded[15:0]} + {14'd0, sum_folded[18:16]};
    udp_bad = checked_5_q && sum_twice[15:0] + {15'd0, sum_twice[16]} != 16'hffff;

    out_d = held_q;
    out_d.first = first_q[Line-1];
    out_d.last = last_q[Line-1];
    out_d.bytes = left > {9'd0, Full} ? Full : left[6:0];
    out_data_d = joined & ~({Width{1'b1}} << {out_d.bytes, 3'd0});
    if (out_d.last) begin
      out_d.verdict = back_5_q;
      if (back_5_q == hca_pkg::VerdictGood || back_5_q == hca_pkg::VerdictReservedOpCode) begin
        if (native_5_q && !vcrc_ok_q[Line-1]) out_d.verdict = hca_pkg::VerdictBadVCRC;
        if (!icrc_ok_q[Line-1]) out_d.verdict = hca_pkg::VerdictBadICRC;
      end
      if (udp_bad) out_d.verdict = hca_pkg::VerdictBadUDPChecksum;
      if (middle_5_q != hca_pkg::VerdictGood) out_d.verdict = middle_5_q;
      if (native_5_q && seen != need_5_q) out_d.verdict = hca_pkg::VerdictBadLength;
      if (seen < need_5_q) out_d.verdict = hca_pkg::VerdictTruncated;
      if (front_5_q != hca_pkg::VerdictGood) out_d.verdict = front_5_q;
    end
  end

  assign packets_out_valid_o = out_valid_q;
  assign packets_out_o = out_q;
  assign packets_out_data_o = out_data_q;

  // ---- registers ----
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= '0;
      out_valid_q <= 1'b0;
    end else begin
      valid_q <= {valid_q[Line-2:0], packets_in_valid_i};
      out_valid_q <= valid_q[Line-1];
    end
  end

  always_ff @(posedge clk_i) begin
    first_q <= {first_q[Line-2:0], packets_out_start_o};
    last_q <= {last_q[Line-2:0], packets_in_valid_i && packets_in_i.last};
    native_q <= {native_q[Line-2:0], hca_pkg::is_native(packets_in_i.framing)};
    icrc_ok_q <= {icrc_ok_q[Line-2:0], packets_in_i.icrc_ok};
    vcrc_ok_q <= {vcrc_ok_q[Line-2:0], packets_in_i.vcrc_ok};
    bytes_q <= {bytes_q[7*(Line-1)-1:0], packets_in_i.bytes};
    data_q <= {data_q[(Line-1)*Width-1:0], packets_in_data_i & ~({Width{1'b1}} << {packets_in_i.bytes, 3'd0})};
    image_q <= image_d;
    size_q <= size_d;
    ended_q <= ended_d;
    image_native_q <= native_q[Beats-1];
    if (first_q[Line-3] && valid_q[Line-3]) begin
      parsed_q <= parsed_d;
      front_q <= front_d;
      middle_q <= middle_d;
      back_q <= back_d;
      need_q <= need_d;
      udp_from_q <= udp_from_d;
      udp_end_q <= udp_from_d + udp_bytes;
      native_4_q <= native;
      checked_q <= is_udp && udp.checksum != 16'd0;
      pseudo_q <= pseudo_d;
      payload_at_q <= payload_at_d;
    end
    position_q <= position + {11'd0, Full};
    sum_q <= sum_d;
    if (first_q[Line-2] && valid_q[Line-2]) begin
      held_q <= parsed_q;
      front_5_q <= front_q;
      middle_5_q <= middle_q;
      back_5_q <= back_q;
      need_5_q <= need_q;
      native_5_q <= native_4_q;
      checked_5_q <= checked_q;
      payload_at_5_q <= payload_at_q;
    end
    seen_q <= seen;
    left_q <= left > {9'd0, Full} ? left - {9'd0, Full} : 16'd0;
    if (valid_q[Line-1]) begin
      out_q <= out_d;
      out_data_q <= out_data_d;
    end
  end

`ifdef HCA_ASSERT
  localparam logic BytesFill = 1'b1;
  localparam int unsigned Latency = Beats + 4;  // packets_out_start_o to the first beat
  localparam logic MayBeEmpty = 1'b0;
`include "stream_assert.svh"
`endif
endmodule
