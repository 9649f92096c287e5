// SPDX-License-Identifier: Apache-2.0
// The model against published times of operators: how far off it is, group by group (docs/profile.md has the table).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/split.h"
#include "tools/profile/report/fact/recorded_fixture.h"
#include "tools/profile/report/model/chip_time.h"

namespace npu::profile {
namespace {

struct Published {
  std::string group, type, inputs, outputs, dtype, soc, use, why;
  double measured = 0;
};

/// Where medians have to be. Of other groups the model says less: what it says is printed.
struct Band {
  const char* group;
  double least, most;
};
constexpr Band kBands[] = {{"large matmul", 0.85, 1.15}, {"element-wise", 0.8, 1.4}, {"collective", 0.8, 1.25}};

std::vector<Published> published() {
  std::ifstream file("tools/profile/report/model/published.tsv");
  std::vector<Published> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    for (const std::string_view cell : split(line, "\t")) cells.emplace_back(cell);
    if (cells.size() != 10) throw std::runtime_error("not ten cells: " + line);
    rows.push_back({cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[7], cells[9],
                    std::strtod(cells[6].c_str(), nullptr)});
  }
  return rows;
}

/// As a record describes tensors of one type; the statistics of a softmax are of float32.
std::string described(const std::string& shapes, const std::string& type) {
  std::string types;
  for (const std::string_view shape : split(shapes, ";"))
    types += fmt::format("{}{}", types.empty() ? "" : ";", shape.ends_with(",8") ? "FLOAT" : type);
  return fmt::format("{}|{}|", shapes, types);
}

Unit unit_of(const std::string& type) {
  if (type.starts_with("Hcom")) return Unit::kCollective;
  if (type.find("Attention") != std::string::npos) return Unit::kMixed;
  return type.find("MatMul") != std::string::npos || type.find("Matmul") != std::string::npos ? Unit::kCube
                                                                                              : Unit::kVector;
}

/// "likewise, 8 ranks"; 0 where there are none.
double ranks_of(const std::string& why) {
  const size_t end = why.find(" ranks"), begin = why.rfind(' ', end - 1);
  return end == std::string::npos ? 0 : std::strtod(why.c_str() + begin, nullptr);
}

/// Modelled time over measured time.
double ratio_of(const Published& row) {
  Recorded run;
  TaskRecord& task = run.task(row.type, 0, 1, 0, unit_of(row.type));
  task.inputs = run.text(described(row.inputs, row.dtype)), task.outputs = run.text(described(row.outputs, row.dtype));
  for (const uint32_t text : {task.inputs, task.outputs})
    for (const Listed& one : listed(run.trace.text(text)))
      task.bytes += static_cast<uint64_t>(one.count() * width_of(one.type));
  if (unit_of(row.type) == Unit::kCollective) task.bytes = static_cast<uint64_t>(std::atoll(row.inputs.c_str()));
  const Estimate made = estimate(Chip(row.soc), work_of(run.trace, task, ranks_of(row.why)));
  EXPECT_EQ(made.missing, "") << row.type << ' ' << row.inputs << ' ' << row.soc;
  return made.time() / row.measured;
}

double at(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const double next = sorted[std::min(below + 1, sorted.size() - 1)];
  return sorted[below] + (place - static_cast<double>(below)) * (next - sorted[below]);
}

TEST(Published, ModelledTimesStandBesideMeasuredOnes) {
  std::map<std::string, std::vector<double>> ratios;
  for (const Published& row : published())
    if (row.use == "check")
      ratios[row.group + (row.soc == "Ascend910A" ? ", Ascend910A" : "")].push_back(ratio_of(row));
  fmt::print("{:<26} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "modelled / measured", "rows", "least", "quarter",
             "median", "quarter", "most");
  for (auto& [group, some] : ratios) {
    std::ranges::sort(some);
    fmt::print("{:<26} {:>5} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.2f}\n", group, some.size(), some.front(),
               at(some, 0.25), at(some, 0.5), at(some, 0.75), some.back());
  }
  for (const Band& band : kBands) {
    const std::vector<double>& some = ratios[band.group];
    ASSERT_GE(some.size(), 3u) << band.group;
    EXPECT_GT(at(some, 0.5), band.least) << band.group;
    EXPECT_LT(at(some, 0.5), band.most) << band.group;
  }
}

TEST(Published, FactorsComeFromOtherRows) {
  std::map<std::string, size_t> count;
  for (const Published& row : published()) ++count[row.use];
  EXPECT_EQ(count.size(), 2u);
  EXPECT_EQ(count["factor"], 11u);  // six products, two streams, three collectives
}

}  // namespace
}  // namespace npu::profile
