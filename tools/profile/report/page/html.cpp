// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "tools/profile/report/page/chip_section.h"
#include "tools/profile/report/page/escape.h"
#include "tools/profile/report/page/lane.h"
#include "tools/profile/report/page/memory.h"
#include "tools/profile/report/page/modules.h"
#include "tools/profile/report/page/script.h"
#include "tools/profile/report/page/share.h"
#include "tools/profile/report/page/steps.h"

namespace npu::profile {
namespace {

template <class... Values>
void append(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

std::string list_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return "<p>None that costs a fiftieth of the time.</p>\n";
  std::string out = "<ol>\n";
  for (const Finding& one : findings)
    append(out,
           "<li><b>{}</b><br><span class=\"cost\">{} ms, {} of the device's time</span>{}<br>{}<br>"
           "<span class=\"small\">{}</span></li>\n",
           escaped(one.title), milliseconds(one.cost), percent(one.share),
           one.who.empty() ? "" : ", on " + escaped(one.who), escaped(one.where), escaped(one.cure));
  return out + "</ol>\n";
}

void add_bar(std::string& out, std::string_view what, int64_t time, double share, std::string_view style) {
  append(out,
         "<tr class=\"{}\"><td>{}</td><td>{} ms</td><td>{}</td><td class=\"track\"><span class=\"bar\" "
         "style=\"width:{:.1f}%\">"
         "</span></td></tr>\n",
         style, escaped(what), milliseconds(time), percent(share), 100 * std::clamp(share, 0.0, 1.0));
}

std::string times_of(const Facts& facts) {
  const int64_t computing = length(facts.overlap.computing), alone = length(facts.overlap.communication_alone);
  std::string out = "<table>\n";
  const auto bar = [&](std::string_view what, int64_t time, std::string_view style) {
    add_bar(out, what, time, facts.share(time), style);
  };
  bar("computes", computing, "");
  if (alone > 0) bar("communicates alone", alone, "");
  bar("copies alone", facts.busy - computing - alone, "");
  bar("idle", facts.length() - facts.busy, "idle");
  for (size_t i = 0; i < kCauses; ++i)
    if (const auto cause = static_cast<Cause>(i); facts.idle.parts[cause] > 0)
      bar(words_of(cause), facts.idle.parts[cause], "idle cause");
  return out + "</table>\n";
}

std::string table_of(std::string_view head, std::string_view second, const Rows& rows) {
  std::string out = fmt::format(
      "<table><tr><th>{}</th><th class=\"text\">{}</th><th>count</th><th>ms</th><th>mean us</th><th>longest "
      "us</th></tr>\n",
      head, second);
  for (const Row& row : rows)
    append(out, "<tr><td>{}</td><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{:.1f}</td><td>{:.1f}</td></tr>\n",
           escaped(row.name), row.unit, row.total.count, milliseconds(row.total.time),
           static_cast<double>(row.total.time) / 1e3 / static_cast<double>(row.total.count),
           static_cast<double>(row.total.most) / 1e3);
  return out + "</table>\n";
}

std::string device_of(const Facts& facts) {
  std::string out = fmt::format("<h2>{}: {} ms</h2>\n", escaped(facts.name), milliseconds(facts.length()));
  out += times_of(facts) + steps_html(facts) + modules_html(facts);
  append(out, "<h2>Operators of {}</h2>\n{}", escaped(facts.name), table_of("type", "unit", facts.types));
  append(out, "<h2>Calls of the host</h2>\n{}", table_of("call", "", facts.calls));
  return out + memory_html(facts);
}

}  // namespace

std::string html_page(const std::vector<Trace>& traces, const std::vector<Facts>& all,
                      const std::vector<Finding>& findings, const std::vector<Modelled>& models) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>anynpu profile</title>\n"
      "<link rel=\"icon\" href=\"data:,\">\n<style>{}</style></head><body>\n<h1>Where the time goes</h1>\n",
      kStyle);
  out += "<h2>Findings, the costliest first</h2>\n" + list_of(findings);
  out +=
      "<h2>Timeline</h2>\n<p class=\"small\">The wheel zooms, dragging moves, a double click shows all; with "
      "the keyboard + and -, the arrows and Home.</p>\n"
      "<canvas id=\"timeline\" tabindex=\"0\" role=\"img\" aria-label=\"timeline of the threads of the host and the "
      "streams of the device; the tables after it have its sums\"></canvas><div id=\"about\"></div>\n";
  for (const Facts& facts : all) out += device_of(facts);
  out += chip_html(models);
  Json data = json_of(lanes_of(traces, all));
  data["flames"] = Json::array();
  for (const Facts& facts : all)
    if (facts.modules.known) data["flames"].push_back(flame_of(facts));
  const std::string text = data.dump(-1, InvalidUtf8::kReplace);
  append(out, "<script type=\"application/json\" id=\"data\">{}</script>\n<script>{}{}</script>\n</body></html>\n",
         inside_script(text), kScript, kFlameScript);
  return out;
}

}  // namespace npu::profile
