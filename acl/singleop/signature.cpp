// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/signature.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "graph/dump/record/data_type.h"

namespace npu::acl {
namespace {

using Number = std::pair<std::string_view, int32_t>;

constexpr Number kFormats[] = {{"NCHW", 0},      {"NHWC", 1},        {"ND", 2},     {"NC1HWC0", 3},
                               {"FRACTAL_Z", 4}, {"FRACTAL_NZ", 29}, {"NCDHW", 30}, {"NDHWC", 27},
                               {"HWCN", 16},     {"NC", 35},         {"NCL", 47},   {"UNDEFINED", -1}};
/// Names that the vendor writes otherwise than our own.
constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
    {"float", "float32"}, {"fp16", "float16"}, {"bf16", "bfloat16"}};

[[noreturn]] void refuse(std::string_view code, size_t number, const std::string& reason) {
  fail(Code::kInvalidParam, "{}: --singleop: entry {}: {}", code, number, reason);
}

DType dtype_of(std::string_view word) {
  for (const auto& [theirs, ours] : kTypes)
    if (theirs == word) word = ours;
  for (const auto& type : graph::record::data_types())
    if (type.word == word) return type.dtype;
  return DType::kUndefined;
}

std::string_view format_name(int32_t format) {
  const auto* const at = std::ranges::find(kFormats, format, &Number::second);
  return at == std::end(kFormats) ? "UNDEFINED" : at->first;
}

const Json& member(const Json& entry, const char* name, size_t number) {
  const auto at = entry.find(name);
  if (at == entry.end()) refuse("E10024", number, fmt::format("it has no {}", name));
  return *at;
}

/// A text that may be left out. Anything else in its place is refused.
std::string text_of(const Json& entry, const char* name, const char* otherwise, size_t number) {
  const auto at = entry.find(name);
  if (at == entry.end()) return otherwise;
  if (!at->is_string()) refuse("E10025", number, fmt::format("{} is {}, which is no text", name, at->dump()));
  return at->get<std::string>();
}

/// JSON's integers reach beyond ours.
int64_t integer_of(const Json& value) {
  const bool fits =
      value.is_number_integer() && (!value.is_number_unsigned() || std::in_range<int64_t>(value.get<uint64_t>()));
  if (!fits) throw std::invalid_argument(fmt::format("{} is no integer of 64 bits", value.dump()));
  return value.get<int64_t>();
}

float float_of(const Json& value) {
  const auto number = value.get<double>();
  if (!(std::abs(number) <= std::numeric_limits<float>::max()))
    throw std::invalid_argument(fmt::format("{} is no float32", value.dump()));
  return static_cast<float>(number);
}

/// Each member of a list as `read` makes it.
template <class Read>
auto list_of(const Json& list, Read read) {
  if (!list.is_array()) throw std::invalid_argument(fmt::format("{} is no list", list.dump()));
  std::vector<decltype(read(list))> out;
  for (const Json& one : list) out.push_back(read(one));
  return out;
}

std::vector<int64_t> integers_of(const Json& list) { return list_of(list, integer_of); }

int64_t size_of(const Json& size, size_t number, const std::string& where) {
  try {
    if (const int64_t out = integer_of(size); out >= -2) return out;
  } catch (const std::invalid_argument&) {
  }
  refuse("E10028", number, fmt::format("the shape of {} holds {}", where, size.dump()));
}

TensorSignature tensor_of(const Json& desc, size_t number, const std::string& where) {
  if (!desc.is_object()) refuse("E10025", number, where + " is no object");
  const Json &type = member(desc, "type", number), &shape = member(desc, "shape", number);
  const std::string word = type.is_string() ? type.get<std::string>() : type.dump();
  TensorSignature out{dtype_of(word), ACL_FORMAT_ND, {}};
  if (out.dtype == DType::kUndefined && word != "UNDEFINED")
    refuse("E10026", number, fmt::format("the type of {} is {}; write float32, float16, int32 …", where, word));
  const std::string format = text_of(desc, "format", "ND", number);
  const auto* const known = std::ranges::find(kFormats, format, &Number::first);
  if (known == std::end(kFormats)) refuse("E10027", number, fmt::format("the format of {} is {}", where, format));
  out.format = known->second;
  if (!shape.is_array()) refuse("E10028", number, fmt::format("the shape of {} is no list", where));
  for (const Json& size : shape) out.dims.push_back(size_of(size, number, where));
  return out;
}

std::vector<TensorSignature> tensors_of(const Json& entry, const char* name, size_t number) {
  const Json& list = member(entry, name, number);
  if (!list.is_array()) refuse("E10025", number, fmt::format("{} is no list", name));
  std::vector<TensorSignature> out;
  for (const Json& desc : list) out.push_back(tensor_of(desc, number, fmt::format("{} {}", name, out.size())));
  return out;
}

DType required_dtype(std::string_view word) {
  const DType dtype = dtype_of(word);
  if (dtype == DType::kUndefined) throw std::invalid_argument("no type of that name");
  return dtype;
}

/// The value of an attribute; what does not fit its type is the reader's exception.
aclopAttr::Value value_of(const std::string& type, const Json& value) {
  if (type == "bool") return value.get<bool>();
  if (type == "int") return integer_of(value);
  if (type == "float") return float_of(value);
  if (type == "string") return value.get<std::string>();
  if (type == "data_type") return required_dtype(value.get<std::string>());
  if (type == "list_bool") return value.get<std::vector<bool>>();
  if (type == "list_int") return integers_of(value);
  if (type == "list_float") return list_of(value, float_of);
  if (type == "list_list_int") return list_of(value, integers_of);
  if (type == "list_string") return value.get<std::vector<std::string>>();
  if (type == "list_data_type") {
    std::vector<DType> out;
    for (const auto& word : value.get<std::vector<std::string>>()) out.push_back(required_dtype(word));
    return out;
  }
  throw std::invalid_argument(
      "types are bool, int, float, string, data_type, list_bool, list_int, list_float, list_list_int, list_string and "
      "list_data_type");
}

aclopAttr attributes_of(const Json& entry, size_t number) {
  aclopAttr out;
  for (const Json& attr : entry.value("attr", Json::array())) {
    const std::string name = attr.is_object() ? text_of(attr, "name", "", number) : "";
    if (name.empty()) refuse("E10029", number, "an attribute has no name");
    const std::string attr_type = text_of(attr, "type", "", number);
    const Json& value = member(attr, "value", number);
    try {
      out.values[name] = value_of(attr_type, value);
    } catch (const std::exception& e) {
      refuse("E10030", number,
             fmt::format("attribute {} is {} of type '{}': {}", name, value.dump(), attr_type, e.what()));
    }
  }
  return out;
}

struct AttributeJson {
  Json operator()(bool v) const { return {{"type", "bool"}, {"value", v}}; }
  Json operator()(int64_t v) const { return {{"type", "int"}, {"value", v}}; }
  Json operator()(float v) const { return {{"type", "float"}, {"value", v}}; }
  Json operator()(const std::string& v) const { return {{"type", "string"}, {"value", v}}; }
  Json operator()(DType v) const { return {{"type", "data_type"}, {"value", name_of(v)}}; }
  Json operator()(const std::vector<bool>& v) const { return {{"type", "list_bool"}, {"value", v}}; }
  Json operator()(const std::vector<int64_t>& v) const { return {{"type", "list_int"}, {"value", v}}; }
  Json operator()(const std::vector<float>& v) const { return {{"type", "list_float"}, {"value", v}}; }
  Json operator()(const std::vector<std::vector<int64_t>>& v) const {
    return {{"type", "list_list_int"}, {"value", v}};
  }
  Json operator()(const std::vector<std::string>& v) const { return {{"type", "list_string"}, {"value", v}}; }
  Json operator()(const std::vector<DType>& v) const {
    Json names = Json::array();
    for (const DType type : v) names.push_back(name_of(type));
    return {{"type", "list_data_type"}, {"value", std::move(names)}};
  }
};

Json tensor_json(const TensorSignature& t) {
  const std::string_view type = t.dtype == DType::kUndefined ? "UNDEFINED" : name_of(t.dtype);
  return {{"type", type}, {"format", format_name(t.format)}, {"shape", t.dims}};
}

TensorSignature tensor_of(const aclTensorDesc* desc, const char* argument) {
  const aclTensorDesc& from = described(desc, argument);
  return {from.dtype, from.format, from.dims};
}

bool takes_tensor(const TensorSignature& compiled, const TensorSignature& given) {
  if (compiled.dtype != given.dtype || compiled.format != given.format) return false;
  if (compiled.dims == std::vector<int64_t>{-2}) return true;
  return std::ranges::equal(compiled.dims, given.dims, [](int64_t c, int64_t g) { return c == -1 || c == g; });
}

}  // namespace

