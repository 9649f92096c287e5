# SPDX-License-Identifier: Apache-2.0
"""Rank tables as the vendor's guides and tools write them, for one server."""


def template_1(devices):
    """Ranks in the order of `devices`."""
    device = [{"device_id": str(d), "device_ip": f"192.168.1.{d}", "rank_id": str(r)} for r, d in enumerate(devices)]
    servers = [{"server_id": "10.0.0.10", "host_nic_ip": "reserve", "device": device}]
    return {"status": "completed", "version": "1.0", "server_count": "1", "server_list": servers}


def template_2(devices):
    """Each device in a pod of its own, pod-<device>; ranks follow the devices' numbers."""
    instances = [
        {
            "pod_name": f"pod-{d}",
            "server_id": "10.0.0.10",
            "devices": [{"device_id": str(d), "device_ip": f"1.1.1.{d}"}],
        }
        for d in devices
    ]
    group = {"group_name": "w", "device_count": str(len(devices)), "instance_count": str(len(devices))}
    return {"status": "completed", "group_count": "1", "group_list": [{**group, "instance_list": instances}]}


def of_910b(devices):
    """The form of newer products: names of nodes for servers, with more keys."""
    table = template_1(devices)
    [server] = table["server_list"]
    server |= {"server_id": "node_0", "host_ip": "172.16.0.100", "container_ip": "172.16.0.100", "hardware_type": "A2"}
    return table | {"version": "1.2"}
