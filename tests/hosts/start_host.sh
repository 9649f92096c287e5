#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# start_host.sh NAME BOOT_ID FOLDER…: turns the namespaces it is started in into a host, says "ready", and holds them
# until its input ends. What a host has of its own are /tmp, /run and /dev/shm, its name, its boot and what /proc and
# /sys show; of the rest it sees what this machine has, and the folders given also where they lie in one of these.
# HOST_TABLE is the text of its /etc/hosts. Needs the right to make namespaces; cluster.py starts it.
set -euo pipefail
name=$1 boot_id=$2
shift 2

# Paths that are about to be covered stay reachable by their descriptors.
declare -A kept
for folder in "$@" /sys/fs/cgroup; do
  exec {descriptor}<"$folder"
  kept[$folder]=$descriptor
done

mount -t proc proc /proc
mount -t sysfs sysfs /sys
for own in /tmp /run /dev/shm; do mount -t tmpfs -o mode=1777 tmpfs "$own"; done
for folder in "${!kept[@]}"; do
  descriptor=${kept[$folder]}
  if [ "$folder" = /sys/fs/cgroup ] || [ ! -e "$folder" ]; then
    mkdir -p "$folder"
    mount --no-canonicalize --rbind "/proc/self/fd/$descriptor" "$folder"
  fi
  exec {descriptor}<&-
done

hostname "$name"
printf '%s\n' "$boot_id" >/run/boot_id
printf '%s\n' "${boot_id//-/}" >/run/machine-id
printf '%s\n' "$HOST_TABLE" >/run/hosts
mount --bind /run/boot_id /proc/sys/kernel/random/boot_id
mount --bind /run/hosts /etc/hosts
[ ! -e /etc/machine-id ] || mount --bind /run/machine-id /etc/machine-id
ip link set lo up
mkdir -p /run/user/0

echo ready
# The shell is the first process of its host: it also reaps what others leave behind.
while read -r _; do :; done
