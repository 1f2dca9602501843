// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/model/store_model.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sluice/error.hpp"

namespace sluice::tests::fetch_model {

namespace {

constexpr int k_most_steps = 200'000;
// The parts of a look, as in StoreState::move(); the last one is the helper thread's.
constexpr int k_parts = 5;
// More rounds than a rank has allocations that fail, and sets that wait for a stall.
constexpr int k_still = 50;

std::vector<std::byte> data_of(Key const& key, std::uint64_t bytes) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>((key.id * 31 + key.epoch * 7 + i) & 0xff);
    return data;
}

}  // namespace

Rank::Rank(Network& network, int rank, Settings const& settings)
    : budget(settings.budget),
      memory(budget),
      tentative(budget, Purpose::fetched, settings.share, budget::TokenPool::First::like_any),
      ready(budget, Purpose::fetched, settings.share, budget::TokenPool::First::always, settings.tokens),
      serving_pool(budget, Purpose::served, settings.share, budget::TokenPool::First::always, settings.tokens),
      packed(budget, Purpose::served, Bytes{}, budget::TokenPool::First::always),
      beyond(budget, Purpose::fetched, Bytes{}, budget::TokenPool::First::always),
      access(false),
      fetching(network.wire(rank), settings.tokens == 0 ? &tentative : nullptr, ready, memory, settings.order,
               settings.window, settings.most_bytes),
      serving(network.wire(rank), serving_pool, memory, fetching, settings.checks),
      reads(network.wire(rank), access, Bytes{1 << 20}),
      sending(network.wire(rank), packed, memory, settings.controlled, settings.checks),
      receiving(network.wire(rank), fetching, beyond, memory),
      waits(network.wire(rank), fetching, serving, receiving, 0),
      dispatch(fetching, serving, reads, sending, receiving, faults, waits) {
    fetching.set_serving(serving);
    fetching.set_sending(sending);
    sending.set_receiving(receiving);
    receiving.set_sending(sending);
    fetching.set_reads(reads);
    serving.set_reads(reads);
    serving.set_hold([] { return std::unique_lock<std::recursive_mutex>(); });
    network.connect(rank, dispatch);
}

