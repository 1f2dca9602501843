// SPDX-License-Identifier: BSD-3-Clause
#include "budget/node_ledger.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/without_signals.hpp"
#include "kernel/machine.hpp"

namespace sluice::budget {

namespace {

// Identifies the layout below: processes with another version of the library use another ledger.
constexpr std::uint64_t k_magic = 0x5c1e'4ced'9e72'0002ULL;
constexpr char const* k_version = "2";

constexpr char k_shared_memory[] = "/dev/shm";
constexpr off_t k_header_byte = 0;
constexpr off_t k_first_slot_byte = 1;
constexpr int k_names = 4;        // of a ledger
constexpr int k_patience = 1000;  // tries to take a lock
constexpr long k_pause_ns = 1'000'000;

struct flock bytes_to(short lock_or_not, off_t first, off_t number) noexcept {
    struct flock what {};
    what.l_type = lock_or_not;
    what.l_whence = SEEK_SET;
    what.l_start = first;
    what.l_len = number;
    return what;
}

}  // namespace

struct alignas(64) NodeLedger::Slot {
    std::atomic<std::uint32_t> used;
    std::atomic<std::uint32_t> process;  // process number of the owner
    std::atomic<std::uint64_t> machine;  // where that number means the owner; 0: not known
    std::atomic<std::uint64_t> claimed;
    std::atomic<std::uint64_t> resident;
    std::atomic<std::uint64_t> private_memory;
    std::atomic<std::uint64_t> node_memory;
    std::atomic<std::uint64_t> wanted;

