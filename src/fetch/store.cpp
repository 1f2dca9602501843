#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/nonblocking_barrier.hpp"
#include "engine/context_state.hpp"
#include "fetch/fetch_set.hpp"
#include "fetch/fetching.hpp"
#include "fetch/serving.hpp"
#include "fetch/wire.hpp"
#include "sluice/fetch.hpp"

namespace sluice::fetch {

namespace detail {

namespace {

FetchOrder order_of(std::string_view name) {
    if (name == "nearly_complete") return FetchOrder::nearly_complete;
    return name == "spread" ? FetchOrder::spread : FetchOrder::posted;
}

// Of the simulator's barrier, on the context's communicator.
constexpr int k_barrier_tag = 31000;

}  // namespace

class StoreState final : public engine::Pollable, public Arrivals {
  public:
    explicit StoreState(Context& context)
        : context_(&context.state()),
          wire_(context_->comm()),
          tentative_(context_->budget(), Purpose::fetched, half_of_receiving(), TokenPool::First::like_any),
          ready_(context_->budget(), Purpose::fetched, half_of_receiving(), TokenPool::First::always,
                 context_->settings().tokens),
          serving_pool_(context_->budget(), Purpose::served, context_->settings().serve_memory,
                        TokenPool::First::always, context_->settings().tokens),
          fetching_(wire_, context_->settings().tokens == 0 ? &tentative_ : nullptr, ready_, memory_,
                    order_of(context_->settings().fetch_order), context_->settings().fetch_window,
                    context_->process().memory_limit().limit),
          serving_(wire_, serving_pool_, memory_, fetching_) {
        fetching_.set_serving(serving_);
        context_->progress().add(*this);
    }
    ~StoreState() { context_->progress().remove(*this); }

    bool poll() override {
        if (polling_) return false;  // called from a callback
        polling_ = true;
        bool moved = false;
        try {
            moved = wire_.poll(*this);
            moved |= serving_.serve();
            moved |= fetching_.grant();
        } catch (...) {
            polling_ = false;
            throw;
        }
        polling_ = false;
        return moved;
    }
    void stall() override { fetching_.stall(); }

    void control_from(int peer, Control const& control, std::string_view text) override {
        switch (control.kind) {
            case Kind::request:
            case Kind::ask:
                serving_.receive(peer, control);
                break;
            case Kind::ready:
                fetching_.ready(control.slot, control.bytes);
                break;
            case Kind::refuse:
                fetching_.refused(control.slot, std::string(text));
                break;
            case Kind::read_too:
                serving_.read_too(control.name);
                break;
        }
    }
    bool data_from(int peer, std::uint32_t slot, std::size_t bytes) override {
        return fetching_.arrived(peer, slot, bytes);
    }
    void data_complete(std::uint32_t slot, std::size_t bytes) override { fetching_.piece_complete(slot, bytes); }
    void sent(std::uint64_t ticket) override { serving_.sent(ticket); }

    void finish() {
        if (finished_) return;
        finished_ = true;
        serving_.finish();
        while (!fetching_.is_quiet() || !serving_.is_quiet() || !wire_.is_quiet())
            if (!poll()) fetching_.stall();
        // Nothing of this rank is open, and what it has said has been heard.
        base::NonblockingBarrier barrier(context_->comm(), k_barrier_tag);
        while (!barrier.is_passed())
            poll();
        while (!wire_.is_quiet())
            poll();
    }

    engine::ContextState& context() { return *context_; }
    Fetching& fetching() { return fetching_; }
    Serving& serving() { return serving_; }
    BufferMemory& memory() { return memory_; }
    int rank() const { return wire_.rank(); }

    StoreReport report() const {
        StoreReport report;
        fetching_.fill(report);
        report.served = serving_.served();
        report.early = serving_.early();
        report.retried += serving_.retried();
        report.held = tentative_.held() + ready_.held() + serving_pool_.held();
        report.peak = tentative_.peak() + ready_.peak() + serving_pool_.peak();
        return report;
    }

