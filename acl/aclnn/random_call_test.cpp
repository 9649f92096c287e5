// SPDX-License-Identifier: Apache-2.0
// Every aclnn function is called with random arguments: wrong ranks, dtypes, strides, null, aliased, empty, absurd
// numbers. Whatever comes, phase 1 answers with a code and a text, and what it accepts runs.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "acl/aclnn/assign.h"
#include "acl/aclnn/phase.h"
#include "acl/error_state.h"
#include "device/context/context.h"
#include "device/memory/memory.h"

namespace npu::acl {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr std::array kTypes{ACL_FLOAT, ACL_FLOAT,     ACL_FLOAT16,    ACL_BF16, ACL_DOUBLE,
                            ACL_INT64, ACL_INT32,     ACL_INT16,      ACL_INT8, ACL_UINT8,
                            ACL_BOOL,  ACL_COMPLEX64, ACL_COMPLEX128, ACL_INT4, ACL_STRING};
constexpr std::array<int64_t, 8> kSizes{0, 1, 1, 2, 3, 4, 5, 8};
constexpr std::array<int64_t, 10> kIntegers{0, 1, 1, 2, 3, -1, -2, 7, std::numeric_limits<int64_t>::max(), -1000000};
const std::array kReals{0.0, 1.0, 0.5, -1.0, 1e-5, 2.0, 1e300, std::nan(""), -HUGE_VAL};
constexpr std::array kTexts{"", "none", "tanh", "mean", "sum", "BNSD", "BSND", "BSH", "nonsense"};

/// More of them look longer: ANYNPU_TEST_CALLS=5000.
int calls_per_row() {
  const char* text = std::getenv("ANYNPU_TEST_CALLS");
  return text == nullptr ? 60 : std::atoi(text);
}

/// Blocks of device memory that all calls share.
struct Memory {
  std::array<char*, 4> blocks;
  explicit Memory(std::mt19937& random) {
    device::set_device(0);
    for (char*& block : blocks) {
      block = static_cast<char*>(device::allocate(0, kBlockBytes));
      auto* bytes = static_cast<unsigned char*>(device::resolve(block, kBlockBytes));
      for (size_t i = 0; i < kBlockBytes; ++i) bytes[i] = static_cast<unsigned char>(random() % 4);
    }
  }
  ~Memory() {
    for (char* block : blocks) device::deallocate(block);
  }
};

/// The arguments of one call, and the objects to destroy after it.
class Draw {
 public:
  Draw(std::mt19937& random, const Memory& memory) : random_(random), memory_(memory) {
    usual_type_ = pick(kTypes);
    usual_shape_ = shape();
  }
  ~Draw() {
    for (const aclTensor* t : tensors_) aclDestroyTensor(t);
    for (const aclScalar* s : scalars_) aclDestroyScalar(s);
    for (const aclTensorList* l : tensor_lists_) aclDestroyTensorList(l);
    for (const aclScalarList* l : scalar_lists_) aclDestroyScalarList(l);
    for (const aclIntArray* a : int_arrays_) aclDestroyIntArray(a);
    for (const aclBoolArray* a : bool_arrays_) aclDestroyBoolArray(a);
    for (const aclFloatArray* a : float_arrays_) aclDestroyFloatArray(a);
  }

  Argument argument(Word word) {
    if (is_pointer(word) && word != Word::kString && chance(4)) return static_cast<const void*>(nullptr);
    switch (word) {
      case Word::kTensor: return kept(tensors_, tensor());
      case Word::kScalar: return kept(scalars_, scalar());
      case Word::kTensorList: return tensor_list();
      case Word::kScalarList: return scalar_list();
      case Word::kIntArray: return int_array();
      case Word::kBoolArray: return bool_array();
      case Word::kFloatArray: return float_array();
      case Word::kInteger: return pick(kIntegers);
      case Word::kReal: return pick(kReals);
      case Word::kBool: return chance(50);
      case Word::kDType: return pick(kTypes);
      case Word::kString: return static_cast<const void*>(pick(kTexts));
    }
    return static_cast<const void*>(nullptr);
  }

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  template <class Array>
  typename Array::value_type pick(const Array& values) {
    return values[random_() % values.size()];
  }
  template <class T>
  static const void* kept(std::vector<const T*>& list, const T* object) {
    list.push_back(object);
    return object;
  }

  std::vector<int64_t> shape() {
    std::vector<int64_t> out(random_() % 6);
    for (int64_t& size : out) size = pick(kSizes);
    return out;
  }

