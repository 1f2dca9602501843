// SPDX-License-Identifier: BSD-3-Clause
/// The functions of sluice/c/paged.h.
#include "sluice/c/paged.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/c_boundary.hpp"
#include "c/c_context.hpp"
#include "c/c_handles.hpp"
#include "c/c_report.hpp"
#include "c/c_store.hpp"
#include "sluice/paged.hpp"

using sluice::BlockAccess;
using sluice::BlockUse;
using sluice::PagedBlocks;
using sluice::PagedFile;
using sluice::base::c_boundary;
using sluice::c::existing;
using sluice::c::free_handle;
using sluice::c::invalid;
using sluice::c::looked_up;
using sluice::c::NewHandle;

struct sluice_paged_file {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::paged_file;
    sluice_paged_file(sluice::Context& context, std::span<sluice::Bytes const> block_sizes)
        : file(context, block_sizes) {}
    sluice_paged_file(sluice::Context& context, std::uint64_t blocks, sluice::Bytes each)
        : file(context, blocks, each) {}
    PagedFile file;
};
struct sluice_paged_blocks {
    static constexpr sluice::c::HandleKind k_kind = sluice::c::HandleKind::paged_blocks;
    PagedBlocks blocks;
};

static_assert(SLUICE_BLOCK_ACCESS_READ == static_cast<int>(BlockAccess::read));
static_assert(SLUICE_BLOCK_ACCESS_UPDATE == static_cast<int>(BlockAccess::update));
static_assert(SLUICE_BLOCK_ACCESS_WRITE == static_cast<int>(BlockAccess::write));

namespace {

PagedFile& file_of(sluice_paged_file* file) {
    return existing(file, "file").file;
}

std::vector<BlockUse> uses_from(sluice_block_use const* uses, std::size_t count) {
    if (uses == nullptr && count > 0) throw invalid("the list of uses is NULL, count is " + std::to_string(count));
    std::vector<BlockUse> list;
    list.reserve(count);
    for (sluice_block_use const& use : std::span(uses, count)) {
        if (use.access < SLUICE_BLOCK_ACCESS_READ || use.access > SLUICE_BLOCK_ACCESS_WRITE)
            throw invalid(std::to_string(use.access) + " is no access to block " + std::to_string(use.block));
        list.push_back({use.block, static_cast<BlockAccess>(use.access)});
    }
    return list;
}

/// Allocates the argument of the callback now, so that the call itself cannot fail for lack of memory.
std::function<void(PagedBlocks, std::exception_ptr)> calling(sluice_blocks_function done, void* user) {
    if (done == nullptr) throw invalid("the done function is NULL");
    auto const handle = std::make_shared<NewHandle<sluice_paged_blocks>>();
    return [done, user, handle](PagedBlocks blocks, std::exception_ptr const& error) {
        int const code = c_boundary([&] {
            if (error) std::rethrow_exception(error);
        });
        if (code == SLUICE_SUCCESS) (*handle)->blocks = std::move(blocks);
        done(user, code, code == SLUICE_SUCCESS ? handle->release() : nullptr);
    };
}

}  // namespace

int sluice_paged_file_create(sluice_context* context, uint64_t const* bytes_of_blocks, size_t blocks,
                             sluice_paged_file** file) {
    return c_boundary([&] {
        sluice_paged_file*& place = existing(file, "file");
        place = nullptr;
        sluice::Context& over = existing(context, "context").context;
        if (bytes_of_blocks == nullptr && blocks > 0)
            throw invalid("bytes_of_blocks is NULL, blocks is " + std::to_string(blocks));
        std::vector<sluice::Bytes> sizes;
        sizes.reserve(blocks);
        for (std::uint64_t const bytes : std::span(bytes_of_blocks, blocks))
            sizes.push_back({bytes});
        place = NewHandle<sluice_paged_file>(over, std::span<sluice::Bytes const>(sizes)).release();
    });
}

int sluice_paged_file_create_equal(sluice_context* context, uint64_t blocks, uint64_t bytes_of_each,
                                   sluice_paged_file** file) {
    return c_boundary([&] {
        sluice_paged_file*& place = existing(file, "file");
        place = nullptr;
        place = NewHandle<sluice_paged_file>(existing(context, "context").context, blocks, sluice::Bytes{bytes_of_each})
                    .release();
    });
}

int sluice_paged_file_plan(sluice_paged_file* file, sluice_block_use const* order, size_t count, int repeat) {
    return c_boundary(
        [&] { file_of(file).plan(uses_from(order, count), repeat != 0 ? sluice::Repeat::yes : sluice::Repeat::no); });
}

int sluice_paged_file_use(sluice_paged_file* file, sluice_block_use const* uses, size_t count,
                          sluice_blocks_function done, void* user) {
    return c_boundary([&] { file_of(file).use(uses_from(uses, count), calling(done, user)); });
}

int sluice_paged_file_use_now(sluice_paged_file* file, sluice_block_use const* uses, size_t count,
                              sluice_paged_blocks** blocks) {
    return c_boundary([&] {
        sluice_paged_blocks*& place = existing(blocks, "blocks");
        place = nullptr;
        NewHandle<sluice_paged_blocks> handle;
        handle->blocks = file_of(file).use_now(uses_from(uses, count));
        place = handle.release();
    });
}

size_t sluice_paged_blocks_count(sluice_paged_blocks const* blocks) {
    sluice_paged_blocks const* const of = looked_up(blocks, "blocks");
    return of == nullptr ? 0 : of->blocks.size();
}

void* sluice_paged_blocks_data(sluice_paged_blocks const* blocks, size_t which) {
    sluice_paged_blocks const* const of = looked_up(blocks, "blocks");
    return of != nullptr && which < of->blocks.size() ? of->blocks[which].data() : nullptr;
}

uint64_t sluice_paged_blocks_bytes(sluice_paged_blocks const* blocks, size_t which) {
    sluice_paged_blocks const* const of = looked_up(blocks, "blocks");
    return of != nullptr && which < of->blocks.size() ? of->blocks[which].size() : 0;
}

int sluice_paged_blocks_free(sluice_paged_blocks** blocks) {
    return free_handle(blocks, "blocks");
}

int sluice_paged_file_progress(sluice_paged_file* file, int* moved) {
    return c_boundary([&] {
        bool const some = file_of(file).progress();
        if (moved != nullptr) *moved = some ? 1 : 0;
    });
}

int sluice_paged_file_report(sluice_paged_file const* file, sluice_report* report) {
    return c_boundary([&] { existing(report, "report") = sluice::c::report_of(existing(file, "file").file.report()); });
}

int sluice_paged_file_free(sluice_paged_file** file) {
    return free_handle(file, "file");
}

int sluice_publish_part(sluice_store* store, sluice_key key, sluice_paged_file const* file, uint64_t block,
                        uint64_t offset, uint64_t bytes, int readers) {
    return c_boundary([&] {
        publish_part(sluice::c::store_of(store), sluice::c::key_of(key), existing(file, "file").file, block, {offset},
                     {bytes}, readers);
    });
}
