// SPDX-License-Identifier: Apache-2.0
#include "acl/aclnn/row.h"

#include <algorithm>
#include <mutex>

#include "acl/aclnn/assign.h"

namespace npu::acl {
namespace {

constexpr std::string_view kForeach = "foreach:";

/// One `field=argument`, `field=argument[]` or `field='text'` of the bind column.
struct Binding {
  std::string_view field;
  std::string_view source;
  bool constant;
  bool slice;  ///< of a foreach row: element i of the tensor goes to member i
};

Binding make_binding(std::string_view field, std::string_view source, bool quoted) {
  const bool slice = !quoted && source.ends_with("[]");
  if (slice) source.remove_suffix(2);
  return {field, source, quoted, slice};
}

std::vector<Binding> parse_bind(std::string_view text) {
  std::vector<Binding> out;
  while (!text.empty()) {
    const size_t equals = text.find('=');
    require(equals != std::string_view::npos, "bind '{}' lacks '='", text);
    const bool quoted = text.substr(equals + 1).starts_with('\'');
    const size_t begin = equals + 1 + (quoted ? 1 : 0);
    // A constant may hold spaces between its quotes.
    const size_t end = std::min(text.find(quoted ? '\'' : ' ', begin), text.size());
    out.push_back(make_binding(text.substr(0, equals), text.substr(begin, end - begin), quoted));
    text.remove_prefix(std::min(end + (quoted ? 1 : 0), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return out;
}

class Resolver {
 public:
  Resolver(const Row& row, Plan& plan) : row_(row), plan_(plan) {}

  void resolve() {
    std::string_view name = row_.operator_name;
    plan_.foreach = name.starts_with(kForeach);
    if (plan_.foreach) name.remove_prefix(kForeach.size());
    plan_.def = ops::find_operator(name);
    require(plan_.def != nullptr, "operator {} is not part of this build", name);
    bindings_ = parse_bind(row_.bind);
    check_bindings();
    for (const ops::Field& field : plan_.def->fields) feed(field);
    check_arguments();
    // Known once for the row, so that calls without rules do not walk the arguments for them.
    plan_.has_value_rules = std::any_of(row_.parameters.begin(), row_.parameters.end(), [](const Parameter& p) {
      return p.rule.same >= 0 || p.rule.low < p.rule.high;
    });
    // Arguments are checked in the order the client wrote them, so the first wrong one is reported.
    std::stable_sort(plan_.steps.begin(), plan_.steps.end(),
                     [](const Step& a, const Step& b) { return a.parameter < b.parameter; });
  }

 private:
  void feed(const ops::Field& field) {
    // A field takes the argument of its own name; bind says only what differs.
    const auto bound = std::find_if(bindings_.begin(), bindings_.end(), [&](auto& b) { return b.field == field.name; });
    if (bound != bindings_.end() && bound->constant) return add_constant(field, bound->source);
    const std::string_view source = bound != bindings_.end() ? bound->source : field.name;
    const auto at = std::find_if(row_.parameters.begin(), row_.parameters.end(),
                                 [&](const Parameter& p) { return !p.ignored && p.name == source; });
    if (at == row_.parameters.end()) return check_may_be_absent(field);
    add_step(field, static_cast<size_t>(at - row_.parameters.begin()), bound != bindings_.end() && bound->slice);
  }

  void add_constant(const ops::Field& field, std::string_view text) {
    if (plan_.prototype == nullptr) plan_.prototype = ops::create(*plan_.def);
    assign_text(text, field.locate(*plan_.prototype));
    plan_.constants.push_back(&field);
  }

  void add_step(const ops::Field& field, size_t index, bool slice) {
    const Parameter& p = row_.parameters[index];
    const bool spread = plan_.foreach && is_list(p.kind);
    const Word kind = spread ? member_word(p.kind) : p.kind;
    const Assign assign = assigner(kind, field.kind);
    require(assign != nullptr, "argument {} is a {}, which does not fit field {} of operator {} ({})", p.name, p.word,
            field.name, plan_.def->name, name_of(field.kind));
    require(!slice || (plan_.foreach && p.kind == Word::kTensor), "{}[] needs a foreach row and a tensor", p.name);
    // A tensor that an operator can do without may be missing whatever the table says; a number may not.
    const bool required = needed(field) || (kind == Word::kScalar && !p.optional);
    plan_.steps.push_back({index, &field, assign, spread, slice, kind, required});
  }

  // Inputs and outputs proper; what an operator can do without has another role.
  static bool needed(const ops::Field& field) {
    return field.role == ops::FieldRole::kIn || field.role == ops::FieldRole::kOut ||
           field.role == ops::FieldRole::kInOut;
  }

  void check_may_be_absent(const ops::Field& field) {
    require(!needed(field), "nothing fills field {} of operator {}", field.name, plan_.def->name);
  }

  void check_bindings() {
    for (const Binding& b : bindings_) {
      require(plan_.def->field(b.field) != nullptr, "bind names field {}, which operator {} does not have", b.field,
              plan_.def->name);
      const bool found = b.constant || std::any_of(row_.parameters.begin(), row_.parameters.end(),
                                                   [&](const Parameter& p) { return p.name == b.source; });
      require(found, "bind names argument {}, which the function does not have", b.source);
    }
  }

  // An argument nobody reads is a mistake in the table: the result would silently be wrong.
  void check_arguments() {
    for (size_t i = 0; i < row_.parameters.size(); ++i) {
      const Parameter& p = row_.parameters[i];
      const bool used = std::any_of(plan_.steps.begin(), plan_.steps.end(), [&](auto& s) { return s.parameter == i; });
      require(used || p.ignored, "argument {} reaches no field of operator {}", p.name, plan_.def->name);
    }
  }

  const Row& row_;
  Plan& plan_;
  std::vector<Binding> bindings_;
};

}  // namespace

std::unique_ptr<Plan> resolve(const Row& row) {
  auto plan = std::make_unique<Plan>();
  try {
    Resolver(row, *plan).resolve();
  } catch (const Error& error) {
    // Kept and not raised: one wrong row must not take the other functions with it.
    plan->problem = error.message();
  }
  return plan;
}

const Plan& Row::plan() const {
  if (const Plan* known = resolved.load(std::memory_order_acquire)) [[likely]]
    return *known;
  std::unique_ptr<Plan> made = resolve(*this);
  const Plan* expected = nullptr;
  // Two threads may resolve at once; the first one's plan stays for the life of the process.
  if (resolved.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
  return *expected;
}

std::vector<const Row*> all_rows() {
  std::vector<const Row*> out;
  for (const std::span<const Row> family : row_families())
    for (const Row& row : family) out.push_back(&row);
  std::sort(out.begin(), out.end(), [](auto* a, auto* b) { return std::string_view(a->name) < b->name; });
  return out;
}

}  // namespace npu::acl
