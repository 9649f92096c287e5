/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of tensors: one side of a process sends data sets, another receives them, in order. On this device both
 * sides are in one process: channels of one device and name are one queue, for as long as one handle of it is open.
 * What is sent is copied; what is received belongs to the data set it came in.
 *
 * Functions that answer a value in place of a code answer the "nothing" value of their comment for a null or destroyed
 * object; aclGetRecentErrMsg says why. All others answer 100000 then. */
#ifndef ANYNPU_ACL_ACL_TDT_H_
#define ANYNPU_ACL_ACL_TDT_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

/** What an item is: data, the end of an epoch, the end by a failure. */
typedef enum acltdtTensorType ANYNPU_ANY_INT {
  ACL_TENSOR_DATA_UNDEFINED = -1,
  ACL_TENSOR_DATA_TENSOR = 0,
  ACL_TENSOR_DATA_END_OF_SEQUENCE = 1,
  ACL_TENSOR_DATA_ABNORMAL = 2
} acltdtTensorType;

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

/** A tensor of `dimNum` sizes over `size` bytes of host memory, which must live until it is sent; or a mark, of which
 * nothing else is read. NULL for null `dims` or `data`, a negative size of `dims`, more than 128 of them, an unknown
 * kind. The bytes need not be those of the sizes: texts are longer. */
acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum, aclDataType dataType,
                                     void* data, size_t size);
/** An item of a received data set goes with that set: 100000. */
aclError acltdtDestroyDataItem(acltdtDataItem* dataItem);
/** ACL_TENSOR_DATA_UNDEFINED, ACL_DT_UNDEFINED, NULL, 0, 0 for nothing. */
acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem);
aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem);
void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem);
size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem);
size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem);
/** The sizes into `dims`, which has room for `dimNum` of them; 100000 where there are more. */
aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum);

/** An empty list of items; NULL when memory is used up. */
acltdtDataset* acltdtCreateDataset(void);
/** Items that the caller added stay the caller's; received ones end here. */
aclError acltdtDestroyDataset(acltdtDataset* dataset);
/** Appends an item, which must live as long as the set is used. 100000 for a set that has received something. */
aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem);
/** NULL for an index beyond the last item. */
acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index);
/** 0 for nothing. */
size_t acltdtGetDatasetSize(const acltdtDataset* dataset);

/** One end of the channel `name` of a device. It holds 128 data sets, or as many as whoever opened it first asked for,
 * 2 to 8192. NULL for a device that does not exist, a null or empty name, a capacity out of range. */
acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name);
acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name, size_t capacity);
/** Wakes whoever waits on the channel, for good: sending answers 500001 from now on, and so does receiving once what
 * was sent before is taken. */
aclError acltdtStopChannel(acltdtChannelHandle* handle);
/** Closes this end. With the last one the channel ends, with what is in it. */
aclError acltdtDestroyChannel(acltdtChannelHandle* handle);
/** Drops what is in the channel. */
aclError acltdtCleanChannel(acltdtChannelHandle* handle);
/** Data sets in the channel. */
aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size);
/** Puts a data set with at least one item behind the others. `timeout` in milliseconds, -1 waits for room, 0 does not
 * wait. 207014 when the channel is full until then, 500001 when it is stopped. */
aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset, int32_t timeout);
/** Takes the first data set into `dataset`, which is empty or has received one before, whose items then end. `timeout`
 * as above. 207013 when the channel is empty until then, 500001 when it is stopped and empty. */
aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset, int32_t timeout);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_TDT_H_
