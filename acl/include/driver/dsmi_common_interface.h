/* SPDX-License-Identifier: Apache-2.0 */
/* Management of devices (DSMI), the older interface below DCMI (dcmi_interface_api.h), with the same figures. Functions
 * return 0; 2 for a device that does not exist, 3 for a wrong argument, 0xfffe for what only hardware has. They may be
 * called from any thread. Source: the clients of MindSpore Insight (Apache-2.0). */
#ifndef ANYNPU_DRIVER_DSMI_COMMON_INTERFACE_H_
#define ANYNPU_DRIVER_DSMI_COMMON_INTERFACE_H_

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct dsmi_chip_info_stru {
  unsigned char chip_type[32]; /* "Ascend" */
  unsigned char chip_name[32]; /* "910B1" */
  unsigned char chip_ver[32];  /* "V1" */
};

/* Clocks, temperatures and the load of buses are 0. */
struct dsmi_hbm_info_stru {
  unsigned long memory_size; /* KB */
  unsigned int freq;
  unsigned long memory_usage; /* KB */
  int temp;
  unsigned int bandwith_util_rate;
};

struct dsmi_power_info_stru {
  unsigned short power;
};

int dsmi_get_device_count(int* device_count);
/** The first `count` devices. */
int dsmi_list_device(int device_id_list[], int count);
int dsmi_get_phyid_from_logicid(unsigned int logicid, unsigned int* phyid);
int dsmi_get_logicid_from_phyid(unsigned int phyid, unsigned int* logicid);
int dsmi_get_chip_info(int device_id, struct dsmi_chip_info_stru* chip_info);
/** 0: well. */
int dsmi_get_device_health(int device_id, unsigned int* phealth);
int dsmi_get_hbm_info(int device_id, struct dsmi_hbm_info_stru* pdevice_hbm_info);
/** Percent: 1 or 6 memory; 2, 12 or 13 the cores. */
int dsmi_get_device_utilization_rate(int device_id, int device_type, unsigned int* putilization_rate);

/** What only a card has: 0xfffe. */
int dsmi_get_device_temperature(int device_id, int* ptemperature);
int dsmi_get_device_power_info(int device_id, struct dsmi_power_info_stru* pdevice_power_info);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif /* ANYNPU_DRIVER_DSMI_COMMON_INTERFACE_H_ */
