// SPDX-License-Identifier: Apache-2.0
#include "testbench/packets/packed_file.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "model/proto/types.h"

namespace hca::testbench {
namespace {
using Bytes = std::span<const u8>;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// ---- A library of the system
class Library {
 public:
  explicit Library(const char* name) : name_(name), handle_(dlopen(name, RTLD_NOW)) {
    if (!handle_) throw Refused(name_ + ", which unpacks it, is not installed");
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;

  template <class Function>
  Function* find(const char* symbol) const {
    void* const found = dlsym(handle_, symbol);
    if (!found) throw Refused(name_ + ", which unpacks it, lacks " + symbol);
    return reinterpret_cast<Function*>(found);
  }

 private:
  std::string name_;
  void* handle_;
};

// Takes bytes of the packed file and gives what they hold to `out`.
struct Unpacker {
  virtual ~Unpacker() = default;
  virtual void take(Bytes packed, const std::function<void(Bytes)>& out) = 0;
  virtual void end(const std::function<void(Bytes)>& out) = 0;  // no more comes
};
constexpr std::size_t kChunk = 1u << 17;

// ---- zstd: the parameters of its stable interface
class ZstdUnpacker : public Unpacker {
 public:
  ZstdUnpacker() { stream_ = library_.find<void*()>("ZSTD_createDStream")(); }
  ~ZstdUnpacker() override { library_.find<std::size_t(void*)>("ZSTD_freeDStream")(stream_); }
  void take(Bytes packed, const std::function<void(Bytes)>& out) override {
    In in{packed.data(), packed.size(), 0};
    // A frame that is whole has nothing left, even where its last part fills the buffer.
    for (bool full = true; in.at < in.bytes || (full && left_ != 0);) {
      Out part{unpacked_.data(), unpacked_.size(), 0};
      left_ = decompress_(stream_, &part, &in);
      if (is_error_(left_)) throw Refused("is damaged: " + std::string(error_name_(left_)));
      out({unpacked_.data(), part.at});
      full = part.at == part.bytes;
    }
  }
  void end(const std::function<void(Bytes)>&) override {
    if (left_ != 0) throw Refused("the packed file ends early");
  }

 private:
  struct In {
    const void* from;
    std::size_t bytes, at;
  };
  struct Out {
    void* to;
    std::size_t bytes, at;
  };
  Library library_{"libzstd.so.1"};
  std::size_t (*decompress_)(void*, Out*, In*) =
      library_.find<std::size_t(void*, Out*, In*)>("ZSTD_decompressStream");
  unsigned (*is_error_)(std::size_t) = library_.find<unsigned(std::size_t)>("ZSTD_isError");
  const char* (*error_name_)(std::size_t) =
      library_.find<const char*(std::size_t)>("ZSTD_getErrorName");
  void* stream_ = nullptr;
  std::size_t left_ = 1;  // 0: a frame is whole
  std::vector<u8> unpacked_ = std::vector<u8>(kChunk);
};

// ---- xz: the state of a stream as liblzma.so.5 lays it out
struct LzmaStream {
  const u8* next_in = nullptr;
  std::size_t available_in = 0;
  std::uint64_t total_in = 0;
  u8* next_out = nullptr;
  std::size_t available_out = 0;
  std::uint64_t total_out = 0;
  const void* allocator = nullptr;
  void* internal = nullptr;
  std::array<void*, 4> reserved_pointers{};
  std::array<std::uint64_t, 2> reserved_numbers{};
  std::array<std::size_t, 2> reserved_sizes{};
  std::array<int, 2> reserved_choices{};
};
static_assert(sizeof(LzmaStream) == 136);

class XzUnpacker : public Unpacker {
 public:
  XzUnpacker() {
    constexpr std::uint64_t kMostMemory = u64{1} << 30;
    constexpr std::uint32_t kConcatenated = 8;
    const auto start =
        library_.find<int(LzmaStream*, std::uint64_t, std::uint32_t)>("lzma_stream_decoder");
    if (start(&stream_, kMostMemory, kConcatenated) != kOk) throw Refused("cannot be unpacked");
  }
  ~XzUnpacker() override { library_.find<void(LzmaStream*)>("lzma_end")(&stream_); }
  void take(Bytes packed, const std::function<void(Bytes)>& out) override {
    stream_.next_in = packed.data();
    stream_.available_in = packed.size();
    run(kRun, out);
  }
  void end(const std::function<void(Bytes)>& out) override {
    stream_.available_in = 0;
    run(kFinish, out);
    if (!over_) throw Refused("the packed file ends early");
  }

