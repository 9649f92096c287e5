// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report/page/script.h"

namespace npu::profile {

const std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --bar: #4a86c8; --idle: #c8764a; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 1200px; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin-top: 1.8em; }
table { border-collapse: collapse; } td, th { padding: .15em .8em .15em 0; text-align: right; }
td:first-child, th:first-child, .text { text-align: left; } .cause td:first-child { padding-left: 1.5em; } tr + tr { border-top: 1px solid var(--line); }
li { margin-bottom: .8em; } .cost { font-weight: 600; } .small { opacity: .75; }
.bar { display: inline-block; height: .8em; background: var(--bar); } .idle .bar { background: var(--idle); }
.track { width: 260px; text-align: left; }
canvas { width: 100%; border: 1px solid var(--line); cursor: grab; touch-action: none; }
svg { max-width: 760px; width: 100%; } svg text { font-size: 11px; fill: currentColor; } .roof { stroke: var(--bar); fill: none; } .grid { stroke: var(--line); }
.point { fill: var(--idle); fill-opacity: .6; }
svg.steps, .flame svg { max-width: none; } svg.steps, svg.memory { height: auto; } .flame svg { display: block; } .flame text { fill: #000; pointer-events: none; }
.flame g { cursor: pointer; outline: none; } .flame g:focus rect { stroke: currentColor; stroke-width: 2; } .about { min-height: 1.5em; }
.part0 { fill: #4a86c8; background: #4a86c8; } .part1 { fill: #8a5fb0; background: #8a5fb0; } .part2 { fill: #5aa469; background: #5aa469; }
.part3 { fill: #c8764a; background: #c8764a; } .key { display: inline-block; width: .8em; height: .8em; margin-left: .8em; }
#about { min-height: 1.5em; font-variant-numeric: tabular-nums; }
)css";

const std::string_view kScript = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("timeline"), about = document.getElementById("about");
const pen = canvas.getContext("2d"), kRow = 22, kTitle = 190, kAxis = 20, kFields = 5;
let last = 1;
for (const lane of data.lanes)
  for (let i = 0; i < lane.slices.length; i += kFields) last = Math.max(last, lane.slices[i] + lane.slices[i + 1]);
let from = 0, to = last;
// By the part of a name before "__": after it collectives have their numbers.
const hues = data.names.map(name => { let h = 7; for (const c of name.split("__")[0]) h = (h * 31 + c.codePointAt(0)) % 360; return h; });
const shown = ns => ns >= 1e6 ? (ns / 1e6).toFixed(3) + " ms" : (ns / 1e3).toFixed(2) + " us";
const colour = () => getComputedStyle(document.body).color;

function first(slices, time) {  // the first slice that does not end before
  let low = 0, high = slices.length / kFields;
  while (low < high) {
    const middle = (low + high) >> 1, at = middle * kFields;
    if (slices[at] + slices[at + 1] < time) low = middle + 1; else high = middle;
  }
  return low * kFields;
}

function drawAxis(width, x) {
  const step = Math.pow(10, Math.floor(Math.log10((to - from) / 4)));
  pen.fillStyle = colour();
  for (let t = Math.ceil(from / step) * step; t < to; t += step * Math.ceil((to - from) / step / 8))
    pen.fillText(shown(t), x(t), 13);
}

function drawLane(lane, top, width, x) {
  pen.fillStyle = colour();
  pen.fillText(lane.title, 4, top + 15, kTitle - 8);
  let until = -1;  // what has been painted: a pixel is painted once
  for (let i = first(lane.slices, from); i < lane.slices.length && lane.slices[i] < to; i += kFields) {
    const left = Math.max(kTitle, x(lane.slices[i])), right = Math.min(width, x(lane.slices[i] + lane.slices[i + 1]));
    const wide = Math.max(right - left, 0.6), name = lane.slices[i + 2], idle = data.names[name].startsWith("idle: ");
    if (left + wide <= until + 0.5) continue;
    until = left + wide;
    pen.globalAlpha = idle ? Math.max(0.05, (right - left) / wide) : 1;  // short gaps are many, and little
    pen.fillStyle = idle ? `hsl(${hues[name]} 15% 60%)` : `hsl(${hues[name]} 55% 55%)`;
    pen.fillRect(left, top + 3, wide, kRow - 6);
    pen.globalAlpha = 1;
    if (wide < 60) continue;
    pen.fillStyle = "#000";
    pen.fillText(data.names[name], left + 3, top + 15, wide - 6);
  }
}

function draw() {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = kAxis + kRow * data.lanes.length;
  canvas.style.height = height + "px";
  canvas.width = width * ratio; canvas.height = height * ratio;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = "12px system-ui, sans-serif";
  const x = t => kTitle + (t - from) / (to - from) * (width - kTitle);
  drawAxis(width, x);
  data.lanes.forEach((lane, row) => drawLane(lane, kAxis + row * kRow, width, x));
}

const timeAt = event => from + (event.offsetX - kTitle) / (canvas.clientWidth - kTitle) * (to - from);
function show(a, b) {
  const length = Math.min(last, Math.max(100, b - a));
  from = Math.max(0, Math.min(a, last - length)); to = from + length;
  requestAnimationFrame(draw);
}
canvas.addEventListener("wheel", event => {
  event.preventDefault();
  const middle = timeAt(event), factor = event.deltaY > 0 ? 1.25 : 0.8;
  show(middle - (middle - from) * factor, middle + (to - middle) * factor);
}, { passive: false });
let grabbed = null;
canvas.addEventListener("pointerdown", event => { grabbed = timeAt(event); canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener("pointerup", () => { grabbed = null; });
canvas.addEventListener("dblclick", () => show(0, last));
canvas.addEventListener("keydown", event => {
  const wide = to - from, by = (a, b) => () => show(from + a * wide, to + b * wide);
  const keys = { "+": by(0.1, -0.1), "-": by(-0.125, 0.125), ArrowLeft: by(-0.1, -0.1), ArrowRight: by(0.1, 0.1),
                 Home: () => show(0, last) };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});
canvas.addEventListener("pointermove", event => {
  const time = timeAt(event);
  if (grabbed !== null) return show(from + grabbed - time, to + grabbed - time);
  const lane = data.lanes[Math.floor((event.offsetY - kAxis) / kRow)];
  about.textContent = "";
  if (!lane) return;
  const i = first(lane.slices, time);
  if (i >= lane.slices.length || lane.slices[i] > time) return;
  const [start, length, name, count, busy] = lane.slices.slice(i, i + kFields);
  about.textContent = `${data.names[name]} · at ${shown(start)} · ${shown(length)}` +
      (count > 1 ? ` · ${count} of them, ${shown(busy)} together, shown as one` : "");
});
window.addEventListener("resize", draw);
draw();
)js";

}  // namespace npu::profile
