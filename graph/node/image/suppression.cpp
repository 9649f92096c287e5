// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression: of boxes that lie over each other the one of the best score. Boxes come in the order of
// their scores and are compared with those selected before, the last first: O(boxes · selected). With a sigma, scores
// of overlapped boxes decay instead (Soft-NMS, Bodla et al. 2017).
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>
#include <type_traits>
#include <utility>

#include "base/thread_pool.h"
#include "graph/node/rows.h"
#include "graph/value/client_text.h"

namespace npu::graph {
namespace {

struct Suppression {
  int64_t most = 0;  ///< boxes to select
  float overlap = 0, least = 0, sigma = 0;
};

/// Intersection over union of two boxes, each given by two opposite corners y, x.
float overlap_of(const float* a, const float* b) {
  const auto low = [](const float* box, int i) { return std::min(box[i], box[i + 2]); };
  const auto high = [](const float* box, int i) { return std::max(box[i], box[i + 2]); };
  const auto area = [&](const float* box) { return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1)); };
  const float first = area(a), second = area(b);
  if (first <= 0 || second <= 0) return 0;
  const auto common = [&](int i) {
    return std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.0F);
  };
  const float both = common(0) * common(1);
  return both / (first + second - both);
}

/// The numbers of boxes with their scores.
struct Selected {
  std::vector<int32_t> boxes;
  std::vector<float> scores;
};

/// Scores of boxes in a type T, whose every step is rounded to T as the client's kernels do.
template <class T>
class Selection {
 public:
  explicit Selection(const Suppression& s)
      : s_(s), soft_(s.sigma > 0), scale_(soft_ ? rounded(-0.5F / s.sigma) : 0.0F) {}

  template <class Similarity>
  Selected run(std::span<const float> scores, Similarity&& similarity) const {
    std::priority_queue<Candidate> waiting;
    for (size_t i = 0; i < scores.size(); ++i)
      if (scores[i] > s_.least) waiting.push({static_cast<int32_t>(i), scores[i], 0});
    Selected out;
    while (std::cmp_less(out.boxes.size(), s_.most) && !waiting.empty()) {
      Candidate next = waiting.top();
      waiting.pop();
      const float before = next.score;
      if (suppressed(next, out, similarity)) continue;
      if (next.score == before)
        out.boxes.push_back(next.box), out.scores.push_back(next.score);
      else if (next.score > s_.least)
        waiting.push(next);
    }
    return out;
  }

 private:
  /// Of equal scores the box that comes first is the better one.
  struct Candidate {
    int32_t box;
    float score;
    size_t compared;  ///< the selected boxes that its score has decayed by
    bool operator<(const Candidate& other) const {
      return score < other.score || (score == other.score && box > other.box);
    }
  };

  static float rounded(float value) {
    if constexpr (std::is_same_v<T, float>)
      return value;
    else
      return static_cast<float>(T(value));
  }
  float weight(float similarity) const {
    if (!soft_) return similarity <= s_.overlap ? 1 : 0;
    return rounded(std::exp(rounded(rounded(scale_ * similarity) * similarity)));
  }
  /// Whether a selected box lies over the candidate; its score decays by those that it was not compared with before.
  template <class Similarity>
  bool suppressed(Candidate& next, const Selected& selected, Similarity&& similarity) const {
    for (size_t j = selected.boxes.size(); j > next.compared; --j) {
      const float same = rounded(similarity(next.box, selected.boxes[j - 1]));
      next.score = rounded(next.score * weight(same));
      if (!soft_ && same > s_.overlap) return true;
      if (next.score <= s_.least) break;
    }
    next.compared = selected.boxes.size();
    return false;
  }

  const Suppression s_;
  const bool soft_;
  const float scale_;
};

/// `boxes` are rows of four corners or, with `overlaps`, the similarity of each pair.
Selected select_boxes(const Suppression& s, DType dtype, const Tensor& boxes, const Tensor& scores, bool overlaps) {
  const auto* from = boxes.as<float>();
  const int64_t count = boxes.shape[0];
  const auto similarity = [=](int64_t i, int64_t j) {
    return overlaps ? from[i * count + j] : overlap_of(from + i * 4, from + j * 4);
  };
  const std::span<const float> given(scores.as<float>(), static_cast<size_t>(count));
  return dtype == DType::kHalf ? Selection<Half>(s).run(given, similarity) : Selection<float>(s).run(given, similarity);
}

float lowest(DType dtype) { return dtype == DType::kHalf ? -65504.0F : std::numeric_limits<float>::lowest(); }

void check_scalar(const Lowering& l, size_t i, const char* name) {
  const Dims& shape = l.shape(i);
  require(shape.empty(), "{} must be 0-D, got shape {} (Shape must be rank 0 but is rank {})", name, client_text(shape),
          shape.size());
}

