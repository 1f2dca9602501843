// SPDX-License-Identifier: BSD-3-Clause
#include "coastline_file.hpp"

#include <malloc.h>
#include <netcdf.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

namespace coastline {

namespace {

constexpr std::size_t k_window_points = 4096;
constexpr std::size_t k_point_cache = 512 << 10;    // 8 chunks of 64 KiB
constexpr std::size_t k_segment_cache = 320 << 10;  // two chunks of 140 KiB

void check(int status, std::string const& path, char const* what) {
    if (status != NC_NOERR) throw std::runtime_error(path + ": " + what + ": " + nc_strerror(status));
}

}  // namespace

std::string installed_coastline_file() {
    for (char const* prefix : {"/usr/share", "/usr/local/share"})
        for (char const* folder : {"gmt-gshhg", "gmt/coast", "gshhg"}) {
            auto const file = std::filesystem::path(prefix) / folder / "binned_GSHHS_f.nc";
            if (std::error_code unseen; std::filesystem::exists(file, unseen)) return file;
        }
    return {};
}

CoastlineFile::CoastlineFile(std::string const& path) : path_(path) {
    if (path.empty())
        throw std::runtime_error("binned_GSHHS_f.nc is not installed (Debian: gmt-gshhg-full); --file names a copy");
    check(nc_open(path.c_str(), NC_NOWRITE, &file_), path_, "open");
    columns_ = scalar("N_bins_in_360_longitude_range");
    rows_ = scalar("N_bins_in_180_degree_latitude_range");
    bin_degrees_ = scalar("Bin_size_in_minutes") / 60.0;
    points_ = scalar("N_points_in_file");
    segments_ = scalar("N_segments_in_file");
    if (scalar("N_bins_in_file") != bins()) throw std::runtime_error(path_ + ": does not have one entry for each bin");

    segment_packed_ = variable("Embedded_npts_levels_exit_entry_for_a_segment", k_segment_cache);
    segment_first_point_ = variable("Id_of_first_point_in_a_segment", k_segment_cache);
    longitude_ = variable("Relative_longitude_from_SW_corner_of_bin", k_point_cache);
    latitude_ = variable("Relative_latitude_from_SW_corner_of_bin", k_point_cache);

    first_segment_of_bin_.resize(bins());
    segments_of_bin_.resize(bins());
    check(
        nc_get_var_int(file_, variable("Id_of_first_segment_in_a_bin", k_segment_cache), first_segment_of_bin_.data()),
        path_, "first segments");
    check(nc_get_var_short(file_, variable("N_segments_in_a_bin", k_segment_cache), segments_of_bin_.data()), path_,
          "segment counts");
}

CoastlineFile::~CoastlineFile() {
    nc_close(file_);
    malloc_trim(0);  // the C library would keep the pages of the caches, 3 MiB, although the data fill the memory
}

int CoastlineFile::variable(char const* name, std::size_t cache_bytes) const {
    int id = -1;
    check(nc_inq_varid(file_, name, &id), path_, name);
    // The library's own cache would be 16 MiB for each variable, too much when data fill the memory. Preemption 0 drops
    // the least recently used chunk; with 1, which drops chunks that were read in full first, random access kept every
    // chunk, whatever the size.
    check(nc_set_var_chunk_cache(file_, id, cache_bytes, 101, 0.0F), path_, name);
    return id;
}

std::uint32_t CoastlineFile::scalar(char const* name) const {
    int id = -1;
    int value = 0;
    check(nc_inq_varid(file_, name, &id), path_, name);
    check(nc_get_var_int(file_, id, &value), path_, name);
    if (value < 0) throw std::runtime_error(path_ + ": " + name + " is negative");
    return static_cast<std::uint32_t>(value);
}

std::vector<Segment> CoastlineFile::segments_of(std::uint32_t bin) {
    auto const count = static_cast<std::size_t>(segments_of_bin_.at(bin));
    if (count == 0) return {};
    auto const first = static_cast<std::size_t>(first_segment_of_bin_[bin]);
    std::vector<int> packed(count);
    std::vector<int> first_point(count);
    check(nc_get_vara_int(file_, segment_packed_, &first, &count, packed.data()), path_, "segments");
    check(nc_get_vara_int(file_, segment_first_point_, &first, &count, first_point.data()), path_, "segments");

    std::vector<Segment> segments(count);
    for (std::size_t i = 0; i < count; ++i) {
        // The bits are, from the low end: side of exit (3 bits), side of entry (3), level (3), number of points.
        auto const bits = static_cast<std::uint32_t>(packed[i]);
        segments[i] = {static_cast<std::uint32_t>(first + i), static_cast<std::uint32_t>(first_point[i]), bits >> 9,
                       bits >> 6 & 7U};
    }
    return segments;
}

void CoastlineFile::read_points(std::uint32_t bin, std::uint32_t first_point, std::span<Point> out) {
    if (first_point > points_ || out.size() > points_ - first_point)
        throw std::runtime_error(path_ + ": points " + std::to_string(first_point) + " + " +
                                 std::to_string(out.size()) + " end after the last, " + std::to_string(points_));
    std::uint32_t const row = bin / columns_;
    double const west = bin % columns_ * bin_degrees_;
    double const south = 90.0 - (row + 1) * bin_degrees_;
    double const step = bin_degrees_ / 65535;
    std::uint32_t next = first_point;
    for (Point& point : out) {
        if (next < window_start_ || next - window_start_ >= window_longitude_.size()) load_window(next);
        std::size_t const at = next++ - window_start_;
        point = {west + static_cast<std::uint16_t>(window_longitude_[at]) * step,
                 south + static_cast<std::uint16_t>(window_latitude_[at]) * step};
    }
}

void CoastlineFile::load_window(std::uint32_t first_point) {
    std::size_t const start = first_point;
    std::size_t const count = std::min<std::size_t>(k_window_points, points_ - start);
    window_longitude_.resize(count);
    window_latitude_.resize(count);
    check(nc_get_vara_short(file_, longitude_, &start, &count, window_longitude_.data()), path_, "longitudes");
    check(nc_get_vara_short(file_, latitude_, &start, &count, window_latitude_.data()), path_, "latitudes");
    window_start_ = first_point;
}

}  // namespace coastline
