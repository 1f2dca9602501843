// SPDX-License-Identifier: BSD-3-Clause
#include "report/summary/summary_json.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>

#include "base/text/printable.hpp"
#include "report/summary/summary_fields.hpp"
#include "report/summary/valid.hpp"
#include "sluice/error.hpp"

namespace sluice::report {

namespace {

using nlohmann::json;

constexpr std::array k_kind_names{"other",      "setup",        "send",   "receive",   "completion",
                                  "collective", "communicator", "window", "one-sided", "file"};
constexpr std::array k_object_names{"none",   "request",   "datatype", "communicator",  "group",
                                    "window", "operation", "info",     "error_handler", "file"};
static_assert(k_object_names.size() == record::k_objects);
constexpr std::array k_seen_names{"at a sample", "between samples", "before MPI_Init"};
constexpr std::array k_how_names{"abort", "exit", "signal", "error", "unknown"};
constexpr std::array k_state_names{"running", "finalizing", "ended", "exited", "aborted", "gone", "unknown"};
static_assert(k_kind_names.size() == k_kinds && k_state_names.size() == k_states);

// JsonWriter and JsonReader go over the lists of summary_fields.hpp.
struct JsonWriter {
    json& out;
    template <class T>
    void operator()(char const* name, T const& value) {
        out[name] = put(value);
    }
    template <class T>
    static json put(T const& value);
};

struct JsonReader {
    json const& in;
    template <class T>
    void operator()(char const* name, T& value) {
        get(in.at(name), value);
    }
    template <class T>
    static void get(json const& in, T& value);
};

template <class T>
concept Listed = requires(JsonWriter& w, T& t) {
    fields(w, t);
};

json put_value(RankSet const& set) {
    json ranges = json::array();
    for (std::uint32_t const rank : set.lowest()) {
        if (!ranges.empty() && ranges.back()[1].get<std::uint32_t>() + 1 == rank)
            ranges.back()[1] = rank;
        else
            ranges.push_back({rank, rank});
    }
    return {{"count", set.count()}, {"ranges", ranges}};
}

void get_value(json const& in, RankSet& set) {
    std::vector<std::uint32_t> lowest;
    for (json const& range : in.at("ranges")) {
        auto const last = range.at(1).get<std::uint64_t>();
        for (auto rank = range.at(0).get<std::uint64_t>(); rank <= last && lowest.size() < RankSet::k_named; ++rank)
            lowest.push_back(static_cast<std::uint32_t>(rank));
    }
    set = RankSet(in.at("count").get<std::uint64_t>(), lowest);
}

/// Long tables are stored by column: that is shorter, and it is the form that the page reads.
template <class Row, class... Members>
json columns(std::vector<Row> const& rows, std::array<char const*, sizeof...(Members)> names, Members... members) {
    json out;
    std::size_t next = 0;
    auto const add = [&](auto member) {
        json column = json::array();
        for (Row const& row : rows)
            column.push_back(row.*member);
        out[names[next++]] = std::move(column);
    };
    (add(members), ...);
    return out;
}

template <class Row, class... Members>
void from_columns(json const& in, std::vector<Row>& rows, std::array<char const*, sizeof...(Members)> names,
                  Members... members) {
    std::size_t next = 0;
    rows.assign(in.at(names[0]).size(), Row{});
    auto const read = [&](auto member) {
        json const& column = in.at(names[next++]);
        for (std::size_t i = 0; i < rows.size(); ++i)
            column.at(i).get_to(rows[i].*member);
    };
    (read(members), ...);
}

// Applies `apply` to the three long tables, for columns() and from_columns().
auto with_samples(auto&& apply) {
    return apply(std::array{"time_us", "resident_kib", "mpi_private_kib", "mpi_shared_kib", "files_kib", "sluice_kib",
                            "in_flight_kib", "pinned_kib", "left_pinned_kib", "used_at_once_kib", "site"},
                 &record::Sample::time_us, &record::Sample::resident, &record::Sample::mpi_private,
                 &record::Sample::mpi_shared, &record::Sample::files, &record::Sample::sluice,
                 &record::Sample::in_flight, &record::Sample::pinned, &record::Sample::left_pinned,
                 &record::Sample::used_at_once, &record::Sample::site);
}
auto with_events(auto&& apply) {
    return apply(std::array{"start_us", "duration_us", "site", "bytes"}, &record::Event::start_us,
                 &record::Event::duration_us, &record::Event::site, &record::Event::bytes);
}
auto with_cells(auto&& apply) {
    return apply(std::array{"from", "to", "bytes", "messages"}, &Cell::from, &Cell::to, &Cell::bytes, &Cell::messages);
}

json put_value(std::vector<record::Sample> const& rows) {
    return with_samples([&](auto... list) { return columns(rows, list...); });
}
json put_value(std::vector<record::Event> const& rows) {
    return with_events([&](auto... list) { return columns(rows, list...); });
}
json put_value(std::vector<Cell> const& rows) {
    return with_cells([&](auto... list) { return columns(rows, list...); });
}
void get_value(json const& in, std::vector<record::Sample>& rows) {
    with_samples([&](auto... list) { from_columns(in, rows, list...); });
}
void get_value(json const& in, std::vector<record::Event>& rows) {
    with_events([&](auto... list) { from_columns(in, rows, list...); });
}
void get_value(json const& in, std::vector<Cell>& rows) {
    with_cells([&](auto... list) { from_columns(in, rows, list...); });
}

constexpr std::array k_parts{0.0, 0.1, 0.5, 0.9, 1.0};
constexpr std::array k_part_names{"min", "p10", "p50", "p90", "max"};

/// The quantiles are for other readers; only the histogram is read back.
json put_value(OverRanks const& over) {
    json out{{"bin_us", over.bin_us()}, {"ranks", json::array()}, {"histogram", json::array()}};
    for (std::size_t i = 0; i < k_parts.size(); ++i) {
        json column = json::array();
        for (OverRanks::Bin const& bin : over.bins())
            column.push_back(OverRanks::quantile(bin, k_parts[i]));
        out[k_part_names[i]] = std::move(column);
    }
    for (OverRanks::Bin const& bin : over.bins()) {
        std::uint64_t ranks = 0;
        json flat = json::array({bin.least, bin.most});
        for (auto const& [bucket, count] : bin.counts) {
            flat.push_back(bucket);
            flat.push_back(count);
            ranks += count;
        }
        out["ranks"].push_back(ranks);
        out["histogram"].push_back(std::move(flat));
    }
    return out;
}

void get_value(json const& in, OverRanks& over) {
    std::vector<OverRanks::Bin> bins;
    for (json const& flat : in.at("histogram")) {
        OverRanks::Bin bin{flat.at(0).get<std::uint32_t>(), flat.at(1).get<std::uint32_t>(), {}};
        for (std::size_t i = 2; i + 1 < flat.size(); i += 2)
            bin.counts.emplace_back(flat[i].get<std::uint32_t>(), flat[i + 1].get<std::uint32_t>());
        bins.push_back(std::move(bin));
    }
    over = OverRanks(in.at("bin_us").get<std::uint64_t>(), std::move(bins));
}

template <std::size_t N>
std::size_t index_of(std::array<char const*, N> const& names, std::string const& name) {
    auto const found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw Error(ErrorCode::invalid_argument, "unknown name '" + name + "'");
    return static_cast<std::size_t>(found - names.begin());
}

json put_value(std::array<char, 64> const& text) {
    return text_of(text);
}
void get_value(json const& in, std::array<char, 64>& text) {
    std::string const plain = base::printable(in.get<std::string>());
    text.fill('\0');
    plain.copy(text.data(), text.size() - 1);
}

json put_value(record::Kind kind) {
    return name_of(kind);
}
json put_value(record::State state) {
    return name_of(state);
}
json put_value(record::Object object) {
    return k_object_names[static_cast<std::size_t>(checked(object))];
}
json put_value(record::PeakSeen seen) {
    return k_seen_names[static_cast<std::size_t>(seen)];
}
json put_value(How how) {
    return k_how_names[static_cast<std::size_t>(how)];
}
void get_value(json const& in, record::Kind& kind) {
    kind = static_cast<record::Kind>(index_of(k_kind_names, in.get<std::string>()));
}
void get_value(json const& in, record::Object& object) {
    object = static_cast<record::Object>(index_of(k_object_names, in.get<std::string>()));
}
void get_value(json const& in, record::PeakSeen& seen) {
    seen = static_cast<record::PeakSeen>(index_of(k_seen_names, in.get<std::string>()));
}
void get_value(json const& in, How& how) {
    how = static_cast<How>(index_of(k_how_names, in.get<std::string>()));
}
void get_value(json const& in, record::State& state) {
    state = static_cast<record::State>(index_of(k_state_names, in.get<std::string>()));
}

template <class T>
json put_value(std::optional<T> const& value) {
    return value ? json(*value) : json(nullptr);
}
template <class T>
void get_value(json const& in, std::optional<T>& value) {
    value = in.is_null() ? std::nullopt : std::optional<T>(in.get<T>());
}

template <class T>
inline constexpr bool k_is_list = false;
template <class T>
inline constexpr bool k_is_list<std::vector<T>> = true;
template <class T, std::size_t N>
inline constexpr bool k_is_list<std::array<T, N>> = true;

template <class T>
json JsonWriter::put(T const& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
        return value;
    } else if constexpr (requires { put_value(value); }) {
        return put_value(value);
    } else if constexpr (k_is_list<T>) {
        json out = json::array();
        for (auto const& item : value)
            out.push_back(put(item));
        return out;
    } else {
        static_assert(Listed<T>);
        json out = json::object();
        JsonWriter writer{out};
        fields(writer, const_cast<T&>(value));  // a JsonWriter only reads
        return out;
    }
}

template <class T>
void JsonReader::get(json const& in, T& value) {
    if constexpr (std::is_integral_v<T>) {
        // nlohmann would truncate a number that does not fit.
        auto const wide = in.get<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>();
        if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max())
            throw Error(ErrorCode::invalid_argument, "the number " + in.dump() + " is too large");
        value = static_cast<T>(wide);
    } else if constexpr (std::is_same_v<T, std::string>) {
        value = base::printable(in.get<std::string>());  // any program may have written the file
    } else if constexpr (requires { get_value(in, value); }) {
        get_value(in, value);
    } else if constexpr (k_is_list<T>) {
        if constexpr (requires { value.resize(1); }) {
            if (!in.is_array()) throw Error(ErrorCode::invalid_argument, "a list is missing");
            value.clear();
            value.resize(in.size());
        }
        for (std::size_t i = 0; i < value.size(); ++i)
            get(in.at(i), value[i]);
    } else {
        static_assert(Listed<T>);
        JsonReader reader{in};
        fields(reader, value);
    }
}

