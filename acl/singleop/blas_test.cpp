// SPDX-License-Identifier: Apache-2.0
// Products by the names of a BLAS, against sums in double.
#include <cmath>
#include <functional>
#include <random>

#include "acl/include/acl/ops/acl_cblas.h"
#include "acl/runtime/runtime_fixture.h"
#include "base/dtype.h"
#include "base/half.h"

namespace npu::acl {
namespace {

using Blas = OnDevice;

/// Numbers in device memory, as doubles here.
class Numbers {
 public:
  Numbers(aclDataType dtype, std::vector<double> values) : dtype_(dtype), values_(std::move(values)), memory_(bytes()) {
    std::vector<std::byte> host(bytes());
    for (size_t i = 0; i < values_.size(); ++i) write(host.data(), i, values_[i]);
    EXPECT_OK(aclrtMemcpy(memory_.get(), bytes(), host.data(), bytes(), ACL_MEMCPY_HOST_TO_DEVICE));
  }
  Numbers(aclDataType dtype, size_t count, unsigned seed) : Numbers(dtype, random(dtype, count, seed)) {}

  void* get() const { return memory_.get(); }
  double operator[](size_t i) const { return values_[i]; }
  std::vector<double> now() const {
    const std::vector<uint8_t> host = memory_.read();
    std::vector<double> out;
    for (size_t i = 0; i < values_.size(); ++i) out.push_back(read(host.data(), i));
    return out;
  }
  size_t bytes() const { return values_.size() * aclDataTypeSize(dtype_); }

