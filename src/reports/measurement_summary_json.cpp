#include "reports/measurement_summary.hpp"
#include "text/json.hpp"

namespace eckart::reports {
namespace {

using telemetry::Statistic;
using text::Json;
using Summary = MeasurementSummary;

Json statistic_json(const Statistic& statistic) {
  if (statistic.count() == 0) return {};
  return {{"mean", statistic.mean()},
          {"median", statistic.median()},
          {"p5", statistic.percentile(Summary::kLow)},
          {"p95", statistic.percentile(Summary::kHigh)}};
}

Json spec_json(const Summary::SpecSummary& spec) {
  return {{"rank_spec", spec.spec},
          {"images", spec.rank.count()},
          {"rank", statistic_json(spec.rank)},
          {"rank_99_percent_need",
           spec.rank.count() > 0 ? Json(spec.rank.percentile(Summary::kAlmostAll)) : Json()},
          {"psnr_db", statistic_json(spec.psnr_db)},
          {"ssim", statistic_json(spec.ssim)},
          {"energy", statistic_json(spec.energy)},
          {"factor_bytes", statistic_json(spec.factor_bytes)}};
}

}  // namespace

std::string to_json(const Summary& summary, std::int64_t done, std::int64_t failed) {
  Json ranks = Json::array(), spectrum = Json::array();
  for (const Summary::SpecSummary& spec : summary.specs()) ranks.push_back(spec_json(spec));
  for (const Summary::SpectrumRank& at : summary.spectrum())
    spectrum.push_back({{"rank", at.rank},
                        {"images", at.energy.count()},
                        {"psnr_before_rounding_db", statistic_json(at.psnr_db)},
                        {"energy", statistic_json(at.energy)}});
  return text::dump_json({{"kind", "measurement"},
                          {"done", done},
                          {"failed", failed},
                          {"ranks", ranks},
                          {"spectrum", spectrum},
                          {"knee", statistic_json(summary.knee())}});
}

}  // namespace eckart::reports
