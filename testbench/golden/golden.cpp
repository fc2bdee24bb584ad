// SPDX-License-Identifier: Apache-2.0
// The C functions: no exception leaves them.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <stdexcept>

#include "model/proto/wire/dissect.h"
#include "testbench/golden/frame_arguments.h"
#include "testbench/golden/golden_context.h"
#include "testbench/golden/hca_golden.h"

using namespace hca;
using testbench::Frame;
using testbench::GoldenContext;

struct hca_golden {
  std::unique_ptr<GoldenContext> context;  // none: the set-up was refused
  int code = HCA_GOLDEN_OK;
  std::string text;

  int tell(int new_code, std::string new_text = {}) {
    text = std::move(new_text);
    return code = new_code;
  }
  int give(const std::optional<std::string>& found) {
    return found ? tell(HCA_GOLDEN_OK, *found) : tell(HCA_GOLDEN_NOTHING);
  }
  int give(std::span<const u8> found, uint8_t* to, uint32_t* bytes) {
    if (found.size() > HCA_GOLDEN_FRAME_BYTES)
      return tell(HCA_GOLDEN_BAD_INPUT, fmt::format("{} bytes; allowed: at most {}", found.size(),
                                                    HCA_GOLDEN_FRAME_BYTES));
    std::fill(std::copy(found.begin(), found.end(), to), to + HCA_GOLDEN_FRAME_BYTES, uint8_t{0});
    *bytes = u32(found.size());
    return tell(HCA_GOLDEN_OK);
  }
};

namespace {
// A pointer of the caller's, by the name of its argument.
struct Given {
  const char* name;
  const void* pointer;
};
bool is_missing(const Given& given) { return !given.pointer; }

// Returns the result of `run`, or the code of its exception.
template <class Run>
int guard(hca_golden* hca, std::initializer_list<Given> pointers, const Run& run) {
  if (!hca) return HCA_GOLDEN_BAD_INPUT;
  if (!hca->context) return hca->code;
  const auto missing = std::find_if(pointers.begin(), pointers.end(), is_missing);
  if (missing != pointers.end())
    return hca->tell(HCA_GOLDEN_BAD_INPUT, fmt::format("{}: a null pointer", missing->name));
  try {
    return run(*hca->context);
  } catch (const std::exception& error) {
    return hca->tell(HCA_GOLDEN_BAD_INPUT, error.what());
  }
}
// The same with a frame of the caller's.
template <class Run>
int guard(hca_golden* hca, std::initializer_list<Given> pointers, std::span<const u8> frame,
          const Run& run) {
  return guard(hca, pointers, [&](GoldenContext& c) {
    if (is_missing({"frame", frame.data()}) && !frame.empty())
      return hca->tell(HCA_GOLDEN_BAD_INPUT, "frame: a null pointer");
    std::string wrong = testbench::wrong_frame(u32(frame.size()), HCA_GOLDEN_ETHERNET);
    if (!wrong.empty()) return hca->tell(HCA_GOLDEN_BAD_INPUT, std::move(wrong));
    return run(c, frame);
  });
}
bool no_frame(const uint8_t* frame, uint32_t bytes, uint32_t link) {
  return (!frame && bytes) || !testbench::wrong_frame(bytes, link).empty();
}

proto::LinkLayer link_of(uint32_t link) {
  return link == HCA_GOLDEN_INFINIBAND ? proto::LinkLayer::InfiniBand : proto::LinkLayer::Ethernet;
}
// "bad ICRC (T12-1)" for each verdict.
const auto kVerdicts = [] {
  std::vector<std::string> all;
  for (const proto::VerdictRow& row : proto::verdict_rows())
    all.push_back(row.statement.empty() ? std::string(row.name)
                                        : fmt::format("{} ({})", row.name, row.statement));
  return all;
}();
}  // namespace

