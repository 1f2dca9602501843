// SPDX-License-Identifier: BSD-3-Clause
#include "fetch/mpi_wire.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "groups/tags.hpp"
#include "sluice/error.hpp"

namespace sluice::fetch {

namespace {

constexpr int k_control_tag = groups::tags::k_store_control.first;
constexpr int k_first_data_tag = groups::tags::k_store_data.first;
// At most this many messages are handled before the caller gets its turn.
constexpr int k_arrivals_a_look = 64;
constexpr std::size_t k_no_place = ~std::size_t{0};
// So many requests may be open before a list of them grows.
constexpr std::size_t k_open_at_first = 16;
// A message of up to this size that MPI has announced has arrived as a whole, so receiving it does not wait.
constexpr std::size_t k_small = 1024;

bool is_without_answer(Kind kind) {
    return kind == Kind::read_too || kind == Kind::offer || kind == Kind::push || kind == Kind::unsent ||
           kind == Kind::differs || kind == Kind::state;
}

std::uint32_t most_slots_of(MPI_Comm comm) {
    int* upper = nullptr;
    int found = 0;
    mpi::check(MPI_Comm_get_attr(comm, MPI_TAG_UB, static_cast<void*>(&upper), &found), "MPI_Comm_get_attr");
    int const largest_tag = found != 0 ? *upper : groups::tags::k_largest;
    return static_cast<std::uint32_t>(std::min(largest_tag - k_first_data_tag, groups::tags::k_store_data.count));
}

}  // namespace

MpiWire::MpiWire(MPI_Comm comm) : Wire(mpi::rank_in(comm), mpi::size_of(comm), most_slots_of(comm)), parent_(comm) {
    if (!may_open(k_open_at_first)) throw std::bad_alloc();
}

void MpiWire::connect() {
    comm_ = mpi::Communicator::twin_of(parent_);
}

MpiWire::~MpiWire() {
    if (!mpi::is_running()) return;
    // Only if the store could not finish; no rank waits for these messages any more.
    for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

/// Whether `more` requests can be opened without an allocation. The lists grow by a factor, the shortest one last.
bool MpiWire::may_open(std::size_t more) noexcept {
    std::size_t const needed = requests_.size() + more;
    if (needed <= done_.size()) return true;
    std::size_t const larger = std::max(needed, 2 * done_.size());
    try {
        requests_.reserve(larger);
        open_.reserve(larger);
        complete_.reserve(larger);
        done_.resize(larger);
    } catch (std::bad_alloc const&) {
        return false;
    }
    return true;
}

bool MpiWire::make_room(std::uint64_t bytes) noexcept {
    std::size_t const pieces = std::max<std::size_t>((bytes + k_piece - 1) / k_piece, 1);
    if (!may_open(pieces)) return false;
    promised_ = std::max(promised_, pieces);
    if (pieces > 1) try {
            pieces_left_.reserve(pieces_left_.size() + 1);
            if (new_pieces_.empty()) {
                PiecesLeft one;
                one.emplace(0, 0);
                new_pieces_ = one.extract(one.begin());
            }
        } catch (std::bad_alloc const&) {
            return false;
        }
    return true;
}

/// Returns true if there was no room, and the request is complete now.
bool MpiWire::open_or_wait(MPI_Request request, Open const& what) {
    if (requests_.size() == done_.size() && !may_open(1)) {
        mpi::check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
        return true;
    }
    requests_.push_back(request);
    open_.push_back(what);
    return false;
}

/// A message that cannot be remembered as one without an answer is confirmed at once.
void MpiWire::send(int peer, Control const& control, std::string_view text) {
    Use use = Use::control_out;
    if (is_without_answer(control.kind)) try {
            unheard_.insert(peer);
        } catch (std::bad_alloc const&) {
            use = Use::control_heard;
        }
    send_control(peer, control, text, use);
}

void MpiWire::make_heard() {
    for (int const peer : unheard_)
        send_control(peer, {Kind::last, 0, {}, 0}, {}, Use::control_heard);
    unheard_.clear();
}

/// Returns k_no_place if there is no memory for a control message that does not leave at once. The open requests that
/// make_room() has promised stay possible.
std::size_t MpiWire::place_for_control() noexcept {
    if (!may_open(promised_ + 1)) return k_no_place;
    if (free_controls_.empty()) try {
            if (free_controls_.capacity() <= controls_.size()) free_controls_.reserve(2 * controls_.size() + 1);
            controls_.emplace_back(k_control);
            free_controls_.push_back(controls_.size() - 1);
        } catch (std::bad_alloc const&) {
            return k_no_place;
        }
    std::size_t const place = free_controls_.back();
    free_controls_.pop_back();
    return place;
}

/// Without memory this waits until the message has left: its receiver stores a message of so few bytes.
void MpiWire::send_control(int peer, Control const& control, std::string_view text, Use use) {
    std::array<std::byte, k_control> here;
    std::size_t const place = place_for_control();
    std::span<std::byte> const out = place == k_no_place ? std::span(here) : std::span(controls_[place]);
    std::size_t const length = std::min(text.size(), k_control - sizeof control);
    std::memcpy(out.data(), &control, sizeof control);
    std::ranges::copy(std::as_bytes(std::span(text.substr(0, length))), out.begin() + sizeof control);
    if (place == k_no_place)
        mpi::check(
            MPI_Send(out.data(), static_cast<int>(sizeof control + length), MPI_BYTE, peer, k_control_tag, comm_.get()),
            "MPI_Send");
    else if (has_left(out.data(), sizeof control + length, peer, k_control_tag, {use, place, 0}))
        free_controls_.push_back(place);
}

/// Sends; returns true if the message has left already, as most small ones have. Larger ones are not tested: with Open
/// MPI on a crowded node, testing an incomplete request yields the core, which took 50 ms instead of 4 for a step of
/// examples/jacobi3d next to two busy processes.
bool MpiWire::has_left(std::byte const* bytes, std::size_t count, int peer, int tag, Open const& what) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (what.use == Use::control_heard)
        mpi::check(MPI_Issend(bytes, static_cast<int>(count), MPI_BYTE, peer, tag, comm_.get(), &request),
                   "MPI_Issend");
    else
        mpi::check(MPI_Isend(bytes, static_cast<int>(count), MPI_BYTE, peer, tag, comm_.get(), &request), "MPI_Isend");
    int done = 0;
    if (count <= k_control) mpi::check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0 || open_or_wait(request, what);
}

bool MpiWire::send_data(int peer, std::uint32_t slot, std::span<std::byte const> data, std::uint64_t ticket) {
    int const tag = k_first_data_tag + static_cast<int>(slot);
    int open_pieces = 0;
    std::size_t at = 0;
    do {  // runs once even for an empty message
        std::size_t const bytes = std::min(data.size() - at, k_piece);
        if (!has_left(data.data() + at, bytes, peer, tag, {Use::data_out, ticket, bytes})) ++open_pieces;
        at += bytes;
    } while (at < data.size());
    if (open_pieces > 1) {
        new_pieces_.key() = ticket;
        new_pieces_.mapped() = open_pieces;
        pieces_left_.insert(std::move(new_pieces_));
    }
    return open_pieces == 0;
}

bool MpiWire::receive_data(int peer, std::uint32_t slot, std::span<std::byte> to, std::uint32_t number) {
    int const tag = k_first_data_tag + static_cast<int>(slot);
    auto const bytes = static_cast<int>(to.size());
    if (to.size() <= k_small) {
        mpi::check(MPI_Recv(to.data(), bytes, MPI_BYTE, peer, tag, comm_.get(), MPI_STATUS_IGNORE), "MPI_Recv");
        return true;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    mpi::check(MPI_Irecv(to.data(), bytes, MPI_BYTE, peer, tag, comm_.get(), &request), "MPI_Irecv");
    return open_or_wait(request, {Use::data_in, number, to.size()});
}

bool MpiWire::look_at_arrivals(Arrivals& to) {
    bool moved = false;
    for (int i = 0; i < k_arrivals_a_look; ++i) {
        if (kept_.from != k_nobody) {
            if (!hand_over(to)) break;
            moved = true;
            continue;
        }
        int found = 0;
        MPI_Status status;
        mpi::check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_.get(), &found, &status), "MPI_Iprobe");
        if (found == 0) break;
        int bytes = 0;
        mpi::check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
        if (status.MPI_TAG != k_control_tag) {
            auto const slot = static_cast<std::uint32_t>(status.MPI_TAG - k_first_data_tag);
            if (!to.data_from(status.MPI_SOURCE, slot, static_cast<std::size_t>(bytes))) break;
            moved = true;
            continue;
        }
        mpi::check(MPI_Recv(kept_.message.data(), static_cast<int>(k_control), MPI_BYTE, status.MPI_SOURCE,
                            k_control_tag, comm_.get(), MPI_STATUS_IGNORE),
                   "MPI_Recv");
        kept_.from = status.MPI_SOURCE;
        kept_.bytes = static_cast<std::size_t>(bytes);
        if (!hand_over(to)) break;
        moved = true;
    }
    return moved;
}

