// SPDX-License-Identifier: Apache-2.0
// The pieces of batch normalisation over several ranks: each rank's statistics, their join, the normalisation with
// joined statistics, and the same three steps of the gradient. Clients exchange the numbers between the steps.
#include <cmath>

#include "ops/norm/channels.h"
#include "ops/norm/parameter.h"
#include "ops/operator.h"

namespace npu::ops {
namespace {

void check_input(const Tensor& self) {
  require(self.rank() >= 2, "self is {}: batch norm takes [N, C, ...]; add a batch dimension", self);
}

void check_counts(const Tensor& t) {
  require(is_integer(t.dtype) || is_floating(t.dtype), "counts is {}: it must hold integers or floating-point numbers",
          t);
}

// --- one rank's statistics ------------------------------------------------------------------------------------------

// Clients exchange either mean and inverse deviation, or plain sums: each step that sees statistics exists for both.
struct LocalStatistics : Operator {
  Tensor self, first, second;
  Channels channels;

  void prepare() override {
    check_input(self);
    channels.plan(self, nullptr, nullptr, 1, norm_slot(self));
    check_parameter("the first output", first, channels.count());
    check_parameter("the second output", second, channels.count());
  }
  void run() override {
    const auto samples = static_cast<double>(channels.samples());
    const auto finish = [&](int64_t begin, int64_t end, const ChannelSums* sums) {
      for (int64_t c = begin; c < end; ++c) write(c, samples, sums[c - begin]);
    };
    channels.run(Channels::Sums::kMoments, finish, Channels::Map::kNone, ChannelMap{});
  }
  int64_t cost() const override { return channels.cost(); }

 protected:
  /// `sums`: the mean and the sum of squared deviations.
  virtual void write(int64_t c, double samples, const ChannelSums& sums) = 0;
};

struct BatchNormStats final : LocalStatistics {
  double eps = 1e-5;
  void write(int64_t c, double samples, const ChannelSums& sums) override {
    set_parameter(first, c, sums.first);
    set_parameter(second, c, 1 / std::sqrt(sums.second / samples + eps));
  }
};

struct BatchNormReduce final : LocalStatistics {
  void write(int64_t c, double samples, const ChannelSums& sums) override {
    // Plain sums, since the operator's contract is sums: made from moments, which were taken without cancelling.
    set_parameter(first, c, sums.first * samples);
    set_parameter(second, c, sums.second + sums.first * sums.first * samples);
  }
};

// --- all ranks' statistics ------------------------------------------------------------------------------------------

struct JoinedStatistics : Operator {
  Tensor counts, running_mean, running_var, out_mean, out_invstd;
  double momentum = 0.1;
  double eps = 1e-5;

 protected:
  /// `a` and `b`: [ranks, channels] each.
  void check(std::string_view name_a, const Tensor& a, std::string_view name_b, const Tensor& b) {
    require(a.rank() == 2 && a.shape == b.shape, "{} is {}, {} is {}: both must be [ranks, channels]", name_a, a,
            name_b, b);
    require(is_floating(a.dtype) && is_floating(b.dtype), "{} is {}, {} is {}: both must be floating point", name_a, a,
            name_b, b);
    require(counts.count() == a.shape[0], "counts is {}: it needs one number for each of {} ranks", counts, a.shape[0]);
    check_counts(counts);
    check_parameter("running_mean", running_mean, a.shape[1]);
    check_parameter("running_var", running_var, a.shape[1]);
    check_parameter("the output of means", out_mean, a.shape[1]);
    check_parameter("the output of inverse deviations", out_invstd, a.shape[1]);
    ranks_ = a.shape[0];
    channels_ = a.shape[1];
  }
  /// `deviations`: the sum of squared deviations from `mean` over `n` elements.
  void write(int64_t c, double mean, double deviations, double n) const {
    set_parameter(out_mean, c, mean);
    set_parameter(out_invstd, c, 1 / std::sqrt(deviations / n + eps));
    set_parameter(running_mean, c, momentum * mean + (1 - momentum) * parameter(running_mean, c, 0));
    set_parameter(running_var, c, momentum * deviations / (n - 1) + (1 - momentum) * parameter(running_var, c, 0));
  }
  int64_t ranks_ = 0, channels_ = 0;
};

struct GatherStats final : JoinedStatistics {
  Tensor mean, invstd;

  void prepare() override { check("mean", mean, "invstd", invstd); }
  void run() override {
    for (int64_t c = 0; c < channels_; ++c) {
      double n = 0, average = 0, deviations = 0;
      for (int64_t rank = 0; rank < ranks_; ++rank) {
        const double count = parameter(counts, rank, 0), m = parameter(mean, rank * channels_ + c, 0);
        // A rank without elements has statistics of nothing, which may be NaN.
        if (count == 0) continue;
        const double deviation = 1 / parameter(invstd, rank * channels_ + c, 0);
        // Chan's rule, rank by rank in order; eps, which went into the deviation that the rank handed out, is taken off
        // again.
        const double share = count / (n + count), distance = m - average;
        deviations += (deviation * deviation - eps) * count + distance * distance * n * share;
        average += distance * share;
        n += count;
      }
      write(c, average, deviations, n);
    }
  }
};

struct GatherSums final : JoinedStatistics {
  Tensor sum, square_sum;

