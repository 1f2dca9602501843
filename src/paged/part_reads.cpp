// SPDX-License-Identifier: BSD-3-Clause
#include "paged/part_reads.hpp"

#include <exception>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "sluice/error.hpp"

namespace sluice::paged {

void PartReads::add(std::uint64_t at, std::uint64_t bytes, Store::DataSink brought) {
    waiting_.push_back({at, bytes, std::move(brought)});
    start();
}

memory::BlockRoom PartReads::room_for(std::uint64_t bytes) {
    if (under_way_ > 0) return memory_.take(bytes);
    return memory_.take_beyond(bytes);
}

void PartReads::start() {
    constexpr std::uint64_t k_sector = kernel::DiskFile::k_sector;
    while (!waiting_.empty() && under_way_ < k_at_once) {
        Part& next = waiting_.front();
        std::uint64_t const first = next.at / k_sector * k_sector;
        std::uint64_t const end = (next.at + next.bytes + k_sector - 1) / k_sector * k_sector;
        auto const room = std::make_shared<memory::BlockRoom>();
        try {
            *room = room_for(end - first);
        } catch (Error const&) {
            Part const part = std::move(next);
            waiting_.pop_front();
            part.brought({}, std::current_exception());
            continue;
        }
        if (!*room) return;
        auto const part = std::make_shared<Part>(std::move(next));
        waiting_.pop_front();
        ++under_way_;
        disk_->read(first, room->bytes(), [this, part, room, offset = part->at - first](int error) {
            --under_way_;
            ++read_;
            arrived(*part, room->bytes().subspan(offset, part->bytes), error);
            memory_.give_back(std::move(*room));
            start();
            if (under_way_ == 0) memory_.free_spare();
        });
    }
}

void PartReads::arrived(Part const& part, std::span<std::byte const> bytes, int error) {
    if (error == 0) {
        part.brought(bytes, nullptr);
        return;
    }
    part.brought({}, std::make_exception_ptr(
                         Error(ErrorCode::unsupported, "its disk failed to read " + std::to_string(part.bytes) +
                                                           " bytes: " + std::generic_category().message(error))));
}

}  // namespace sluice::paged
