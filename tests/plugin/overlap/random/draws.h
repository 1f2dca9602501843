/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// Numbers that all ranks draw alike: the whole program follows from its seed.
#include <stdint.h>

struct draws {
    uint64_t state;
};

static inline uint64_t draw(struct draws* draws) {  // splitmix64
    uint64_t z = draws->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
// One of 0 … n − 1.
static inline unsigned one_of(struct draws* draws, unsigned n) {
    return (unsigned)(draw(draws) % n);
}
static inline int one_in(struct draws* draws, unsigned n) {
    return one_of(draws, n) == 0;
}
