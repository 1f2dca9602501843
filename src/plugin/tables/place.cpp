// SPDX-License-Identifier: BSD-3-Clause
#include "plugin/tables/place.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/file_mark.hpp"
#include "plugin/tables/function_name.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

namespace {

/// Bytes of a function's name; offset and module need the rest.
constexpr std::size_t k_name = record::k_place - 64;

/// A file mapped for reading.
class MappedFile {
  public:
    explicit MappedFile(char const* path) noexcept {
        kernel::Descriptor const file = kernel::above_standard(open(path, O_RDONLY | O_CLOEXEC));
        struct stat status {};
        if (file.is_open() && fstat(file.get(), &status) == 0 && status.st_size > 0) {
            size_ = static_cast<std::size_t>(status.st_size);
            base_ = static_cast<char const*>(mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0));
            if (base_ == MAP_FAILED) base_ = nullptr;
        }
    }
    MappedFile(MappedFile const&) = delete;
    MappedFile& operator=(MappedFile const&) = delete;
    ~MappedFile() {
        if (base_ != nullptr) munmap(const_cast<char*>(base_), size_);
    }
    /// `count` objects at `offset`, or null where the file ends before.
    template <class T>
    T const* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
        if (base_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
        return reinterpret_cast<T const*>(base_ + offset);
    }

  private:
    char const* base_ = nullptr;
    std::size_t size_ = 0;
};

struct Symbol {
    std::string name;
    std::uint64_t start = 0;
};

/// The function that holds `offset` (from the load address) in the file's symbol table, which knows static functions
/// too.
Symbol symbol_in_file(char const* path, std::uint64_t offset) {
    MappedFile const file(path);
    auto const* const header = file.at<ElfW(Ehdr)>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return {};
    auto const* const sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
    if (sections == nullptr) return {};
    Symbol best;
    for (std::size_t i = 0; i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= header->e_shnum) continue;
        std::uint64_t const count = sections[i].sh_size / sizeof(ElfW(Sym));
        auto const* const symbols = file.at<ElfW(Sym)>(sections[i].sh_offset, count);
        ElfW(Shdr) const& names = sections[sections[i].sh_link];
        char const* const text = file.at<char>(names.sh_offset, names.sh_size);
        if (symbols == nullptr || text == nullptr) continue;
        for (std::uint64_t s = 0; s < count; ++s) {
            ElfW(Sym) const& symbol = symbols[s];
            if ((symbol.st_info & 0xf) != STT_FUNC || symbol.st_name >= names.sh_size) continue;
            if (offset < symbol.st_value || offset >= symbol.st_value + symbol.st_size) continue;
            best = {std::string(text + symbol.st_name, strnlen(text + symbol.st_name, names.sh_size - symbol.st_name)),
                    symbol.st_value};
            return best;
        }
    }
    return best;
}

std::string readable(std::string const& mangled) {
    int status = 0;
    char* const plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    std::string name = status == 0 && plain != nullptr ? function_name(plain) : mangled;
    std::free(plain);
    if (name.size() <= k_name) return name;
    return name.substr(0, k_name / 2) + "..." + name.substr(name.size() - (k_name - k_name / 2 - 3));
}

}  // namespace

PlaceInFile describe_place(void const* address, std::span<char> text) noexcept {
    try {
        Dl_info info{};
        link_map* module = nullptr;
        // The return address may be the first byte behind a function that never returns.
        auto const at = reinterpret_cast<std::uint64_t>(address) - 1;
        if (dladdr1(reinterpret_cast<void*>(at), &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0) {
            std::snprintf(text.data(), text.size(), "unknown");
            return {};
        }
        std::string const path = info.dli_fname != nullptr ? info.dli_fname : "";
        std::string const file = path.substr(path.rfind('/') + 1);
        std::uint64_t const bias = module != nullptr ? module->l_addr : 0;
        bool const program = module != nullptr && module->l_name != nullptr && module->l_name[0] == '\0';
        char const* const on_disk = program ? "/proc/self/exe" : path.c_str();
        PlaceInFile const where{at - bias, kernel::file_mark(on_disk)};
        Symbol symbol = symbol_in_file(on_disk, where.offset);
        if (symbol.name.empty() && info.dli_sname != nullptr)
            symbol = {info.dli_sname, reinterpret_cast<std::uint64_t>(info.dli_saddr) - bias};
        if (symbol.name.empty()) {
            std::snprintf(text.data(), text.size(), "%s+0x%llx", file.c_str(),
                          static_cast<unsigned long long>(where.offset));
        } else {
            std::snprintf(text.data(), text.size(), "%s+0x%llx (%.40s)", readable(symbol.name).c_str(),
                          static_cast<unsigned long long>(where.offset - symbol.start), file.c_str());
        }
        return where;
    } catch (...) {
        std::snprintf(text.data(), text.size(), "unknown");
        return {};
    }
}

}  // namespace sluice::plugin
