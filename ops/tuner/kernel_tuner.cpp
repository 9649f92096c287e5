// SPDX-License-Identifier: Apache-2.0
#include "ops/tuner/kernel_tuner.h"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "ops/runner/observer.h"
#include "ops/tuner/session.h"
#include "ops/tuner/workbench.h"
#include "ops/tuning/question.h"

namespace npu::ops::tuning {
namespace {

constexpr int64_t kMostBytes = int64_t{2} << 30;  // copied to measure one operator

/// What tells one call from another as far as kernels go.
std::string signature_of(Operator& op) {
  std::string out(op.def->name);
  for_each_tensor(op, [&](const Tensor& tensor, const Field& field) {
    out += fmt::format(" {}{}{}", field.name, tensor, tensor.strides);
  });
  for (const auto& [name, value] : parameters_of(op)) out += fmt::format(" {}={}", name, value);
  return out;
}

/// One operator on its workbench.
class Tuning {
 public:
  Tuning(Operator& op, Session& session, std::string_view name, std::string_view type)
      : bench_(op), session_(session), name_(name), type_(type) {}

  /// Planning again after each answer: another way asks other questions.
  void run() {
    while (const auto question = next()) session_.alone([&] { measure(*question); });
  }

 private:
  std::optional<Asked> next() {
    const Trial trial;
    const auto op = bench_.make();
    op->prepare();
    bench_.restore();
    op->run();  // some kernels plan what is inside of them only then
    for (const Asked& asked : trial.asked())
      if (asked.way && session_.is_open({std::string(asked.point->name), asked.key}, name_, type_)) return asked;
    return std::nullopt;
  }

  void measure(const Asked& asked) {
    const Bank::Key question{std::string(asked.point->name), asked.key};
    // By itself: what a bank knew of this question does not count when it is measured again.
    const auto usual = prepared(asked, std::nullopt);
    if (!usual) return;
    bench_.restore();
    usual->op->run();
    const std::vector<std::byte> expected = bench_.results(*usual->op);
    std::optional<Entry> best;
    const std::string usual_name(asked.point->ways[usual->way]);
    for (size_t way = 0; way < asked.point->ways.size(); ++way) {
      if (way == usual->way) continue;
      const auto other = prepared(asked, way);
      if (!other) continue;
      bench_.restore();
      other->op->run();
      if (!agree(*other->op, expected, bench_.results(*other->op))) {
        session_.failed(question, name_, type_,
                        fmt::format("{} gives other results than {}", asked.point->ways[way], usual_name));
        continue;
      }
      const Comparison c = compare([&] { usual->op->run(); }, [&] { other->op->run(); }, session_.effort());
      Entry entry = entry_from(c, std::string(asked.point->ways[way]), usual_name);
      if (!best || std::pair(entry.won, entry.ratio) > std::pair(best->won, best->ratio)) best = std::move(entry);
    }
    if (best) session_.found(question, std::move(*best), name_, type_);
  }

  struct Prepared {
    std::unique_ptr<Operator> op;
    size_t way;
  };
  /// The operator planned with this answer; nothing where it does not apply. Without one, as it is planned by itself.
  std::optional<Prepared> prepared(const Asked& asked, std::optional<size_t> way) {
    Trial trial;
    trial.answer(*asked.point, asked.key, way);
    Prepared made{bench_.make(), 0};
    try {
      made.op->prepare();
    } catch (const Error&) {
      return std::nullopt;  // a way that refuses
    }
    for (const Asked& one : trial.asked()) {
      if (one.point != asked.point || one.key != asked.key || !one.way) continue;
      if (way && *one.way != *way) return std::nullopt;
      made.way = *one.way;
      return made;
    }
    return std::nullopt;
  }

  Workbench bench_;
  Session& session_;
  const std::string_view name_, type_;
};

class Watcher final : public Observer {
 public:
  explicit Watcher(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  bool looks_inside() const override { return true; }
  std::unique_ptr<Watch> start(const Execution& execution) override {
    if (execution.op == nullptr || execution.op->members() != nullptr) return nullptr;
    if (!session_->scope().wants(execution.name.node, execution.name.type)) return nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (!seen_.insert(signature_of(*execution.op)).second) return nullptr;
    }
    return std::make_unique<First>(session_);
  }

 private:
  /// A call that is met for the first time.
  struct First final : Watch {
    explicit First(std::shared_ptr<Session> to) : session(std::move(to)) {}
    void finished(const Execution& execution) override {
      tune_kernels(*execution.op, *session, execution.name.node, execution.name.type);
    }
    const std::shared_ptr<Session> session;
  };

  const std::shared_ptr<Session> session_;
  std::mutex mutex_;
  std::set<std::string> seen_;
};

}  // namespace

void tune_kernels(Operator& op, Session& session, std::string_view name, std::string_view type) {
  if (Workbench::bytes(op) > kMostBytes)
    return session.failed({std::string(op.def->name), signature_of(op)}, name, type,
                          "its tensors take more than the 1 GB that is copied to measure");
  try {
    Tuning(op, session, name, type).run();
  } catch (const std::exception& e) {
    session.failed({std::string(op.def->name), signature_of(op)}, name, type, e.what());
  }
}

void watch_kernels(std::shared_ptr<Session> session) {
  // Never destroyed: streams run tasks until the process is gone.
  static std::mutex& mutex = *new std::mutex;
  static std::shared_ptr<Watcher>& current = *new std::shared_ptr<Watcher>;
  const std::lock_guard lock(mutex);
  if (current) remove_observer(*current);
  current = session ? std::make_shared<Watcher>(std::move(session)) : nullptr;
  if (current) add_observer(current);
}

}  // namespace npu::ops::tuning
