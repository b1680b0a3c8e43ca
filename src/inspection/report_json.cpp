#include "core/rank_spec.hpp"
#include "inspection/report.hpp"
#include "text/json.hpp"

namespace eckart::inspection {
namespace {

using text::finite_or_null;
using text::Json;

Json to_json(const Reconstruction& result, const ImageShape& matrices) {
  return {{"rank_spec", to_string(result.policy)},
          {"rank", result.rank()},
          {"channel_ranks", result.channel_ranks},
          {"energy", result.energy},
          {"psnr_before_rounding_db", finite_or_null(result.psnr_before_rounding_db)},
          {"psnr_db", finite_or_null(result.psnr_db)},
          {"ssim", finite_or_null(result.ssim)},
          {"rmse", result.rmse},
          {"factor_bytes", result.factor_bytes},
          {"factor_share", double(result.factor_bytes) / double(matrices.bytes())}};
}

Json to_json(const std::vector<Reconstruction>& results, const ImageShape& matrices) {
  Json array = Json::array();
  for (const Reconstruction& result : results) array.push_back(to_json(result, matrices));
  return array;
}

Json to_json(const std::vector<CurvePoint>& curve) {
  Json energy = Json::array(), psnr = Json::array(), bytes = Json::array();
  for (const CurvePoint& point : curve) {
    energy.push_back(point.energy);
    psnr.push_back(finite_or_null(point.psnr_db));
    bytes.push_back(point.factor_bytes);
  }
  return {{"energy", energy}, {"psnr_before_rounding_db", psnr}, {"factor_bytes", bytes}};
}

}  // namespace

std::string to_json(const InspectedFile& of) {
  const Inspection& inspection = of.inspection;
  const ImageShape& shape = inspection.shape;
  return text::dump_json({{"kind", "inspection"},
                          {"file", of.file.native()},
                          {"format", to_string(of.format)},
                          {"rows", shape.rows},
                          {"cols", shape.cols},
                          {"channels", shape.channels},
                          {"bits", 8 * int(shape.depth)},
                          {"color", to_string(inspection.color)},
                          {"source_bytes", of.file_bytes},
                          {"raw_bytes", shape.bytes()},
                          {"peak", inspection.peak.value},
                          {"peak_source", to_string(inspection.peak.source)},
                          {"break_even_rank", inspection.break_even_rank},
                          {"ranks", to_json(inspection.ranks, inspection.matrices)},
                          {"targets", to_json(inspection.targets, inspection.matrices)},
                          {"singular_values", inspection.singular_values},
                          {"curve", to_json(inspection.curve)},
                          {"notes", of.notes}});
}

}  // namespace eckart::inspection