  void prepare() override { check("sum", sum, "square_sum", square_sum); }
  void run() override {
    for (int64_t c = 0; c < channels_; ++c) {
      double n = 0, total = 0, squares = 0;
      for (int64_t rank = 0; rank < ranks_; ++rank) {
        n += parameter(counts, rank, 0);
        total += parameter(sum, rank * channels_ + c, 0);
        squares += parameter(square_sum, rank * channels_ + c, 0);
      }
      // Rounding may take the difference below 0 where the mean is large.
      write(c, total / n, std::max(squares - total * total / n, 0.0), n);
    }
  }
};

// --- normalisation --------------------------------------------------------------------------------------------------

struct BatchNormElemt final : Operator {
  Tensor self, weight, bias, mean, invstd, out;
  Channels channels;
  std::vector<double> center, scale, shift;

  void prepare() override {
    check_input(self);
    channels.plan(self, nullptr, &out, 1, norm_slot(self));
    const int64_t count = channels.count();
    check_parameter("weight", weight, count);
    check_parameter("bias", bias, count);
    check_parameter("mean", mean, count);
    check_parameter("invstd", invstd, count);
    for (auto* list : {&center, &scale, &shift}) list->resize(static_cast<size_t>(count));
  }
  void run() override {
    for (int64_t c = 0; c < channels.count(); ++c) {
      const auto i = static_cast<size_t>(c);
      center[i] = parameter(mean, c, 0);
      scale[i] = parameter(invstd, c, 1) * parameter(weight, c, 1);
      shift[i] = parameter(bias, c, 0);
    }
    channels.run(Channels::Sums::kNone, {}, Channels::Map::kAffine, {center.data(), scale.data(), shift.data()});
  }
  int64_t cost() const override { return channels.cost(); }
};

// --- gradient -------------------------------------------------------------------------------------------------------

// The sums of g and g * (x - mean) on this rank. Gradients of weight and bias are this rank's alone; clients add those
// up as they do all gradients of parameters.
struct BatchNormBackwardReduce final : Operator {
  Tensor grad_output, self, mean, invstd, sum_dy, sum_dy_xmu, grad_weight, grad_bias;
  bool input_wanted = true, weight_wanted = true, bias_wanted = true;
  Channels channels;
  std::vector<double> center;

  void prepare() override {
    check_input(self);
    channels.plan(self, &grad_output, nullptr, 1, norm_slot(self));
    const int64_t count = channels.count();
    check_parameter("mean", mean, count);
    check_parameter("invstd", invstd, count);
    if (input_wanted) check_parameter("sum_dy", sum_dy, count);
    if (input_wanted) check_parameter("sum_dy_xmu", sum_dy_xmu, count);
    if (weight_wanted) check_parameter("grad_weight", grad_weight, count);
    if (bias_wanted) check_parameter("grad_bias", grad_bias, count);
    center.resize(static_cast<size_t>(count));
  }
  void run() override {
    for (int64_t c = 0; c < channels.count(); ++c) center[static_cast<size_t>(c)] = parameter(mean, c, 0);
    const auto finish = [&](int64_t begin, int64_t end, const ChannelSums* sums) {
      for (int64_t c = begin; c < end; ++c) write(c, sums[c - begin]);
    };
    channels.run(Channels::Sums::kProducts, finish, Channels::Map::kNone, {center.data()});
  }
  int64_t cost() const override { return 2 * channels.cost(); }

 private:
  void write(int64_t c, const ChannelSums& sums) const {
    if (input_wanted) set_parameter(sum_dy, c, sums.first);
    if (input_wanted) set_parameter(sum_dy_xmu, c, sums.second);
    if (weight_wanted) set_parameter(grad_weight, c, sums.second * parameter(invstd, c, 1));
    if (bias_wanted) set_parameter(grad_bias, c, sums.first);
  }
};

struct BatchNormBackwardElemt final : Operator {
  Tensor grad_output, self, mean, invstd, weight, sum_dy, sum_dy_xmu, counts, grad_input;
  Channels channels;
  std::vector<double> center, scale, shift, slope;

