/* SPDX-License-Identifier: Apache-2.0 */
/* Search among features: declared, so that programs can be compiled and linked, and not built. Whatever makes an object
 * answers NULL, all others 207000; search with a product of matrices (aclblasGemmEx) and a top-k on the host. */
#ifndef ANYNPU_ACL_OPS_ACL_FV_H_
#define ANYNPU_ACL_OPS_ACL_FV_H_

#include "acl/acl_base.h"

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclfvFeatureInfo aclfvFeatureInfo;
typedef struct aclfvInitPara aclfvInitPara;
typedef struct aclfvQueryTable aclfvQueryTable;
typedef struct aclfvRepoRange aclfvRepoRange;
typedef struct aclfvSearchInput aclfvSearchInput;
typedef struct aclfvSearchResult aclfvSearchResult;
/** One query after another, or many at once. */
typedef enum aclfvSearchType ANYNPU_ANY_INT { SEARCH_1_N = 0, SEARCH_N_M = 1 } aclfvSearchType;

/** All of them. */
aclfvFeatureInfo* aclfvCreateFeatureInfo(uint32_t id0, uint32_t id1, uint32_t offset, uint32_t featureLen,
                                         uint32_t featureCount, uint8_t* featureData, uint32_t featureDataLen);
aclfvInitPara* aclfvCreateInitPara(uint64_t fsNum);
aclfvQueryTable* aclfvCreateQueryTable(uint32_t queryCnt, uint32_t tableLen, uint8_t* tableData, uint32_t tableDataLen);
aclfvRepoRange* aclfvCreateRepoRange(uint32_t id0Min, uint32_t id0Max, uint32_t id1Min, uint32_t id1Max);
aclfvSearchInput* aclfvCreateSearchInput(aclfvQueryTable* queryTable, aclfvRepoRange* repoRange, uint32_t topk);
aclfvSearchResult* aclfvCreateSearchResult(uint32_t queryCnt, uint32_t* resultNum, uint32_t resultNumDataLen,
                                           uint32_t* id0, uint32_t* id1, uint32_t* resultOffset, float* resultDistance,
                                           uint32_t dataLen);
aclError aclfvDel(aclfvFeatureInfo* featureInfo);
aclError aclfvDestroyFeatureInfo(aclfvFeatureInfo* featureInfo);
aclError aclfvDestroyInitPara(aclfvInitPara* initPara);
aclError aclfvDestroyQueryTable(aclfvQueryTable* queryTable);
aclError aclfvDestroyRepoRange(aclfvRepoRange* repoRange);
aclError aclfvDestroySearchInput(aclfvSearchInput* searchInput);
aclError aclfvDestroySearchResult(aclfvSearchResult* searchResult);
aclError aclfvInit(aclfvInitPara* initPara);
aclError aclfvModify(aclfvFeatureInfo* featureInfo);
aclError aclfvRelease(void);
aclError aclfvRepoAdd(aclfvSearchType type, aclfvFeatureInfo* featureInfo);
aclError aclfvRepoDel(aclfvSearchType type, aclfvRepoRange* repoRange);
aclError aclfvSearch(aclfvSearchType type, aclfvSearchInput* searchInput, aclfvSearchResult* searchRst);
aclError aclfvSet1NTopNum(aclfvInitPara* initPara, uint32_t maxTopNumFor1N);
aclError aclfvSetNMTopNum(aclfvInitPara* initPara, uint32_t maxTopNumForNM);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif  // ANYNPU_ACL_OPS_ACL_FV_H_
