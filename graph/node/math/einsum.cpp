// SPDX-License-Identifier: Apache-2.0
// Einsum: the equation's axes are sorted into those both operands and the result share (batch), those that are summed
// away, and each operand's own; what is left is a product of matrices of views. Copies are made only where axes that
// become one do not lie together.
#include <algorithm>
#include <map>

#include "graph/node/layout.h"

namespace npu::graph {
namespace {

/// A letter, or -k for the k-th axis from the right of those an ellipsis stands for.
using Label = int;
using Labels = std::vector<Label>;

bool contains(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// An operand and what its axes are called.
struct Term {
  Planned view;
  Labels labels;
  int64_t size_of(Label label) const { return view.shape()[position(label)]; }
  size_t position(Label label) const {
    return static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
};

/// The labels of "ab...c"; an ellipsis stands for `more` axes.
Labels parse(const Lowering& l, std::string_view text, int more) {
  Labels labels;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '.') {
      if (!std::isalpha(static_cast<unsigned char>(text[i]))) l.decline("its equation has an unknown sign");
      labels.push_back(text[i]);
      continue;
    }
    i += 2;
    for (int k = more; k > 0; --k) labels.push_back(-k);
  }
  Labels sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) l.decline("a label stands twice in one place");
  return labels;
}

struct Equation {
  std::vector<Term> terms;
  Labels out;
  std::map<Label, int64_t> sizes;
};

void add_sizes(Equation& e, const Term& term) {
  for (size_t d = 0; d < term.labels.size(); ++d) {
    const int64_t size = term.view.shape()[d];
    const auto [at, fresh] = e.sizes.emplace(term.labels[d], size);
    if (fresh || at->second == size) continue;
    // Axes of an ellipsis broadcast.
    const bool repeats = term.labels[d] < 0 && (size == 1 || at->second == 1);
    require(repeats, "Expected dimension {} at axis {} of an input, but got dimension {}", at->second, d, size);
    at->second = std::max(at->second == 1 ? size : at->second, size == 1 ? at->second : size);
  }
}

Equation read(const Lowering& l) {
  std::string text = l.attributes().get<std::string>("equation");
  std::erase(text, ' ');
  const size_t arrow = text.find("->");
  if (arrow == std::string::npos) l.decline("its equation has no result");
  Equation e;
  std::string_view left(text.data(), arrow);
  int most = 0;
  for (size_t i = 0; i < l.input_count(); ++i) {
    const size_t comma = std::min(left.find(','), left.size());
    const std::string_view one = left.substr(0, comma);
    left.remove_prefix(std::min(comma + 1, left.size()));
    const bool ellipsis = one.find('.') != std::string_view::npos;
    const int named = static_cast<int>(one.size()) - (ellipsis ? 3 : 0), rank = static_cast<int>(l.shape(i).size());
    require(ellipsis ? rank >= named : rank == named, "input {} has {} dimensions, the equation {} names {}", i, rank,
            text, named);
    most = std::max(most, rank - named);
    e.terms.push_back({l.input(i), parse(l, one, rank - named)});
    add_sizes(e, e.terms.back());
  }
  const std::string_view right = std::string_view(text).substr(arrow + 2);
  if (most > 0 && right.find('.') == std::string_view::npos) l.decline("its result leaves out the ellipsis");
  e.out = parse(l, right, most);
  for (const Label label : e.out)
    if (!e.sizes.contains(label)) l.decline("its result has a label of no input");
  return e;
}

/// The term's axes in the order of `labels`; those it does not have, or has once only, repeat.
Planned arranged(const Equation& e, const Term& term, const Labels& labels) {
  Planned out = term.view;
  out.literal = nullptr;
  out.view.shape.resize(0), out.view.strides.resize(0);
  for (const Label label : labels) {
    const bool has = contains(term.labels, label);
    out.view.shape.push_back(e.sizes.at(label));
    const bool moves = has && term.size_of(label) == e.sizes.at(label);
    out.view.strides.push_back(moves ? term.view.view.strides[term.position(label)] : 0);
  }
  return out;
}

Dims shape_of(const Equation& e, const Labels& labels) {
  Dims shape;
  for (const Label label : labels) shape.push_back(e.sizes.at(label));
  return shape;
}

/// Sums away what only this term has. The sum is kept in the term's own dtype, as the product's operand.
void sum_own(Lowering& l, Term& term, const Labels& needed) {
  std::vector<int64_t> dims;
  Labels left;
  for (size_t d = 0; d < term.labels.size(); ++d)
    contains(needed, term.labels[d]) ? left.push_back(term.labels[d]) : dims.push_back(static_cast<int64_t>(d));
  if (dims.empty()) return;
  Dims shape;
  for (const Label label : left) shape.push_back(term.size_of(label));
  const Planned sum = l.scratch(term.view.dtype(), shape);
  l.call("sum").set("self", term.view).set("dim", dims).set("out", sum);
  term = {sum, left};
}

/// Axes [first, first + count) as one, when their elements lie so.
bool merge(Tensor& view, size_t first, size_t count) {
  int64_t size = 1, stride = 1;
  bool any = false;
  for (size_t d = first + count; d-- > first;) {
    if (view.shape[d] == 1) continue;
    if (any && view.strides[d] != stride * size) return false;
    if (!any) stride = view.strides[d];
    any = true;
    size *= view.shape[d];
  }
  for (size_t d = 0; d < count; ++d) view.shape.erase(first), view.strides.erase(first);
  view.shape.insert(first, size), view.strides.insert(first, stride);
  return true;
}

/// Axes [batch…, first group…, second group…] with each group as one axis.
bool merge_groups(Planned& p, size_t batch, size_t first, size_t second) {
  Planned trial = p;
  if (!merge(trial.view, batch + first, second) || !merge(trial.view, batch, first)) return false;
  p = trial;
  return true;
}

Planned as_matrices(Lowering& l, Planned p, size_t batch, size_t first, size_t second) {
  if (merge_groups(p, batch, first, second)) return p;
  p = in_rows(l, p);
  merge_groups(p, batch, first, second);
  return p;
}

Labels joined(std::initializer_list<const Labels*> parts) {
  Labels all;
  for (const Labels* part : parts) all.insert(all.end(), part->begin(), part->end());
  return all;
}

struct Groups {
  Labels batch, own_left, own_right, summed;
};

Groups sort_labels(const Equation& e) {
  Groups g;
  for (const Label label : e.out) {
    const bool left = contains(e.terms[0].labels, label), right = contains(e.terms[1].labels, label);
    (left && right ? g.batch : left ? g.own_left : g.own_right).push_back(label);
  }
  for (const Label label : e.terms[0].labels)
    if (contains(e.terms[1].labels, label) && !contains(e.out, label)) g.summed.push_back(label);
  return g;
}

/// Summed axes in the order that spares copies: the left operand's, unless only the right one's needs none.
void order_summed(const Equation& e, Groups& g) {
  const auto merges = [&](const Labels& summed) {
    Planned a = arranged(e, e.terms[0], joined({&g.batch, &g.own_left, &summed}));
    Planned b = arranged(e, e.terms[1], joined({&g.batch, &summed, &g.own_right}));
    return static_cast<int>(merge_groups(a, g.batch.size(), g.own_left.size(), summed.size())) +
           static_cast<int>(merge_groups(b, g.batch.size(), summed.size(), g.own_right.size()));
  };
  Labels other;
  for (const Label label : e.terms[1].labels)
    if (contains(g.summed, label)) other.push_back(label);
  if (merges(other) > merges(g.summed)) g.summed = other;
}

void product(Lowering& l, Equation& e) {
  for (size_t i = 0; i < 2; ++i) sum_own(l, e.terms[i], joined({&e.out, &e.terms[1 - i].labels}));
  Groups g = sort_labels(e);
  const Planned out = l.make(0, l.dtype(0), shape_of(e, e.out));
  if (g.summed.empty()) {
    const Planned a = arranged(e, e.terms[0], e.out), b = arranged(e, e.terms[1], e.out);
    l.call("mul").set("self", a).set("other", b).set("out", out);
    return;
  }
  order_summed(e, g);
  const size_t batch = g.batch.size(), left = g.own_left.size(), right = g.own_right.size();
  const Planned a =
      as_matrices(l, arranged(e, e.terms[0], joined({&g.batch, &g.own_left, &g.summed})), batch, left, g.summed.size());
  const Planned b = as_matrices(l, arranged(e, e.terms[1], joined({&g.batch, &g.summed, &g.own_right})), batch,
                                g.summed.size(), right);
  const Labels order = joined({&g.batch, &g.own_left, &g.own_right});
  const Planned wanted = arranged(e, {out, e.out}, order);
  Planned target = wanted;
  const bool direct = merge_groups(target, batch, left, right);
  const Planned rows = direct ? out : l.scratch(out.dtype(), wanted.shape());
  if (!direct) {
    target = rows;
    merge_groups(target, batch, left, right);
  }
  l.call("matmul").set("self", a).set("mat2", b).set("out", target);
  if (!direct) copy(l, rows, wanted);
}

void single(Lowering& l, const Equation& e) {
  const Term& term = e.terms.front();
  std::vector<int64_t> dims;
  Labels left;
  for (size_t d = 0; d < term.labels.size(); ++d)
    contains(e.out, term.labels[d]) ? left.push_back(term.labels[d]) : dims.push_back(static_cast<int64_t>(d));
  if (dims.empty()) return give(l, 0, arranged(e, term, e.out));
  const Planned out = l.make(0, l.dtype(0), shape_of(e, e.out));
  l.call("sum").set("self", term.view).set("dim", dims).set("out", arranged(e, {out, e.out}, left));
}

void einsum(Lowering& l) {
  decline_objects(l);
  if (l.input_count() == 0 || l.input_count() > 2) l.decline("it has more than two inputs");
  if (!is_floating(l.dtype(0))) l.decline(fmt::format("it computes {}", l.dtype(0)));
  Equation e = read(l);
  e.terms.size() == 1 ? single(l, e) : product(l, e);
}

NPU_NODE(Kind::kEinsum, einsum);

}  // namespace
}  // namespace npu::graph
