// SPDX-License-Identifier: Apache-2.0
// Products of matrices by the names of a BLAS. A matrix in device memory becomes a tensor with strides; the operator
// addmm does the rest, planned when the work runs, as the factors may lie in device memory and be written until then.
#include <memory>
#include <optional>
#include <vector>

#include "acl/aclnn/launch.h"
#include "acl/aclnn/recorded_memory.h"
#include "acl/call.h"
#include "acl/include/acl/ops/acl_cblas.h"
#include "acl/singleop/description.h"
#include "acl/singleop/handle.h"
#include "base/half.h"
#include "base/thread_pool.h"
#include "device/context/context.h"
#include "device/memory/memory.h"
#include "device/queue/capture.h"
#include "ops/operator.h"

namespace npu::acl {
namespace {

using HandlePool = DescriptionPool<aclopHandle>;

/// C = alpha * A * B + beta * C, before memory is known.
struct Gemm {
  int64_t m, n, k;
  bool turned_a, turned_b;
  DType a, b, c;
  int64_t lda, ldb, ldc;  ///< elements from row to row
};

struct Pointers {
  const void *alpha, *a, *b, *beta;
  void* c;
};

int64_t positive(int64_t value, const char* argument) {
  if (value <= 0) fail(Code::kInvalidParam, "{} is {}; it must be positive", argument, value);
  return value;
}

bool turned(aclTransType type, const char* argument) {
  if (type == ACL_TRANS_NZ || type == ACL_TRANS_NZ_T)
    fail(Code::kInvalidParam, "{} is {} (a blocked format), which is not built; convert the matrix to rows", argument,
         static_cast<int>(type));
  if (type != ACL_TRANS_N && type != ACL_TRANS_T)
    fail(Code::kInvalidParam, "{} is {}; it is 0 (N) or 1 (T)", argument, static_cast<int>(type));
  return type == ACL_TRANS_T;
}

int64_t leading(int given_step, int64_t least, const char* argument) {
  if (given_step != -1 && given_step < least)
    fail(Code::kInvalidParam, "{} is {}; it is -1, or at least the {} elements of a row", argument, given_step, least);
  return given_step == -1 ? least : given_step;
}

void check_types(DType a, DType b, DType c) {
  const bool halves = a == DType::kHalf && b == DType::kHalf && (c == DType::kHalf || c == DType::kFloat);
  const bool bytes = a == DType::kInt8 && b == DType::kInt8 && (c == DType::kInt32 || c == DType::kFloat);
  if (!halves && !bytes)
    fail(Code::kInvalidParam,
         "types {}, {} and {} have no product here; A and B are float16 (then C is float16 or float32) or int8 (then C "
         "is int32 or float32)",
         a, b, c);
}

void check_compute(aclComputeType type) {
  if (type != ACL_COMPUTE_HIGH_PRECISION && type != ACL_COMPUTE_LOW_PRECISION)
    fail(Code::kInvalidParam, "type is {}; it is 0 (high precision) or 1 (low)", static_cast<int>(type));
}

/// A matrix of `rows` x `columns` as it is used.
Tensor matrix(const void* data, DType dtype, int64_t rows, int64_t columns, int64_t ld, bool turned) {
  Tensor t = make_tensor(const_cast<void*>(data), dtype, {rows, columns});
  t.strides = turned ? Dims{1, ld} : Dims{ld, 1};
  t.storage_elements = t.span();
  return t;
}

Tensor resolved(Tensor t, const char* argument) {
  const size_t bytes = static_cast<size_t>(t.span()) * size_of(t.dtype);
  device::check_live(given(t.data, argument), bytes, device::kAnyDevice, argument);
  t.data = device::resolve(t.data, bytes);
  return t;
}

/// A factor: its value, or where it is read when the work runs.
struct Factor {
  const void* address = nullptr;
  DType dtype = DType::kUndefined;
  std::optional<Scalar> value;

  Factor(const void* place, DType type, const char* argument) : address(given(place, argument)), dtype(type) {
    if (!device::is_device_address(address)) {
      value = read(address);
      return;
    }
    device::check_live(address, size_of(dtype), device::kAnyDevice, argument);
  }
  Scalar get() const { return value ? *value : read(device::resolve(const_cast<void*>(address), size_of(dtype))); }

