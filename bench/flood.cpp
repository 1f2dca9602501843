// SPDX-License-Identifier: BSD-3-Clause
// Floods: small messages that come faster than they are received. Links nothing of the library: `sluice bench flood`
// launches it with and without `sluice run --flood on`. Prints one line:
//   flood CASE BYTES MESSAGES SECONDS GROWN      messages of each sender; bytes by which the worst rank that receives
//                                                grew; idle: seconds are the median of bursts, times their number
// Exit code 0; 2 for wrong options; 1 for a byte that was not sent, or another error.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace {

struct Options {
    std::string name = "many_to_one";
    int bytes = 4000;
    double mib = 16;
    double compute_us = 5;
    double seconds = 0;
};

constexpr std::uint64_t k_burst = 16;  // sends of case idle: less than what makes a mark
constexpr std::uint64_t k_end = ~std::uint64_t{0};

long resident_kib() {
    long pages = 0;
    long resident = 0;
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    bool const read = file != nullptr && std::fscanf(file, "%ld %ld", &pages, &resident) == 2;
    if (file != nullptr) std::fclose(file);
    if (!read) throw std::runtime_error("/proc/self/statm cannot be read");
    return resident * 4;
}

/// Memory of this rank, looked at now and then.
class Growth {
  public:
    void look() { most_ = std::max(most_, resident_kib()); }
    void look_now_and_then(std::uint64_t i) {
        if (i % 256 == 0) look();
    }
    std::uint64_t worst() {
        look();
        long grown = most_ - before_;
        MPI_Allreduce(MPI_IN_PLACE, &grown, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        return static_cast<std::uint64_t>(std::max(grown, 0L)) * 1024;
    }

  private:
    long before_ = resident_kib();
    long most_ = before_;
};

void compute(double microseconds) {
    double const end = MPI_Wtime() + microseconds * 1e-6;
    while (MPI_Wtime() < end) {
    }
}

class Flood {
  public:
    explicit Flood(Options const& options)
        : options_(options), out_(static_cast<std::size_t>(options.bytes)), in_(out_.size()) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        if (ranks_ < 2) throw std::runtime_error("at least 2 ranks are needed");
        all_.resize(out_.size() * static_cast<std::size_t>(ranks_));
        messages_ = static_cast<std::uint64_t>(options.mib * 1048576 / options.bytes) + 1;
    }

