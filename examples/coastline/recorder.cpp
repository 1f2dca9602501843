// SPDX-License-Identifier: BSD-3-Clause
#include "recorder.hpp"

#include <array>
#include <chrono>
#include <iomanip>
#include <utility>

namespace coastline {

namespace {

constexpr std::uint32_t k_stride = 16;

}  // namespace

Recorder::Recorder(std::string folder, int rank) : folder_(std::move(folder)), rank_(rank) {
    if (!folder_.empty() && rank_ == 0) events_.open(folder_ + "/events.jsonl", std::ios::trunc);
}

void Recorder::event(std::string const& name, std::string const& members) {
    if (!events_.is_open()) return;
    double const now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    events_ << "{\"at\":" << std::fixed << std::setprecision(6) << now << ",\"event\":\"" << name << '"'
            << (members.empty() ? "" : ",") << members << "}\n"
            << std::flush;  // the next step may be the one in which the job is killed
}

void Recorder::points(std::string const& name, std::span<Block const> blocks) const {
    if (folder_.empty()) return;
    std::ofstream out(folder_ + "/" + name + "." + std::to_string(rank_), std::ios::binary | std::ios::trunc);
    for (Block const& block : blocks) {
        std::uint32_t const points = head_of(block.bytes).points;
        for (std::uint32_t i = 0; i < points; i += k_stride) {
            Point const point = point_of(block, i);
            std::array<float, 2> const pair{static_cast<float>(point.longitude), static_cast<float>(point.latitude)};
            out.write(reinterpret_cast<char const*>(pair.data()), sizeof(pair));
        }
    }
}

}  // namespace coastline
