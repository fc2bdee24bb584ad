// SPDX-License-Identifier: Apache-2.0
#include "testbench/vectors/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "testbench/host/functional_device.h"
#include "testbench/vectors/host.h"

namespace hca::testbench {
namespace {
// The frames that pass while a vector runs. A runner is a plain function, so this is a global
// object.
struct Tape {
  std::vector<ExportedFrame>* frames = nullptr;
  std::string where;

  // "steps[3].sent": 3.
  std::size_t step() const {
    constexpr std::string_view kSteps = "steps[";
    std::size_t number = 0;
    if (const std::size_t at = where.find(kSteps); at != where.npos)
      std::from_chars(where.data() + at + kSteps.size(), where.data() + where.size(), number);
    return number;
  }
  void add(bool is_sent, u32 port, u64 now, std::span<const u8> bytes) const {
    const u64 earliest = frames->empty() ? 0 : frames->back().time_ns + 1;
    frames->push_back(
        {is_sent, port, std::max(now, earliest), step(), {bytes.begin(), bytes.end()}});
  }
};
Tape* tape = nullptr;

class TapedDevice : public FunctionalDevice {
 public:
  using FunctionalDevice::FunctionalDevice;
  void inject(std::span<const u8> frame, u32 port) override {
    tape->add(false, port, now(), frame);
    FunctionalDevice::inject(frame, port);
  }
  std::vector<Frame> take_frames() override {
    const std::vector<u32> ports = sent_ports();
    std::vector<Frame> frames = FunctionalDevice::take_frames();
    for (std::size_t i = 0; i < frames.size(); ++i) tape->add(true, ports[i], now(), frames[i]);
    return frames;
  }
};
std::unique_ptr<ReplayDevice> make_taped_device(const DeviceOptions& options) {
  return std::make_unique<TapedDevice>(options);
}

const nlohmann::json kNoExportedSetup = nlohmann::json::object();
JsonAt setup_of(const Vector& vector) {
  const JsonAt top(vector.document);
  return top.has("setup") ? top["setup"] : JsonAt(kNoExportedSetup, "setup");
}
std::string hex_digits(std::span<const u8> bytes) {
  std::string text;
  for (const u8 byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

nlohmann::json objects_of(const SetupPlan& plan) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [name, qp] : plan.qps)
    json["qps"][name] = {{"qpn", qp.qpn},
                         {"peer", qp.peer.peer_qpn},
                         {"service", name_of(qp.init.service)},
                         {"pkey", qp.peer.pkey},
                         {"rq_psn", qp.attributes.rq_psn},
                         {"sq_psn", qp.attributes.sq_psn},
                         {"path_mtu", qp.attributes.path_mtu}};
  for (const auto& [name, region] : plan.regions)
    json["regions"][name] = {{"va", region.place.va},
                             {"bytes", region.place.bytes},
                             {"physical", region.place.physical},
                             {"key", region.attributes.key},
                             {"access", region.attributes.access},
                             {"seed", region.seed},
                             {"registered", region.is_registered}};
  for (const auto& [name, window] : plan.windows) json["windows"][name] = {{"key", window.key}};
  for (const auto& [name, cq] : plan.cqs)
    json["cqs"][name] = {{"number", cq.number}, {"entries", cq.entries}};
  for (const auto& [name, srq] : plan.srqs) json["srqs"][name] = {{"number", srq.number}};
  return json;
}

std::string verb_in(const nlohmann::json& step) {
  for (const auto& [name, unused] : step.items())
    if (name != "note") return name;
  return "";
}
}  // namespace

std::size_t ExportedVector::sent() const {
  return std::size_t(std::count_if(frames.begin(), frames.end(),
                                   [](const ExportedFrame& f) { return f.is_sent; }));
}

ExportedVector export_vector(const Vector& vector) {
  ExportedVector exported{&vector, options_of(setup_of(vector)).link, {}};
  Tape here{&exported.frames, {}};
  tape = &here;
  const VectorResult result = run_vector(vector, {"functional", make_taped_device}, here.where);
  tape = nullptr;
  if (result.failure)
    throw std::runtime_error(
        fmt::format("{}: {}: {}", vector.path, result.failure->where, result.failure->what));
  return exported;
}

nlohmann::json json_of(const ExportedVector& exported) {
  const Vector& v = *exported.vector;
  nlohmann::json json{
      {"export", "hca-vector-export-1"},
      {"vector", v.name},
      {"for", v.statements},
      {"ibta", v.ibta},
      {"says", v.says},
      {"because", v.because},
      {"link", exported.link == proto::LinkLayer::Ethernet ? "Ethernet" : "InfiniBand"},
      {"setup", setup_of(v).value()},
      {"objects", objects_of(SetupPlan(setup_of(v)))},
      {"steps", nlohmann::json::array()}};
  std::size_t number = 0;
  for (const auto& step : v.document["steps"]) {
    const std::string verb = verb_in(step);
    nlohmann::json made{
        {"step", number}, {"verb", verb}, {"do", step[verb]}, {"frames", nlohmann::json::array()}};
    if (step.contains("note")) made["note"] = step["note"];
    for (const ExportedFrame& f : exported.frames)
      if (f.step == number)
        made["frames"].push_back({{"direction", f.is_sent ? "out" : "in"},
                                  {"port", f.port},
                                  {"time_ns", f.time_ns},
                                  {"hex", hex_digits(f.bytes)}});
    json["steps"].push_back(std::move(made));
    ++number;
  }
  return json;
}
}  // namespace hca::testbench
