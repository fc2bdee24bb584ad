// SPDX-License-Identifier: Apache-2.0
// Captures of an independent implementation, and capture files as such.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/proto/wire/dissect.h"
#include "testbench/packets/pcap_file.h"
#include "testbench/tests/proto/hex.h"

using namespace hca;
using namespace hca::proto;
using namespace hca::testbench;
using test::hex;

namespace {

const std::filesystem::path kCaptures = std::filesystem::path(HCA_SOURCE_DIR) / "vectors/captures";

class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() / ("hca_files_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::vector<u8>& bytes) const {
    std::ofstream(file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

std::string message_of(const std::string& path) {
  try {
    read_capture(path);
    return "read";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// The fates that the capture's JSON gives its frames; "mutated" are those that were corrupted on
// the wire.
std::vector<std::string> fates_of(std::filesystem::path capture) {
  std::ifstream file(capture.replace_extension(".json"));
  std::vector<std::string> fates;
  const nlohmann::json capture_json = nlohmann::json::parse(file);
  for (const auto& frame : capture_json.at("frames")) fates.push_back(frame.at("fate"));
  return fates;
}

// pcapng blocks in the file's byte order, little endian.
std::vector<u8> pcapng(std::initializer_list<std::pair<int, std::string>> interfaces) {
  std::vector<u8> out = hex("0A0D0D0A 1C000000 4D3C2B1A 0100 0000 FFFFFFFFFFFFFFFF 1C000000");
  for (const auto& [link_type, name] : interfaces) {
    const u8 padded = u8((name.size() + 3) / 4 * 4), size = u8(20 + 4 + padded + 4);
    std::vector<u8> block = hex("01000000");
    const auto add = [&](std::initializer_list<int> bytes) {
      for (int b : bytes) block.push_back(u8(b));
    };
    add({size, 0, 0, 0, link_type, 0, 0, 0, 0, 0, 4, 0, 2, 0, int(name.size()), 0});
    for (std::size_t i = 0; i < padded; ++i) block.push_back(i < name.size() ? u8(name[i]) : u8(0));
    add({0, 0, 0, 0, size, 0, 0, 0});
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

}  // namespace

TEST_CASE("every captured frame is whole and its ICRC good, but for those corrupted on the wire",
          "[captures][C9-2][T2]") {
  std::size_t captures = 0, frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kCaptures)) {
    if (entry.path().extension() != ".pcap") continue;
    ++captures;
    const std::vector<CapturedFrame> all = read_capture(entry.path().string());
    const std::vector<std::string> fates = fates_of(entry.path());
    REQUIRE(all.size() == fates.size());
    const bool corrupts = entry.path().filename().string().find("_icrc_") != std::string::npos;
    for (std::size_t i = 0; i < all.size(); ++i) {
      INFO(entry.path().filename().string() << " frame " << i + 1);
      ++frames;
      ParsedPacket packet;
      REQUIRE(parse(all[i].bytes, all[i].link, packet) == PacketVerdict::Good);
      CHECK(icrc_good(all[i].bytes, packet) == !(corrupts && fates[i] == "mutated"));
    }
  }
  CHECK(captures >= 2);
  CHECK(frames >= 68);
}

TEST_CASE("a captured frame built again from its values is the same bytes",
          "[captures][C9-2][G34.4]") {
  for (const auto& entry : std::filesystem::directory_iterator(kCaptures)) {
    if (entry.path().extension() != ".pcap") continue;
    for (const CapturedFrame& frame : read_capture(entry.path().string())) {
      ParsedPacket packet;
      REQUIRE(parse(frame.bytes, frame.link, packet) == PacketVerdict::Good);
      if (!icrc_good(frame.bytes, packet)) continue;
      const Addressing a = addressing_of(frame.bytes.data(), packet);
      AddressVector av;
      av.framing = packet.framing;
      av.source_mac = a.source_mac;
      av.destination_mac = a.destination_mac;
      av.source_gid = a.source_gid;
      av.destination_gid = a.destination_gid;
      av.traffic_class = a.traffic_class;
      av.flow_label = a.flow_label;
      av.hop_limit = a.hop_limit;
      av.udp_source_port = a.udp_source_port;
      const Path path = make_path(av);
      std::vector<u8> built(frame_bytes(path, *packet.opcode, packet.payload_bytes));
      const u8* const network = frame.bytes.data() + packet.network_offset;
      const u16 id = packet.framing == Framing::RoceV2Ip4 ? decode<Ipv4>(network).id : u16(0);
      const u32 at = write_headers(path, *packet.opcode, packet.bth, packet, packet.payload_bytes,
                                   built.data(), id);
      std::copy_n(frame.bytes.begin() + packet.payload_offset, packet.payload_bytes,
                  built.begin() + at);
      finish_frame(built.data(), shape_of(path, *packet.opcode, packet.payload_bytes));
      CHECK(built == std::vector<u8>(frame.bytes.begin(),
                                     frame.bytes.begin() + std::ptrdiff_t(built.size())));
    }
  }
}

TEST_CASE("what is written is read back, to the nanosecond, in each link type", "[captures]") {
  const Folder folder;
  const std::vector<u8> frame = hex("00 02 0001 0006 0002 0440FFFF000000020000000596969696 0000");
  for (const LinkType type : {LinkType::Ethernet, LinkType::Erf, LinkType::InfiniBand}) {
    INFO(name_of(type));
    const std::string path = folder.file(name_of(type) + ".pcap");
    CaptureWriter writer(path, type);
    writer.write(1'700'000'000'123'456'789, frame);
    writer.write(1'700'000'001'000'000'000, {frame.data(), 20});
    writer.close();
    const std::vector<CapturedFrame> all = read_capture(path);
    REQUIRE(all.size() == 2);
    CHECK(all[0].time_ns == 1'700'000'000'123'456'789);
    CHECK(all[1].time_ns == 1'700'000'001'000'000'000);
    CHECK(all[0].bytes == frame);
    CHECK(all[1].bytes.size() == 20);
    CHECK(all[0].bytes_on_wire == frame.size());
    CHECK(all[0].link ==
          (type == LinkType::Ethernet ? LinkLayer::Ethernet : LinkLayer::InfiniBand));
    CHECK(CaptureReader(path).interfaces()[0].link_type == int(type));
  }
}

TEST_CASE("an ERF record of another kind is named, not decoded", "[captures]") {
  const Folder folder;
  const auto with_record = [&](const std::string& name, const std::string& record) {
    const std::vector<u8> bytes = hex(record);
    std::vector<u8> file =
        hex("4D3CB2A1 0200 0400 00000000 00000000 00000400 C5000000 01000000 02000000");
    for (int copy = 0; copy < 2; ++copy)
      for (const u8 byte : {u8(bytes.size()), u8(0), u8(0), u8(0)}) file.push_back(byte);
    file.insert(file.end(), bytes.begin(), bytes.end());
    const std::vector<CapturedFrame> all = read_capture(folder.write(name, file));
    REQUIRE(all.size() == 1);
    CHECK(all[0].time_ns == 1'000'000'002);
    return all[0];
  };
  // 8 bytes of time, type, flags, record length, loss counter, length on the wire; then the record
  CHECK(with_record("atm", "0000000000000000 03 04 0014 0000 0004 AABBCCDD").note ==
        "ERF record of type 3");
  CHECK(with_record("short", "0000000000000000 15 04").note ==
        "ERF record shorter than its header");
  CHECK(with_record("cut", "0000000000000000 95 04 0014 0000 0004 AABB").note ==
        "ERF record shorter than its extension headers");
  // two extension headers of 8 bytes (the first says that one more follows), then the frame and
  // padding
  const CapturedFrame extended = with_record(
      "ext", "0000000000000000 95 04 0024 0000 0003 81AAAAAAAAAAAAAA 01AAAAAAAAAAAAAA 11223300");
  CHECK(extended.note == "");
  CHECK(extended.bytes == hex("112233"));
}

TEST_CASE("files that cannot be read say why", "[captures]") {
  const Folder folder;
  const auto ends_with = [](const std::string& text, const std::string& end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  };
  CHECK(ends_with(message_of(folder.file("absent")), "absent: No such file or directory"));
  CHECK(ends_with(
      message_of(folder.write("text", hex("68656c6c6f20776f726c6420686f7720617265 20796f75"))),
      "text: unknown file format"));
  // link type 105 (IEEE 802.11)
  const std::string raw = message_of(
      folder.write("raw", hex("4D3CB2A1 0200 0400 00000000 00000000 00000400 69000000")));
  CHECK(raw.find("raw: link type IEEE802_11 (105) is none of Ethernet (1), null (0), ") !=
        std::string::npos);
  // a record that the file does not hold whole
  const std::string cut =
      message_of(folder.write("cut", hex("4D3CB2A1 0200 0400 00000000 00000000 00000400 01000000 "
                                         "01000000 02000000 10000000 10000000 AABB")));
  CHECK(cut.find("cut: record 1: truncated dump file") != std::string::npos);
}

TEST_CASE("pcapng is read; its interfaces may have several link types", "[captures]") {
  const Folder folder;
  CHECK(read_capture(folder.write("one", pcapng({{1, "eth0"}, {1, "eth1"}}))).empty());
  std::vector<u8> file = pcapng({{1, "eth0"}, {247, "ib0"}, {105, "wlan0"}});
  for (const u8 interface : {0, 1, 2}) {  // an enhanced packet block of 4 bytes at 1 s, each
    std::vector<u8> block = hex("06000000 24000000 00000000 00000000 40420F00 04000000 05000000");
    block[8] = interface;
    file.insert(file.end(), block.begin(), block.end());
    for (const u8 byte : hex("AABBCCDD 24000000")) file.push_back(byte);
  }
  const std::vector<CapturedFrame> all = read_capture(folder.write("three", file));
  REQUIRE(all.size() == 3);
  CHECK(all[0].interface == "eth0");
  CHECK(all[0].begins == Layer::Ethernet);
  CHECK(all[0].time_ns == 1'000'000'000);
  CHECK(all[0].bytes == hex("AABBCCDD"));
  CHECK(all[0].bytes_on_wire == 5);
  CHECK(all[1].begins == Layer::Lrh);
  CHECK(all[1].link == LinkLayer::InfiniBand);
  CHECK(all[1].note.empty());
  CHECK(all[2].note.find("link type IEEE802_11 (105) is none of Ethernet (1)") == 0);
}

TEST_CASE("sections of either byte order, simple packets, resolutions and FCS lengths are read",
          "[captures]") {
  const Folder folder;
  // Big endian: ticks of 1/1024 s (0x8A), an offset of 7 s, an FCS of 4 bytes; a packet at 3 s + 1
  // tick. An unknown block is passed over.
  std::vector<u8> file = hex(
      "0A0D0D0A 0000001C 1A2B3C4D 0001 0000 FFFFFFFFFFFFFFFF 0000001C"
      "00000001 00000034 0001 0000 00000000 0009 0001 8A000000 000D 0001 04000000"
      "000E 0008 0000000000000007 0000 0000 00000034"
      "00000BAD 00000010 12345678 00000010"
      "00000006 00000028 00000000 00000000 00000C01 00000005 00000006 0102030405 000000 00000028");
  // Little endian, of raw IP: a simple packet, cut at the interface's 4 bytes.
  const std::vector<u8> second =
      hex("0A0D0D0A 1C000000 4D3C2B1A 0100 0000 FFFFFFFFFFFFFFFF 1C000000"
          "01000000 14000000 6500 0000 04000000 14000000"
          "03000000 14000000 09000000 45000000 14000000");
  file.insert(file.end(), second.begin(), second.end());
  const std::vector<CapturedFrame> all = read_capture(folder.write("orders", file));
  REQUIRE(all.size() == 2);
  CHECK(all[0].time_ns == 10'000'976'562);  // 7 + 3 + 1 / 1024 s
  CHECK(all[0].bytes == hex("0102030405"));
  CHECK(all[0].bytes_on_wire == 6);
  CHECK(all[0].fcs_bytes == u8(4));
  CHECK(all[0].begins == Layer::Ethernet);
  CHECK(all[1].bytes == hex("45000000"));
  CHECK(all[1].bytes_on_wire == 9);
  CHECK(all[1].begins == Layer::Ip);
  CHECK_FALSE(all[1].fcs_bytes);

  std::vector<u8> longer = file;
  longer[28 + 7] = 0x38;  // the first length of the interface
  CHECK(message_of(folder.write("longer", longer)).find("block 2: its two lengths differ") !=
        std::string::npos);
  // The header of a pcap file may say that an FCS is there.
  const std::string pcap_of_fcs =
      folder.write("fcs", hex("4D3CB2A1 0200 0400 00000000 00000000 00000400 01000024"
                              "01000000 02000000 02000000 02000000 AABB"));
  CHECK(read_capture(pcap_of_fcs)[0].fcs_bytes == u8(4));
}
