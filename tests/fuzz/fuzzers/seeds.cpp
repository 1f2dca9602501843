// SPDX-License-Identifier: BSD-3-Clause
// fuzz-NAME --seeds=FOLDER writes the seeds into the folder and ends; otherwise libFuzzer's options hold.
#include "seeds.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    constexpr std::string_view k_option = "--seeds=";
    for (int i = 1; i < *argc; ++i) {
        std::string_view const argument = (*argv)[i];
        if (!argument.starts_with(k_option)) continue;
        std::filesystem::path const folder = argument.substr(k_option.size());
        std::filesystem::create_directories(folder);
        int number = 0;
        for (std::string const& seed : sluice::fuzz::seeds())
            std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << seed;
        std::exit(0);
    }
    return 0;
}
