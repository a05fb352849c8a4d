# SPDX-License-Identifier: BSD-3-Clause
# [Fusco]: arXiv 2408.11556. What is assumed after the H200 is in h200-16cores.profile.
yoke-profile 1
text = GH200, 120 GB LPDDR5X, 96 GB HBM3
date = 2026-11-30
cpu = Arm Neoverse V2
gpu = NVIDIA GH200 120GB
threads = 72

cpu_threads = 72  # published: NVIDIA, GH200 data sheet
numa_nodes = 1  # assumed: the node of Grace's own memory
host_memory_bytes = 120 GB  # published: NVIDIA, GH200 data sheet
cpu_cache_bytes = 114 MB  # published: NVIDIA, Grace CPU data sheet
gpu_count = 1  # published: NVIDIA, GH200 data sheet
gpu_sms = 132  # published: NVIDIA, GH200 data sheet
gpu_l2_bytes = 50 MB  # published: NVIDIA, H100 architecture
gpu_memory_bytes = 96 GB  # published: NVIDIA, GH200 data sheet, HBM3
coherent = 1  # published: NVIDIA, NVLink-C2C: a CPU touch does not migrate pages
pageable = 1  # published: NVIDIA, NVLink-C2C: address translation services

cpu_region = 10 us  # assumed: OpenMP on 72 cores
cpu_barrier = 3 us  # assumed: 72 threads of one socket
cpu_flag = 150 ns  # assumed: core to core on one socket
cpu_read = 1: 25 GB/s, 32: 404 GB/s, 72: 404 GB/s  # published: [Fusco] 404 in all; 1 thread, and that 32 reach it, assumed

gpu_read = 1 GB: 3796 GB/s  # published: [Fusco]
gpu_write = 3712 GB/s  # published: [Fusco]
gpu_triad = 3526 GB/s  # published: on cudaMalloc memory
gpu_launch = 3.2 us  # assumed: as measured on an H200
gpu_launch_sync = 8 us  # assumed: as measured on an H200
gpu_graph_node = 0.5 us  # assumed: as measured on an H200
gpu_graph_launch = 8 us  # assumed: as a launch and waiting for it
gpu_grid_barrier = 1 us  # assumed: as measured on an H200

flag_round_trip = 0.83 us  # published: 0.79 to 0.86 us
copy_latency = 6 us  # assumed: as measured on an H200
link_to_gpu = 403 GB/s  # published: copies over C2C
link_from_gpu = 297 GB/s  # published: copies over C2C
gpu_reads_host = 420 GB/s  # published: [Fusco], over C2C
gpu_writes_host = 380 GB/s  # published: [Fusco], over C2C
gpu_reads_host_sms = 32: 380 GB/s, 132: 393 GB/s  # published: thread blocks, over C2C
gpu_reads_host_shared = 202 GB/s  # assumed: both at once share what the memory gives, 404 GB/s
cpu_reads_host_shared = 202 GB/s  # assumed: both at once share what the memory gives, 404 GB/s
cpu_reads_gpu = 238 GB/s  # published: [Fusco]
end
