#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/rank_spec.hpp"
#include "inspection/report.hpp"
#include "text/format_count.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::inspection {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string decimal(double value, int decimals) {
  if (std::isnan(value)) return "-";
  return std::isinf(value) ? "exact" : fmt::format("{:.{}f}", value, decimals);
}

std::string upper(std::string text) {
  for (char& c : text) c = char(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string table(const std::string& first_head, const std::vector<Reconstruction>& results,
                  const ImageShape& matrices) {
  std::vector<std::vector<std::string>> rows{kReconstructionHeads};
  rows.front().front() = first_head;
  for (const Reconstruction& result : results) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Cell& cell : reconstruction_cells(result, matrices)) row.push_back(cell.text);
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    text += fmt::format("{:<{}}", row.front(), widths.front());
    for (std::size_t i = 1; i < row.size(); ++i) text += fmt::format("  {:>{}}", row[i], widths[i]);
    text += '\n';
  }
  return text;
}

}  // namespace

std::string image_line(const InspectedFile& of) {
  const ImageShape& shape = of.inspection.shape;
  const ColorMode color = of.inspection.color;
  return fmt::format("{}, {} x {} pixels (width x height), {}{}, {} bits, {} bytes (raw {})",
                     upper(to_string(of.format)), shape.cols, shape.rows,
                     text::format_count(shape.channels, "channel"),
                     color == ColorMode::channels ? "" : " as " + to_string(color),
                     8 * int(shape.depth), text::group_digits(of.file_bytes),
                     text::group_digits(std::int64_t(shape.bytes())));
}

std::string quality_text(const Reconstruction& result) {
  const std::string psnr =
      std::isinf(result.psnr_db) ? "exact" : "PSNR " + decimal(result.psnr_db, 2) + " dB";
  return psnr + ", SSIM " + decimal(result.ssim, 4);
}

std::string heading_text(const Reconstruction& result) {
  const std::string rank = "rank " + channel_ranks_text(result);
  return result.policy.kind == RankPolicy::Kind::rank ? rank
                                                      : to_string(result.policy) + ": " + rank;
}

std::vector<Cell> reconstruction_cells(const Reconstruction& result, const ImageShape& matrices) {
  const double share = double(result.factor_bytes) / double(matrices.bytes());
  return {{to_string(result.policy), kNone},
          {channel_ranks_text(result), double(result.rank())},
          {decimal(result.energy, 5), result.energy},
          {decimal(result.psnr_db, 2), result.psnr_db},
          {decimal(result.psnr_before_rounding_db, 2), result.psnr_before_rounding_db},
          {decimal(result.ssim, 4), result.ssim},
          {decimal(result.rmse, 3), result.rmse},
          {text::group_digits(result.factor_bytes), double(result.factor_bytes)},
          {fmt::format("{:.1f} %", 100 * share), share}};
}

std::string break_even_sentence(const Inspection& inspection) {
  const ImageShape& shape = inspection.matrices;
  const std::string stored = inspection.color == ColorMode::luma ? "luma" : "pixels";
  const std::optional<int> chroma_rank = inspection.chroma_rank;
  const std::string chroma =
      chroma_rank ? fmt::format(" with rank {} of Cb and Cr", *chroma_rank) : "";
  if (inspection.break_even_rank == 0)
    return fmt::format("The factors of rank 1{} already need more bytes than the {}.", chroma,
                       stored);
  const auto bytes = [&](int rank) {
    return text::group_digits(triplet_count(shape.channels, rank, chroma_rank) *
                              triplet_bytes(shape.rows, shape.cols));
  };
  const std::string raw = text::group_digits(std::int64_t(shape.bytes()));
  const int rank = inspection.break_even_rank;
  const std::string next =
      rank < std::min(shape.rows, shape.cols)
          ? fmt::format("those of rank {} need {}, ", rank + 1, bytes(rank + 1))
          : "";
  return fmt::format("Break-even rank: {}{}. Its factors in float32 need {} bytes, {}the {} {}.",
                     rank, chroma, bytes(rank), next, stored, raw);
}

std::string to_text(const InspectedFile& of) {
  const Inspection& inspection = of.inspection;
  std::string text = fmt::format("{}: {}\n", text::printable(of.file.native()), image_line(of));
  text +=
      fmt::format("peak {:.6g} ({})\n\n", inspection.peak.value, to_string(inspection.peak.source));
  text += table("SPEC", inspection.ranks, inspection.matrices);
  if (!inspection.targets.empty())
    text += "\n" + table("target", inspection.targets, inspection.matrices);
  text += "\n" + break_even_sentence(inspection) + "\n";
  for (const std::string& note : of.notes) text += note + "\n";
  return text;
}

}  // namespace eckart::inspection