void check_boxes(const Lowering& l, bool overlaps) {
  const Dims &boxes = l.shape(0), &scores = l.shape(1);
  if (overlaps) {
    require(boxes.size() == 2, "overlaps must be 2-D{}", client_text(boxes));
    require(boxes[0] == boxes[1], "overlaps must be square{}", client_text(boxes));
  } else {
    require(boxes.size() == 2, "boxes must be 2-D{} (Shape must be rank 2 but is rank {})", client_text(boxes),
            boxes.size());
    require(boxes[1] == 4, "boxes must have 4 columns (Dimension must be 4 but is {})", boxes[1]);
  }
  require(scores.size() == 1, "scores must be 1-D{} (Shape must be rank 1 but is rank {})", client_text(scores),
          scores.size());
  require(scores[0] == boxes[0], "scores has incompatible shape (Dimensions must be equal, but are {} and {})",
          boxes[0], scores[0]);
}

void check_threshold(float overlap) { require(overlap >= 0 && overlap <= 1, "iou_threshold must be in [0, 1]"); }

/// A Suppression, once the run has the numbers.
struct Bounds {
  Planned most, overlap, least, sigma;
  float fixed_overlap = 0;  ///< where it is an attribute
  size_t inputs = 0;        ///< how many of the three numbers come as inputs
  DType dtype = DType::kFloat;
  bool overlaps = false;

  Suppression in(const Frame& frame) const {
    const auto number = [&](const Planned& scalar) {
      const float value = only_element<float>(frame, scalar);
      return dtype == DType::kHalf ? static_cast<float>(Half(value)) : value;
    };
    Suppression s;
    s.most = only_element<int64_t>(frame, most);
    require(s.most >= 0, "output size must be non-negative");
    s.overlap = inputs > 0 ? number(overlap) : fixed_overlap;
    if (!overlaps) check_threshold(s.overlap);
    s.least = inputs > 1 ? number(least) : lowest(dtype);
    s.sigma = inputs > 2 ? number(sigma) : 0;
    require(s.sigma >= 0, "soft_nms_sigma_val must be >= 0");
    return s;
  }
};

Bounds bounds_of(Lowering& l, size_t inputs, bool overlaps) {
  check_scalar(l, 2, "max_output_size");
  constexpr const char* kNames[] = {"iou_threshold", "score_threshold", "soft_nms_sigma"};
  for (size_t i = 0; i < inputs; ++i) check_scalar(l, 3 + i, overlaps && i == 0 ? "overlap_threshold" : kNames[i]);
  Bounds b;
  b.inputs = inputs, b.overlaps = overlaps, b.dtype = l.dtype(0);
  b.fixed_overlap = static_cast<float>(l.attributes().get_or<double>("iou_threshold", 0.5));
  const auto number = [&](size_t i) { return rows_of(l, l.input(3 + i), DType::kFloat); };
  b.most = rows_of(l, l.input(2), DType::kInt64);
  if (inputs > 0) b.overlap = number(0);
  if (inputs > 1) b.least = number(1);
  if (inputs > 2) b.sigma = number(2);
  return b;
}

/// The results: boxes, then scores where the node gives them, then how many boxes are no filling.
void give_selected(Frame& frame, Selected found, const std::vector<Planned>& out, bool scored, int64_t length) {
  const auto count = static_cast<int32_t>(found.boxes.size());
  if (length >= 0) found.boxes.resize(static_cast<size_t>(length)), found.scores.resize(static_cast<size_t>(length));
  const auto size = static_cast<int64_t>(found.boxes.size());
  Value boxes = make_value(frame.device(), DType::kInt32, {size});
  std::ranges::copy(found.boxes, boxes.tensor.as<int32_t>());
  frame.set(out[0], std::move(boxes));
  if (scored) {
    Value scores = make_value(frame.device(), out[1].dtype(), {size});
    for (int64_t i = 0; i < size; ++i) {
      const float score = found.scores[static_cast<size_t>(i)];
      if (out[1].dtype() == DType::kHalf)
        scores.tensor.as<Half>()[i] = Half(score);
      else
        scores.tensor.as<float>()[i] = score;
    }
    frame.set(out[1], std::move(scores));
  }
  if (out.size() == 1) return;
  Value valid = make_value(frame.device(), DType::kInt32, {});
  *valid.tensor.as<int32_t>() = count;
  frame.set(out.back(), std::move(valid));
}

