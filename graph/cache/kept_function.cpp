// SPDX-License-Identifier: Apache-2.0
#include "graph/cache/kept_function.h"

#include <algorithm>

#include "base/error.h"
#include "graph/model/function_file.h"
#include "graph/passes/pipeline.h"

namespace npu::graph::cache {
namespace {

using model::ByteReader;
using model::ByteWriter;
using model::SectionKind;

void put(ByteWriter& to, const std::vector<DType>& dtypes) {
  to.count(dtypes.size());
  for (const DType dtype : dtypes) to.number(static_cast<int64_t>(dtype));
}

std::vector<DType> dtypes(ByteReader& from) {
  std::vector<DType> out;
  for (size_t left = from.size(); left > 0; --left) out.push_back(static_cast<DType>(from.number()));
  return out;
}

void put(ByteWriter& to, const NodePrecision& node) {
  for (const std::string* text : {&node.node, &node.op, &node.why}) to.text(*text);
  put(to, {node.source, node.compute});
  put(to, node.inputs);
  put(to, node.outputs);
}

NodePrecision node_precision(ByteReader& from) {
  NodePrecision out;
  for (std::string* text : {&out.node, &out.op, &out.why}) *text = from.text();
  const std::vector<DType> both = dtypes(from);
  if (both.size() != 2) ByteReader::damaged();
  out.source = both[0], out.compute = both[1];
  out.inputs = dtypes(from);
  out.outputs = dtypes(from);
  return out;
}

void put(ByteWriter& to, const PassReport& pass) {
  to.text(pass.name);
  to.count(pass.nodes_before);
  to.count(pass.nodes_after);
  to.count(pass.changed ? 1 : 0);
  to.number(pass.fusion.matched);
  to.number(pass.fusion.effective);
  to.count(pass.fusion.declined.size());
  for (const auto& [reason, times] : pass.fusion.declined) {
    to.text(reason);
    to.number(times);
  }
  to.count(pass.precision.size());
  for (const NodePrecision& node : pass.precision) put(to, node);
}

PassReport pass_report(ByteReader& from) {
  const std::string_view name = from.text();
  const auto& all = all_passes();
  const auto pass = std::find_if(all.begin(), all.end(), [&](const Pass& one) { return one.name == name; });
  if (pass == all.end()) fail(Code::kParseFile, "there is no pass {}", name);
  PassReport out{.name = pass->name, .group = pass->group};
  out.nodes_before = static_cast<size_t>(from.count());
  out.nodes_after = static_cast<size_t>(from.count());
  out.changed = from.below(2) == 1;
  out.fusion.matched = from.number();
  out.fusion.effective = from.number();
  for (size_t left = from.size(); left > 0; --left) {
    std::string reason(from.text());
    out.fusion.declined[std::move(reason)] = from.number();
  }
  for (size_t left = from.size(); left > 0; --left) out.precision.push_back(node_precision(from));
  return out;
}

}  // namespace

std::string to_bytes(const KeptFunction& kept, std::string_view key) {
  model::FunctionWriter writer;
  writer.add(*kept.function);
  for (const auto& made : kept.made) writer.add(*made);
  ByteWriter note;
  note.text(key);
  note.count(kept.passes.size());
  for (const PassReport& pass : kept.passes) put(note, pass);
  auto sections = writer.sections();
  sections.insert(sections.begin(), {SectionKind::kNote, std::move(note.bytes())});
  return model::to_container(sections);
}

std::string key_of_bytes(std::span<const std::byte> bytes) {
  return std::string(ByteReader(model::Container(bytes).section(SectionKind::kNote)).text());
}

KeptFunction from_bytes(std::span<const std::byte> bytes, std::string_view key, const Dialect& dialect) {
  const model::Container container(bytes);
  ByteReader note(container.section(SectionKind::kNote));
  if (note.text() != key) fail(Code::kParseFile, "it was kept under another key");
  KeptFunction out;
  for (size_t left = note.size(); left > 0; --left) out.passes.push_back(pass_report(note));
  auto functions = model::read_functions(container, dialect);
  if (functions.empty()) ByteReader::damaged();
  out.function = std::move(functions.front());
  out.made.assign(functions.begin() + 1, functions.end());
  return out;
}

}  // namespace npu::graph::cache
