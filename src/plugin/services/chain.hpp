// SPDX-License-Identifier: BSD-3-Clause
/// What the services put in the place of one MPI function, and how they follow each other.
///
///     wrapper ── Call ──> first link ── next(…) ──> second link ── next(…) ──> the next tool or libmpi
///
/// A function without links costs one load and one branch.
#pragma once

#include <array>
#include <cstddef>

namespace sluice::plugin {

class Call;

/// Links of one function. Each service adds at most one, so there are never more than services (list.cpp).
inline constexpr std::size_t k_most_links = 3;

template <class Function>
class Chain;

template <class... Arguments>
class Chain<int (*)(Arguments...)> {
  public:
    using Below = int (*)(Arguments...);

    /// What follows a link: the links after it, then the function below us.
    class Next {
      public:
        int operator()(Arguments... arguments) const {
            return *link_ != nullptr ? (*link_)(*call_, Next(*call_, link_ + 1, below_), arguments...)
                                     : below_(arguments...);
        }

      private:
        friend class Chain;
        using Links = int (*const*)(Call&, Next, Arguments...);
        Next(Call& call, Links link, Below below) : call_(&call), link_(link), below_(below) {}
        Call* call_;
        Links link_;
        Below below_;
    };
    /// Gets the call, what follows, and the program's arguments; gives the error code.
    using Link = int (*)(Call&, Next, Arguments...);

    int run(Call& call, Below below, Arguments... arguments) const {
        if (links_[0] == nullptr) [[likely]]
            return below(arguments...);
        return Next(call, links_.data(), below)(arguments...);
    }

    /// After those that are there. Only while no thread runs the chain: in MPI_Init.
    void add(Link link) noexcept {
        for (std::size_t i = 0; i < k_most_links; ++i) {
            if (links_[i] != nullptr) continue;
            links_[i] = link;
            return;
        }
    }
    /// Also only while no thread runs the chain: in MPI_Finalize.
    void remove(Link link) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < k_most_links; ++i)
            if (links_[i] != link) links_[kept++] = links_[i];
        while (kept < k_most_links)
            links_[kept++] = nullptr;
    }

  private:
    std::array<Link, k_most_links + 1> links_{};  // the last stays null
};

}  // namespace sluice::plugin