void suppress(Lowering& l, size_t inputs, bool overlaps = false) {
  const Bounds bounds = bounds_of(l, inputs, overlaps);
  check_boxes(l, overlaps);
  if (inputs == 0) check_threshold(bounds.fixed_overlap);
  if (bounds.dtype != DType::kFloat && bounds.dtype != DType::kHalf) l.decline("boxes of this type are the client's");
  const size_t outputs = l.node().outputs.size();
  const bool scored = outputs == 3;
  // Filled up, results have a size that is known before the run.
  int64_t length = -1;
  if (outputs > 1 && l.attributes().get_or<bool>("pad_to_max_output_size", false)) length = integer(l, 2);
  require(length >= -1, "output size must be non-negative");
  const auto output = [&](size_t i, DType dtype) {
    return length >= 0 ? l.late(i, dtype, {length}) : l.dynamic(i, dtype);
  };
  std::vector<Planned> out{output(0, DType::kInt32)};
  if (scored) out.push_back(output(1, bounds.dtype));
  if (outputs > 1) out.push_back(l.late(outputs - 1, DType::kInt32, {}));
  const Planned boxes = rows_of(l, l.input(0), DType::kFloat), scores = rows_of(l, l.input(1), DType::kFloat);
  std::vector<Planned> reads{boxes, scores, bounds.most};
  if (inputs > 0) reads.push_back(bounds.overlap);
  if (inputs > 1) reads.push_back(bounds.least);
  if (inputs > 2) reads.push_back(bounds.sigma);
  l.run(reads, out, [=](Frame& frame) {
    const Suppression s = bounds.in(frame);
    give_selected(frame, select_boxes(s, bounds.dtype, frame.tensor(boxes), frame.tensor(scores), overlaps), out,
                  scored, length);
  });
}

void by_attribute(Lowering& l) { suppress(l, 0); }
void by_overlap(Lowering& l) { suppress(l, 1); }
void by_scores(Lowering& l) { suppress(l, 2); }
void by_decay(Lowering& l) { suppress(l, 3); }
void by_overlaps(Lowering& l) { suppress(l, 2, true); }

/// CombinedNonMaxSuppression: each class of each image for itself, then the best of all classes.
struct Combined {
  int64_t batch, count, shared, classes;  ///< `shared`: boxes for each anchor, 1 or one for each class
  int64_t most, total;                    ///< boxes of one class to select, boxes of one image to give
  float overlap = 0, least = 0;
  bool clip = true;
};

/// A box that its class selects; -1 where it selects fewer.
struct Detection {
  int64_t box = -1;
  float score = -std::numeric_limits<float>::infinity();
  int64_t label = -1;
};

const float* corners_of(const Combined& c, const float* boxes, const Detection& d) {
  return boxes + (d.box * c.shared + (c.shared > 1 ? d.label : 0)) * 4;
}

/// The order of equal scores is that of the standard heap and sort, as in the client's kernel.
void select_class(const Combined& c, const float* boxes, const float* scores, int64_t label, Detection* out) {
  const auto worse = [](const Detection& a, const Detection& b) { return a.score < b.score; };
  std::priority_queue<Detection, std::vector<Detection>, decltype(worse)> waiting(worse);
  for (int64_t i = 0; i < c.count; ++i)
    if (const float score = scores[i * c.classes + label]; score > c.least) waiting.push({i, score, label});
  int64_t found = 0;
  while (found < c.most && !waiting.empty()) {
    const Detection next = waiting.top();
    waiting.pop();
    bool covered = false;
    for (int64_t j = found - 1; j >= 0 && !covered; --j)
      covered = overlap_of(corners_of(c, boxes, next), corners_of(c, boxes, out[j])) > c.overlap;
    if (!covered) out[found++] = next;
  }
}

/// Where the results of one image go.
struct Detections {
  float *boxes, *scores, *classes;
  int32_t* valid;
};

void give_best(const Combined& c, const float* boxes, std::vector<Detection>& all, const Detections& to) {
  std::sort(all.begin(), all.end(), [](const Detection& a, const Detection& b) { return b.score < a.score; });
  const int64_t found = std::ranges::count_if(all, [](const Detection& d) { return d.box >= 0; });
  const int64_t valid = std::min(found, c.total);
  std::fill_n(to.boxes, c.total * 4, 0.0F), std::fill_n(to.scores, c.total, 0.0F);
  std::fill_n(to.classes, c.total, 0.0F);
  for (int64_t i = 0; i < valid; ++i) {
    const Detection& d = all[static_cast<size_t>(i)];
    const float* corners = corners_of(c, boxes, d);
    for (int64_t k = 0; k < 4; ++k)
      to.boxes[i * 4 + k] = c.clip ? std::max(std::min(corners[k], 1.0F), 0.0F) : corners[k];
    to.scores[i] = d.score, to.classes[i] = static_cast<float>(d.label);
  }
  *to.valid = static_cast<int32_t>(valid);
}

