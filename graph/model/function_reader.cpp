// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <variant>

#include "base/error.h"
#include "graph/model/function_file.h"

namespace npu::graph::model {
namespace {

constexpr int kDeepest = 16;  // parts of parts

class FunctionReader {
 public:
  FunctionReader(const Container& container, const Dialect& dialect, Reading reading)
      : dialect_(dialect),
        reading_(std::move(reading)),
        in_(container.section(SectionKind::kFunctions)),
        data_(container.section(SectionKind::kData)) {
    if (!reading_.elements.empty()) data_ = reading_.elements;
    ByteReader texts(container.section(SectionKind::kTexts));
    texts_.resize(texts.size());
    for (Text& one : texts_) one.text = texts.text();
  }

  std::vector<std::shared_ptr<Function>> read() {
    const bool same_words = in_.text() == fingerprint(dialect_);
    if (!same_words && !reading_.other_words)
      fail(Code::kParseFile, "its functions are in the words of another client");
    translates_ = !same_words;
    std::vector<std::shared_ptr<Function>> out;
    while (in_.below(2) == 1) out.push_back(read_function(0));
    if (!in_.at_end()) ByteReader::damaged();
    return out;
  }

 private:
  struct Text {
    std::string_view text;
    std::optional<Kind> kind = {};  ///< once it was asked for
  };

  Text& numbered() { return texts_[in_.below(texts_.size())]; }
  std::string text() { return std::string(numbered().text); }

  Kind kind() {
    Text& name = numbered();
    if (!name.kind) name.kind = kind_named(name.text);
    if (*name.kind == Kind::kOpaque && name.text != name_of(Kind::kOpaque))
      fail(Code::kParseFile, "there is no kind of node called {}", name.text);
    return *name.kind;
  }

  /// What was opaque when it was written may have become a kind since.
  Kind translated(Kind kind, std::string_view op) const {
    return translates_ && kind == Kind::kOpaque ? dialect_.kind_of(op) : kind;
  }

  ValueType type() {
    const auto kind = static_cast<ValueKind>(in_.below(static_cast<uint64_t>(ValueKind::kVariant) + 1));
    return {kind, static_cast<DType>(in_.number())};
  }

  Dims dims(size_t rank) {
    Dims out;
    for (size_t i = 0; i < rank; ++i) out.push_back(in_.number());
    return out;
  }

  PartialShape shape() {
    const size_t rank = in_.below(kMaxRank + 2);
    return rank == 0 ? PartialShape::unknown() : PartialShape{dims(rank - 1)};
  }

  Output output() {
    const ValueType of = type();
    return {of, shape()};
  }

  /// Elements at one place are one object again.
  Elements elements() {
    const size_t at = in_.below(data_.size() + 1), count = in_.below(data_.size() - at + 1);
    const auto bytes = data_.subspan(at, count);
    if (reading_.keeper) {
      if (at % kAlignment != 0) ByteReader::damaged();
      return {bytes, reading_.keeper};
    }
    Elements& found = shared_[{at, count}];
    if (!found) found = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    return found;
  }

  Literal literal() {
    Literal out;
    out.type = type();
    out.shape = dims(in_.below(kMaxRank + 1));
    const size_t what = in_.below(4);
    if ((what & 1) != 0) out.bytes = elements();
    if ((what & 2) != 0) out.strings = std::make_shared<const std::vector<std::string>>(list<std::string>());
    check(out);
    return out;
  }

  static void check(const Literal& literal) {
    uint64_t count = 1;
    for (const int64_t size : literal.shape)
      if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count)) ByteReader::damaged();
    if (literal.bytes && __builtin_mul_overflow(count, size_of(literal.type.dtype), &count)) ByteReader::damaged();
    if (literal.bytes && size_of(literal.type.dtype) > 0 && count != literal.bytes->size()) ByteReader::damaged();
    if (literal.strings && !literal.bytes && count != literal.strings->size()) ByteReader::damaged();
  }