 private:
  enum { kRun = 0, kFinish = 3 };
  enum { kOk = 0, kStreamEnd = 1, kMemoryLimit = 6, kNoProgress = 10 };
  void run(int action, const std::function<void(Bytes)>& out) {
    for (;;) {
      stream_.next_out = unpacked_.data();
      stream_.available_out = unpacked_.size();
      const int result = code_(&stream_, action);
      out({unpacked_.data(), unpacked_.size() - stream_.available_out});
      over_ = result == kStreamEnd;
      if (result == kMemoryLimit) throw Refused("needs more than 1 GiB of memory to be unpacked");
      if (result == kNoProgress && action == kFinish) throw Refused("the packed file ends early");
      if (result != kOk && result != kStreamEnd && result != kNoProgress)
        throw Refused("is damaged: liblzma says " + std::to_string(result));
      if (over_ || (stream_.available_in == 0 && stream_.available_out != 0 && action == kRun))
        return;
    }
  }
  Library library_{"liblzma.so.5"};
  int (*code_)(LzmaStream*, int) = library_.find<int(LzmaStream*, int)>("lzma_code");
  LzmaStream stream_;
  bool over_ = false;
  std::vector<u8> unpacked_ = std::vector<u8>(kChunk);
};

// ---- Files
struct PackedKind {
  std::array<u8, 4> magic;
  std::unique_ptr<Unpacker> (*make)();
};
const std::array kPackedKinds{
    PackedKind{{0x28, 0xB5, 0x2F, 0xFD},
               []() -> std::unique_ptr<Unpacker> { return std::make_unique<ZstdUnpacker>(); }},
    PackedKind{{0xFD, 0x37, 0x7A, 0x58},
               []() -> std::unique_ptr<Unpacker> { return std::make_unique<XzUnpacker>(); }},
};

const PackedKind* kind_of(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return nullptr;
  std::array<char, 4> head{};
  if (!std::ifstream(path, std::ios::binary).read(head.data(), head.size())) return nullptr;
  for (const PackedKind& kind : kPackedKinds)
    if (std::equal(head.begin(), head.end(), kind.magic.begin(),
                   [](char a, u8 b) { return u8(a) == b; }))
      return &kind;
  return nullptr;
}

int file_without_name() {
  std::string path = (std::filesystem::temp_directory_path() / "hca_unpacked_XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw Refused("its unpacked copy " + path + " cannot be made");
  unlink(path.c_str());
  return file;
}

void write_all(int file, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Refused("its unpacked copy cannot be written");
    bytes = bytes.subspan(std::size_t(written));
  }
}

void unpack(const std::string& path, Unpacker& unpacker, int to) {
  const auto out = [to](Bytes bytes) { write_all(to, bytes); };
  std::ifstream from(path, std::ios::binary);
  std::vector<char> chunk(kChunk);
  while (from.read(chunk.data(), std::streamsize(chunk.size())), from.gcount() > 0)
    unpacker.take({reinterpret_cast<const u8*>(chunk.data()), std::size_t(from.gcount())}, out);
  unpacker.end(out);
}
}  // namespace

std::optional<int> unpacked_file(const std::string& path, const std::string& name) {
  const PackedKind* const kind = kind_of(path);
  if (!kind) return std::nullopt;
  int file = -1;
  try {
    const std::unique_ptr<Unpacker> unpacker = kind->make();
    file = file_without_name();
    unpack(path, *unpacker, file);
  } catch (const Refused& refused) {
    if (file >= 0) close(file);
    throw std::runtime_error(name + ": " + refused.what());
  }
  lseek(file, 0, SEEK_SET);
  return file;
}
}  // namespace hca::testbench
