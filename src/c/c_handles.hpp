// SPDX-License-Identifier: BSD-3-Clause
/// Helpers that the files of the C interface share: handles, and errors as values.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "base/c_boundary.hpp"
#include "sluice/error.hpp"

namespace sluice::c {

inline Error invalid(std::string const& text) {
    return {ErrorCode::invalid_argument, text};
}

/// Returns the exception of `action` as a value: for errors that all ranks have to agree on.
template <typename Action>
std::optional<Error> fault_in(Action const& action) {
    try {
        action();
        return std::nullopt;
    } catch (Error const& error) {
        return error;
    } catch (std::bad_alloc const&) {
        return Error(ErrorCode::out_of_memory, "no memory for the arguments or the handle of a call");
    }
}

template <typename Handle>
Handle& existing(Handle* handle, char const* what) {
    if (handle == nullptr) throw invalid(std::string(what) + " is NULL");
    return *handle;
}

/// The memory of a handle whose object is made collectively. It is taken before the ranks agree, so that no rank fails
/// after the others have made theirs.
template <typename T>
class HandleMemory {
  public:
    HandleMemory() = default;
    HandleMemory(HandleMemory const&) = delete;
    HandleMemory& operator=(HandleMemory const&) = delete;
    ~HandleMemory() { ::operator delete(memory_); }

    /// Throws std::bad_alloc.
    void take() { memory_ = ::operator new(sizeof(T)); }
    /// Makes the object in the memory. The caller deletes it.
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        T* const made = new (memory_) T{std::forward<Arguments>(arguments)...};
        memory_ = nullptr;
        return made;
    }

  private:
    void* memory_ = nullptr;
};

/// Sets `*handle` to a new T; a null address is refused first, so that no object is lost. It is null after a failure.
template <typename T>
int new_handle(T** handle, char const* what) {
    return base::c_boundary([&] {
        T*& place = existing(handle, what);
        place = nullptr;
        place = new T;
    });
}

/// Also frees through a guard, because the end of a context frees communicators.
template <typename Handle>
int free_handle(Handle** handle) {
    return base::c_boundary([&] { delete std::exchange(existing(handle, "the address of the handle"), nullptr); });
}

}  // namespace sluice::c