  template <class T>
  T value() {
    if constexpr (std::is_same_v<T, std::monostate>)
      return {};
    else if constexpr (std::is_same_v<T, bool>)
      return in_.below(2) == 1;
    else if constexpr (std::is_same_v<T, int64_t>)
      return in_.number();
    else if constexpr (std::is_same_v<T, double>)
      return in_.real();
    else if constexpr (std::is_same_v<T, std::string>)
      return text();
    else if constexpr (std::is_same_v<T, ValueType>)
      return type();
    else if constexpr (std::is_same_v<T, PartialShape>)
      return shape();
    else if constexpr (std::is_same_v<T, Literal>)
      return literal();
    else if constexpr (std::is_same_v<T, FunctionName>)
      return {text()};
    else
      return list<typename T::value_type>();
  }

  template <class T>
  std::vector<T> list() {
    std::vector<T> out;
    const size_t count = in_.size();
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) out.push_back(value<T>());
    return out;
  }

  /// The alternative of this number.
  template <size_t I = 0>
  Attribute attribute(size_t index) {
    if constexpr (I < std::variant_size_v<Attribute>) {
      if (index == I) return Attribute(std::in_place_index<I>, value<std::variant_alternative_t<I, Attribute>>());
      return attribute<I + 1>(index);
    } else {
      ByteReader::damaged();
    }
  }

  void read_attributes(Attributes& to) {
    for (size_t left = in_.size(); left > 0; --left) {
      std::string name = text();
      Attribute value = attribute(in_.below(std::variant_size_v<Attribute>));
      to.set(std::move(name), std::move(value), text());
    }
  }

  NodeId id(size_t end) { return static_cast<NodeId>(in_.below(end)); }

  /// Which output there is, only the whole function tells: see check_edges.
  Edge edge(size_t end) {
    const NodeId node = id(end);
    return {node, static_cast<int32_t>(in_.below(INT32_MAX))};
  }

  Node node(size_t end, int depth) {
    Node out;
    out.name = text();
    out.kind = kind();
    out.op = text();
    out.kind = translated(out.kind, out.op);
    for (size_t left = in_.size(); left > 0; --left) out.inputs.push_back(edge(end));
    for (size_t left = in_.size(); left > 0; --left) out.after.push_back(id(end));
    for (size_t left = in_.size(); left > 0; --left) out.outputs.push_back(output());
    read_attributes(out.attributes);
    out.client_name = text();
    out.functions = list<std::string>();
    out.calls = text();
    const size_t what = in_.below(4);
    out.stateful = (what & 1) != 0;
    if ((what & 2) != 0) out.parts = read_function(depth + 1);
    return out;
  }

  static void check_edge(const Function& f, const Edge& edge) {
    if (static_cast<size_t>(edge.output) >= f[edge.node].outputs.size()) ByteReader::damaged();
  }

  static void check_edges(const Function& f) {
    for (const Node& node : f.nodes)
      for (const Edge& edge : node.inputs) check_edge(f, edge);
    for (const Result& result : f.results) check_edge(f, result.value);
  }

  std::shared_ptr<Function> read_function(int depth) {
    if (depth > kDeepest) ByteReader::damaged();
    auto out = std::make_shared<Function>(text(), dialect_);
    const size_t end = in_.size();
    out->nodes.reserve(end);
    for (size_t i = 0; i < end; ++i) out->add(node(end, depth));
    for (size_t left = in_.size(); left > 0; --left) {
      std::string name = text();
      Output value = output();
      out->arguments.push_back({std::move(name), std::move(value), id(end)});
    }
    for (size_t left = in_.size(); left > 0; --left) {
      std::string name = text();
      out->results.push_back({std::move(name), edge(end)});
    }
    for (size_t left = in_.size(); left > 0; --left) out->control_results.push_back(id(end));
    check_edges(*out);
    return out;
  }

  const Dialect& dialect_;
  const Reading reading_;
  bool translates_ = false;
  ByteReader in_;
  std::span<const std::byte> data_;
  std::vector<Text> texts_;
  std::map<std::pair<size_t, size_t>, Elements> shared_;
};

}  // namespace

std::vector<std::shared_ptr<Function>> read_functions(const Container& container, const Dialect& dialect,
                                                      Reading reading) {
  return FunctionReader(container, dialect, std::move(reading)).read();
}

}  // namespace npu::graph::model