  void prepare() override {
    check_input(self);
    channels.plan(self, &grad_output, &grad_input, 1, norm_slot(self));
    const int64_t count = channels.count();
    check_parameter("mean", mean, count);
    check_parameter("invstd", invstd, count);
    check_parameter("weight", weight, count);
    check_parameter("sum_dy", sum_dy, count);
    check_parameter("sum_dy_xmu", sum_dy_xmu, count);
    check_counts(counts);
    for (auto* list : {&center, &scale, &shift, &slope}) list->resize(static_cast<size_t>(count));
  }
  void run() override {
    double total = 0;
    // Elements of all ranks: the means of the gradient are taken over the whole batch.
    for (int64_t i = 0; i < counts.count(); ++i) total += parameter(counts, i, 0);
    for (int64_t c = 0; c < channels.count(); ++c) {
      const auto i = static_cast<size_t>(c);
      const double r = parameter(invstd, c, 1);
      center[i] = parameter(mean, c, 0);
      scale[i] = r * parameter(weight, c, 1);
      shift[i] = parameter(sum_dy, c, 0) / total;
      slope[i] = parameter(sum_dy_xmu, c, 0) * r * r / total;
    }
    channels.run(Channels::Sums::kNone, {}, Channels::Map::kGradient,
                 {center.data(), scale.data(), shift.data(), slope.data()});
  }
  int64_t cost() const override { return 2 * channels.cost(); }
};

NPU_OPERATOR(BatchNormStats, "batch_norm_stats", "norm", in<&BatchNormStats::self>("self"),
             attr<&BatchNormStats::eps>("eps"), out<&BatchNormStats::first>("mean"),
             out<&BatchNormStats::second>("invstd"));
NPU_OPERATOR(BatchNormReduce, "batch_norm_reduce", "norm", in<&BatchNormReduce::self>("self"),
             out<&BatchNormReduce::first>("sum"), out<&BatchNormReduce::second>("square_sum"));
NPU_OPERATOR(GatherStats, "batch_norm_gather_stats", "norm", in<&GatherStats::mean>("mean"),
             in<&GatherStats::invstd>("invstd"), in<&GatherStats::counts>("counts"),
             optional<&GatherStats::running_mean>("running_mean"), optional<&GatherStats::running_var>("running_var"),
             attr<&GatherStats::momentum>("momentum"), attr<&GatherStats::eps>("eps"),
             out<&GatherStats::out_mean>("out_mean"), out<&GatherStats::out_invstd>("out_invstd"));
NPU_OPERATOR(GatherSums, "batch_norm_gather_sums", "norm", in<&GatherSums::sum>("sum"),
             in<&GatherSums::square_sum>("square_sum"), in<&GatherSums::counts>("counts"),
             optional<&GatherSums::running_mean>("running_mean"), optional<&GatherSums::running_var>("running_var"),
             attr<&GatherSums::momentum>("momentum"), attr<&GatherSums::eps>("eps"),
             out<&GatherSums::out_mean>("out_mean"), out<&GatherSums::out_invstd>("out_invstd"));
NPU_OPERATOR(BatchNormElemt, "batch_norm_elemt", "norm", in<&BatchNormElemt::self>("self"),
             optional<&BatchNormElemt::weight>("weight"), optional<&BatchNormElemt::bias>("bias"),
             in<&BatchNormElemt::mean>("mean"), in<&BatchNormElemt::invstd>("invstd"),
             out<&BatchNormElemt::out>("out"));
NPU_OPERATOR(BatchNormBackwardReduce, "batch_norm_backward_reduce", "norm",
             in<&BatchNormBackwardReduce::grad_output>("grad_output"), in<&BatchNormBackwardReduce::self>("self"),
             in<&BatchNormBackwardReduce::mean>("mean"), in<&BatchNormBackwardReduce::invstd>("invstd"),
             attr<&BatchNormBackwardReduce::input_wanted>("input_wanted"),
             attr<&BatchNormBackwardReduce::weight_wanted>("weight_wanted"),
             attr<&BatchNormBackwardReduce::bias_wanted>("bias_wanted"),
             optional_out<&BatchNormBackwardReduce::sum_dy>("sum_dy"),
             optional_out<&BatchNormBackwardReduce::sum_dy_xmu>("sum_dy_xmu"),
             optional_out<&BatchNormBackwardReduce::grad_weight>("grad_weight"),
             optional_out<&BatchNormBackwardReduce::grad_bias>("grad_bias"));
NPU_OPERATOR(BatchNormBackwardElemt, "batch_norm_backward_elemt", "norm",
             in<&BatchNormBackwardElemt::grad_output>("grad_output"), in<&BatchNormBackwardElemt::self>("self"),
             in<&BatchNormBackwardElemt::mean>("mean"), in<&BatchNormBackwardElemt::invstd>("invstd"),
             optional<&BatchNormBackwardElemt::weight>("weight"), in<&BatchNormBackwardElemt::sum_dy>("sum_dy"),
             in<&BatchNormBackwardElemt::sum_dy_xmu>("sum_dy_xmu"), in<&BatchNormBackwardElemt::counts>("counts"),
             out<&BatchNormBackwardElemt::grad_input>("grad_input"));

}  // namespace
}  // namespace npu::ops
