// SPDX-License-Identifier: BSD-3-Clause
// Compiles only with the parent project's own standard and flags.
#if __cplusplus != 201703L
#error "another standard than this project's"
#endif
#ifndef CONSUMER_OWN_FLAG
#error "this project's own definition is missing"
#endif
#if defined(OMPI_SKIP_MPICXX) || defined(SLUICE_SIMULATED) || defined(__OPTIMIZE__)
#error "a flag of Sluice's"
#endif

int main() {
    return 0;
}
