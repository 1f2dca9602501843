// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/exchange.hpp"

#include <algorithm>

#include "mpi/mpi.hpp"
#include "support/memory.hpp"

namespace sluice::bench {

namespace {

std::uint64_t word_of(int from, int to, std::uint64_t i) {
    return (static_cast<std::uint64_t>(from) << 52) ^ (static_cast<std::uint64_t>(to) << 40) ^ (i + 1);
}

/// Owns a datatype, if it is not predefined.
class Type {
  public:
    Type() = default;
    explicit Type(MPI_Datatype made) : type_(made) { mpi::check(MPI_Type_commit(&type_), "MPI_Type_commit"); }
    Type(Type const&) = delete;
    Type& operator=(Type const&) = delete;
    ~Type() {
        if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
    }
    MPI_Datatype get() const noexcept { return type_; }

  private:
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// The blocks of words for each rank follow each other. Of every `2 * row` words the first `row` are exchanged, or all
/// words.
class Blocks : public Exchange {
  public:
    Blocks(MPI_Comm comm, std::vector<std::uint64_t> words, std::uint64_t row)
        : comm_(comm), rank_(mpi::rank_in(comm)), words_(std::move(words)), row_(row) {
        std::uint64_t end = 0;
        for (std::uint64_t const count : words_) {
            begin_.push_back(end);
            end += row_ == 0 ? count : 2 * count;
        }
        memory_ = Pages(end * sizeof(std::uint64_t));
    }

    void fill() override {
        for_each_word([this](int peer, std::uint64_t i, std::uint64_t& word) { word = word_of(rank_, peer, i); });
    }
    std::uint64_t wrong_words() const override {
        std::uint64_t wrong = 0;
        for_each_word([&](int peer, std::uint64_t i, std::uint64_t const& word) {
            bool const stays = row_ != 0 && i / row_ % 2 == 1;
            wrong += word != (stays ? word_of(rank_, peer, i) : word_of(peer, rank_, i)) ? 1 : 0;
        });
        return wrong;
    }
    std::uint64_t bytes_moved() const override {
        std::uint64_t words = 0;
        for (std::size_t peer = 0; peer < words_.size(); ++peer)
            if (static_cast<int>(peer) != rank_) words += words_[peer];
        return words * sizeof(std::uint64_t);
    }

  protected:
    MPI_Comm comm() const noexcept { return comm_; }
    void* buffer() const noexcept { return memory_.data(); }
    std::vector<std::uint64_t> const& words() const noexcept { return words_; }
    /// Returns where the block of each rank begins, in words.
    std::vector<std::uint64_t> const& begins() const noexcept { return begin_; }

  private:
    template <typename Action>
    void for_each_word(Action const& action) const {
        auto* const word = reinterpret_cast<std::uint64_t*>(memory_.data());
        for (std::size_t peer = 0; peer < words_.size(); ++peer)
            for (std::uint64_t i = 0; i < (row_ == 0 ? 1 : 2) * words_[peer]; ++i)
                action(static_cast<int>(peer), i, word[begin_[peer] + i]);
    }

    MPI_Comm comm_;
    int rank_;
    std::vector<std::uint64_t> words_;
    std::uint64_t row_;
    std::vector<std::uint64_t> begin_;
    Pages memory_;
};

class Alltoall : public Blocks {
  public:
    using Blocks::Blocks;
    AlltoallReport by_sluice(Context& context) override {
        return alltoall_in_place(context, buffer(), static_cast<std::int64_t>(words()[0]), MPI_UINT64_T);
    }
    void by_mpi() override {
        mpi::check(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer(), static_cast<int>(words()[0]),
                                MPI_UINT64_T, comm()),
                   "MPI_Alltoall");
    }
};

/// The lists that the v and w calls take.
template <typename Count, typename Place>
struct Lists {
    std::vector<Count> counts;
    std::vector<Place> places;
};

class Alltoallv : public Blocks {
  public:
    Alltoallv(MPI_Comm comm, std::vector<std::uint64_t> words) : Blocks(comm, std::move(words), 0) {
        for (std::size_t peer = 0; peer < this->words().size(); ++peer) {
            narrow_.counts.push_back(static_cast<int>(this->words()[peer]));
            narrow_.places.push_back(static_cast<int>(begins()[peer]));
        }
        wide_.counts.assign(narrow_.counts.begin(), narrow_.counts.end());
        wide_.places.assign(narrow_.places.begin(), narrow_.places.end());
    }
    AlltoallReport by_sluice(Context& context) override {
        return alltoallv_in_place(context, buffer(), wide_.counts, wide_.places, MPI_UINT64_T);
    }
    void by_mpi() override {
        mpi::check(MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, buffer(), narrow_.counts.data(),
                                 narrow_.places.data(), MPI_UINT64_T, comm()),
                   "MPI_Alltoallv");
    }

