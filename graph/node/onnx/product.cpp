// SPDX-License-Identifier: Apache-2.0
// Products of ONNX that no kind of the engine says: of any ranks and types, sums over named axes, determinants.
#include <algorithm>
#include <cmath>
#include <map>

#include "graph/node/onnx/floats.h"

namespace npu::graph::onnx {
namespace {

Dims leading(const Dims& shape, size_t dropped) { return Dims(std::span(shape.data(), shape.size() - dropped)); }

/// NumPy's rules: a vector is a row on the left and a column on the right.
Dims product_shape(const Dims& a, const Dims& b) {
  require(!a.empty() && !b.empty(), "the operands are {} and {}; both need an axis", a, b);
  const int64_t inner = b.size() == 1 ? b[0] : b[b.size() - 2];
  require(a.back() == inner, "the operands are {} and {}: inner sizes differ ({} and {})", a, b, a.back(), inner);
  Dims out = broadcast(leading(a, std::min<size_t>(a.size(), 2)), leading(b, std::min<size_t>(b.size(), 2)));
  if (a.size() > 1) out.push_back(a[a.size() - 2]);
  if (b.size() > 1) out.push_back(b.back());
  return out;
}

void mat_mul(Lowering& l) {
  const Dims shape = product_shape(l.shape(0), l.shape(1));
  const DType dtype = l.dtype(0), slot = is_floating(dtype) ? dtype : DType::kDouble;
  const Result r = result(l, 0, dtype, shape, slot);
  const auto operand = [&](size_t i) { return is_floating(dtype) ? l.input(i) : rows_of(l, l.input(i), slot); };
  const Planned a = operand(0), b = operand(1);
  l.call("matmul").set("self", a).set("mat2", b).set("kept_mat2", is_floating(dtype) && l.known(1)).set("out", r.rows);
  r.store(l);
}

/// Elimination with the largest element of each column on the diagonal.
template <class T>
double determinant(const T* from, int64_t n) {
  std::vector<double> m(from, from + n * n);
  double out = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t best = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::abs(m[static_cast<size_t>(i * n + k)]) > std::abs(m[static_cast<size_t>(best * n + k)])) best = i;
    const double pivot = m[static_cast<size_t>(best * n + k)];
    if (pivot == 0) return 0;
    if (best != k) out = -out;
    for (int64_t j = 0; j < n && best != k; ++j)
      std::swap(m[static_cast<size_t>(best * n + j)], m[static_cast<size_t>(k * n + j)]);
    out *= pivot;
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = m[static_cast<size_t>(i * n + k)] / pivot;
      for (int64_t j = k; j < n; ++j) m[static_cast<size_t>(i * n + j)] -= factor * m[static_cast<size_t>(k * n + j)];
    }
  }
  return out;
}

void det(Lowering& l) {
  require_floats(l, 0);
  const Dims& shape = l.shape(0);
  require(shape.size() >= 2 && shape.back() == shape[shape.size() - 2], "the input is {}; it must be square matrices",
          shape);
  const int64_t n = shape.back();
  const DType slot = slot_of(l.dtype(0));
  const Planned in = rows_of(l, l.input(0), slot);
  const Result r = result(l, 0, l.dtype(0), leading(shape, 2), slot);
  l.run({in, r.rows}, [=, out = r.rows](Frame& frame) {
    const Tensor from = frame.tensor(in), to = frame.tensor(out);
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      for (int64_t i = 0; i < to.count(); ++i) to.as<T>()[i] = static_cast<T>(determinant(from.as<T>() + i * n * n, n));
    });
  });
  r.store(l);
}

/// A letter, or -k for the k-th axis from the right of those that an ellipsis stands for.
using Labels = std::vector<int>;

Labels labels_of(std::string_view term, size_t rank) {
  Labels out;
  const size_t dots = term.find("...");
  const size_t named = dots == std::string_view::npos ? term.size() : term.size() - 3;
  require(dots == std::string_view::npos ? named == rank : named <= rank,
          "the term '{}' of the equation does not name the {} axes of its operand", term, rank);
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (size_t k = rank - named; k > 0; --k) out.push_back(-static_cast<int>(k));
      i += 2;
      continue;
    }
    require(std::isalpha(static_cast<unsigned char>(term[i])) != 0, "the term '{}' of the equation is not understood",
            term);
    out.push_back(term[i]);
  }
  return out;
}

/// What the equation asks for: each label's size, those of the result, those that are summed over.
struct Sum {
  std::vector<Labels> terms;
  std::map<int, int64_t> sizes;
  Labels out, summed;
};

/// Without an arrow: axes of the ellipsis, then letters that stand once, in the order of the alphabet.
Labels implicit_result(const Sum& s) {
  std::map<int, int> count;
  for (const Labels& term : s.terms)
    for (const int label : term) ++count[label];
  Labels out;
  for (const auto& [label, times] : count)
    if (label < 0 || times == 1) out.push_back(label);
  return out;
}