extern "C" {
int hca_golden_frame_check(const uint8_t* frame, uint32_t bytes, uint32_t link) {
  if (no_frame(frame, bytes, link)) return HCA_GOLDEN_NO_FRAME;
  proto::ParsedPacket packet;
  return int(proto::check_frame({frame, bytes}, link_of(link), packet));
}
const char* hca_golden_frame_verdict(int verdict) {
  return verdict >= 0 && std::size_t(verdict) < kVerdicts.size()
             ? kVerdicts[std::size_t(verdict)].c_str()
             : "unknown verdict";
}
int hca_golden_frame_field(const uint8_t* frame, uint32_t bytes, uint32_t link, const char* name,
                           uint64_t* value) {
  if (!name || !value || no_frame(frame, bytes, link)) return HCA_GOLDEN_BAD_INPUT;
  const testbench::FieldName which = testbench::field_name(name);
  if (!which.field) return HCA_GOLDEN_BAD_INPUT;
  const proto::Dissection d = proto::dissect({frame, bytes}, link_of(link));
  for (const proto::HeaderPlace& place : d) {
    if (place.header->name != which.header->name) continue;
    *value = proto::get_bits(frame + place.offset, which.field->bit_at, which.field->bits);
    return HCA_GOLDEN_OK;
  }
  return HCA_GOLDEN_NOTHING;
}
int hca_golden_frame_icrc(const uint8_t* frame, uint32_t bytes, uint32_t link, uint32_t* icrc) {
  if (!icrc || no_frame(frame, bytes, link)) return HCA_GOLDEN_BAD_INPUT;
  const proto::Dissection d = proto::dissect({frame, bytes}, link_of(link));
  if (!d.has_icrc) return HCA_GOLDEN_NOTHING;
  *icrc = proto::icrc_of(frame, d.packet);
  return HCA_GOLDEN_OK;
}
hca_golden* hca_golden_open(const char* setup) {
  auto hca = std::make_unique<hca_golden>();
  try {
    if (!setup) throw std::invalid_argument("a null pointer");
    hca->context = std::make_unique<GoldenContext>(setup);
  } catch (const std::exception& error) {
    hca->tell(HCA_GOLDEN_BAD_INPUT, fmt::format("setup: {}", error.what()));
  }
  return hca.release();
}
void hca_golden_close(hca_golden* hca) { delete hca; }
int hca_golden_code(const hca_golden* hca) { return hca ? hca->code : int{HCA_GOLDEN_BAD_INPUT}; }
const char* hca_golden_text(const hca_golden* hca) {
  return hca ? hca->text.c_str() : "hca: a null pointer";
}

int hca_golden_do(hca_golden* hca, const char* step) {
  return guard(hca, {{"step", step}}, [&](GoldenContext& c) {
    c.act(step);
    return hca->tell(HCA_GOLDEN_OK);
  });
}
int hca_golden_explain(hca_golden* hca, uint32_t bytes, uint32_t link, const char* name) {
  return guard(hca, {{"name", name}}, [&](GoldenContext&) {
    std::string wrong = testbench::wrong_frame(bytes, link);
    if (wrong.empty() && *name) wrong = testbench::field_name(name).wrong;
    return wrong.empty() ? hca->tell(HCA_GOLDEN_OK)
                         : hca->tell(HCA_GOLDEN_BAD_INPUT, std::move(wrong));
  });
}
int hca_golden_build(hca_golden* hca, const char* packet, uint8_t* frame, uint32_t* bytes) {
  return guard(hca, {{"packet", packet}, {"frame", frame}, {"bytes", bytes}},
               [&](GoldenContext& c) { return hca->give(c.build(packet), frame, bytes); });
}
int hca_golden_compare(hca_golden* hca, const char* packet, const uint8_t* frame, uint32_t bytes) {
  return guard(
      hca, {{"packet", packet}}, {frame, bytes}, [&](GoldenContext& c, std::span<const u8> found) {
        std::string text;
        for (const auto& d : c.compare(packet, found))
          text += fmt::format("{}{}: expected {}, got {}", text.empty() ? "" : "; ", d.name(),
                              d.expected, d.got);
        return text.empty() ? hca->tell(HCA_GOLDEN_OK) : hca->tell(HCA_GOLDEN_DIFFERS, text);
      });
}
int hca_golden_encode(hca_golden* hca, const char* structure, const char* fields, uint8_t* to,
                      uint32_t* bytes) {
  return guard(hca, {{"structure", structure}, {"fields", fields}, {"to", to}, {"bytes", bytes}},
               [&](GoldenContext& c) { return hca->give(c.encode(structure, fields), to, bytes); });
}
int hca_golden_receive(hca_golden* hca, uint32_t port, const uint8_t* frame, uint32_t bytes) {
  return guard(hca, {}, {frame, bytes}, [&](GoldenContext& c, std::span<const u8> arrived) {
    return hca->give(c.receive(arrived, port));
  });
}
int hca_golden_sent(hca_golden* hca, uint8_t* frame, uint32_t* bytes) {
  return guard(hca, {{"frame", frame}, {"bytes", bytes}}, [&](GoldenContext& c) {
    const std::optional<Frame> sent = c.sent();
    return sent ? hca->give(*sent, frame, bytes) : hca->tell(HCA_GOLDEN_NOTHING);
  });
}
int hca_golden_completion(hca_golden* hca) {
  return guard(hca, {}, [&](GoldenContext& c) { return hca->give(c.completion()); });
}
int hca_golden_event(hca_golden* hca) {
  return guard(hca, {}, [&](GoldenContext& c) { return hca->give(c.event()); });
}
int hca_golden_query(hca_golden* hca, const char* qp, const char* field, uint64_t* value) {
  return guard(hca, {{"qp", qp}, {"field", field}, {"value", value}}, [&](GoldenContext& c) {
    *value = c.query(qp, field);
    return hca->tell(HCA_GOLDEN_OK);
  });
}
int hca_golden_drops(hca_golden* hca, uint32_t port, const char* counter, uint64_t* value) {
  return guard(hca, {{"counter", counter}, {"value", value}}, [&](GoldenContext& c) {
    *value = c.drops(port, counter);
    return hca->tell(HCA_GOLDEN_OK);
  });
}
int hca_golden_memory(hca_golden* hca, const char* region, uint64_t at, uint32_t count,
                      uint8_t* to) {
  return guard(hca, {{"region", region}, {"to", to}}, [&](GoldenContext& c) {
    if (count > HCA_GOLDEN_FRAME_BYTES)
      return hca->tell(HCA_GOLDEN_BAD_INPUT, testbench::wrong_frame(count, HCA_GOLDEN_ETHERNET));
    const std::vector<u8> found = c.memory(region, at, count);
    std::copy(found.begin(), found.end(), to);
    return hca->tell(HCA_GOLDEN_OK);
  });
}
}  // extern "C"
