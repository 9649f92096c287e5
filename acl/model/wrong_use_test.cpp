// SPDX-License-Identifier: Apache-2.0
// Wrong uses of models: files, memory, descriptions, data sets, gears, pictures' parameters, runs, contexts.
#include <cstring>
#include <iostream>
#include <thread>

#include "acl/model/wrong_use_fixture.h"

namespace npu::acl {
namespace {

using Uses = std::vector<WrongUse>;

std::string container_of_version(std::string bytes, char version) {
  bytes[8] = version;
  return bytes;
}

/// A model of each kind, live and dead objects, and buffers of right and wrong sizes.
struct Objects {
  const std::string bytes = scaled_model({2, 3});
  const ModelPath path{bytes}, vendor{"IMOD" + std::string(500, '\1')}, text{"hello"}, empty{""},
      cut{bytes.substr(0, bytes.size() / 2)}, later{container_of_version(bytes, 9)};
  const ModelPath moving{"aipp_op { aipp_mode: dynamic max_src_image_size: 48 }"};
  uint32_t plain = 0, geared = 0, pictures = 0, open = 0, unloaded = 0;
  const Memory in{48}, out{48}, sum{16}, small{4}, aipp{4096};
  std::vector<std::byte> host = std::vector<std::byte>(4096);
  Dataset inputs, outputs, none, two, null, tiny, of_host, few, short_out, with_gear, no_gear, images;
  aclmdlDesc *desc = aclmdlCreateDesc(), *bare = aclmdlCreateDesc(), *dead_desc = nullptr;
  aclmdlDataset* dead_set = nullptr;
  aclDataBuffer* dead_buffer = nullptr;
  aclTensorDesc* dead_tensor = nullptr;
  aclmdlAIPP *parameters = aclmdlCreateAIPP(1), *dead_parameters = nullptr;
  aclmdlConfigHandle* config = aclmdlCreateConfigHandle();
  aclmdlExecConfigHandle* limits = aclmdlCreateExecConfigHandle();
  void* freed = nullptr;
  aclrtStream foreign = nullptr, dead_stream = nullptr;
  aclrtContext first = nullptr, second = nullptr;

  Objects() {
    plain = load(bytes), unloaded = load(bytes);
    geared = load(scaled_model({-1, 3}, {{"dynamic_batch_size", "1,2,4"}}));
    pictures = load(scaled_model({1, 2, 2, 3}, {{"input_format", "NHWC"}, {"insert_op_conf", moving.get()}}));
    open = load(scaled_model({-1, -1, 3}, {{"input_shape", "x:1~2,-1,3"}}));
    EXPECT_OK(aclmdlUnload(unloaded));
    EXPECT_OK(aclmdlGetDesc(desc, plain));
    fill();
    make_streams();
    destroy_some();
  }
  ~Objects() {
    for (const uint32_t id : {plain, geared, pictures, open}) EXPECT_OK(aclmdlUnload(id));
    for (aclmdlDesc* one : {desc, bare}) EXPECT_OK(aclmdlDestroyDesc(one));
    EXPECT_OK(aclmdlDestroyAIPP(parameters));
    EXPECT_OK(aclmdlDestroyConfigHandle(config));
    EXPECT_OK(aclmdlDestroyExecConfigHandle(limits));
    EXPECT_OK(aclrtSetDevice(1));
    EXPECT_OK(aclrtDestroyStream(foreign));
    EXPECT_OK(aclrtSetCurrentContext(first));
    EXPECT_OK(aclrtDestroyContext(second));
  }
  Objects(const Objects&) = delete;
  Objects& operator=(const Objects&) = delete;

