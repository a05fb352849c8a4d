#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# powers_of_five.py: writes matrices/powers_of_five.h, which number.c includes; run once by hand.
# Entry q - FIRST is floor(5^q 2^s), s such that it has exactly 128 bits, high half first.
FIRST, LAST = -342, 308


def leading_128_bits(q):
    if q >= 0:
        power, shift = 5**q, 0
        shift = 128 - power.bit_length()
        return power << shift if shift >= 0 else power >> -shift
    bits = (5**-q).bit_length() + 127
    found = (1 << bits) // 5**-q
    return found if found.bit_length() == 128 else (1 << (bits + 1)) // 5**-q


def entry(q):
    power = leading_128_bits(q)
    assert power.bit_length() == 128
    return "{0x%016x, 0x%016x}" % (power >> 64, power & (2**64 - 1))


entries = [entry(q) for q in range(FIRST, LAST + 1)]
with open("matrices/powers_of_five.h", "w") as out:
    out.write("/* SPDX-License-Identifier: BSD-3-Clause */\n")
    out.write("/* powers_of_five.h: the 128 leading bits, truncated, of 5^q; made by powers_of_five.py. */\n")
    out.write("/* clang-format off */\n")
    out.write("enum { YK_POWER_FIRST = %d, YK_POWER_LAST = %d };\n" % (FIRST, LAST))
    out.write("static const uint64_t yk_power_of_five[][2] = {\n")
    for i in range(0, len(entries), 2):
        out.write("    " + ", ".join(entries[i : i + 2]) + ",\n")
    out.write("};\n/* clang-format on */\n")
