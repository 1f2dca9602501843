// SPDX-License-Identifier: BSD-3-Clause
// Communication of the NAS Parallel Benchmarks 3.3 on four ranks, class D, as their sources have it: which arrays, how
// many bytes, which messages are under way at once. A receive uses its buffer from the moment on at which the message
// arrives, as MPI libraries register it. A step takes the time of the paper's Table 2 divided by the steps of the
// class.
#include "registration/shapes/shapes.hpp"

namespace sluice::bench {

namespace {

constexpr std::uint64_t k_double = 8;
constexpr std::uint64_t k_cell = 408 / 2;  // BT, SP: 408³ points, two cells in each direction on four ranks
constexpr std::uint64_t k_face = k_cell * k_cell;

/// BT and SP: faces of all six directions at once through one buffer in and one out; then, in each direction, the
/// solution of one cell goes to the next, forth and back. These messages use the begin of the same buffers.
struct MultiPartition {
    std::uint64_t forth;  // doubles of a point of a face
    std::uint64_t back;
    double step_seconds;
    int steps;
};

class Solver {
  public:
    explicit Solver(MultiPartition const& of) : of_(of), author_(k_npb_noise) {
        // Six faces of five variables, two layers deep.
        in_ = author_.allocate(6 * k_faces);
        out_ = author_.allocate(6 * k_faces);
    }
    Stream run() {
        for (int step = 0; step < of_.steps; ++step) {
            copy_faces();
            author_.compute(0.25 * of_.step_seconds);  // the right-hand side
            for (int direction = 0; direction < 3; ++direction)
                solve(direction);
        }
        return author_.take();
    }

  private:
    static constexpr std::uint64_t k_faces = k_face * 5 * 2 * k_double;

    void copy_faces() {
        std::vector<Message> messages;
        messages.reserve(12);
        for (int i = 0; i < 6; ++i)
            messages.push_back({i, Kind::receive, Author::part(in_, static_cast<std::uint64_t>(i) * k_faces, k_faces)});
        for (int i = 0; i < 6; ++i)
            messages.push_back(
                {6 + i, Kind::send, Author::part(out_, static_cast<std::uint64_t>(i) * k_faces, k_faces)});
        author_.pack(6 * k_faces);
        author_.exchange(messages);
        author_.pack(6 * k_faces);
    }
    /// Sends come from the buffer `in` and receives go to `out`, as in the sources.
    void solve(int direction) {
        int const site = 20 + 4 * direction;
        double const part = 0.25 * of_.step_seconds / 4;
        Range const forth_sent = Author::part(in_, 0, k_face * of_.forth * k_double);
        Range const forth_received = Author::part(out_, 0, k_face * of_.forth * k_double);
        Range const back_sent = Author::part(in_, 0, k_face * of_.back * k_double);
        Range const back_received = Author::part(out_, 0, k_face * of_.back * k_double);
        author_.compute(part);
        author_.exchange({{site, Kind::send, forth_sent}, {site + 1, Kind::receive, forth_received}});
        author_.compute(2 * part);
        author_.exchange({{site + 2, Kind::send, back_sent}, {site + 3, Kind::receive, back_received}});
        author_.compute(part);
    }

