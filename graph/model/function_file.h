// SPDX-License-Identifier: Apache-2.0
// Functions as sections of a container: all of their nodes, fused ones with the parts that they stand for, every
// attribute with the client's encoding of it. What is read back is what was written, but for dead nodes, which are left
// out. Elements of constants are written once where several nodes share them.
//
//   kTexts      count, then each text with its length
//   kFunctions  the dialect's fingerprint, then each function behind a 1, then 0
//   kData       elements, each at a multiple of 64
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/function.h"
#include "graph/model/container.h"
#include "graph/model/digest.h"
#include "graph/model/stream.h"

namespace npu::graph::model {

class FunctionWriter {
 public:
  /// Its dialect must be that of all others.
  void add(const Function& function);
  /// The sections; the writer is used up.
  std::vector<std::pair<SectionKind, std::string>> sections();

 private:
  void write(const Function& f);
  void write_node(const Node& node, const std::vector<NodeId>& ids);
  void write_attributes(const Attributes& attributes);
  struct WriteValue;
  void text(std::string_view value);
  void output(const Output& value);
  void type(const ValueType& value);
  void shape(const PartialShape& value);
  void dims(const Dims& value);
  void edge(const Edge& value, const std::vector<NodeId>& ids);
  void literal(const Literal& value);
  void elements(const Elements& bytes);

  const Dialect* dialect_ = nullptr;
  ByteWriter out_, texts_;
  std::string data_;
  std::map<std::string, uint64_t, std::less<>> numbers_;            ///< of texts
  std::map<std::pair<const std::byte*, size_t>, uint64_t> places_;  ///< of elements in data_
};

struct Reading {
  /// Keeps the container's bytes, which lie at a multiple of 64: elements stay where they are. Null: they are copied.
  std::shared_ptr<const void> keeper = {};
  /// Takes what another edition of the library wrote: nodes that it knew by name alone get the kind they have now.
  bool other_words = false;
  /// A copy of the section of elements, to be used instead of it; empty: there is none.
  std::span<const std::byte> elements = {};
};

/// The functions of a container. Raises 100006 when they do not hold together, or are in the words of another client
/// than `dialect`.
std::vector<std::shared_ptr<Function>> read_functions(const Container& container, const Dialect& dialect,
                                                      Reading reading = {});

/// Of all that is written of a function: equal functions of any two processes have equal ones.
Digest digest_of(const Function& function);

/// What a dialect says, in a few digits: files of another one are not read.
std::string fingerprint(const Dialect& dialect);

}  // namespace npu::graph::model
