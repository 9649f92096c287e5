// SPDX-License-Identifier: Apache-2.0
// Pictures resized, cut out, pasted, converted, bordered. Everything is checked at once; the stream keeps views of
// memory.
#include <cmath>
#include <string>
#include <vector>

#include "acl/aclnn/launch.h"
#include "acl/call.h"
#include "acl/media/description.h"
#include "device/context/context.h"
#include "device/queue/stream.h"

namespace npu::acl {
namespace {

/// What is read, what is filled, and how.
struct Work {
  ops::PictureView from, to;
  ops::TransformRule rule;
};

/// The pixels that a client names by the first and the last. Raises 100000 where it is none of the picture.
ops::PictureView part_of(const ops::Picture& picture, const acldvppRoiConfig* config, const char* argument) {
  const acldvppRoiConfig& r = described(config, argument);
  if (r.left > r.right || r.top > r.bottom || r.right >= picture.width || r.bottom >= picture.height)
    fail(Code::kInvalidParam, "{} goes from ({}, {}) to ({}, {}); the picture has {} x {} pixels, counted from 0",
         argument, r.left, r.top, r.right, r.bottom, picture.width, picture.height);
  const bool across = ops::shares_across(picture.format), down = ops::shares_down(picture.format);
  if ((across && (r.left % 2 != 0 || r.right % 2 != 1)) || (down && (r.top % 2 != 0 || r.bottom % 2 != 1)))
    fail(Code::kInvalidParam,
         "{} goes from ({}, {}) to ({}, {}); in {}, whose pixels share colours, it begins at even numbers and ends at "
         "odd "
         "ones",
         argument, r.left, r.top, r.right, r.bottom, ops::to_string(picture.format));
  return ops::planes_of(picture).part(r.left, r.top, r.right - r.left + 1, r.bottom - r.top + 1);
}

struct Areas {
  const acldvppRoiConfig* crop = nullptr;
  const acldvppRoiConfig* paste = nullptr;
  bool crops = false, pastes = false;
};

Work plan(const acldvppPicDesc* input, const acldvppPicDesc* output, const Areas& areas,
          const ops::TransformRule& rule) {
  const ops::Picture from = checked_picture(described(input, "inputDesc"), "inputDesc");
  const ops::Picture to = checked_picture(described(output, "outputDesc"), "outputDesc");
  check_apart(from, to);
  return {areas.crops ? part_of(from, areas.crop, "cropArea") : ops::planes_of(from),
          areas.pastes ? part_of(to, areas.paste, "pasteArea") : ops::planes_of(to), rule};
}

int64_t cost_of(const Work& work) { return 5000 + 4 * work.to.planes[0].width * work.to.planes[0].height; }

void queue(const char* name, std::vector<Work> works, aclrtStream handle) {
  device::Stream& stream = device::stream_from_handle(handle);
  device::Task task;
  task.name = name;
  for (const Work& work : works) task.cost_ns += cost_of(work);
  task.body = [works = std::move(works)] {
    for (const Work& work : works) ops::transform(work.from, work.to, work.rule);
  };
  launch_kernel(stream, std::move(task));
}

ops::TransformRule with(ops::TransformRule rule, const acldvppResizeConfig* config) {
  if (described(config, "resizeConfig").interpolation == 2) rule.interpolation = ops::Interpolation::kNearest;
  return rule;
}

aclError run(const char* function, acldvppChannelDesc* channel, acldvppPicDesc* input, acldvppPicDesc* output,
             const Areas& areas, aclrtStream stream) {
  return call(function, [&] { queue(function, {plan(input, output, areas, rule_of(channel))}, stream); });
}

// With a rule of its own for resizing.
aclError run(const char* function, acldvppChannelDesc* channel, acldvppPicDesc* input, acldvppPicDesc* output,
             const Areas& areas, const acldvppResizeConfig* resize, aclrtStream stream) {
  return call(function, [&] { queue(function, {plan(input, output, areas, with(rule_of(channel), resize))}, stream); });
}

struct Bordered {
  ops::PictureView from, to;
  ops::BorderRule rule;
};

ops::BorderRule border_rule(const acldvppBorderConfig& config) {
  ops::BorderRule rule{static_cast<ops::Border>(config.type), config.left, config.top, {}};
  for (size_t i = 0; i < 4; ++i) rule.values[i] = static_cast<uint8_t>(std::lround(config.values[i]));
  return rule;
}

void check_border(const ops::Picture& from, const ops::Picture& to, const acldvppBorderConfig& config) {
  if (from.format != to.format)
    fail(Code::kInvalidParam, "the input is {}, the output {}; a border changes no format", ops::to_string(from.format),
         ops::to_string(to.format));
  const int64_t width = from.width + config.left + config.right, height = from.height + config.top + config.bottom;
  if (to.width != width || to.height != height)
    fail(Code::kInvalidParam, "the output is {} x {}; the input and its border are {} x {}", to.width, to.height, width,
         height);
  if ((ops::shares_across(from.format) && config.left % 2 != 0) ||
      (ops::shares_down(from.format) && config.top % 2 != 0))
    fail(Code::kInvalidParam,
         "the border has {} pixels on the left and {} above; in {}, whose pixels share colours, both "
         "are even",
         config.left, config.top, ops::to_string(from.format));
}

Bordered plan_border(const acldvppPicDesc* input, const acldvppPicDesc* output, const acldvppBorderConfig* border) {
  const ops::Picture from = checked_picture(described(input, "inputDesc"), "inputDesc");
  const ops::Picture to = checked_picture(described(output, "outputDesc"), "outputDesc");
  const acldvppBorderConfig& config = described(border, "borderConfig");
  check_apart(from, to);
  check_border(from, to, config);
  return {ops::planes_of(from), ops::planes_of(to), border_rule(config)};
}

/// A part, resized into what a border leaves of the output.
struct BorderedPart {
  ops::PictureView from, to;
  ops::Picture inside;  ///< without memory
  ops::TransformRule rule;
  ops::BorderRule border;

