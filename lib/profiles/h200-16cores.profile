# SPDX-License-Identifier: BSD-3-Clause
yoke-profile 1
text = H200 behind PCIe 5, 16 host cores
date = 2026-11-30
cpu = Intel(R) Xeon(R) Processor
gpu = NVIDIA H200
driver = CUDA 13.0
threads = 16

cpu_threads = 16  # measured: the affinity mask, 2026-11-30
gpu_count = 1  # measured: one is used, 2026-11-30
gpu_sms = 132  # measured: CUDA's attribute, 2026-11-30
gpu_l2_bytes = 60 MB  # measured: CUDA's attribute, 2026-11-30
gpu_memory_bytes = 141 GB  # published: NVIDIA, H200 data sheet
coherent = 0  # measured: a CPU touch moves managed pages, 2026-11-30
pageable = 0  # measured: pageableMemoryAccess, 2026-11-30

# The host's memory. Its cores are shared with others: 54 to 110 GB/s from minute to minute.
cpu_triad = 1: 13 GB/s, 4: 50 GB/s, 8: 74 GB/s, 16: 107 GB/s  # measured: STREAM triad, 2026-11-30
cpu_read = 1: 13 GB/s, 4: 50 GB/s, 8: 74 GB/s, 16: 97 GB/s  # assumed: 16 threads as in bench/records, fewer as the triad
cpu_read_set = 5.2 MB: 736 GB/s, 144 MB: 152 GB/s, 167 MB: 144 GB/s, 288 MB: 106 GB/s, 845 MB: 91 GB/s, 2.7 GB: 97 GB/s  # measured: bench/records, as many bytes beside each solve, 2026-12-01
cpu_gather_set = 1 MiB: 14.57 G/s, 4 MiB: 7.098 G/s, 16 MiB: 6.229 G/s, 64 MiB: 5.627 G/s, 256 MiB: 5.437 G/s  # measured: cgbench machine --calibrate, 2026-12-01
cpu_region = 5.75 us  # measured: cgbench machine --calibrate, 2026-12-01
cpu_barrier = 1.57 us  # measured: cgbench machine --calibrate, 2026-12-01
cpu_flag = 170 ns  # measured: cgbench machine --calibrate, 2026-12-01

gpu_read = 1.3 MB: 12.5 TB/s, 5.4 MB: 9505 GB/s, 43 MB: 9010 GB/s, 106 MB: 7085 GB/s, 120 MB: 5730 GB/s, 344 MB: 5084 GB/s, 830 MB: 4640 GB/s, 2.7 GB: 4500 GB/s  # measured: bench/records, as many bytes beside each solve, 2026-12-01
gpu_read_sms = 10: 2.135 TB/s, 18: 3.469 TB/s, 34: 3.532 TB/s, 66: 4.008 TB/s, 100: 4.248 TB/s, 132: 4.665 TB/s  # measured: cgbench machine --calibrate, 2026-12-01
gpu_gather_set = 1 MiB: 174.2 G/s, 4 MiB: 162.2 G/s, 16 MiB: 159 G/s, 32 MiB: 139.2 G/s, 64 MiB: 81.29 G/s, 128 MiB: 58.15 G/s, 512 MiB: 46.11 G/s  # measured: cgbench machine --calibrate, 2026-12-01
gpu_copy = 1 GB: 4294 GB/s  # measured: read and written bytes, 2026-11-30
gpu_write = 4336 GB/s  # measured: 2026-11-30
gpu_triad = 4132 GB/s  # measured: 2026-11-30
gpu_launch = 3.2 us  # measured: empty kernels, 2026-11-30
gpu_launch_sync = 8 us  # measured: empty kernels, 2026-11-30
gpu_graph_node = 0.5 us  # measured: empty kernels, 2026-11-30
gpu_graph_launch = 8 us  # assumed: as a launch and waiting for it
gpu_grid_barrier = 1 us  # measured: grid.sync, 1 or 2 blocks an SM, 2026-11-30

flag_round_trip = 1.9 us  # measured: mapped memory, spinning on both sides, 2026-11-30
copy_latency = 6 us  # measured: cudaMemcpyAsync and waiting, 8 B, 2026-11-30
copy_time = 8 B: 6 us, 64 KiB: 8 us, 1 MiB: 26 us  # measured: cudaMemcpyAsync and waiting, 2026-11-30
link_to_gpu = 55.4 GB/s  # measured: pinned memory, 2026-11-30
link_from_gpu = 55.4 GB/s  # measured: pinned memory, 2026-11-30
link_both = 100.6 GB/s  # measured: pinned memory, 2026-11-30
gpu_reads_host = 51 GB/s  # measured: mapped memory, 2026-11-30
gpu_reads_host_shared = 49.74 GB/s  # measured: cgbench machine --calibrate, 2026-12-01
gpu_reads_host_sms = 10: 51.16 GB/s, 18: 51.07 GB/s, 34: 51.11 GB/s, 66: 51.1 GB/s, 100: 51.2 GB/s, 132: 51.21 GB/s  # measured: cgbench machine --calibrate, 2026-12-01
gpu_writes_host = 53 GB/s  # measured: mapped memory, 2026-11-30

page_faults_to_gpu = 9 GB/s  # measured: managed memory, first touch, 2026-11-30
page_migration_to_gpu = 50 GB/s  # measured: prefetch, 2026-11-30
page_faults_to_cpu = 19 GB/s  # measured: 16 threads, 2026-11-30
page_migration_to_cpu = 19 GB/s  # measured: prefetch, 2026-11-30
page_round_trip = 20 us  # measured: one 4 KiB page to and fro, 2026-11-30

peer_copy = 396 GB/s  # measured: two H200 of one host, NVLink NV18, 2026-11-30
peer_reads = 373 GB/s  # measured: two H200 of one host, NVLink NV18, 2026-11-30
peer_flag = 1.3 us  # measured: two H200 of one host, NVLink NV18, 2026-11-30
end
