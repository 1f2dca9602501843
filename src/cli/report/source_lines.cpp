// SPDX-License-Identifier: BSD-3-Clause
#include "cli/report/source_lines.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <map>
#include <type_traits>

namespace sluice::cli {

namespace libdw {

// The interface of libdwfl, as far as it is used: its headers are not needed to build the command.
struct Session;
struct Module;
struct Line;
struct Elf;
using Address = std::uint64_t;
struct Callbacks {
    void* find_elf;
    void* find_debuginfo;
    void* section_address;
    char** debuginfo_path;
};

struct Functions {
    Session* (*begin)(Callbacks const*);
    void (*end)(Session*);
    Module* (*report_offline)(Session*, char const* name, char const* file, int descriptor);
    int (*report_end)(Session*, void* removed, void* argument);
    Elf* (*getelf)(Module*, Address* bias);
    Line* (*getsrc)(Module*, Address);
    char const* (*lineinfo)(Line*, Address*, int* line, int* column, void* time, void* length);
};

}  // namespace libdw

class SourceLines::Library {
  public:
    /// Null if libdw is not there, or has not all functions.
    static std::unique_ptr<Library> load() {
        // A report asks no server for debug information.
        unsetenv("DEBUGINFOD_URLS");
        void* const handle = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) return nullptr;
        std::unique_ptr<Library> library(new Library);
        libdw::Callbacks& callbacks = library->callbacks_;
        libdw::Functions& of = library->functions_;
        bool all = true;
        auto const find = [&](auto& function, char const* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
            all = all && function != nullptr;
        };
        find(callbacks.find_elf, "dwfl_build_id_find_elf");
        find(callbacks.find_debuginfo, "dwfl_standard_find_debuginfo");
        find(callbacks.section_address, "dwfl_offline_section_address");
        find(of.begin, "dwfl_begin");
        find(of.end, "dwfl_end");
        find(of.report_offline, "dwfl_report_offline");
        find(of.report_end, "dwfl_report_end");
        find(of.getelf, "dwfl_module_getelf");
        find(of.getsrc, "dwfl_module_getsrc");
        find(of.lineinfo, "dwfl_lineinfo");
        return all ? std::move(library) : nullptr;
    }
    ~Library() {
        for (auto const& [path, file] : files_)
            if (file.session != nullptr) functions_.end(file.session);
    }
    Library(Library const&) = delete;
    Library& operator=(Library const&) = delete;

    std::string at(std::filesystem::path const& path, libdw::Address address) {
        auto const [entry, is_new] = files_.try_emplace(path);
        if (is_new) entry->second = open(path);
        Opened const& file = entry->second;
        if (file.module == nullptr) return {};
        libdw::Line* const line = functions_.getsrc(file.module, file.bias + address);
        int number = 0;
        char const* const source =
            line == nullptr ? nullptr : functions_.lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
        if (source == nullptr || number <= 0) return {};
        return std::filesystem::path(source).filename().string() + ":" + std::to_string(number);
    }

  private:
    struct Opened {
        libdw::Session* session = nullptr;
        libdw::Module* module = nullptr;
        libdw::Address bias = 0;
    };

    Library() = default;

    Opened open(std::filesystem::path const& path) {
        Opened file;
        file.session = functions_.begin(&callbacks_);
        if (file.session == nullptr) return file;
        file.module = functions_.report_offline(file.session, path.c_str(), path.c_str(), -1);
        functions_.report_end(file.session, nullptr, nullptr);
        if (file.module != nullptr && functions_.getelf(file.module, &file.bias) == nullptr) file.module = nullptr;
        return file;
    }

    libdw::Callbacks callbacks_{};
    libdw::Functions functions_{};
    std::map<std::filesystem::path, Opened> files_;
};

SourceLines::SourceLines() : library_(Library::load()) {}

SourceLines::~SourceLines() = default;

bool SourceLines::can_tell() const noexcept {
    return library_ != nullptr;
}

std::string SourceLines::at(std::filesystem::path const& file, std::uint64_t address) {
    return library_ ? library_->at(file, address) : std::string();
}

}  // namespace sluice::cli
