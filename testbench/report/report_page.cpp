// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/report_page.h"

#include <fmt/chrono.h>

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "testbench/text/rounded.h"
#include "testbench/text/text_file.h"

namespace hca::testbench {
namespace {
using nlohmann::json;
constexpr double kShareToShow = 0.0005;

void round_numbers(json& data) {
  if (data.is_number_float())
    data = rounded(data.get<double>());
  else if (data.is_structured())
    for (json& part : data) round_numbers(part);
}
void leave_out_small(json& list) {
  json kept = json::array();
  for (json& one : list)
    if (one.at("share").get<double>() >= kShareToShow) kept.push_back(std::move(one));
  list = std::move(kept);
}
json list_of_step(const json& step) {
  json list = json::array();
  for (const char* key : {"step", "count", "mean_ns", "p50_ns", "p99_ns", "max_ns", "share"})
    list.push_back(step.at(key));
  return list;
}
}  // namespace

json slim(json run) {
  for (json& phase : run.at("recording").at("phases")) {
    for (const char* list : {"resources", "blocks", "stalls"}) leave_out_small(phase.at(list));
    for (json& step : phase.at("times").at("steps")) step = list_of_step(step);
  }
  round_numbers(run.at("recording").at("phases"));
  return run;
}

nlohmann::json origin_of_page() {
  return {{"version", HCA_VERSION},
          {"written", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))}};
}

std::string page_with(std::string_view page, std::string_view data) {
  constexpr std::string_view kPlace = "@DATA@";
  const std::size_t at = page.find(kPlace);
  if (at == page.npos) throw std::runtime_error("the page has no place for its data");
  std::string text(page.substr(0, at));
  for (const char c : data)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text.append(page.substr(at + kPlace.size()));
}

void write_page(const std::string& path, std::string_view page, std::string_view data) {
  if (!page.empty()) return write_text_file(path, page_with(page, data));
  std::fprintf(stderr, "%s is not written: this program was built without the page\n",
               path.c_str());
}
}  // namespace hca::testbench
