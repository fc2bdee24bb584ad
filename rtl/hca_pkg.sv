// SPDX-License-Identifier: Apache-2.0
// Made by `hca rtl package` from the tables of model/proto: change those, then make this file again.
package hca_pkg;
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

  // Side band of a packet: its framing.
  typedef enum logic [2:0] {
    IbLocal = 3'd0,
    IbGlobal = 3'd1,
    RoceV1 = 3'd2,
    RoceV2Ip4 = 3'd3,
    RoceV2Ip6 = 3'd4
  } framing_e;

  typedef enum logic [1:0] {IcrcBypass = 2'd0, IcrcGenerate = 2'd1, IcrcCheck = 2'd2} icrc_mode_e;

  // Variant bits of the first and of the second beat: the ICRC sees ones.
  function automatic logic [511:0] icrc_ones_first(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_ones_first = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff0000000000000000000000f0;  // IbLocal
      4'b0010: icrc_ones_first = 512'h0000000000000000000000ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000;  // IbGlobal
      4'b0100: icrc_ones_first = 512'h0000000000ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000000000000000;  // RoceV1
      4'b0101: icrc_ones_first = 512'h00ff000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_ones_first = 512'h0000000000000000000000000000000000ff00000000ffff0000000000000000000000000000ffff00ff000000000000ff000000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_ones_first = 512'h00000000000000000000000000ff00000000ffff0000000000000000000000000000ffff00ff000000000000ff00000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_ones_first = 512'h0000ffff0000000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f0000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_ones_first = 512'h0000000000000000000000000000000000000000000000000000000000000000000000000000ff000000ffffff0f000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_ones_first = 512'd0;
    endcase
  endfunction

  function automatic logic [511:0] icrc_ones_second(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // IbLocal
      4'b0010: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // IbGlobal
      4'b0100: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // RoceV1
      4'b0101: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_ones_second = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff0000;  // RoceV2Ip6
      4'b1001: icrc_ones_second = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ff00000000ffff;  // RoceV2Ip6, vlan
      default: icrc_ones_second = 512'd0;
    endcase
  endfunction

  // Bytes of the first beat that the ICRC covers: all but the Ethernet header or the LRH in front of a GRH.
  function automatic logic [511:0] icrc_covered(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff;  // IbLocal
      4'b0010: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000000000;  // IbGlobal
      4'b0100: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV1
      4'b0101: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff0000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_covered = 512'hffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_covered = 512'd0;
    endcase
  endfunction

  // The start value, to be XORed into the first covered bytes of a register that starts at 0.
  // Behind an Ethernet header it is the register after the 8 bytes of ones that stand for the LRH.
  function automatic logic [511:0] icrc_seed(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_seed = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000ffffffff;  // IbLocal
      4'b0010: icrc_seed = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e30000000000000000;  // IbGlobal
      4'b0100: icrc_seed = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV1
      4'b0101: icrc_seed = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV1, vlan
      4'b0110: icrc_seed = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV2Ip4
      4'b0111: icrc_seed = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV2Ip4, vlan
      4'b1000: icrc_seed = 512'h00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e30000000000000000000000000000;  // RoceV2Ip6
      4'b1001: icrc_seed = 512'h000000000000000000000000000000000000000000000000000000000000000000000000000000000000debb20e3000000000000000000000000000000000000;  // RoceV2Ip6, vlan
      default: icrc_seed = 512'd0;
    endcase
  endfunction

  // The shortest frame with a BTH and an ICRC.
  function automatic logic [6:0] icrc_min_bytes(input framing_e framing, input logic vlan);
    unique case ({framing, vlan})
      4'b0000: icrc_min_bytes = 7'd24;  // IbLocal
      4'b0010: icrc_min_bytes = 7'd64;  // IbGlobal
      4'b0100: icrc_min_bytes = 7'd70;  // RoceV1
      4'b0101: icrc_min_bytes = 7'd74;  // RoceV1, vlan
      4'b0110: icrc_min_bytes = 7'd58;  // RoceV2Ip4
      4'b0111: icrc_min_bytes = 7'd62;  // RoceV2Ip4, vlan
      4'b1000: icrc_min_bytes = 7'd78;  // RoceV2Ip6
      4'b1001: icrc_min_bytes = 7'd82;  // RoceV2Ip6, vlan
      default: icrc_min_bytes = 7'd0;
    endcase
  endfunction

  // One beat of a packet stream. Byte i of the beat is data[8*i+7:8*i]; byte 0 of the frame comes first.
  typedef struct packed {
    logic icrc_ok;
    logic vlan;
    framing_e framing;
    icrc_mode_e mode;
    logic first;
    logic last;
    logic [6:0] bytes;
    logic [511:0] data;
  } beat_t;

  // CRC-32 register, reflected, not complemented. Each function is one matrix of XORs.
  localparam logic [31:0] IcrcResidue = 32'hdebb20e3;  // after a good packet and its ICRC

  // 64 bytes into a register of 0.
  function automatic logic [31:0] crc_fold(input logic [511:0] x);
    crc_fold[0] = ^(x & 512'h04d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112a998da2757f68d2fc30eedb88e65954877971b956500d811d04d951be5fe1c77);
    crc_fold[1] = ^(x & 512'h09a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e89042255331b44eafed1a5f861ddb711ccb2a90ef2e372aca01b023a09b2a37cbfc38ee);
    crc_fold[2] = ^(x & 512'h1344077d206d396bc60be81fad1b78bc5e0c28d31bc0195f3b8f5405d120844aa663689d5fda34bf0c3bb6e239965521de5c6e55940360474136546f97f871dd);
    crc_fold[3] = ^(x & 512'h26880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba24108954cc6d13abfb4697e18776dc4732caa43bcb8dcab2806c08e826ca8df2ff0e3ba);
    crc_fold[4] = ^(x & 512'h4d101df481b4e5af182fa07eb46de2f17830a34c6f00657cee3d50174482112a998da2757f68d2fc30eedb88e65954877971b956500d811d04d951be5fe1c775);
    crc_fold[5] = ^(x & 512'h9a203be90369cb5e305f40fd68dbc5e2f0614698de00caf9dc7aa02e89042255331b44eafed1a5f861ddb711ccb2a90ef2e372aca01b023a09b2a37cbfc38eea);
    crc_fold[6] = ^(x & 512'h3091760d4ec8d8e6913c7bfd3af155eaf74187057af193a47616955c664065b8cfae53f2aa55c6df00b5839b1700c7559251fecc2536dc65c328d3e29a7901a2);
    crc_fold[7] = ^(x & 512'h6122ec1a9d91b1cd2278f7fa75e2abd5ee830e0af5e32748ec2d2ab8cc80cb719f5ca7e554ab8dbe016b07362e018eab24a3fd984a6db8cb8651a7c534f20345);
    crc_fold[8] = ^(x & 512'hc245d8353b23639a44f1eff4ebc557abdd061c15ebc64e91d85a5571990196e33eb94fcaa9571b7c02d60e6c5c031d564947fb3094db71970ca34f8a69e4068b);
    crc_fold[9] = ^(x & 512'h805ab1b53e5d896e786125ee3ccc7178ad8f321f117c9b747e577fe2464b0cd4d4ea45b20558bbd7c6a2f1603663afe4e518edf44cb63b3fc90b0a0f36361160);
    crc_fold[10] = ^(x & 512'h046462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb004c51435d47fa804e4b0f78e2a2ca81bda6c07dfc6cae6e425b810589923eb7);
    crc_fold[11] = ^(x & 512'h08c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc71760098a286ba8ff5009c961ef1c54595037b4d80fbf8d95cdc84b7020b13247d6f);
    crc_fold[12] = ^(x & 512'h11918ad4d28172180502c76e4b78f3793275b82b9024c2fcc934ab17e378e2ec0131450d751fea01392c3de38a8b2a06f69b01f7f1b2b9b9096e04162648fade);
    crc_fold[13] = ^(x & 512'h232315a9a502e4300a058edc96f1e6f264eb7057204985f99269562fc6f1c5d802628a1aea3fd40272587bc71516540ded3603efe365737212dc082c4c91f5bd);
    crc_fold[14] = ^(x & 512'h46462b534a05c860140b1db92de3cde4c9d6e0ae40930bf324d2ac5f8de38bb004c51435d47fa804e4b0f78e2a2ca81bda6c07dfc6cae6e425b810589923eb7a);
    crc_fold[15] = ^(x & 512'h8c8c56a6940b90c028163b725bc79bc993adc15c812617e649a558bf1bc71760098a286ba8ff5009c961ef1c54595037b4d80fbf8d95cdc84b7020b13247d6f4);
    crc_fold[16] = ^(x & 512'h1dc9ac92600c6fdaa1ae8ce35cc9e9bc30d8888dc4bc299b5da9647f43c60fd2ba8c8af006082d3c51cd338026d735271e2704ea7e2b438146add4798171b19f);
    crc_fold[17] = ^(x & 512'h3b935924c018dfb5435d19c6b993d37861b1111b89785336bb52c8fe878c1fa5751915e00c105a78a39a67004dae6a4e3c4e09d4fc5687028d5ba8f302e3633e);
    crc_fold[18] = ^(x & 512'h7726b2498031bf6a86ba338d7327a6f0c362223712f0a66d76a591fd0f183f4aea322bc01820b4f14734ce009b5cd49c789c13a9f8ad0e051ab751e605c6c67d);
    crc_fold[19] = ^(x & 512'hee4d649300637ed50d74671ae64f4de186c4446e25e14cdaed4b23fa1e307e95d4645780304169e28e699c0136b9a938f1382753f15a1c0a356ea3cc0b8d8cfa);
    crc_fold[20] = ^(x & 512'hd84bc8f948ddb3f0eb6a343227d845ec1a0b82e88d329fe2147592f54828dc390150752737745eeadfddd5bae316c73995e7553287b4e005ba90d283f2e50583);
    crc_fold[21] = ^(x & 512'hb446902dd9a029bb27569263a4f655f723940fe5dc953993e608f0ebe4199960ab383069391e30fa7cb546cd48481b3b5c59b1f06a69181aa56c301c00341771);
    crc_fold[22] = ^(x & 512'h6c5c2184fb5b1d2cbf2fdec0a2aa75c150ab15ff7fda757002f234d6bc7b13d3ffe8baf525caecdb3a6460221ef5a33ecf247875b1d2e8249a95f523e5963294);
    crc_fold[23] = ^(x & 512'hd8b84309f6b63a597e5fbd814554eb82a1562bfeffb4eae005e469ad78f627a7ffd175ea4b95d9b674c8c0443deb467d9e48f0eb63a5d049352bea47cb2c6528);
    crc_fold[24] = ^(x & 512'hb5a187cca5773ae80d3d810561ef092a552f5dc93999d397c52b065b85a46e5d563a31f3c0dd3e432a9f6d30f5b319b34b06fa43a24b7883ba1a419473a6d627);
    crc_fold[25] = ^(x & 512'h6f920e4602f53b8aebf9f80d2898cc7bbdddb1a6b5c3a17844b5d9b67f00fda805ecb9c0d64cf1a9963037d96503a62ee19aef1221962916a479163302b3b039);
    crc_fold[26] = ^(x & 512'hdf241c8c05ea7715d7f3f01a513198f77bbb634d6b8742f0896bb36cfe01fb500bd97381ac99e3532c606fb2ca074c5dc335de24432c522d48f22c6605676073);
    crc_fold[27] = ^(x & 512'hba9938c743cfa0715e651a334925efc1e0f5ccae11fe83b6dc34b3d8884bd7b2be2a3d240ec54b899bce32dd1a6b0df3f1fca7dde3587c4b41a9cdd7ef30dc91);
    crc_fold[28] = ^(x & 512'h71e37051cf840eb84d48ce61790d01acd6689368e50d013a768ab2b064df8e77d5cca06f4a7c1a3cf4928802bab38eaf946e542ea3b02087531e0eb43b9fa554);
    crc_fold[29] = ^(x & 512'he3c6e0a39f081d709a919cc2f21a0359acd126d1ca1a0274ed156560c9bf1cefab9940de94f83479e925100575671d5f28dca85d4760410ea63c1d68773f4aa8);
    crc_fold[30] = ^(x & 512'hc35cc098760b74bbc4a1c3820f72d89c4e21479752c402be14c91fc0e73618cdfeaa5b9a7e06e5dc1144cdb264abaff6262e4b2febc05a0c9c35afcb0b808926);
    crc_fold[31] = ^(x & 512'h826880efa40da72d78c17d03f5a36f178bc1851a6378032be771ea80ba24108954cc6d13abfb4697e18776dc4732caa43bcb8dcab2806c08e826ca8df2ff0e3b);
  endfunction

  // The register after 64 bytes of 0.
  function automatic logic [31:0] crc_advance(input logic [31:0] x);
    crc_advance[0] = ^(x & 32'he5fe1c77);
    crc_advance[1] = ^(x & 32'hcbfc38ee);
    crc_advance[2] = ^(x & 32'h97f871dd);
    crc_advance[3] = ^(x & 32'h2ff0e3ba);
    crc_advance[4] = ^(x & 32'h5fe1c775);
    crc_advance[5] = ^(x & 32'hbfc38eea);
    crc_advance[6] = ^(x & 32'h9a7901a2);
    crc_advance[7] = ^(x & 32'h34f20345);
    crc_advance[8] = ^(x & 32'h69e4068b);
    crc_advance[9] = ^(x & 32'h36361160);
    crc_advance[10] = ^(x & 32'h89923eb7);
    crc_advance[11] = ^(x & 32'h13247d6f);
    crc_advance[12] = ^(x & 32'h2648fade);
    crc_advance[13] = ^(x & 32'h4c91f5bd);
    crc_advance[14] = ^(x & 32'h9923eb7a);
    crc_advance[15] = ^(x & 32'h3247d6f4);
    crc_advance[16] = ^(x & 32'h8171b19f);
    crc_advance[17] = ^(x & 32'h02e3633e);
    crc_advance[18] = ^(x & 32'h05c6c67d);
    crc_advance[19] = ^(x & 32'h0b8d8cfa);
    crc_advance[20] = ^(x & 32'hf2e50583);
    crc_advance[21] = ^(x & 32'h00341771);
    crc_advance[22] = ^(x & 32'he5963294);
    crc_advance[23] = ^(x & 32'hcb2c6528);
    crc_advance[24] = ^(x & 32'h73a6d627);
    crc_advance[25] = ^(x & 32'h02b3b039);
    crc_advance[26] = ^(x & 32'h05676073);
    crc_advance[27] = ^(x & 32'hef30dc91);
    crc_advance[28] = ^(x & 32'h3b9fa554);
    crc_advance[29] = ^(x & 32'h773f4aa8);
    crc_advance[30] = ^(x & 32'h0b808926);
    crc_advance[31] = ^(x & 32'hf2ff0e3b);
  endfunction

  // The register as it was before 1 bytes of 0.
  function automatic logic [31:0] crc_rewind_1(input logic [31:0] x);
    crc_rewind_1[0] = ^(x & 32'hab000000);
    crc_rewind_1[1] = ^(x & 32'h56000000);
    crc_rewind_1[2] = ^(x & 32'hac000000);
    crc_rewind_1[3] = ^(x & 32'h58000000);
    crc_rewind_1[4] = ^(x & 32'hb0000000);
    crc_rewind_1[5] = ^(x & 32'h60000000);
    crc_rewind_1[6] = ^(x & 32'h6b000000);
    crc_rewind_1[7] = ^(x & 32'hd6000000);
    crc_rewind_1[8] = ^(x & 32'hac000001);
    crc_rewind_1[9] = ^(x & 32'hf3000002);
    crc_rewind_1[10] = ^(x & 32'h4d000004);
    crc_rewind_1[11] = ^(x & 32'h9a000008);
    crc_rewind_1[12] = ^(x & 32'h34000010);
    crc_rewind_1[13] = ^(x & 32'h68000020);
    crc_rewind_1[14] = ^(x & 32'hd0000040);
    crc_rewind_1[15] = ^(x & 32'ha0000080);
    crc_rewind_1[16] = ^(x & 32'heb000100);
    crc_rewind_1[17] = ^(x & 32'hd6000200);
    crc_rewind_1[18] = ^(x & 32'hac000400);
    crc_rewind_1[19] = ^(x & 32'h58000800);
    crc_rewind_1[20] = ^(x & 32'h1b001000);
    crc_rewind_1[21] = ^(x & 32'h9d002000);
    crc_rewind_1[22] = ^(x & 32'h91004000);
    crc_rewind_1[23] = ^(x & 32'h22008000);
    crc_rewind_1[24] = ^(x & 32'hef010000);
    crc_rewind_1[25] = ^(x & 32'h75020000);
    crc_rewind_1[26] = ^(x & 32'hea040000);
    crc_rewind_1[27] = ^(x & 32'h7f080000);
    crc_rewind_1[28] = ^(x & 32'h55100000);
    crc_rewind_1[29] = ^(x & 32'haa200000);
    crc_rewind_1[30] = ^(x & 32'hff400000);
    crc_rewind_1[31] = ^(x & 32'h55800000);
  endfunction

  // The register as it was before 2 bytes of 0.
  function automatic logic [31:0] crc_rewind_2(input logic [31:0] x);
    crc_rewind_2[0] = ^(x & 32'h1aab0000);
    crc_rewind_2[1] = ^(x & 32'h35560000);
    crc_rewind_2[2] = ^(x & 32'h6aac0000);
    crc_rewind_2[3] = ^(x & 32'hd5580000);
    crc_rewind_2[4] = ^(x & 32'haab00000);
    crc_rewind_2[5] = ^(x & 32'h55600000);
    crc_rewind_2[6] = ^(x & 32'hb06b0000);
    crc_rewind_2[7] = ^(x & 32'h60d60000);
    crc_rewind_2[8] = ^(x & 32'hc1ac0000);
    crc_rewind_2[9] = ^(x & 32'h99f30000);
    crc_rewind_2[10] = ^(x & 32'h294d0000);
    crc_rewind_2[11] = ^(x & 32'h529a0000);
    crc_rewind_2[12] = ^(x & 32'ha5340000);
    crc_rewind_2[13] = ^(x & 32'h4a680000);
    crc_rewind_2[14] = ^(x & 32'h94d00000);
    crc_rewind_2[15] = ^(x & 32'h29a00000);
    crc_rewind_2[16] = ^(x & 32'h49eb0001);
    crc_rewind_2[17] = ^(x & 32'h93d60002);
    crc_rewind_2[18] = ^(x & 32'h27ac0004);
    crc_rewind_2[19] = ^(x & 32'h4f580008);
    crc_rewind_2[20] = ^(x & 32'h841b0010);
    crc_rewind_2[21] = ^(x & 32'h129d0020);
    crc_rewind_2[22] = ^(x & 32'h3f910040);
    crc_rewind_2[23] = ^(x & 32'h7f220080);
    crc_rewind_2[24] = ^(x & 32'he4ef0100);
    crc_rewind_2[25] = ^(x & 32'hd3750200);
    crc_rewind_2[26] = ^(x & 32'ha6ea0400);
    crc_rewind_2[27] = ^(x & 32'h577f0800);
    crc_rewind_2[28] = ^(x & 32'hb4551000);
    crc_rewind_2[29] = ^(x & 32'h68aa2000);
    crc_rewind_2[30] = ^(x & 32'hcbff4000);
    crc_rewind_2[31] = ^(x & 32'h8d558000);
  endfunction

  // The register as it was before 4 bytes of 0.
  function automatic logic [31:0] crc_rewind_4(input logic [31:0] x);
    crc_rewind_4[0] = ^(x & 32'hc8851aab);
    crc_rewind_4[1] = ^(x & 32'h910a3556);
    crc_rewind_4[2] = ^(x & 32'h22146aac);
    crc_rewind_4[3] = ^(x & 32'h4428d558);
    crc_rewind_4[4] = ^(x & 32'h8851aab0);
    crc_rewind_4[5] = ^(x & 32'h10a35560);
    crc_rewind_4[6] = ^(x & 32'he9c3b06b);
    crc_rewind_4[7] = ^(x & 32'hd38760d6);
    crc_rewind_4[8] = ^(x & 32'ha70ec1ac);
    crc_rewind_4[9] = ^(x & 32'h869899f3);
    crc_rewind_4[10] = ^(x & 32'hc5b4294d);
    crc_rewind_4[11] = ^(x & 32'h8b68529a);
    crc_rewind_4[12] = ^(x & 32'h16d0a534);
    crc_rewind_4[13] = ^(x & 32'h2da14a68);
    crc_rewind_4[14] = ^(x & 32'h5b4294d0);
    crc_rewind_4[15] = ^(x & 32'hb68529a0);
    crc_rewind_4[16] = ^(x & 32'ha58f49eb);
    crc_rewind_4[17] = ^(x & 32'h4b1e93d6);
    crc_rewind_4[18] = ^(x & 32'h963d27ac);
    crc_rewind_4[19] = ^(x & 32'h2c7a4f58);
    crc_rewind_4[20] = ^(x & 32'h9071841b);
    crc_rewind_4[21] = ^(x & 32'he866129d);
    crc_rewind_4[22] = ^(x & 32'h18493f91);
    crc_rewind_4[23] = ^(x & 32'h30927f22);
    crc_rewind_4[24] = ^(x & 32'ha9a1e4ef);
    crc_rewind_4[25] = ^(x & 32'h9bc6d375);
    crc_rewind_4[26] = ^(x & 32'h378da6ea);
    crc_rewind_4[27] = ^(x & 32'ha79e577f);
    crc_rewind_4[28] = ^(x & 32'h87b9b455);
    crc_rewind_4[29] = ^(x & 32'h0f7368aa);
    crc_rewind_4[30] = ^(x & 32'hd663cbff);
    crc_rewind_4[31] = ^(x & 32'h64428d55);
  endfunction

  // The register as it was before 8 bytes of 0.
  function automatic logic [31:0] crc_rewind_8(input logic [31:0] x);
    crc_rewind_8[0] = ^(x & 32'hd33ca1fe);
    crc_rewind_8[1] = ^(x & 32'ha67943fd);
    crc_rewind_8[2] = ^(x & 32'h4cf287fb);
    crc_rewind_8[3] = ^(x & 32'h99e50ff6);
    crc_rewind_8[4] = ^(x & 32'h33ca1fec);
    crc_rewind_8[5] = ^(x & 32'h67943fd9);
    crc_rewind_8[6] = ^(x & 32'h1c14de4c);
    crc_rewind_8[7] = ^(x & 32'h3829bc99);
    crc_rewind_8[8] = ^(x & 32'h70537933);
    crc_rewind_8[9] = ^(x & 32'h339a5399);
    crc_rewind_8[10] = ^(x & 32'hb40806cd);
    crc_rewind_8[11] = ^(x & 32'h68100d9b);
    crc_rewind_8[12] = ^(x & 32'hd0201b37);
    crc_rewind_8[13] = ^(x & 32'ha040366e);
    crc_rewind_8[14] = ^(x & 32'h40806cdc);
    crc_rewind_8[15] = ^(x & 32'h8100d9b8);
    crc_rewind_8[16] = ^(x & 32'hd13d128f);
    crc_rewind_8[17] = ^(x & 32'ha27a251f);
    crc_rewind_8[18] = ^(x & 32'h44f44a3e);
    crc_rewind_8[19] = ^(x & 32'h89e8947d);
    crc_rewind_8[20] = ^(x & 32'hc0ed8904);
    crc_rewind_8[21] = ^(x & 32'h52e7b3f7);
    crc_rewind_8[22] = ^(x & 32'h76f3c611);
    crc_rewind_8[23] = ^(x & 32'hede78c22);
    crc_rewind_8[24] = ^(x & 32'h08f3b9ba);
    crc_rewind_8[25] = ^(x & 32'hc2dbd28b);
    crc_rewind_8[26] = ^(x & 32'h85b7a517);
    crc_rewind_8[27] = ^(x & 32'hd853ebd0);
    crc_rewind_8[28] = ^(x & 32'h639b765f);
    crc_rewind_8[29] = ^(x & 32'hc736ecbf);
    crc_rewind_8[30] = ^(x & 32'h5d517880);
    crc_rewind_8[31] = ^(x & 32'h699e50ff);
  endfunction

  // The register as it was before 16 bytes of 0.
  function automatic logic [31:0] crc_rewind_16(input logic [31:0] x);
    crc_rewind_16[0] = ^(x & 32'h9074ce54);
    crc_rewind_16[1] = ^(x & 32'h20e99ca9);
    crc_rewind_16[2] = ^(x & 32'h41d33952);
    crc_rewind_16[3] = ^(x & 32'h83a672a5);
    crc_rewind_16[4] = ^(x & 32'h074ce54a);
    crc_rewind_16[5] = ^(x & 32'h0e99ca95);
    crc_rewind_16[6] = ^(x & 32'h8d475b7f);
    crc_rewind_16[7] = ^(x & 32'h1a8eb6ff);
    crc_rewind_16[8] = ^(x & 32'h351d6dfe);
    crc_rewind_16[9] = ^(x & 32'hfa4e15a9);
    crc_rewind_16[10] = ^(x & 32'h64e8e507);
    crc_rewind_16[11] = ^(x & 32'hc9d1ca0e);
    crc_rewind_16[12] = ^(x & 32'h93a3941c);
    crc_rewind_16[13] = ^(x & 32'h27472839);
    crc_rewind_16[14] = ^(x & 32'h4e8e5072);
    crc_rewind_16[15] = ^(x & 32'h9d1ca0e4);
    crc_rewind_16[16] = ^(x & 32'haa4d8f9c);
    crc_rewind_16[17] = ^(x & 32'h549b1f39);
    crc_rewind_16[18] = ^(x & 32'ha9363e72);
    crc_rewind_16[19] = ^(x & 32'h526c7ce4);
    crc_rewind_16[20] = ^(x & 32'h34ac379c);
    crc_rewind_16[21] = ^(x & 32'hf92ca16d);
    crc_rewind_16[22] = ^(x & 32'h622d8c8e);
    crc_rewind_16[23] = ^(x & 32'hc45b191d);
    crc_rewind_16[24] = ^(x & 32'h18c2fc6e);
    crc_rewind_16[25] = ^(x & 32'ha1f13688);
    crc_rewind_16[26] = ^(x & 32'h43e26d11);
    crc_rewind_16[27] = ^(x & 32'h17b01477);
    crc_rewind_16[28] = ^(x & 32'hbf14e6ba);
    crc_rewind_16[29] = ^(x & 32'h7e29cd75);
    crc_rewind_16[30] = ^(x & 32'h6c2754bf);
    crc_rewind_16[31] = ^(x & 32'h483a672a);
  endfunction

  // The register as it was before 32 bytes of 0.
  function automatic logic [31:0] crc_rewind_32(input logic [31:0] x);
    crc_rewind_32[0] = ^(x & 32'hbe88e8cc);
    crc_rewind_32[1] = ^(x & 32'h7d11d199);
    crc_rewind_32[2] = ^(x & 32'hfa23a332);
    crc_rewind_32[3] = ^(x & 32'hf4474665);
    crc_rewind_32[4] = ^(x & 32'he88e8cca);
    crc_rewind_32[5] = ^(x & 32'hd11d1995);
    crc_rewind_32[6] = ^(x & 32'h1cb2dbe6);
    crc_rewind_32[7] = ^(x & 32'h3965b7cd);
    crc_rewind_32[8] = ^(x & 32'h72cb6f9b);
    crc_rewind_32[9] = ^(x & 32'h5b1e37fa);
    crc_rewind_32[10] = ^(x & 32'h08b48738);
    crc_rewind_32[11] = ^(x & 32'h11690e70);
    crc_rewind_32[12] = ^(x & 32'h22d21ce1);
    crc_rewind_32[13] = ^(x & 32'h45a439c2);
    crc_rewind_32[14] = ^(x & 32'h8b487384);
    crc_rewind_32[15] = ^(x & 32'h1690e708);
    crc_rewind_32[16] = ^(x & 32'h93a926dc);
    crc_rewind_32[17] = ^(x & 32'h27524db8);
    crc_rewind_32[18] = ^(x & 32'h4ea49b70);
    crc_rewind_32[19] = ^(x & 32'h9d4936e1);
    crc_rewind_32[20] = ^(x & 32'h841a850f);
    crc_rewind_32[21] = ^(x & 32'hb6bde2d2);
    crc_rewind_32[22] = ^(x & 32'hd3f32d69);
    crc_rewind_32[23] = ^(x & 32'ha7e65ad2);
    crc_rewind_32[24] = ^(x & 32'hf1445d69);
    crc_rewind_32[25] = ^(x & 32'h5c00521e);
    crc_rewind_32[26] = ^(x & 32'hb800a43c);
    crc_rewind_32[27] = ^(x & 32'hce89a0b5);
    crc_rewind_32[28] = ^(x & 32'h239ba9a6);
    crc_rewind_32[29] = ^(x & 32'h4737534c);
    crc_rewind_32[30] = ^(x & 32'h30e64e55);
    crc_rewind_32[31] = ^(x & 32'hdf447466);
  endfunction

endpackage
