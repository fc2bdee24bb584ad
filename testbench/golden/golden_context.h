// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "testbench/host/functional_device.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
// The device and the host of an hca_golden. A refusal throws std::runtime_error with the message.
class GoldenContext {
 public:
  explicit GoldenContext(const std::string& setup);

  void act(const std::string& step);
  Frame build(const std::string& packet);
  std::vector<FieldDifference> compare(const std::string& packet, std::span<const u8> frame);
  std::vector<u8> encode(const std::string& structure, const std::string& fields) const;
  // The result for the frame, as JSON.
  std::string receive(std::span<const u8> frame, u32 port);
  std::optional<Frame> sent();
  std::optional<std::string> completion();  // JSON
  std::optional<std::string> event();       // JSON
  u64 query(const std::string& qp, const std::string& field);
  u64 drops(u32 port, const std::string& counter);
  std::vector<u8> memory(const std::string& region, u64 at, u32 count);

 private:
  // The document must outlive the JsonAt objects that refer to it.
  struct Text {
    nlohmann::json document;
    JsonAt at() const { return JsonAt(document); }
  };
  static Text text_of(const std::string& json) { return {parse_json(json)}; }

  Text setup_;
  std::vector<proto::RequestVerdict> judged_;  // by the last frame
  FunctionalDevice device_;
  VectorHost host_;
  u32 ports_;
  std::deque<Frame> sent_;
  std::deque<QueueCompletion> completions_;
};
}  // namespace hca::testbench