    MultiPartition of_;
    Author author_;
    Range in_;
    Range out_;
};

/// LU: one buffer to send from and one to receive into; the rank with a neighbour in the north receives, unpacks, packs
/// and sends. The messages of the wavefront are smaller than 16 KiB.
Stream lu() {
    constexpr double k_step = 218.80 / 300;
    constexpr std::uint64_t k_bytes = 10 * (408 / 2) * 408 * k_double;
    Author author(k_npb_noise);
    Range const sent = author.allocate(k_bytes);
    Range const received = author.allocate(k_bytes);
    for (int step = 0; step < 60; ++step) {
        author.compute(0.75 * k_step);  // the two sweeps
        for (int direction = 0; direction < 2; ++direction) {
            author.receive(2 * direction, received);
            author.pack(2 * k_bytes);
            author.send(2 * direction + 1, sent);
            author.compute(0.125 * k_step);  // the right-hand side
        }
    }
    return author.take();
}

/// CG: sums over a row of ranks, then the transpose, both from w into q; at the end of 25 iterations the residual, into
/// r.
Stream cg() {
    constexpr double k_iteration = 202.31 / 100 / 26;
    constexpr std::uint64_t k_vector = 1'500'000 / 2 * k_double;
    Author author(k_npb_noise);
    Range const w = author.allocate(k_vector);
    Range const q = author.allocate(k_vector);
    Range const r = author.allocate(k_vector);
    auto const product = [&](int site, Range into) {
        author.compute(0.9 * k_iteration);
        author.exchange({{site, Kind::receive, into}, {site + 1, Kind::send, w}});
        author.pack(k_vector);
        author.exchange({{site + 2, Kind::receive, into}, {site + 3, Kind::send, w}});
        author.compute(0.1 * k_iteration);
    };
    for (int step = 0; step < 12; ++step) {
        for (int iteration = 0; iteration < 25; ++iteration)
            product(0, q);
        product(4, r);
    }
    return author.take();
}

/// MG: four buffers; at each level of a V-cycle the faces in two directions, a quarter as large on the next coarser
/// level.
Stream mg() {
    constexpr double k_finest = 0.8;  // seconds of work on the finest level
    constexpr std::uint64_t k_finest_face = 514 * 1026 * k_double;
    Author author(k_npb_noise);
    std::vector<Range> buffers(4);
    for (Range& buffer : buffers)
        buffer = author.allocate(k_finest_face);
    auto const faces = [&](int site, int level) {
        std::uint64_t const bytes = k_finest_face >> (2 * level);
        for (int axis = 0; axis < 2; ++axis) {
            std::vector<Message> messages;
            messages.reserve(4);
            for (int i = 0; i < 4; ++i)
                messages.push_back({site + i, i % 2 == 0 ? Kind::send : Kind::receive,
                                    Author::part(buffers[static_cast<std::size_t>(i)], 0, bytes)});
            author.exchange(messages);
        }
    };
    for (int step = 0; step < 30; ++step) {
        for (int level = 0; level < 5; ++level) {  // restrict
            author.compute(k_finest / static_cast<double>(1 << (3 * level)));
            faces(0, level);
        }
        for (int level = 4; level >= 0; --level)  // interpolate, residual, smooth
            for (int part = 0; part < 2; ++part) {
                author.compute(k_finest / static_cast<double>(1 << (3 * level)));
                faces(10 + 10 * part, level);
            }
    }
    return author.take();
}

/// IS: keys are counted, then all of them change ranks in one all-to-all.
Stream is() {
    constexpr std::uint64_t k_keys = (std::uint64_t{1} << 27) / 4 * 4;  // class C: 2^27 keys of 4 bytes
    Author author(k_npb_noise);
    Range const from = author.allocate(k_keys);
    Range const to = author.allocate(k_keys);
    for (int step = 0; step < 12; ++step) {
        author.compute(0.4);
        author.exchange({{0, Kind::collective_send, from}, {1, Kind::collective_receive, to}});
        author.compute(0.3);
    }
    return author.take();
}

Shape of_rank(std::string name, std::string made_from, std::optional<double> saving, std::function<Stream()> make) {
    return {std::move(name), std::move(made_from), saving,
            [make = std::move(make)] { return std::vector<Stream>{make()}; }};
}

}  // namespace

std::vector<Shape> npb_shapes() {
    return {
        of_rank("bt",
                "NPB BT.D.4: 12 faces at once, then 25 + 5 and 5 doubles of each point of a face in three directions",
                16.13,
                [] {
                    return Solver({30, 5, 266.87 / 250, 60}).run();
                }),
        of_rank("lu", "NPB LU.D.4: exchange_3 through one buffer in and one out, in two directions", 18.43, lu),
        of_rank("sp", "NPB SP.D.4: as BT, with 22 and 10 doubles of each point of a face", 8.68,
                [] {
                    return Solver({22, 10, 141.10 / 500, 60}).run();
                }),
        of_rank("cg", "NPB CG.D.4: w and q in each iteration, w and r after 25 of them", 0.0, cg),
        of_rank("mg", "NPB MG.D.4: four buffers, five levels that are 16 KiB or more", {}, mg),
        of_rank("is", "NPB IS.C.4: one all-to-all of all keys in each step", {}, is),
    };
}

}  // namespace sluice::bench
