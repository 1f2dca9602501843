// SPDX-License-Identifier: BSD-3-Clause
#include "virtual_processes.hpp"

#include <malloc.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sluice/fetch.hpp"
#include "sluice/tasks.hpp"

namespace fft3d {

namespace {

using sluice::Key;

/// A virtual process: some planes, which become some lines and planes again.
struct Process {
    int number = 0;
    Share planes;
    Share lines;
    std::vector<Complex> array;
    std::vector<Complex> other;  ///< where the parts of a transpose go
};

/// All virtual processes of this rank, and what they share.
struct Job {
    Job(sluice::Context& context, Problem const& solved, int tasks_per_rank, Scheme how)
        : problem(solved),
          scheme(how),
          rank(context.rank()),
          per_rank(tasks_per_rank),
          count(tasks_per_rank * context.size()),
          store(context),
          tasks(context),
          sums(solved.sums.size()) {
        if (tasks_per_rank < 1 || count > std::min(problem.ny, problem.nz))
            throw sluice::Error(sluice::ErrorCode::invalid_argument, std::to_string(count) +
                                                                         " virtual processes do not each get one of " +
                                                                         std::to_string(problem.nz) + " planes and " +
                                                                         std::to_string(problem.ny) + " lines");
        for (int number = rank * per_rank; number < (rank + 1) * per_rank; ++number) {
            Process process{number, planes_of(number), lines_of(number), {}, {}};
            std::int64_t const most = std::max(process.planes.count * problem.ny, process.lines.count * problem.nz);
            process.array.resize(static_cast<std::size_t>(most * problem.nx));
            process.other.resize(process.array.size());
            processes.push_back(std::move(process));
        }
    }

    Share planes_of(int number) const { return share_of(problem.nz, number, count); }
    Share lines_of(int number) const { return share_of(problem.ny, number, count); }
    /// Names the part of a transpose. Even turns go from planes to lines, odd ones back.
    Key key(int from, int to, std::uint64_t turn) const {
        return {from / per_rank,
                static_cast<std::uint64_t>(from) * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(to),
                turn};
    }
    sluice::Bytes part_bytes(int from, int to, std::uint64_t turn) const {
        bool const forth = turn % 2 == 0;
        std::int64_t const elements =
            planes_of(forth ? from : to).count * lines_of(forth ? to : from).count * problem.nx;
        return {static_cast<std::uint64_t>(elements) * sizeof(Complex)};
    }
    void pack(Process const& process, int to, std::uint64_t turn, Complex* out) const;
    void place(Process& process, int from, std::uint64_t turn, Complex const* in) const;

