// SPDX-License-Identifier: Apache-2.0
#include "acl/singleop/view.h"

#include <algorithm>

#include "acl/aclnn/object.h"
#include "base/error.h"

namespace npu::acl {
namespace {

using Arguments = std::vector<NamedValue>;

struct Function {
  std::string_view name;
  size_t arguments;
  Value (*apply)(const Arguments&);
};

const Tensor& tensor_of(const NamedValue& argument) {
  if (argument.value.tensor() == nullptr) fail(Code::kInvalidParam, "{} must be a tensor", argument.name);
  return *argument.value.tensor();
}

std::vector<int64_t> list_of(const NamedValue& argument) { return integers_of(argument.value, argument.name); }

int64_t number_of(const NamedValue& argument) {
  const std::vector<int64_t> list = list_of(argument);
  if (list.size() != 1) fail(Code::kInvalidParam, "{} must be one number, it has {}", argument.name, list.size());
  return list.front();
}

Value of(Tensor tensor, const NamedValue& from) { return {.content = std::move(tensor), .host = from.value.host}; }
Value of(std::vector<int64_t> list) { return {.content = aclopAttr::Value(std::move(list))}; }

// Without a flag the tensor stays as it is: attributes that are left out mean no.
Value transposed(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  if (!a[1].value.given() || !truth_of(a[1].value, a[1].name)) return a[0].value;
  if (x.rank() < 2) fail(Code::kInvalidParam, "{} is {}; it needs two axes to be transposed", a[0].name, x);
  return of(x.transposed(x.rank() - 2, x.rank() - 1), a[0]);
}

Value strided(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const std::vector<int64_t> sizes = list_of(a[1]), strides = list_of(a[2]);
  const int64_t offset = a[3].value.given() ? number_of(a[3]) : 0;
  if (sizes.size() != strides.size() || sizes.size() > kMaxRank)
    fail(Code::kInvalidParam, "{} has {} members, {} has {}; both must have as many, and at most {}", a[1].name,
         sizes.size(), a[2].name, strides.size(), kMaxRank);
  // The view is checked against memory here: kernels walk strides without looking.
  const auto negative = [](int64_t n) { return n < 0; };
  if (offset < 0 || std::any_of(sizes.begin(), sizes.end(), negative) ||
      std::any_of(strides.begin(), strides.end(), negative))
    fail(Code::kInvalidParam, "sizes [{}], strides [{}] and the offset {} must not be negative", fmt::join(sizes, ", "),
         fmt::join(strides, ", "), offset);
  Tensor view = x.view(Dims(std::span(sizes)), Dims(std::span(strides)));
  view.offset += std::min(offset, x.storage_elements);  // beyond it is refused below, unless nothing is there
  check_reach(view);
  if (view.count() > 0 && view.offset + view.span() > x.storage_elements)
    fail(Code::kInvalidParam, "sizes [{}] with strides [{}] from element {} reach behind the {} elements of {}",
         fmt::join(sizes, ", "), fmt::join(strides, ", "), offset, x.storage_elements, a[0].name);
  return of(std::move(view), a[0]);
}

Dims row_major(const Dims& shape) {
  // Sizes of 0 count as 1, so that strides of an empty tensor are what others make them.
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<int64_t>(shape[i], 1);
  return strides;
}

// Both come as the client's buffers hold them: dense and row-major.
Value shaped(const Arguments& a) {
  const Tensor &x = tensor_of(a[0]), &y = tensor_of(a[1]);
  if (x.count() != y.count())
    fail(Code::kInvalidParam, "{} is {}, {} is {}; they must have as many elements", a[0].name, x, a[1].name, y);
  return of(x.view(y.shape, row_major(y.shape)), a[0]);
}

Value sliced(const Arguments& a) {
  const Tensor& x = tensor_of(a[0]);
  const std::vector<int64_t> begin = list_of(a[1]), sizes = list_of(a[2]);
  if (begin.size() != x.rank() || sizes.size() != x.rank())
    fail(Code::kInvalidParam, "{} has {} members and {} has {}; {} needs one for each axis", a[1].name, begin.size(),
         a[2].name, sizes.size(), x);
  Tensor block = x;
  for (size_t i = 0; i < x.rank(); ++i) {
    const bool inside = begin[i] >= 0 && begin[i] <= x.shape[i];
    const int64_t rest = inside ? x.shape[i] - begin[i] : 0, size = sizes[i] == -1 ? rest : sizes[i];
    if (!inside || size < 0 || size > rest)
      fail(Code::kInvalidParam, "offset {} and size {} leave axis {} of {}", begin[i], sizes[i], i, x);
    block.shape[i] = size;
    block.offset += begin[i] * x.strides[i];
  }
  return of(std::move(block), a[0]);
}

Value part(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const int64_t begin = number_of(a[1]), end = number_of(a[2]);
  if (static_cast<int64_t>(list.size()) < end)
    fail(Code::kInvalidParam, "{} is [{}]; it needs {} members", a[0].name, fmt::join(list, ", "), end);
  return of(std::vector<int64_t>(list.begin() + begin, list.begin() + end));
}

Value starts(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  std::vector<int64_t> first;
  for (size_t i = 0; i < list.size(); i += 2) first.push_back(list[i]);
  return of(std::move(first));
}

Value ends(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  for (size_t i = 0; i + 1 < list.size(); i += 2)
    if (list[i] != list[i + 1])
      fail(Code::kInvalidParam, "{} is [{}]; other paddings before an axis than after it are not built", a[0].name,
           fmt::join(list, ", "));
  return starts(a);
}

Value outermost_last(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  if (list.size() % 2 != 0)
    fail(Code::kInvalidParam, "{} is [{}]; it needs two numbers for each axis", a[0].name, fmt::join(list, ", "));
  std::vector<int64_t> turned;
  for (size_t i = list.size(); i >= 2; i -= 2) turned.insert(turned.end(), {list[i - 2], list[i - 1]});
  return of(std::move(turned));
}

Value item(const Arguments& a) {
  const std::vector<int64_t> list = list_of(a[0]);
  const auto at = static_cast<size_t>(number_of(a[1]));
  if (at >= list.size())
    fail(Code::kInvalidParam, "{} is [{}]; it needs {} members", a[0].name, fmt::join(list, ", "), at + 1);
  return of(std::vector<int64_t>{list[at]});
}

Value switched(const Arguments& a) { return {.content = aclopAttr::Value(!truth_of(a[0].value, a[0].name))}; }

Value complement(const Arguments& a) {
  return {.content = aclopAttr::Value(static_cast<float>(1 - real_of(a[0].value, a[0].name)))};
}

Value inverse(const Arguments& a) {
  const double value = real_of(a[0].value, a[0].name);
  return {.content = aclopAttr::Value(static_cast<float>(value == 0 ? 0 : 1 / value))};
}

/// The number of a word among `words`.
Value numbered(const NamedValue& argument, std::initializer_list<std::string_view> words) {
  const std::string word = word_of(argument.value, argument.name);
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (found == words.end())
    fail(Code::kInvalidParam, "{} is '{}'; it is one of {}", argument.name, word, fmt::join(words, ", "));
  return {.content = aclopAttr::Value(int64_t{found - words.begin()})};
}

Value mode(const Arguments& a) { return numbered(a[0], {"none", "mean", "sum"}); }
Value writing(const Arguments& a) { return numbered(a[0], {"none", "add", "mul"}); }

constexpr Function kFunctions[] = {
    {"transposed", 2, transposed},
    {"strided", 4, strided},
    {"shaped", 2, shaped},
    {"sliced", 3, sliced},
    {"part", 3, part},
    {"item", 2, item},
    {"starts", 1, starts},
    {"ends", 1, ends},
    {"outermost_last", 1, outermost_last},
    {"switched", 1, switched},
    {"complement", 1, complement},
    {"inverse", 1, inverse},
    {"mode", 1, mode},
    {"writing", 1, writing},
};

const Function* find_function(std::string_view name) {
  for (const Function& function : kFunctions)
    if (function.name == name) return &function;
  return nullptr;
}

}  // namespace

// When the table is read, so that a call cannot meet a function that is not there.
void check_function(std::string_view function, size_t arguments) {
  const Function* found = find_function(function);
  require(found != nullptr, "there is no function {}", function);
  require(found->arguments == arguments, "{} takes {} arguments, got {}", function, found->arguments, arguments);
}

Value apply_function(std::string_view function, const std::vector<NamedValue>& arguments) {
  return find_function(function)->apply(arguments);
}

}  // namespace npu::acl
