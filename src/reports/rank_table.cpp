#include "reports/rank_table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::reports {
namespace {

using telemetry::RankSummary;
using telemetry::Statistic;

const Statistic& shown_psnr_db(const RankSummary& rank) {
  return rank.file_psnr_db.count() == rank.outputs ? rank.file_psnr_db : rank.psnr_db;
}

std::string cells(const Statistic& statistic, int decimals) {
  if (statistic.count() == 0) return fmt::format(" {:>10} {:>7} {:>7}", "-", "-", "-");
  return fmt::format(" {:>10.{}f} {:>7.{}f} {:>7.{}f}", statistic.mean(), decimals,
                     statistic.median(), decimals, statistic.min(), decimals);
}

std::string milliseconds(double seconds, std::int64_t outputs) {
  return text::format_number(1000 * seconds / double(outputs)) + " ms";
}

}  // namespace

std::string rank_table(const std::vector<RankSummary>& ranks) {
  const bool has_ssim =
      std::ranges::any_of(ranks, [](const RankSummary& rank) { return rank.ssim.count() > 0; });
  const std::string quality = fmt::format(" {:>10} {:>7} {:>7}", "PSNR mean", "median", "minimum");
  const std::string ssim = fmt::format(" {:>10} {:>7} {:>7}", "SSIM mean", "median", "minimum");
  constexpr const char* kBegin = "{:<11} {:>9}";
  constexpr const char* kEnd = " {:>10} {:>9} {:>9}\n";
  std::string table = fmt::format(kBegin, "rank", "outputs") + quality + (has_ssim ? ssim : "") +
                      fmt::format(kEnd, "written", "compute", "write");
  for (const RankSummary& rank : ranks) {
    if (rank.outputs == 0) continue;
    table += fmt::format(kBegin, rank.rank, text::group_digits(rank.outputs)) +
             cells(shown_psnr_db(rank), 2) + (has_ssim ? cells(rank.ssim, 4) : "") +
             fmt::format(kEnd, text::format_number(1e-6 * double(rank.output_bytes)) + " MB",
                         milliseconds(rank.compute_s, rank.outputs),
                         milliseconds(rank.write_s, rank.outputs));
  }
  return table;
}

}  // namespace eckart::reports
