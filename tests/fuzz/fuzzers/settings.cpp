// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what reads texts: the settings file and the values in it, sizes, lists of Slurm, names, texts of /proc.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/settings_file.hpp"
#include "base/text/printable.hpp"
#include "base/units.hpp"
#include "kernel/files/descriptor.hpp"
#include "kernel/launcher.hpp"
#include "kernel/proc_text.hpp"
#include "seeds.hpp"
#include "sluice/error.hpp"
#include "sluice/settings.hpp"

namespace sluice::fuzz {

std::vector<std::string> seeds() {
    std::string all = "# a comment\n";
    for (SettingRow const& row : setting_rows())
        all += std::string(row.name) + " = " + std::string(row.default_text) + "\n";
    return {all,
            "staging = 8MiB\nmemory=1.5GB\n",
            "2(x3),1",
            "VmRSS:  1234 kB\n",
            "12 (a b) c) S 1 2 3 4 5 6 7 8",
            "1 2 3 4 5 6 7\n",
            "\xc3\xa9\x1b[2J\xc2\x9b"};
}

namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

void read_sizes(std::string_view text) {
    try {
        Bytes const bytes = base::parse_bytes(text);
        require(base::parse_bytes(base::exact_bytes(bytes)) == bytes);
        base::format_bytes(bytes);
    } catch (Error const&) {  // as it should for most texts
    }
}

void read_names(std::string_view text) {
    std::string const shown = base::printable(text);
    require(base::printable(shown) == shown);
    require(shown.size() <= text.size());
    for (char const c : shown)
        require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

void read_texts_of_kernel(std::string_view text) {
    kernel::bytes_after(text, "VmRSS:");
    kernel::number_of_field(text, 3);
    kernel::statm_in(text);
    kernel::process_stat_in(text);
    for (std::uint64_t const node : {0U, 1U, 1000U})
        kernel::slurm_tasks_on(text, node);
}

void read_settings(std::string_view text) {
    kernel::Descriptor const file(memfd_create("settings", MFD_CLOEXEC));
    require(write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    base::SettingsFile read;
    try {
        read = base::read_settings_file("/proc/self/fd/" + std::to_string(file.get()));
    } catch (Error const&) {
        return;
    }
    for (base::SettingsFile::Entry const& entry : read.entries)
        try {
            Settings settings;
            settings.set(entry.name, entry.value);
            Settings again;
            again.set(entry.name, settings.get(entry.name));
            require(again == settings);
        } catch (Error const&) {  // a value or a name that does not exist
        }
}

}  // namespace

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const text(reinterpret_cast<char const*>(data), size);
    sluice::fuzz::read_sizes(text);
    sluice::fuzz::read_names(text);
    sluice::fuzz::read_texts_of_kernel(text);
    sluice::fuzz::read_settings(text);
    return 0;
}
