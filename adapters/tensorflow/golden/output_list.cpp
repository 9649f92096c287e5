// SPDX-License-Identifier: Apache-2.0
#include "adapters/tensorflow/golden/output_list.h"

#include <mutex>
#include <protozero/pbf_reader.hpp>

#include "adapters/tensorflow/c_api/message.h"
#include "adapters/tensorflow/c_api/owned.h"

namespace npu::tensorflow::golden {
namespace {

using protozero::pbf_reader;

struct Argument {
  std::string name, type_attribute, number_attribute, list_attribute;
  int32_t type = 0;
};

struct Signature {
  std::vector<Argument> outputs;
  Attributes defaults;
};

using Signatures = std::map<std::string, Signature, std::less<>>;

Argument read_argument(pbf_reader message) {
  Argument out;
  while (message.next()) switch (message.tag()) {
      case field::kArgName: out.name = message.get_string(); break;
      case field::kArgType: out.type = message.get_enum(); break;
      case field::kArgTypeAttr: out.type_attribute = message.get_string(); break;
      case field::kArgNumberAttr: out.number_attribute = message.get_string(); break;
      case field::kArgTypeListAttr: out.list_attribute = message.get_string(); break;
      default: message.skip();
    }
  return out;
}

void read_default(pbf_reader message, Attributes& into) {
  std::string name, value;
  while (message.next()) switch (message.tag()) {
      case field::kAttrName: name = message.get_string(); break;
      case field::kAttrDefault: value = message.get_string(); break;
      default: message.skip();
    }
  into.insert_or_assign(std::move(name), std::move(value));
}

void read_operator(pbf_reader message, Signatures& into) {
  std::string name;
  Signature signature;
  while (message.next()) switch (message.tag()) {
      case field::kOpName: name = message.get_string(); break;
      case field::kOpOutput: signature.outputs.push_back(read_argument(message.get_message())); break;
      case field::kOpAttr: read_default(message.get_message(), signature.defaults); break;
      default: message.skip();
    }
  into.insert_or_assign(std::move(name), std::move(signature));
}

Signatures read_all() {
  Signatures all;
  const Buffer list(TF_GetAllOpList());
  pbf_reader message(static_cast<const char*>(list->data), list->length);
  while (message.next(field::kOp)) read_operator(message.get_message(), all);
  return all;
}

/// Null for one that is no operator. Libraries may bring more of them at any time.
const Signature* signature_of(std::string_view op) {
  static std::mutex mutex;
  static auto& known = *new Signatures;
  const std::lock_guard lock(mutex);
  if (!known.contains(op)) known.merge(read_all());
  const auto at = known.find(op);
  return at == known.end() ? nullptr : &at->second;
}

class Values {
 public:
  Values(const Attributes& own, const Attributes& defaults) : own_(own), defaults_(defaults) {}

  int32_t type(const std::string& name) const {
    pbf_reader value = reader(name);
    int32_t type = 0;
    while (value.next(field::kType)) type = value.get_enum();
    return type;
  }

  size_t number(const std::string& name) const {
    pbf_reader value = reader(name);
    int64_t number = 0;
    while (value.next(field::kInt)) number = value.get_int64();
    return static_cast<size_t>(number);
  }

  std::vector<int32_t> types(const std::string& name) const {
    std::vector<int32_t> types;
    pbf_reader value = reader(name);
    while (value.next(field::kList)) {
      pbf_reader list = value.get_message();
      while (list.next(field::kListType)) {
        if (list.wire_type() != protozero::pbf_wire_type::length_delimited)
          types.push_back(list.get_enum());
        else
          for (const int32_t type : list.get_packed_enum()) types.push_back(type);
      }
    }
    return types;
  }

 private:
  pbf_reader reader(const std::string& name) const {
    const auto at = own_.find(name);
    if (at != own_.end()) return pbf_reader(at->second);
    const auto other = defaults_.find(name);
    return other == defaults_.end() ? pbf_reader() : pbf_reader(other->second);
  }

  const Attributes &own_, &defaults_;
};

std::vector<int32_t> types_of(const Argument& argument, const Values& values) {
  if (!argument.list_attribute.empty()) return values.types(argument.list_attribute);
  const int32_t type = argument.type_attribute.empty() ? argument.type : values.type(argument.type_attribute);
  return std::vector<int32_t>(argument.number_attribute.empty() ? 1 : values.number(argument.number_attribute), type);
}

}  // namespace

std::vector<OutputName> outputs_of(std::string_view op, const Attributes& attributes) {
  std::vector<OutputName> out;
  const Signature* signature = signature_of(op);
  if (signature == nullptr) return out;
  const Values values(attributes, signature->defaults);
  for (const Argument& argument : signature->outputs) {
    size_t index = 0;
    for (const int32_t type : types_of(argument, values))
      out.push_back({argument.name + ":" + std::to_string(index++), static_cast<TF_DataType>(type)});
  }
  return out;
}

}  // namespace npu::tensorflow::golden
