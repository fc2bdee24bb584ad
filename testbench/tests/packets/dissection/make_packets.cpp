// SPDX-License-Identifier: Apache-2.0
// Builds packets of every RC, UC and UD opcode in every framing for scripts/check_dissection.py,
// which gives them to independent dissectors. Writes DIR/<framing>.pcap and DIR/<framing>.tsv: one
// line of name=value for each packet, the values that went into it.
#include <cstdio>
#include <fstream>
#include <random>
#include <string>

#include "model/proto/wire/packet.h"
#include "model/proto/wire/print.h"
#include "testbench/packets/pcap_file.h"

using namespace hca;
using namespace hca::proto;

namespace {

constexpr unsigned kSeed = 1819;
constexpr u32 kPmtu = 256;
constexpr u64 kFirstStamp = 1'700'000'000'123'456'789;

class Maker {
 public:
  explicit Maker(Framing framing) : framing_(framing), random_(kSeed + unsigned(framing)) {}

  void make(const std::string& folder) {
    const std::string base = folder + "/" + file_name();
    testbench::CaptureWriter capture(base + ".pcap", is_native(framing_)
                                                         ? testbench::LinkType::Erf
                                                         : testbench::LinkType::Ethernet);
    std::ofstream values(base + ".tsv");
    for (const OpcodeRow& row : kOpcodeRows)
      if (row.service == Service::Rc || row.service == Service::Uc || row.service == Service::Ud)
        for (const u32 payload : payloads(row)) one(row, payload, capture, values);
    capture.close();
    values.close();
    if (!values) throw std::runtime_error(base + ".tsv: could not be written");
  }

 private:
  std::string file_name() const {
    constexpr std::array<const char*, kFramingCount> names{"ib_local", "ib_global", "roce_v1",
                                                           "roce_v2_ip4", "roce_v2_ip6"};
    return names[unsigned(framing_)];
  }

  static std::vector<u32> payloads(const OpcodeRow& row) {
    switch (row.payload) {
      case PayloadRule::None:
        return {0};
      case PayloadRule::FullMtu:
        return {kPmtu};
      case PayloadRule::OneToMtu:
        return {1, 6, kPmtu};
      case PayloadRule::UpToMtu:
        return {0, 3, 64, kPmtu};
      case PayloadRule::Eight:
        return {8};
      case PayloadRule::UpTo256:
        return {0, 255};
    }
    return {};
  }

  u64 any(unsigned bits) { return (u64{random_()} << 32 | random_()) & low_mask(bits); }

  AddressVector any_path() {
    AddressVector av;
    av.framing = framing_;
    av.source_mac = any(40) | u64{0x02} << 40;  // unicast, locally administered
    av.destination_mac = any(40) | u64{0x02} << 40;
    av.has_vlan = any(2) == 0;
    av.priority = u8(any(3));
    av.vlan_id = u16(1 + any(11));
    av.source_lid = u16(1 + any(14));
    av.destination_lid = u16(1 + any(14));
    av.service_level = u8(any(4));
    av.virtual_lane = u8(any(3));
    av.source_gid = any_gid();
    av.destination_gid = any_gid();
    av.traffic_class = u8(any(8));
    av.flow_label = u32(any(20));
    av.hop_limit = u8(1 + any(7));
    av.udp_source_port = u16(0xC000 | any(14));
    return av;
  }
  Gid any_gid() {
    if (framing_ == Framing::RoceV2Ip4) return gid_of_ipv4(0x0A000001 + u32(any(16)));
    Gid gid;
    for (u8& byte : gid.bytes) byte = u8(any(8));
    gid.bytes[0] = 0x20;
    return gid;
  }

  Bth any_bth() {
    Bth bth{};
    bth.solicited = any(1);
    bth.mig_req = any(1);
    bth.pkey = u16(any(16));
    bth.dest_qp = 2 + u32(any(23));
    bth.ack_req = any(1);
    bth.psn = u32(any(24));
    return bth;
  }

  ExtHeaders any_ext() {
    ExtHeaders ext{};
    ext.deth = {u32(any(32)), 2 + u32(any(23))};
    ext.eoeth = {u16(any(16)), u32(any(32)), u32(any(32))};
    ext.feth = {u8(any(2)), u8(any(4))};
    ext.reth = {any(64), u32(any(32)), u32(any(31))};
    ext.atomic_eth = {any(64), u32(any(32)), any(64), any(64)};
    ext.aeth = {u8(any(5)), u32(any(24))};
    ext.atomic_ack_eth = {any(64)};
    ext.imm_dt = {u32(any(32))};
    ext.ieth = {u32(any(32))};
    return ext;
  }

