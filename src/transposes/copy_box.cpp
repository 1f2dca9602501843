// SPDX-License-Identifier: BSD-3-Clause
#include "transposes/copy_box.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice::transposes {

namespace {

/// One axis of the loops.
struct Loop {
    std::int64_t count = 1;
    std::int64_t to = 0;    // stride
    std::int64_t from = 0;  // stride
};

/// Copies elements of a size that the compiler knows.
template <std::size_t Bytes>
struct Fixed {
    void operator()(std::byte* to, std::byte const* from) const noexcept { std::memcpy(to, from, Bytes); }
};
struct AnySize {
    std::size_t bytes;
    void operator()(std::byte* to, std::byte const* from) const noexcept { std::memcpy(to, from, bytes); }
};
/// Copies `count` numbers of an element into numbers of another type. Addresses need not be aligned.
template <typename To, typename From>
struct Converted {
    std::size_t count;
    void operator()(std::byte* to, std::byte const* from) const noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            From number;
            std::memcpy(&number, from + i * sizeof(From), sizeof number);
            auto const other = static_cast<To>(number);
            std::memcpy(to + i * sizeof(To), &other, sizeof other);
        }
    }
};

/// The side of a tile, so that its lines in both arrays stay in the first cache.
constexpr std::int64_t k_tile = 8;

template <typename Copy>
void copy_tiles(std::byte* to, std::byte const* from, Loop const& by_to, Loop const& by_from,
                Copy const& copy) noexcept {
    for (std::int64_t a = 0; a < by_from.count; a += k_tile)
        for (std::int64_t b = 0; b < by_to.count; b += k_tile) {
            std::int64_t const a_end = std::min(a + k_tile, by_from.count);
            std::int64_t const b_end = std::min(b + k_tile, by_to.count);
            for (std::int64_t i = a; i < a_end; ++i)
                for (std::int64_t k = b; k < b_end; ++k)
                    copy(to + i * by_from.to + k * by_to.to, from + i * by_from.from + k * by_to.from);
        }
}

/// The loops, the innermost first: that along which `to` is closest, then that along which `from` is.
class Nest {
  public:
    Nest(Place const& to, Place const& from, Extents const& extents) noexcept {
        for (Role const role : {k_x, k_y, k_z})
            loops_[role] = {extents[role], to.strides[role], from.strides[role]};
        auto const by_to = [](Loop const& a, Loop const& b) { return a.count > 1 && (b.count == 1 || a.to < b.to); };
        std::ranges::sort(loops_, by_to);
        auto const closest = std::min_element(loops_.begin(), loops_.end(), [](Loop const& a, Loop const& b) {
            return a.count > 1 && (b.count == 1 || a.from < b.from);
        });
        from_is_other_ = closest != loops_.begin();
        if (from_is_other_) std::swap(loops_[1], *closest);
    }
    Loop const& inner() const noexcept { return loops_[0]; }
    Loop const& middle() const noexcept { return loops_[1]; }
    Loop const& outer() const noexcept { return loops_[2]; }
    bool from_is_other() const noexcept { return from_is_other_; }

  private:
    std::array<Loop, 3> loops_;
    bool from_is_other_ = false;
};

template <typename Copy>
void copy_each(Place const& to, Place const& from, Nest const& nest, Copy const& copy) noexcept {
    Loop const& outer = nest.outer();
    for (std::int64_t i = 0; i < outer.count; ++i)
        copy_tiles(to.first + i * outer.to, from.first + i * outer.from, nest.inner(), nest.middle(), copy);
}

/// Both have the same innermost axis, and it is dense: whole runs are copied.
void copy_runs(Place const& to, Place const& from, Nest const& nest, std::int64_t run) noexcept {
    Loop outer = nest.outer();
    Loop middle = nest.middle();
    if (middle.to == run && middle.from == run) {
        run *= middle.count;
        middle = {};
        if (outer.to == run && outer.from == run) {
            run *= outer.count;
            outer = {};
        }
    }
    for (std::int64_t i = 0; i < outer.count; ++i)
        for (std::int64_t k = 0; k < middle.count; ++k)
            std::memcpy(to.first + i * outer.to + k * middle.to, from.first + i * outer.from + k * middle.from,
                        static_cast<std::size_t>(run));
}

void copy_unchanged(Place const& to, Place const& from, Nest const& nest, std::int64_t element) noexcept {
    Loop const& inner = nest.inner();
    if (!nest.from_is_other() && (inner.count == 1 || (inner.to == element && inner.from == element)))
        return copy_runs(to, from, nest, inner.count * element);
    switch (element) {
        case 1:
            return copy_each(to, from, nest, Fixed<1>());
        case 2:
            return copy_each(to, from, nest, Fixed<2>());
        case 4:
            return copy_each(to, from, nest, Fixed<4>());
        case 8:
            return copy_each(to, from, nest, Fixed<8>());
        case 16:
            return copy_each(to, from, nest, Fixed<16>());
        default:
            return copy_each(to, from, nest, AnySize{static_cast<std::size_t>(element)});
    }
}

}  // namespace

void copy_box(Place const& to, Place const& from, Extents const& extents, std::int64_t element,
              Change change) noexcept {
    if (elements_of(extents) == 0) return;
    Nest const nest(to, from, extents);
    std::size_t const numbers = static_cast<std::size_t>(element) / sizeof(double);
    switch (change) {
        case Change::none:
            return copy_unchanged(to, from, nest, element);
        case Change::narrow:
            return copy_each(to, from, nest, Converted<float, double>{numbers});
        case Change::widen:
            return copy_each(to, from, nest, Converted<double, float>{numbers});
    }
}

}  // namespace sluice::transposes
