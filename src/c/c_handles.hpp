// SPDX-License-Identifier: BSD-3-Clause
/// Helpers that the files of the C interface share: handles, and errors as values.
#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "base/c_boundary.hpp"
#include "c/handle_table.hpp"
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

/// The types of objects that have handles say of which kind these are.
template <typename T>
concept HasHandle = requires {
    T::k_kind;
};

/// What `pointer` points to, or the object of a handle.
template <typename T>
T& existing(T* pointer, char const* what) {
    if constexpr (HasHandle<std::remove_const_t<T>>) {
        return *static_cast<T*>(HandleTable::of_this_process().object_of(pointer, T::k_kind, what));
    } else {
        if (pointer == nullptr) throw invalid(std::string(what) + " is NULL");
        return *pointer;
    }
}

/// The object of a handle, or null for a handle that is null or refused: for functions that only look something up. A
/// refusal is kept for sluice_last_error().
template <HasHandle T>
T* looked_up(T* handle, char const* what) noexcept {
    T* found = nullptr;
    if (handle != nullptr) base::c_boundary([&] { found = &existing(handle, what); });
    return found;
}

/// The memory and the place in the table of a handle whose object is made collectively. Both are taken before the ranks
/// agree, so that no rank fails after the others have made theirs.
template <typename T>
class HandleMemory {
  public:
    HandleMemory() = default;
    HandleMemory(HandleMemory const&) = delete;
    HandleMemory& operator=(HandleMemory const&) = delete;
    ~HandleMemory() {
        ::operator delete(memory_);
        if (place_ != HandleTable::k_no_place) HandleTable::of_this_process().give_back(place_);
    }

    /// Throws std::bad_alloc.
    void take() {
        memory_ = ::operator new(sizeof(T));
        place_ = HandleTable::of_this_process().reserve();
    }
    /// Makes the object in the memory, and returns its handle. The caller frees it.
    template <typename... Arguments>
    T* make(Arguments&&... arguments) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        T* const made = new (memory_) T{std::forward<Arguments>(arguments)...};
        memory_ = nullptr;
        HandleTable::Place const place = std::exchange(place_, HandleTable::k_no_place);
        return static_cast<T*>(HandleTable::of_this_process().bind(place, T::k_kind, made));
    }

  private:
    void* memory_ = nullptr;
    HandleTable::Place place_ = HandleTable::k_no_place;
};

/// A new object, and the place in the table for its handle.
template <HasHandle T>
class NewHandle {
  public:
    template <typename... Arguments>
    explicit NewHandle(Arguments&&... arguments)
        : object_(new T{std::forward<Arguments>(arguments)...}), place_(HandleTable::of_this_process().reserve()) {}
    NewHandle(NewHandle const&) = delete;
    NewHandle& operator=(NewHandle const&) = delete;
    ~NewHandle() {
        if (object_) HandleTable::of_this_process().give_back(place_);
    }
    T* operator->() const noexcept { return object_.get(); }
    /// Returns the handle, which the caller owns.
    T* release() noexcept {
        return static_cast<T*>(HandleTable::of_this_process().bind(place_, T::k_kind, object_.release()));
    }

  private:
    std::unique_ptr<T> object_;
    HandleTable::Place place_;
};

/// Sets `*handle` to a new T; a null address is refused first, so that no object is lost. It is null after a failure.
template <typename T>
int new_handle(T** handle, char const* what) {
    return base::c_boundary([&] {
        T*& place = existing(handle, what);
        place = nullptr;
        place = NewHandle<T>().release();
    });
}

/// Frees a handle and returns its object.
template <HasHandle T>
std::unique_ptr<T> taken(T*& handle, char const* what) {
    std::unique_ptr<T> object(static_cast<T*>(HandleTable::of_this_process().take(handle, T::k_kind, what)));
    handle = nullptr;
    return object;
}

/// Also frees through a guard, because the end of a context frees communicators.
template <typename T>
int free_handle(T** handle, char const* what) {
    return base::c_boundary([&] {
        T*& place = existing(handle, "the address of the handle");
        if (place != nullptr) taken(place, what);
    });
}

}  // namespace sluice::c
