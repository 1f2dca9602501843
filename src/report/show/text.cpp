// SPDX-License-Identifier: BSD-3-Clause
#include "report/show/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/columns.hpp"
#include "report/advice/advice.hpp"
#include "report/advice/advice_on_objects.hpp"
#include "report/show/times.hpp"
#include "report/show/why/what_happened.hpp"
#include "report/show/words.hpp"
#include "report/summary/summary_json.hpp"
#include "report/summary/valid.hpp"

namespace sluice::report {

namespace {

/// How much a reader needs a paragraph. Where the screen is full, the least needed are left out. `served`: what a
/// service did that the user has asked for; it is never left out, and does not count.
enum class Need { always, served, answer, more, rest };

/// Paragraphs with labels in front, in the order in which they are put.
class Screen {
  public:
    void put_title(std::string const& text) { add(Need::always, {}, base::wrapped("", text, k_text_columns)); }
    /// Paragraphs of one label follow each other: the label stands before the first.
    void put(std::string_view label, std::string const& text, Need need) { add(need, label, text); }

    /// Leaves out what is needed least, the last of it first, and says how much that was.
    std::string take() {
        std::size_t left_out = 0;
        for (Need const need : {Need::rest, Need::more, Need::answer})
            for (std::size_t i = paragraphs_.size(); i-- > 0 && lines(left_out) > k_text_lines;)
                if (paragraphs_[i].need == need && std::exchange(paragraphs_[i].shown, false)) ++left_out;
        std::string text;
        std::string_view label;
        for (Paragraph const& paragraph : paragraphs_) {
            if (!paragraph.shown) continue;
            text += wrapped(paragraph.label == label ? std::string_view() : paragraph.label, paragraph);
            label = paragraph.label;
        }
        if (left_out == 0) return text;
        return text + base::wrapped(label_of("left out"),
                                    plural(left_out, "paragraph") + ", which the page of the report has",
                                    k_text_columns);
    }

  private:
    struct Paragraph {
        Need need;
        std::string label;
        std::string text;
        bool shown = true;
    };
    void add(Need need, std::string_view label, std::string text) {
        paragraphs_.push_back({need, std::string(label), std::move(text)});
    }
    static std::string label_of(std::string_view label) { return fmt::format("{:<11}", label); }
    static std::string wrapped(std::string_view label, Paragraph const& paragraph) {
        if (paragraph.label.empty()) return paragraph.text;  // the title
        return base::wrapped(label_of(label), paragraph.text, k_text_columns);
    }
    std::size_t lines(std::size_t left_out) const {
        std::size_t count = left_out > 0 ? 1 : 0;
        for (Paragraph const& paragraph : paragraphs_)
            if (paragraph.shown && paragraph.need != Need::served) {
                std::string const text = wrapped(paragraph.label, paragraph);
                count += static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
            }
        return count;
    }

