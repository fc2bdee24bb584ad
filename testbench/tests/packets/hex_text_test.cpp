// SPDX-License-Identifier: Apache-2.0
// One packet as xxd, hexdump, od, tcpdump, Wireshark and programs write it, each line as those
// programs print it.
#include "testbench/packets/hex_text.h"

#include <catch2/catch.hpp>

using namespace hca;
using namespace hca::testbench;

namespace {

// RC SEND Only over IPv4, by scapy, with its ICRC: 62 bytes.
const std::string kDigits =
    "02000000000b02000000000a080045000030000140004011b6b8c0000201c0000202c40012b7001c00000400ffff"
    "0000002000001000deadbe00d3fb9233";
const std::vector<u8> kBytes = bytes_of_hex(kDigits);

struct Text {
  std::string what, text;
};
const std::vector<Text> kTexts{
    {"xxd",
     "00000000: 0200 0000 000b 0200 0000 000a 0800 4500  ..............E.\n"
     "00000010: 0030 0001 4000 4011 b6b8 c000 0201 c000  .0..@.@.........\n"
     "00000020: 0202 c400 12b7 001c 0000 0400 ffff 0000  ................\n"
     "00000030: 0020 0000 1000 dead be00 d3fb 9233       . ...........3\n"},
    {"xxd -c 32",
     "00000000: 0200 0000 000b 0200 0000 000a 0800 4500 0030 0001 4000 4011 b6b8 c000 0201 c000  "
     "..............E..0..@.@.........\n"
     "00000020: 0202 c400 12b7 001c 0000 0400 ffff 0000 0020 0000 1000 dead be00 d3fb 9233       "
     "................. ...........3\n"},
    {"xxd -p",
     "02000000000b02000000000a080045000030000140004011b6b8c0000201\n"
     "c0000202c40012b7001c00000400ffff0000002000001000deadbe00d3fb\n9233\n"},
    {"hexdump -C",
     "00000000  02 00 00 00 00 0b 02 00  00 00 00 0a 08 00 45 00  |..............E.|\n"
     "00000010  00 30 00 01 40 00 40 11  b6 b8 c0 00 02 01 c0 00  |.0..@.@.........|\n"
     "00000020  02 02 c4 00 12 b7 00 1c  00 00 04 00 ff ff 00 00  |................|\n"
     "00000030  00 20 00 00 10 00 de ad  be 00 d3 fb 92 33        |. ...........3|\n"
     "0000003e\n"},
    {"od -A x -t x1",
     "000000 02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00\n"
     "000010 00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00\n"
     "000020 02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00\n"
     "000030 00 20 00 00 10 00 de ad be 00 d3 fb 92 33\n00003e\n"},
    {"od -t x1, octal offsets",
     "0000000 02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00\n"
     "0000020 00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00\n"
     "0000040 02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00\n"
     "0000060 00 20 00 00 10 00 de ad be 00 d3 fb 92 33\n0000076\n"},
    {"tcpdump -XX -v",
     "2026-11-29 01:24:16.838248 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], length 48)\n"
     "    192.0.2.1.50176 > 192.0.2.2.4791: UDP, length 20\n"
     "\t0x0000:  0200 0000 000b 0200 0000 000a 0800 4500  ..............E.\n"
     "\t0x0010:  0030 0001 4000 4011 b6b8 c000 0201 c000  .0..@.@.........\n"
     "\t0x0020:  0202 c400 12b7 001c 0000 0400 ffff 0000  ................\n"
     "\t0x0030:  0020 0000 1000 dead be00 d3fb 9233       ..............\n"},
    {"xxd -e",
     "00000000: 00000002 00020b00 0a000000 00450008  ..............E.\n"
     "00000010: 01003000 11400040 00c0b8b6 00c00102  .0..@.@.........\n"
     "00000020: 00c40202 1c00b712 00040000 0000ffff  ................\n"
     "00000030: 00002000 adde0010 fbd300be     3392  . ...........3\n"},
    {"hexdump",
     "0000000 0002 0000 0b00 0002 0000 0a00 0008 0045\n"
     "0000010 3000 0100 0040 1140 b8b6 00c0 0102 00c0\n"
     "0000020 0202 00c4 b712 1c00 0000 0004 ffff 0000\n"
     "0000030 2000 0000 0010 adde 00be fbd3 3392     \n000003e\n"},
    {"od -x, octal offsets",
     "0000000 0002 0000 0b00 0002 0000 0a00 0008 0045\n"
     "0000020 3000 0100 0040 1140 b8b6 00c0 0102 00c0\n"
     "0000040 0202 00c4 b712 1c00 0000 0004 ffff 0000\n"
     "0000060 2000 0000 0010 adde 00be fbd3 3392\n0000076\n"},
    {"hexdump on a machine with the high byte first",
     "0000000 0200 0000 000b 0200 0000 000a 0800 4500\n"
     "0000010 0030 0001 4000 4011 b6b8 c000 0201 c000\n"
     "0000020 0202 c400 12b7 001c 0000 0400 ffff 0000\n"
     "0000030 0020 0000 1000 dead be00 d3fb 9233     \n000003e\n"},
    {"xxd -s 37",
     "00000025: 0200 0000 000b 0200 0000 000a 0800 4500  ..............E.\n"
     "00000035: 0030 0001 4000 4011 b6b8 c000 0201 c000  .0..@.@.........\n"
     "00000045: 0202 c400 12b7 001c 0000 0400 ffff 0000  ................\n"
     "00000055: 0020 0000 1000 dead be00 d3fb 9233       . ...........3\n"},
    {"od -j 37, octal offsets",
     "0000045 02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00\n"
     "0000065 00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00\n"
     "0000105 02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00\n"
     "0000125 00 20 00 00 10 00 de ad be 00 d3 fb 92 33\n0000143\n"},
    {"Wireshark, without its first line",
     "0010  02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00   ..............E.\n"
     "0020  00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00   .0..@.@.........\n"
     "0030  02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00   ................\n"
     "0040  00 20 00 00 10 00 de ad be 00 d3 fb 92 33         . ...........3\n"},
    {"Wireshark",
     "No.     Time           Source                Destination           Protocol Length Info\n"
     "      1 0.000000       192.0.2.1             192.0.2.2             RRoCE    62     RC "
     "Send\n\n"
     "0000  02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00   ..............E.\n"
     "0010  00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00   .0..@.@.........\n"
     "0020  02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00   ................\n"
     "0030  00 20 00 00 10 00 de ad be 00 d3 fb 92 33         . ...........3\n"},
    {"the kernel's log",
     "[  123.456789] rxe: 00000000: 02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00  ........\n"
     "[  123.456790] rxe: 00000010: 00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00  ........\n"
     "[  123.456791] rxe: 00000020: 02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00  ........\n"
     "[  123.456792] rxe: 00000030: 00 20 00 00 10 00 de ad be 00 d3 fb 92 33        ........\n"},
    {"a C array of Wireshark",
     "/* Frame (62 bytes) */\nstatic const unsigned char pkt1[62] = {\n"
     "0x02, 0x00, 0x00, 0x00, 0x00, 0x0b, 0x02, 0x00, 0x00, 0x00, 0x00, 0x0a, /* ...{... */\n"
     "0x08, 0x00, 0x45, 0x00, 0x00, 0x30, 0x00, 0x01, 0x40, 0x00, 0x40, 0x11, // }\n"
     "0xb6, 0xb8, 0xc0, 0x00, 0x02, 0x01, 0xc0, 0x00, 0x02, 0x02, 0xc4, 0x00, 0x12, 0xb7, 0, 28,\n"
     "0, 0, 4, 0, 255, 0xffu, 0, 0, 0, 0x20, 0, 0, 0x10, 0, 0xde, 0xad, 0xbe, 0, 0xd3, 0xfb,\n"
     "0x92, 0x33 };\n"},
    {"strings",
     "char p[] =\n"
     "\"\\x02\\x00\\x00\\x00\\x00\\x0b\\x02\\x00\\x00\\x00\\x00\\x0a\\x08\\x00E\\x00\\x000\\x00\" "
     "\\\n"
     "\"\\x01@\\x00@\\x11\\xb6\\xb8\\xc0\\x00\\x02\\x01\\xc0\\x00\\x02\\x02\\xc4\\x00\\x12\\xb7\"\n"
     "\"\\x00\\x1c\\x00\\x00\\x04\\x00\\xff\\xff\\x00\\x00\\x00 "
     "\\x00\\x00\\x10\\x00\\xde\\xad\\xbe\"\n"
     "\"\\x00\\xd3\\xfb\\x923\";\n"},
    {"colons over several lines",
     "02:00:00:00:00:0b:02:00:00:00:00:0a:08:00:45:00:00:30:00:01:40:00:40:11:\n"
     "b6:b8:c0:00:02:01:c0:00:02:02:c4:00:12:b7:00:1c:00:00:04:00:ff:ff:00:00:\n"
     "00:20:00:00:10:00:de:ad:be:00:d3:fb:92:33\n"},
    {"digits over several lines",
     "02 00 00 00 00 0b 02 00 00 00 00 0a 08 00 45 00\n"
     "00 30 00 01 40 00 40 11 b6 b8 c0 00 02 01 c0 00\n"
     "02 02 c4 00 12 b7 00 1c 00 00 04 00 ff ff 00 00\n"
     "00 20 00 00 10 00 de ad be 00 d3 fb 92 33\n"},
    {"0x over several lines",
     "0x02000000 0x000b0200 0x0000000a 0x08004500 0x00300001 0x40004011\n"
     "0xb6b8c000 0x0201c000 0x0202c400 0x12b7001c 0x00000400 0xffff0000\n"
     "0x00200000 0x1000dead 0xbe00d3fb 0x9233\n"},
};

std::string refusal_of(const std::string& text) {
  try {
    frames_of_text(text, HexLink::Auto);
    return "read";
  } catch (const TextError& error) {
    return std::to_string(error.line) + ": " + error.what();
  }
}
std::size_t count_of(const std::string& text) { return frames_of_text(text, HexLink::Auto).size(); }

}  // namespace

