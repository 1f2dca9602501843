// SPDX-License-Identifier: BSD-3-Clause
/// Blocks of a paged file compared with a model in memory, with budgets down to one block and any order of use.
#include "sluice/paged.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "paged/file_state.hpp"
#include "support/effort.hpp"
#include "support/limits/full_budget.hpp"
#include "support/needs_ranks.hpp"

namespace sluice::tests {
namespace {

constexpr std::uint64_t k_word = sizeof(std::uint64_t);

Settings settings_with(Bytes paged_memory) {
    Settings settings = Settings::from_environment();
    settings.paged_memory = paged_memory;
    return settings;
}

/// The expected content of each block: all its words are one number.
class Model {
  public:
    explicit Model(std::size_t blocks) : numbers_(blocks, 0) {}
    bool is_right(std::size_t block, std::span<std::uint64_t const> words) const {
        return std::ranges::all_of(words, [&](std::uint64_t word) { return word == numbers_[block]; });
    }
    std::uint64_t& operator[](std::size_t block) { return numbers_[block]; }

  private:
    std::vector<std::uint64_t> numbers_;
};

/// Uses the given sets in turns, and checks and changes their blocks.
Task work(sluice::PagedFile& file, Model& model, std::vector<std::vector<BlockUse>> sets, std::uint64_t number,
          int& wrong) {
    for (std::vector<BlockUse> const& uses : sets) {
        PagedBlocks const blocks = co_await file.use(uses);
        for (std::size_t i = 0; i < uses.size(); ++i) {
            std::span<std::uint64_t> const words = blocks.as<std::uint64_t>(i);
            if (uses[i].access != BlockAccess::write && !model.is_right(uses[i].block, words)) ++wrong;
            if (uses[i].access == BlockAccess::read) continue;
            model[uses[i].block] = ++number;
            std::ranges::fill(words, number);
        }
    }
}

std::vector<BlockUse> drawn_set(std::mt19937_64& random, std::size_t blocks) {
    std::vector<BlockUse> uses;
    std::size_t const first = random() % blocks;
    for (std::size_t i = 0; i < 1 + random() % 3; ++i)
        uses.push_back({(first + i) % blocks, static_cast<BlockAccess>(random() % 3)});
    return uses;
}

struct Case {
    Bytes memory;
    bool planned;
    bool kept;  // whether the program keeps to the plan
};

class PagedFile : public testing::Test {
  protected:
    int rank() const {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        return rank;
    }
};

TEST_F(PagedFile, is_right_under_random_use_with_any_memory_and_plan) {
    constexpr std::size_t k_blocks = 24;
    std::mt19937_64 random(static_cast<std::uint64_t>(rank()) + 1);
    std::vector<Bytes> sizes;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < k_blocks; ++i) {
        sizes.push_back({(1 + random() % 6000) * k_word});
        sum += sizes.back().count;
    }
    for (Case const& one : {Case{Bytes{1}, false, false}, Case{Bytes{1}, true, true}, Case{Bytes{100'000}, true, true},
                            Case{Bytes{100'000}, true, false}, Case{Bytes{400'000}, true, true},
                            Case{Bytes{400'000}, true, false}, Case{Bytes{2 * sum}, true, true}}) {
        Context context(MPI_COMM_WORLD, settings_with(one.memory));
        Bytes const before = context.budget().held();
        {
            sluice::PagedFile file(context, sizes);
            Model model(k_blocks);
            Tasks tasks(context);
            int wrong = 0;
            std::vector<BlockUse> plan;
            for (std::uint64_t task = 0; task < 6; ++task) {
                std::vector<std::vector<BlockUse>> sets;
                for (int i = 0; i < effort(100); ++i) {
                    sets.push_back(drawn_set(random, k_blocks));
                    if (one.planned && one.kept) plan.insert(plan.end(), sets.back().begin(), sets.back().end());
                    if (one.planned && !one.kept) plan.push_back({random() % k_blocks, BlockAccess::read});
                }
                tasks.spawn(work(file, model, std::move(sets), task << 32, wrong));
            }
            if (one.planned) file.plan(plan, Repeat::yes);
            tasks.run();
            EXPECT_EQ(wrong, 0);
            for (std::size_t block = 0; block < k_blocks; ++block) {
                BlockUse const use{block, BlockAccess::read};
                PagedBlocks const blocks = file.use_now({&use, 1});
                EXPECT_EQ(blocks[0].size(), sizes[block].count);
                EXPECT_TRUE(model.is_right(block, blocks.as<std::uint64_t>(0))) << block;
            }
            PagedReport const report = file.report();
            EXPECT_EQ(context.budget().held(Purpose::paged), report.held);
            // One set of three blocks may have exceeded the limit.
            EXPECT_LE(report.peak.count, std::max<std::uint64_t>(one.memory.count, std::uint64_t{3} * 13 * 4096));
        }
        EXPECT_EQ(context.budget().held(), before);
    }
}

Task read_in_order(sluice::PagedFile& file, std::vector<std::size_t> order, std::uint64_t& sum) {
    for (std::size_t const block : order) {
        PagedBlocks const blocks = co_await file.use(BlockUse{block, BlockAccess::read});
        sum += blocks.as<std::uint64_t>(0)[0];
        for (int turn = 0; turn < 40; ++turn)
            co_await yielded();
    }
}

void fill(sluice::PagedFile& file, std::size_t blocks) {
    for (std::size_t block = 0; block < blocks; ++block) {
        BlockUse const use{block, BlockAccess::write};
        PagedBlocks const held = file.use_now({&use, 1});
        std::ranges::fill(held.as<std::uint64_t>(0), block);
    }
}

TEST_F(PagedFile, brings_ahead_what_the_plan_says_and_reads_nothing_twice_in_a_round) {
    constexpr std::size_t k_blocks = 64;
    constexpr std::uint64_t k_bytes = 16 << 10;
    Context context(MPI_COMM_WORLD, settings_with(Bytes{16 * k_bytes}));
    sluice::PagedFile file(context, k_blocks, {k_bytes});
    fill(file, k_blocks);
    std::vector<std::size_t> order;
    std::vector<BlockUse> plan;
    for (std::size_t i = 0; i < k_blocks; ++i) {
        order.push_back((i * 37) % k_blocks);
        plan.push_back({order.back(), BlockAccess::read});
    }
    file.plan(plan, Repeat::yes);
    while (file.report().brought < 4)
        file.progress();  // no task has requested any of them
    PagedReport const before = file.report();
    Tasks tasks(context);
    std::uint64_t sum = 0;
    tasks.spawn(read_in_order(file, order, sum));
    tasks.run();
    while (file.report().written < k_blocks)
        file.progress();
    PagedReport const after = file.report();
    EXPECT_EQ(sum, k_blocks * (k_blocks - 1) / 2);
    EXPECT_EQ(after.unplanned, before.unplanned);
    EXPECT_EQ(after.found - before.found, k_blocks);  // each was in memory, or on its way
    EXPECT_LE(after.brought, k_blocks + 16);          // and some of the next round
    EXPECT_EQ(after.written, k_blocks);               // only fill wrote
    EXPECT_LE(after.peak, Bytes{16 * k_bytes});
}

TEST_F(PagedFile, keeps_what_is_needed_soonest) {
    constexpr std::size_t k_blocks = 40;
    constexpr std::uint64_t k_bytes = 4096;
    constexpr std::size_t k_rounds = 10;
    Context context(MPI_COMM_WORLD, settings_with(Bytes{(k_blocks - 10) * k_bytes}));
    sluice::PagedFile file(context, k_blocks, {k_bytes});
    fill(file, k_blocks);
    std::vector<std::size_t> order;
    std::vector<BlockUse> plan;
    for (std::size_t i = 0; i < k_blocks; ++i) {
        order.push_back(i);
        plan.push_back({i, BlockAccess::read});
    }
    file.plan(plan, Repeat::yes);
    std::uint64_t const before = file.report().brought;
    for (std::size_t round = 0; round < k_rounds; ++round) {
        Tasks tasks(context);
        std::uint64_t sum = 0;
        tasks.spawn(read_in_order(file, order, sum));
        tasks.run();
        EXPECT_EQ(sum, k_blocks * (k_blocks - 1) / 2);
    }
    // A policy that keeps the blocks used last would have brought all of them in every round.
    EXPECT_LT(file.report().brought - before, k_rounds * k_blocks * 3 / 4);
}

Task hold_and_wait(sluice::PagedFile& file, std::size_t first, std::size_t second, int& done) {
    PagedBlocks const held = co_await file.use(BlockUse{first});
    PagedBlocks const more = co_await file.use(BlockUse{second});
    ++done;
}

TEST_F(PagedFile, goes_beyond_its_memory_where_tasks_hold_blocks_while_they_wait) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{2 * 4096}));
    sluice::PagedFile file(context, 16, 4096_B);
    Tasks tasks(context);
    int done = 0;
    for (std::size_t i = 0; i < 8; ++i)
        tasks.spawn(hold_and_wait(file, i, 15 - i, done));
    tasks.run();
    EXPECT_EQ(done, 8);
    EXPECT_GT(file.report().beyond, 0U);
    while (file.report().held > Bytes{2 * 4096})
        file.progress();  // returns without waiting
}

TEST_F(PagedFile, grants_one_set_where_the_budget_is_used_up) {
    Context context(MPI_COMM_WORLD);
    Lease const all = lease_all(context);
    sluice::PagedFile file(context, 8, 8192_B);
    fill(file, 8);
    std::uint64_t sum = 0;
    Tasks tasks(context);
    tasks.spawn(read_in_order(file, {0, 1, 2, 3, 4, 5, 6, 7}, sum));
    tasks.run();
    EXPECT_EQ(sum, 28U);
    EXPECT_LE(file.report().peak, Bytes{8192});
}

TEST_F(PagedFile, calls_back_in_the_order_of_asking_but_for_what_is_here) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{4096}));
    sluice::PagedFile file(context, 4, 4096_B);
    fill(file, 4);
    std::vector<std::uint64_t> got;
    for (std::size_t block = 0; block < 4; ++block) {
        BlockUse const use{block, BlockAccess::read};
        file.use({&use, 1}, [&](PagedBlocks blocks, std::exception_ptr const& error) {
            EXPECT_FALSE(error);
            got.push_back(blocks.as<std::uint64_t>(0)[0]);
        });
    }
    EXPECT_TRUE(got.empty());
    while (got.size() < 4)
        file.progress();
    EXPECT_EQ(got, (std::vector<std::uint64_t>{3, 0, 1, 2}));
}

