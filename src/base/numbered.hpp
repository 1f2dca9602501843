// SPDX-License-Identifier: BSD-3-Clause
/// Objects that a peer names by a small number. The number of an object that has gone is given to the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace sluice::base {

template <typename T>
class Numbered {
  public:
    /// Returns the number of the object. Throws std::bad_alloc; then nothing has changed.
    std::uint32_t add(T object) {
        if (free_.empty()) {
            if (free_.capacity() <= objects_.size())
                free_.reserve(2 * objects_.size() + 1);  // take() allocates nothing
            objects_.push_back(std::move(object));
            return static_cast<std::uint32_t>(objects_.size() - 1);
        }
        std::uint32_t const number = free_.back();
        objects_[number] = std::move(object);
        free_.pop_back();
        return number;
    }
    /// Removes the object.
    T take(std::uint32_t number) {
        free_.push_back(number);
        return std::exchange(objects_[number], T{});
    }
    T& operator[](std::uint32_t number) noexcept { return objects_[number]; }
    /// All objects; those that were taken are T{}.
    std::span<T> all() noexcept { return objects_; }
    /// Returns false for a number that no object has had. An object that was taken is T{}.
    bool has_given(std::uint32_t number) const noexcept { return number < objects_.size(); }
    /// The objects that have not been taken.
    std::size_t size() const noexcept { return objects_.size() - free_.size(); }

  private:
    std::vector<T> objects_;
    std::vector<std::uint32_t> free_;
};

}  // namespace sluice::base