 private:
  Scalar read(const void* from) const {
    switch (dtype) {
      case DType::kHalf: return Scalar(static_cast<double>(static_cast<float>(*static_cast<const Half*>(from))));
      case DType::kFloat: return Scalar(static_cast<double>(*static_cast<const float*>(from)));
      default: return Scalar(int64_t{*static_cast<const int32_t*>(from)});
    }
  }
};

template <class T>
void set(ops::Operator& op, std::string_view field, const T& value) {
  op.def->field(field)->of<T>(op) = value;
}

void addmm(const Tensor& a, const Tensor& b, const Tensor& c, const Scalar& alpha, const Scalar& beta, int device,
           const char* name) {
  static const ops::OperatorDef& def = *ops::find_operator("addmm");
  const std::unique_ptr<ops::Operator> op = ops::create(def);
  set(*op, "mat1", a), set(*op, "mat2", b), set(*op, "self", c), set(*op, "out", c);
  set(*op, "alpha", alpha), set(*op, "beta", beta);
  op->prepare();
  run_on_device(device, name, *op);
}

/// Bytes into float32: the product of integers first, as the factors are no integers.
void addmm_bytes(const Tensor& a, const Tensor& b, const Tensor& c, double alpha, double beta, int device,
                 const char* name) {
  const int64_t rows = c.shape[0], columns = c.shape[1];
  std::vector<int32_t> sums(static_cast<size_t>(rows * columns));
  const Tensor product = make_tensor(sums.data(), DType::kInt32, c.shape);
  addmm(a, b, product, Scalar(1), Scalar(0), device, name);
  parallel_for(rows, std::max<int64_t>(1, 16384 / columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        float& to = c.as<float>()[i * c.strides[0] + j * c.strides[1]];
        const double before = beta == 0 ? 0 : beta * static_cast<double>(to);
        to = static_cast<float>(alpha * sums[static_cast<size_t>(i * columns + j)] + before);
      }
    }
  });
}

void queue(const char* name, const Gemm& g, const Pointers& p, aclrtStream handle) {
  device::Stream& stream = device::stream_from_handle(handle);
  const Tensor a = resolved(matrix(p.a, g.a, g.m, g.k, g.lda, g.turned_a), "matrix A");
  const Tensor b = resolved(matrix(p.b, g.b, g.k, g.n, g.ldb, g.turned_b), "matrix B (or x)");
  const Tensor c = resolved(matrix(p.c, g.c, g.m, g.n, g.ldc, false), "matrix C (or y)");
  const Factor alpha(p.alpha, g.c, "alpha"), beta(p.beta, g.c, "beta");
  device::Task task;
  task.name = name;
  task.cost_ns = 2000 + g.m * g.n * g.k / 8;
  const bool bytes = g.a == DType::kInt8 && g.c == DType::kFloat;
  const auto memory = std::make_shared<RecordedMemory>();
  if (device::captured(stream))
    memory->add(a, "matrix A"), memory->add(b, "matrix B (or x)"), memory->add(c, "matrix C (or y)");
  task.body = [=, device = stream.device()] {
    memory->check();
    if (bytes) return addmm_bytes(a, b, c, alpha.get().to_double(), beta.get().to_double(), device, name);
    addmm(a, b, c, alpha.get(), beta.get(), device, name);
  };
  launch_kernel(stream, std::move(task));
}

struct Shape {
  aclTransType a, b, c;
  int m, n, k;
};
struct Steps {
  int a = -1, b = -1, c = -1;
};

Gemm gemm(const Shape& s, DType a, DType b, DType c, aclComputeType type, const Steps& steps = {}) {
  check_compute(type);
  check_types(a, b, c);
  const int64_t m = positive(s.m, "m"), n = positive(s.n, "n"), k = positive(s.k, "k");
  const bool turned_a = turned(s.a, "transA"), turned_b = turned(s.b, "transB");
  if (turned(s.c, "transC")) fail(Code::kInvalidParam, "transC is 1 (T); C is always stored by rows: pass ACL_TRANS_N");
  return {m,
          n,
          k,
          turned_a,
          turned_b,
          a,
          b,
          c,
          leading(steps.a, turned_a ? m : k, "lda"),
          leading(steps.b, turned_b ? k : n, "ldb"),
          leading(steps.c, n, "ldc")};
}

/// A product with one column: x and y lie along a matrix of one column, whose rows are inc apart.
Gemm gemv(aclTransType trans, int m, int n, DType a, DType x, DType y, aclComputeType type, const Steps& steps = {}) {
  check_compute(type);
  check_types(a, x, y);
  const int64_t rows = positive(m, "m"), columns = positive(n, "n");
  const bool turned_a = turned(trans, "transA");
  // As BLAS has it, m and n are those of A as it is stored.
  const int64_t out = turned_a ? columns : rows, in = turned_a ? rows : columns;
  return {out,
          1,
          in,
          turned_a,
          false,
          a,
          x,
          y,
          leading(steps.a, columns, "lda"),
          leading(steps.b, 1, "incx"),
          leading(steps.c, 1, "incy")};
}

DType type_of(aclDataType type) { return static_cast<DType>(type); }

