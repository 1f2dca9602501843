// SPDX-License-Identifier: BSD-3-Clause
/// Messages between two ranks arrive in the order in which they were sent.
#include "fetch/mpi_wire.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::fetch {
namespace {

/// One message: control if `data` is 0, otherwise this number of bytes of data for slot `slot`.
struct Said {
    Kind kind = Kind::request;
    std::uint32_t slot = 0;
    std::uint64_t bytes = 0;
    std::string text;
    std::size_t data = 0;
    bool operator==(Said const&) const = default;
};

/// Returns the same sequence on the rank that sends it and on the rank that receives it.
std::vector<Said> sequence(int from, int to, int length) {
    constexpr Kind k_kinds[]{Kind::request, Kind::ask, Kind::ready, Kind::refuse, Kind::lies_at, Kind::read_too};
    std::mt19937 random(static_cast<unsigned>(from * 100 + to));
    std::vector<Said> all;
    for (int i = 0; i < length; ++i) {
        Said said;
        said.slot = static_cast<std::uint32_t>(i);
        if (random() % 5 == 0) {
            said.data = 1 + random() % 900;
        } else {
            said.kind = k_kinds[random() % std::size(k_kinds)];
            said.bytes = random();
            if (said.kind == Kind::refuse || said.kind == Kind::lies_at) said.text = std::string(random() % 200, 't');
        }
        all.push_back(said);
    }
    return all;
}

class Heard final : public Arrivals {
  public:
    explicit Heard(MpiWire& wire) : wire_(&wire), of_(static_cast<std::size_t>(wire.size())) {}

    void control_from(int peer, Control const& control, std::string_view text) override {
        of_[static_cast<std::size_t>(peer)].push_back(
            {control.kind, control.slot, control.bytes, std::string(text), 0});
    }
    bool data_from(int peer, std::uint32_t slot, std::size_t bytes) override {
        std::vector<std::byte> room(bytes);
        EXPECT_TRUE(wire_->receive_data(peer, slot, room)) << "small ones are received at once";
        of_[static_cast<std::size_t>(peer)].push_back({Kind::request, slot, 0, {}, bytes});
        return true;
    }
    void data_complete(std::uint32_t, std::size_t) override {}
    void sent(std::uint64_t) override {}

    std::vector<Said> const& of(int peer) const { return of_[static_cast<std::size_t>(peer)]; }

  private:
    MpiWire* wire_;
    std::vector<std::vector<Said>> of_;
};

class WireTest : public testing::Test {
  protected:
    /// Sends the next messages of one turn to each peer.
    void say(MpiWire& wire, int turn) {
        for (int to = 0; to < wire.size(); ++to) {
            std::vector<Said> const all = sequence(wire.rank(), to, k_length);
            for (int i = turn * k_of_a_turn; i < (turn + 1) * k_of_a_turn; ++i) {
                Said const& said = all[static_cast<std::size_t>(i)];
                if (said.data != 0)
                    wire.send_data(to, said.slot, std::span(data_).first(said.data), 1);
                else
                    wire.send(to, {said.kind, said.slot, {}, said.bytes}, said.text);
            }
        }
    }
    static constexpr int k_of_a_turn = 20;
    static constexpr int k_turns = 10;
    static constexpr int k_length = k_of_a_turn * k_turns;
    std::vector<std::byte> data_ = std::vector<std::byte>(1000);
};

TEST_F(WireTest, is_heard_in_the_order_in_which_it_was_said) {
    MpiWire wire(MPI_COMM_WORLD);
    wire.connect();
    Heard heard(wire);
    for (int turn = 0; turn < k_turns; ++turn) {
        say(wire, turn);
        wire.poll(heard);
    }
    auto const all_heard = [&] {
        for (int from = 0; from < wire.size(); ++from)
            if (heard.of(from).size() < k_length) return false;
        return wire.is_quiet();
    };
    while (!all_heard())
        wire.poll(heard);
    for (int from = 0; from < wire.size(); ++from)
        EXPECT_EQ(heard.of(from), sequence(from, wire.rank(), k_length)) << "from rank " << from;
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace sluice::fetch