    void clear() noexcept {
        claimed = 0;
        resident = 0;
        private_memory = 0;
        node_memory = 0;
        wanted = 0;
        process = 0;
        machine = 0;
        used = 0;
    }
};

struct NodeLedger::Table {
    std::atomic<std::uint64_t> magic;  // written last
    std::atomic<std::uint64_t> changes;
    std::atomic<std::uint64_t> slots_used;  // one more than the highest slot that was ever used
    alignas(4096) std::array<Slot, k_slots> slots;
};

off_t NodeLedger::byte_of(std::size_t slot) noexcept {
    return k_first_slot_byte + static_cast<off_t>(slot);
}

bool NodeLedger::lock(int file, off_t byte) noexcept {
    struct flock what = bytes_to(F_WRLCK, byte, 1);
    return fcntl(file, F_OFD_SETLK, &what) == 0;
}

void NodeLedger::unlock(int file, off_t byte) noexcept {
    struct flock what = bytes_to(F_UNLCK, byte, 1);
    fcntl(file, F_OFD_SETLK, &what);
}

/// Polls for the lock instead of waiting with F_OFD_SETLKW, because the process that holds it may have been stopped.
bool NodeLedger::lock_patiently(int file, off_t byte) noexcept {
    for (int i = 0; i < k_patience; ++i) {
        if (lock(file, byte)) return true;
        if (errno != EAGAIN && errno != EACCES) return false;
        timespec const pause{0, k_pause_ns};
        nanosleep(&pause, nullptr);
    }
    return false;
}

/// Makes the table under the header's lock. All its pages are allocated now: touching a page that /dev/shm has no room
/// for would raise SIGBUS.
bool NodeLedger::make_table(int file, Table*& table, std::string& why) {
    if (int const error = kernel::allocate_blocks(file, 0, sizeof(Table)); error != 0) {
        why = std::string("no shared memory for the node's ledger: ") + kernel::why_not_written(error);
        return false;
    }
    void* const where = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (where == MAP_FAILED) {
        why = std::string("the node's ledger cannot be mapped: ") + std::strerror(errno);
        return false;
    }
    table = static_cast<Table*>(where);
    if (table->magic == k_magic) return true;
    new (table) Table{};  // the file is new, or its maker died here
    table->magic = k_magic;
    return true;
}

/// The name of the ledger, which is a file of this user alone: /dev/shm is open to all users. Of the names that are not
/// taken it is the first that is in use, else the first. Then all processes find the same one, also if another user
/// gives a name free meanwhile.
std::string NodeLedger::find_name(kernel::Folder const& memory, std::string const& first, std::string& why) {
    using Missing = kernel::Folder::Missing;
    for (Missing const missing : {Missing::stays, Missing::is_made})
        for (int number = 1; number <= k_names; ++number) {
            std::string name = number == 1 ? first : first + "-" + std::to_string(number);
            kernel::Opened const opened = memory.open_own(name, missing);
            if (opened) return name;
            if (number == 1) why = "the node's ledger " + memory.path_of(name) + ": " + opened.why;
        }
    return {};
}

/// Opens the ledger and locks its header; none if that fails.
kernel::Opened NodeLedger::open_locked(kernel::Folder const& memory, std::string const& name, std::string& why) {
    while (true) {
        kernel::Opened opened = memory.open_own(name, kernel::Folder::Missing::is_made);
        std::string fault = opened.why;
        if (fault.empty() && !lock_patiently(opened.file.get(), k_header_byte))
            fault = "it is held by a process that makes no progress";
        if (!fault.empty()) {
            why = "the node's ledger " + memory.path_of(name) + ": " + fault;
            return {};
        }
        // The last process may have left and removed the name meanwhile.
        if (memory.is_still(name, opened.status)) return opened;
    }
}

std::shared_ptr<NodeLedger> NodeLedger::join(std::string const& identity, std::string& why) {
    std::string const prefix = "sluice-ledger-" + std::string(k_version) + "-" + std::to_string(geteuid()) + "-";
    kernel::Folder const memory = kernel::Folder::named(k_shared_memory);
    if (!memory.is_open()) {
        why = "no shared memory for the node's ledger: /dev/shm: " + memory.why();
        return nullptr;
    }
    if (access(memory.path_of(prefix + identity).c_str(), F_OK) != 0) remove_left_behind(memory, prefix);
    std::string name;
    {
        kernel::Folder::Turn const turn(memory);
        name = find_name(memory, prefix + identity, why);
    }
    kernel::Opened opened;
    if (!name.empty()) opened = open_locked(memory, name, why);
    int const file = opened.file.get();
    Table* table = nullptr;
    if (!opened) return nullptr;
    if (!make_table(file, table, why)) {
        if (struct stat now{}; fstat(file, &now) == 0 && now.st_size == 0) memory.remove(name);
        return nullptr;
    }
    // The first pass takes a slot that looks free, the second one whose owner may have died.
    for (bool const used : {false, true})
        for (std::size_t i = 0; i < k_slots; ++i) {
            Slot& slot = table->slots[i];
            if ((slot.used != 0) != used || !lock(file, byte_of(i))) continue;
            slot.clear();
            slot.process = static_cast<std::uint32_t>(getpid());
            slot.machine = kernel::this_machine();
            slot.used = 1;
            table->slots_used = std::max<std::uint64_t>(table->slots_used, i + 1);
            unlock(file, k_header_byte);
            std::shared_ptr<NodeLedger> ledger(new NodeLedger("/" + name, opened.status, table, i));
            ledger->reclaim_dead();
            return ledger;
        }
    why = "the node's ledger has only " + std::to_string(k_slots) + " slots, and all are taken";
    munmap(table, sizeof(Table));
    return nullptr;
}

NodeLedger::NodeLedger(std::string name, struct stat const& status, Table* table, std::size_t slot)
    : name_(std::move(name)),
      path_(k_shared_memory + name_),
      status_(status),
      table_(table),
      slot_(slot),
      owner_(getpid()),
      machine_(kernel::this_machine()) {}

bool NodeLedger::is_unlocked(int file, off_t first, off_t number) noexcept {
    struct flock any = bytes_to(F_WRLCK, first, number);
    return fcntl(file, F_OFD_GETLK, &any) == 0 && any.l_type == F_UNLCK;
}

/// The same file, and an open file of its own: it has no lock yet. None if the name is that of another file.
kernel::Descriptor NodeLedger::open_again() const noexcept {
    kernel::Descriptor file =
        kernel::above_standard(open(path_.c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
    struct stat now {};
    bool const is_it =
        file.is_open() && fstat(file.get(), &now) == 0 && now.st_dev == status_.st_dev && now.st_ino == status_.st_ino;
    return is_it ? std::move(file) : kernel::Descriptor();
}

/// Removes ledgers that killed jobs left behind for groups that will not exist again.
void NodeLedger::remove_left_behind(kernel::Folder const& memory, std::string const& prefix) {
    for (std::string const& name : memory.names(prefix)) {
        kernel::Opened const opened = memory.open_own(name, kernel::Folder::Missing::stays);
        if (opened && lock(opened.file.get(), k_header_byte) &&
            is_unlocked(opened.file.get(), k_first_slot_byte, static_cast<off_t>(k_slots)))
            memory.remove(name);
    }
}

/// The lock of the slot goes with the mapping. A child of fork() that is still there has the mapping, and so the lock,
/// until it ends: the slot says that it is not used.
NodeLedger::~NodeLedger() {
    // A child of fork() shares its parent's locks and slot, and must not give them back.
    if (getpid() == owner_) {
        kernel::Descriptor const file = open_again();
        bool const is_alone =
            file.is_open() && lock_patiently(file.get(), k_header_byte) && !is_used_by_others(file.get());
        mine().clear();
        changed();
        if (is_alone) shm_unlink(name_.c_str());
    }
    munmap(table_, sizeof(Table));
}

/// The caller holds the header's lock.
bool NodeLedger::is_used_by_others(int file) const noexcept {
    std::size_t const end = used_slots();
    for (std::size_t i = 0; i < end; ++i)
        if (i != slot_ && table_->slots[i].used != 0 && !is_unlocked(file, byte_of(i), 1)) return true;
    return false;
}

NodeLedger::Slot& NodeLedger::mine() const noexcept {
    return table_->slots[slot_];
}

std::size_t NodeLedger::used_slots() const noexcept {
    return std::min<std::size_t>(table_->slots_used, k_slots);  // another process may have written anything here
}

void NodeLedger::changed() noexcept {
    ++table_->changes;
}

std::uint64_t NodeLedger::changes() const noexcept {
    return table_->changes;
}

NodeLedger::Sums NodeLedger::sums() const noexcept {
    Sums sums;
    std::uint64_t const node_memory = mine().node_memory;
    std::size_t const end = used_slots();
    for (std::size_t i = 0; i < end; ++i) {
        Slot const& slot = table_->slots[i];
        if (slot.used == 0) continue;
        ++sums.processes;
        sums.claimed += Bytes{slot.claimed};
        sums.resident += Bytes{slot.resident};
        if (slot.node_memory != node_memory) continue;
        sums.claimed_here += Bytes{slot.claimed};
        sums.private_memory += Bytes{slot.private_memory};
        sums.private_resident += Bytes{slot.resident};
    }
    return sums;
}

Bytes NodeLedger::Bounds::even_share(std::uint32_t processes) const noexcept {
    return std::min(all, here) / std::max(processes, 1U);
}

bool NodeLedger::others_wait(Bounds const& bounds) const noexcept {
    std::size_t const end = used_slots();
    std::uint32_t processes = 0;
    std::uint64_t least = ~std::uint64_t{0};  // the smallest claim of a process that waits
    for (std::size_t i = 0; i < end; ++i) {
        Slot const& slot = table_->slots[i];
        if (slot.used == 0) continue;
        ++processes;
        if (i != slot_ && slot.wanted != 0) least = std::min<std::uint64_t>(least, slot.claimed);
    }
    return least < bounds.even_share(processes).count;
}

bool NodeLedger::try_claim(Bytes claim, Bounds const& bounds) noexcept {
    Slot& slot = mine();
    std::uint64_t const before = slot.claimed;
    bool const more = claim.count > before;
    if (more) slot.claimed = claim.count;  // others may see this claim and yield without need
    Sums const all = sums();
    Bytes const less = more ? Bytes{} : Bytes{before} - claim;
    bool const fits = all.claimed - less <= bounds.all && all.claimed_here - less <= bounds.here;
    bool const granted = fits && (claim <= bounds.even_share(all.processes) || !others_wait(bounds));
    if (granted != more) slot.claimed = granted ? claim.count : before;
    return granted;
}

void NodeLedger::claim(Bytes claim) noexcept {
    bool const less = claim.count < mine().claimed;
    mine().claimed = claim.count;
    if (less) changed();
}

Bytes NodeLedger::claimed() const noexcept {
    return Bytes{mine().claimed};
}

void NodeLedger::want(Bytes wanted) noexcept {
    Slot& slot = mine();
    if (slot.wanted == wanted.count) return;
    slot.wanted = wanted.count;
    if (wanted.count == 0) changed();  // processes that were held back for its sake need not wait any longer
}

void NodeLedger::tell(Bytes resident, Bytes private_memory, Bytes node_memory) noexcept {
    Slot& slot = mine();
    slot.resident = resident.count;
    slot.private_memory = private_memory.count;
    slot.node_memory = node_memory.count;
}

void NodeLedger::tell_at_most(Bytes resident) noexcept {
    Slot& slot = mine();
    if (slot.resident > resident.count) slot.resident = resident.count;
}

/// Clears the slot of a killed process whose lock a child of it still holds. True if it did. No process can take such a
/// slot until the child has ended, and none joins while the header is locked, so the slot is still that of the dead.
bool NodeLedger::bury_parent(int file, Slot& slot) noexcept {
    auto const is_dead = [&] {
        auto const process = static_cast<pid_t>(slot.process.load());
        return slot.used != 0 && process > 0 && machine_ != 0 && slot.machine == machine_ && kill(process, 0) != 0 &&
               errno == ESRCH;
    };
    if (!is_dead() || !lock(file, k_header_byte)) return false;
    bool const is_still_dead = is_dead();
    if (is_still_dead) slot.clear();
    unlock(file, k_header_byte);
    return is_still_dead;
}

unsigned NodeLedger::reclaim_dead() noexcept {
    unsigned dead = 0;
    kernel::Descriptor opened;
    std::size_t const end = used_slots();
    for (std::size_t i = 0; i < end; ++i) {
        if (i == slot_ || table_->slots[i].used == 0) continue;
        if (!opened.is_open()) opened = open_again();
        if (!opened.is_open()) return 0;
        int const file = opened.get();
        if (!lock(file, byte_of(i))) {
            if (bury_parent(file, table_->slots[i])) ++dead;
            continue;
        }
        // The slot is locked now, and only a joining process, under the same lock, writes this field.
        if (table_->slots[i].used != 0) {
            table_->slots[i].clear();
            ++dead;
        }
        unlock(file, byte_of(i));
    }
    if (dead > 0) changed();
    return dead;
}

}  // namespace sluice::budget