/// Returns the error that a use throws, or "".
std::string fault_of(std::function<void()> const& use) {
    try {
        use();
    } catch (Error const& error) {
        return error.what();
    }
    return "";
}

TEST_F(PagedFile, refuses_what_does_not_exist_with_the_numbers) {
    Context context(MPI_COMM_WORLD);
    sluice::PagedFile file(context, 4, 1000_B);
    BlockUse const use{4, BlockAccess::read};
    std::string const of = "of a paged file of rank " + std::to_string(rank());
    EXPECT_EQ(fault_of([&] { file.use_now({&use, 1}); }), "block 4 " + of + ", which has 4 blocks");
    EXPECT_EQ(fault_of([&] { file.plan({use}); }), "block 4 " + of + ", which has 4 blocks");
    EXPECT_EQ(fault_of([&] { static_cast<void>(file.part(2, 990_B, 11_B)); }),
              "11 bytes from 990 on of block 2 " + of + " (1000 bytes)");
    EXPECT_NE(fault_of([&] { sluice::PagedFile const empty(context, 1, 0_B); }), "");
}

TEST_F(PagedFile, refuses_a_set_that_exceeds_all_memory) {
    Settings settings = settings_with(Bytes{4096});
    Context context(MPI_COMM_WORLD, settings);
    // This is the error of a file far larger than memory if the disk has that much room; otherwise it is another kind
    // of the same error.
    std::string const fault = fault_of([&] {
        sluice::PagedFile file(context, 2, {std::uint64_t{1} << 50});
        BlockUse const both[]{{0, BlockAccess::write}, {1, BlockAccess::write}};
        file.use_now(both);
    });
    EXPECT_NE(fault.find(" PiB"), std::string::npos) << fault;
}

