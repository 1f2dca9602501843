// SPDX-License-Identifier: BSD-3-Clause
/// What the services put in the place of one MPI function, and how they follow each other.
///
///     wrapper ── Call ──> first link ── next(…) ──> second link ── next(…) ──> the next tool or libmpi
///
/// A function without links costs one load and one branch. What comes last may be a translation (translated.hpp), so
/// links see the program's requests and MPI sees its own.
#pragma once

#include <array>
#include <cstddef>

namespace sluice::plugin {

class Call;

/// Links of one function. Each service adds at most one, so this is the number of services; list.cpp, which
/// has the list, refuses another number.
inline constexpr std::size_t k_most_links = 6;

template <class Function>
class Chain;

template <class... Arguments>
class Chain<int (*)(Arguments...)> {
    struct Link;

  public:
    using Below = int (*)(Arguments...);

    /// What follows a link: the links after it, then the function below us.
    class Next {
      public:
        int operator()(Arguments... arguments) const {
            if (link_->run == nullptr)
                return translation_ != nullptr ? translation_(below_, arguments...) : below_(arguments...);
            return link_->run(link_->owner, *call_, Next(*call_, link_ + 1, below_, translation_), arguments...);
        }

      private:
        friend class Chain;
        Next(Call& call, Link const* link, Below below, int (*translation)(Below, Arguments...))
            : call_(&call), link_(link), below_(below), translation_(translation) {}
        Call* call_;
        Link const* link_;
        Below below_;
        int (*translation_)(Below, Arguments...);
    };

    int run(Call& call, Below below, Arguments... arguments) const {
        if (links_[0].run == nullptr) [[likely]]
            return below(arguments...);
        return Next(call, links_.data(), below, nullptr)(arguments...);
    }
    /// The same with a translation after the last link.
    using Translation = int (*)(Below, Arguments...);
    int run_translated(Call& call, Translation translation, Below below, Arguments... arguments) const {
        return Next(call, links_.data(), below, translation)(arguments...);
    }

    /// What follows the links of `owner`: for a service that makes one call out of another.
    int run_after(void const* owner, Call& call, Translation translation, Below below, Arguments... arguments) const {
        std::size_t first = 0;
        while (links_[first].run != nullptr && links_[first].owner != owner)
            ++first;
        if (links_[first].run != nullptr) ++first;
        return Next(call, &links_[first], below, translation)(arguments...);
    }

    /// After the links that are there. `Step` is a lambda without captures; it gets the owner, the call, what follows
    /// and the program's arguments, and returns the error code. Only while no thread runs the chain: in MPI_Init.
    template <class Owner, class Step>
    void add(Owner& owner, Step) noexcept {
        for (std::size_t i = 0; i < k_most_links; ++i) {
            if (links_[i].run != nullptr) continue;
            links_[i] = {[](void* of, Call& call, Next next, Arguments... arguments) -> int {
                             return Step()(*static_cast<Owner*>(of), call, next, arguments...);
                         },
                         &owner};
            return;
        }
    }
    /// Removes the links of `owner`. Also only while no thread runs the chain: in MPI_Finalize.
    void remove(void const* owner) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < k_most_links; ++i)
            if (links_[i].owner != owner) links_[kept++] = links_[i];
        while (kept < k_most_links)
            links_[kept++] = {};
    }

  private:
    struct Link {
        int (*run)(void* owner, Call&, Next, Arguments...) = nullptr;
        void* owner = nullptr;
    };
    std::array<Link, k_most_links + 1> links_{};  // the last stays empty
};

}  // namespace sluice::plugin
