/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
// Memory of every kind that a program can receive into, with bytes around the buffer that must stay what they were.
//
//     region   [ before | room of the buffer | behind ]
#include <stddef.h>

enum memory_kind {
    k_malloc,
    k_calloc,
    k_realloc,
    k_aligned,
    k_bss,
    k_break,
    k_mapped,
    k_huge,
    k_hugetlb,
    k_shared,
    k_file,
    k_shared_file,
    k_locked,
    k_two_mappings,
    k_memory_kinds
};
char const* name_of(enum memory_kind kind);

struct memory {
    unsigned char* region;
    size_t all;             // bytes of the region
    unsigned char* buffer;  // inside it
    size_t room;
    void* base;  // what is freed or unmapped
    size_t mapped;
    enum memory_kind kind;
};

// `offset` is that of the buffer from the region's begin; the region is filled with a pattern of `seed`. Where the
// machine has no memory of this kind (hugetlb), or the kind is used up (bss, break), other memory is taken.
struct memory get_memory(enum memory_kind kind, size_t offset, size_t room, size_t behind, unsigned seed);
void free_memory(struct memory* memory);

// How often each kind was given.
void say_kinds(void);