TEST_F(PagedFile, tells_of_a_disk_that_fails_and_loses_nothing) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{4096}));
    sluice::PagedFile file(context, 3, 4096_B);
    fill(file, 3);
    while (file.report().written < 3)
        file.progress();
    auto const read = [&](std::size_t block) {
        BlockUse const use{block, BlockAccess::read};
        PagedBlocks const blocks = file.use_now({&use, 1});
        EXPECT_EQ(blocks.as<std::uint64_t>(0)[0], block);
    };
    paged::FileState::of(file).disk().fail_after(0, 1, EIO);
    std::string const bad_read = fault_of([&] { read(0); });
    EXPECT_NE(bad_read.find("failed to read block 0"), std::string::npos) << bad_read;
    read(0);
    {
        BlockUse const use{1, BlockAccess::write};
        PagedBlocks const blocks = file.use_now({&use, 1});
        std::ranges::fill(blocks.as<std::uint64_t>(0), 1U);
        paged::FileState::of(file).disk().fail_after(0, 1, EIO);
    }
    for (int turn = 0; turn < 100; ++turn)
        file.progress();
    std::string const bad_write = fault_of([&] { read(2); });
    EXPECT_NE(bad_write.find("failed to write back block 1"), std::string::npos) << bad_write;
    for (std::size_t block = 0; block < 3; ++block)
        read(block);
}

