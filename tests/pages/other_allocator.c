/* SPDX-License-Identifier: BSD-3-Clause */
/* An allocator of another kind, behind libsluice-pages.so or inside a program: its blocks have no header in front of
 * them that libc would understand, and none is ever used twice. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

enum { k_bytes = 256 << 20 };
static _Alignas(4096) char memory[k_bytes];
static atomic_size_t used;

void* memalign(size_t alignment, size_t size) {
    size_t const whole = (size + alignment + 63) / 32 * 32;
    size_t const at = whole < size ? k_bytes : atomic_fetch_add(&used, whole);
    if (at + whole > k_bytes) {
        errno = ENOMEM;
        return NULL;
    }
    char* block = memory + (at + 32 + alignment - 1) / alignment * alignment;
    memcpy(block - sizeof size, &size, sizeof size);
    return block;
}
size_t malloc_usable_size(void* block) {
    size_t size = 0;
    if (block != NULL) memcpy(&size, (char*)block - sizeof size, sizeof size);
    return size;
}
void* malloc(size_t size) {
    return memalign(32, size);
}
void* calloc(size_t count, size_t size) {
    size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? NULL : malloc(bytes);
}
void free(void* block) {
    if (block != NULL && ((char*)block < memory || (char*)block >= memory + k_bytes)) __builtin_trap();
}
void* realloc(void* block, size_t size) {
    void* const made = malloc(size);
    size_t const before = malloc_usable_size(block);
    if (made != NULL && block != NULL) memcpy(made, block, before < size ? before : size);
    return made;
}
void* aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
    *block = memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}
