// SPDX-License-Identifier: BSD-3-Clause
// Zoltan's migration (Zoltan_Migrate with pack and unpack callbacks): users of a load balancer have this today. One
// call of a callback handles many objects, an object's global id is its slot at the target, and Zoltan packs everything
// before it unpacks anything, so results land in the caller's array.
#include <zoltan.h>

#include <cstring>
#include <vector>

#include "methods/method.hpp"

namespace sluice::bench {

namespace {

void check(int code, char const* call) {
    if (code != ZOLTAN_OK)
        throw Error(ErrorCode::unsupported, std::string(call) + " failed with code " + std::to_string(code));
}

int object_bytes(void* data, int, int, ZOLTAN_ID_PTR, ZOLTAN_ID_PTR, int* error) {
    *error = ZOLTAN_OK;
    return static_cast<int>(static_cast<Blocks const*>(data)->block_bytes.count);
}

void pack(void* data, int, int, int count, ZOLTAN_ID_PTR, ZOLTAN_ID_PTR slots, int*, int*, int* places, char* buffer,
          int* error) {
    Blocks const& blocks = *static_cast<Blocks const*>(data);
    for (int i = 0; i < count; ++i)
        std::memcpy(buffer + places[i],
                    static_cast<std::byte const*>(blocks.data) + slots[i] * blocks.block_bytes.count,
                    blocks.block_bytes.count);
    *error = ZOLTAN_OK;
}

void unpack(void* data, int, int count, ZOLTAN_ID_PTR slots, int*, int* places, char* buffer, int* error) {
    Blocks const& blocks = *static_cast<Blocks const*>(data);
    for (int i = 0; i < count; ++i)
        std::memcpy(static_cast<std::byte*>(blocks.data) + slots[i] * blocks.block_bytes.count, buffer + places[i],
                    blocks.block_bytes.count);
    *error = ZOLTAN_OK;
}

class ZoltanMethod final : public Method {
  public:
    explicit ZoltanMethod(Workload const& workload) : blocks_(workload.blocks) {
        float version = 0;
        check(Zoltan_Initialize(0, nullptr, &version), "Zoltan_Initialize");
        zoltan_ = Zoltan_Create(workload.comm);
        if (zoltan_ == nullptr) throw Error(ErrorCode::out_of_memory, "Zoltan_Create gave nothing");
        set("DEBUG_LEVEL", "0");
        set("NUM_GID_ENTRIES", "1");
        set("NUM_LID_ENTRIES", "1");
        set("MIGRATE_ONLY_PROC_CHANGES", "0");  // blocks that stay on their rank change their slot too
        check(Zoltan_Set_Obj_Size_Fn(zoltan_, object_bytes, &blocks_), "Zoltan_Set_Obj_Size_Fn");
        check(Zoltan_Set_Pack_Obj_Multi_Fn(zoltan_, pack, &blocks_), "Zoltan_Set_Pack_Obj_Multi_Fn");
        check(Zoltan_Set_Unpack_Obj_Multi_Fn(zoltan_, unpack, &blocks_), "Zoltan_Set_Unpack_Obj_Multi_Fn");
        for (std::size_t slot = 0; slot < workload.destinations.size(); ++slot) {
            Destination const& to = workload.destinations[slot];
            if (to.rank < 0) continue;
            global_.push_back(static_cast<ZOLTAN_ID_TYPE>(to.index));
            local_.push_back(static_cast<ZOLTAN_ID_TYPE>(slot));
            ranks_.push_back(to.rank);
        }
    }
    ZoltanMethod(ZoltanMethod const&) = delete;
    ZoltanMethod& operator=(ZoltanMethod const&) = delete;
    ~ZoltanMethod() override { Zoltan_Destroy(&zoltan_); }

    void run() override {
        check(Zoltan_Migrate(zoltan_, -1, nullptr, nullptr, nullptr, nullptr, static_cast<int>(ranks_.size()),
                             global_.data(), local_.data(), ranks_.data(), ranks_.data()),
              "Zoltan_Migrate");
    }

  private:
    void set(char const* name, char const* value) { check(Zoltan_Set_Param(zoltan_, name, value), name); }

    Blocks blocks_;
    Zoltan_Struct* zoltan_ = nullptr;
    std::vector<ZOLTAN_ID_TYPE> global_, local_;
    std::vector<int> ranks_;
};

std::unique_ptr<Method> make(MethodEntry const&, Workload const& workload) {
    return std::make_unique<ZoltanMethod>(workload);
}

}  // namespace

std::optional<MethodEntry> peer_method() {
    return MethodEntry{"zoltan_migrate", Kind::theirs, refuses_nothing, make};
}

}  // namespace sluice::bench
