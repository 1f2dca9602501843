// SPDX-License-Identifier: BSD-3-Clause
#include "cli/run/program.hpp"

#include <elf.h>
#include <link.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "cli/support/launch.hpp"

namespace sluice::cli {

namespace {

template <class T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& into) {
    file.seekg(static_cast<std::streamoff>(offset));
    file.read(reinterpret_cast<char*>(&into), sizeof into);
    return static_cast<bool>(file);
}

/// Returns the header of this process's own program.
ElfW(Ehdr) own_header() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    ElfW(Ehdr) header{};
    read_at(file, 0, header);
    return header;
}

std::string interpreter_of(std::ifstream& file, ElfW(Ehdr) const& header) {
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        ElfW(Phdr) part{};
        if (!read_at(file, header.e_phoff + i * header.e_phentsize, part)) return {};
        if (part.p_type != PT_INTERP || part.p_filesz > 4096) continue;
        std::string name(part.p_filesz, '\0');
        file.seekg(static_cast<std::streamoff>(part.p_offset));
        file.read(name.data(), static_cast<std::streamsize>(name.size()));
        name.resize(std::strlen(name.c_str()));
        return name;
    }
    return {};
}

/// Returns whether the program gets capabilities from its file; root has them all.
bool gives_capabilities(std::filesystem::path const& file) {
    if (getuid() == 0) return false;
    std::array<__le32, XATTR_CAPS_SZ_3 / sizeof(__le32)> words{};
    ssize_t const bytes = getxattr(file.c_str(), "security.capability", words.data(), sizeof words);
    if (bytes < static_cast<ssize_t>(2 * sizeof(__le32))) return false;
    bool gives = (words[0] & htole32(VFS_CAP_FLAGS_EFFECTIVE)) != 0;
    // Pairs of what the program may use and what it inherits, in one or two halves.
    for (std::size_t at = 1; at < 4 && at * sizeof(__le32) < static_cast<std::size_t>(bytes); at += 2)
        gives = gives || words[at] != 0;
    return gives;
}

/// Returns whether the kernel tells the loader to be careful (AT_SECURE), which then preloads nothing.
bool is_privileged(std::filesystem::path const& file) {
    if (geteuid() != getuid() || getegid() != getgid()) return true;
    struct statvfs system {};
    if (statvfs(file.c_str(), &system) == 0 && (system.f_flag & ST_NOSUID) != 0) return false;
    struct stat status {};
    if (stat(file.c_str(), &status) != 0) return false;
    bool const other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
    bool const other_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getgid();
    return other_user || other_group || gives_capabilities(file);
}

}  // namespace

Program look_at(std::filesystem::path const& file) {
    ElfW(Ehdr) const ours = own_header();  // first: there may be one free descriptor
    std::ifstream stream(file, std::ios::binary);
    ElfW(Ehdr) header{};
    char magic[4] = {};
    if (!stream.read(magic, sizeof magic)) return {};
    if (is_privileged(file)) return {ProgramKind::privileged, {}};
    if (std::memcmp(magic, ELFMAG, SELFMAG) != 0) return {ProgramKind::script, {}};
    if (!read_at(stream, 0, header) || header.e_ident[EI_CLASS] != ours.e_ident[EI_CLASS] ||
        header.e_machine != ours.e_machine)
        return {ProgramKind::foreign, {}};
    std::string const loader = interpreter_of(stream, header);
    if (loader.empty()) return {ProgramKind::static_binary, {}};
    return {ProgramKind::dynamic, loader};
}

std::vector<std::string> libraries_of(Program const& program, std::filesystem::path const& file) {
    std::vector<std::string> libraries;
    // Lines are "  libmpi.so.40 => /usr/lib/libmpi.so.40 (0x…)".
    Ended const ended =
        launch({program.loader.string(), "--list", file.string()}, {}, 10, [&](std::string const& line) {
            std::istringstream words(line);
            std::string name;
            words >> name;
            if (!name.empty()) libraries.push_back(name.substr(name.rfind('/') + 1));
        });
    if (ended.silent) throw std::runtime_error("the loader does not answer");
    if (ended.code > 128) throw std::runtime_error("the loader ended by signal " + std::to_string(ended.code - 128));
    return libraries;
}

}  // namespace sluice::cli
