// SPDX-License-Identifier: BSD-3-Clause
/// A random program of several ranks that publish, fetch, send, receive, withdraw and finish, and what must become of
/// each of its sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "budget/token_pool.hpp"
#include "fetch/dispatch.hpp"
#include "fetch/model/made_up_network.hpp"
#include "memory/buffer_memory.hpp"
#include "node/remote_memory.hpp"
#include "sluice/budget.hpp"

namespace sluice::tests::fetch_model {

/// What a rank has of a store.
struct Rank {
    struct Settings {
        Bytes budget;
        Bytes share;
        std::uint64_t tokens;
        FetchOrder order;
        Bytes window;
        Bytes most_bytes;
        bool controlled;
        bool checks;
    };
    Rank(Network& network, int rank, Settings const& settings);

    Budget budget;
    memory::BufferMemory memory;
    budget::TokenPool tentative;
    budget::TokenPool ready;
    budget::TokenPool serving_pool;
    budget::TokenPool packed;
    budget::TokenPool beyond;
    node::RemoteMemory access;
    fetch::Fetching fetching;
    fetch::Serving serving;
    fetch::DirectReads reads;
    fetch::Sending sending;
    fetch::Receiving receiving;
    fetch::DataFaults faults;
    fetch::LongWaits waits;
    fetch::Dispatch dispatch;
    std::deque<std::function<void()>> program;  // what the rank still has to do
    bool finished = false;
};

class StoreModel {
  public:
    enum class Data { arrive, are_spoiled };
    /// Spoiled data, of which some arrive with wrong bytes, are checked.
    explicit StoreModel(std::uint64_t seed, Data data = Data::arrive);
    /// Takes steps until nothing moves; returns false if that takes too many.
    bool run();
    /// What is wrong at the end; empty if nothing is.
    std::string fault();
    /// Sets with an error, sets with data, and sets granted beyond the limit.
    std::uint64_t failed() const { return failed_; }
    std::uint64_t complete() const { return complete_; }
    std::uint64_t beyond() const;
    /// Pieces of data that arrived with a wrong byte, and wrong data of which owners were told.
    std::uint64_t spoiled() const { return network_->spoiled(); }
    std::uint64_t told_of_wrong() const;

  private:
    enum class Fate { good, bad, open };  // open: it depends on the order
    struct Item {
        Key key;
        std::uint64_t bytes = 0;
        Fate fate = Fate::good;
        int readers = 0;
        bool waited_for = false;
        int told = 0;
    };
    struct Set {
        std::vector<FetchRequest> requests{};
        Fate fate = Fate::good;
        bool pushed = false;
        int told = 0;
        std::shared_ptr<fetch::FetchSet> posted{};
    };

    int draw(int least, int most) { return model::draw(random_, least, most); }
    bool chance(double probability) { return model::draw_chance(random_, probability); }
    int any_rank() { return draw(0, static_cast<int>(ranks_.size()) - 1); }
    Rank& rank(int number) { return *ranks_[static_cast<std::size_t>(number)]; }

    void make_publications();
    void make_sets();
    void make_sends();
    void foretell(Bytes most_bytes);
    void shuffle_programs();
    void publish(Item& item);
    fetch::Publication publication_of(Item const& item);
    void bring(Item const& item, Store::DataSink const& sink);
    void post(int rank, Set& set);
    void told(Set& set, FetchResult result, bool has_error);
    void next_of_program(int rank);
    bool look(int rank, int part);
    bool look_everywhere();
    bool take_step();

    model::Random random_;
    std::unique_ptr<Network> network_;
    std::vector<std::unique_ptr<Rank>> ranks_;
    std::deque<Item> items_;  // publications and sends; a deque, because they are referred to
    std::deque<Set> sets_;
    std::vector<FetchResult> held_;                // results that the program keeps to the end
    std::vector<std::function<void()>> to_bring_;  // data from elsewhere that will come
    double chance_of_network_ = 0.5;
    bool spoils_;
    int slow_rank_ = -1;
    std::uint64_t failed_ = 0;
    std::uint64_t complete_ = 0;
    std::string wrong_;
};

}  // namespace sluice::tests::fetch_model
