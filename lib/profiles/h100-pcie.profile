# SPDX-License-Identifier: BSD-3-Clause
# What is assumed after the H200 is in h200-16cores.profile.
yoke-profile 1
text = H100 behind PCIe 5, one Sapphire Rapids socket
date = 2026-11-30
cpu = Intel Sapphire Rapids
gpu = NVIDIA H100 PCIe
threads = 56

cpu_threads = 56  # assumed: one Sapphire Rapids socket
numa_nodes = 1  # assumed: one Sapphire Rapids socket
host_memory_bytes = 256 GB  # assumed: one Sapphire Rapids socket
cpu_cache_bytes = 105 MB  # published: Intel, Xeon Platinum 8480+
gpu_count = 1  # assumed: one is used
gpu_sms = 114  # published: NVIDIA, H100 architecture
gpu_l2_bytes = 50 MB  # published: NVIDIA, H100 architecture
gpu_memory_bytes = 80 GB  # published: NVIDIA, H100 data sheet
coherent = 0  # assumed: behind PCIe
pageable = 0  # assumed: as measured beside an H200

cpu_read = 1: 13 GB/s, 4: 50 GB/s, 8: 98 GB/s, 32: 240 GB/s, 56: 250 GB/s  # assumed: about 250 GB/s a socket
cpu_region = 8 us  # assumed: OpenMP on 56 cores
cpu_barrier = 2 us  # assumed: 56 threads of one socket
cpu_flag = 150 ns  # assumed: core to core on one socket

gpu_read = 1 GB: 1965 GB/s  # published: gpu-benches, 1942 to 1989
gpu_triad = 1832 GB/s  # published: gpu-benches
gpu_launch = 3.2 us  # assumed: as measured on an H200
gpu_launch_sync = 8 us  # assumed: as measured on an H200
gpu_graph_node = 0.5 us  # assumed: as measured on an H200
gpu_graph_launch = 8 us  # assumed: as a launch and waiting for it
gpu_grid_barrier = 1 us  # assumed: as measured on an H200

flag_round_trip = 1.9 us  # assumed: as measured on an H200 behind PCIe 5
copy_latency = 6 us  # assumed: as measured on an H200 behind PCIe 5
copy_time = 8 B: 6 us, 64 KiB: 8 us, 1 MiB: 26 us  # assumed: as measured on an H200 behind PCIe 5
link_to_gpu = 55 GB/s  # published: copies over PCIe 5
link_from_gpu = 55 GB/s  # published: copies over PCIe 5
link_both = 100 GB/s  # assumed: as measured on an H200 behind PCIe 5
gpu_reads_host = 50 GB/s  # published: about 50 GB/s over PCIe 5
gpu_writes_host = 50 GB/s  # published: about 50 GB/s over PCIe 5
page_faults_to_gpu = 9 GB/s  # assumed: as measured on an H200 behind PCIe 5
page_migration_to_gpu = 50 GB/s  # assumed: as measured on an H200 behind PCIe 5
page_faults_to_cpu = 19 GB/s  # assumed: as measured on an H200 behind PCIe 5
page_migration_to_cpu = 19 GB/s  # assumed: as measured on an H200 behind PCIe 5
page_round_trip = 20 us  # assumed: as measured on an H200 behind PCIe 5
end
