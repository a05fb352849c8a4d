# SPDX-License-Identifier: BSD-3-Clause
# [Fusco]: arXiv 2408.11556. What is assumed after the H200 is in h200-16cores.profile.
yoke-profile 1
text = GH200, 480 GB LPDDR5X, 96 GB HBM3
date = 2026-11-30
cpu = Arm Neoverse V2
gpu = NVIDIA GH200 480GB
threads = 72

cpu_threads = 72  # published: NVIDIA, GH200 data sheet
numa_nodes = 1  # assumed: the node of Grace's own memory
host_memory_bytes = 480 GB  # published: NVIDIA, GH200 data sheet
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
cpu_read = 1: 25 GB/s, 32: 348 GB/s, 72: 330 GB/s  # published: 348 at 32 threads, 330 at 72; 1 thread assumed

gpu_read = 1 GB: 3800 GB/s  # assumed: the same HBM as the GH200 with 120 GB, 3796 [Fusco]
gpu_triad = 3728 GB/s  # published: BabelStream
gpu_launch = 3.2 us  # assumed: as measured on an H200
gpu_launch_sync = 8 us  # assumed: as measured on an H200
gpu_graph_node = 0.5 us  # assumed: as measured on an H200
gpu_graph_launch = 8 us  # assumed: as a launch and waiting for it
gpu_grid_barrier = 1 us  # assumed: as measured on an H200

flag_round_trip = 0.71 us  # published: 0.71 us
copy_latency = 6 us  # assumed: as measured on an H200
link_to_gpu = 377 GB/s  # published: copies over C2C
link_from_gpu = 298 GB/s  # published: copies over C2C
gpu_reads_host = 333 GB/s  # published: 328 to 338, zero-copy over C2C
gpu_reads_host_sms = 32: 322 GB/s, 132: 333 GB/s  # assumed: a quarter of the SMs reaches 97 %, as with 120 GB
gpu_reads_host_shared = 174 GB/s  # assumed: both at once share what the memory gives, 348 GB/s
cpu_reads_host_shared = 174 GB/s  # assumed: both at once share what the memory gives, 348 GB/s
cpu_reads_gpu = 251 GB/s  # published: at 48 threads
page_migration_to_gpu = 23 GB/s  # published: managed pages touched in turn by both, 18 to 29
page_migration_to_cpu = 23 GB/s  # published: managed pages touched in turn by both, 18 to 29
end
