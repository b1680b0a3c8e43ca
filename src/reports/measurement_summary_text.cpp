#include <spdlog/fmt/fmt.h>

#include <cmath>
#include <string_view>

#include "reports/measurement_summary.hpp"
#include "text/group_digits.hpp"

namespace eckart::reports {
namespace {

using telemetry::Statistic;
using Summary = MeasurementSummary;

std::string number_text(double value, int decimals) {
  return decimals == 0 ? text::group_digits(std::llround(value))
                       : fmt::format("{:.{}f}", value, decimals);
}

/// Mean, median, 5 and 95 percent of a statistic; dashes if it has no values.
std::string statistic_cells(const Statistic& statistic, int decimals) {
  std::string row;
  for (const double value :
       {statistic.mean(), statistic.median(), statistic.percentile(Summary::kLow),
        statistic.percentile(Summary::kHigh)})
    row += fmt::format(" {:>12}", statistic.count() > 0 ? number_text(value, decimals) : "-");
  return row;
}

std::string statistic_head(std::string_view what) {
  return fmt::format("\n{:<12} {:>12} {:>12} {:>12} {:>12}", what, "mean", "median", "5 %", "95 %");
}

/// A table of one number, with a row for each SPEC.
std::string statistic_table(std::string_view what, const Summary& summary,
                            Statistic Summary::SpecSummary::*of, int decimals) {
  std::string text = statistic_head(what) + "\n";
  for (const Summary::SpecSummary& spec : summary.specs())
    text += fmt::format("{:<12}", spec.spec) + statistic_cells(spec.*of, decimals) + "\n";
  return text;
}

std::string chosen_rank_table(const Summary& summary) {
  std::string text = statistic_head("rank") + fmt::format(" {:>12}\n", "99 % need");
  for (const Summary::SpecSummary& spec : summary.specs()) {
    text += fmt::format("{:<12}", spec.spec) + statistic_cells(spec.rank, 0);
    text += fmt::format(" {:>12}\n", spec.rank.count() > 0
                                         ? number_text(spec.rank.percentile(Summary::kAlmostAll), 0)
                                         : "-");
  }
  return text;
}

std::string spectrum_table(const Summary& summary) {
  if (summary.knee().count() == 0) return {};
  std::string psnr = statistic_head("PSNR at rank") + fmt::format(" {:>12}\n", "images"),
              energy = statistic_head("energy") + "\n";
  for (const Summary::SpectrumRank& at : summary.spectrum()) {
    psnr += fmt::format("{:<12}", at.rank) + statistic_cells(at.psnr_db, 2) +
            fmt::format(" {:>12}\n", text::group_digits(at.psnr_db.count()));
    energy += fmt::format("{:<12}", at.rank) + statistic_cells(at.energy, 5) + "\n";
  }
  return "\nFrom the singular values, before rounding, of images with a higher full rank:\n" +
         psnr + energy + statistic_head("knee") + "\n" + fmt::format("{:<12}", "rank") +
         statistic_cells(summary.knee(), 0) + "\n";
}

}  // namespace

std::string to_text(const Summary& summary) {
  const std::string text =
      chosen_rank_table(summary) +
      statistic_table("PSNR dB", summary, &Summary::SpecSummary::psnr_db, 2) +
      statistic_table("SSIM", summary, &Summary::SpecSummary::ssim, 4) +
      statistic_table("energy", summary, &Summary::SpecSummary::energy, 5) +
      statistic_table("factor bytes", summary, &Summary::SpecSummary::factor_bytes, 0) +
      spectrum_table(summary);
  return text.substr(1);
}

}  // namespace eckart::reports
