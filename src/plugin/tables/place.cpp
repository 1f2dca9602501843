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
#include <memory>
#include <string>
#include <string_view>

#include "kernel/files/descriptor.hpp"
#include "kernel/files/file_mark.hpp"
#include "kernel/thread/own_stack.hpp"
#include "plugin/binding/callers/callers.hpp"
#include "plugin/binding/callers/python.hpp"
#include "plugin/tables/function_name.hpp"
#include "record/record.hpp"

namespace sluice::plugin {

namespace {

/// Bytes of a function's name; offset and module need the rest.
constexpr std::size_t k_name = record::k_place - 64;
constexpr std::size_t k_file = 40;
// Of a function of a library behind whose call a place lies.
constexpr std::size_t k_name_in_library = 80;

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

std::string shortened(std::string const& name, std::size_t most) {
    if (name.size() <= most) return name;
    return name.substr(0, most / 2) + "..." + name.substr(name.size() - (most - most / 2 - 3));
}

struct Demangling {
    char const* mangled;
    char* plain = nullptr;
};

/// Of a name of C++. __cxa_demangle takes up to 350 KiB of stack, 300 bytes and more a letter.
char* demangled(std::string const& mangled) {
    constexpr std::size_t k_stack_bytes = std::size_t{1} << 20;
    Demangling work{mangled.c_str()};
    auto const run = [](void* argument) noexcept {
        auto& of = *static_cast<Demangling*>(argument);
        int status = 0;
        of.plain = abi::__cxa_demangle(of.mangled, nullptr, nullptr, &status);
    };
    if (mangled.starts_with("_Z")) kernel::on_own_stack(k_stack_bytes, run, &work);
    return work.plain;
}

std::string readable(std::string const& mangled) {
    struct Free {
        void operator()(char* text) const noexcept { std::free(text); }
    };
    std::unique_ptr<char, Free> const plain(demangled(mangled));
    return shortened(plain ? function_name(plain.get()) : mangled, k_name);
}

/// A place as the loader and the symbol tables know it.
struct Named {
    std::string function;  // empty: not known
    std::uint64_t in_function = 0;
    std::string file;  // empty: the place lies in no file
    PlaceInFile where;
};

Named named(std::uint64_t address) {
    Dl_info info{};
    link_map* module = nullptr;
    // The return address may be the first byte behind a function that never returns.
    std::uint64_t const at = address - 1;
    if (dladdr1(reinterpret_cast<void*>(at), &info, reinterpret_cast<void**>(&module), RTLD_DL_LINKMAP) == 0) return {};
    std::string const path = info.dli_fname != nullptr ? info.dli_fname : "";
    std::uint64_t const bias = module != nullptr ? module->l_addr : 0;
    bool const program = module != nullptr && module->l_name != nullptr && module->l_name[0] == '\0';
    char const* const on_disk = program ? "/proc/self/exe" : path.c_str();
    PlaceInFile const where{at - bias, kernel::file_mark(on_disk)};
    Symbol symbol = symbol_in_file(on_disk, where.offset);
    if (symbol.name.empty() && info.dli_sname != nullptr)
        symbol = {info.dli_sname, reinterpret_cast<std::uint64_t>(info.dli_saddr) - bias};
    std::string const function = symbol.name.empty() ? std::string() : readable(symbol.name);
    return {function, where.offset - symbol.start, path.substr(path.rfind('/') + 1), where};
}

std::string text_of(Named const& place) {
    if (place.file.empty()) return "unknown";
    char text[record::k_place];
    std::uint64_t const offset = place.function.empty() ? place.where.offset : place.in_function;
    if (place.function.empty())
        std::snprintf(text, sizeof text, "%s+0x%llx", place.file.c_str(), static_cast<unsigned long long>(offset));
    else
        std::snprintf(text, sizeof text, "%s+0x%llx (%.*s)", place.function.c_str(),
                      static_cast<unsigned long long>(offset), static_cast<int>(k_file), place.file.c_str());
    return text;
}

/// ", in VecDot of libpetsc.so.3"
std::string library_text(std::uint64_t via) {
    Named const place = named(via);
    return ", in " + (place.function.empty() ? "" : shortened(place.function, k_name_in_library) + " of ") +
           place.file.substr(0, k_file);
}

}  // namespace

PlaceInFile describe_place(void const* caller, std::span<char> text) noexcept {
    try {
        SeenThrough const* const through = seen_through(caller);
        if (through != nullptr && through->caller == 0) {
            if (!describe_python(text)) std::snprintf(text.data(), text.size(), "Python");
            return {};
        }
        Named place = named(through != nullptr ? through->caller : reinterpret_cast<std::uint64_t>(caller));
        std::string const library = through != nullptr ? library_text(through->via) : std::string();
        if (!library.empty()) place.function = shortened(place.function, k_name - k_name_in_library - k_file - 8);
        std::snprintf(text.data(), text.size(), "%s%s", text_of(place).c_str(), library.c_str());
        return place.where;
    } catch (...) {
        std::snprintf(text.data(), text.size(), "unknown");
        return {};
    }
}

}  // namespace sluice::plugin
