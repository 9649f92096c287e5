/* SPDX-License-Identifier: Apache-2.0 */
/* Management of cards (DCMI), as exporters and monitors read it: what `npu-smi info` shows, by function. Every NPU is a
 * card of one chip: card_id is its number, device_id 0, and its logic id and physical id are the number again.
 * Functions return 0, or a code below: -8001 for a wrong argument, -8008 for a card that does not exist, -8255 for what
 * only hardware has. They may be called from any thread, and look at the processes of this user. Source: the vendor's
 * pages of the DCMI API, and its clients Ascend/mind-cluster (Apache-2.0) and torch_npu (BSD). */
#ifndef ANYNPU_DRIVER_DCMI_INTERFACE_API_H_
#define ANYNPU_DRIVER_DCMI_INTERFACE_API_H_

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define DCMI_OK 0
#define DCMI_ERR_CODE_INVALID_PARAMETER (-8001)
#define DCMI_ERR_CODE_INNER_ERR (-8005)
#define DCMI_ERR_CODE_DEVICE_NOT_EXIST (-8008)
#define DCMI_ERR_CODE_NOT_SUPPORT (-8255)

#define MAX_CHIP_NAME_LEN 32
#define DCMI_UTIL_RESERVED_LEN 8

struct dcmi_chip_info {
  unsigned char chip_type[MAX_CHIP_NAME_LEN]; /* "Ascend" */
  unsigned char chip_name[MAX_CHIP_NAME_LEN]; /* "910B1" */
  unsigned char chip_ver[MAX_CHIP_NAME_LEN];  /* "V1" */
  unsigned int aicore_cnt;
};

struct dcmi_chip_info_v2 {
  unsigned char chip_type[MAX_CHIP_NAME_LEN];
  unsigned char chip_name[MAX_CHIP_NAME_LEN];
  unsigned char chip_ver[MAX_CHIP_NAME_LEN];
  unsigned int aicore_cnt;
  unsigned char npu_name[MAX_CHIP_NAME_LEN]; /* "Ascend910B1" */
};

/* Clocks, temperatures and the load of buses, which only hardware has, are 0. */
struct dcmi_hbm_info {
  unsigned long long memory_size; /* MB */
  unsigned int freq;
  unsigned long long memory_usage; /* MB */
  int temp;
  unsigned int bandwith_util_rate;
};

struct dcmi_get_memory_info_stru {
  unsigned long long memory_size;      /* MB */
  unsigned long long memory_available; /* MB */
  unsigned int freq;
  unsigned long hugepagesize;
  unsigned long hugepages_total;
  unsigned long hugepages_free;
  unsigned int utiliza; /* percent */
  unsigned char reserve[60];
};

struct dcmi_multi_utilization_info {
  unsigned int aic_util; /* percent, as all of these */
  unsigned int aiv_util;
  unsigned int aicore_util;
  unsigned int npu_util;
  unsigned int reserved[DCMI_UTIL_RESERVED_LEN];
};

struct dcmi_proc_mem_info {
  int proc_id;
  unsigned long proc_mem_usage; /* bytes */
};

struct dcmi_pcie_info_all {
  unsigned int venderid;
  unsigned int subvenderid;
  unsigned int deviceid;
  unsigned int subdeviceid;
  int domain;
  unsigned int bdf_busid;
  unsigned int bdf_deviceid;
  unsigned int bdf_funcid;
  unsigned char reserve[32];
};

enum dcmi_unit_type { NPU_TYPE = 0, MCU_TYPE = 1, CPU_TYPE = 2, INVALID_TYPE = 0xFF };
enum dcmi_boot_status {
  DCMI_BOOT_STATUS_UNINIT = 0,
  DCMI_BOOT_STATUS_BIOS,
  DCMI_BOOT_STATUS_OS,
  DCMI_BOOT_STATUS_FINISH
};
enum dcmi_freq_type {
  DCMI_FREQ_DDR = 1,
  DCMI_FREQ_CTRLCPU = 2,
  DCMI_FREQ_HBM = 6,
  DCMI_FREQ_AICORE_CURRENT_ = 7,
  DCMI_FREQ_AICORE_MAX = 9,
  DCMI_FREQ_VECTORCORE_CURRENT = 12
};

