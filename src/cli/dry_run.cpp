#include "cli/dry_run.hpp"

#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>

#include "reports/not_read_json.hpp"
#include "reports/run_report_text.hpp"
#include "text/format_count.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct DryRunCounts {
  std::int64_t created = 0, unchanged = 0, reprocessed = 0, collisions = 0;
  std::map<std::string, std::int64_t> collisions_by_advice{};

  /// Counts the decision and returns its name.
  const char* add(const pipeline::OutputDecision& decision) {
    switch (decision.action) {
      case pipeline::OutputAction::create:
        ++created;
        return "new";
      case pipeline::OutputAction::skip:
        ++unchanged;
        return "same";
      case pipeline::OutputAction::reprocess:
        ++reprocessed;
        return "reprocessed";
      case pipeline::OutputAction::compare:
      case pipeline::OutputAction::reject:
        break;
    }
    ++collisions;
    const bool may_be_equal = decision.action == pipeline::OutputAction::compare;
    ++collisions_by_advice[(may_be_equal
                                ? "run without --dry-run, which keeps equal files; for others, "
                                : "") +
                           collision_advice(decision)];
    return "collision";
  }
};

/// Returns the explanation of a decision to replace a file or not to write it, in parentheses.
std::string explanation_text(const pipeline::OutputDecision& decision) {
  const bool is_expected = decision.action == pipeline::OutputAction::create ||
                           decision.action == pipeline::OutputAction::skip;
  return is_expected ? "" : " (" + decision.explanation + ")";
}

/// Prints the decisions for an item as JSON, one line for each output.
void print_json(const pipeline::WorkItem& item, std::span<const pipeline::OutputDecision> decisions,
                DryRunCounts& counts) {
  const auto print = [](const text::Json& json) {
    std::printf("%s\n", text::dump_json(json).c_str());
  };
  if (decisions.empty())
    print({{"kind", "dry_run_failure"},
           {"input", item.file.native()},
           {"reason", to_string(item.outcome.reason)},
           {"detail", item.outcome.detail}});
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const std::string& why = decisions[i].explanation;
    print({{"kind", "dry_run_output"},
           {"input", item.file.native()},
           {"output", item.outputs[i].native()},
           {"action", counts.add(decisions[i])},
           {"detail", why.empty() ? text::Json() : text::Json(why)}});
  }
}

void print_json_sum(const telemetry::RunReport& report, const DryRunCounts& counts,
                    const std::string& refusal) {
  const text::Json json = {{"kind", "dry_run_summary"},
                           {"inputs", report.images()},
                           {"input_bytes", report.input_bytes},
                           {"would_fail", report.failed},
                           {"ignored", report.ignored},
                           {"not_read", reports::not_read_json(report.not_read)},
                           {"new", counts.created},
                           {"same", counts.unchanged},
                           {"reprocessed", counts.reprocessed},
                           {"collisions", counts.collisions},
                           {"refusal", refusal.empty() ? text::Json() : text::Json(refusal)},
                           {"warnings", report.warnings}};
  std::printf("%s\n", text::dump_json(json).c_str());
}

void print_sum(const telemetry::RunReport& report, const DryRunCounts& counts) {
  const std::string fail =
      report.failed > 0 ? ", " + text::group_digits(report.failed) + " would fail" : "";
  std::fprintf(stderr,
               "inputs: %s, %s MB to read%s\n"
               "outputs: %s new, %s same, %s reprocessed, %s\n",
               text::group_digits(report.images()).c_str(),
               text::format_number(1e-6 * double(report.input_bytes)).c_str(), fail.c_str(),
               text::group_digits(counts.created).c_str(),
               text::group_digits(counts.unchanged).c_str(),
               text::group_digits(counts.reprocessed).c_str(),
               text::format_count(counts.collisions, "collision").c_str());
  for (const auto& [advice, collisions] : counts.collisions_by_advice)
    std::fprintf(stderr, "to resolve %s, %s\n", text::format_count(collisions, "collision").c_str(),
                 advice.c_str());
  if (report.ignored > 0)
    std::fprintf(stderr, "ignored: %s\n", reports::ignored_text(report).c_str());
  for (const std::string& warning : report.warnings)
    std::fprintf(stderr, "note: %s\n", warning.c_str());
}

}  // namespace

telemetry::RunReport dry_run(app::Run& run, const DryRunOptions& options) {
  DryRunCounts counts;
  telemetry::RunReport report = run.dry_run(
      [&](const pipeline::WorkItem& item, std::span<const pipeline::OutputDecision> decisions) {
        if (options.json) return print_json(item, decisions, counts);
        const std::string file = text::printable(item.file.native());
        if (decisions.empty())
          std::printf("%s: would fail: %s\n", file.c_str(),
                      text::printable_message(item.outcome.detail).c_str());
        for (std::size_t i = 0; i < decisions.size(); ++i)
          std::printf("%s -> %s: %s%s\n", file.c_str(),
                      text::printable(item.outputs[i].native()).c_str(), counts.add(decisions[i]),
                      text::printable_message(explanation_text(decisions[i])).c_str());
      });
  if (options.json) print_json_sum(report, counts, options.refusal);
  std::fflush(stdout);  // before the sum on stderr
  if (options.show_sum) print_sum(report, counts);
  if (options.show_sum && !options.refusal.empty())
    std::fprintf(stderr, "the run would do nothing and end with %d: %s\n", int(ExitCode::usage),
                 options.refusal.c_str());
  return report;
}

}  // namespace eckart::cli
