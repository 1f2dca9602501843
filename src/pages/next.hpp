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
        void* known = function_.load(std::memory_order_relaxed);
        if (known == nullptr) {
            known = dlsym(RTLD_NEXT, name_);
            function_.store(known, std::memory_order_relaxed);
        }
        return reinterpret_cast<Function*>(known);
    }

  private:
    char const* name_;
    std::atomic<void*> function_{nullptr};
};

}  // namespace sluice::pages