  void run() const {
    ops::Picture between = inside;
    std::vector<uint8_t> bytes(static_cast<size_t>(ops::bytes_of(inside.format, inside.row, inside.rows)));
    between.data = bytes.data();
    ops::transform(from, ops::planes_of(between), rule);
    ops::add_border(ops::planes_of(between), to, border);
  }
};

BorderedPart plan_bordered(const acldvppPicDesc* input, const acldvppPicDesc* output, const acldvppRoiConfig* crop,
                           const acldvppBorderConfig* border, const ops::TransformRule& rule) {
  const Work whole = plan(input, output, {.crop = crop, .crops = true}, rule);
  const acldvppBorderConfig& config = described(border, "borderCfgs");
  const ops::Picture to = checked_picture(*output, "outputDesc");
  const int64_t width = to.width - config.left - config.right, height = to.height - config.top - config.bottom;
  if (width <= 0 || height <= 0)
    fail(Code::kInvalidParam, "the output is {} x {}; the border leaves nothing of it", to.width, to.height);
  ops::Picture inside{to.format, width, height, width * ops::pixel_bytes(to.format), height, nullptr};
  if ((ops::shares_across(to.format) && width % 2 != 0) || (ops::shares_down(to.format) && height % 2 != 0))
    fail(Code::kInvalidParam, "the border leaves {} x {} pixels; in {}, whose pixels share colours, both are even",
         width, height, ops::to_string(to.format));
  check_border(inside, to, config);
  return {whole.from, whole.to, inside, rule, border_rule(config)};
}

/// Calls each(input, output, i) for each part of each picture of a batch, in order.
template <class F>
void each_part(acldvppBatchPicDesc* inputs, const uint32_t* counts, uint32_t size, acldvppBatchPicDesc* outputs,
               F&& each) {
  const acldvppBatchPicDesc& from = described(inputs, "srcBatchPicDescs");
  const acldvppBatchPicDesc& to = described(outputs, "dstBatchPicDescs");
  given(counts, "roiNums");
  if (size == 0 || size > from.pictures.size())
    fail(Code::kInvalidParam, "size is {}; the batch has {} pictures", size, from.pictures.size());
  size_t part = 0;
  for (uint32_t i = 0; i < size; ++i) part += counts[i];
  if (part == 0 || part > to.pictures.size())
    fail(Code::kInvalidParam, "roiNums ask for {} parts in all; dstBatchPicDescs has {} pictures", part,
         to.pictures.size());
  part = 0;
  for (uint32_t i = 0; i < size; ++i)
    for (uint32_t k = 0; k < counts[i]; ++k, ++part) each(from.pictures[i], to.pictures[part], part);
}

struct Batch {
  acldvppBatchPicDesc* inputs;
  uint32_t* counts;
  uint32_t size;
  acldvppBatchPicDesc* outputs;
  acldvppRoiConfig** crops;
  acldvppRoiConfig** pastes = nullptr;
  bool paste = false;
};

void run_batch(const char* name, const Batch& b, const ops::TransformRule& rule, aclrtStream stream) {
  given(b.crops, "cropAreas");
  if (b.paste) given(b.pastes, "pasteAreas");
  std::vector<Work> works;
  each_part(b.inputs, b.counts, b.size, b.outputs, [&](acldvppPicDesc* from, acldvppPicDesc* to, size_t i) {
    works.push_back(plan(from, to, {b.crops[i], b.paste ? b.pastes[i] : nullptr, true, b.paste}, rule));
  });
  queue(name, std::move(works), stream);
}

}  // namespace
}  // namespace npu::acl

