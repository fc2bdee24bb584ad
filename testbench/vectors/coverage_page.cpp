// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "testbench/vectors/coverage.h"

namespace hca::testbench {
namespace {
std::string html_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : std::string(1, c);
  return out;
}

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Statements and vectors</title>
<style>
:root { color-scheme: light dark }
body { font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .25rem .6rem;
 border-bottom: 1px solid #8884 } th { position: sticky; top: 0; background: Canvas }
.passing { color: #18794e } .none { color: #8a8a8a } .failing, .survived { color: #cd2b31; font-weight: 600 }
.other { color: #ad5700 } small { opacity: .75 } input { font: inherit; padding: .3rem .5rem; width: 18rem }
@media (prefers-color-scheme: dark) { .passing { color: #4cc38a } .failing, .survived { color: #ff6369 } .other { color: #ffa057 } }
</style>
)";
constexpr const char* kScript = R"(<script>
const rows = [...document.querySelectorAll('tbody tr')], box = document.querySelector('input')
box.addEventListener('input', () => { const t = box.value.toLowerCase()
  for (const r of rows) r.hidden = !r.textContent.toLowerCase().includes(t) })
</script>
)";

std::string_view style_of(Verdict verdict) {
  return verdict == Verdict::NoMutant || verdict == Verdict::UnknownMutant ||
                 verdict == Verdict::NotTried
             ? "other"
             : name_of(verdict);
}

// The mistakes of a statement, each with its verdict and the vectors that noticed it.
std::string mutants_of(const CoverageRow& row) {
  std::string cell;
  for (const MutantRow& m : row.mutants) {
    std::vector<std::string> vectors;
    for (const auto& [vector, unused] : m.noticed) vectors.push_back(vector);
    cell +=
        fmt::format("{}{}<br><small>{}{}{}; {}</small>", cell.empty() ? "" : "<br>",
                    html_escaped(m.name), name_of(m.verdict), vectors.empty() ? "" : " by ",
                    html_escaped(fmt::format("{}", fmt::join(vectors, ", "))), html_escaped(m.how));
  }
  return cell;
}
// "IBTA C9-142, C9-143; ": if they are others than its id.
std::string ibta_of(const Statement& s) {
  if (s.ibta.empty() || s.ibta == s.id) return "";
  return html_escaped(fmt::format("IBTA {}; ", fmt::join(s.ibta_numbers, ", ")));
}
}  // namespace

std::string html_of(const Coverage& coverage) {
  std::string page = kHead;
  page += fmt::format(
      "<h1>Statements and vectors</h1>\n<p>{} of {} rows are active statements of an HCA ({} "
      "are of TCAs alone, {} obsolete), {} shown by a vector that passes "
      "on all "
      "models, with one that fails under each of the statement's mistakes; {} mistakes tried, {} "
      "noticed.</p>\n"
      "<p><input placeholder=\"filter: id, verdict, word\" "
      "aria-label=\"filter\"></p>\n<table><thead><tr>"
      "<th>statement<th>verdict<th>what it says<th>vectors<th>mistakes</tr></thead><tbody>\n",
      coverage.rows.size(), coverage.listed, coverage.of_tcas, coverage.obsolete,
      coverage.count(Verdict::Passing), coverage.mutants, coverage.killed);
  for (const CoverageRow& row : coverage.rows)
    page += fmt::format(
        "<tr><td>{}<br><small>{}{} {}</small><td "
        "class=\"{}\">{}<td>{}<td>{}<td>{}</tr>\n",
        html_escaped(row.statement.id), ibta_of(row.statement), html_escaped(row.statement.section),
        html_escaped(row.statement.services), style_of(row.verdict), name_of(row.verdict),
        html_escaped(row.statement.text),
        row.verdict == Verdict::None
            ? html_escaped(row.how)
            : html_escaped(fmt::format("{}", fmt::join(row.vectors, ", "))),
        mutants_of(row));
  return page + "</tbody></table>\n" + kScript + "</html>\n";
}
}  // namespace hca::testbench