  private:
    Bytes half_of_receiving() const {
        Bytes const setting = context_->settings().fetch_memory;
        return (setting.count != 0 ? setting : context_->budget().limit()) / 2;
    }

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

}  // namespace detail

namespace {

Name name_of(Key const& key) {
    return {key.id, key.epoch};
}

void check_owner(Key const& key, int rank) {
    if (key.owner != rank)
        throw Error(ErrorCode::invalid_argument,
                    "rank " + std::to_string(rank) + " publishes " + detail::text_of(key) + ": it is not its own");
}

}  // namespace

std::size_t Fetched::size() const noexcept {
    return buffers_.size();
}

std::span<std::byte const> Fetched::operator[](std::size_t i) const noexcept {
    return {buffers_[i]->memory.get(), buffers_[i]->bytes};
}

FetchAwaiter::~FetchAwaiter() {
    if (!set->complete) set->abandoned = true;  // the task is destroyed while it waits
}

bool FetchAwaiter::await_ready() const noexcept {
    return set->complete;
}

void FetchAwaiter::await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
    set->task = &waiting.promise();
}

Fetched FetchAwaiter::await_resume() const {
    if (set->error) std::rethrow_exception(set->error);
    return set->take();
}

ReadAwaiter::~ReadAwaiter() {
    if (wait) wait->task = nullptr;  // it has gone on, or is destroyed while it waits
}

void ReadAwaiter::await_suspend(std::coroutine_handle<Task::promise_type> waiting) const noexcept {
    wait->task = &waiting.promise();
}

Store::Store(Context& context) : state_(std::make_unique<detail::StoreState>(context)) {}

Store::~Store() {
    if (std::uncaught_exceptions() > 0) return;
    try {
        finish();
    } catch (std::exception const&) {
        // MPI is broken; who wants to know calls finish himself.
    }
}

void Store::publish(Key const& key, std::uint64_t bytes, Pack pack, int readers) {
    check_owner(key, state_->rank());
    detail::Publication publication;
    publication.bytes = bytes;
    publication.pack = std::move(pack);
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

void Store::publish(Key const& key, std::span<std::byte const> data, int readers) {
    check_owner(key, state_->rank());
    detail::Publication publication;
    publication.bytes = data.size();
    static std::byte const nothing{};
    publication.data = data.empty() ? &nothing : data.data();
    publication.readers_left = readers;
    state_->serving().publish(name_of(key), std::move(publication));
}

ReadAwaiter Store::read(Key const& key) {
    detail::Publication* const publication = state_->serving().find(name_of(key));
    if (key.owner != state_->rank() || publication == nullptr) return {nullptr};
    publication->waiting.push_back(std::make_shared<detail::ReadWait>());
    return {publication->waiting.back()};
}

void Store::withdraw(Key const& key) {
    check_owner(key, state_->rank());
    state_->serving().withdraw(name_of(key));
}

void Store::close(std::uint64_t epoch) {
    state_->serving().close(epoch);
}

FetchAwaiter Store::fetch_all(std::span<Want const> wants) {
    auto set = std::make_shared<detail::FetchSet>();
    set->wants.assign(wants.begin(), wants.end());
    state_->fetching().post(set);
    return FetchAwaiter(std::move(set));
}

void Store::fetch_all(std::span<Want const> wants, std::function<void(Fetched, std::exception_ptr)> done) {
    auto set = std::make_shared<detail::FetchSet>();
    set->wants.assign(wants.begin(), wants.end());
    set->done = std::move(done);
    state_->fetching().post(set);
}

bool Store::progress() {
    return state_->poll();
}

void Store::finish() {
    state_->finish();
}

StoreReport Store::report() const {
    return state_->report();
}

void Store::fail_allocations(std::uint64_t n, std::uint64_t failures) {
    state_->memory().fail_after(n, failures);
}

}  // namespace sluice::fetch
