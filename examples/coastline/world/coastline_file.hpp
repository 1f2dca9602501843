// SPDX-License-Identifier: BSD-3-Clause
/// Reads the binned coastline file of the Generic Mapping Tools (binned_GSHHS_*.nc, netCDF-4).
///
/// The Earth is cut into bins of one degree (full resolution), row by row from the north pole, each row from Greenwich
/// eastward. A bin lists its segments, a segment is a run of points, a point is two 16-bit offsets from the south-west
/// corner of its bin:
///
///     bin      first segment, number of segments
///     segment  first point, number of points and level, packed into one number
///     point    longitude and latitude in 65535ths of the bin's size
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace coastline {

/// Degrees: longitude 0 … 360, latitude −90 … 90.
struct Point {
    double longitude = 0;
    double latitude = 0;
};

/// One stretch of coastline inside a bin.
struct Segment {
    std::uint32_t number = 0;       ///< number of the segment in the file
    std::uint32_t first_point = 0;  ///< number of its first point in the file
    std::uint32_t points = 0;
    std::uint32_t level =
        0;  ///< 1 land, 2 lake, 3 island in a lake, 4 pond on it, 5 and 6 Antarctica's ice front, ground
};

/// Returns the path of the coastlines in full resolution, where packages put them; empty if they are not installed.
std::string installed_coastline_file();

/// Takes six bytes for each bin, a chunk cache of 512 KiB for each of the two coordinates, and the memory of netCDF
/// itself.
class CoastlineFile {
  public:
    explicit CoastlineFile(std::string const& path);
    ~CoastlineFile();
    CoastlineFile(CoastlineFile const&) = delete;
    CoastlineFile& operator=(CoastlineFile const&) = delete;

    std::uint32_t columns() const noexcept { return columns_; }
    std::uint32_t rows() const noexcept { return rows_; }
    std::uint32_t bins() const noexcept { return columns_ * rows_; }
    std::uint64_t points() const noexcept { return points_; }
    std::uint64_t segments() const noexcept { return segments_; }

    /// Returns the segments of one bin, in file order.
    std::vector<Segment> segments_of(std::uint32_t bin);

    /// Fills `out` with the points of `bin` that start at `first_point` of the file.
    void read_points(std::uint32_t bin, std::uint32_t first_point, std::span<Point> out);

  private:
    int variable(char const* name, std::size_t cache_bytes) const;
    std::uint32_t scalar(char const* name) const;
    void load_window(std::uint32_t first_point);

    std::string path_;
    int file_ = -1;
    int segment_packed_ = -1;
    int segment_first_point_ = -1;
    int longitude_ = -1;
    int latitude_ = -1;
    std::uint32_t columns_ = 0;
    std::uint32_t rows_ = 0;
    double bin_degrees_ = 0;
    std::uint64_t points_ = 0;
    std::uint64_t segments_ = 0;
    std::vector<int> first_segment_of_bin_;
    std::vector<short> segments_of_bin_;

    // A stretch of the two coordinates as they are in the file: one netCDF call serves many short segments.
    std::uint32_t window_start_ = 0;
    std::vector<short> window_longitude_;
    std::vector<short> window_latitude_;
};

}  // namespace coastline