TEST_CASE("a packet is the same bytes in each way of writing it, alone and twice",
          "[decode][hex]") {
  for (const Text& t : kTexts) {
    INFO(t.what);
    const std::vector<TextFrame> one = frames_of_text(t.text, HexLink::Auto);
    REQUIRE(one.size() == 1);
    CHECK(one[0].bytes == kBytes);
    const std::vector<TextFrame> two = frames_of_text(t.text + "\n" + t.text, HexLink::Auto);
    REQUIRE(two.size() == 2);
    CHECK(two[0].bytes == kBytes);
    CHECK(two[1].bytes == kBytes);
  }
}

TEST_CASE("lines of digits are a list of packets where each is one", "[decode][hex]") {
  CHECK(count_of(kDigits + "\n" + kDigits + "\n") == 2);
  CHECK(count_of(kDigits + "\n# the same\n" + kDigits + "\n") == 2);
  // Three that begin at the BTH: SEND Only, Acknowledge, WRITE with Immediate.
  const std::string bths =
      "0500ffff0000002080001000deadbe0013ed5938\n1100ffff00000020000010001f000001f50170e1\n"
      "0b00ffff000000208000100100000002000023280000110300000000cafe000058c8089d\n";
  const std::vector<TextFrame> frames = frames_of_text(bths, HexLink::Auto);
  REQUIRE(frames.size() == 3);
  CHECK(frames[2].line == 3);
  for (const TextFrame& f : frames) CHECK(layer_of(f.bytes, HexLink::Auto) == proto::Layer::Bth);
}

