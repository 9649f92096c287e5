// SPDX-License-Identifier: Apache-2.0
// One page without a network: the operators around the first one that is to blame, drawn; a cloud of its elements (mine
// over golden), histograms of both sides and its channels; and a list of all, each with the colour of its error.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/compare/page/html.h"

namespace npu::compare {
namespace {

constexpr uint64_t kPoints = 2000;  // of a cloud
constexpr size_t kBins = 40, kChannels = 64;
constexpr double kWide = 360, kHigh = 240;

constexpr std::string_view kHead =
    "<!doctype html>\n<meta charset=\"utf-8\"><title>anynpu compare</title>\n<style>body{font:14px "
    "sans-serif;margin:2em}"
    "pre{background:#f4f4f4;padding:1em;white-space:pre-wrap}svg{border:1px solid #ccc;margin:4px}"
    "table{border-collapse:collapse}td,th{padding:2px 8px;text-align:left;border-bottom:1px solid #eee}"
    ".c{width:1.2em}</style>\n<h1>anynpu compare</h1>\n";

std::string list(const Account& a) {
  std::string text =
      "<h2>Operators, in the order in which they ran</h2>\n<table><tr><th><th>operator<th>type<th>verdict"
      "<th>error of the largest<th>reads\n";
  for (const Finding& finding : a.verdict.findings) {
    const Operator& op = a.mine.operators[finding.op];
    if (!op.ran) continue;
    const Deviation* d = worst_of(finding);
    std::string makers;
    for (const Port& input : op.inputs)
      if (!input.maker.empty()) makers += (makers.empty() ? "" : ", ") + input.maker;
    text += fmt::format("<tr id=\"o{}\"><td class=c style=\"background:{}\"><td>{}<td>{}<td>{}<td>{}<td>{}\n",
                        finding.op, colour(d), escaped(op.name), escaped(op.type), word_of(finding.standing),
                        d == nullptr ? "" : fmt::format("{:.3g}", d->relative()), escaped(makers));
  }
  return text + "</table>\n";
}

struct Range {
  double low = INFINITY, high = -INFINITY;
  void add(float value) {
    if (std::isfinite(value)) low = std::min<double>(low, value), high = std::max<double>(high, value);
  }
  double share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

/// What one channel, the last axis, is off by.
struct Channel {
  double apart = 0, mine = 0, golden = 0;
  uint64_t count = 0;
};

class Picture {
 public:
  Picture(const Port& mine, const Port& golden, const Deviation& d)
      : mine_(mine), golden_(golden), d_(d), channels_(d.shape.empty() ? 1 : std::max<uint64_t>(1, d.shape.back())) {
    each_pair(mine, golden, [&](float a, float b, uint64_t at) { range_.add(a), range_.add(b), add(a, b, at); });
  }

  std::string text() const { return cloud() + histogram() + table(); }

 private:
  void add(float a, float b, uint64_t at) {
    Channel& channel = channels_[at % channels_.size()];
    const double apart = std::fabs(static_cast<double>(a) - b);
    channel.apart = std::isfinite(apart) ? std::max(channel.apart, apart) : INFINITY;
    channel.mine += a, channel.golden += b, ++channel.count;
  }

  std::string cloud() const {
    std::string text = fmt::format(
        "<h3>Mine (up) over golden (right), {:.4g} .. {:.4g}</h3><svg width={} height={}>"
        "<line x1=0 y1={} x2={} y2=0 stroke=#999 />",
        range_.low, range_.high, kWide, kHigh, kHigh, kWide);
    const uint64_t step = std::max<uint64_t>(1, d_.count / kPoints);
    each_pair(mine_, golden_, [&](float a, float b, uint64_t at) {
      if (at % step == 0 && std::isfinite(a) && std::isfinite(b))
        text += fmt::format("<circle cx={:.1f} cy={:.1f} r=1.5 fill=#c33 />", range_.share(b) * kWide,
                            (1 - range_.share(a)) * kHigh);
    });
    return text + "</svg>\n";
  }

  std::string histogram() const {
    std::array<std::array<uint64_t, kBins>, 2> bins{};
    const auto bin = [&](float v) {
      return std::min(kBins - 1, static_cast<size_t>(range_.share(v) * static_cast<double>(kBins)));
    };
    each_pair(mine_, golden_, [&](float a, float b, uint64_t) {
      if (std::isfinite(a)) ++bins[0][bin(a)];
      if (std::isfinite(b)) ++bins[1][bin(b)];
    });
    return bars(bins[0], "Mine", "#c33") + bars(bins[1], "Golden", "#36c");
  }

  static std::string bars(const std::array<uint64_t, kBins>& bins, std::string_view name, std::string_view colour) {
    const double most = static_cast<double>(std::max<uint64_t>(1, *std::ranges::max_element(bins)));
    std::string text = fmt::format("<h3>{}</h3><svg width={} height={}>", name, kWide, kHigh / 2);
    for (size_t i = 0; i < kBins; ++i) {
      const double high = static_cast<double>(bins[i]) / most * kHigh / 2, wide = kWide / kBins;
      text += fmt::format("<rect x={:.1f} y={:.1f} width={:.1f} height={:.1f} fill={} />",
                          static_cast<double>(i) * wide, kHigh / 2 - high, wide - 1, high, colour);
    }
    return text + "</svg>\n";
  }

  std::string table() const {
    std::vector<size_t> order(channels_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return channels_[i].apart; });
    std::string text =
        "<h3>Channels (the last axis), the worst first</h3><table><tr><th>channel<th>apart<th>mean<th>mean "
        "of the golden\n";
    for (size_t k = 0; k < std::min(kChannels, order.size()); ++k) {
      const Channel& c = channels_[order[k]];
      const double n = static_cast<double>(std::max<uint64_t>(1, c.count));
      text += fmt::format("<tr><td>{}<td>{:.4g}<td>{:.6g}<td>{:.6g}\n", order[k], c.apart, c.mine / n, c.golden / n);
    }
    return text + "</table>\n";
  }

  const Port &mine_, &golden_;
  const Deviation& d_;
  Range range_;
  std::vector<Channel> channels_;
};

std::string first_cause(const Account& a) {
  if (a.verdict.causes.empty()) return "";
  const Finding& finding = a.verdict.findings[a.verdict.causes[0]];
  const Deviation* d = finding.seen();
  if (d == nullptr) return "";
  const Operator& op = a.mine.operators[finding.op];
  const bool input = finding.standing == Standing::kReadsOther;
  const Port& port = (input ? op.inputs : op.outputs)[finding.worst];
  const Port& golden = *(input ? a.pairing.inputs : a.pairing.outputs)[finding.op][finding.worst];
  return fmt::format("<h2>{}, {}</h2>\n", escaped(op.name), escaped(port.label)) + Picture(port, golden, *d).text();
}

}  // namespace

std::string page_of(const Account& a) {
  return std::string(kHead) + fmt::format("<pre>{}</pre>\n", escaped(text_of(a))) + drawing_of(a) + first_cause(a) +
         list(a);
}

}  // namespace npu::compare
