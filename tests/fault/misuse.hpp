// SPDX-License-Identifier: BSD-3-Clause
/// What the programs of wrong uses share: tables of uses with the words that their error must contain.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "kernel/files/standard_error.hpp"
#include "sluice/error.hpp"

namespace sluice::misuse {

struct Wrong {
    char const* name;
    std::function<void()> use;
    std::vector<std::string> words;  ///< all of them must be in the error; no words: the use is right
};

/// Runs all uses; returns how many did not end as the table says. A use that ends the process is named by the last
/// line.
inline int faults_of(std::vector<Wrong> const& table, char const* when) {
    int faults = 0;
    for (Wrong const& wrong : table) {
        std::fprintf(stderr, "%s: %s\n", when, wrong.name);
        std::string text;
        try {
            wrong.use();
        } catch (Error const& error) {
            text = error.what();
        }
        bool right = wrong.words.empty() == text.empty();
        for (std::string const& word : wrong.words)
            right = right && text.find(word) != std::string::npos;
        if (right) continue;
        std::fprintf(stderr, "FAULT %s: %s: \"%s\"\n", when, wrong.name, text.c_str());
        ++faults;
    }
    return faults;
}

/// Keeps what `action` prints on standard error.
inline std::string standard_error_of(std::function<void()> const& action) {
    std::fflush(stderr);
    int const kept = dup(STDERR_FILENO);
    std::FILE* const file = std::tmpfile();
    dup2(fileno(file), STDERR_FILENO);
    kernel::remember_standard_error();
    action();
    std::fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    kernel::remember_standard_error();
    std::rewind(file);
    std::string text;
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
        text += static_cast<char>(c);
    std::fclose(file);
    return text;
}

}  // namespace sluice::misuse
