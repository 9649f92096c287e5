/* SPDX-License-Identifier: Apache-2.0 */
/* Models of files (.om, written by this library's atc): loading, descriptions, data sets, execution. acl_mdl.h includes
 * this header.
 *
 * A model belongs to the context in which it was loaded: executed in another one it is refused with 107004. Its weights
 * are used where the file lies in memory; replace a file that is in use by renaming, as atc does, never by writing into
 * it. Getters without a code answer the "nothing" value of their comment for a null, destroyed or empty description, or
 * an index that there is not, and keep a text for aclGetRecentErrMsg.
 * Sources: the vendor's public pages of AscendCL (aclcppdevg_03_*), the Apache-2.0 headers of 2021. */
#ifndef ANYNPU_ACL_ACL_MDL_EXECUTE_H_
#define ANYNPU_ACL_ACL_MDL_EXECUTE_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl_aipp.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define ACL_MAX_DIM_CNT 128
#define ACL_MAX_TENSOR_NAME_LEN 128
#define ACL_MAX_BATCH_NUM 128
#define ACL_MAX_HW_NUM 128
#define ACL_MAX_SHAPE_COUNT 128
#define ACL_INVALID_NODE_INDEX 0xFFFFFFFF
#ifndef ACL_TENSOR_SHAPE_RANGE_NUM
#define ACL_TENSOR_SHAPE_RANGE_NUM 2
#endif

/** The input through which the size of a run is chosen, for models with gears. */
#define ACL_DYNAMIC_TENSOR_NAME "ascend_mbatch_shape_data"
#define ACL_DYNAMIC_AIPP_NAME "ascend_dynamic_aipp_data"
/** What aclmdlGetOpAttr tells: the nodes of the original model that an operator stands for. */
#define ACL_ATTR_NAME_DATA_DUMP_ORIGIN_OP_NAMES "_datadump_original_op_names"

#define ACL_MDL_LOAD_FROM_FILE 1
#define ACL_MDL_LOAD_FROM_FILE_WITH_MEM 2
#define ACL_MDL_LOAD_FROM_MEM 3
#define ACL_MDL_LOAD_FROM_MEM_WITH_MEM 4
#define ACL_MDL_LOAD_FROM_FILE_WITH_Q 5
#define ACL_MDL_LOAD_FROM_MEM_WITH_Q 6

typedef struct aclmdlDesc aclmdlDesc;
typedef struct aclmdlDataset aclmdlDataset;
typedef struct aclmdlConfigHandle aclmdlConfigHandle;
typedef struct aclmdlExecConfigHandle aclmdlExecConfigHandle;

/** Sizes of a tensor along its axes; -1 where the gear or the caller decides. */
typedef struct aclmdlIODims {
  char name[ACL_MAX_TENSOR_NAME_LEN];
  size_t dimCount;
  int64_t dims[ACL_MAX_DIM_CNT];
} aclmdlIODims;
/** Least and most of each size; -1 as the most: any. */
typedef struct aclmdlIODimsRange {
  size_t rangeCount;
  int64_t range[ACL_MAX_DIM_CNT][ACL_TENSOR_SHAPE_RANGE_NUM];
} aclmdlIODimsRange;
typedef struct aclmdlBatch {
  size_t batchCount;
  uint64_t batch[ACL_MAX_BATCH_NUM];
} aclmdlBatch;
/** Height, then width. */
typedef struct aclmdlHW {
  size_t hwCount;
  uint64_t hw[ACL_MAX_HW_NUM][2];
} aclmdlHW;

/** Members of a load configuration. PATH or MEM, with the load type that fits. A priority, memory for weights and work
 * as in the ...WithMem loads. */