  void one(const OpcodeRow& row, u32 payload_bytes, testbench::CaptureWriter& capture,
           std::ofstream& values) {
    const AddressVector av = any_path();
    const Path path = make_path(av);
    const Bth bth = any_bth();
    const ExtHeaders ext = any_ext();
    std::vector<u8> frame(frame_bytes(path, row, payload_bytes));
    const u32 at = write_headers(path, row, bth, ext, payload_bytes, frame.data(), u16(any(16)));
    for (u32 i = 0; i < payload_bytes; ++i) frame[at + i] = u8(any(8));
    finish_frame(frame.data(), shape_of(path, row, payload_bytes));
    capture.write(kFirstStamp + 1001 * count_++, frame);
    say_addresses(av, values);
    say_transport(row, bth, ext, payload_bytes, values);
    std::string payload;
    for (u32 i = 0; i < payload_bytes; ++i) payload += hex_text(frame[at + i], 2).substr(2);
    values << "payload=" << payload << "\n";
  }

  void say_addresses(const AddressVector& av, std::ofstream& out) const {
    if (is_native(framing_)) {
      out << "vl=" << +av.virtual_lane << "\tsl=" << +av.service_level << "\tslid=" << av.source_lid
          << "\tdlid=" << av.destination_lid << "\t";
    } else {
      out << "smac=" << mac_text(av.source_mac) << "\tdmac=" << mac_text(av.destination_mac)
          << "\t";
      if (av.has_vlan) out << "pcp=" << +av.priority << "\tvid=" << av.vlan_id << "\t";
    }
    if (framing_ == Framing::IbLocal) return;
    out << "tclass=" << +av.traffic_class << "\thops=" << +av.hop_limit << "\t";
    if (framing_ == Framing::RoceV2Ip4) {
      out << "source=" << ipv4_text(ipv4_of_gid(av.source_gid))
          << "\tdestination=" << ipv4_text(ipv4_of_gid(av.destination_gid)) << "\t";
    } else {
      out << "flow=" << av.flow_label << "\tsource=" << gid_text(av.source_gid.bytes.data())
          << "\tdestination=" << gid_text(av.destination_gid.bytes.data()) << "\t";
    }
    if (framing_ != Framing::IbGlobal && framing_ != Framing::RoceV1)
      out << "sport=" << av.udp_source_port << "\t";
  }

  static void say_transport(const OpcodeRow& row, const Bth& bth, const ExtHeaders& ext,
                            u32 payload_bytes, std::ofstream& out) {
    out << "service=" << name_of(row.service) << "\tname=" << row.name << "\topcode=" << +row.code
        << "\textended=" << row.traits().extended << "\tse=" << bth.solicited
        << "\tm=" << bth.mig_req << "\tpad=" << pad_of(payload_bytes) << "\tpkey=" << bth.pkey
        << "\tdest_qp=" << bth.dest_qp << "\ta=" << bth.ack_req << "\tpsn=" << bth.psn << "\t";
    if (row.has(Ext::Deth))
      out << "qkey=" << ext.deth.qkey << "\tsrc_qp=" << ext.deth.src_qp << "\t";
    if (row.has(Ext::Reth))
      out << "va=" << ext.reth.va << "\trkey=" << ext.reth.rkey << "\tdma_len=" << ext.reth.dma_len
          << "\t";
    if (row.has(Ext::AtomicEth))
      out << "atomic_va=" << ext.atomic_eth.va << "\tatomic_rkey=" << ext.atomic_eth.rkey
          << "\tswap=" << ext.atomic_eth.swap_add << "\tcompare=" << ext.atomic_eth.compare << "\t";
    if (row.has(Ext::Aeth))
      out << "syndrome=" << +ext.aeth.syndrome << "\tmsn=" << ext.aeth.msn << "\t";
    if (row.has(Ext::AtomicAckEth)) out << "original=" << ext.atomic_ack_eth.original << "\t";
    if (row.has(Ext::ImmDt)) out << "imm=" << ext.imm_dt.data << "\t";
    if (row.has(Ext::Ieth)) out << "inv_rkey=" << ext.ieth.rkey << "\t";
  }

  Framing framing_;
  std::mt19937 random_;
  u64 count_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s DIR\n", argv[0]);
    return 2;
  }
  for (const FramingRow& row : kFramingRows) Maker(row.framing).make(argv[1]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
