// SPDX-License-Identifier: BSD-3-Clause
// Nothing but the program that precompiled.hpp is compiled for.
int main() {}