StoreModel::StoreModel(std::uint64_t seed, Data data) : random_(seed), spoils_(data == Data::are_spoiled) {
    int const ranks = draw(1, 4);
    network_ = std::make_unique<Network>(ranks, 2U * static_cast<std::uint32_t>(draw(1, 8)), random_);
    Rank::Settings settings{};
    settings.budget = Bytes{static_cast<std::uint64_t>(draw(1, 4)) * 64 * 1024};
    settings.share = Bytes{static_cast<std::uint64_t>(draw(0, 10'000))};
    settings.tokens = chance(0.3) ? static_cast<std::uint64_t>(draw(1, 4)) : 0;
    settings.order = std::vector{FetchOrder::posted, FetchOrder::nearly_complete,
                                 FetchOrder::spread}[static_cast<std::size_t>(draw(0, 2))];
    settings.window = Bytes{chance(0.5) ? 0 : static_cast<std::uint64_t>(draw(1, 5'000))};
    settings.most_bytes = Bytes{chance(0.8) ? 1 << 30 : static_cast<std::uint64_t>(draw(1'000, 6'000))};
    settings.controlled = chance(0.5);
    settings.checks = spoils_ || chance(0.3);
    if (spoils_) network_->spoil(0.1);
    for (int r = 0; r < ranks; ++r) {
        ranks_.push_back(std::make_unique<Rank>(*network_, r, settings));
        if (!spoils_ && chance(0.3))  // what cannot be packed when it is published is not compared
            ranks_.back()->memory.fail_after(static_cast<std::uint64_t>(draw(0, 10)),
                                             static_cast<std::uint64_t>(draw(1, 5)));
    }
    chance_of_network_ = draw(1, 9) / 10.0;
    if (chance(0.3)) slow_rank_ = any_rank();
    make_publications();
    make_sets();
    make_sends();
    foretell(settings.most_bytes);
    for (Item& item : items_)
        if (item.readers > 0 && item.key.epoch == 0)
            rank(item.key.owner).program.push_back([this, &item] { publish(item); });
    shuffle_programs();
}

/// Keys of epoch 0 are published, those of epoch 1 are sent.
void StoreModel::make_publications() {
    int const items = draw(1, 12);
    for (int i = 0; i < items; ++i) {
        Item item;
        item.key = {any_rank(), static_cast<std::uint64_t>(i), 0};
        item.bytes = static_cast<std::uint64_t>(chance(0.1) ? 0 : draw(1, 3'000));
        if (chance(0.05)) item.fate = Fate::bad;
        if (item.fate == Fate::good && chance(0.05)) item.fate = Fate::open;
        items_.push_back(item);
    }
}

void StoreModel::make_sets() {
    int const sets = draw(1, 16);
    for (int s = 0; s < sets; ++s) {
        Set& set = sets_.emplace_back();
        int const requests = draw(0, 5);
        for (int i = 0; i < requests; ++i) {
            Item& item = items_[static_cast<std::size_t>(draw(0, static_cast<int>(items_.size()) - 1))];
            Bytes bytes{item.bytes};
            if (chance(0.3)) bytes = FetchRequest::k_any;
            if (chance(0.03)) bytes = Bytes{item.bytes + 1};
            Key key = item.key;
            if (chance(0.03)) key.id += 1'000;  // never published
            if (chance(0.01)) key.owner = static_cast<int>(ranks_.size());
            set.requests.push_back({key, bytes});
            if (key == item.key && bytes != Bytes{item.bytes + 1})
                ++item.readers;
            else
                set.fate = Fate::bad;
        }
        int const reader = any_rank();
        rank(reader).program.push_back([this, reader, &set] { post(reader, set); });
    }
}

/// What must become of each set, as far as that does not depend on the order.
void StoreModel::foretell(Bytes most_bytes) {
    for (Set& set : sets_) {
        std::uint64_t bytes = 0;
        for (FetchRequest const& request : set.requests)
            for (Item const& item : items_) {
                if (item.key != request.key) continue;
                bytes += item.bytes;
                if (set.fate != Fate::bad && item.fate != Fate::good) set.fate = item.fate;
            }
        if (bytes > most_bytes.count) set.fate = Fate::bad;
    }
}

/// Each sent item is received by one set, by no set, or expected by a set without being sent.
void StoreModel::make_sends() {
    int const sets = draw(0, 6);
    std::uint64_t next = 0;
    for (int s = 0; s < sets; ++s) {
        Set& set = sets_.emplace_back();
        set.pushed = true;
        int const reader = any_rank();
        int const requests = draw(0, 4);
        for (int i = 0; i < requests; ++i) {
            Item item;
            item.key = {any_rank(), next++, 1};
            item.bytes = static_cast<std::uint64_t>(chance(0.1) ? 0 : draw(1, 3'000));
            bool const is_sent = chance(0.95);
            bool const is_received = chance(0.95);
            items_.push_back(item);
            Bytes bytes = chance(0.5) ? FetchRequest::k_any : Bytes{item.bytes};
            if (chance(0.03)) bytes = Bytes{item.bytes + 1};
            if (is_received) set.requests.push_back({item.key, bytes});
            if (is_received && (!is_sent || bytes == Bytes{item.bytes + 1})) set.fate = Fate::bad;
            if (is_sent) {
                Rank& sender = rank(item.key.owner);
                sender.program.push_back([&sender, reader, item] {
                    std::vector<std::byte> const data = data_of(item.key, item.bytes);
                    auto const pack = [&](std::span<std::byte> out) { std::ranges::copy(data, out.begin()); };
                    for (;;)
                        try {
                            sender.sending.send(reader, {item.key.id, item.key.epoch}, item.bytes, pack);
                            return;
                        } catch (Error const& error) {
                            if (error.code() != ErrorCode::out_of_memory) throw;
                        }
                });
            }
        }
        rank(reader).program.push_back([this, reader, &set] { post(reader, set); });
    }
}

void StoreModel::shuffle_programs() {
    for (std::unique_ptr<Rank> const& each : ranks_) {
        std::ranges::shuffle(each->program, random_);
        each->program.push_back([&rank = *each] {
            rank.finished = true;
            rank.serving.finish();
            rank.sending.finish();
        });
    }
}

fetch::Publication StoreModel::publication_of(Item const& item) {
    fetch::Publication publication;
    publication.bytes = item.bytes;
    publication.readers_left = item.readers;
    switch (draw(0, 2)) {
        case 0:
            publication.bring = [this, &item](Store::DataSink const& sink) { bring(item, sink); };
            break;
        case 1:
            if (item.fate == Fate::good && item.bytes > 0) {
                // Contiguous data that live as long as the publication.
                auto const data = std::make_shared<std::vector<std::byte>>(data_of(item.key, item.bytes));
                publication.data = data->data();
                publication.pack = [data](std::span<std::byte>) {};
                break;
            }
            [[fallthrough]];
        default:
            publication.pack = [this, &item](std::span<std::byte> out) {
                if (chance(0.1)) next_of_program(item.key.owner);
                if (item.fate == Fate::bad) throw std::runtime_error("the packer fails");
                std::ranges::copy(data_of(item.key, item.bytes), out.begin());
            };
    }
    return publication;
}

/// Calls `sink` now or later.
void StoreModel::bring(Item const& item, Store::DataSink const& sink) {
    auto const deliver = [&item, sink] {
        if (item.fate == Fate::bad)
            sink({}, std::make_exception_ptr(std::runtime_error("the source fails")));
        else
            sink(data_of(item.key, item.bytes), nullptr);
    };
    if (chance(0.3))
        deliver();
    else
        to_bring_.emplace_back(deliver);
}

void StoreModel::publish(Item& item) {
    fetch::Serving& serving = rank(item.key.owner).serving;
    fetch::Name const name{item.key.id, item.key.epoch};
    serving.publish(name, publication_of(item));
    item.waited_for = chance(0.5);
    if (item.waited_for) {
        auto const wait = std::make_shared<fetch::DeliveryWait>();
        wait->done = [&item] { ++item.told; };
        serving.add_wait(name, wait);
        if (wait->missing == 0) serving.call_soon(wait);  // its readers had asked for it already
    }
    // Sets that fetch it may come too late then.
    if (item.fate == Fate::open) rank(item.key.owner).program.push_front([&serving, name] { serving.withdraw(name); });
}

void StoreModel::post(int number, Set& set) {
    set.posted = std::make_shared<fetch::FetchSet>();
    set.posted->wants = set.requests;
    set.posted->done = [this, number, &set](FetchResult result, std::exception_ptr const& error) {
        told(set, std::move(result), error != nullptr);
        if (chance(0.3)) next_of_program(number);
    };
    if (set.pushed)
        rank(number).receiving.post(set.posted);
    else
        rank(number).fetching.post(set.posted);
    if (chance(0.05)) set.posted->abandoned = true;
}

void StoreModel::told(Set& set, FetchResult result, bool has_error) {
    ++set.told;
    ++(has_error ? failed_ : complete_);
    if (has_error ? set.fate == Fate::good && !spoils_ : set.fate == Fate::bad)
        wrong_ += has_error ? "a set has an error without a cause\n" : "a set has no error though it must\n";
    bool const has_data = !has_error && !set.posted->abandoned;
    set.posted = nullptr;
    if (result.size() != (has_data ? set.requests.size() : 0)) wrong_ += "a set has the wrong number of data\n";
    for (std::size_t i = 0; i < result.size(); ++i) {
        Key const& key = set.requests[i].key;
        auto const item = std::ranges::find(items_, key, &Item::key);
        if (!std::ranges::equal(result[i], data_of(key, item->bytes))) wrong_ += "data are not those of their key\n";
    }
    if (chance(0.3)) held_.push_back(std::move(result));
}

void StoreModel::next_of_program(int number) {
    std::deque<std::function<void()>>& program = rank(number).program;
    if (program.size() < 2) return;  // only a step of its own finishes a rank
    auto const next = std::move(program.front());
    program.pop_front();
    next();
}

bool StoreModel::look(int number, int part) {
    Rank& each = rank(number);
    switch (part) {
        case 0:
            return each.serving.serve();
        case 1:
            return each.receiving.ask_for_late(each.finished);
        case 2:
            return each.fetching.grant();
        case 3:
            return each.serving.wake_up();
        case 4:
            return each.fetching.call_back();
        default:
            return each.serving.serve_plain();
    }
}

/// Every rank looks once; returns true if something moved.
bool StoreModel::look_everywhere() {
    bool moved = false;
    for (int number = 0; number < static_cast<int>(ranks_.size()); ++number)
        for (int part = 0; part < k_parts; ++part)
            moved |= look(number, part);
    return moved;
}

/// A step of the program or of the network, or a look; returns false if only looks are possible.
bool StoreModel::take_step() {
    std::vector<int> busy;  // ranks whose program goes on
    for (int number = 0; number < static_cast<int>(ranks_.size()); ++number)
        if (!rank(number).program.empty()) busy.push_back(number);
    if (network_->is_quiet() && busy.empty() && to_bring_.empty()) return false;
    network_->pass(1e-4);
    if (!network_->is_quiet() && chance(chance_of_network_)) {
        network_->step(static_cast<std::size_t>(draw(0, static_cast<int>(network_->steps()) - 1)));
    } else if (!to_bring_.empty() && chance(0.2)) {
        auto const bring = std::move(to_bring_.front());
        to_bring_.erase(to_bring_.begin());
        bring();
    } else if (!busy.empty() && chance(0.2)) {
        int const number = busy[static_cast<std::size_t>(draw(0, static_cast<int>(busy.size()) - 1))];
        auto const next = std::move(rank(number).program.front());
        rank(number).program.pop_front();
        next();
    } else {
        int const number = any_rank();
        if (number != slow_rank_ || chance(0.05)) look(number, draw(0, k_parts));
    }
    return true;
}

bool StoreModel::run() {
    int still = 0;  // rounds of looks that moved nothing
    for (int steps = 0; steps < k_most_steps; ++steps) {
        if (take_step()) continue;
        network_->pass(1);  // long enough to ask for what is late
        if (look_everywhere() || !network_->is_quiet() || !to_bring_.empty()) {
            still = 0;
        } else if (++still < k_still) {  // an allocation may have failed
            for (std::unique_ptr<Rank> const& each : ranks_)
                each->fetching.stall();
        } else {
            return true;
        }
    }
    return false;
}

std::string StoreModel::fault() {
    std::string text = wrong_;
    for (Set const& set : sets_)
        if (set.told != 1) text += "a set was told " + std::to_string(set.told) + " times\n";
    for (Item const& item : items_) {
        if (!item.waited_for) continue;
        bool const is_over =
            item.fate == Fate::open || std::ranges::all_of(sets_, [&](Set const& set) {
                return set.fate == Fate::good || !std::ranges::count(set.requests, item.key, &FetchRequest::key);
            });
        if (item.told > 1 || (is_over && item.told == 0))
            text += "the end of a publication was told " + std::to_string(item.told) + " times\n";
    }
    held_.clear();
    for (std::unique_ptr<Rank> const& each : ranks_) {
        each->sending.drop();
        each->receiving.drop();
        if (!each->fetching.is_quiet()) text += "fetching is not quiet\n";
        if (!each->serving.is_quiet()) text += "serving is not quiet\n";
        if (!each->sending.is_quiet()) text += "sending is not quiet\n";
        if (!each->receiving.is_quiet()) text += "receiving is not quiet\n";
        for (budget::TokenPool const* pool :
             {&each->tentative, &each->ready, &each->serving_pool, &each->packed, &each->beyond})
            if (pool->held() != Bytes{} || pool->held_messages() != 0) text += "a pool has not all its tokens\n";
        if (each->budget.held() != Bytes{}) text += "bytes of the budget are held\n";
        each->memory.settle();
        if (each->memory.resident() != each->memory.kept()) text += "a block is not freed\n";
    }
    return text;
}

std::uint64_t StoreModel::told_of_wrong() const {
    std::uint64_t told = 0;
    for (std::unique_ptr<Rank> const& each : ranks_)
        told += each->faults.number();
    return told;
}

std::uint64_t StoreModel::beyond() const {
    std::uint64_t beyond = 0;
    for (std::unique_ptr<Rank> const& each : ranks_)
        beyond += each->fetching.figures().beyond;
    return beyond;
}

}  // namespace sluice::tests::fetch_model
