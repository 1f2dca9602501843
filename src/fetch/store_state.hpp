/// What a Store is made of: the wire, the pools of tokens, the reader's and the owner's side.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/context_state.hpp"
#include "engine/progress.hpp"
#include "fetch/fetch_set.hpp"
#include "fetch/fetching.hpp"
#include "fetch/serving.hpp"
#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch::detail {

class StoreState final : public engine::Pollable, public Arrivals {
  public:
    /// Collective.
    explicit StoreState(Context& context);
    ~StoreState();
    StoreState(StoreState const&) = delete;
    StoreState& operator=(StoreState const&) = delete;

    bool poll() override;
    void stall() override { fetching_.stall(); }
    /// Collective.
    void finish();

    void control_from(int peer, Control const& control, std::string_view text) override;
    bool data_from(int peer, std::uint32_t slot, std::size_t bytes) override;
    void data_complete(std::uint32_t slot, std::size_t bytes) override;
    void sent(std::uint64_t ticket) override;

    engine::ContextState& context() { return *context_; }
    Fetching& fetching() { return fetching_; }
    Serving& serving() { return serving_; }
    BufferMemory& memory() { return memory_; }
    int rank() const { return wire_.rank(); }
    StoreReport report() const;

  private:
    bool move();
    Bytes half_of_receiving() const;

    engine::ContextState* context_;
    BufferMemory memory_;
    Wire wire_;
    TokenPool tentative_;
    TokenPool ready_;
    TokenPool serving_pool_;
    Fetching fetching_;
    Serving serving_;
    bool polling_ = false;
    bool finished_ = false;
};

}  // namespace sluice::fetch::detail
