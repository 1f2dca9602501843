// SPDX-License-Identifier: BSD-3-Clause
#include "overlap/cell.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "overlap/pattern.hpp"
#include "overlap/work.hpp"

namespace sluice::bench {

namespace {

constexpr int k_sender = 1;
constexpr int k_receiver = 0;
constexpr int k_data_tag = 0;
constexpr int k_go_tag = 1;
constexpr int k_tests_by_hand = 200;
constexpr std::size_t k_strip_bytes = 256 << 10;
constexpr std::size_t k_strips_under_way = 3;
constexpr std::size_t k_least_piece = 4096;
constexpr std::size_t k_word_bytes = sizeof(std::uint64_t);
constexpr int k_calibrations = 5;

/// Calls `of` with each strip, in order.
template <class Of>
void for_each_strip(std::span<std::byte> data, Of const& of) {
    for (std::size_t at = 0; at < data.size(); at += k_strip_bytes)
        of(data.subspan(at, std::min(k_strip_bytes, data.size() - at)));
}

/// Sluice sees its calls.
bool is_served(OverlapMethod method) {
    return method == OverlapMethod::program || method == OverlapMethod::started;
}

}  // namespace

void OverlapCell::Free::operator()(std::byte* bytes) const {
    std::free(bytes);
}

OverlapCell::OverlapCell(OverlapPlan plan, OverlapCalls const& program, OverlapCalls const& straight)
    : plan_(std::move(plan)),
      program_(program),
      straight_(straight),
      buffer_(static_cast<std::byte*>(std::malloc(plan_.bytes))) {
    if (buffer_ == nullptr) throw std::bad_alloc();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
}

void OverlapCell::measure(std::function<void(OverlapMethod, double)> const& tell) {
    calibrate();
    for (OverlapMethod const method : plan_.methods)
        for (int i = 0; i < (is_served(method) ? plan_.warm_up : 1); ++i)
            round(method);
    for (int pair = 0; pair < plan_.pairs; ++pair) {
        for (OverlapMethod const method : plan_.methods) {
            double const seconds = round(method);
            if (rank_ == k_receiver) tell(method, seconds);
        }
        // Each method comes first once, and each follows another one.
        std::rotate(plan_.methods.begin(), plan_.methods.begin() + 1, plan_.methods.end());
    }
}

/// The receiver alone computes, so it need not tell the sender how long. Other work of the machine only adds to a time,
/// so the least counts.
void OverlapCell::calibrate() {
    double fastest = round(OverlapMethod::transfer);
    for (int i = 1; i < k_calibrations; ++i)
        fastest = std::min(fastest, round(OverlapMethod::transfer));
    if (rank_ != k_receiver) return;
    double const steps = fastest * steps_a_second();
    std::size_t const words = std::max<std::size_t>(plan_.bytes / k_word_bytes, 1);
    if (plan_.work == OverlapWork::independent) compute_steps_ = static_cast<std::uint64_t>(steps);
    if (plan_.work == OverlapWork::heavy)
        steps_a_word_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(steps / static_cast<double>(words)), 1);
}

/// Returns the seconds of the receiver.
double OverlapCell::round(OverlapMethod method) {
    OverlapCalls const& calls = is_served(method) ? program_ : straight_;
    ++rounds_;
    if (rank_ == k_sender) write_pattern(data(), rounds_);
    straight_.barrier(MPI_COMM_WORLD);
    auto const begin = std::chrono::steady_clock::now();
    if (rank_ == k_sender)
        send(method, calls);
    else
        receive_and_work(method, calls);
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    if (rank_ == k_receiver && method != OverlapMethod::compute) check();
    // What a service still does in libmpi for this round ends before straight calls follow.
    calls.barrier(MPI_COMM_WORLD);
    return took.count();
}

