// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/chip_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "tools/profile/report/finding/finding.h"
#include "tools/profile/report/page/escape.h"
#include "tools/profile/report/page/roofline.h"
#include "tools/profile/report/page/share.h"

namespace npu::profile {
namespace {

constexpr size_t kTypes = 16;

std::string milliseconds_of(double microseconds) { return fmt::format("{:.3f}", microseconds / 1e3); }

/// "1.234 cube"; a plus says that more would have to be added, which could not be modelled.
std::string time_words(const Line& line, const Cell& cell, double divisor) {
  if (cell.left == line.count) return "no number";
  return fmt::format("{}{} {}", milliseconds_of(cell.time / divisor), cell.left > 0 ? "+" : "", words_of(cell.bound()));
}

std::vector<std::string> row_of(const Line& line, const std::string& name, double divisor = 1) {
  std::vector<std::string> row{name, fmt::format("{:.0f}", static_cast<double>(line.count) / divisor),
                               milliseconds_of(static_cast<double>(line.measured) / 1e3 / divisor)};
  for (const Cell& cell : line.cells) row.push_back(time_words(line, cell, divisor));
  return row;
}

std::vector<std::string> head_of(const Modelled& model, std::string_view what) {
  std::vector<std::string> head{std::string(what), "count", "here ms"};
  for (const Chip& chip : model.chips) head.push_back(chip.name() + " ms");
  return head;
}

Grid grid_of(const Modelled& model, std::string_view what, const std::vector<Line>& lines, size_t most) {
  Grid grid{std::string(what), head_of(model, what), {}};
  for (const Line& line : lines | std::views::take(most)) grid.rows.push_back(row_of(line, line.name));
  if (lines.size() > most) grid.rows.push_back({fmt::format("... and {} more", lines.size() - most)});
  return grid;
}

/// How much of each chip's time is bound by what.
Grid bounds_of(const Modelled& model) {
  Grid grid{"bound by", {"chip", "all ms", "cube", "vector", "memory", "link", "launch"}, {}};
  for (size_t i = 0; i < model.chips.size() && i < model.total.cells.size(); ++i) {
    const Cell& cell = model.total.cells[i];
    grid.rows.push_back({model.chips[i].name(), milliseconds_of(cell.time)});
    for (const double part : cell.by_bound) grid.rows.back().push_back(percent(cell.time > 0 ? part / cell.time : 0));
  }
  return grid;
}

void add_figures(const Chip& chip, std::vector<std::string>& out) {
  std::vector<std::string> words;
  for (const Figure& one : chip.figures())
    words.push_back(fmt::format("{} {} {} ({})", words_of(one.quantity), one.value, one.unit,
                                std::string_view(one.kind).substr(0, std::string_view(one.kind).find(' '))));
  out.push_back(fmt::format("{}: {}", chip.name(), fmt::join(words, ", ")));
}

/// What the model supposes of any run, and its numbers.
void add_general(const Modelled& model, std::vector<std::string>& out) {
  out.insert(out.end(),
             {"an operator takes the longest of its cube, vector and memory time, and its launch before it; "
              "streams are summed each by itself",
              "each tensor is read or written once from memory, from L2 where it fits and a number of L2 is public",
              "an element-wise operator or a reduction touches each element once; masks of attention save nothing",
              "copies from and to the host, and the host itself, are not modelled; all ranks are in one node"});
  for (const Chip& chip : model.chips) add_figures(chip, out);
  out.emplace_back("sources of these numbers: tools/profile/report/model/soc.tsv; how far off it is: docs/profile.md");
}

void add_left_out(const Modelled& model, std::vector<std::string>& out) {
  for (const auto& [type, count] : model.untold)
    out.push_back(fmt::format("{} of {}: its operations cannot be told from its shapes, so bytes alone are counted",
                              counted(count, "operator"), type));
  for (const auto& [reason, count] : model.left)
    out.push_back(fmt::format("left out of {}, {}", reason, counted(count, "operator")));
}

void add_grids(const Modelled& model, ChipSection& section) {
  section.grids.push_back(grid_of(model, "type", model.types, kTypes));
  Grid streams = grid_of(model, "stream", model.streams, model.streams.size());
  streams.rows.push_back(row_of(model.total, "all streams"));
  section.grids.push_back(std::move(streams));
  if (model.step_count > 0) {
    const auto steps = static_cast<double>(model.step_count);
    const std::string name = fmt::format("each of {}, on average", counted(model.step_count, "step"));
    section.grids.push_back({"step", head_of(model, "step"), {row_of(model.steps, name, steps)}});
  }
  section.grids.push_back(bounds_of(model));
}

std::string cell_of(const std::vector<std::string>& row, size_t i) {
  return i == 0 ? fmt::format("  {:<36}", row[i]) : fmt::format(" {:>{}}", row[i], i < 3 ? 12 : 19);
}

std::string line_of(const std::vector<std::string>& row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) line += cell_of(row, i);
  return line + '\n';
}

std::string html_row(const std::vector<std::string>& row, std::string_view tag) {
  std::string line = "<tr>";
  for (const std::string& cell : row) line += fmt::format("<{}>{}</{}>", tag, escaped(cell), tag);
  return line + "</tr>\n";
}

std::string html_list(const std::vector<std::string>& all) {
  std::string out = "<ul class=\"small\">\n";
  for (const std::string& one : all) out += "<li>" + escaped(one) + "</li>\n";
  return out + "</ul>\n";
}

}  // namespace

ChipSection chip_section(const Modelled& model, bool is_last) {
  ChipSection section{fmt::format("CHIP TIME of {}: modelled, not measured", model.facts->name), model.refused, {}, {}};
  if (!model.has_shapes)
    section.refusals = {
        "no model: the records have no shapes; collect with task_time l1 (Level1), as anynpu profile does"};
  if (!model.has_shapes || model.chips.empty()) return section;
  add_grids(model, section);
  add_left_out(model, section.assumptions);
  if (is_last) add_general(model, section.assumptions);
  return section;
}

std::string text_of(const ChipSection& section) {
  std::string out = "\n" + section.title + "\n";
  for (const std::string& one : section.refusals) out += "  " + one + "\n";
  for (const Grid& grid : section.grids) {
    out += line_of(grid.head);
    for (const auto& row : grid.rows) out += line_of(row);
  }
  if (!section.assumptions.empty()) out += "  supposed:\n";
  for (const std::string& one : section.assumptions) out += "  - " + one + "\n";
  return out;
}

std::string html_of(const ChipSection& section) {
  std::string out = fmt::format("<h2>{}</h2>\n", escaped(section.title));
  for (const std::string& one : section.refusals) out += "<p>" + escaped(one) + "</p>\n";
  for (const Grid& grid : section.grids) {
    out += "<table>" + html_row(grid.head, "th");
    for (const auto& row : grid.rows) out += html_row(row, "td");
    out += "</table>\n";
  }
  return section.assumptions.empty() ? out : out + "<p>Supposed:</p>\n" + html_list(section.assumptions);
}

std::string chip_text(const std::vector<Modelled>& models) {
  std::string out;
  for (const Modelled& model : models) out += text_of(chip_section(model, &model == &models.back()));
  return out;
}

std::string chip_html(const std::vector<Modelled>& models) {
  std::string out;
  for (const Modelled& model : models)
    out += html_of(chip_section(model, &model == &models.back())) + rooflines_of(model);
  return out;
}

}  // namespace npu::profile
