// SPDX-License-Identifier: BSD-3-Clause
/// The functions behind the ones that this library defines: those of the next library that has them.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <cstdint>

namespace sluice::pages {

/// A function by its name. It is looked up at its first use, which may be long before any constructor has run; so it is
/// complete when the library is loaded. A look-up of a name that exists allocates nothing.
template <class Function>
class Next {
  public:
    constexpr explicit Next(char const* name) : name_(name) {}
    /// Null if there is none.
    Function* get() noexcept {
        void* found = function_.load(std::memory_order_relaxed);
        if (found == nullptr) {
            found = dlsym(RTLD_NEXT, name_);
            function_.store(found, std::memory_order_relaxed);
        }
        return reinterpret_cast<Function*>(found);
    }

  private:
    char const* name_;
    std::atomic<void*> function_{nullptr};
};

}  // namespace sluice::pages
