// SPDX-License-Identifier: Apache-2.0
#include "testbench/time_library/code.h"

#include <Zydis/Zydis.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

namespace hca::time_library {
namespace {
// The head of .eh_frame_hdr (LSB Core, 10.6.2), with the encodings that linkers write: a table of
// functions in ascending order.
struct FrameTable {
  u8 version, frame_encoding, count_encoding, table_encoding;
  std::int32_t frame;
  u32 count;
  struct Row {
    std::int32_t begin, description;  // from the head on
  };
  std::span<const Row> rows() const {
    constexpr u8 kUdata4 = 0x03, kSdata4FromHead = 0x3b;
    if (version != 1 || count_encoding != kUdata4 || table_encoding != kSdata4FromHead) return {};
    return {reinterpret_cast<const Row*>(this + 1), count};
  }
};

struct Loaded {
  u8* base = nullptr;
  const FrameTable* frames = nullptr;
};

// Where the function that holds this byte begins; `from`: if no table tells.
u8* function_of(const Loaded& object, u8* byte, u8* from) {
  if (!object.frames) return from;
  const auto* const head = reinterpret_cast<const u8*>(object.frames);
  const auto rows = object.frames->rows();
  const auto behind = std::upper_bound(
      rows.begin(), rows.end(), byte - head,
      [](std::ptrdiff_t at, const FrameTable::Row& row) { return at < row.begin; });
  if (behind == rows.begin()) return from;
  u8* const begin = const_cast<u8*>(head) + std::prev(behind)->begin;
  return std::max(begin, from);
}

class Decoder {
 public:
  Decoder() { ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64); }
  // The length of the instruction at `at` if it is reached from `from` on and reads the counter.
  unsigned time_stamp(const u8* from, const u8* at, const u8* end) const {
    ZydisDecodedInstruction instruction;
    while (from < at) {
      const bool good = decode(from, end, instruction);
      from += good ? instruction.length : 1;
    }
    const bool is_one = from == at && decode(at, end, instruction) &&
                        (instruction.mnemonic == ZYDIS_MNEMONIC_RDTSC ||
                         instruction.mnemonic == ZYDIS_MNEMONIC_RDTSCP);
    return is_one ? instruction.length : 0;
  }

 private:
  bool decode(const u8* at, const u8* end, ZydisDecodedInstruction& instruction) const {
    return ZYAN_SUCCESS(
        ZydisDecoderDecodeInstruction(&decoder_, nullptr, at, ZyanUSize(end - at), &instruction));
  }
  ZydisDecoder decoder_;
};

constexpr std::array<u8, 2> kRdtsc{0x0f, 0x31};
constexpr std::array<u8, 3> kRdtscp{0x0f, 0x01, 0xf9};
bool looks_so(const u8* at, const u8* end) {
  const auto is = [&](const auto& bytes) {
    return std::size_t(end - at) >= bytes.size() && !std::memcmp(at, bytes.data(), bytes.size());
  };
  return is(kRdtsc) || is(kRdtscp);
}

using Found = std::function<void(u8*, unsigned)>;
void search(const Loaded& object, const ElfW(Phdr) & segment, const Found& found) {
  static const Decoder decoder;
  u8* const begin = object.base + segment.p_vaddr;
  u8* const end = begin + segment.p_memsz;
  for (u8* at = begin; (at = static_cast<u8*>(std::memchr(at, kRdtsc[0], std::size_t(end - at))));
       ++at) {
    if (!looks_so(at, end)) continue;
    if (const unsigned bytes = decoder.time_stamp(function_of(object, at, begin), at, end))
      found(at, bytes);
  }
}

bool holds(const dl_phdr_info& info, const void* address) {
  for (unsigned i = 0; i < info.dlpi_phnum; ++i) {
    const auto& segment = info.dlpi_phdr[i];
    const u64 offset = reinterpret_cast<u64>(address) - info.dlpi_addr - segment.p_vaddr;
    if (segment.p_type == PT_LOAD && offset < segment.p_memsz) return true;
  }
  return false;
}

int take_object(dl_phdr_info* info, std::size_t, void* with) {
  const auto* const kernels = reinterpret_cast<const void*>(getauxval(AT_SYSINFO_EHDR));
  if ((kernels && holds(*info, kernels)) || holds(*info, reinterpret_cast<void*>(&take_object)))
    return 0;
  Loaded object{.base = reinterpret_cast<u8*>(info->dlpi_addr)};
  const std::span segments(info->dlpi_phdr, info->dlpi_phnum);
  for (const auto& segment : segments)
    if (segment.p_type == PT_GNU_EH_FRAME)
      object.frames = reinterpret_cast<const FrameTable*>(object.base + segment.p_vaddr);
  constexpr unsigned kReadable = PF_X | PF_R;
  for (const auto& segment : segments)
    if (segment.p_type == PT_LOAD && (segment.p_flags & kReadable) == kReadable)
      search(object, segment, *static_cast<const Found*>(with));
  return 0;
}
}  // namespace

void each_time_stamp(const Found& found) {
  dl_iterate_phdr(take_object, const_cast<Found*>(&found));
}

u64 pieces_of_code() {
  u64 pieces = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<u64*>(to) = info->dlpi_adds;
        return 1;
      },
      &pieces);
  return pieces;
}

bool overwrite_code(u8* code, const u8* with, unsigned bytes) {
  const u64 page = u64(sysconf(_SC_PAGESIZE)), address = reinterpret_cast<u64>(code);
  const u64 begin = address / page * page, end = (address + bytes + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(begin);
  if (mprotect(pages, end - begin, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
  std::memcpy(code, with, bytes);
  return !mprotect(pages, end - begin, PROT_READ | PROT_EXEC);
}
}  // namespace hca::time_library
