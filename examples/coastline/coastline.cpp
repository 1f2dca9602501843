// SPDX-License-Identifier: BSD-3-Clause
/// Reads every coastline point of the world in the order of the file and redistributes the points in place, so that
/// each rank owns a compact part of the Earth: a stretch of a Hilbert curve. For comparison it can also do this as
/// people do today.
///
///     mpirun -n 4 coastline --ways sluice,alltoallv
#include <mpi.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "../common/world.hpp"
#include "job.hpp"
#include "memory_room.hpp"
#include "options.hpp"
#include "pack_exchange_unpack.hpp"
#include "recorder.hpp"
#include "sluice/redistribute.hpp"
#include "world/block.hpp"
#include "world/coastline_file.hpp"

namespace {

using coastline::Block;
using coastline::Job;
using coastline::k_block_bytes;
using examples::over_ranks;
using examples::rank_of_world;
using examples::say;
using examples::size_of_world;
using examples::text;

constexpr double k_mib = 1 << 20;

void say_what_and_where(Job const& job, coastline::MemoryRoom const& room, coastline::Recorder& recorder) {
    double const data = static_cast<double>(job.slots * k_block_bytes) * size_of_world() / k_mib;
    double const held = static_cast<double>(room.held) / k_mib;
    double const limit = static_cast<double>(room.limit) / k_mib;
    say("data      %.1f MiB: %llu points of %llu segments in %llu blocks of %zu bytes, %llu slots on each of %d "
        "ranks\n",
        data, job.world.points, job.world.segments, job.curve.blocks(), k_block_bytes, job.slots, size_of_world());
    if (room.limit == 0) {
        say("memory    no limit; %.1f MiB held after MPI_Init (%s)\n", held, room.source.c_str());
    } else {
        say("memory    limit %.1f MiB (%s), %.1f held after MPI_Init: the data fill %.1f %% of the %.1f MiB left\n",
            limit, room.source.c_str(), held, 100 * data / (limit - held), limit - held);
    }
    recorder.event("room",
                   text("\"source\":\"%s\",\"limit\":%llu,\"held\":%llu,\"data\":%llu", room.source.c_str(), room.limit,
                        room.held, job.slots * k_block_bytes * static_cast<unsigned>(size_of_world())));
}

/// Moves the blocks by one of the two ways and prints what it took.
void move_blocks(std::string const& way, Job const& job, std::span<Block> blocks, coastline::Recorder& recorder) {
    auto const destination = [&job](std::uint64_t, std::span<std::byte const> block) { return job.destination(block); };
    std::uint64_t leaving = 0;
    for (Block const& block : blocks) {
        int const to = job.destination(block.bytes).rank;
        leaving += to >= 0 && to != rank_of_world();
    }
    double const bytes_moved = over_ranks(static_cast<double>(leaving * k_block_bytes), MPI_SUM);

    coastline::ResidentGrowth const growth;
    MPI_Barrier(MPI_COMM_WORLD);
    recorder.event("move", "\"way\":\"" + way + "\"");
    double const start = MPI_Wtime();
    std::string detail = "two buffers";
    double extra = 0;
    if (way == "sluice") {
        sluice::Context context(MPI_COMM_WORLD);
        sluice::RedistributionReport const report =
            sluice::redistribute(context, {blocks.data(), blocks.size(), {k_block_bytes}}, destination);
        detail = std::string(sluice::name_of(report.strategy)) + ", " + report.why;
        extra = static_cast<double>(report.extra_peak.count);
    } else {
        extra = static_cast<double>(coastline::pack_exchange_unpack(MPI_COMM_WORLD, blocks, destination));
    }
    double const seconds = over_ranks(MPI_Wtime() - start, MPI_MAX);
    double const grown = over_ranks(static_cast<double>(growth.peak()), MPI_MAX);
    extra = over_ranks(extra, MPI_MAX);
    say("moved     %-9s  %.3f s, %.1f MiB to other ranks; extra memory of a rank at most %.2f MiB counted, %.2f MiB "
        "resident\n"
        "          (%s)\n",
        way.c_str(), seconds, bytes_moved / k_mib, extra / k_mib, grown / k_mib, detail.c_str());
    recorder.event(
        "moved",
        text("\"way\":\"%s\",\"seconds\":%.6f,\"bytes_moved\":%.0f,\"extra_bytes\":%.0f,\"extra_resident\":%.0f",
             way.c_str(), seconds, bytes_moved, extra, grown));
}

void run(coastline::Options const& options) {
    coastline::Recorder recorder(options.record, rank_of_world());
    coastline::MemoryRoom const room = coastline::memory_room(MPI_COMM_WORLD);
    recorder.event("start");
    Job const job = coastline::plan_job(options, MPI_COMM_WORLD);
    say_what_and_where(job, room, recorder);

    std::uint64_t const first = static_cast<std::uint64_t>(rank_of_world()) * job.slots;
    std::vector<Block> blocks(job.slots);
    for (std::string const& way : options.ways) {
        {
            coastline::CoastlineFile file(options.file);
            coastline::read_share(file, job.world.blocks_of_bin, first, blocks);
        }
        recorder.points("before", blocks);
        move_blocks(way, job, blocks, recorder);
        recorder.points("after", blocks);

        coastline::CoastlineFile file(options.file);
        coastline::Checked const checked = coastline::check_part(file, job.curve, first, blocks);
        double const points = over_ranks(static_cast<double>(checked.points), MPI_SUM);
        if (points != static_cast<double>(job.world.points))
            throw std::runtime_error(text("%.0f points arrived, not %llu", points, job.world.points));
        say("checked   %-9s  all %.0f points lie where their key says and are bit by bit the file's\n", way.c_str(),
            points);
        recorder.event("checked", text("\"way\":\"%s\",\"points\":%.0f", way.c_str(), points));
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        run(coastline::options_from({argv + 1, argv + argc}));
    } catch (std::bad_alloc const&) {
        std::fprintf(stderr, "coastline: rank %d: out of memory\n", rank_of_world());
        MPI_Abort(MPI_COMM_WORLD, 12);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "coastline: rank %d: %s\n", rank_of_world(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