bool OpSignature::takes(const OpSignature& call) const {
  return type == call.type && attributes.values == call.attributes.values &&
         std::ranges::equal(inputs, call.inputs, takes_tensor) &&
         std::ranges::equal(outputs, call.outputs, takes_tensor);
}

OpSignature signature_of(const char* type, std::span<const aclTensorDesc* const> inputs,
                         std::span<const aclTensorDesc* const> outputs, const aclopAttr* attributes) {
  OpSignature out;
  if (type == nullptr) fail(Code::kInvalidParam, "opType is null; it must be given");
  out.type = type;
  for (const aclTensorDesc* desc : inputs) out.inputs.push_back(tensor_of(desc, "inputDesc"));
  for (const aclTensorDesc* desc : outputs) out.outputs.push_back(tensor_of(desc, "outputDesc"));
  if (attributes == nullptr) return out;
  // Names with an underscore are hints to the vendor's compiler.
  for (const auto& [name, value] : described(attributes, "attr").values)
    if (!name.starts_with('_')) out.attributes.values[name] = value;
  return out;
}

OpSignature signature_of(const Json& entry, size_t number) {
  if (!entry.is_object()) refuse("E10023", number, "it is no object");
  const Json& type = member(entry, "op", number);
  if (!type.is_string() || type.get<std::string>().empty()) refuse("E10023", number, "op is no name");
  return {type.get<std::string>(), tensors_of(entry, "input_desc", number), tensors_of(entry, "output_desc", number),
          attributes_of(entry, number)};
}