void OverlapCell::send(OverlapMethod method, OverlapCalls const& calls) {
    if (method == OverlapMethod::compute) return;
    calls.recv(nullptr, 0, MPI_CHAR, k_receiver, k_go_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (method != OverlapMethod::strips) {
        calls.send(buffer_.get(), static_cast<int>(plan_.bytes), MPI_CHAR, k_receiver, k_data_tag, MPI_COMM_WORLD);
        return;
    }
    // Without a window an MPI sends pieces of all strips in turns, and the first strip comes with the last.
    std::array<MPI_Request, k_strips_under_way> window;
    window.fill(MPI_REQUEST_NULL);
    std::size_t next = 0;
    for_each_strip(data(), [&](std::span<std::byte> strip) {
        MPI_Request& slot = window[next++ % window.size()];
        calls.wait(&slot, MPI_STATUS_IGNORE);
        calls.isend(strip.data(), static_cast<int>(strip.size()), MPI_CHAR, k_receiver, k_data_tag, MPI_COMM_WORLD,
                    &slot);
    });
    calls.waitall(static_cast<int>(window.size()), window.data(), MPI_STATUSES_IGNORE);
}

void OverlapCell::receive_and_work(OverlapMethod method, OverlapCalls const& calls) {
    int const bytes = static_cast<int>(plan_.bytes);
    sum_.reset();
    if (method != OverlapMethod::compute) calls.send(nullptr, 0, MPI_CHAR, k_sender, k_go_tag, MPI_COMM_WORLD);
    switch (method) {
        case OverlapMethod::strips:
            return work_by_strips(calls);
        case OverlapMethod::irecv:
        case OverlapMethod::started:
        case OverlapMethod::by_hand: {
            MPI_Request request = start_at(plan_.site, calls, buffer_.get(), bytes, k_sender);
            if (method == OverlapMethod::by_hand)
                compute_testing(calls, request);
            else
                keep(compute(compute_steps_));
            calls.wait(&request, MPI_STATUS_IGNORE);
            return pass(data());
        }
        case OverlapMethod::compute:
            break;
        case OverlapMethod::blocking:
        case OverlapMethod::program:
        case OverlapMethod::transfer:
            receive_at(plan_.site, calls, buffer_.get(), bytes, k_sender);
    }
    if (method == OverlapMethod::transfer) return;
    keep(compute(compute_steps_));
    pass(data());
}

/// Tests between the pieces of the pass keep the strips that are under way moving.
void OverlapCell::work_by_strips(OverlapCalls const& calls) {
    std::vector<MPI_Request> requests;
    for_each_strip(data(), [&](std::span<std::byte> strip) {
        requests.push_back(MPI_REQUEST_NULL);
        calls.irecv(strip.data(), static_cast<int>(strip.size()), MPI_CHAR, k_sender, k_data_tag, MPI_COMM_WORLD,
                    &requests.back());
    });
    keep(compute(compute_steps_));
    std::size_t const piece = std::max(plan_.bytes / k_tests_by_hand, k_least_piece) / k_word_bytes * k_word_bytes;
    auto request = requests.begin();
    for_each_strip(data(), [&](std::span<std::byte> strip) {
        calls.wait(&*request++, MPI_STATUS_IGNORE);
        for (std::size_t at = 0; at < strip.size(); at += piece) {
            pass(strip.subspan(at, std::min(piece, strip.size() - at)));
            int done = 0;
            if (requests.back() != MPI_REQUEST_NULL) calls.test(&requests.back(), &done, MPI_STATUS_IGNORE);
        }
    });
}

/// After the message has come, no more tests are made, as in a well-written program.
void OverlapCell::compute_testing(OverlapCalls const& calls, MPI_Request& request) const {
    int done = 0;
    for (int i = 0; i < k_tests_by_hand; ++i) {
        std::uint64_t const first = compute_steps_ * static_cast<std::uint64_t>(i) / k_tests_by_hand;
        std::uint64_t const last = compute_steps_ * static_cast<std::uint64_t>(i + 1) / k_tests_by_hand;
        keep(compute(last - first));
        if (done == 0) calls.test(&request, &done, MPI_STATUS_IGNORE);
    }
}

void OverlapCell::pass(std::span<std::byte const> part) {
    PassResult const result = pass_over(part, steps_a_word_);
    sum_ = sum_.value_or(0) + result.sum;
    keep(result.state);
}

/// The bytes that are in the buffer now, and those that the pass has read when it came to them.
void OverlapCell::check() const {
    std::size_t const wrong = first_wrong_byte(data(), rounds_);
    if (wrong != plan_.bytes)
        throw std::runtime_error("byte " + std::to_string(wrong) + " of " + std::to_string(plan_.bytes) +
                                 " is not what was sent");
    if (sum_ && *sum_ != pass_over(data(), 0).sum)
        throw std::runtime_error("a pass over " + std::to_string(plan_.bytes) + " bytes read others than were sent");
}

std::string name_of(OverlapMethod method) {
    switch (method) {
        case OverlapMethod::blocking:
            return "blocking";
        case OverlapMethod::irecv:
            return "irecv";
        case OverlapMethod::by_hand:
            return "by_hand";
        case OverlapMethod::strips:
            return "strips";
        case OverlapMethod::program:
            return "program";
        case OverlapMethod::started:
            return "started";
        case OverlapMethod::compute:
            return "compute";
        case OverlapMethod::transfer:
            return "transfer";
    }
    return {};
}

std::string name_of(OverlapWork work) {
    switch (work) {
        case OverlapWork::independent:
            return "independent";
        case OverlapWork::light:
            return "light";
        case OverlapWork::heavy:
            return "heavy";
    }
    return {};
}

}  // namespace sluice::bench
