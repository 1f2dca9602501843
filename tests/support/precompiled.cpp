// SPDX-License-Identifier: BSD-3-Clause
// An empty program, for which precompiled.hpp is compiled.
int main() {}
