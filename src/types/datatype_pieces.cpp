// SPDX-License-Identifier: BSD-3-Clause
#include "types/datatype_pieces.hpp"

#include <algorithm>
#include <cstring>

namespace sluice::types {

using Kind = TypeMap::Kind;

TypeMap::Node TypeMap::repeated(std::uint64_t count) const noexcept {
    bool const dense =
        root_.kind == Kind::run && (count <= 1 || extent_ == static_cast<std::int64_t>(root_.size) || root_.size == 0);
    Node all;
    all.size = root_.size * count;
    if (dense || all.size == 0) {
        all.offset = root_.offset;
        return all;
    }
    all.kind = Kind::loop;
    all.child = k_root;
    all.count = count;
    all.stride = extent_;
    return all;
}

PieceCursor::PieceCursor(TypeMap const& map, void const* buffer, std::uint64_t count)
    : map_(&map),
      top_(map.repeated(count)),
      base_(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(buffer))) {
    if (top_.kind != Kind::run) frames_.resize(map.depth() + 1);
}

void PieceCursor::enter(TypeMap::Node const& node, std::int64_t base) noexcept {
    if (node.kind == Kind::run) {
        run_ = base + node.offset;
        run_bytes_ = node.size;
    } else {
        frames_[depth_++] = {&node, 0, base};
    }
}

void PieceCursor::enter_next(Frame& frame) noexcept {
    std::uint64_t const index = frame.index++;
    if (frame.node->kind == Kind::loop) {
        TypeMap::Node const& child =
            frame.node->child == TypeMap::k_root ? map_->root() : map_->node(frame.node->child);
        enter(child, frame.base + frame.node->offset + static_cast<std::int64_t>(index) * frame.node->stride);
        return;
    }
    TypeMap::Entry const& entry = map_->entry(frame.node->child + index);
    if (entry.node == TypeMap::k_none) {
        run_ = frame.base + entry.offset;
        run_bytes_ = entry.size;
    } else {
        enter(map_->node(entry.node), frame.base + entry.offset);
    }
}

bool PieceCursor::find_run() noexcept {
    if (!begun_) {
        begun_ = true;
        if (top_.size != 0) enter(top_, base_);
    }
    while (run_bytes_ == 0 && depth_ > 0) {
        Frame& frame = frames_[depth_ - 1];
        if (frame.index == frame.node->count)
            --depth_;
        else
            enter_next(frame);
    }
    return run_bytes_ != 0;
}

Piece PieceCursor::next(std::size_t most) noexcept {
    if (most == 0 || (run_bytes_ == 0 && !find_run())) return {};
    std::int64_t const begin = run_;
    std::size_t bytes = 0;
    do {
        std::size_t const taken = std::min<std::uint64_t>(run_bytes_, most - bytes);
        run_ += static_cast<std::int64_t>(taken);
        run_bytes_ -= taken;
        bytes += taken;
    } while (bytes < most && (run_bytes_ != 0 || find_run()) && run_ == begin + static_cast<std::int64_t>(bytes));
    return {at(begin), bytes};
}

void pack(PieceCursor& from, std::span<std::byte> to) noexcept {
    while (!to.empty()) {
        Piece const piece = from.next(to.size());
        std::memcpy(to.data(), piece.address, piece.bytes);
        to = to.subspan(piece.bytes);
    }
}

void unpack(std::span<std::byte const> from, PieceCursor& to) noexcept {
    while (!from.empty()) {
        Piece const piece = to.next(from.size());
        std::memcpy(piece.address, from.data(), piece.bytes);
        from = from.subspan(piece.bytes);
    }
}

}  // namespace sluice::types
