# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash disable=SC2034,SC2154,SC2164 # work, about: .ci/run, under set -e
# aarch64.sh: the same program on another instruction set, under qemu.

# Unpacks arm64's zlib into $work/arm without adding an architecture to this system: apt gets
# lists, cache and status of its own.
arm64_zlib()
{
    local root=$work/arm
    mkdir -p "$root/state/lists/partial" "$root/cache/archives/partial"
    touch "$root/status"
    local options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
        -o Dir::State="$root/state" -o Dir::State::status="$root/status" -o Dir::Cache="$root/cache"
        -o Acquire::Languages=none)
    quietly arm-update apt-get -q "${options[@]}" update
    (cd "$root" && quietly arm-download apt-get -q "${options[@]}" download zlib1g:arm64 zlib1g-dev:arm64)
    local package
    for package in "$root"/*.deb; do dpkg-deb -x "$package" "$root"; done
    rm "$root"/usr/lib/aarch64-linux-gnu/libz.so # the archive will do, and needs no path at run time
}

on_arm() { qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=/usr/aarch64-linux-gnu/lib "$@"; }

# The matrices that the emulated tool solves.
arm_matrices=(gen:poisson2d5:40 gen:poisson3d7:12 gen:poisson3d27:8 gen:elasticity3d:4
    gen:graph:2000:6:1 gen:random_spd:1000:9:1 matrices/real/1138_bus.mtx)

about[aarch64]="cross-built for aarch64; the stress program and cgbench under qemu"
job_aarch64()
{
    arm64_zlib
    configured_in aarch64 --host=aarch64-linux-gnu --disable-shared --enable-werror \
        ZLIB_CFLAGS="-I$work/arm/usr/include" ZLIB_LIBS="-L$work/arm/usr/lib/aarch64-linux-gnu -lz" \
        CRITERION_CFLAGS=' ' CRITERION_LIBS=' '
    makes aarch64 all
    makes aarch64 tests/stress
    on_arm "$work/aarch64/tests/stress"
    local matrix status=0
    for matrix in "${arm_matrices[@]}"; do
        if on_arm "$work/aarch64/cgbench" solve "$matrix" --precond jacobi --threads 2 --quiet; then
            echo "solved on aarch64: $matrix"
        else
            echo "NOT solved on aarch64: $matrix"
            status=1
        fi
    done
    must_fail "limit of one iteration" on_arm "$work/aarch64/cgbench" solve gen:poisson2d5:40 --maxit 1 --quiet
    return $status
}