/// Returns false if there is no memory to handle the message now.
bool MpiWire::hand_over(Arrivals& to) {
    Control control;
    std::memcpy(&control, kept_.message.data(), sizeof control);
    std::string_view const whole(reinterpret_cast<char const*>(kept_.message.data()), kept_.bytes);
    int const from = std::exchange(kept_.from, k_nobody);
    try {
        to.control_from(from, control, whole.substr(sizeof control));
    } catch (std::bad_alloc const&) {
        kept_.from = from;
        return false;
    }
    return true;
}

bool MpiWire::was_last_piece(std::uint64_t ticket) {
    auto const found = pieces_left_.find(ticket);
    if (found == pieces_left_.end()) return true;
    if (--found->second > 0) return false;
    pieces_left_.erase(found);
    return true;
}

bool MpiWire::test_open(Arrivals& to) {
    if (requests_.empty()) return false;
    int number = 0;
    mpi::check(
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &number, done_.data(), MPI_STATUSES_IGNORE),
        "MPI_Testsome");
    if (number <= 0) return false;
    // Requests are removed before their receivers are told, because these may send. Removal starts from the end, so
    // that earlier indices stay valid.
    complete_.clear();
    std::sort(done_.begin(), done_.begin() + number);
    for (int i = number; i-- > 0;) {
        auto const at = static_cast<std::size_t>(done_[static_cast<std::size_t>(i)]);
        complete_.push_back(open_[at]);
        open_[at] = open_.back();
        requests_[at] = requests_.back();
        open_.pop_back();
        requests_.pop_back();
    }
    while (!complete_.empty()) {
        Open const what = complete_.back();
        complete_.pop_back();
        if (what.use == Use::control_out || what.use == Use::control_heard)
            free_controls_.push_back(static_cast<std::size_t>(what.ticket));
        else if (what.use == Use::data_in)
            to.data_complete(static_cast<std::uint32_t>(what.ticket), what.bytes);
        else if (was_last_piece(what.ticket))
            to.sent(what.ticket);
    }
    return true;
}

bool MpiWire::poll(Arrivals& to) {
    bool const arrived = look_at_arrivals(to);
    return test_open(to) || arrived;
}

}  // namespace sluice::fetch