  const aclTensor* tensor() {
    std::vector<int64_t> dims = chance(70) ? usual_shape_ : shape();
    if (chance(10) && !dims.empty()) dims[random_() % dims.size()] = 1;
    const Dims row_major = contiguous_strides(Dims(dims));
    std::vector<int64_t> strides(row_major.begin(), row_major.end());
    if (chance(15) && strides.size() > 1) std::swap(strides.front(), strides.back());
    if (chance(10) && !strides.empty()) strides[random_() % strides.size()] = 0;
    const int64_t storage = static_cast<int64_t>(kBlockBytes / 16);
    return aclCreateTensor(dims.data(), dims.size(), chance(75) ? usual_type_ : pick(kTypes), strides.data(),
                           chance(10) ? 3 : 0, ACL_FORMAT_ND, &storage, 1, pick(memory_.blocks));
  }

  const aclScalar* scalar() {
    double real = pick(kReals);
    int64_t integer = pick(kIntegers);
    bool truth = chance(50);
    if (chance(60)) return aclCreateScalar(&real, ACL_DOUBLE);
    return chance(80) ? aclCreateScalar(&integer, ACL_INT64) : aclCreateScalar(&truth, ACL_BOOL);
  }

  const void* tensor_list() {
    std::vector<const aclTensor*> members(random_() % 4);
    for (auto& member : members) member = chance(5) ? nullptr : tensor();
    return kept<aclTensorList>(tensor_lists_, aclCreateTensorList(members.data(), members.size()));
  }
  const void* scalar_list() {
    std::vector<const aclScalar*> members(random_() % 4);
    for (auto& member : members) member = scalar();
    return kept<aclScalarList>(scalar_lists_, aclCreateScalarList(members.data(), members.size()));
  }
  const void* int_array() {
    std::vector<int64_t> values(random_() % 5);
    for (int64_t& v : values) v = pick(kIntegers);
    return kept<aclIntArray>(int_arrays_, aclCreateIntArray(values.data(), values.size()));
  }
  const void* bool_array() {
    const bool values[] = {chance(50), chance(50), chance(50), chance(50)};
    return kept<aclBoolArray>(bool_arrays_, aclCreateBoolArray(values, random_() % 5));
  }
  const void* float_array() {
    const float values[] = {1, 0.5F, -2};
    return kept<aclFloatArray>(float_arrays_, aclCreateFloatArray(values, random_() % 4));
  }

  std::mt19937& random_;
  const Memory& memory_;
  aclDataType usual_type_;
  std::vector<int64_t> usual_shape_;
  std::vector<const aclTensor*> tensors_;
  std::vector<const aclScalar*> scalars_;
  std::vector<const aclTensorList*> tensor_lists_;
  std::vector<const aclScalarList*> scalar_lists_;
  std::vector<const aclIntArray*> int_arrays_;
  std::vector<const aclBoolArray*> bool_arrays_;
  std::vector<const aclFloatArray*> float_arrays_;
};

void call(const Row& row, std::mt19937& random, const Memory& memory) {
  Draw draw(random, memory);
  std::vector<Argument> arguments;
  for (const Parameter& p : row.parameters) arguments.push_back(draw.argument(p.kind));
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const int code = phase1(row, arguments, &size, &executor);
  if (code == 0) {
    EXPECT_EQ(phase2(row, nullptr, size, executor, nullptr), 0) << row.name << ": " << recent_error();
    // Outputs of data-dependent size are written into objects that `draw` destroys; what only the data shows to be
    // wrong (an index out of range) surfaces here.
    const int later = guarded(nullptr, [] { device::synchronize_device(); });
    EXPECT_TRUE(later == 0 || *recent_error() != '\0') << row.name;
    return;
  }
  const std::string text = recent_error();
  EXPECT_TRUE(code == 161001 || code == 161002) << row.name << " " << code << ": " << text;
  EXPECT_EQ(text.rfind(std::string("[") + row.name + "] ", 0), 0u) << text;
  EXPECT_EQ(executor, nullptr) << row.name;
}

class RandomCall : public testing::TestWithParam<const Row*> {};

TEST_P(RandomCall, IsAnswered) {
  const Row& row = *GetParam();
  std::mt19937 random(static_cast<unsigned>(std::hash<std::string_view>()(row.name)));
  const size_t executors = ExecutorPool::live_count(), tensors = ObjectPool<aclTensor>::live_count();
  const Memory memory(random);
  for (int i = 0; i < calls_per_row(); ++i) call(row, random, memory);
  EXPECT_EQ(ExecutorPool::live_count(), executors);
  EXPECT_EQ(ObjectPool<aclTensor>::live_count(), tensors);
}

INSTANTIATE_TEST_SUITE_P(All, RandomCall, testing::ValuesIn(all_rows()),
                         [](const auto& tested) { return std::string(tested.param->name); });

}  // namespace
}  // namespace npu::acl
