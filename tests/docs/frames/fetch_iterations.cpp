// SPDX-License-Identifier: BSD-3-Clause
//= block docs/fetch.md: before what the faces pack changes
//= paragraphs 1

/// The cubes of all ranks stand in a ring, three on each rank. A cube keeps its points once, so its faces must have all
/// their readers before it relaxes.
constexpr std::size_t k_cubes = 3;
constexpr std::size_t k_layers = 8;
constexpr std::size_t k_face = 24;  // points of a layer
constexpr int k_iterations = 100;
using Layer = std::array<double, k_face>;

Layer first_layer(std::size_t global) {
    Layer layer{};
    for (std::size_t i = 0; i < k_face; ++i)
        layer[i] = static_cast<double>((global * global * 7 + i * 13) % 101);
    return layer;
}

Layer relaxed(Layer const& before, Layer const& layer, Layer const& after) {
    Layer result{};
    for (std::size_t i = 0; i < k_face; ++i)
        result[i] = (before[i] + 2 * layer[i] + after[i]) / 4;
    return result;
}

struct Face {
    Layer const* layer;
    std::uint64_t id;
    sluice::Key key(std::uint64_t iteration) const { return {world_rank(), id, iteration}; }
    std::size_t size() const { return sizeof(Layer); }
    void pack(std::span<std::byte> out) const { std::memcpy(out.data(), layer->data(), out.size()); }
};

class Cube {
  public:
    explicit Cube(std::size_t number) : number_(number) {
        std::size_t const global = (static_cast<std::size_t>(world_rank()) * k_cubes + number) * k_layers;
        for (std::size_t i = 0; i < k_layers; ++i)
            layers_[i] = first_layer(global + i);
        faces_ = {Face{&layers_.front(), 2 * number}, Face{&layers_.back(), 2 * number + 1}};
    }

    std::array<Face, 2>& faces() { return faces_; }
    std::array<sluice::Key, 2> keys(std::uint64_t iteration) const {
        return {faces_[0].key(iteration), faces_[1].key(iteration)};
    }
    std::vector<sluice::FetchRequest> neighbours(std::uint64_t iteration) const {
        int const ranks = world_size();
        int const rank = world_rank();
        int const before = number_ > 0 ? rank : (rank + ranks - 1) % ranks;
        int const after = number_ + 1 < k_cubes ? rank : (rank + 1) % ranks;
        return {{{before, 2 * ((number_ + k_cubes - 1) % k_cubes) + 1, iteration}, {sizeof(Layer)}},
                {{after, 2 * ((number_ + 1) % k_cubes), iteration}, {sizeof(Layer)}}};
    }
    void relax(sluice::FetchResult const& ghosts) {
        std::array<Layer, 2> ghost{};
        for (std::size_t side = 0; side < 2; ++side)
            std::ranges::copy(ghosts.as<double>(side), ghost[side].begin());
        auto const old = layers_;
        for (std::size_t i = 0; i < k_layers; ++i)
            layers_[i] = relaxed(i > 0 ? old[i - 1] : ghost[0], old[i], i + 1 < k_layers ? old[i + 1] : ghost[1]);
    }
    auto const& layers() const { return layers_; }

  private:
    std::size_t number_;
    std::array<Layer, k_layers> layers_;
    std::array<Face, 2> faces_;
};

std::vector<Layer> in_one_process(std::size_t layers) {
    std::vector<Layer> all;
    for (std::size_t i = 0; i < layers; ++i)
        all.push_back(first_layer(i));
    for (int iteration = 0; iteration < k_iterations; ++iteration) {
        std::vector<Layer> const old = all;
        for (std::size_t i = 0; i < layers; ++i)
            all[i] = relaxed(old[(i + layers - 1) % layers], old[i], old[(i + 1) % layers]);
    }
    return all;
}

//= paragraphs 3

TEST(Pages, a_relaxation_that_fetches_its_faces) {
    std::array<Cube, k_cubes> cubes{Cube(0), Cube(1), Cube(2)};
    {
        //= paragraphs 2 4
    }
    std::size_t const mine = k_cubes * k_layers;
    std::vector<Layer> const expected = in_one_process(mine * static_cast<std::size_t>(world_size()));
    for (std::size_t i = 0; i < mine; ++i)
        EXPECT_EQ(cubes[i / k_layers].layers()[i % k_layers],
                  expected[static_cast<std::size_t>(world_rank()) * mine + i])
            << i;
}
