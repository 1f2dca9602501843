// SPDX-License-Identifier: BSD-3-Clause
/// Random datatypes: every constructor, nested, with gaps, in any order, with unusual bounds; no byte is in two pieces.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sluice::tests {

/// Owns a datatype, unless it is predefined, and knows how it was made.
class DrawnType {
  public:
    DrawnType() = default;
    DrawnType(MPI_Datatype type, bool owned, std::string text) : type_(type), owned_(owned), text_(std::move(text)) {}
    DrawnType(DrawnType&& other) noexcept { *this = std::move(other); }
    DrawnType& operator=(DrawnType&& other) noexcept {
        std::swap(type_, other.type_);
        std::swap(owned_, other.owned_);
        std::swap(text_, other.text_);
        return *this;
    }
    ~DrawnType() {
        if (owned_) MPI_Type_free(&type_);
    }

    MPI_Datatype get() const noexcept { return type_; }
    /// Returns a text such as "vector(3, 2, 4, dup(int))".
    std::string const& text() const noexcept { return text_; }
    std::int64_t size() const;
    std::int64_t extent() const;
    /// Returns the first byte and the end of the bytes that `count` elements at offset 0 touch.
    std::pair<std::int64_t, std::int64_t> bounds(std::int64_t count) const;

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    bool owned_ = false;
    std::string text_;
};

/// Draws a committed type of at most `depth` nested constructors. Elements one extent apart do not overlap.
DrawnType draw_type(std::mt19937_64& random, int depth);

/// A block of memory for `count` elements of a type, with guards around it; every byte is `fill`, or follows a pattern
/// given by `seed`.
class TypedBlock {
  public:
    TypedBlock(DrawnType const& type, std::int64_t count);
    void fill(std::uint64_t seed);
    /// Returns the address of the element with offset 0.
    void* buffer() noexcept { return bytes_.data() + k_guard - low_; }
    std::vector<unsigned char> const& bytes() const noexcept { return bytes_; }
    std::vector<unsigned char>& bytes() noexcept { return bytes_; }

  private:
    static constexpr std::int64_t k_guard = 64;
    std::int64_t low_;
    std::vector<unsigned char> bytes_;
};

}  // namespace sluice::tests
