// SPDX-License-Identifier: BSD-3-Clause
/// Numbers that several threads write or read: the program's threads, where it may call MPI from more than one at once,
/// and our helper thread, which reads them for its samples.
///
/// With one calling thread an addition is a load and a store; only with several it is an atomic one, which costs five
/// nanoseconds more. No number guards another: all accesses are relaxed.
#pragma once

#include <atomic>
#include <mutex>
#include <type_traits>

#include "plugin/binding/plugin.hpp"

namespace sluice::plugin {

template <class T>
void put(T& number, std::type_identity_t<T> value) noexcept {
    std::atomic_ref(number).store(value, std::memory_order_relaxed);
}

template <class T>
T look_at(T const& number) noexcept {
    // C++20 has no atomic_ref to a constant; a load writes nothing.
    return std::atomic_ref(const_cast<T&>(number)).load(std::memory_order_relaxed);
}

/// For many numbers in a row: the question how many threads there are is answered once.
template <bool several>
struct Tally {
    template <class T>
    static void add(T& sum, std::type_identity_t<T> amount) noexcept {
        if constexpr (several)
            std::atomic_ref(sum).fetch_add(amount, std::memory_order_relaxed);
        else
            put(sum, static_cast<T>(look_at(sum) + amount));
    }

    template <class T>
    static void subtract(T& sum, std::type_identity_t<T> amount) noexcept {
        if constexpr (several)
            std::atomic_ref(sum).fetch_sub(amount, std::memory_order_relaxed);
        else
            put(sum, static_cast<T>(look_at(sum) - amount));
    }

    /// Keeps the larger one.
    template <class T>
    static void raise(T& most, std::type_identity_t<T> value) noexcept {
        T seen = look_at(most);
        if constexpr (several) {
            while (value > seen &&
                   !std::atomic_ref(most).compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
            }
        } else if (value > seen) {
            put(most, value);
        }
    }
};

template <class T>
void add(T& sum, std::type_identity_t<T> amount) noexcept {
    if (g_plugin.several_threads) [[unlikely]]
        Tally<true>::add(sum, amount);
    else
        Tally<false>::add(sum, amount);
}

template <class T>
void subtract(T& sum, std::type_identity_t<T> amount) noexcept {
    if (g_plugin.several_threads) [[unlikely]]
        Tally<true>::subtract(sum, amount);
    else
        Tally<false>::subtract(sum, amount);
}

template <class T>
void raise(T& most, std::type_identity_t<T> value) noexcept {
    if (g_plugin.several_threads) [[unlikely]]
        Tally<true>::raise(most, value);
    else
        Tally<false>::raise(most, value);
}

/// Holds a lock that only calling threads compete for: none where there is one.
class CallersLock {
  public:
    explicit CallersLock(std::mutex& mutex) : lock_(mutex, std::defer_lock) {
        if (g_plugin.several_threads) lock_.lock();
    }

  private:
    std::unique_lock<std::mutex> lock_;
};

}  // namespace sluice::plugin
