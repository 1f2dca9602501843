// SPDX-License-Identifier: BSD-3-Clause
// The code that people write today: count, pack by destination rank, exchange indices and blocks with MPI_Alltoallv,
// unpack. Three kinds: warm keeps its buffers from call to call; lean also packs what stays on the rank straight into
// the receive buffer, and leaves blocks alone that are in their places; cold allocates in the call and frees
// afterwards, as a code does that cannot hold the memory all the time.
#include <cstring>
#include <limits>
#include <vector>

#include "methods/method.hpp"
#include "mpi/mpi.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

enum class Buffers { warm, lean, cold };

/// Calls memcpy with a size that the compiler knows, for small blocks, for which the call itself would cost time.
template <std::size_t Fixed>
void copy_block(std::byte* to, std::byte const* from, std::size_t bytes) {
    std::memcpy(to, from, Fixed != 0 ? Fixed : bytes);
}

class BlockType {
  public:
    explicit BlockType(std::uint64_t bytes) {
        if (bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
            throw Error(ErrorCode::unsupported, "the hand-written exchange takes blocks below 2 GiB");
        mpi::check(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_), "MPI_Type_contiguous");
        mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit");
    }
    BlockType(BlockType const&) = delete;
    BlockType& operator=(BlockType const&) = delete;
    ~BlockType() { MPI_Type_free(&type_); }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class AlltoallvMethod final : public Method {
  public:
    AlltoallvMethod(Buffers kind, Workload const& workload)
        : kind_(kind),
          workload_(workload),
          type_(workload.blocks.block_bytes.count),
          send_counts_(ranks()),
          send_starts_(ranks()),
          receive_counts_(ranks()),
          receive_starts_(ranks()),
          cursors_(ranks()) {}

    void run() override {
        exchange_counts();
        allocate();
        switch (workload_.blocks.block_bytes.count) {
            case 64:
                pack<64>();
                break;
            case 1024:
                pack<1024>();
                break;
            default:
                pack<0>();
                break;
        }
        exchange();
        switch (workload_.blocks.block_bytes.count) {
            case 64:
                unpack<64>();
                break;
            case 1024:
                unpack<1024>();
                break;
            default:
                unpack<0>();
                break;
        }
        if (kind_ == Buffers::cold) release();
    }

    std::optional<std::uint64_t> counted_bytes() const override { return counted_; }

  private:
    std::size_t ranks() const { return static_cast<std::size_t>(workload_.ranks); }
    std::size_t self() const { return static_cast<std::size_t>(workload_.rank); }
    std::byte* array() const { return static_cast<std::byte*>(workload_.blocks.data); }

    bool is_in_place(Destination const& destination, std::int64_t slot) const {
        return destination.rank == workload_.rank && destination.index == slot;
    }

    void exchange_counts() {
        send_counts_.assign(ranks(), 0);
        std::int64_t slot = 0;
        std::int64_t in_place = 0;
        for (Destination const& destination : workload_.destinations) {
            if (destination.rank >= 0) ++send_counts_[static_cast<std::size_t>(destination.rank)];
            in_place += is_in_place(destination, slot++) ? 1 : 0;
        }
        if (kind_ == Buffers::lean) send_counts_[self()] -= static_cast<int>(in_place);
        mpi::check(MPI_Alltoall(send_counts_.data(), 1, MPI_INT, receive_counts_.data(), 1, MPI_INT, workload_.comm),
                   "MPI_Alltoall");
        int send = 0;
        int receive = 0;
        for (std::size_t rank = 0; rank < ranks(); ++rank) {
            send_starts_[rank] = send;
            receive_starts_[rank] = receive;
            send += send_counts_[rank];
            receive += receive_counts_[rank];
        }
        sending_ = static_cast<std::size_t>(send);
        receiving_ = static_cast<std::size_t>(receive);
    }

    void allocate() {
        std::size_t const bytes = workload_.blocks.block_bytes.count;
        ensure(send_blocks_, sending_ * bytes);
        ensure(receive_blocks_, receiving_ * bytes);
        ensure(send_indices_, sending_ * sizeof(std::uint32_t));
        ensure(receive_indices_, receiving_ * sizeof(std::uint32_t));
        counted_ = send_blocks_.size() + receive_blocks_.size() + send_indices_.size() + receive_indices_.size();
    }
    static void ensure(Pages& pages, std::size_t bytes) {
        if (pages.size() < bytes) pages = Pages(bytes);
    }
    void release() {
        for (Pages* pages : {&send_blocks_, &receive_blocks_, &send_indices_, &receive_indices_})
            *pages = Pages();
    }

    template <std::size_t Fixed>
    void pack() {
        std::size_t const bytes = workload_.blocks.block_bytes.count;
        cursors_.assign(send_starts_.begin(), send_starts_.end());
        std::byte const* block = array();
        auto* const indices = reinterpret_cast<std::uint32_t*>(send_indices_.data());
        auto* const own_indices = reinterpret_cast<std::uint32_t*>(receive_indices_.data()) + receive_starts_[self()];
        std::byte* const own = receive_blocks_.data() + static_cast<std::size_t>(receive_starts_[self()]) * bytes;
        std::size_t own_cursor = 0;
        std::int64_t slot = -1;
        for (Destination const& destination : workload_.destinations) {
            ++slot;
            if (kind_ == Buffers::lean && destination.rank == workload_.rank) {
                if (destination.index != slot) {
                    copy_block<Fixed>(own + own_cursor * bytes, block, bytes);
                    own_indices[own_cursor++] = static_cast<std::uint32_t>(destination.index);
                }
            } else if (destination.rank >= 0) {
                auto const at = static_cast<std::size_t>(cursors_[static_cast<std::size_t>(destination.rank)]++);
                copy_block<Fixed>(send_blocks_.data() + at * bytes, block, bytes);
                indices[at] = static_cast<std::uint32_t>(destination.index);
            }
            block += bytes;
        }
        if (kind_ == Buffers::lean) send_counts_[self()] = receive_counts_[self()] = 0;
    }

    void exchange() {
        mpi::check(MPI_Alltoallv(send_indices_.data(), send_counts_.data(), send_starts_.data(), MPI_UINT32_T,
                                 receive_indices_.data(), receive_counts_.data(), receive_starts_.data(), MPI_UINT32_T,
                                 workload_.comm),
                   "MPI_Alltoallv");
        mpi::check(MPI_Alltoallv(send_blocks_.data(), send_counts_.data(), send_starts_.data(), type_.get(),
                                 receive_blocks_.data(), receive_counts_.data(), receive_starts_.data(), type_.get(),
                                 workload_.comm),
                   "MPI_Alltoallv");
    }

    template <std::size_t Fixed>
    void unpack() {
        std::size_t const bytes = workload_.blocks.block_bytes.count;
        auto const* const indices = reinterpret_cast<std::uint32_t const*>(receive_indices_.data());
        std::byte const* block = receive_blocks_.data();
        for (std::size_t i = 0; i < receiving_; ++i, block += bytes)
            copy_block<Fixed>(array() + indices[i] * bytes, block, bytes);
    }

    Buffers kind_;
    Workload const& workload_;
    BlockType type_;
    std::vector<int> send_counts_, send_starts_, receive_counts_, receive_starts_, cursors_;
    std::size_t sending_ = 0;
    std::size_t receiving_ = 0;
    std::uint64_t counted_ = 0;
    Pages send_blocks_, receive_blocks_, send_indices_, receive_indices_;
};

}  // namespace

std::unique_ptr<Method> make_alltoallv_warm(MethodEntry const&, Workload const& workload) {
    return std::make_unique<AlltoallvMethod>(Buffers::warm, workload);
}
std::unique_ptr<Method> make_alltoallv_lean(MethodEntry const&, Workload const& workload) {
    return std::make_unique<AlltoallvMethod>(Buffers::lean, workload);
}
std::unique_ptr<Method> make_alltoallv_cold(MethodEntry const&, Workload const& workload) {
    return std::make_unique<AlltoallvMethod>(Buffers::cold, workload);
}

}  // namespace sluice::bench
