// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "tools/profile/report/page/escape.h"

namespace npu::profile {
namespace {

constexpr double kLeft = 60, kTop = 20, kWidth = 640, kHeight = 300, kLabelWidth = 110, kLabelHeight = 13;

/// An axis by powers of ten, along `length` from `begin`; a negative length goes upwards.
struct Axis {
  double low, high, begin, length;
  double at(double value) const {
    const double place = (std::log10(std::max(value, 1e-30)) - low) / (high - low);
    return begin + std::clamp(place, 0.0, 1.0) * length;
  }
};

struct Point {
  const Line* line;
  double intensity, rate, share;
};

double operations_of(const Line& line) { return line.cube + line.vector; }

std::vector<Point> points_of(const Modelled& model, size_t chip) {
  std::vector<Point> points;
  for (const Line& line : model.types) {
    const Cell& cell = line.cells.at(chip);
    if (operations_of(line) <= 0 || line.bytes <= 0 || cell.time <= 0 || cell.left > 0) continue;
    points.push_back({&line, operations_of(line) / line.bytes, operations_of(line) / cell.time * 1e6,
                      cell.time / std::max(model.total.cells.at(chip).time, 1e-9)});
  }
  std::ranges::stable_sort(points, std::greater<>(), &Point::share);  // whose names are written first
  return points;
}

class Picture {
 public:
  Picture(const Chip& chip, const std::vector<Point>& points) : chip_(chip), x_(across(points)), y_(upwards(points)) {
    out_ =
        fmt::format("<svg viewBox=\"0 0 760 370\" role=\"img\" aria-label=\"roofline of {}\">\n", escaped(chip.name()));
    grid();
    roof("cube, float16", cube_rate(chip, "FLOAT16"));
    roof("cube, bfloat16", cube_rate(chip, "DT_BF16"));
    roof("cube, float32", cube_rate(chip, "FLOAT"));
    roof("vector, float32", *chip.value("vector_fp32") * 1e12 / 2);
    for (const Point& one : points) point(one);
  }
  std::string text() && { return std::move(out_) + "</svg>\n"; }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Values>(values)...);
  }
  static Axis across(const std::vector<Point>& points) {
    double low = 0.1, high = 1e4;
    for (const Point& one : points) low = std::min(low, one.intensity), high = std::max(high, one.intensity);
    return {std::floor(std::log10(low)), std::ceil(std::log10(high)), kLeft, kWidth};
  }
  static Axis upwards(const std::vector<Point>& points) {
    double low = 1e9;
    for (const Point& one : points) low = std::min(low, one.rate);
    return {std::floor(std::log10(low)), 15, kTop + kHeight, -kHeight};
  }

  void grid() {
    for (double power = x_.low; power <= x_.high; ++power)
      add("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text x=\"{0:.1f}\" y=\"{3}\" "
          "text-anchor=\"middle\">{4:g}</text>\n",
          x_.at(std::pow(10, power)), kTop, kTop + kHeight, kTop + kHeight + 16, std::pow(10, power));
    for (double power = y_.low; power <= y_.high; ++power)
      add("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/><text x=\"{3}\" y=\"{4:.1f}\" "
          "text-anchor=\"end\">{5:g}</text>\n",
          kLeft, kLeft + kWidth, y_.at(std::pow(10, power)), kLeft - 6, y_.at(std::pow(10, power)) + 4,
          std::pow(10, power - 12));
    add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">operations a byte</text>\n<text x=\"4\" y=\"12\">TFLOPS, "
        "modelled, "
        "not measured: {}</text>\n",
        kLeft + kWidth, kTop + kHeight + 34, escaped(chip_.name()));
  }
  /// What its memory feeds, up to a rate.
  void roof(std::string_view name, std::optional<double> rate) {
    if (!rate) return;
    const double bytes = *chip_.value("memory") * *chip_.value("share_memory") * 1e9, start = std::pow(10, x_.low);
    add("<polyline class=\"roof\" points=\"{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}\"/>", x_.at(start),
        y_.at(start * bytes), x_.at(*rate / bytes), y_.at(*rate), kLeft + kWidth, y_.at(*rate));
    double x = kLeft + kWidth - kLabelWidth;
    while (!is_free(x, y_.at(*rate) - 3)) x -= kLabelWidth;  // roofs of like rates: their names side by side
    label(x, y_.at(*rate) - 3, name);
  }
  void point(const Point& one) {
    add("<circle class=\"point\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"><title>{}: {:.3g} operations a byte, {:.3g} "
        "TFLOPS, {:.1f} % of the time</title></circle>\n",
        x_.at(one.intensity), y_.at(one.rate), 3 + 12 * std::sqrt(std::min(one.share, 1.0)), escaped(one.line->name),
        one.intensity, one.rate / 1e12, 100 * one.share);
    label(x_.at(one.intensity) + 8, y_.at(one.rate) + 12, escaped(one.line->name));
  }

  bool is_free(double x, double y) const {
    return std::ranges::none_of(labels_, [&](const std::pair<double, double>& other) {
      return std::abs(other.first - x) < kLabelWidth && std::abs(other.second - y) < kLabelHeight;
    });
  }
  /// Left out where another one is.
  void label(double x, double y, std::string_view text) {
    if (!is_free(x, y)) return;
    labels_.emplace_back(x, y);
    add("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x, y, text);
  }

  const Chip& chip_;
  Axis x_, y_;
  std::vector<std::pair<double, double>> labels_;
  std::string out_;
};

}  // namespace

std::string rooflines_of(const Modelled& model) {
  std::string out;
  for (size_t i = 0; i < model.chips.size(); ++i)
    if (const std::vector<Point> points = points_of(model, i); !points.empty())
      out += Picture(model.chips[i], points).text();
  return out;
}

}  // namespace npu::profile
