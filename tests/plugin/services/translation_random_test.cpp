// SPDX-License-Identifier: BSD-3-Clause
// Random calls on random lists: after each, the program has been told what it would be told by an MPI in which an owned
// request is one request, complete when all its parts are.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <vector>

#include "plugin/services/owners_fixture.hpp"

namespace sluice::plugin::tests {

namespace {

constexpr int k_slots = 6;

/// What the program has at a place of its list.
struct Place {
    MPI_Request handle = MPI_REQUEST_NULL;  // as it was made
    int tag = 0;                            // of its last part
    bool owned = false;
    bool persistent = false;
    bool active = false;
    std::vector<MPI_Request> parts;
    Fate* fate = nullptr;
    int completions = 0;
};

class Program {
  public:
    /// `word` says which call, on what.
    void step(std::uint32_t word) {
        std::uint32_t const choice = word % 16;
        auto const at = static_cast<std::size_t>(word / 16 % k_slots);
        std::uint32_t const detail = word / 16 / k_slots;
        if (choice < 3) make(at, detail);
        if (choice == 3 || choice == 4) start(at);
        if (choice >= 5 && choice <= 8) let_part_be_ready(at, detail);
        if (choice == 9) one(at, detail);
        if (choice == 10) all(detail);
        if (choice == 11) any(detail);
        if (choice == 12 || choice == 13) some(detail);
        if (choice == 14) look(at);
        if (choice == 15) free_one(at);
    }
    void end() {
        calls_.waitall(k_slots, requests_.data(), MPI_STATUSES_IGNORE);
        for (std::size_t at = 0; at < k_slots; ++at) {
            if (places_[at].active) has_completed(at);
            free_one(at);
        }
        RC_ASSERT(calls_.table.empty());
        RC_ASSERT(calls_.mpi.open() == 0U);
        for (Fate const& fate : fates_)
            RC_ASSERT(fate.destroyed == 1);
    }