using namespace npu;       // NOLINT: the C functions below are the door itself
using namespace npu::acl;  // NOLINT

aclError acldvppVpcResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                               acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return run("acldvppVpcResizeAsync", channelDesc, inputDesc, outputDesc, {}, resizeConfig, stream);
}
aclError acldvppVpcCropAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc, acldvppPicDesc* outputDesc,
                             acldvppRoiConfig* cropArea, aclrtStream stream) {
  return run("acldvppVpcCropAsync", channelDesc, inputDesc, outputDesc, {.crop = cropArea, .crops = true}, stream);
}
aclError acldvppVpcCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                   acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return run("acldvppVpcCropResizeAsync", channelDesc, inputDesc, outputDesc, {.crop = cropArea, .crops = true},
             resizeConfig, stream);
}
aclError acldvppVpcCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                     acldvppRoiConfig* pasteArea, aclrtStream stream) {
  return run("acldvppVpcCropAndPasteAsync", channelDesc, inputDesc, outputDesc, {cropArea, pasteArea, true, true},
             stream);
}
aclError acldvppVpcCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                        acldvppPicDesc* outputDesc, acldvppRoiConfig* cropArea,
                                        acldvppRoiConfig* pasteArea, acldvppResizeConfig* resizeConfig,
                                        aclrtStream stream) {
  return run("acldvppVpcCropResizePasteAsync", channelDesc, inputDesc, outputDesc, {cropArea, pasteArea, true, true},
             resizeConfig, stream);
}
aclError acldvppVpcConvertColorAsync(acldvppChannelDesc* channelDesc, acldvppPicDesc* inputDesc,
                                     acldvppPicDesc* outputDesc, aclrtStream stream) {
  return run("acldvppVpcConvertColorAsync", channelDesc, inputDesc, outputDesc, {}, stream);
}
aclError acldvppVpcMakeBorderAsync(const acldvppChannelDesc* channelDesc, const acldvppPicDesc* inputDesc,
                                   acldvppPicDesc* outputDesc, const acldvppBorderConfig* borderConfig,
                                   aclrtStream stream) {
  return call("acldvppVpcMakeBorderAsync", [&] {
    static_cast<void>(rule_of(channelDesc));
    const Bordered work = plan_border(inputDesc, outputDesc, borderConfig);
    device::Task task;
    task.name = "acldvppVpcMakeBorderAsync";
    task.cost_ns = cost_of({work.from, work.to, {}});
    task.body = [work] { ops::add_border(work.from, work.to, work.rule); };
    launch_kernel(device::stream_from_handle(stream), std::move(task));
  });
}

aclError acldvppVpcBatchCropAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                  uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                  acldvppRoiConfig* cropAreas[], aclrtStream stream) {
  return call("acldvppVpcBatchCropAsync", [&] {
    run_batch("acldvppVpcBatchCropAsync", {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
              rule_of(channelDesc), stream);
  });
}
aclError acldvppVpcBatchCropResizeAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                        uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                        acldvppRoiConfig* cropAreas[], acldvppResizeConfig* resizeConfig,
                                        aclrtStream stream) {
  return call("acldvppVpcBatchCropResizeAsync", [&] {
    run_batch("acldvppVpcBatchCropResizeAsync", {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas},
              with(rule_of(channelDesc), resizeConfig), stream);
  });
}
aclError acldvppVpcBatchCropAndPasteAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                          uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                          acldvppRoiConfig* cropAreas[], acldvppRoiConfig* pasteAreas[],
                                          aclrtStream stream) {
  return call("acldvppVpcBatchCropAndPasteAsync", [&] {
    run_batch("acldvppVpcBatchCropAndPasteAsync",
              {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, pasteAreas, true}, rule_of(channelDesc),
              stream);
  });
}
aclError acldvppVpcBatchCropResizePasteAsync(acldvppChannelDesc* channelDesc, acldvppBatchPicDesc* srcBatchPicDescs,
                                             uint32_t* roiNums, uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                             acldvppRoiConfig* cropAreas[], acldvppRoiConfig* pasteAreas[],
                                             acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return call("acldvppVpcBatchCropResizePasteAsync", [&] {
    run_batch("acldvppVpcBatchCropResizePasteAsync",
              {srcBatchPicDescs, roiNums, size, dstBatchPicDescs, cropAreas, pasteAreas, true},
              with(rule_of(channelDesc), resizeConfig), stream);
  });
}
aclError acldvppVpcBatchCropResizeMakeBorderAsync(acldvppChannelDesc* channelDesc,
                                                  acldvppBatchPicDesc* srcBatchPicDescs, uint32_t* roiNums,
                                                  uint32_t size, acldvppBatchPicDesc* dstBatchPicDescs,
                                                  acldvppRoiConfig* cropAreas[], acldvppBorderConfig* borderCfgs[],
                                                  acldvppResizeConfig* resizeConfig, aclrtStream stream) {
  return call("acldvppVpcBatchCropResizeMakeBorderAsync", [&] {
    given(cropAreas, "cropAreas");
    given(borderCfgs, "borderCfgs");
    const ops::TransformRule rule = with(rule_of(channelDesc), resizeConfig);
    std::vector<BorderedPart> parts;
    each_part(srcBatchPicDescs, roiNums, size, dstBatchPicDescs,
              [&](acldvppPicDesc* from, acldvppPicDesc* to, size_t i) {
                parts.push_back(plan_bordered(from, to, cropAreas[i], borderCfgs[i], rule));
              });
    device::Task task;
    task.name = "acldvppVpcBatchCropResizeMakeBorderAsync";
    for (const BorderedPart& part : parts) task.cost_ns += 2 * cost_of({part.from, part.to, rule});
    task.body = [parts = std::move(parts)] {
      for (const BorderedPart& part : parts) part.run();
    };
    launch_kernel(device::stream_from_handle(stream), std::move(task));
  });
}