    void run() {
        repeat(200);  // the first messages make the buffers of the MPI
        MPI_Barrier(MPI_COMM_WORLD);
        Growth growth;
        growth_ = &growth;
        double const begin = MPI_Wtime();
        repeat(messages_);
        double seconds = burst_seconds_.value_or(MPI_Wtime() - begin);
        MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Allreduce(MPI_IN_PLACE, &messages_, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
        std::uint64_t const grown = growth.worst();
        if (rank_ == 0)
            std::printf("flood %s %d %llu %.9f %llu\n", options_.name.c_str(), options_.bytes,
                        static_cast<unsigned long long>(messages_), seconds, static_cast<unsigned long long>(grown));
    }

  private:
    void repeat(std::uint64_t messages) {
        if (options_.seconds > 0 && growth_ != nullptr)
            many_to_one_for_long();
        else if (options_.name == "many_to_one" || options_.name == "turns")
            many_to_one(messages);
        else if (options_.name == "idle")
            idle(messages);
        else if (options_.name == "computes")
            to_one_that_computes(messages);
        else if (options_.name == "ping_pong")
            ping_pong(messages);
        else
            rooted(messages);
    }

    void send(std::uint64_t number) {
        write_number(number);
        MPI_Send(out_.data(), options_.bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    void receive(int source, std::uint64_t number) {
        MPI_Recv(in_.data(), options_.bytes, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(number);
        look(number);
    }
    void look(std::uint64_t number) {
        if (growth_ != nullptr) growth_->look_now_and_then(number);
    }
    void write_number(std::uint64_t number) { std::memcpy(out_.data(), &number, std::min(out_.size(), sizeof number)); }
    void check(std::uint64_t number) const {
        if (std::memcmp(in_.data(), &number, std::min(in_.size(), sizeof number)) != 0)
            throw std::runtime_error("a message is not the one that was sent");
    }

    /// Rank 0 drains the others one after the other. In case `turns` each of them waits until it is its turn, as a
    /// program may that bounds the receiver's memory by itself.
    void many_to_one(std::uint64_t messages) {
        for (int source = 1; source < ranks_; ++source) {
            if (options_.name == "turns" && rank_ == 0) MPI_Send(nullptr, 0, MPI_BYTE, source, 1, MPI_COMM_WORLD);
            if (options_.name == "turns" && rank_ == source)
                MPI_Recv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (std::uint64_t i = 0; i < messages && (rank_ == 0 || rank_ == source); ++i)
                rank_ == 0 ? receive(source, i) : send(i);
        }
    }
    /// The same by time: the senders stop one after the other, the last one at the end.
    void many_to_one_for_long() {
        double const begin = MPI_Wtime();
        messages_ = 0;
        for (int source = 1; source < ranks_; ++source) {
            double const end = begin + options_.seconds * source / (ranks_ - 1);
            if (rank_ == source) {
                for (; MPI_Wtime() < end; ++messages_)
                    send(messages_);
                send(k_end);
            }
            for (std::uint64_t i = 0; rank_ == 0 && receives_another(source, i); ++i) {
            }
        }
    }
    bool receives_another(int source, std::uint64_t number) {
        MPI_Recv(in_.data(), options_.bytes, MPI_BYTE, source, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (std::memcmp(in_.data(), &k_end, std::min(in_.size(), sizeof k_end)) == 0) return false;
        check(number);
        look(number);
        return true;
    }
    /// Sends of which few are to be held: what they cost by themselves.
    void idle(std::uint64_t messages) {
        std::vector<double> bursts;
        for (std::uint64_t i = 0; i < messages; i += k_burst) {
            MPI_Barrier(MPI_COMM_WORLD);
            double const begin = MPI_Wtime();
            for (std::uint64_t j = i; rank_ == 1 && j < i + k_burst; ++j)
                send(j);
            bursts.push_back(MPI_Wtime() - begin);
            for (std::uint64_t j = i; rank_ == 0 && j < i + k_burst; ++j)
                receive(1, j);
        }
        std::nth_element(bursts.begin(), bursts.begin() + static_cast<std::ptrdiff_t>(bursts.size() / 2), bursts.end());
        bool const sends = rank_ == 1;
        burst_seconds_ =
            sends ? bursts[bursts.size() / 2] * static_cast<double>(messages) / static_cast<double>(k_burst) : 0;
    }
    /// Rank 0 computes before each message, and takes them in turn.
    void to_one_that_computes(std::uint64_t messages) {
        for (std::uint64_t i = 0; i < messages; ++i) {
            if (rank_ != 0) {
                send(i);
                continue;
            }
            for (int source = 1; source < ranks_; ++source) {
                compute(options_.compute_us);
                receive(source, i);
            }
        }
    }
    void ping_pong(std::uint64_t messages) {
        for (std::uint64_t i = 0; i < messages && rank_ < 2; ++i) {
            if (rank_ == 1) send(i);
            if (rank_ == 0) receive(1, i);
            if (rank_ == 0) MPI_Send(out_.data(), options_.bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            if (rank_ == 1) MPI_Recv(in_.data(), options_.bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    /// The ranks that wait for others compute now and then, so the others run ahead.
    void rooted(std::uint64_t messages) {
        for (std::uint64_t i = 0; i < messages; ++i) {
            bool const is_slow = options_.name == "bcast" ? rank_ == ranks_ - 1 : rank_ == 0;
            if (is_slow && i % 16 == 0) compute(options_.compute_us * 16);
            write_number(i);
            if (options_.name == "bcast")
                MPI_Bcast(out_.data(), options_.bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            else if (options_.name == "reduce")
                MPI_Reduce(out_.data(), in_.data(), options_.bytes, MPI_BYTE, MPI_BOR, 0, MPI_COMM_WORLD);
            else
                MPI_Gather(out_.data(), options_.bytes, MPI_BYTE, all_.data(), options_.bytes, MPI_BYTE, 0,
                           MPI_COMM_WORLD);
            look(i);
        }
    }

    Options options_;
    std::vector<char> out_;
    std::vector<char> in_;
    std::vector<char> all_;
    std::uint64_t messages_ = 0;
    std::optional<double> burst_seconds_;
    Growth* growth_ = nullptr;
    int rank_ = 0;
    int ranks_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    sluice::command_line::CommandLine line("sluice-bench-flood",
                                           "Small messages that come faster than they are received");
    line.option("--case", options.name, "many_to_one, turns, computes, bcast, reduce, gather, ping_pong, idle")
        .one_of({"many_to_one", "turns", "computes", "bcast", "reduce", "gather", "ping_pong", "idle"});
    line.option("--bytes", options.bytes, "of a message").between(8, 1 << 20);
    line.option("--seconds", options.seconds, "many_to_one for so long instead").not_negative();
    line.option("--mib", options.mib, "that each sender sends").not_negative();
    line.option("--compute", options.compute_us, "microseconds of work for each message, where ranks work")
        .not_negative();
    if (auto const code = line.parse_main(argc, argv)) return *code;
    MPI_Init(&argc, &argv);
    try {
        Flood(options).run();
    } catch (std::exception const& error) {
        std::fprintf(stderr, "sluice-bench-flood: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
