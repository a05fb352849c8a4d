yoke-profile 1
text = t
cpu = c
threads = 4
cpu_read = 1: 2 GB/s, 4: 7.5 GB/s  # measured: here
gpu_launch = 3 us  # assumed: x
end 0123