TEST_F(PagedFile, lets_publications_outlive_it) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{4096}));
    Store store(context);
    Key const key{context.rank(), 1, 0};
    {
        sluice::PagedFile file(context, 2, 4096_B);
        publish_part(store, key, file, 0, 0_B, 64_B);
    }
    bool done = false;
    store.fetch_all(std::vector<FetchRequest>{{key, 64_B}},
                    [&](FetchResult const& fetched, std::exception_ptr const& error) {
                        EXPECT_EQ(error, nullptr);
                        EXPECT_EQ(fetched.size() == 1 ? fetched[0].size() : 0, 64U);
                        done = true;
                    });
    store.wait_until([&] { return done; });
    store.finish();
}

TEST_F(PagedFile, may_be_freed_in_its_last_callback) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{4096}));
    auto file = std::make_unique<sluice::PagedFile>(context, 2, 4096_B);
    bool done = false;
    BlockUse const use{1, BlockAccess::write};
    file->use({&use, 1}, [&](PagedBlocks blocks, std::exception_ptr const& error) {
        EXPECT_EQ(error, nullptr);
        blocks.release();
        file.reset();
        done = true;
    });
    while (!done)
        file->progress();
    EXPECT_EQ(context.budget().held(Purpose::paged), 0_B);
}

TEST_F(PagedFile, refuses_to_wait_in_its_own_callback) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{8192}));
    sluice::PagedFile file(context, 2, 4096_B);
    bool done = false;
    std::string refused;
    BlockUse const first{0, BlockAccess::write};
    file.use({&first, 1}, [&](PagedBlocks const&, std::exception_ptr const&) {
        try {
            BlockUse const second{1, BlockAccess::read};
            static_cast<void>(file.use_now({&second, 1}));
        } catch (Error const& error) {
            refused = error.what();
        }
        done = true;
    });
    while (!done)
        file.progress();
    EXPECT_NE(refused.find("calls use_now inside a callback of the same paged file"), std::string::npos) << refused;
}

TEST_F(PagedFile, refuses_sizes_that_no_file_can_hold) {
    Context context(MPI_COMM_WORLD);
    std::vector<Bytes> const sizes{8_B, Bytes{~std::uint64_t{0}}};
    std::vector<Bytes> const sums(3, Bytes{std::uint64_t{1} << 62U});
    for (std::vector<Bytes> const& too_much : {sizes, sums})
        try {
            sluice::PagedFile const file(context, too_much);
            ADD_FAILURE() << "it was made";
        } catch (Error const& error) {
            EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
        }
}

TEST_F(PagedFile, lets_blocks_outlive_it) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{4096}));
    Bytes const resident = context.budget().resident();
    PagedBlocks blocks;
    {
        sluice::PagedFile file(context, 2, 4096_B);
        BlockUse const use{1, BlockAccess::write};
        blocks = file.use_now({&use, 1});
    }
    std::ranges::fill(blocks[0], std::byte{7});
    EXPECT_EQ(blocks[0].size(), 4096U);
    EXPECT_GE(context.budget().resident().count, 4096U);
    blocks.release();
    EXPECT_EQ(context.budget().held(Purpose::paged), 0_B);
    EXPECT_EQ(context.budget().resident(), resident);
}

