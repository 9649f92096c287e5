// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/pattern/product.h"

#include <algorithm>
#include <map>

namespace npu::graph {
namespace {

bool has(const std::string& axes, char letter) { return axes.find(letter) != std::string::npos; }

bool all_letters_once(const std::string& axes) {
  std::string sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() &&
         std::all_of(sorted.begin(), sorted.end(), [](unsigned char c) { return std::isalpha(c); });
}

/// No operand has an axis of its own that the result does not have.
bool sums_shared_axes_only(const Product& p) {
  const auto fine = [&](const std::string& axes, const std::string& other) {
    return std::all_of(axes.begin(), axes.end(), [&](char c) { return has(other, c) || has(p.out_axes, c); });
  };
  return fine(p.a_axes, p.b_axes) && fine(p.b_axes, p.a_axes);
}

std::optional<Product> from_equation(const Node& node, Product p) {
  std::string text = node.attributes.get<std::string>("equation");
  std::erase(text, ' ');
  const size_t comma = text.find(','), arrow = text.find("->");
  if (comma == std::string::npos || arrow == std::string::npos || comma > arrow) return std::nullopt;
  p.a_axes = text.substr(0, comma), p.b_axes = text.substr(comma + 1, arrow - comma - 1);
  p.out_axes = text.substr(arrow + 2);
  const bool plain = all_letters_once(p.a_axes) && all_letters_once(p.b_axes) && all_letters_once(p.out_axes);
  return plain && sums_shared_axes_only(p) ? std::optional(p) : std::nullopt;
}

Product from_matrices(const Node& node, Product p) {
  const auto turned = [&](const char* name) { return node.attributes.get_or<bool>(name, false); };
  p.a_axes = turned("adj_x") ? "*km" : "*mk";
  p.b_axes = turned("adj_y") ? "*nk" : "*kn";
  p.out_axes = "*mn";
  return p;
}

}  // namespace

std::optional<Product> as_product(const Function& f, NodeId id) {
  if (id < 0 || f[id].inputs.size() != 2) return std::nullopt;
  const Node& node = f[id];
  Product p{.node = id, .a = node.inputs[0], .b = node.inputs[1]};
  if (node.kind == Kind::kEinsum) return from_equation(node, p);
  if (node.kind == Kind::kBatchProduct) return from_matrices(node, p);
  return std::nullopt;
}

std::optional<Product> with_first(std::optional<Product> p, Edge a) {
  if (!p || (p->a == a) == (p->b == a)) return std::nullopt;
  if (p->a != a) std::swap(p->a, p->b), std::swap(p->a_axes, p->b_axes);
  return p;
}

std::optional<Product> renamed(std::optional<Product> p, std::string Product::*of, const std::string& names,
                               char rest) {
  if (!p) return std::nullopt;
  const std::string known = (*p).*of;
  if (known.size() != names.size()) return std::nullopt;
  std::map<char, char> letters;
  for (size_t i = 0; i < names.size(); ++i) {
    // All batch axes of matrices stay one.
    if ((known[i] == '*') != (names[i] == '*')) return std::nullopt;
    letters[known[i]] = names[i];
  }
  const size_t before = letters.size();
  for (std::string* axes : {&p->a_axes, &p->b_axes, &p->out_axes})
    for (char& letter : *axes) letter = letters.emplace(letter, rest).first->second;
  return letters.size() == before + 1 ? p : std::nullopt;
}

}  // namespace npu::graph