/// Restores the order that merge() and the reports rely on, whatever program wrote the file.
void restore_order(Summary& summary) {
    std::sort(summary.sites.begin(), summary.sites.end(),
              [](SiteSum const& a, SiteSum const& b) { return a.id < b.id; });
    std::sort(summary.objects.begin(), summary.objects.end(),
              [](ObjectSum const& a, ObjectSum const& b) { return a.kind < b.kind; });
    std::sort(summary.counters.begin(), summary.counters.end(), [](CounterSum const& a, CounterSum const& b) {
        return std::tie(a.service, a.what) < std::tie(b.service, b.what);
    });
    std::sort(summary.ends.begin(), summary.ends.end(),
              [](EndSum const& a, EndSum const& b) { return std::tie(a.how, a.code) < std::tie(b.how, b.code); });
    if (summary.world_size == 0) throw Error(ErrorCode::invalid_argument, "a job of no ranks");
}

}  // namespace

char const* name_of(record::Kind kind) {
    auto const index = static_cast<std::size_t>(kind);
    return k_kind_names[index < k_kinds ? index : 0];
}

char const* name_of(record::State state) {
    auto const index = static_cast<std::size_t>(state);
    return k_state_names[index < k_states ? index : 0];
}

void to_json(json& out, Summary const& summary) {
    out = JsonWriter::put(summary);
    out["format"] = k_summary_format;
    out["what"] = "Sluice report";
}

