// SPDX-License-Identifier: BSD-3-Clause
#include "registration/stream.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::bench {

namespace {

constexpr std::uint64_t k_threshold = 16 * 1024;  // of the paper, section 2
constexpr double k_wire_bytes_a_second = 1.5e9;   // of the paper's time: InfiniBand DDR
constexpr double k_wire_latency = 5e-6;
constexpr double k_pack_bytes_a_second = 2e9;

}  // namespace

double wire_seconds(std::uint64_t bytes) {
    return k_wire_latency + static_cast<double>(bytes) / k_wire_bytes_a_second;
}

Range Author::allocate(std::uint64_t bytes) {
    Range const buffer{next_, bytes};
    next_ = memory::registration::whole_pages(buffer).end() + memory::registration::k_pinned_page;
    return buffer;
}

void Author::compute(double seconds) {
    double factor = 1;
    if (noise_.is_random)
        factor = std::exponential_distribution<double>(1)(random_);
    else if (noise_.width > 0)
        factor = std::uniform_real_distribution<double>(1 - noise_.width, 1 + noise_.width)(random_);
    busy(seconds * factor * grown_);
}

void Author::pack(std::uint64_t bytes) {
    busy(static_cast<double>(bytes) / k_pack_bytes_a_second);
}

void Author::busy(double seconds) {
    stream_.steps.push_back({Step::What::busy, Time(std::llround(seconds * 1e9)), 0});
}

std::vector<std::uint32_t> Author::post(std::vector<Message> const& messages) {
    std::vector<std::uint32_t> posted;
    for (Message const& message : messages) {
        if (message.range.bytes < k_threshold) continue;
        posted.push_back(static_cast<std::uint32_t>(stream_.messages.size()));
        stream_.messages.push_back(message);
        stream_.steps.push_back({Step::What::post, {}, posted.back()});
    }
    return posted;
}

void Author::complete(std::vector<std::uint32_t> const& posted) {
    for (std::uint32_t const message : posted)
        stream_.steps.push_back({Step::What::complete, {}, message});
}

void Author::exchange(std::vector<Message> const& messages) {
    // The wire carries both directions at once.
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    for (Message const& message : messages)
        (message.kind == Kind::send || message.kind == Kind::collective_send ? out : in) += message.range.bytes;
    std::vector<std::uint32_t> const posted = post(messages);
    busy(wire_seconds(std::max(out, in)));
    complete(posted);
}

void Author::exchange_behind(std::vector<Message> const& messages, double seconds) {
    std::vector<std::uint32_t> const posted = post(messages);
    compute(seconds);
    complete(posted);
}

}  // namespace sluice::bench
