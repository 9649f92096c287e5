// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/json.h"
#include "tools/profile/report/finding/finding.h"
#include "tools/profile/report/page/escape.h"
#include "tools/profile/report/page/share.h"

namespace npu::profile {
namespace {

constexpr size_t kModules = 10, kName = 46;
constexpr double kSmallest = 1.0 / 4000;  // of the whole picture: less than a pixel

double share_of(const Facts& facts, int64_t time) {
  return static_cast<double>(time) / static_cast<double>(std::max<int64_t>(1, facts.modules.all.total.time));
}

/// How it is known, and how much is not.
std::string attribution_of(const Facts& facts) {
  const Modules& modules = facts.modules;
  const int64_t known = modules.all.total.time - modules.outside - modules.unknown;
  return fmt::format(
      "{} of the time of all streams is of modules, optimizers or collectives, {} is outside of them, of {} the module "
      "is not known. Outside of graphs an operator belongs to the innermost module that its thread was in when it "
      "asked "
      "for it, its gradient to the same; in graphs to the scope of its name.",
      percent(share_of(facts, known)), percent(share_of(facts, modules.outside)),
      percent(share_of(facts, modules.unknown)));
}

/// Its end tells modules apart.
std::string shortened(const std::string& name) {
  return name.size() <= kName ? name : "..." + name.substr(name.size() - kName + 3);
}

Json json_of(const Frame& frame, int64_t smallest) {
  Json inside = Json::array();
  Total small;
  size_t left = 0;
  for (const Frame& one : frame.inside)
    if (one.total.time >= smallest)
      inside.push_back(json_of(one, smallest));
    else
      small.add(one.total), ++left;
  if (left > 0)
    inside.push_back({{"name", fmt::format("{} too small to be seen", left)},
                      {"time", small.time},
                      {"count", small.count},
                      {"inside", Json::array()}});
  return {{"name", frame.name}, {"time", frame.total.time}, {"count", frame.total.count}, {"inside", inside}};
}

}  // namespace

std::string modules_text(const Facts& facts) {
  const Modules& modules = facts.modules;
  if (!modules.known) return "";
  std::string out = fmt::format("\n{:<48} {:>14} {:>12} {:>8} {:>14}\n", "MODULES, each without those inside",
                                "operators", "ms", "share", "of it gradient");
  for (const ModuleTime& one : modules.rows | std::views::take(kModules))
    fmt::format_to(std::back_inserter(out), "  {:<46} {:>14} {:>12} {:>8} {:>14}\n", shortened(one.name),
                   one.forward.count + one.gradient.count, milliseconds(one.time()),
                   percent(share_of(facts, one.time())), milliseconds(one.gradient.time));
  if (modules.rows.size() > kModules) out += fmt::format("  … and {} more\n", modules.rows.size() - kModules);
  return out + "  " + attribution_of(facts) + "\n";
}

std::string modules_html(const Facts& facts) {
  const Modules& modules = facts.modules;
  if (!modules.known) return "";
  std::string out = fmt::format(
      "<h2>Modules of {0}</h2>\n<p class=\"small\">{1}</p>\n<p class=\"small\">A click, or Enter, zooms into a frame; "
      "Escape leaves it; arrows go from frame to frame.</p>\n<div class=\"flame\" role=\"group\" aria-label=\"flame "
      "graph of {0}: time of the device by module; the table after it has the same\"></div><p class=\"about\" "
      "aria-live=\"polite\"></p>\n<table><tr><th>module, without those inside</th><th>operators</th><th>ms</th>"
      "<th>share</th><th>of it gradient</th></tr>\n",
      escaped(facts.name), attribution_of(facts));
  for (const ModuleTime& one : modules.rows | std::views::take(kModules))
    fmt::format_to(std::back_inserter(out), "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                   escaped(one.name), one.forward.count + one.gradient.count, milliseconds(one.time()),
                   percent(share_of(facts, one.time())), milliseconds(one.gradient.time));
  return out + "</table>\n";
}

Json flame_of(const Facts& facts) {
  Json all =
      json_of(facts.modules.all, static_cast<int64_t>(static_cast<double>(facts.modules.all.total.time) * kSmallest));
  all["name"] = facts.name;
  return all;
}

const std::string_view kFlameScript = R"js(
"use strict";
function drawFlame(host, root) {
  const kHigh = 20, about = host.nextElementSibling;
  let shown = root, focused = root, boxes = new Map();
  (function join(frame, above, path) {
    frame.above = above; frame.path = path;
    frame.inside.forEach((one, i) => { one.at = i; join(one, frame, above ? path + " › " + one.name : one.name); });
  })(root, null, root.name);
  const share = frame => (100 * frame.time / root.time).toFixed(1) + " %";
  const ms = frame => (frame.time / 1e6).toFixed(3) + " ms";
  const words = frame => `${frame.path}: ${ms(frame)}, ${share(frame)} of all, ${frame.count} operators`;
  const hue = name => { let h = 7; for (const c of name) h = (h * 31 + c.codePointAt(0)) % 360; return h; };
  const fill = frame => frame.name.startsWith("gradient of ") ? "hsl(28 60% 66%)" : frame.name === "forward" ?
      "hsl(210 50% 70%)" : frame.inside.length ? `hsl(220 14% ${70 + hue(frame.name) % 14}%)` : `hsl(${hue(frame.name)} 45% 66%)`;
  const depth = frame => 1 + Math.max(0, ...frame.inside.map(depth));

  function add(picture, frame, left, wide, row, part) {
    const box = document.createElementNS(picture.namespaceURI, "g");
    box.innerHTML = "<title></title><rect></rect><text></text>";
    const [title, rect, text] = box.children;
    title.textContent = words(frame);
    for (const [key, value] of Object.entries({ x: left, y: row * kHigh, width: Math.max(0.5, wide - 0.5), height: kHigh - 1,
                                                fill: fill(frame), opacity: part ? 1 : 0.5 })) rect.setAttribute(key, value);
    const most = Math.floor((wide - 6) / 6.6);
    if (most > 2) {
      text.textContent = frame.name.length > most ? frame.name.slice(0, most - 1) + "…" : frame.name;
      text.setAttribute("x", left + 3); text.setAttribute("y", row * kHigh + 14);
    }
    for (const [key, value] of Object.entries({ role: "button", tabindex: frame === focused ? 0 : -1, "aria-label": words(frame) }))
      box.setAttribute(key, value);
    box.addEventListener("click", () => zoom(frame));
    box.addEventListener("focus", () => { focused = frame; about.textContent = words(frame); });
    box.addEventListener("mouseenter", () => { about.textContent = words(frame); });
    boxes.set(frame, box);
    picture.append(box);
  }

  function draw() {
    const wide = host.clientWidth || 900, line = [];
    for (let one = shown; one; one = one.above) line.unshift(one);
    host.innerHTML = `<${"svg"} width="${wide}" height="${(line.length - 1 + depth(shown)) * kHigh}"></svg>`;
    const picture = host.firstChild;
    boxes = new Map();
    line.forEach((frame, row) => add(picture, frame, 0, wide, row, frame === shown));
    (function below(frame, left, row) {
      for (const one of frame.inside) {
        const its = wide * one.time / Math.max(1, shown.time);
        if (its >= 0.5) { add(picture, one, left, its, row, true); below(one, left, row + 1); }
        left += its;
      }
    })(shown, 0, line.length);
  }

  function zoom(frame) {
    shown = frame.inside.length || !frame.above ? frame : frame.above;
    focused = shown;
    draw();
    boxes.get(focused).focus({ preventScroll: true });
  }

  function go(frame) {
    if (!frame || !boxes.has(frame)) return;
    boxes.get(focused).setAttribute("tabindex", -1);
    boxes.get(frame).setAttribute("tabindex", 0);
    boxes.get(frame).focus({ preventScroll: true });
  }

  host.addEventListener("keydown", event => {
    const beside = by => focused.above && focused.above.inside[focused.at + by];
    const keys = {
      ArrowDown: () => go(focused.inside[0]), ArrowUp: () => go(focused.above), ArrowLeft: () => go(beside(-1)),
      ArrowRight: () => go(beside(1)), Enter: () => zoom(focused), Escape: () => zoom(shown.above || root),
    };
    keys[" "] = keys.Enter;
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  window.addEventListener("resize", draw);
  draw();
}
const flames = document.getElementsByClassName("flame");
data.flames.forEach((flame, i) => drawFlame(flames[i], flame));
)js";

}  // namespace npu::profile