  private:
    Lists<int, int> narrow_;
    Lists<std::int64_t, std::int64_t> wide_;
};

class Alltoallw : public Blocks {
  public:
    Alltoallw(MPI_Comm comm, std::vector<std::uint64_t> words, std::uint64_t row)
        : Blocks(comm, std::move(words), row) {
        for (std::size_t peer = 0; peer < this->words().size(); ++peer) {
            std::uint64_t const count = this->words()[peer];
            narrow_.places.push_back(static_cast<int>(begins()[peer] * sizeof(std::uint64_t)));
            if (row == 0) {
                narrow_.counts.push_back(static_cast<int>(count));
                types_.push_back(MPI_UINT64_T);
                continue;
            }
            MPI_Datatype rows = MPI_DATATYPE_NULL;
            mpi::check(MPI_Type_vector(static_cast<int>(count / row), static_cast<int>(row), static_cast<int>(2 * row),
                                       MPI_UINT64_T, &rows),
                       "MPI_Type_vector");
            owned_.push_back(std::make_unique<Type>(rows));
            narrow_.counts.push_back(1);
            types_.push_back(owned_.back()->get());
        }
        wide_.counts.assign(narrow_.counts.begin(), narrow_.counts.end());
        wide_.places.assign(narrow_.places.begin(), narrow_.places.end());
    }
    AlltoallReport by_sluice(Context& context) override {
        return alltoallw_in_place(context, buffer(), wide_.counts, wide_.places, types_);
    }
    void by_mpi() override {
        mpi::check(MPI_Alltoallw(MPI_IN_PLACE, nullptr, nullptr, nullptr, buffer(), narrow_.counts.data(),
                                 narrow_.places.data(), types_.data(), comm()),
                   "MPI_Alltoallw");
    }

  private:
    Lists<int, int> narrow_;
    Lists<std::int64_t, std::int64_t> wide_;
    std::vector<MPI_Datatype> types_;
    std::vector<std::unique_ptr<Type>> owned_;
};

constexpr std::uint64_t k_row_words = 64;

}  // namespace

std::vector<std::string> exchange_names() {
    return {"alltoall", "alltoallv", "alltoallw", "alltoallw_rows"};
}

std::unique_ptr<Exchange> make_exchange(std::string const& name, MPI_Comm comm, std::uint64_t bytes_a_pair) {
    int const rank = mpi::rank_in(comm);
    auto const size = static_cast<std::size_t>(mpi::size_of(comm));
    std::uint64_t const words = std::max<std::uint64_t>(1, bytes_a_pair / sizeof(std::uint64_t));
    std::vector<std::uint64_t> same(size, words);
    std::vector<std::uint64_t> varied(size);
    for (std::size_t peer = 0; peer < size; ++peer)
        varied[peer] = words + words * ((static_cast<std::size_t>(rank) + peer + 1) % 3) / 4 - words / 4;
    // With two ranks the only pair has the bytes that the user requested.
    if (size == 2) varied = same;
    if (name == "alltoall") return std::make_unique<Alltoall>(comm, same, 0);
    if (name == "alltoallv") return std::make_unique<Alltoallv>(comm, varied);
    if (name == "alltoallw") return std::make_unique<Alltoallw>(comm, varied, 0);
    std::uint64_t const whole_rows = (words + k_row_words - 1) / k_row_words * k_row_words;
    return std::make_unique<Alltoallw>(comm, std::vector<std::uint64_t>(size, whole_rows), k_row_words);
}

}  // namespace sluice::bench