Sum sum_of(const Lowering& l) {
  std::string text = l.attributes().get<std::string>("equation");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  std::string_view left(text.data(), std::min(arrow, text.size()));
  Sum s;
  for (size_t i = 0; i < l.input_count(); ++i) {
    require(i == 0 || !left.empty(), "the equation '{}' has no term for input {}", text, i);
    const size_t comma = std::min(left.find(','), left.size());
    s.terms.push_back(labels_of(left.substr(0, comma), l.shape(i).size()));
    left.remove_prefix(std::min(comma + 1, left.size()));
    for (size_t d = 0; d < s.terms[i].size(); ++d) {
      const int64_t size = l.shape(i)[d];
      const auto [at, fresh] = s.sizes.emplace(s.terms[i][d], size);
      require(fresh || size == at->second || size == 1 || at->second == 1,
              "the equation '{}' gives one label to axes of {} and {} elements", text, at->second, size);
      if (at->second == 1) at->second = size;
    }
  }
  s.out = implicit_result(s);
  if (arrow != std::string::npos) {
    size_t most = 0;
    for (const auto& [label, size] : s.sizes) most += label < 0;
    const std::string_view right = std::string_view(text).substr(arrow + 2);
    s.out = labels_of(right, right.find("...") == std::string_view::npos ? right.size() : right.size() - 3 + most);
  }
  for (const int label : s.out) require(s.sizes.contains(label), "the result of '{}' names an axis of no input", text);
  for (const auto& [label, size] : s.sizes)
    if (std::ranges::find(s.out, label) == s.out.end()) s.summed.push_back(label);
  return s;
}

/// How far one step along `label` goes in a row-major operand: labels may stand several times, sizes of 1 repeat.
int64_t stride_of(const Labels& term, const Dims& shape, int label) {
  int64_t step = 1, out = 0;
  for (size_t d = shape.size(); d-- > 0; step *= shape[d])
    if (term[d] == label && shape[d] != 1) out += step;
  return out;
}

std::vector<int64_t> sizes_of_labels(const Sum& s, const Labels& labels) {
  std::vector<int64_t> out;
  for (const int label : labels) out.push_back(s.sizes.at(label));
  return out;
}

/// Where an operand goes with each axis of the result and each that is summed over.
struct Steps {
  std::vector<int64_t> out, summed;
};

int64_t place(const std::vector<int64_t>& at, const std::vector<int64_t>& strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < at.size(); ++i) offset += at[i] * strides[i];
  return offset;
}

/// One result after the other.
template <class T>
void sum_products(const std::vector<const T*>& from, const std::vector<Steps>& steps, const std::vector<int64_t>& out,
                  const std::vector<int64_t>& summed, T* to) {
  each_position(out, [&](const std::vector<int64_t>& at) {
    double sum = 0;
    each_position(summed, [&](const std::vector<int64_t>& inner) {
      double product = 1;
      for (size_t i = 0; i < from.size(); ++i)
        product *= static_cast<double>(from[i][place(at, steps[i].out) + place(inner, steps[i].summed)]);
      sum += product;
    });
    *to++ = static_cast<T>(sum);
  });
}

/// Any number of operands and any labels: equations that are no product of matrices.
void einsum(Lowering& l) {
  const Sum s = sum_of(l);
  const DType dtype = l.dtype(0), slot = slot_of(dtype);
  std::vector<Planned> operands;
  std::vector<Steps> steps(l.input_count());
  for (size_t i = 0; i < l.input_count(); ++i) {
    operands.push_back(rows_of(l, l.input(i), slot));
    for (const int label : s.out) steps[i].out.push_back(stride_of(s.terms[i], l.shape(i), label));
    for (const int label : s.summed) steps[i].summed.push_back(stride_of(s.terms[i], l.shape(i), label));
  }
  const auto out_sizes = sizes_of_labels(s, s.out), sum_sizes = sizes_of_labels(s, s.summed);
  const Result r = result(l, 0, dtype, Dims(out_sizes), slot);
  l.run(operands, {r.rows}, [=, out = r.rows](Frame& frame) {
    in_slot(slot, [&](auto zero) {
      using T = decltype(zero);
      std::vector<const T*> from;
      for (const Planned& operand : operands) from.push_back(frame.tensor(operand).as<T>());
      sum_products(from, steps, out_sizes, sum_sizes, frame.tensor(out).as<T>());
    });
  });
  r.store(l);
}

NPU_NODE("ai.onnx::MatMul", mat_mul);
NPU_NODE("ai.onnx::Det", det);
NPU_NODE("ai.onnx::Einsum", einsum);

}  // namespace
}  // namespace npu::graph::onnx