  static uint32_t load(const std::string& bytes) {
    uint32_t id = 0;
    EXPECT_OK(aclmdlLoadFromMem(bytes.data(), bytes.size(), &id));
    return id;
  }
  void fill() {
    inputs.add(in.get(), 24);
    outputs.add(out.get(), 24).add(sum.get(), 8);
    two.add(in).add(in);
    null.add(nullptr, 0);
    tiny.add(small);
    of_host.add(host.data(), 24);
    few.add(out);
    short_out.add(small).add(sum);
    with_gear.add(in).add(small);
    no_gear.add(in);
    images.add(in).add(aipp);
  }
  /// Last, as what is made later takes the place of what is gone.
  void destroy_some() {
    EXPECT_OK(aclmdlDestroyDesc(dead_desc = aclmdlCreateDesc()));
    EXPECT_OK(aclmdlDestroyDataset(dead_set = aclmdlCreateDataset()));
    EXPECT_OK(aclDestroyDataBuffer(dead_buffer = aclCreateDataBuffer(nullptr, 0)));
    EXPECT_OK(aclmdlDestroyAIPP(dead_parameters = aclmdlCreateAIPP(1)));
    aclDestroyTensorDesc(dead_tensor = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND));
    EXPECT_OK(aclrtMalloc(&freed, 4096, ACL_MEM_MALLOC_NORMAL_ONLY));
    EXPECT_OK(aclrtFree(freed));
  }
  void make_streams() {
    EXPECT_OK(aclrtGetCurrentContext(&first));
    EXPECT_OK(aclrtCreateStream(&dead_stream));
    EXPECT_OK(aclrtDestroyStream(dead_stream));
    EXPECT_OK(aclrtCreateContext(&second, 0));
    EXPECT_OK(aclrtSetDevice(1));
    EXPECT_OK(aclrtCreateStream(&foreign));
    EXPECT_OK(aclrtSetCurrentContext(first));
  }
};

/// A call in a thread of its own, whose text comes back with it.
aclError in_thread(const std::function<aclError()>& call) {
  aclError code = ACL_SUCCESS;
  std::thread([&] { code = call(); }).join();
  return code;
}

Uses wrong_files(Objects& o, uint32_t* id, size_t* size) {
  return {
      {"a file that is not there",
       145002,
       {"/nowhere.om", "atc"},
       [=] { return aclmdlLoadFromFile("/nowhere.om", id); }},
      {"a folder", 145002, {"/tmp", "no file", "atc"}, [=] { return aclmdlLoadFromFile("/tmp", id); }},
      {"no path", 100000, {"modelPath is null"}, [=] { return aclmdlLoadFromFile(nullptr, id); }},
      {"no place for the number",
       100000,
       {"modelId is null"},
       [&] { return aclmdlLoadFromFile(o.path.get(), nullptr); }},
      {"a file of the vendor's atc",
       100012,
       {"vendor's atc", "again"},
       [&o, id] { return aclmdlLoadFromFile(o.vendor.get(), id); }},
      {"a text", 100012, {"no container"}, [&o, id] { return aclmdlLoadFromFile(o.text.get(), id); }},
      {"an empty file", 145006, {"empty"}, [&o, id] { return aclmdlLoadFromFile(o.empty.get(), id); }},
      {"a file that is cut short", 100012, {"damaged"}, [&o, id] { return aclmdlLoadFromFile(o.cut.get(), id); }},
      {"a file of a later version", 100012, {"version 9"}, [&o, id] { return aclmdlLoadFromFile(o.later.get(), id); }},
      {"no bytes", 145006, {"modelSize is 0"}, [&o, id] { return aclmdlLoadFromMem(o.bytes.data(), 0, id); }},
      {"null bytes", 100000, {"model is null"}, [=] { return aclmdlLoadFromMem(nullptr, 8, id); }},
      {"bytes that are cut short",
       100012,
       {"damaged"},
       [&o, id] { return aclmdlLoadFromMem(o.bytes.data(), 100, id); }},
      {"sizes of no file", 145002, {"/nowhere.om"}, [=] { return aclmdlQuerySize("/nowhere.om", size, size); }},
      {"sizes without a path", 100000, {"is null"}, [=] { return aclmdlQuerySize(nullptr, size, size); }},
      {"sizes without a place",
       100000,
       {"workSize is null"},
       [&o, size] { return aclmdlQuerySize(o.path.get(), nullptr, size); }},
      {"sizes without another place",
       100000,
       {"weightSize is null"},
       [&o, size] { return aclmdlQuerySize(o.path.get(), size, nullptr); }},
      {"no memory for weights",
       145007,
       {"weightPtr is null", "aclrtMalloc"},
       [&o, id] { return aclmdlLoadFromFileWithMem(o.path.get(), id, nullptr, 0, nullptr, 64); }},
      {"little memory for weights",
       145007,
       {"weightPtr has 1 bytes", "aclmdlQuerySize"},
       [&o, id] { return aclmdlLoadFromFileWithMem(o.path.get(), id, nullptr, 0, o.small.get(), 1); }},
      {"host memory for weights",
       107000,
       {"weightPtr", "host address", "aclrtMalloc"},
       [&o, id] { return aclmdlLoadFromFileWithMem(o.path.get(), id, nullptr, 0, o.host.data(), 4096); }},
      {"freed memory for weights",
       107000,
       {"weightPtr", "free"},
       [&o, id] { return aclmdlLoadFromFileWithMem(o.path.get(), id, nullptr, 0, o.freed, 4096); }},
      {"little work memory",
       145007,
       {"workPtr has 1 bytes", "aclmdlQuerySize"},
       [&o, id] { return aclmdlLoadFromFileWithMem(o.path.get(), id, o.small.get(), 1, nullptr, 0); }},
      {"more memory than the device has",
       207001,
       {"asked"},
       [&o] { return aclrtMalloc(&o.freed, size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST); }},
      {"a configuration without a way to load",
       100000,
       {"no load type", "ACL_MDL_LOAD_TYPE_SIZET"},
       [&o, id] { return aclmdlLoadWithConfig(o.config, id); }},
      {"a bundle that is not there", 148053, {"no bundle 77"}, [=] { return aclmdlBundleUnload(77); }},
  };
}

Uses wrong_descriptions(Objects& o, aclmdlIODims* dims, size_t* index) {
  return {
      {"of a model that is not there",
       145003,
       {"no model 77", "never loaded"},
       [&] { return aclmdlGetDesc(o.bare, 77); }},
      {"of an unloaded model", 145003, {"unloaded"}, [&] { return aclmdlGetDesc(o.bare, o.unloaded); }},
      {"into null", 100000, {"modelDesc is null"}, [&] { return aclmdlGetDesc(nullptr, o.plain); }},
      {"into one that was destroyed",
       100000,
       {"modelDesc", "destroyed"},
       [&] { return aclmdlGetDesc(o.dead_desc, o.plain); }},
      {"destroyed twice", 100000, {"not alive", "destroyed"}, [&] { return aclmdlDestroyDesc(o.dead_desc); }},
      {"never filled", 100000, {"empty", "aclmdlGetDesc"}, [&o, dims] { return aclmdlGetInputDims(o.bare, 0, dims); }},
      {"an input that is not there", 100000, {"1 inputs"}, [&o, dims] { return aclmdlGetInputDims(o.desc, 1, dims); }},
      {"an output that is not there",
       100000,
       {"2 outputs"},
       [&o, dims] { return aclmdlGetOutputDims(o.desc, 2, dims); }},
      {"sizes into null", 100000, {"dims is null"}, [&] { return aclmdlGetInputDims(o.desc, 0, nullptr); }},
      {"a name that is not there",
       100000,
       {"y", "there are x"},
       [&o, index] { return aclmdlGetInputIndexByName(o.desc, "y", index); }},
      {"no name", 100000, {"name is null"}, [&o, index] { return aclmdlGetInputIndexByName(o.desc, nullptr, index); }},
      {"a name into null", 100000, {"index is null"}, [&] { return aclmdlGetInputIndexByName(o.desc, "x", nullptr); }},
      {"the number of gears into null",
       100000,
       {"gearCount is null"},
       [&] { return aclmdlGetInputDynamicGearCount(o.desc, static_cast<size_t>(-1), nullptr); }},
      {"of a file that is no model",
       100012,
       {"no container"},
       [&] { return aclmdlGetDescFromFile(o.bare, o.text.get()); }},
      {"sets of parameters destroyed twice",
       100000,
       {"not alive"},
       [&] { return aclmdlDestroyAIPP(o.dead_parameters); }},
  };
}

Uses wrong_sets(Objects& o) {
  return {
      {"null added", 100000, {"dataBuffer is null"}, [&] { return aclmdlAddDatasetBuffer(o.none, nullptr); }},
      {"a destroyed buffer added",
       100000,
       {"dataBuffer", "destroyed"},
       [&] { return aclmdlAddDatasetBuffer(o.none, o.dead_buffer); }},
      {"into a destroyed set",
       100000,
       {"dataset", "destroyed"},
       [&] { return aclmdlAddDatasetBuffer(o.dead_set, aclmdlGetDatasetBuffer(o.inputs, 0)); }},
      {"destroyed twice", 100000, {"not alive"}, [&] { return aclmdlDestroyDataset(o.dead_set); }},
      {"a shape for a buffer that is not there",
       100000,
       {"index is 5", "1 buffers"},
       [&] {
         aclTensorDesc* shape = aclCreateTensorDesc(ACL_FLOAT, 0, nullptr, ACL_FORMAT_ND);
         const aclError code = aclmdlSetDatasetTensorDesc(o.inputs, shape, 5);
         aclDestroyTensorDesc(shape);
         return code;
       }},
      {"a destroyed shape",
       100000,
       {"tensorDesc", "destroyed"},
       [&] { return aclmdlSetDatasetTensorDesc(o.inputs, o.dead_tensor, 0); }},
      {"a buffer destroyed twice",
       100000,
       {"dataBuffer", "destroyed"},
       [&] { return aclDestroyDataBuffer(o.dead_buffer); }},
  };
}

Uses wrong_runs(Objects& o) {
  return {
      {"a model that is not there", 145003, {"no model 77"}, [&] { return aclmdlExecute(77, o.inputs, o.outputs); }},
      {"an unloaded model", 145003, {"unloaded"}, [&] { return aclmdlExecute(o.unloaded, o.inputs, o.outputs); }},
      {"unloaded twice", 145003, {"unloaded"}, [&] { return aclmdlUnload(o.unloaded); }},
      {"no inputs", 100000, {"input is null"}, [&] { return aclmdlExecute(o.plain, nullptr, o.outputs); }},
      {"no outputs", 100000, {"output is null"}, [&] { return aclmdlExecute(o.plain, o.inputs, nullptr); }},
      {"a destroyed set", 100000, {"not alive"}, [&] { return aclmdlExecute(o.plain, o.dead_set, o.outputs); }},
      {"an empty set", 100017, {"0 buffers"}, [&] { return aclmdlExecute(o.plain, o.none, o.outputs); }},
      {"too many inputs",
       100017,
       {"inputs has 2 buffers", "the model 1", "aclmdlGetNumInputs"},
       [&] { return aclmdlExecute(o.plain, o.two, o.outputs); }},
      {"too few outputs",
       100018,
       {"outputs has 1 buffers", "the model 2", "aclmdlGetNumOutputs"},
       [&] { return aclmdlExecute(o.plain, o.inputs, o.few); }},
      {"an input without memory",
       145011,
       {"is null", "24 bytes"},
       [&] { return aclmdlExecute(o.plain, o.null, o.outputs); }},
      {"a small input",
       145012,
       {"input x", "4 bytes", "24 are needed"},
       [&] { return aclmdlExecute(o.plain, o.tiny, o.outputs); }},
      {"a small output",
       145012,
       {"output out", "24 are needed"},
       [&] { return aclmdlExecute(o.plain, o.inputs, o.short_out); }},
      {"an input in host memory",
       107000,
       {"input", "host address", "aclrtMalloc"},
       [&] { return aclmdlExecute(o.plain, o.of_host, o.outputs); }},
      {"in another context",
       107004,
       {"another context", "aclrtSetCurrentContext"},
       [&] {
         EXPECT_OK(aclrtSetCurrentContext(o.second));
         const aclError code = aclmdlExecute(o.plain, o.inputs, o.outputs);
         EXPECT_OK(aclrtSetCurrentContext(o.first));
         return code;
       }},
      {"unloaded in another context",
       107004,
       {"another context", "aclrtSetCurrentContext"},
       [&] {
         EXPECT_OK(aclrtSetCurrentContext(o.second));
         const aclError code = aclmdlUnload(o.plain);
         EXPECT_OK(aclrtSetCurrentContext(o.first));
         return code;
       }},
      {"on a stream of another device",
       107000,
       {"device 1"},
       [&] { return aclmdlExecuteAsync(o.plain, o.inputs, o.outputs, o.foreign); }},
      {"on a destroyed stream",
       107017,
       {"stream"},
       [&] { return aclmdlExecuteAsync(o.plain, o.inputs, o.outputs, o.dead_stream); }},
      {"with a limit of 0",
       100000,
       {"limit is 0", "-1"},
       [&] {
         const int32_t limit = 0;
         return aclmdlSetExecConfigOpt(o.limits, ACL_MDL_STREAM_SYNC_TIMEOUT, &limit, sizeof limit);
       }},
      {"sizes that are not told",
       145021,
       {"aclmdlSetDatasetTensorDesc"},
       [&] { return aclmdlExecute(o.open, o.inputs, o.outputs); }},
  };
}

Uses wrong_choices(Objects& o) {
  return {
      {"no gear chosen",
       145013,
       {"no size was chosen", "aclmdlSetDynamicBatchSize"},
       [&] { return aclmdlExecute(o.geared, o.with_gear, o.outputs); }},
      {"no buffer for the gear",
       100017,
       {"1 buffers", "ascend_mbatch_shape_data"},
       [&] { return aclmdlExecute(o.geared, o.no_gear, o.outputs); }},
      {"a gear that is not listed",
       145013,
       {"3 is no gear", "1; 2; 4"},
       [&] { return aclmdlSetDynamicBatchSize(o.geared, o.with_gear, 1, 3); }},
      {"a gear at a wrong input",
       100000,
       {"index is 0", "aclmdlGetInputIndexByName"},
       [&] { return aclmdlSetDynamicBatchSize(o.geared, o.with_gear, 0, 2); }},
      {"a gear without its buffer",
       100000,
       {"index is 1", "add one"},
       [&] { return aclmdlSetDynamicBatchSize(o.geared, o.no_gear, 1, 2); }},
      {"a gear of a model that is not there",
       145003,
       {"no model 77"},
       [&] { return aclmdlSetDynamicBatchSize(77, o.with_gear, 1, 2); }},
      {"a gear of another kind",
       100019,
       {"--dynamic_image_size", "--dynamic_batch_size"},
       [&] { return aclmdlSetDynamicHWSize(o.geared, o.with_gear, 1, 4, 4); }},
      {"a gear of a model without",
       100019,
       {"no gears", "--dynamic_batch_size"},
       [&] { return aclmdlSetDynamicBatchSize(o.plain, o.inputs, 0, 2); }},
      {"sizes of null",
       100000,
       {"dims is null"},
       [&] { return aclmdlSetInputDynamicDims(o.geared, o.with_gear, 1, nullptr); }},
      {"a gear in a destroyed set",
       100000,
       {"not alive"},
       [&] { return aclmdlSetDynamicBatchSize(o.geared, o.dead_set, 1, 2); }},
  };
}

Uses wrong_pictures(Objects& o, aclAippInfo* info) {
  return {
      {"parameters for a model without AIPP",
       145015,
       {"aclmdlGetAippType"},
       [&] { return aclmdlSetInputAIPP(o.plain, o.inputs, 0, o.parameters); }},
      {"parameters at a wrong input",
       145015,
       {"index is 0", "aclmdlGetAippType"},
       [&] { return aclmdlSetInputAIPP(o.pictures, o.images, 0, o.parameters); }},
      {"parameters without a picture's size",
       100000,
       {"no size", "aclmdlSetAIPPSrcImageSize"},
       [&] { return aclmdlSetInputAIPP(o.pictures, o.images, 1, o.parameters); }},
      {"destroyed parameters",
       100000,
       {"destroyed"},
       [&] { return aclmdlSetInputAIPP(o.pictures, o.images, 1, o.dead_parameters); }},
      {"null parameters",
       100000,
       {"aippParmsSet is null"},
       [&] { return aclmdlSetInputAIPP(o.pictures, o.images, 1, nullptr); }},
      {"a set without their buffer",
       100000,
       {"1 buffers", "input 1"},
       [&] { return aclmdlSetInputAIPP(o.pictures, o.inputs, 1, o.parameters); }},
      {"a format that is not built",
       100000,
       {"inputFormat is 5", "RGB888_U8"},
       [&] { return aclmdlSetAIPPInputFormat(o.parameters, ACL_NC1HWC0DI_FP16); }},
      {"a picture of no width",
       100000,
       {"is 0", "4096"},
       [&] { return aclmdlSetAIPPSrcImageSize(o.parameters, 0, 4); }},
      {"scaling",
       207000,
       {"not built", "acldvppVpcResizeAsync"},
       [&] { return aclmdlSetAIPPScfParams(o.parameters, 1, 4, 4, 8, 8, 0); }},
      {"a picture beyond the batch",
       100000,
       {"batchIndex is 1", "aclmdlCreateAIPP"},
       [&] { return aclmdlSetAIPPDtcPixelMean(o.parameters, 0, 0, 0, 0, 1); }},
      {"a switch of 2", 100000, {"is 2", "0 and 1"}, [&] { return aclmdlSetAIPPRbuvSwapSwitch(o.parameters, 2); }},
      {"what AIPP a plain input has",
       145015,
       {"no AIPP", "--insert_op_conf"},
       [&o, info] { return aclmdlGetFirstAippInfo(o.plain, 0, info); }},
  };
}

class WrongUses : public OnDevice {};

TEST_F(WrongUses, OfModelsAreToldByCodeAndText) {
  Objects o;
  uint32_t id = 0;
  size_t size = 0;
  aclmdlIODims dims;
  aclAippInfo info;
  size_t count = expect_refused(wrong_files(o, &id, &size)) + expect_refused(wrong_descriptions(o, &dims, &size)) +
                 expect_refused(wrong_sets(o)) + expect_refused(wrong_runs(o)) + expect_refused(wrong_choices(o)) +
                 expect_refused(wrong_pictures(o, &info));
  std::cout << count << " wrong uses of models are told\n";
  EXPECT_GE(count, 60U);
  EXPECT_OK(aclmdlExecute(o.plain, o.inputs, o.outputs)) << "and the next call is right";
  EXPECT_OK(aclmdlSetDynamicBatchSize(o.geared, Dataset().add(o.in).add(o.aipp), 1, 2));
}

TEST_F(WrongUses, AThreadWithoutAContextIsTold) {
  Objects o;
  std::string text;
  EXPECT_EQ(in_thread([&] {
              const aclError code = aclmdlExecute(o.plain, o.inputs, o.outputs);
              text = aclGetRecentErrMsg();
              return code;
            }),
            107002);
  EXPECT_NE(text.find("aclrtSetDevice"), std::string::npos) << text;
}

// A run holds the model: unloading waits for it, or is refused inside it.
TEST_F(WrongUses, UnloadingInsideATaskIsRefused) {
  Objects o;
  struct Inside {
    uint32_t model;
    aclrtContext context;
    aclError code;
    std::string text;
  } inside{o.plain, o.first, ACL_SUCCESS, ""};
  const OwnStream stream;
  EXPECT_OK(aclmdlExecuteAsync(o.plain, o.inputs, o.outputs, stream));
  EXPECT_OK(aclrtLaunchHostFunc(
      stream,
      [](void* data) {
        auto& at = *static_cast<Inside*>(data);
        EXPECT_OK(aclrtSetCurrentContext(at.context));
        at.code = aclmdlUnload(at.model);
        at.text = aclGetRecentErrMsg();
      },
      &inside));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_EQ(inside.code, 107003);
  EXPECT_NE(inside.text.find("unload it in a thread of the program"), std::string::npos) << inside.text;
}

TEST_F(WrongUses, GettersAnswerNothing) {
  Objects o;
  EXPECT_EQ(aclmdlGetNumInputs(nullptr), 0U);
  EXPECT_EQ(aclmdlGetNumOutputs(o.dead_desc), 0U);
  EXPECT_EQ(aclmdlGetInputSizeByIndex(o.desc, 9), 0U);
  EXPECT_EQ(aclmdlGetOutputSizeByIndex(o.bare, 0), 0U);
  EXPECT_EQ(aclmdlGetInputNameByIndex(o.desc, 9), nullptr);
  EXPECT_EQ(aclmdlGetOutputDataType(o.desc, 9), ACL_DT_UNDEFINED);
  EXPECT_EQ(aclmdlGetOutputFormat(nullptr, 0), ACL_FORMAT_UNDEFINED);
  EXPECT_EQ(aclmdlGetDatasetNumBuffers(nullptr), 0U);
  EXPECT_EQ(aclmdlGetDatasetBuffer(o.inputs, 9), nullptr);
  EXPECT_EQ(aclmdlGetDatasetBuffer(o.dead_set, 0), nullptr);
  EXPECT_EQ(aclGetDataBufferAddr(o.dead_buffer), nullptr);
  EXPECT_EQ(aclmdlCreateAIPP(0), nullptr);
}

}  // namespace
}  // namespace npu::acl