int dcmi_init(void);
/** AnyNPU's version as a text of at most `buf_size` bytes, its end included. */
int dcmi_get_dcmi_version(char* dcmi_ver, int buf_size);
int dcmi_get_driver_version(char* driver_ver, unsigned int buf_size);

/** The number of cards, and as many of their ids as `list_len` has room for. */
int dcmi_get_card_list(int* card_num, int* card_list, int list_len);
int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len);
int dcmi_get_device_num_in_card(int card_id, int* device_num);
/** 1 NPU; -1 for the controller and the CPU, which a card has not. */
int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id, int* cpu_id);
int dcmi_get_device_type(int card_id, int device_id, enum dcmi_unit_type* device_type);
int dcmi_get_device_logic_id(int* device_logic_id, int card_id, int device_id);
int dcmi_get_card_id_device_id_from_logicid(int* card_id, int* device_id, unsigned int device_logic_id);
int dcmi_get_card_id_device_id_from_phyid(int* card_id, int* device_id, unsigned int device_phy_id);
int dcmi_get_device_phyid_from_logicid(unsigned int logicid, unsigned int* phyid);
int dcmi_get_device_logicid_from_phyid(unsigned int phyid, unsigned int* logicid);

int dcmi_get_device_chip_info(int card_id, int device_id, struct dcmi_chip_info* chip_info);
int dcmi_get_device_chip_info_v2(int card_id, int device_id, struct dcmi_chip_info_v2* chip_info);
/** 0: well. */
int dcmi_get_device_health(int card_id, int device_id, unsigned int* health);
/** No errors: a software NPU has none that outlive a process. */
int dcmi_get_device_errorcode_v2(int card_id, int device_id, int* error_count, unsigned int* error_code_list,
                                 unsigned int list_len);
int dcmi_get_device_boot_status(int card_id, int device_id, enum dcmi_boot_status* boot_status);
int dcmi_get_device_hbm_info(int card_id, int device_id, struct dcmi_hbm_info* hbm_info);
int dcmi_get_device_memory_info_v3(int card_id, int device_id, struct dcmi_get_memory_info_stru* memory_info);
/** Percent, of the last tenth of a second: 1 or 6 memory; 2, 12 or 13 the cores. -8255 for other types. The first
 * question after a quarter of a second takes that tenth. */
int dcmi_get_device_utilization_rate(int card_id, int device_id, int input_type, unsigned int* utilization_rate);
int dcmi_get_device_multi_utilization_rate(int card_id, int device_id, struct dcmi_multi_utilization_info* util_info);
/** The processes on an NPU and how many they are; `proc_info` has room for 32, and more are left out. */
int dcmi_get_device_resource_info(int card_id, int device_id, struct dcmi_proc_mem_info* proc_info, int* proc_num);
/** The CPUs near an NPU, "0-15", in a text of at most 32 bytes: all of them. */
int dcmi_get_affinity_cpu_info_by_device_id(int card_id, int device_id, char* affinity_cpu, int* length);

/** What only a card has: -8255. */
int dcmi_get_device_temperature(int card_id, int device_id, int* temperature);
int dcmi_get_device_power_info(int card_id, int device_id, int* power);
int dcmi_get_device_voltage(int card_id, int device_id, unsigned int* voltage);
int dcmi_get_device_frequency(int card_id, int device_id, enum dcmi_freq_type input_type, unsigned int* frequency);
int dcmi_get_device_pcie_info_v2(int card_id, int device_id, struct dcmi_pcie_info_all* pcie_info);

/** The same by the number of an NPU alone. */
int dcmiv2_init(void);
int dcmiv2_get_device_list(int* device_list, int* device_cnt, int list_len);
int dcmiv2_get_affinity_cpu_info_by_device_id(int dev_id, char* affinity_cpu, int* length);
int dcmiv2_get_affinity_cpu_info_by_dev_id(int dev_id, char* affinity_cpu, int* length);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* ANYNPU_DRIVER_DCMI_INTERFACE_API_H_ */
