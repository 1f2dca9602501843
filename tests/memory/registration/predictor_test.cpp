// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "memory/registration/predict/accuracy.hpp"
#include "memory/registration/predict/context_predictor.hpp"
#include "memory/registration/predict/periodicity_predictor.hpp"
#include "memory/registration/turned_bed.hpp"

namespace sluice::memory::registration {

namespace {

/// Feeds uses to a predictor; judges each use by the prediction that stands.
class Watched {
  public:
    explicit Watched(Predictor& predictor) : predictor_(&predictor) {}

    /// Returns the prediction of the range itself.
    std::optional<Prediction> use(Range range, std::uintptr_t site, Time at) {
        predictions_.clear();
        predictor_->learn(use_of(range, site, at), predictions_);
        std::optional<Prediction> own;
        for (Prediction const& prediction : predictions_)
            if (!prediction.follows) own = prediction;
        if (own) {
            for (Prediction const& stands : standing_)
                if (stands.signature == own->signature) accuracy_.judge(stands.expected, stands.period, at);
            std::erase_if(standing_, [&](Prediction const& p) { return p.signature == own->signature; });
            standing_.push_back(*own);
        }
        return own;
    }
    Accuracy const& accuracy() const { return accuracy_; }
    std::size_t signatures() const { return standing_.size(); }