 private:
  static std::vector<double> random(aclDataType dtype, size_t count, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_int_distribution<int> steps(-100, 100);
    std::vector<double> out(count);
    const bool whole = dtype == ACL_INT8 || dtype == ACL_INT32;
    for (double& value : out) value = steps(engine) * (whole ? 1 : 1.0 / 64);
    return out;
  }
  void write(std::byte* to, size_t i, double value) const {
    switch (dtype_) {
      case ACL_FLOAT: reinterpret_cast<float*>(to)[i] = static_cast<float>(value); break;
      case ACL_FLOAT16: reinterpret_cast<Half*>(to)[i] = Half(static_cast<float>(value)); break;
      case ACL_INT8: reinterpret_cast<int8_t*>(to)[i] = static_cast<int8_t>(value); break;
      default: reinterpret_cast<int32_t*>(to)[i] = static_cast<int32_t>(value); break;
    }
  }
  double read(const uint8_t* from, size_t i) const {
    switch (dtype_) {
      case ACL_FLOAT: return reinterpret_cast<const float*>(from)[i];
      case ACL_FLOAT16: return static_cast<float>(reinterpret_cast<const Half*>(from)[i]);
      case ACL_INT8: return reinterpret_cast<const int8_t*>(from)[i];
      default: return reinterpret_cast<const int32_t*>(from)[i];
    }
  }
  aclDataType dtype_;
  std::vector<double> values_;
  Memory memory_;
};

struct Types {
  aclDataType a, b, c;
};
constexpr Types kTypes[] = {{ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16},
                            {ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT},
                            {ACL_INT8, ACL_INT8, ACL_FLOAT},
                            {ACL_INT8, ACL_INT8, ACL_INT32}};

constexpr int kM = 5, kN = 7, kK = 33;

void expect_product(const Numbers& a, const Numbers& b, const Numbers& c, bool turned_a, bool turned_b, double alpha,
                    double beta, double rounding) {
  const std::vector<double> got = c.now();
  for (size_t i = 0; i < kM; ++i) {
    for (size_t j = 0; j < kN; ++j) {
      double sum = 0, size = 0;
      for (size_t k = 0; k < kK; ++k) {
        const double term = a[turned_a ? k * kM + i : i * kK + k] * b[turned_b ? j * kK + k : k * kN + j];
        sum += term, size += std::abs(term);
      }
      const double want = alpha * sum + beta * c[i * kN + j];
      ASSERT_NEAR(got[i * kN + j], want, 4 * rounding * (size + std::abs(want))) << i << ", " << j;
    }
  }
}

TEST_F(Blas, MultipliesEveryTypeAndOrder) {
  for (const Types& types : kTypes) {
    const bool whole = types.c == ACL_INT32;
    const double alpha_value = whole ? 2 : 0.5, beta_value = whole ? -3 : 1.5;
    const double rounding = whole ? 0 : types.c == ACL_FLOAT ? 1.0 / (1 << 24) : 1.0 / (1 << 11);
    for (int order = 0; order < 8; ++order) {
      const bool turned_a = order & 1, turned_b = order & 2, on_host = order & 4;
      const Numbers a(types.a, kM * kK, 1), b(types.b, kK * kN, 2), c(types.c, kM * kN, 3);
      const Numbers alpha(types.c, {alpha_value}), beta(types.c, {beta_value});
      std::vector<std::byte> host_alpha(4), host_beta(4);
      EXPECT_OK(aclrtMemcpy(host_alpha.data(), 4, alpha.get(), alpha.bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_OK(aclrtMemcpy(host_beta.data(), 4, beta.get(), beta.bytes(), ACL_MEMCPY_DEVICE_TO_HOST));
      EXPECT_OK(aclblasGemmEx(turned_a ? ACL_TRANS_T : ACL_TRANS_N, turned_b ? ACL_TRANS_T : ACL_TRANS_N, ACL_TRANS_N,
                              kM, kN, kK, on_host ? host_alpha.data() : alpha.get(), a.get(), -1, types.a, b.get(), -1,
                              types.b, on_host ? host_beta.data() : beta.get(), c.get(), -1, types.c,
                              ACL_COMPUTE_HIGH_PRECISION, nullptr));
      EXPECT_OK(aclrtSynchronizeStream(nullptr));
      expect_product(a, b, c, turned_a, turned_b, alpha_value, beta_value, rounding);
    }
  }
}

TEST_F(Blas, MultipliesVectorsWithGaps) {
  const Numbers a(ACL_FLOAT16, kM * kK, 1), x(ACL_FLOAT16, 2 * kK, 2), y(ACL_FLOAT16, 3 * kK, 3);
  const Numbers alpha(ACL_FLOAT16, {2}), beta(ACL_FLOAT16, {0.5});
  const auto half = [](const Numbers& n) { return static_cast<aclFloat16*>(n.get()); };
  EXPECT_OK(aclblasHgemv(ACL_TRANS_N, kM, kK, half(alpha), half(a), kK, half(x), 2, half(beta), half(y), 3,
                         ACL_COMPUTE_HIGH_PRECISION, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  const std::vector<double> got = y.now();
  for (size_t i = 0; i < 3 * kK; ++i) {
    double want = y[i];
    if (i % 3 == 0 && i / 3 < kM) {
      want *= 0.5;
      for (size_t k = 0; k < kK; ++k) want += 2 * a[i / 3 * kK + k] * x[2 * k];
    }
    ASSERT_NEAR(got[i], want, 4.0 / (1 << 11) * (std::abs(want) + 10)) << i;
  }
}

TEST_F(Blas, AVectorTimesATurnedMatrix) {
  const Numbers a(ACL_INT8, kM * kK, 1), x(ACL_INT8, kM, 2), y(ACL_INT32, kK, 3);
  const int32_t alpha = 1, beta = 0;
  EXPECT_OK(aclblasS8gemv(ACL_TRANS_T, kM, kK, &alpha, static_cast<int8_t*>(a.get()), -1, static_cast<int8_t*>(x.get()),
                          -1, &beta, static_cast<int32_t*>(y.get()), -1, ACL_COMPUTE_HIGH_PRECISION, nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  const std::vector<double> got = y.now();
  for (size_t j = 0; j < kK; ++j) {
    double want = 0;
    for (size_t i = 0; i < kM; ++i) want += a[i * kK + j] * x[i];
    EXPECT_EQ(got[j], want);
  }
}

/// Buffers of device memory that end with the object.
struct Buffers {
  std::vector<aclDataBuffer*> all;
  explicit Buffers(const std::vector<const Numbers*>& numbers) {
    for (const Numbers* n : numbers) all.push_back(aclCreateDataBuffer(n->get(), n->bytes()));
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() {
    for (const aclDataBuffer* buffer : all) EXPECT_OK(aclDestroyDataBuffer(buffer));
  }
};

TEST_F(Blas, AHandleRunsManyTimes) {
  aclopHandle* handle = nullptr;
  ASSERT_OK(aclblasCreateHandleForHgemm(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, kM, kN, kK, ACL_COMPUTE_HIGH_PRECISION,
                                        &handle));
  for (unsigned round = 0; round < 3; ++round) {
    const Numbers a(ACL_FLOAT16, kM * kK, round), b(ACL_FLOAT16, kK * kN, round + 9),
        c(ACL_FLOAT16, kM * kN, round + 5);
    const Numbers alpha(ACL_FLOAT16, {1}), beta(ACL_FLOAT16, {1});
    const Buffers in({&a, &b, &c, &alpha, &beta}), out({&c});
    EXPECT_OK(aclopExecWithHandle(handle, 5, in.all.data(), 1, const_cast<aclDataBuffer**>(out.all.data()), nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
    expect_product(a, b, c, false, false, 1, 1, 1.0 / (1 << 11));
    EXPECT_EQ(aclopExecWithHandle(handle, 2, in.all.data(), 1, const_cast<aclDataBuffer**>(out.all.data()), nullptr),
              100000);
  }
  aclopDestroyHandle(handle);
  EXPECT_EQ(aclopExecWithHandle(handle, 0, nullptr, 0, nullptr, nullptr), 100000);
}

TEST_F(Blas, AHandleOfAnOperatorTypeRuns) {
  const int64_t dims[] = {kM};
  aclTensorDesc* halves = aclCreateTensorDesc(ACL_FLOAT16, 1, dims, ACL_FORMAT_ND);
  aclTensorDesc* floats = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
  aclopHandle *add = nullptr, *cast = nullptr, *none = nullptr;
  const aclTensorDesc* two[] = {halves, halves};
  const aclTensorDesc* one[] = {halves};
  EXPECT_OK(aclopCreateHandle("Add", 2, two, 1, one, nullptr, &add));
  EXPECT_OK(aclopCreateHandleForCast(halves, floats, 0, &cast));
  EXPECT_EQ(aclopCreateHandle("NoSuchThing", 0, nullptr, 0, nullptr, nullptr, &none), 100024);
  EXPECT_EQ(aclopCreateHandle(nullptr, 0, nullptr, 0, nullptr, nullptr, &none), 100000);
  aclDestroyTensorDesc(halves);
  aclDestroyTensorDesc(floats);
  const Numbers x(ACL_FLOAT16, kM, 1), y(ACL_FLOAT16, kM, 2), sum(ACL_FLOAT16, kM, 3), wide(ACL_FLOAT, kM, 4);
  const Buffers in({&x, &y}), out({&sum}), last({&wide});
  EXPECT_OK(aclopExecWithHandle(add, 2, in.all.data(), 1, const_cast<aclDataBuffer**>(out.all.data()), nullptr));
  EXPECT_OK(aclopExecWithHandle(cast, 1, out.all.data(), 1, const_cast<aclDataBuffer**>(last.all.data()), nullptr));
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  const std::vector<double> got = wide.now();
  for (size_t i = 0; i < kM; ++i) EXPECT_EQ(got[i], x[i] + y[i]);
  aclopDestroyHandle(add);
  aclopDestroyHandle(cast);
}

TEST_F(Blas, RefusesWrongCalls) {
  const Numbers a(ACL_FLOAT16, kM * kK, 1), b(ACL_FLOAT16, kK * kN, 2), c(ACL_FLOAT16, kM * kN, 3);
  const aclFloat16 one = 0x3c00;
  struct Call {
    aclTransType a = ACL_TRANS_N, c = ACL_TRANS_N;
    int m = kM, lda = -1;
    aclDataType type = ACL_FLOAT16;
    const void* alpha;
    int compute = 0;
  };
  const auto code = [&](const Call& call) {
    return aclblasGemmEx(call.a, ACL_TRANS_N, call.c, call.m, kN, kK, call.alpha, a.get(), call.lda, call.type, b.get(),
                         -1, ACL_FLOAT16, &one, c.get(), -1, ACL_FLOAT16, static_cast<aclComputeType>(call.compute),
                         nullptr);
  };
  EXPECT_EQ(code({.alpha = &one}), 0);
  EXPECT_EQ(code({.a = ACL_TRANS_NZ, .alpha = &one}), 100000);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("blocked"), std::string::npos);
  EXPECT_EQ(code({.c = ACL_TRANS_T, .alpha = &one}), 100000);
  EXPECT_EQ(code({.m = 0, .alpha = &one}), 100000);
  EXPECT_EQ(code({.lda = kK - 1, .alpha = &one}), 100000);
  EXPECT_EQ(code({.type = ACL_FLOAT, .alpha = &one}), 100000);
  EXPECT_EQ(code({.alpha = nullptr}), 100000);
  EXPECT_EQ(code({.alpha = &one, .compute = 7}), 100000);
  EXPECT_EQ(code({.m = 1 << 20, .alpha = &one}), 107000);  // beyond the memory
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

}  // namespace
}  // namespace npu::acl