  private:
    void make(std::size_t at, std::uint32_t detail) {
        Place& place = places_[at];
        if (place.handle != MPI_REQUEST_NULL) return;
        int const parts = 1 + static_cast<int>(detail % 3);
        place = Place();
        place.owned = detail / 3 % 3 != 0;
        place.persistent = detail / 9 % 2 != 0;
        place.active = !place.persistent;
        next_tag_ += 10;
        if (!place.owned) {
            place.handle = calls_.mpi.make(next_tag_, place.persistent);
            place.parts = {place.handle};
            place.tag = next_tag_;
        } else {
            place.fate = &fates_.emplace_back();
            bool const is_mpis = !place.persistent && parts == 1;
            place.handle = is_mpis ? calls_.keep_for(*place.fate, next_tag_)
                                   : calls_.own(*place.fate, next_tag_, parts, place.persistent);
            for (int i = 0; i < parts; ++i)
                place.parts.push_back(calls_.part(place.handle, static_cast<std::size_t>(i)));
            place.tag = next_tag_ + parts - 1;
        }
        requests_[at] = place.handle;
    }
    void start(std::size_t at) {
        Place& place = places_[at];
        if (!place.persistent || place.active) return;
        RC_ASSERT((calls_.start(&requests_[at]) == MPI_SUCCESS));
        place.active = true;
    }
    void let_part_be_ready(std::size_t at, std::uint32_t detail) {
        Place& place = places_[at];
        if (!place.active) return;
        MPI_Request const part = place.parts[detail % place.parts.size()];
        if (calls_.mpi.knows(part) && !calls_.mpi.is_idle(part)) calls_.mpi[part].ready = true;
    }
    /// All parts are complete, or MPI would complete them now.
    bool could_complete(std::size_t at) {
        Place const& place = places_[at];
        return place.active && std::all_of(place.parts.begin(), place.parts.end(), [this](MPI_Request part) {
                   return !calls_.mpi.knows(part) || calls_.mpi.is_idle(part) || calls_.mpi[part].ready;
               });
    }
    bool one_active() const {
        return std::any_of(places_.begin(), places_.end(), [](Place const& place) { return place.active; });
    }
    void has_completed(std::size_t at) {
        Place& place = places_[at];
        RC_ASSERT(place.active);
        place.active = false;
        ++place.completions;
        if (place.owned) {
            RC_ASSERT(place.fate->completed == place.completions);
        }
        RC_ASSERT((requests_[at] == (place.persistent ? place.handle : MPI_REQUEST_NULL)));
        if (!place.persistent) place = Place();
    }
    void one(std::size_t at, std::uint32_t detail) {
        bool const waits = detail % 2 != 0;
        bool const was_active = places_[at].active;
        bool const expected = waits || !was_active || could_complete(at);
        int const tag = was_active ? places_[at].tag : MPI_ANY_TAG;
        MPI_Status status{};
        int flag = 1;
        if (waits)
            calls_.wait(&requests_[at], &status);
        else
            calls_.test(&requests_[at], &flag, &status);
        RC_ASSERT((flag != 0) == expected);
        if (flag == 0) return;
        RC_ASSERT(status.MPI_TAG == tag);
        if (was_active) has_completed(at);
    }
    void all(std::uint32_t detail) {
        bool expected = true;
        for (std::size_t at = 0; at < k_slots; ++at)
            expected = expected && (!places_[at].active || could_complete(at));
        std::vector<MPI_Status> statuses(k_slots);
        int flag = -1;
        MPI_Status* const told = detail % 2 != 0 ? statuses.data() : MPI_STATUSES_IGNORE;
        calls_.testall(k_slots, requests_.data(), &flag, told);
        RC_ASSERT((flag != 0) == expected);
        for (std::size_t at = 0; flag != 0 && at < k_slots; ++at) {
            if (told != MPI_STATUSES_IGNORE) {
                RC_ASSERT(statuses[at].MPI_TAG == (places_[at].active ? places_[at].tag : MPI_ANY_TAG));
            }
            if (places_[at].active) has_completed(at);
        }
    }
    void any(std::uint32_t detail) {
        bool const waits = detail % 2 != 0;
        std::set<int> could;
        for (std::size_t at = 0; at < k_slots; ++at)
            if (could_complete(at)) could.insert(static_cast<int>(at));
        bool const active = one_active();
        int index = -1;
        int flag = 1;
        MPI_Status status{};
        if (waits)
            calls_.waitany(k_slots, requests_.data(), &index, &status);
        else
            calls_.testany(k_slots, requests_.data(), &index, &flag, &status);
        if (!active) {
            RC_ASSERT(flag != 0);
            RC_ASSERT(index == MPI_UNDEFINED);
            return;
        }
        if (!waits) {
            RC_ASSERT((flag != 0) == !could.empty());
        }
        if (flag == 0) return;
        if (!could.empty() && !waits) {
            RC_ASSERT(could.count(index) == 1U);
        }
        auto const at = static_cast<std::size_t>(index);
        RC_ASSERT(status.MPI_TAG == places_.at(at).tag);
        has_completed(at);
    }
    void some(std::uint32_t detail) {
        bool const waits = detail % 2 != 0;
        std::set<int> could;
        for (std::size_t at = 0; at < k_slots; ++at)
            if (could_complete(at)) could.insert(static_cast<int>(at));
        bool const active = one_active();
        int number = -1;
        std::vector<int> indices(k_slots, -1);
        std::vector<MPI_Status> statuses(k_slots);
        if (waits)
            calls_.waitsome(k_slots, requests_.data(), &number, indices.data(), statuses.data());
        else
            calls_.testsome(k_slots, requests_.data(), &number, indices.data(), statuses.data());
        RC_ASSERT((number == MPI_UNDEFINED) == !active);
        if (!active) return;
        RC_ASSERT(!waits || number > 0);
        std::set<int> const found(indices.begin(), indices.begin() + number);
        RC_ASSERT(found.size() == static_cast<std::size_t>(number));
        if (!waits || !could.empty()) {
            RC_ASSERT(std::includes(found.begin(), found.end(), could.begin(), could.end()));
        }
        if (!waits) {
            RC_ASSERT(found == could);
        }
        for (std::size_t i = 0; i < found.size(); ++i) {
            auto const at = static_cast<std::size_t>(indices[i]);
            RC_ASSERT(statuses[i].MPI_TAG == places_.at(at).tag);
            has_completed(at);
        }
    }
    void look(std::size_t at) {
        bool const expected = !places_[at].active || could_complete(at);
        int flag = -1;
        calls_.get_status(requests_[at], &flag, MPI_STATUS_IGNORE);
        RC_ASSERT((flag != 0) == expected);
        RC_ASSERT((requests_[at] == places_[at].handle));
    }
    void free_one(std::size_t at) {
        Place& place = places_[at];
        if (place.handle == MPI_REQUEST_NULL) return;
        std::vector<MPI_Request> const parts = place.parts;
        bool const was_active = place.active;
        RC_ASSERT((calls_.free_request(&requests_[at]) == MPI_SUCCESS));
        RC_ASSERT((requests_[at] == MPI_REQUEST_NULL));
        if (place.owned && was_active) {
            for (MPI_Request const part : parts)
                if (calls_.mpi.knows(part)) calls_.mpi[part].ready = true;
            calls_.table.poll(calls_.request_calls());
        }
        if (place.owned) {
            RC_ASSERT(place.fate->destroyed == 1);
        }
        place = Place();
    }

    std::deque<Fate> fates_;  // places stay
    Calls calls_;
    std::vector<Place> places_ = std::vector<Place>(k_slots);
    std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(k_slots, MPI_REQUEST_NULL);
    int next_tag_ = 0;
};

TEST(Translation, of_random_calls_is_what_mpi_would_tell_of_one_request) {
    EXPECT_TRUE(rc::check([] {
        // A word says which of 16 calls, on which place of the list, and which of 18 forms of it.
        auto const word = rc::gen::inRange<std::uint32_t>(0, 16 * k_slots * 18);
        auto const words = *rc::gen::resize(400, rc::gen::container<std::vector<std::uint32_t>>(word));
        Program program;
        for (std::uint32_t const one : words)
            program.step(one);
        program.end();
    }));
}

}  // namespace

}  // namespace sluice::plugin::tests