void combine(const Combined& c, const Tensor& boxes, const Tensor& scores, const std::vector<Tensor>& out) {
  const auto each = static_cast<size_t>(c.most * c.classes);
  std::vector<std::vector<Detection>> all(static_cast<size_t>(c.batch), std::vector<Detection>(each));
  const auto boxes_of = [&](int64_t image) { return boxes.as<float>() + image * c.count * c.shared * 4; };
  parallel_parts(c.batch * c.classes, [&](int64_t part) {
    const int64_t image = part / c.classes, label = part % c.classes;
    select_class(c, boxes_of(image), scores.as<float>() + image * c.count * c.classes, label,
                 all[static_cast<size_t>(image)].data() + c.most * label);
  });
  parallel_parts(c.batch, [&](int64_t image) {
    const int64_t at = image * c.total;
    give_best(
        c, boxes_of(image), all[static_cast<size_t>(image)],
        {out[0].as<float>() + at * 4, out[1].as<float>() + at, out[2].as<float>() + at, out[3].as<int32_t>() + image});
  });
}

/// A number that sizes depend on.
int64_t size_input(const Lowering& l, size_t i, const char* name, const char* refusal) {
  require(l.shape(i).empty(), "{} must be 0-D, got shape {}", name, client_text(l.shape(i)));
  const int64_t value = integer(l, i);
  require(value > 0, "{}", refusal);
  return value;
}

Combined combined_of(const Lowering& l) {
  const Dims &boxes = l.shape(0), &scores = l.shape(1);
  require(boxes.size() == 4, "boxes must be 4-D [batch, num_boxes, q, 4], got shape {}", client_text(boxes));
  require(scores.size() == 3, "scores must be 3-D [batch, num_boxes, num_classes], got shape {}", client_text(scores));
  require(boxes[2] == 1 || boxes[2] == scores[2], "third dimension of boxes must be either 1 or num classes");
  require(boxes[3] == 4, "boxes must have 4 columns");
  require(scores[1] == boxes[1], "scores has incompatible shape");
  require(boxes[0] == scores[0], "boxes and scores must have same batch size");
  Combined c{boxes[0], boxes[1], boxes[2], scores[2], 0, 0};
  const int64_t most = size_input(l, 2, "max_size_per_class", "max_size_per_class must be positive");
  c.most = std::min(most, c.count);
  c.total = size_input(l, 3, "max_total_size", "max_total_size must be > 0");
  require(c.classes == 0 || c.most <= std::numeric_limits<int32_t>::max() / c.classes,
          "size_per_class * num_classes causes overflow");
  if (l.attributes().get_or<bool>("pad_per_class", false)) c.total = std::min(c.total, most * c.classes);
  c.clip = l.attributes().get_or<bool>("clip_boxes", true);
  return c;
}

void combined(Lowering& l) {
  const Combined sizes = combined_of(l);
  check_scalar(l, 4, "iou_threshold"), check_scalar(l, 5, "score_threshold");
  const Planned boxes = rows_of(l, l.input(0), DType::kFloat), scores = rows_of(l, l.input(1), DType::kFloat),
                overlap = rows_of(l, l.input(4), DType::kFloat), least = rows_of(l, l.input(5), DType::kFloat);
  const std::vector<Planned> out{
      l.make(0, DType::kFloat, {sizes.batch, sizes.total, 4}), l.make(1, DType::kFloat, {sizes.batch, sizes.total}),
      l.make(2, DType::kFloat, {sizes.batch, sizes.total}), l.make(3, DType::kInt32, {sizes.batch})};
  l.run({boxes, scores, overlap, least}, out, [=](Frame& frame) {
    Combined c = sizes;
    c.overlap = only_element<float>(frame, overlap), c.least = only_element<float>(frame, least);
    check_threshold(c.overlap);
    std::vector<Tensor> to;
    to.reserve(out.size());
    for (const Planned& one : out) to.push_back(frame.tensor(one));
    combine(c, frame.tensor(boxes), frame.tensor(scores), to);
  });
}

NPU_NODE("NonMaxSuppression", by_attribute);
NPU_NODE("NonMaxSuppressionV2", by_overlap);
NPU_NODE("NonMaxSuppressionV3", by_scores);
NPU_NODE("NonMaxSuppressionV4", by_scores);
NPU_NODE("NonMaxSuppressionV5", by_decay);
NPU_NODE("NonMaxSuppressionWithOverlaps", by_overlaps);
NPU_NODE("CombinedNonMaxSuppression", combined);

}  // namespace
}  // namespace npu::graph
