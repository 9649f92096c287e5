// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <variant>

#include "base/error.h"
#include "graph/model/function_file.h"

namespace npu::graph::model {
namespace {

constexpr uint64_t kNoRank = 0;  // else the rank and one

/// By node of a function with holes: its number among the living.
std::vector<NodeId> numbers_of_living(const Function& f) {
  std::vector<NodeId> out;
  NodeId next = 0;
  for (const Node& node : f.nodes) out.push_back(node.removed ? -1 : next++);
  return out;
}

}  // namespace

std::string fingerprint(const Dialect& dialect) {
  std::string all;
  for (const KindRow& row : kKinds) {
    all += row.name;
    for (const std::string_view op : dialect.spellings(row.kind)) all += fmt::format(" {}", op);
    all += '\n';
  }
  return digest_of(all).text();
}

struct FunctionWriter::WriteValue {
  FunctionWriter& to;

  void operator()(std::monostate) const {}
  void operator()(int64_t v) const { to.out_.number(v); }
  void operator()(double v) const { to.out_.real(v); }
  void operator()(bool v) const { to.out_.count(v ? 1 : 0); }
  void operator()(const std::string& v) const { to.text(v); }
  void operator()(const ValueType& v) const { to.type(v); }
  void operator()(const PartialShape& v) const { to.shape(v); }
  void operator()(const Literal& v) const { to.literal(v); }
  void operator()(const FunctionName& v) const { to.text(v.name); }
  template <class T>
  void operator()(const std::vector<T>& v) const {
    to.out_.count(v.size());
    for (size_t i = 0; i < v.size(); ++i) (*this)(static_cast<const T&>(T(v[i])));
  }
};

void FunctionWriter::text(std::string_view value) {
  auto at = numbers_.find(value);
  if (at == numbers_.end()) {
    at = numbers_.emplace(value, numbers_.size()).first;
    texts_.text(value);
  }
  out_.count(at->second);
}

void FunctionWriter::type(const ValueType& value) {
  out_.count(static_cast<uint64_t>(value.kind));
  out_.number(static_cast<int64_t>(value.dtype));
}

void FunctionWriter::dims(const Dims& value) {
  out_.count(value.size());
  for (const int64_t size : value) out_.number(size);
}

void FunctionWriter::shape(const PartialShape& value) {
  if (!value.dims) return out_.count(kNoRank);
  out_.count(value.dims->size() + 1);
  for (const int64_t size : *value.dims) out_.number(size);
}

void FunctionWriter::output(const Output& value) {
  type(value.type);
  shape(value.shape);
}

void FunctionWriter::edge(const Edge& value, const std::vector<NodeId>& ids) {
  out_.count(static_cast<uint64_t>(ids[static_cast<size_t>(value.node)]));
  out_.count(static_cast<uint64_t>(value.output));
}

void FunctionWriter::elements(const Elements& bytes) {
  const auto [at, added] = places_.emplace(std::pair(bytes.get(), bytes->size()), 0);
  if (added) {
    data_.resize((data_.size() + kAlignment - 1) / kAlignment * kAlignment);
    at->second = data_.size();
    data_.append(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  }
  out_.count(at->second);
  out_.count(bytes->size());
}

void FunctionWriter::literal(const Literal& value) {
  type(value.type);
  dims(value.shape);
  out_.count((value.bytes ? 1 : 0) + (value.strings ? 2 : 0));
  if (value.bytes) elements(value.bytes);
  if (value.strings) WriteValue{*this}(*value.strings);
}

void FunctionWriter::write_attributes(const Attributes& attributes) {
  out_.count(attributes.entries().size());
  for (const auto& [name, entry] : attributes.entries()) {
    text(name);
    out_.count(entry.value.index());
    std::visit(WriteValue{*this}, entry.value);
    text(entry.raw);
  }
}

void FunctionWriter::write_node(const Node& node, const std::vector<NodeId>& ids) {
  text(node.name);
  text(name_of(node.kind));
  text(node.op);
  out_.count(node.inputs.size());
  for (const Edge& input : node.inputs) edge(input, ids);
  out_.count(node.after.size());
  for (const NodeId before : node.after) out_.count(static_cast<uint64_t>(ids[static_cast<size_t>(before)]));
  out_.count(node.outputs.size());
  for (const Output& one : node.outputs) output(one);
  write_attributes(node.attributes);
  text(node.client_name);
  WriteValue{*this}(node.functions);
  text(node.calls);
  out_.count((node.stateful ? 1 : 0) + (node.parts ? 2 : 0));
  if (node.parts) write(*node.parts);
}

void FunctionWriter::write(const Function& f) {
  const std::vector<NodeId> ids = numbers_of_living(f);
  const auto node = [&](NodeId id) { out_.count(static_cast<uint64_t>(ids[static_cast<size_t>(id)])); };
  text(f.name);
  out_.count(f.nodes.size() - static_cast<size_t>(std::count(ids.begin(), ids.end(), -1)));
  for (const Node& one : f.nodes)
    if (!one.removed) write_node(one, ids);
  out_.count(f.arguments.size());
  for (const Argument& argument : f.arguments) {
    text(argument.name);
    output(argument.value);
    node(argument.node);
  }
  out_.count(f.results.size());
  for (const Result& result : f.results) {
    text(result.name);
    edge(result.value, ids);
  }
  out_.count(f.control_results.size());
  for (const NodeId id : f.control_results) node(id);
}

void FunctionWriter::add(const Function& function) {
  if (dialect_ != nullptr && dialect_ != function.dialect)
    fail(Code::kInternal, "function {} is in the words of another client than those before it", function.name);
  if (dialect_ == nullptr) out_.text(fingerprint(*function.dialect));
  dialect_ = function.dialect;
  out_.count(1);
  write(function);
}

std::vector<std::pair<SectionKind, std::string>> FunctionWriter::sections() {
  out_.count(0);
  ByteWriter texts;
  texts.count(numbers_.size());
  return {{SectionKind::kTexts, texts.bytes() + texts_.bytes()},
          {SectionKind::kFunctions, std::move(out_.bytes())},
          {SectionKind::kData, std::move(data_)}};
}

Digest digest_of(const Function& function) {
  FunctionWriter writer;
  writer.add(function);
  std::string digests;
  for (const auto& [kind, bytes] : writer.sections()) digests += digest_of(bytes).text();
  return digest_of(digests);
}

}  // namespace npu::graph::model
