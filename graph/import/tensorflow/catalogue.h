// SPDX-License-Identifier: Apache-2.0
// The signatures of TensorFlow's operators: what turns "node:out_name:2" into a position. They come from the client, as
// the bytes of an OpList (TF_GetAllOpList), and from the functions of the program, whose signatures look the same.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "graph/import/tensorflow/proto.h"
#include "graph/ir/attribute.h"

namespace npu::graph::tensorflow {

/// One formal input or output; with a number or list attribute it stands for several tensors.
struct Formal {
  std::string name;
  std::optional<ValueType> type;  ///< fixed by the signature
  std::string type_attr;          ///< or named by an attribute of the node
  std::string number_attr;        ///< how many tensors of that type
  std::string type_list_attr;     ///< or one tensor for each type of a list
  bool reference = false;         ///< a variable in place, not its value
};

/// What a signature demands of an attribute.
struct AttributeRule {
  std::string name;
  std::vector<ValueType> types;    ///< the allowed ones; empty: any
  std::vector<std::string> words;  ///< the same of strings
  std::optional<int64_t> minimum;  ///< of an int, or of the length of a list
};

struct Signature {
  std::string name;
  std::vector<Formal> inputs;
  std::vector<Formal> outputs;
  std::set<std::string, std::less<>> attributes;
  std::vector<AttributeRule> rules;             ///< of the attributes that are not free
  std::map<std::string, std::string> defaults;  ///< attribute -> AttrValue bytes
  bool stateful = false;
};

Signature read_signature(Bytes op_def);
/// The types of the tensors a formal stands for on a node with these attributes. Raises 161002 when one is missing.
std::vector<ValueType> types_of(const Formal& formal, const Attributes& attributes);
std::vector<ValueType> types_of(const std::vector<Formal>& formals, const Attributes& attributes);
/// Raises 161002 naming the attribute that breaks a rule of the signature.
void check_attributes(const Signature& signature, const Attributes& attributes);

class Catalogue {
 public:
  /// Raises 100006 on damaged bytes.
  explicit Catalogue(Bytes op_list);
  explicit Catalogue(std::vector<Signature> signatures);
  const Signature* find(std::string_view op) const;
  size_t size() const { return signatures_.size(); }

 private:
  std::map<std::string, Signature, std::less<>> signatures_;
};

}  // namespace npu::graph::tensorflow