void create(const char* name, const Gemm& g, aclopHandle** handle) {
  const auto run = [name, g](aclopHandle::Inputs inputs, aclopHandle::Outputs outputs, aclrtStream stream) -> aclError {
    if (inputs.size() != 5 || outputs.size() != 1)
      fail(Code::kInvalidParam, "{} takes 5 inputs (A, B, C, alpha, beta) and 1 output, {} and {} are given", name,
           inputs.size(), outputs.size());
    void* data[5];
    for (size_t i = 0; i < 5; ++i) data[i] = described(inputs[i], "an input").data;
    void* out = described(outputs[0], "the output").data;
    if (out != data[2])
      fail(Code::kInvalidParam, "the output of {} is another memory than its input C; C is changed in place", name);
    queue(name, g, {data[3], data[0], data[1], data[4], out}, stream);
    return ACL_SUCCESS;
  };
  give_made(handle, "handle", [&] { return HandlePool::create(aclopHandle{run}); });
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const void* alpha, const void* matrixA, int lda, aclDataType dataTypeA, const void* matrixB,
                       int ldb, aclDataType dataTypeB, const void* beta, void* matrixC, int ldc, aclDataType dataTypeC,
                       aclComputeType type, aclrtStream stream) {
  return call("aclblasGemmEx", [&] {
    queue("GemmEx",
          gemm({transA, transB, transC, m, n, k}, type_of(dataTypeA), type_of(dataTypeB), type_of(dataTypeC), type,
               {lda, ldb, ldc}),
          {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}
aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                      const aclFloat16* alpha, const aclFloat16* matrixA, int lda, const aclFloat16* matrixB, int ldb,
                      const aclFloat16* beta, aclFloat16* matrixC, int ldc, aclComputeType type, aclrtStream stream) {
  return call("aclblasHgemm", [&] {
    const DType half = DType::kHalf;
    queue("Hgemm", gemm({transA, transB, transC, m, n, k}, half, half, half, type, {lda, ldb, ldc}),
          {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}
aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                       const int32_t* alpha, const int8_t* matrixA, int lda, const int8_t* matrixB, int ldb,
                       const int32_t* beta, int32_t* matrixC, int ldc, aclComputeType type, aclrtStream stream) {
  return call("aclblasS8gemm", [&] {
    queue("S8gemm",
          gemm({transA, transB, transC, m, n, k}, DType::kInt8, DType::kInt8, DType::kInt32, type, {lda, ldb, ldc}),
          {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}
aclError aclblasGemvEx(aclTransType transA, int m, int n, const void* alpha, const void* a, int lda,
                       aclDataType dataTypeA, const void* x, int incx, aclDataType dataTypeX, const void* beta, void* y,
                       int incy, aclDataType dataTypeY, aclComputeType type, aclrtStream stream) {
  return call("aclblasGemvEx", [&] {
    queue("GemvEx",
          gemv(transA, m, n, type_of(dataTypeA), type_of(dataTypeX), type_of(dataTypeY), type, {lda, incx, incy}),
          {alpha, a, x, beta, y}, stream);
  });
}
aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16* alpha, const aclFloat16* a, int lda,
                      const aclFloat16* x, int incx, const aclFloat16* beta, aclFloat16* y, int incy,
                      aclComputeType type, aclrtStream stream) {
  return call("aclblasHgemv", [&] {
    queue("Hgemv", gemv(transA, m, n, DType::kHalf, DType::kHalf, DType::kHalf, type, {lda, incx, incy}),
          {alpha, a, x, beta, y}, stream);
  });
}
aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t* alpha, const int8_t* a, int lda,
                       const int8_t* x, int incx, const int32_t* beta, int32_t* y, int incy, aclComputeType type,
                       aclrtStream stream) {
  return call("aclblasS8gemv", [&] {
    queue("S8gemv", gemv(transA, m, n, DType::kInt8, DType::kInt8, DType::kInt32, type, {lda, incx, incy}),
          {alpha, a, x, beta, y}, stream);
  });
}

aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclDataType dataTypeA, aclDataType dataTypeB, aclDataType dataTypeC,
                                      aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForGemmEx", [&] {
    create("GemmEx",
           gemm({transA, transB, transC, m, n, k}, type_of(dataTypeA), type_of(dataTypeB), type_of(dataTypeC), type),
           handle);
  });
}
aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n, int k,
                                     aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForHgemm", [&] {
    create("Hgemm", gemm({transA, transB, transC, m, n, k}, DType::kHalf, DType::kHalf, DType::kHalf, type), handle);
  });
}
aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                                      int k, aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForS8gemm", [&] {
    create("S8gemm", gemm({transA, transB, transC, m, n, k}, DType::kInt8, DType::kInt8, DType::kInt32, type), handle);
  });
}
aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA, aclDataType dataTypeX,
                                      aclDataType dataTypeY, aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForGemvEx", [&] {
    create("GemvEx", gemv(transA, m, n, type_of(dataTypeA), type_of(dataTypeX), type_of(dataTypeY), type), handle);
  });
}
aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForHgemv",
              [&] { create("Hgemv", gemv(transA, m, n, DType::kHalf, DType::kHalf, DType::kHalf, type), handle); });
}
aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type, aclopHandle** handle) {
  return call("aclblasCreateHandleForS8gemv",
              [&] { create("S8gemv", gemv(transA, m, n, DType::kInt8, DType::kInt8, DType::kInt32, type), handle); });
}