TEST_CASE("a packet may begin at its IP or UDP header", "[decode][hex]") {
  const std::vector<u8> ip(kBytes.begin() + 14, kBytes.end()), udp(ip.begin() + 20, ip.end());
  CHECK(layer_of(kBytes, HexLink::Auto) == proto::Layer::Ethernet);
  CHECK(layer_of(ip, HexLink::Auto) == proto::Layer::Ip);
  CHECK(layer_of(udp, HexLink::Auto) == proto::Layer::Udp);
  CHECK(layer_of(ip, HexLink::Ethernet) == proto::Layer::Ethernet);  // what is said holds
  CHECK(layer_of(kBytes, HexLink::Bth) == proto::Layer::Bth);
}

TEST_CASE("a dump repeats lines where it says so", "[decode][hex]") {
  const std::vector<TextFrame> frames = frames_of_text(
      "00000000  aa aa aa aa aa aa aa aa  aa aa aa aa aa aa aa aa  |................|\n*\n"
      "00000030  bb                                                |.|\n00000031\n",
      HexLink::Auto);
  REQUIRE(frames.size() == 1);
  std::vector<u8> expected(48, 0xAA);
  expected.push_back(0xBB);
  CHECK(frames[0].bytes == expected);
}

TEST_CASE("where a dump begins, and the order of its bytes, are told", "[decode][hex]") {
  const auto note_of = [](const std::string& text) {
    return frames_of_text(text, HexLink::Auto).front().note;
  };
  CHECK(note_of("00000000: 0200 0000\n") == "");
  CHECK(note_of("00000010: 0200 0000\n") == "from offset 00000010 on");
  CHECK(note_of("0000000 0002 0000 0b00 0002\n") == "16-bit words with the low byte first");
  // An odd byte at the end: the last word has one that is not of the packet.
  const auto frames = frames_of_text("0000000 0002 0000 0b00 0002\n0000007\n", HexLink::Auto);
  CHECK(frames.front().bytes == std::vector<u8>{2, 0, 0, 0, 0, 0x0b, 2});
}

TEST_CASE("text that is not understood is refused with its line", "[decode][hex]") {
  CHECK(refusal_of("00000000: 0200 0000\n00000010: 0011\n") ==
        "2: offset 00000010, but 4 bytes are before it");
  CHECK(refusal_of("00000000: 0200 00\n00000003: zz\n") == "2: 'zz' is no pair of hex digits");
  CHECK(refusal_of("00000000: 0200 00\nand so on\n") ==
        "2: is neither a line of a dump nor a heading: and so on");
  CHECK(refusal_of("00000000: 0200 00\n" + std::string(300'000, 'a')) ==
        "2: is neither a line of a dump nor a heading: " + std::string(60, 'a'));
  CHECK(refusal_of("00 01\n02 0g\n") == "2: 'g' is no hex digit");
  CHECK(refusal_of("char p[] = {\n0x02,\n0x100 };\n") == "3: '0x100' is no byte");
  CHECK(refusal_of("char p[] = {\n0x02,\nsizeof x };\n") == "3: 'sizeof' is no byte");
  CHECK(refusal_of("char p[] = {\n0x02,\n") == "1: an array without its end");
  CHECK(refusal_of("x = b'\\x02\\xg0'\n") == "1: \\x without two hex digits");
  CHECK(refusal_of("00000000: 02\n*\n") == "2: * needs an offset after it");
  CHECK(refusal_of("00000000:\n*\n00000010: 00\n") == "2: * repeats a line without bytes");
}
