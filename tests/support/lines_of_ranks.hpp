// SPDX-License-Identifier: BSD-3-Clause
/// What each rank of a node prints on standard error, so that other ranks can wait for it.
#pragma once

#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "kernel/files/standard_error.hpp"

namespace sluice::tests {

/// From its making to its end standard error is a file for each rank of MPI_COMM_WORLD. Making and destroying are
/// collective.
class LinesOfRanks {
  public:
    LinesOfRanks() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        if (rank_ == 0) {
            char const* const folder = std::getenv("TMPDIR");
            std::string const name = std::string(folder != nullptr ? folder : "/tmp") + "/sluice-lines-XXXXXX";
            name.copy(folder_.data(), folder_.size() - 1);
            if (mkdtemp(folder_.data()) == nullptr) std::abort();
        }
        MPI_Bcast(folder_.data(), static_cast<int>(folder_.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
        int const file = open(name_of(rank_).c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        before_ = dup(STDERR_FILENO);
        if (file < 0 || before_ < 0 || dup2(file, STDERR_FILENO) < 0) std::abort();
        close(file);
        kernel::remember_standard_error();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    ~LinesOfRanks() {
        dup2(before_, STDERR_FILENO);
        close(before_);
        kernel::remember_standard_error();
        MPI_Barrier(MPI_COMM_WORLD);
        unlink(name_of(rank_).c_str());
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank_ == 0) rmdir(folder_.data());
    }
    LinesOfRanks(LinesOfRanks const&) = delete;
    LinesOfRanks& operator=(LinesOfRanks const&) = delete;

    /// Whether each rank from `first` to before `last` has printed a line. Calls nothing of MPI.
    bool are_there(int first, int last) const {
        for (int rank = first; rank < last; ++rank)
            if (of(rank).find('\n') == std::string::npos) return false;
        return true;
    }
    /// What this rank has printed; "…" stands for its seconds.
    std::string mine() const {
        std::string text = of(rank_);
        constexpr std::string_view before = "waited ";
        for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
            at += before.size();
            text.replace(at, text.find_first_not_of("0123456789", at) - at, "…");
        }
        return text;
    }

  private:
    std::string name_of(int rank) const { return std::string(folder_.data()) + "/" + std::to_string(rank); }
    std::string of(int rank) const {
        std::ifstream file(name_of(rank));
        return {std::istreambuf_iterator<char>(file), {}};
    }

    std::array<char, 256> folder_{};
    int rank_ = 0;
    int before_ = -1;
};

}  // namespace sluice::tests
