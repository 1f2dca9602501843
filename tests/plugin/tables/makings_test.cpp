// SPDX-License-Identifier: BSD-3-Clause
// How the growth between readings is shared out to makings of objects.
#include "plugin/tables/growth/makings.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "plugin/tables/growth/held.hpp"

namespace sluice::plugin {

namespace {

constexpr std::uint64_t k_mib = 1 << 20;
constexpr double k_quick = 1e9;  // bytes in a tick: no bound
constexpr auto k_kind = record::Object::datatype;

class MakingsOfTypes : public testing::Test {
  protected:
    /// So many at a site, each after the program took `outside` bytes. The MPI takes `inside`.
    void make(std::uint32_t site, int number, std::uint64_t inside, std::uint64_t outside) {
        for (int i = 0; i < number; ++i) {
            grown += outside;
            bool const is_measured = makings.wants(site);
            if (is_measured || makings.is_outside()) read();
            ++record->sites[site].calls;
            if (is_measured) {
                take(record->sites[site], {inside, 0}, k_all, 1, Measured::exactly);
                makings.measured(site, inside);
                ++measured;
            } else {
                grown += inside;
                makings.unread(k_kind, site, 1);
            }
        }
    }
    void read() {
        makings.grew_outside(grown);
        makings.share_out(grown, k_quick, k_all, 1);
        makings.begins(true);
        grown = 0;
    }
    std::uint64_t of(std::uint32_t site) const { return record->sites[site].grown_private; }

    static constexpr std::uint64_t k_all = 1000 * k_mib;
    std::unique_ptr<record::RankRecord> record = std::make_unique<record::RankRecord>();
    Makings makings{*record};
    std::uint64_t grown = 0;  // since the last reading
    int measured = 0;
};

TEST_F(MakingsOfTypes, few_are_measured_and_all_growth_is_theirs_where_nothing_else_grows) {
    make(3, 10000, 500, 0);
    read();
    EXPECT_LT(measured, 10000 / 50);
    EXPECT_GT(measured, 50);
    EXPECT_NEAR(static_cast<double>(of(3)), 5e6, 5e4);
    EXPECT_GT(record->sites[3].estimated, of(3) / 2) << "most of it is not measured";
    EXPECT_EQ(record->head.objects[static_cast<std::size_t>(k_kind)].grown, record->sites[3].estimated);
}

TEST_F(MakingsOfTypes, what_the_program_takes_between_them_stays_its_own) {
    make(3, 10000, 500, 4000);
    read();
    EXPECT_NEAR(static_cast<double>(of(3)), 5e6, 5e5);
}

TEST_F(MakingsOfTypes, a_place_that_takes_nothing_gets_next_to_nothing) {
    for (int i = 0; i < 5000; ++i) {
        make(3, 1, 1000, 0);
        make(4, 1, 0, 0);
    }
    read();
    EXPECT_NEAR(static_cast<double>(of(3)), 5e6, 2e5);
    EXPECT_LT(of(4), 2e5);
}

TEST_F(MakingsOfTypes, short_makings_cannot_have_taken_much) {
    makings.unread(k_kind, 3, 10);
    EXPECT_LE(makings.part_of(100 * k_mib, 1000).bytes, 10000U);
}

TEST_F(MakingsOfTypes, at_more_places_than_are_listed_the_growth_is_given_once) {
    for (std::uint32_t site = 1; site < 100; ++site)
        makings.unread(k_kind, site, 1);
    makings.share_out(k_mib, k_quick, k_all, 1);
    std::uint64_t sum = 0;
    for (record::Site const& site : record->sites)
        sum += site.grown_private;
    EXPECT_LE(sum, k_mib);
    EXPECT_GT(sum, k_mib / 2);
}

TEST(Held, growth_is_the_most_that_a_place_held_at_a_time) {
    record::Site maker{};
    record::Site freer{};
    Holders holders;
    for (int i = 0; i < 12; ++i) {
        take(maker, {k_mib, 32 * k_mib}, 44 * k_mib, 1, Measured::exactly);
        holders.took(maker);
        holders.give_back(&maker, freer, {k_mib, 32 * k_mib});
    }
    EXPECT_EQ(maker.grown_private + maker.grown_shared, 33 * k_mib);
    EXPECT_EQ(maker.held_private + maker.held_shared, 0U);
    take(maker, {k_mib, 0}, 44 * k_mib, 1, Measured::exactly);
    take(maker, {50 * k_mib, 0}, 44 * k_mib, 1, Measured::exactly);
    EXPECT_EQ(maker.grown_private + maker.grown_shared, 44 * k_mib) << "not more than the process has";
}

TEST(Held, what_a_call_gives_back_is_its_own_place_s_or_that_of_whoever_took_last) {
    record::Site first{};
    record::Site last{};
    record::Site own{};
    Holders holders;
    for (record::Site* const site : {&first, &last}) {
        take(*site, {k_mib, 0}, 44 * k_mib, 1, Measured::exactly);
        holders.took(*site);
    }
    take(own, {k_mib, 0}, 44 * k_mib, 1, Measured::exactly);
    holders.give_back(nullptr, own, {k_mib + k_mib / 2, 0});
    EXPECT_EQ(own.held_private, 0U);
    EXPECT_EQ(last.held_private, k_mib / 2);
    EXPECT_EQ(first.held_private, k_mib);
    holders.give_back(nullptr, own, {10 * k_mib, 0});
    EXPECT_EQ(first.held_private + last.held_private, 0U);
}

}  // namespace

}  // namespace sluice::plugin