  private:
    Predictor* predictor_;
    std::vector<Prediction> predictions_;
    std::vector<Prediction> standing_;
    Accuracy accuracy_;
};

ContextOptions published() {
    ContextOptions options;
    options.estimate = Estimate::shortest;
    return options;
}

TEST(ContextPredictor, learns_from_the_second_use_on) {
    Budget const tables(2_MiB);
    ContextPredictor predictor({0, Estimate::best, {}}, tables);
    Watched watched(predictor);
    EXPECT_FALSE(watched.use(buffer(1), 7, ms(10)).has_value());
    auto const second = watched.use(buffer(1), 7, ms(30));
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(second->expected, ms(50));
    EXPECT_TRUE(second->is_guess);
    auto const third = watched.use(buffer(1), 7, ms(50));
    ASSERT_TRUE(third.has_value());
    EXPECT_EQ(third->expected, ms(70));
    EXPECT_EQ(third->deadline, ms(70));
    EXPECT_FALSE(third->is_guess);
}

TEST(ContextPredictor, does_not_predict_buffers_that_are_never_used_again) {
    Budget const tables(2_MiB);
    ContextPredictor predictor({}, tables);
    Watched watched(predictor);
    for (std::uint64_t i = 0; i < 3000; ++i)
        EXPECT_FALSE(watched.use(buffer(i), 7, ms(static_cast<std::int64_t>(i))).has_value());
}

TEST(ContextPredictor, the_shortest_period_is_the_published_one) {
    Budget const tables(2_MiB);
    ContextPredictor predictor({0, Estimate::shortest, {}}, tables);
    Watched watched(predictor);
    Time at = ms(0);
    for (int const period : {20, 30, 18, 25})
        watched.use(buffer(1), 7, at += ms(period));
    at += ms(40);
    EXPECT_EQ(watched.use(buffer(1), 7, at)->expected, at + ms(18));
}

/// Li et al. 2011, Figure 4: two inner loops in an outer one. The first call of a loop comes after the other loop, the
/// second is the first of its kind in this outer iteration, all others follow their own kind: three periods at one
/// site.
TEST(ContextPredictor, the_context_tells_the_three_periods_of_a_nested_loop_apart) {
    auto const run = [](std::size_t window) {
        Budget const tables(2_MiB);
        ContextOptions options = published();
        options.window = window;
        ContextPredictor predictor(options, tables);
        Watched watched(predictor);
        Time at{0};
        for (int outer = 0; outer < 20; ++outer) {
            for (int i = 0; i < 5; ++i)
                watched.use(buffer(1), 1, at += ms(10));
            for (int i = 0; i < 3; ++i)
                watched.use(buffer(2), 2, at += ms(70));
        }
        return std::pair(watched.accuracy().share(watched.accuracy().within_half_percent), watched.signatures());
    };
    auto const [without, sites] = run(0);
    auto const [with, signatures] = run(2);
    EXPECT_EQ(sites, 2U);
    EXPECT_EQ(signatures, 6U);
    EXPECT_NEAR(without, 0.75, 0.02) << "the first call of each loop is wrong";
    EXPECT_GT(with, without + 0.1);
}

/// Beyond the paper: where a loop ends, its next use comes after the pause.
TEST(ContextPredictor, knows_when_a_loop_ends) {
    Budget const tables(2_MiB);
    ContextPredictor predictor({}, tables);
    Watched watched(predictor);
    Time at{0};
    std::optional<Prediction> last_of_loop;
    for (int outer = 0; outer < 12; ++outer) {
        for (int i = 0; i < 6; ++i)
            last_of_loop = watched.use(buffer(1), 1, at += ms(10));
        if (outer >= 6) {
            EXPECT_EQ(last_of_loop->expected, at + ms(4 * 70 + 30)) << outer;
        }
        for (int i = 0; i < 4; ++i)
            watched.use(buffer(2), 2, at += ms(70));
    }
    EXPECT_GT(watched.accuracy().share(watched.accuracy().within_half_percent), 0.9);
}

TEST(ContextPredictor, tells_messages_of_other_sizes_apart_that_use_the_same_buffer) {
    Budget const tables(2_MiB);
    ContextPredictor predictor({}, tables);
    Watched watched(predictor);
    Time at{0};
    for (int step = 0; step < 20; ++step)
        for (int level = 0; level < 4; ++level)
            watched.use(buffer(1, std::uint64_t{1} << (22 - 2 * level)), 1, at += ms(100 >> level));
    EXPECT_EQ(watched.accuracy().within_half_percent, watched.accuracy().predictions);
}

TEST(ContextPredictor, chooses_the_estimate_that_is_best) {
    Budget const tables(2_MiB);
    auto const share = [&](ContextOptions const& options, auto const& next_period) {
        ContextPredictor predictor(options, tables);
        Watched watched(predictor);
        double at = 0;
        for (int i = 0; i < 200; ++i)
            watched.use(buffer(1), 1, Time(static_cast<Time::rep>(at += next_period(i))));
        return watched.accuracy().share(watched.accuracy().within_five_percent);
    };
    auto const drifting = [](int i) { return 1e7 * (1 + 0.02 * i); };
    EXPECT_LT(share(published(), drifting), 0.1);
    EXPECT_GT(share({}, drifting), 0.98);
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> noise(0.97, 1.03);
    auto const noisy = [&](int) { return 1e7 * noise(random); };
    EXPECT_GT(share({}, noisy), 0.95);
}

TEST(ContextPredictor, an_anchor_tells_the_moment_again) {
    Budget const tables(2_MiB);
    ContextOptions options;
    options.preparation = [](std::uint64_t) { return ms(1); };
    ContextPredictor predictor(options, tables);
    std::vector<Prediction> predictions;
    Time at{0};
    // A step varies by milliseconds; the second use always comes 5 ms after the first.
    for (int step = 0; step < 10; ++step) {
        predictions.clear();
        predictor.learn(use_of(buffer(1), 1, at), predictions);
        if (step >= 4) {
            ASSERT_EQ(predictions.size(), 2U) << step;
            EXPECT_FALSE(predictions[0].follows);
            EXPECT_TRUE(predictions[1].follows);
            EXPECT_EQ(predictions[1].range, buffer(2));
            EXPECT_EQ(predictions[1].expected, at + ms(5));
            EXPECT_GE(predictions[1].lead, ms(5));
        }
        predictions.clear();
        predictor.learn(use_of(buffer(2), 2, at + ms(5)), predictions);
        at += ms(100 + 7 * (step % 3));
    }
}

TEST(PeriodicityPredictor, needs_a_full_window_and_then_knows_the_pattern) {
    Budget const tables(1_MiB);
    PeriodicityPredictor predictor(12, tables);
    Watched watched(predictor);
    Time at{0};
    for (int i = 0; i < 30; ++i) {
        auto const next = watched.use(buffer(static_cast<std::uint64_t>(i % 3)), 1, at += ms(10));
        EXPECT_EQ(next.has_value(), i >= 11) << i;
        if (next) {
            EXPECT_EQ(next->expected, at + ms(30));
        }
    }
    // One foreign use, and the predictor is blind until the window has passed.
    watched.use(buffer(9), 1, at += ms(10));
    EXPECT_FALSE(watched.use(buffer(0), 1, at += ms(10)).has_value());
}

}  // namespace

}  // namespace sluice::memory::registration