    Problem const& problem;
    Scheme scheme;
    int rank;
    int per_rank;
    int count;  ///< on all ranks
    sluice::Store store;
    sluice::Tasks tasks;
    std::vector<Process> processes;
    std::vector<Complex> sums;
};

/// A part lies as [z][y][x] on its way forth, and as [y][x][z] on its way back.
void Job::pack(Process const& process, int to, std::uint64_t turn, Complex* out) const {
    Complex const* const array = process.array.data();
    if (turn % 2 == 0) {
        Share const lines = lines_of(to);
        for (std::int64_t z = 0; z < process.planes.count; ++z)
            out = std::copy_n(array + (z * problem.ny + lines.first) * problem.nx, lines.count * problem.nx, out);
        return;
    }
    Share const planes = planes_of(to);
    for (std::int64_t line = 0; line < process.lines.count * problem.nx; ++line)
        out = std::copy_n(array + line * problem.nz + planes.first, planes.count, out);
}

void Job::place(Process& process, int from, std::uint64_t turn, Complex const* in) const {
    Complex* const to = process.other.data();
    if (turn % 2 == 0) {
        Share const planes = planes_of(from);
        std::int64_t const lines = process.lines.count * problem.nx;
        for (std::int64_t line = 0; line < lines; ++line)
            for (std::int64_t z = 0; z < planes.count; ++z)
                to[line * problem.nz + planes.first + z] = in[z * lines + line];
        return;
    }
    Share const lines = lines_of(from);
    for (std::int64_t z = 0; z < process.planes.count; ++z)
        for (std::int64_t i = 0; i < lines.count * problem.nx; ++i)
            to[(z * problem.ny + lines.first) * problem.nx + i] = in[i * process.planes.count + z];
}

/// One part of a transpose, which is put into place and freed when it comes.
sluice::Task take_part(Job& job, Process& process, int from, std::uint64_t turn) {
    std::vector<sluice::FetchRequest> const wanted{
        {job.key(from, process.number, turn), job.part_bytes(from, process.number, turn)}};
    sluice::FetchResult part;
    if (job.scheme == Scheme::normal)
        part = co_await job.store.receive_all(wanted);
    else
        part = co_await job.store.fetch_all(wanted);
    job.place(process, from, turn, part.as<Complex>(0).data());
}

void give_parts(Job& job, Process& process, std::uint64_t turn) {
    for (int i = 1; i <= job.count; ++i) {
        int const to = (process.number + i) % job.count;
        Key const key = job.key(process.number, to, turn);
        sluice::Bytes const bytes = job.part_bytes(process.number, to, turn);
        auto const pack = [&job, &process, to, turn](std::span<std::byte> out) {
            job.pack(process, to, turn, reinterpret_cast<Complex*>(out.data()));
        };
        if (job.scheme == Scheme::normal)
            job.store.send(to / job.per_rank, key, bytes, pack);
        else
            job.store.publish(key, bytes, pack);
    }
}

/// An all-to-all of the virtual processes: everything is wanted at once, and comes as tokens allow.
sluice::Task transpose(Job& job, Process& process, std::uint64_t turn) {
    give_parts(job, process, turn);
    std::vector<sluice::TaskHandle> open;
    for (int i = 1; i <= job.count; ++i)
        open.push_back(job.tasks.spawn(take_part(job, process, (process.number + i) % job.count, turn)));
    for (sluice::TaskHandle const& each : open)
        co_await each;
    if (job.scheme == Scheme::tokens) {
        std::vector<Key> given;
        given.reserve(static_cast<std::size_t>(job.count));
        for (int to = 0; to < job.count; ++to)
            given.push_back(job.key(process.number, to, turn));
        co_await job.store.all_have_them(given);
    }
    std::swap(process.array, process.other);
}

sluice::Task run(Job& job, Process& process, Transform const& forward, Transform const& inverse) {
    for (std::size_t step = 0; step < job.sums.size(); ++step) {
        forward.planes(process.array.data(), process.planes);
        co_await transpose(job, process, 2 * step);
        forward.lines(process.array.data(), process.lines);
        evolve(job.problem, process.array.data(), process.lines, LineOrder::z_innermost);
        inverse.lines(process.array.data(), process.lines);
        co_await transpose(job, process, 2 * step + 1);
        inverse.planes(process.array.data(), process.planes);
        auto const elements = static_cast<std::size_t>(process.planes.count * job.problem.ny * job.problem.nx);
        job.sums[step] += checksum(job.problem, {process.array.data(), elements}, process.planes.first);
    }
}

}  // namespace

sluice::Settings settings_for(Scheme scheme, sluice::Settings settings) {
    if (scheme == Scheme::normal) settings.set("send_control", "off");
    return settings;
}

Solution solve_in_tasks(sluice::Context& context, Problem const& problem, int tasks_per_rank, Scheme scheme,
                        void (*told)(std::size_t step, Complex sum)) {
    // Arrays have mappings of their own, which leave no holes. FFTW's buffers, which come and go with each call, stay
    // in the heap: mapped or trimmed anew each time they cost ten times the faults of all the rest.
    mallopt(M_MMAP_THRESHOLD, 512 << 10);
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
    Job job(context, problem, tasks_per_rank, scheme);
    Complex* const any = job.processes.front().array.data();
    Transform const forward(problem, -1, any, {}, LineOrder::z_innermost);
    Transform const inverse(problem, 1, any, {}, LineOrder::z_innermost);
    for (Process& process : job.processes) {
        auto const elements = static_cast<std::size_t>(process.planes.count * problem.ny * problem.nx);
        fill(problem, {process.array.data(), elements}, process.planes.first);
    }
    Watch const watch;
    for (Process& process : job.processes)
        job.tasks.spawn(run(job, process, forward, inverse));
    job.tasks.run();
    job.store.finish();
    Solution solution;
    solution.message_mib = static_cast<double>(job.store.report().peak.count) / (1 << 20);
    watch.end(solution);
    MPI_Allreduce(MPI_IN_PLACE, job.sums.data(), static_cast<int>(job.sums.size()), MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                  MPI_COMM_WORLD);
    for (std::size_t step = 0; step < job.sums.size(); ++step) {
        if (job.rank == 0) told(step, job.sums[step]);
        solution.is_right = solution.is_right && is_right(problem, step, job.sums[step]);
    }
    return solution;
}

}  // namespace fft3d