Json to_json(const OpSignature& op) {
  Json out = {{"op", op.type}, {"input_desc", Json::array()}, {"output_desc", Json::array()}, {"attr", Json::array()}};
  for (const TensorSignature& t : op.inputs) out["input_desc"].push_back(tensor_json(t));
  for (const TensorSignature& t : op.outputs) out["output_desc"].push_back(tensor_json(t));
  for (const auto& [name, value] : op.attributes.values) {
    Json attr = std::visit(AttributeJson{}, value);
    attr["name"] = name;
    out["attr"].push_back(std::move(attr));
  }
  return out;
}

std::string to_string(const OpSignature& op) {
  const auto list = [](const std::vector<TensorSignature>& tensors) {
    std::vector<std::string> words;
    for (const TensorSignature& t : tensors)
      words.push_back(fmt::format("{}[{}]", name_of(t.dtype), fmt::join(t.dims, "x")));
    return fmt::format("{}", fmt::join(words, ", "));
  };
  return fmt::format("{}({}) -> {}", op.type, list(op.inputs), list(op.outputs));
}

std::string file_name(const OpSignature& op, size_t number) {
  std::string out = fmt::format("{}_{}", number, op.type);
  for (const auto* side : {&op.inputs, &op.outputs})
    for (const TensorSignature& t : *side) {
      out += fmt::format("_{}_{}", static_cast<int>(t.dtype), t.format);
      for (const int64_t size : t.dims) out += fmt::format("_{}", size);
    }
  return out;
}

}  // namespace npu::acl