    std::vector<Paragraph> paragraphs_;
};

std::string heading(Summary const& s) {
    std::string text = "Sluice report · " + plural(s.world_size, "rank");
    if (!s.mpi.empty()) text += " · " + s.mpi;
    return text + " · " + time_text(s.duration_us) + " · " + outcome_text(s);
}

/// Returns an empty text without the setting `identify`.
std::string identified(Summary const& s) {
    std::string text = s.identity.user.empty() ? std::string() : "by " + s.identity.user;
    std::vector<std::string> hosts;
    for (NodeSum const& node : s.nodes)
        if (std::string host = text_of(node.host); !host.empty()) hosts.push_back(std::move(host));
    std::sort(hosts.begin(), hosts.end());
    hosts.erase(std::unique(hosts.begin(), hosts.end()), hosts.end());
    for (std::size_t i = 0; i < std::min<std::size_t>(hosts.size(), 3); ++i)
        text += (i > 0 ? ", " : " on ") + hosts[i];
    if (hosts.size() > 3) text += fmt::format(" and {} more", hosts.size() - 3);
    if (!s.identity.command.empty()) text += ": " + s.identity.command;
    return text;
}

std::string peaks(Summary const& s) {
    std::string text = fmt::format("peak of a rank: least {}, mean {}, most {}", kib_text(s.peak_kib.least),
                                   kib_text(static_cast<std::uint64_t>(s.peak_kib.mean())), kib_text(s.peak_kib.most));
    return text + fmt::format(" on rank {} {}", s.highest.rank, when_of_peak(s));
}

std::string split(Summary const& s) {
    record::Sample const& sample = s.highest.sample;
    std::string text = fmt::format(
        "rank {} then: application {}, MPI private {}, MPI shared {}, libraries and files {}, Sluice {} ({} of it "
        "fixed); "
        "in flight {}",
        s.highest.rank, kib_text(part_of(sample, Owner::application)), kib_text(sample.mpi_private),
        kib_text(sample.mpi_shared), kib_text(sample.files), kib_text(sample.sluice),
        kib_text(s.highest.sluice_fixed_kib), kib_text(sample.in_flight));
    if (s.in_flight_kib.most > sample.in_flight)
        text +=
            fmt::format(" (at its own peak {} on rank {})", kib_text(s.in_flight_kib.most), s.in_flight_kib.most_rank);
    if (s.huge_kib.most > 0)
        text += fmt::format("; beside that up to {} in reserved huge pages, on rank {}", kib_text(s.huge_kib.most),
                            s.huge_kib.most_rank);
    return text;
}

/// Only of a job whose MPI registers memory. Its own rings count, too.
std::string registered(Summary const& s) {
    if (s.pinned_kib.most == 0) return {};
    return fmt::format("at most {} on a rank; {} if all its buffers stayed registered, {} if each message registered",
                       kib_text(s.pinned_kib.most), kib_text(s.left_pinned_kib.most),
                       kib_text(s.used_at_once_kib.most));
}

std::string ours(Summary const& s) {
    if (s.served_calls == 0)
        return s.passed_on == 0 ? "watched; served no call"
                                : fmt::format("watched; served no call, passed on {}", plural(s.passed_on, "call"));
    std::string served = fmt::format("served {}, {} to other ranks", plural(s.served_calls, "in-place all-to-all"),
                                     size_text(s.served_bytes));
    if (s.saved_bytes.most == 0) return served;
    return served + fmt::format("; saved up to {} of extra memory on a rank", size_text(s.saved_bytes.most));
}

char const* words_for(record::State state) {
    switch (state) {
        case record::State::running:
            return "still running";
        case record::State::finalizing:
            return "in MPI_Finalize";
        case record::State::unknown:
            return "not known";
        case record::State::exited:
            return "ended without MPI_Finalize";
        default:
            return name_of(state);
    }
}

/// Says which ranks held how much memory, and in which call: the largest groups first.
void put_whereabouts(Screen& screen, Summary const& s) {
    std::vector<Whereabouts const*> rows;
    for (Whereabouts const& row : s.now)
        rows.push_back(&row);
    std::sort(rows.begin(), rows.end(), [](Whereabouts const* a, Whereabouts const* b) {
        return a->resident_kib.most != b->resident_kib.most ? a->resident_kib.most > b->resident_kib.most
                                                            : a->site < b->site;
    });
    bool const several_states =
        std::any_of(rows.begin(), rows.end(), [&rows](Whereabouts const* row) { return row->state != rows[0]->state; });
    std::size_t const shown = std::min<std::size_t>(rows.size(), 4);
    for (std::size_t i = 0; i < shown; ++i) {
        Whereabouts const& row = *rows[i];
        std::string text = row.ranks.text(s.world_size);
        if (several_states) text += fmt::format(" ({})", words_for(row.state));
        text += " at " + time_text(row.last_us.least);
        if (time_text(row.last_us.most) != time_text(row.last_us.least)) text += " … " + time_text(row.last_us.most);
        text += (row.function.empty() ? " " : " in ") + call_text(row.function, row.place);
        if (row.since_us.most > 0) text += " for " + time_text(row.since_us.most);
        text += row.ranks.count() == 1 ? fmt::format(", held {}", kib_text(row.resident_kib.most))
                                       : fmt::format(", held {} … {} (rank {})", kib_text(row.resident_kib.least),
                                                     kib_text(row.resident_kib.most), row.resident_kib.most_rank);
        screen.put("last seen", text, Need::answer);
    }
    if (rows.size() > shown)
        screen.put("last seen", fmt::format("and in {} other calls", rows.size() - shown), Need::more);
}

/// The first sentence is the most pressing, the last one what the job needs.
void put_advice(Screen& screen, Summary const& s) {
    std::vector<std::string> const advice = advice_for(s);
    for (std::size_t i = 0; i < advice.size(); ++i)
        screen.put("advice", advice[i], i == 0 || i + 1 == advice.size() ? Need::answer : Need::more);
}

}  // namespace

std::vector<std::string> service_lines(Summary const& s) {
    std::vector<std::string> lines;
    std::string const* service = nullptr;
    for (CounterSum const& counter : s.counters) {
        if (counter.count.sum == 0) continue;
        bool const is_next = service != nullptr && *service == counter.service;
        if (!is_next) lines.push_back(counter.service + ":");
        lines.back() += fmt::format("{} {} {}", is_next ? "," : "", count_text(counter.count.sum), counter.what);
        service = &counter.service;
    }
    return lines;
}

std::string outcome_text(Summary const& s) {
    std::uint64_t const alive =
        s.in_state(record::State::running).count() + s.in_state(record::State::finalizing).count();
    if (s.all_seen_ended()) return "ended";
    return alive > 0 && alive + s.in_state(record::State::ended).count() == s.ranks_seen ? "still running"
                                                                                         : "did not end";
}

std::string state_text(Summary const& s) {
    if (s.all_ended()) return "ended";
    std::string text;
    for (std::size_t i = 0; i < k_states; ++i) {
        if (s.states[i].count() == 0) continue;
        text += (text.empty() ? "" : ", ") + s.states[i].text(s.world_size) + " " +
                words_for(static_cast<record::State>(i));
    }
    return text;
}

std::string to_screen(Summary const& s) {
    Screen screen;
    screen.put_title(heading(s));
    if (std::string const text = identified(s); !text.empty()) screen.put("run", text, Need::more);
    if (!s.all_ended()) {
        screen.put("state", state_text(s) + ", last sign of life at " + time_text(s.duration_us), Need::always);
        Need need = Need::always;
        for (std::string const& line : what_happened(s))
            screen.put("why", line, std::exchange(need, Need::answer));
        put_whereabouts(screen, s);
    }
    screen.put("memory", peaks(s), Need::answer);
    screen.put("memory", split(s), Need::answer);
    std::vector<Consumer> const consumers = consumers_of(s);
    for (std::size_t i = 0; i < std::min<std::size_t>(consumers.size(), 3); ++i)
        screen.put("consumers",
                   fmt::format("{:>8}  {}: {}, rank {}", size_text(consumers[i].bytes), consumers[i].who,
                               consumers[i].how, consumers[i].rank),
                   i == 0 ? Need::answer : Need::rest);
    if (!s.all_ended()) put_advice(screen, s);
    screen.put("time", time_line(s), Need::more);
    if (std::string const text = hidden_line(s); !text.empty()) screen.put("hidden", text, Need::served);
    if (std::string const text = line_on_objects(s); !text.empty()) screen.put("objects", text, Need::answer);
    screen.put("Sluice", ours(s), s.served_calls > 0 ? Need::served : Need::rest);
    for (std::string const& line : service_lines(s))
        screen.put("Sluice", line,
                   line.starts_with("samples:") ? Need::answer : Need::served);  // it limits the figures
    if (s.all_ended()) put_advice(screen, s);
    if (std::string const text = registered(s); !text.empty()) screen.put("registered", text, Need::served);
    return screen.take();
}

}  // namespace sluice::report
