// SPDX-License-Identifier: BSD-3-Clause
#include "exchanges/shape.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "engine/sparse/sparse_exchange.hpp"
#include "groups/tags.hpp"
#include "sluice/error.hpp"

namespace sluice::exchanges {

namespace {

/// Memory for packets of announcements.
constexpr Bytes k_packets{64 << 10};

}  // namespace

Shape::Shape(engine::ContextState& context, std::span<OutgoingPart const> parts)
    : context_(&context),
      sizes_(memory::MeteredAllocator<Size>(context.meter())),
      arrivals_(memory::MeteredAllocator<Arrival>(context.meter())) {
    try {
        sizes_.reserve(parts.size());
        for (OutgoingPart const& part : parts)
            sizes_.push_back({size_of_part(part), part.rank});
    } catch (std::bad_alloc const&) {
        fault_ = context.no_memory([&] { return "for the sizes of " + std::to_string(parts.size()) + " parts"; });
    }
    announce();
    sort();
    lease_ = context.budget().lease_beyond(
        Bytes{sizes_.capacity() * sizeof(Size) + arrivals_.capacity() * sizeof(Arrival)}, Purpose::bookkeeping);
}

bool Shape::fits(std::span<OutgoingPart const> parts) const noexcept {
    return std::ranges::equal(sizes_, parts, [](Size const& known, OutgoingPart const& part) {
        return known.rank == part.rank && known.bytes == size_of_part(part);
    });
}

void Shape::accept(int source, Announcement const& what) {
    try {
        arrivals_.push_back({source, what.part, what.bytes});
    } catch (std::bad_alloc const&) {
        fault_ = context_->no_memory(
            [&] { return "for the announcements of " + std::to_string(arrivals_.size()) + " parts"; });
    }
}

void Shape::announce() {
    std::optional<engine::SparseExchange<Announcement, Shape>> sparse;
    try {
        sparse.emplace(*context_, nullptr, *this, k_packets, groups::tags::k_parts);
    } catch (std::bad_alloc const&) {
        fault_ = context_->no_memory([] { return "to announce its parts"; });
    }
    context_->agree_on_no_error(fault_);
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
        if (sizes_[i].bytes == 0) continue;
        if (sizes_[i].rank == context_->rank())
            accept(context_->rank(), {i, sizes_[i].bytes});
        else
            sparse->send(sizes_[i].rank, {i, sizes_[i].bytes});
    }
    sparse->finish();
    context_->agree_on_no_error(fault_);
}

void Shape::sort() {
    auto const distance = [this](Arrival const& arrival) {
        return (arrival.from - context_->rank() + context_->size()) % context_->size();
    };
    std::ranges::sort(arrivals_, [&](Arrival const& a, Arrival const& b) {
        return std::pair(distance(a), a.part) < std::pair(distance(b), b.part);
    });
}

}  // namespace sluice::exchanges
