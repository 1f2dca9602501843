// SPDX-License-Identifier: BSD-3-Clause
/// The part of a sparse exchange that goes through the rings of a node.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "node/node.hpp"
#include "node/sleep_unless.hpp"

namespace sluice::engine {

/// Sends to and receives from ranks of the node: items are written directly into the ring, and a packet of another kind
/// ends them.
template <typename Item, typename Taker>
class SparseRings {
  public:
    SparseRings(node::Node& node, Taker& taker)
        : node_(node),
          rings_(node.rings()),
          taker_(taker),
          most_items_(std::max<std::size_t>(1, std::min<std::size_t>(rings_.largest_body() / 2, 32768) / sizeof(Item))),
          filling_(static_cast<std::size_t>(node.size())) {}

    /// While a ring is full, `look` is called again and again, and this rank does not sleep: a peer may need it in
    /// another way before it takes what is in the ring.
    void while_waiting(std::function<void()> look) { look_ = std::move(look); }

    void send(int local, Item const& item) {
        Filling& filling = filling_[static_cast<std::size_t>(local)];
        if (filling.packet == nullptr) filling.packet = reserve(local, most_items_ * sizeof(Item));
        std::memcpy(filling.packet + filling.count * sizeof(Item), &item, sizeof(Item));
        if (++filling.count == most_items_) flush(local);
    }

    void flush_all() {
        for (int local = 0; local < node_.size(); ++local) {
            if (local == node_.rank()) continue;
            flush(local);
            reserve(local, 0);
            rings_.commit(local, k_all_sent, 0, k_pass, 0);
        }
    }

    /// Returns true once all ranks of the node have sent their last item. Sleeps unless there is something to look for
    /// meanwhile.
    bool finish() {
        if (finished_ == node_.size() - 1) return true;
        node::sleep_unless(rings_, [&] { return receive() || look_; });
        return finished_ == node_.size() - 1;
    }

    bool receive() {
        bool any = false;
        for (int local = 0; local < node_.size(); ++local) {
            if (local == node_.rank()) continue;
            while (node::Packet const packet = rings_.peek(local)) {
                if (packet.pass != k_pass) break;
                any = true;
                if (packet.kind == k_all_sent) ++finished_;
                count_ += packet.count;
                auto const item_at = [&packet](std::uint32_t i) {
                    Item item{};
                    std::memcpy(&item, packet.body.data() + i * sizeof item, sizeof item);
                    return item;
                };
                for (std::uint32_t i = 0; i < packet.count; ++i) {
                    if (i + k_ahead < packet.count) taker_.expect(item_at(i + k_ahead));
                    taker_.accept(node_.global_of(local), item_at(i));
                }
                rings_.pop(local);
            }
        }
        return any;
    }

    std::uint64_t received() const noexcept { return count_; }

  private:
    enum Kind : std::uint32_t { k_items = 101, k_all_sent = 102 };
    static constexpr std::uint64_t k_pass = ~std::uint64_t{0};
    static constexpr std::uint32_t k_ahead = 16;

    std::byte* reserve(int local, std::size_t bytes) {
        for (;;) {
            if (std::byte* const packet = rings_.reserve(local, bytes)) return packet;
            node::sleep_unless(rings_, [&] { return receive() || rings_.room(local) >= bytes || look_; });
            if (!look_) continue;
            look_();
            sched_yield();
        }
    }

    void flush(int local) {
        Filling& filling = filling_[static_cast<std::size_t>(local)];
        if (filling.count > 0)
            rings_.commit(local, k_items, static_cast<std::uint32_t>(filling.count), k_pass,
                          filling.count * sizeof(Item));
        filling = {};
        receive();
    }

    struct Filling {
        std::byte* packet = nullptr;
        std::size_t count = 0;
    };
    node::Node& node_;
    node::NodeRings& rings_;
    Taker& taker_;
    std::size_t most_items_;
    std::vector<Filling> filling_;
    std::function<void()> look_;
    int finished_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace sluice::engine