void from_json(json const& in, Summary& summary) {
    if (!in.is_object() || in.value("what", "") != "Sluice report")
        throw Error(ErrorCode::invalid_argument, "it is not a Sluice report");
    if (auto const format = in.value("format", 0); format != static_cast<int>(k_summary_format))
        throw Error(ErrorCode::unsupported, "its format is " + std::to_string(format) + ", this version reads " +
                                                std::to_string(k_summary_format));
    Summary result;
    JsonReader::get(in, result);
    restore_order(result);
    summary = std::move(result);
}

std::string to_text(Summary const& summary) {
    json out;
    to_json(out, summary);
    return out.dump() + "\n";
}

Summary from_text(std::string const& text, std::string const& origin) {
    try {
        Summary summary;
        from_json(json::parse(text), summary);
        return summary;
    } catch (json::parse_error const& error) {
        throw Error(ErrorCode::invalid_argument,
                    origin + (text.empty() ? ": it is empty"
                              : error.byte >= text.size()
                                  ? ": it is cut off after " + std::to_string(text.size()) + " bytes"
                                  : ": it is not JSON from byte " + std::to_string(error.byte) + " on"));
    } catch (json::exception const& error) {
        // The text is like "[json.exception.out_of_range.403] key 'x' not found".
        std::string const why = error.what();
        throw Error(ErrorCode::invalid_argument,
                    origin + ": it is not a whole report: " +
                        why.substr(why.find("] ") == std::string::npos ? 0 : why.find("] ") + 2));
    } catch (Error const& error) {
        throw Error(ErrorCode::invalid_argument, origin + ": " + error.what());
    }
}

std::vector<std::uint8_t> to_bytes(Summary const& summary) {
    json out;
    to_json(out, summary);
    return json::to_cbor(out);
}

Summary from_bytes(std::span<std::uint8_t const> bytes) {
    try {
        Summary summary;
        from_json(json::from_cbor(bytes.begin(), bytes.end()), summary);
        return summary;
    } catch (json::exception const& error) {
        throw Error(ErrorCode::invalid_argument, std::string("the bytes of a report: ") + error.what());
    }
}

}  // namespace sluice::report
