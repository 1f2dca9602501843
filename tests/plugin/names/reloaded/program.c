/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens one library, closes it, and opens another one, which the loader maps to the same addresses; then the first one
 * again.
 *
 * program FIRST OTHER: the libraries. Prints "address" of the function each time. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void call(char const* library, char const* name, int number) {
    void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void (*calls)(int) = NULL;
    if (opened) *(void**)&calls = dlsym(opened, name);
    if (!calls) exit(1);
    printf("address %p\n", *(void**)&calls);
    calls(number);
    dlclose(opened);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    call(argv[1], "first_calls", 50);
    call(argv[2], "other_calls", 30);
    for (int i = 0; i < 300; ++i) /* more often than there is room for places */
        call(argv[1], "first_calls", 1);
    MPI_Finalize();
    return 0;
}