typedef enum ANYNPU_ANY_INT {
  ACL_MDL_PRIORITY_INT32 = 0,
  ACL_MDL_LOAD_TYPE_SIZET = 1,
  ACL_MDL_PATH_PTR = 2,
  ACL_MDL_MEM_ADDR_PTR = 3,
  ACL_MDL_MEM_SIZET = 4,
  ACL_MDL_WEIGHT_ADDR_PTR = 5,
  ACL_MDL_WEIGHT_SIZET = 6,
  ACL_MDL_WORKSPACE_ADDR_PTR = 7,
  ACL_MDL_WORKSPACE_SIZET = 8,
  ACL_MDL_INPUTQ_NUM_SIZET = 9,
  ACL_MDL_INPUTQ_ADDR_PTR = 10,
  ACL_MDL_OUTPUTQ_NUM_SIZET = 11,
  ACL_MDL_OUTPUTQ_ADDR_PTR = 12,
  ACL_MDL_WORKSPACE_MEM_OPTIMIZE = 13
} aclmdlConfigAttr;
/** Limits in milliseconds, -1 (none) or more than 0. The others are names that no call takes. */
typedef enum ANYNPU_ANY_INT {
  ACL_MDL_STREAM_SYNC_TIMEOUT = 0,
  ACL_MDL_EVENT_SYNC_TIMEOUT = 1,
  ACL_MDL_WORK_ADDR_PTR = 2,
  ACL_MDL_WORK_SIZET = 3,
  ACL_MDL_MPAIMID_SIZET = 4,
  ACL_MDL_AICQOS_SIZET = 5,
  ACL_MDL_AICOST_SIZET = 6,
  ACL_MDL_MEC_TIMETHR_SIZET = 7
} aclmdlExecConfigAttr;

/** Loads a model into the current context and answers its number, which is never 0 and never used again. The file is
 * mapped, not read: weights come in as they are used, and `atc --mode=6` checks them. 145002: there is no such file;
 * 100012: it is no model, a vendor's, damaged or of a later version; 107002: no device is set. */
aclError aclmdlLoadFromFile(const char* modelPath, uint32_t* modelId);
/** The same of `modelSize` bytes in host memory, which are copied: they may be freed at once. 145006 for none. */
aclError aclmdlLoadFromMem(const void* model, size_t modelSize, uint32_t* modelId);
/** The same with device memory of the caller's, which must live until aclmdlUnload: the weights are copied to
 * `weightPtr`. `workPtr` is checked (a null one with size 0 is none) and stays unused: runs take memory for themselves,
 * several at once. 145007 for less than aclmdlQuerySize tells, 107000 for what is no live device memory. */
aclError aclmdlLoadFromFileWithMem(const char* modelPath, uint32_t* modelId, void* workPtr, size_t workSize,
                                   void* weightPtr, size_t weightSize);
aclError aclmdlLoadFromMemWithMem(const void* model, size_t modelSize, uint32_t* modelId, void* workPtr,
                                  size_t workSize, void* weightPtr, size_t weightSize);
/** A load configuration, NULL when memory is used up; its members are copied, what pointers point at is not. 100000 for
 * a member of another size than its name says, one that is not known, and a priority outside of 0 to 7. */
aclmdlConfigHandle* aclmdlCreateConfigHandle(void);
aclError aclmdlDestroyConfigHandle(aclmdlConfigHandle* handle);
aclError aclmdlSetConfigOpt(aclmdlConfigHandle* handle, aclmdlConfigAttr attr, const void* attrValue, size_t valueSize);
/** Loads as the configuration says. 100000 where a member is missing for its load type; 207000 for queues. */
aclError aclmdlLoadWithConfig(const aclmdlConfigHandle* handle, uint32_t* modelId);
/** Forgets the model, after all of its runs, queued ones too. Not to be called from a task of a stream: 107003.
 * 145003 for a number that no model has. */
aclError aclmdlUnload(uint32_t modelId);
/** Bytes of device memory for the ...WithMem loads, never 0. Errors as of loading. */
aclError aclmdlQuerySize(const char* fileName, size_t* workSize, size_t* weightSize);
aclError aclmdlQuerySizeFromMem(const void* model, size_t modelSize, size_t* workSize, size_t* weightSize);

/** Bundles of several models come from the vendor's graph interface, not from atc; here any model file is a bundle of
 * one. The models of a bundle are executed like others and unloaded with it. 148053 for a number that no bundle has. */
aclError aclmdlBundleLoadFromFile(const char* modelPath, uint32_t* bundleId);
aclError aclmdlBundleLoadFromMem(const void* model, size_t modelSize, uint32_t* bundleId);
aclError aclmdlBundleGetModelNum(uint32_t bundleId, size_t* modelNum);
aclError aclmdlBundleGetModelId(uint32_t bundleId, size_t index, uint32_t* modelId);
aclError aclmdlBundleUnload(uint32_t bundleId);

