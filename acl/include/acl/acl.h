/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the runtime, error texts, and what is installed. Includes the other headers of the interface. */
#ifndef ANYNPU_ACL_ACL_H_
#define ANYNPU_ACL_ACL_H_

#include "acl/acl_base.h"
#include "acl/acl_mdl.h"
#include "acl/acl_op.h"
#include "acl/acl_rt.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define ACL_PKG_VERSION_MAX_SIZE 128
#define ACL_PKG_VERSION_PARTS_MAX_SIZE 64

typedef struct aclCANNPackageVersion {
  char version[ACL_PKG_VERSION_MAX_SIZE];
  char majorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char minorVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char releaseVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char patchVersion[ACL_PKG_VERSION_PARTS_MAX_SIZE];
  char reserved[ACL_PKG_VERSION_MAX_SIZE];
} aclCANNPackageVersion;

/** Parts of the vendor's installation. All of them answer with the version this library stands for. */
typedef enum ANYNPU_ANY_INT { ACL_PKG_NAME_CANN = 0 } aclCANNPackageName;
/** Optional features of an installation. */
typedef enum ANYNPU_ANY_INT {
  ACL_CANN_ATTR_INF_NAN = 0,
  ACL_CANN_ATTR_BF16 = 1,
  ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;
typedef enum ANYNPU_ANY_INT {
  ACL_DEVICE_INFO_UNDEFINED = -1,
  ACL_DEVICE_INFO_AI_CORE_NUM = 0,
  ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
  ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

/** Starts the runtime. `configPath`: NULL, or a JSON file; read from it is defaultDevice.default_device, the device of
 * threads that never set one. 100002 when started already, 100003 when the file cannot be read, 100006 when it is not
 * JSON or nested deeper than 10, 207000 when it asks for operator dumps or profiling. */
aclError aclInit(const char* configPath);
/** Ends the runtime after all queued work. Objects may still be released, nothing new made. 100037 when repeated. */
aclError aclFinalize(void);

/** Text of this thread's last error; NULL when nothing has failed since it was read. The pointer is valid until the
 * thread's next call. */
const char* aclGetRecentErrMsg(void);

/** The chip this process claims to be (ANYNPU_SOC), "Ascend910B1" unless set; "" when ANYNPU_SOC names none. */
const char* aclrtGetSocName(void);
/** Cores or bytes of L2. 100000 for an unknown `deviceInfo`, 107001 for a bad device. */
aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value);
/** 1 when the feature is there, 0 when not. 100000 for an unknown one. */
aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);
/** The features that are there; the list belongs to the library. */
aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);
/** Version of one package, 9.1.0. 100000 for a negative `name`. */
aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version);
/** The same as text; `versionStr` holds at least ACL_PKG_VERSION_MAX_SIZE bytes. */
aclError aclsysGetVersionStr(char* pkgName, char* versionStr);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_ACL_H_
