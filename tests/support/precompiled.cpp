// Nothing but the program that precompiled.hpp is compiled for.
int main() {}