/** An empty description, NULL when memory is used up. It stays valid when its model is unloaded. */
aclmdlDesc* aclmdlCreateDesc(void);
aclError aclmdlDestroyDesc(aclmdlDesc* modelDesc);
/** Fills it, of a loaded model (145003 for none), or of a file or bytes without loading it (errors as of loading). */
aclError aclmdlGetDesc(aclmdlDesc* modelDesc, uint32_t modelId);
aclError aclmdlGetDescFromFile(aclmdlDesc* modelDesc, const char* modelPath);
aclError aclmdlGetDescFromMem(aclmdlDesc* modelDesc, const void* model, size_t modelSize);

/** How many inputs, with those that atc added (see ACL_DYNAMIC_TENSOR_NAME), and outputs. */
size_t aclmdlGetNumInputs(aclmdlDesc* modelDesc);
size_t aclmdlGetNumOutputs(aclmdlDesc* modelDesc);
/** Bytes, of the largest gear; 0 where a size is known only with the call. */
size_t aclmdlGetInputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* modelDesc, size_t index);
/** NULL for nothing. */
const char* aclmdlGetInputNameByIndex(const aclmdlDesc* modelDesc, size_t index);
const char* aclmdlGetOutputNameByIndex(const aclmdlDesc* modelDesc, size_t index);
/** ACL_FORMAT_UNDEFINED and ACL_DT_UNDEFINED for nothing. */
aclFormat aclmdlGetInputFormat(const aclmdlDesc* modelDesc, size_t index);
aclFormat aclmdlGetOutputFormat(const aclmdlDesc* modelDesc, size_t index);
aclDataType aclmdlGetInputDataType(const aclmdlDesc* modelDesc, size_t index);
aclDataType aclmdlGetOutputDataType(const aclmdlDesc* modelDesc, size_t index);
/** 100000 for a name that none has; the text tells the names. */
aclError aclmdlGetInputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index);
aclError aclmdlGetOutputIndexByName(const aclmdlDesc* modelDesc, const char* name, size_t* index);
/** Sizes of inputs have -1 where gears or the caller decide; those of outputs are of the largest gear. A name of more
 * than 127 characters is told as acl_modelId_<id>_input_<index>; aclmdlGetTensorRealName turns it back. */
aclError aclmdlGetInputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims);
aclError aclmdlGetInputDimsV2(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims);
aclError aclmdlGetInputDimsRange(const aclmdlDesc* modelDesc, size_t index, aclmdlIODimsRange* dimsRange);
aclError aclmdlGetOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims);
/** Those of the gear that was chosen last, else of the largest. */
aclError aclmdlGetCurOutputDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims);
const char* aclmdlGetTensorRealName(const aclmdlDesc* modelDesc, const char* name);
/** "[5]conv1[5]relu1": length and name of each node of the original model; "" for an operator of none, NULL for other
 * attributes. The text lives as long as the description. */
const char* aclmdlGetOpAttr(aclmdlDesc* modelDesc, const char* opName, const char* attr);

/** Gears; a count of 0 for a model without any of this kind. `index` is reserved: -1. */
aclError aclmdlGetDynamicBatch(const aclmdlDesc* modelDesc, aclmdlBatch* batch);
aclError aclmdlGetDynamicHW(const aclmdlDesc* modelDesc, size_t index, aclmdlHW* hw);
aclError aclmdlGetInputDynamicGearCount(const aclmdlDesc* modelDesc, size_t index, size_t* gearCount);
/** The sizes of all inputs one behind the other, for each gear; room is there for `gearCount` of them. */
aclError aclmdlGetInputDynamicDims(const aclmdlDesc* modelDesc, size_t index, aclmdlIODims* dims, size_t gearCount);

/** A list of buffers, in the order of the inputs or outputs; NULL when memory is used up. It owns no buffer. */
aclmdlDataset* aclmdlCreateDataset(void);
aclError aclmdlDestroyDataset(const aclmdlDataset* dataset);
aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer);
size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset);
/** NULL for an index that there is not. */
aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index);
/** The shape of an input whose sizes the caller decides; it is copied. After a run the data set of the outputs tells
 * the shape of each: NULL before, and for an index that there is not. */
aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc, size_t index);
aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index);

/** Chooses the gear of the next runs with this data set, whose entry `index` is the input ACL_DYNAMIC_TENSOR_NAME: the
 * sizes are written there, too. 145013 for a size that is no gear (the text tells them), 100019 for a model without
 * such gears, 145012 for a buffer too small for the sizes. */
aclError aclmdlSetDynamicBatchSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t batchSize);
aclError aclmdlSetDynamicHWSize(uint32_t modelId, aclmdlDataset* dataset, size_t index, uint64_t height,
                                uint64_t width);
/** `dims` holds the sizes of all inputs one behind the other, as aclmdlGetInputDynamicDims tells them. */
aclError aclmdlSetInputDynamicDims(uint32_t modelId, aclmdlDataset* dataset, size_t index, const aclmdlIODims* dims);

/** What stands in front of an input: nothing, AIPP of fixed parameters, or of parameters that come with each run
 * through another input, whose index is told; ACL_DYNAMIC_AIPP_NODE is such an input. */
typedef enum ANYNPU_ANY_INT {
  ACL_DATA_WITHOUT_AIPP = 0,
  ACL_DATA_WITH_STATIC_AIPP = 1,
  ACL_DATA_WITH_DYNAMIC_AIPP = 2,
  ACL_DYNAMIC_AIPP_NODE = 3
} aclmdlInputAippType;
/** `dynamicAttachedDataIndex` is ACL_INVALID_NODE_INDEX unless the type is 2 or 3 (then the input of the pictures). */
aclError aclmdlGetAippType(uint32_t modelId, size_t index, aclmdlInputAippType* type, size_t* dynamicAttachedDataIndex);
/** Writes the parameters of the next runs into the buffer of the data set that brings them: `index` is that of the
 * input of the parameters (ACL_DYNAMIC_AIPP_NAME), or, for the second form, of the pictures. 145015 for an input
 * without dynamic AIPP, 145012 for a buffer too small. */
aclError aclmdlSetInputAIPP(uint32_t modelId, aclmdlDataset* dataset, size_t index, const aclmdlAIPP* aippParmsSet);
aclError aclmdlSetAIPPByInputIndex(uint32_t modelId, aclmdlDataset* dataset, size_t index,
                                   const aclmdlAIPP* aippParmsSet);

/** Runs the model in the calling thread. Buffers are device memory, at least as large as what they hold; outputs are
 * written where the buffers lie. An output buffer of null and 0 gets memory of the library, for the caller to
 * aclrtFree. 145003: no such model; 107004: another context; 100017, 100018: another number of buffers than of inputs,
 * outputs; 145011, 145012: a buffer without memory, or too small; 145013: no gear was chosen; 145021: an input's shape.
 */
aclError aclmdlExecute(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output);
/** Queues a run. Addresses and sizes are read now: the data sets may be destroyed, the memory must live. Buffers of
 * null are refused (145011), and so is a stream that is captured (107000). What fails later is told where the stream is synchronised. */
aclError aclmdlExecuteAsync(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream);
/** The same with limits: aclmdlExecuteV2 queues the run on `stream` and waits for it, as long as the configuration says
 * (507046 after it). */
aclError aclmdlExecuteV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream,
                         const aclmdlExecConfigHandle* handle);
aclError aclmdlExecuteAsyncV2(uint32_t modelId, const aclmdlDataset* input, aclmdlDataset* output, aclrtStream stream,
                              const aclmdlExecConfigHandle* handle);
/** Which operator failed in a queued run of a model: its name in the model, and what it takes and gives (sizes as far
 * as the model tells them). The numbers are those of aclrtGet…FromExceptionInfo. `opName` has room for `opNameLen`
 * characters. Each list is one object for aclDestroyTensorDesc; aclGetTensorDescByIndex tells its members. 100000 for a
 * task that was no failed run, or is one of long ago. */
aclError aclmdlCreateAndGetOpDesc(uint32_t deviceId, uint32_t streamId, uint32_t taskId, char* opName, size_t opNameLen,
                                  aclTensorDesc** inputDesc, size_t* numInputs, aclTensorDesc** outputDesc,
                                  size_t* numOutputs);
/** NULL for an index that there is not. */
aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index);

aclmdlExecConfigHandle* aclmdlCreateExecConfigHandle(void);
aclError aclmdlDestroyExecConfigHandle(const aclmdlExecConfigHandle* handle);
/** 100000 for a value of another size than its name says, 207000 for names that are reserved. */
aclError aclmdlSetExecConfigOpt(aclmdlExecConfigHandle* handle, aclmdlExecConfigAttr attr, const void* attrValue,
                                size_t valueSize);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_MDL_EXECUTE_H_
