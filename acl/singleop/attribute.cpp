// SPDX-License-Identifier: Apache-2.0
#include "acl/call.h"
#include "acl/include/acl/acl_op.h"
#include "acl/singleop/description.h"

namespace npu::acl {
namespace {

void put(aclopAttr* attr, const char* name, aclopAttr::Value value) {
  // Set again, an attribute has the last value, as with any setter.
  described(attr, "attr").values.insert_or_assign(given(name, "attrName"), std::move(value));
}

template <class T, class U>
std::vector<T> list(int count, const U* values) {
  if (count < 0) fail(Code::kInvalidParam, "numValues is {}; it must not be negative", count);
  if (count > 0) given(values, "values");
  // Copied: the client's array may be gone before the call that reads it.
  return std::vector<T>(values, values + count);
}

std::vector<std::vector<int64_t>> lists(int count, const int* counts, const int64_t* const* values) {
  if (count < 0) fail(Code::kInvalidParam, "numLists is {}; it must not be negative", count);
  if (count > 0) {
    given(counts, "numValues");
    given(values, "values");
  }
  std::vector<std::vector<int64_t>> out;
  out.reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(list<int64_t>(counts[i], values[i]));
  return out;
}

std::vector<std::string> texts(int count, const char** values) {
  std::vector<std::string> out;
  for (const char* text : span_of(count, values, "values")) out.emplace_back(given(text, "a member of values"));
  return out;
}

std::vector<DType> types(int count, const aclDataType* values) {
  std::vector<DType> out;
  for (const aclDataType type : span_of(count, values, "values")) out.push_back(static_cast<DType>(type));
  return out;
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclopAttr* aclopCreateAttr() {
  return call_or<aclopAttr*>("aclopCreateAttr", nullptr, [] { return DescriptionPool<aclopAttr>::create(); });
}
void aclopDestroyAttr(const aclopAttr* attr) {
  if (attr == nullptr) return;
  call("aclopDestroyAttr", [&] {
    described(attr, "attr");
    DescriptionPool<aclopAttr>::destroy(attr);
  });
}

aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue) {
  return call("aclopSetAttrBool", [&] { put(attr, attrName, attrValue != 0); });
}
aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue) {
  return call("aclopSetAttrInt", [&] { put(attr, attrName, attrValue); });
}
aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue) {
  return call("aclopSetAttrFloat", [&] { put(attr, attrName, attrValue); });
}
aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue) {
  return call("aclopSetAttrString", [&] { put(attr, attrName, std::string(given(attrValue, "attrValue"))); });
}
aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue) {
  return call("aclopSetAttrDataType", [&] { put(attr, attrName, static_cast<DType>(attrValue)); });
}
aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values) {
  return call("aclopSetAttrListBool", [&] { put(attr, attrName, list<bool>(numValues, values)); });
}
aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values) {
  return call("aclopSetAttrListInt", [&] { put(attr, attrName, list<int64_t>(numValues, values)); });
}
aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values) {
  return call("aclopSetAttrListFloat", [&] { put(attr, attrName, list<float>(numValues, values)); });
}
aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues,
                                 const int64_t* const values[]) {
  return call("aclopSetAttrListListInt", [&] { put(attr, attrName, lists(numLists, numValues, values)); });
}
aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values) {
  return call("aclopSetAttrListString", [&] { put(attr, attrName, texts(numValues, values)); });
}
aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues, const aclDataType values[]) {
  return call("aclopSetAttrListDataType", [&] { put(attr, attrName, types(numValues, values)); });
}