Task fetch_parts(Store& store, int owner, std::size_t blocks, std::uint64_t bytes, int& right) {
    for (std::size_t block = 0; block < blocks; ++block) {
        std::vector<FetchRequest> wants;
        for (std::uint64_t part = 0; part < 3; ++part)
            wants.push_back({{owner, block * 3 + part, 0}, bytes});
        FetchResult const fetched = co_await store.fetch_all(wants);
        for (std::size_t part = 0; part < 3; ++part) {
            auto const words = fetched.as<std::uint64_t>(part);
            right += std::ranges::all_of(words, [&](std::uint64_t word) { return word == block * 3 + part; }) ? 1 : 0;
        }
    }
}

TEST_F(PagedFile, serves_parts_of_blocks_that_are_not_in_memory) {
    constexpr std::size_t k_blocks = 20;
    constexpr std::uint64_t k_part = 1000 * k_word;
    Context context(MPI_COMM_WORLD, settings_with(Bytes{1}));
    sluice::PagedFile file(context, k_blocks, {3 * k_part});
    for (std::size_t block = 0; block < k_blocks; ++block) {
        BlockUse const use{block, BlockAccess::write};
        PagedBlocks const held = file.use_now({&use, 1});
        for (std::uint64_t part = 0; part < 3; ++part)
            std::ranges::fill(held.as<std::uint64_t>(0).subspan(part * 1000, 1000), block * 3 + part);
    }
    Store store(context);
    for (std::size_t block = 0; block < k_blocks; ++block)
        for (std::uint64_t part = 0; part < 3; ++part)
            publish_part(store, {context.rank(), block * 3 + part, 0}, file, block, {part * k_part}, {k_part},
                         context.size());
    Tasks tasks(context);
    int right = 0;
    for (int owner = 0; owner < context.size(); ++owner)
        tasks.spawn(fetch_parts(store, owner, k_blocks, k_part, right));
    tasks.run();
    EXPECT_EQ(right, context.size() * static_cast<int>(3 * k_blocks));
    store.finish();
    PagedReport const report = file.report();
    EXPECT_EQ(report.parts, 3 * k_blocks * static_cast<std::size_t>(context.size()));
    EXPECT_LT(report.parts_found, report.parts / 4);
    EXPECT_EQ(report.brought, 0U);  // no block was needed for this
    EXPECT_EQ(store.report().held, 0_B);
}

SLUICE_NEEDS_RANKS(2, PagedFile, tells_the_reader_of_a_disk_that_fails);
TEST_F(PagedFile, tells_the_reader_of_a_disk_that_fails) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{1}));
    sluice::PagedFile file(context, 2, 4096_B);
    fill(file, 2);
    while (file.report().written < 2)
        file.progress();
    Store store(context);
    publish_part(store, {context.rank(), 0, 0}, file, 0, 0_B, 4096_B);
    paged::FileState::of(file).disk().fail_after(0, 1, EIO);
    std::string fault;
    Tasks tasks(context);
    tasks.spawn([](Store& from, int owner, std::string& text) -> Task {
        try {
            FetchResult const fetched = co_await from.fetch_all(FetchRequest{{owner, 0, 0}, 4096});
        } catch (Error const& error) {
            text = error.what();
        }
    }(store, (context.rank() + 1) % context.size(), fault));
    tasks.run();
    EXPECT_NE(fault.find("its disk failed to read 4096 bytes: "), std::string::npos) << fault;
    store.finish();
}

TEST_F(PagedFile, gives_all_back_where_tasks_end_early) {
    Context context(MPI_COMM_WORLD, settings_with(Bytes{2 * 4096}));
    {
        sluice::PagedFile file(context, 16, 4096_B);
        fill(file, 16);
        {
            Tasks tasks(context);
            int done = 0;
            for (std::size_t i = 0; i < 8; ++i)
                tasks.spawn(hold_and_wait(file, i, 15 - i, done));
            tasks.spawn([]() -> Task {
                co_await yielded();
                throw std::runtime_error("enough");
            }());
            EXPECT_THROW(tasks.run(), std::runtime_error);
        }
        std::uint64_t sum = 0;
        Tasks tasks(context);
        tasks.spawn(read_in_order(file, {9, 10, 11}, sum));
        tasks.run();
        EXPECT_EQ(sum, 30U);
    }
    EXPECT_EQ(context.budget().held(Purpose::paged), 0_B);
}

}  // namespace
}  // namespace sluice::tests
