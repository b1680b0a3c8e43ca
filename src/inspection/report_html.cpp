#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "html/page.hpp"
#include "html/plot.hpp"
#include "inspection/report.hpp"
#include "text/printable.hpp"

namespace eckart::inspection {
namespace {

using html::escape;
using html::Plot;
using html::PlotSeries;

constexpr int kMaxPoints = 400;  // of a line

/// Indices below `count`, at most about kMaxPoints of them, equally spaced on a logarithmic axis.
std::vector<std::size_t> plotted_indices(std::size_t count) {
  std::vector<std::size_t> indices;
  const double step = std::log(double(count)) / kMaxPoints;
  for (int i = 0; i <= kMaxPoints; ++i) {
    const auto index = std::min(std::size_t(std::lround(std::exp(i * step))), count) - 1;
    if (indices.empty() || index > indices.back()) indices.push_back(index);
  }
  return indices;
}

html::Axis rank_axis(const Inspection& inspection) {
  return {.label = "rank",
          .min = 1,
          .max = std::max(2.0, double(inspection.curve.size())),
          .is_logarithmic = true};
}

std::string channel_name(const Inspection& inspection, std::size_t channel) {
  constexpr std::array kRgb{"red", "green", "blue"}, kYcbcr{"Y", "Cb", "Cr"};
  if (inspection.color == ColorMode::ycbcr) return kYcbcr.at(channel);
  if (inspection.color != ColorMode::channels) return to_string(inspection.color);
  return inspection.shape.channels == int(kRgb.size()) ? kRgb.at(channel) : "gray";
}

std::string spectrum_plot(const Inspection& inspection) {
  constexpr std::array kClasses{"c2", "c3", "c1"};
  constexpr std::array kStyles{PlotSeries::Style::line, PlotSeries::Style::dashed,
                               PlotSeries::Style::dotted};
  Plot plot{.title = "Singular values",
            .x = rank_axis(inspection),
            .y = {.label = "singular value (levels)", .is_logarithmic = true},
            .series = {}};
  double min = INFINITY, max = 0;
  const auto& channels = inspection.singular_values;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    PlotSeries series{.label = channel_name(inspection, c),
                      .css_class = channels.size() == 1 ? "c1" : kClasses.at(c),
                      .style = kStyles.at(c),
                      .points = {}};
    for (const std::size_t i : plotted_indices(channels[c].size())) {
      const double value = channels[c][i];
      if (value <= 0) break;
      series.points.emplace_back(double(i + 1), value);
      min = std::min(min, value);
      max = std::max(max, value);
    }
    plot.series.push_back(std::move(series));
  }
  if (max == 0) return {};
  plot.y.min = std::pow(10, std::floor(std::log10(min)));
  plot.y.max = std::max(10 * plot.y.min, 1.5 * max);
  return to_svg(plot);
}

std::string energy_plot(const Inspection& inspection) {
  Plot plot{.title = "Energy kept",
            .x = rank_axis(inspection),
            .y = {.label = "share of the squared norm"},
            .series = {}};
  PlotSeries line{.label = "every rank", .css_class = "c1", .points = {}},
      points{.label = "ranks of the table",
             .css_class = "c2",
             .style = PlotSeries::Style::points,
             .points = {}};
  for (const std::size_t i : plotted_indices(inspection.curve.size()))
    line.points.emplace_back(inspection.curve[i].rank, inspection.curve[i].energy);
  for (const Reconstruction& result : inspection.ranks)
    points.points.emplace_back(result.rank(), result.energy);
  plot.y.min = std::min(0.9, std::floor(20 * line.points.front().second - 0.5) / 20);
  plot.y.min = std::max(0.0, plot.y.min);
  plot.series = {line, points};
  return to_svg(plot);
}

std::string rate_distortion_plot(const Inspection& inspection) {
  const ImageShape& shape = inspection.shape;
  const double pixels = double(shape.rows) * shape.cols;
  const auto bits_per_pixel = [&](std::int64_t bytes) { return 8 * double(bytes) / pixels; };
  const bool is_ycbcr = inspection.color == ColorMode::ycbcr;
  PlotSeries line{.label = is_ycbcr ? "of Y, Cb and Cr, before rounding" : "before rounding",
                  .css_class = "c1",
                  .points = {}},
      points{.label = "pixels of the ranks of the table",
             .css_class = "c2",
             .style = PlotSeries::Style::points,
             .points = {}};
  double max_psnr = 0, min_psnr = INFINITY;
  for (const std::size_t i : plotted_indices(inspection.curve.size())) {
    const CurvePoint& at = inspection.curve[i];
    if (!std::isfinite(at.psnr_db)) continue;
    line.points.emplace_back(bits_per_pixel(at.factor_bytes), at.psnr_db);
    max_psnr = std::max(max_psnr, at.psnr_db);
    min_psnr = std::min(min_psnr, at.psnr_db);
  }
  if (line.points.empty()) return {};
  for (const Reconstruction& result : inspection.ranks) {
    if (std::isfinite(result.psnr_db))
      points.points.emplace_back(bits_per_pixel(result.factor_bytes), result.psnr_db);
  }
  constexpr double kMaxShownDb = 70;
  const double raw = bits_per_pixel(std::int64_t(inspection.matrices.bytes()));
  Plot plot{.title = "Rate and distortion",
            .x = {.label = "bits of the factors per pixel",
                  .min = bits_per_pixel(inspection.curve.front().factor_bytes),
                  .max = bits_per_pixel(inspection.curve.back().factor_bytes),
                  .is_logarithmic = true},
            .y = {.label = "PSNR (dB)",
                  .min = std::max(0.0, 5 * std::floor(min_psnr / 5)),
                  .max = 5 * std::ceil(std::min(max_psnr, kMaxShownDb) / 5)},
            .series = {line, points}};
  plot.x.max = std::max(plot.x.max, 2 * plot.x.min);
  plot.y.max = std::max(plot.y.max, plot.y.min + 10);
  plot.series.push_back({inspection.color == ColorMode::luma ? "raw luma" : "raw pixels",
                         "c3",
                         PlotSeries::Style::dashed,
                         {{raw, plot.y.min}, {raw, plot.y.max}}});
  return to_svg(plot);
}

/// SSIM was measured only at the ranks of the table.
std::string ssim_plot(const Inspection& inspection) {
  PlotSeries line{.label = "between them", .css_class = "c1", .points = {}};
  for (const Reconstruction& result : inspection.ranks) {
    if (std::isfinite(result.ssim)) line.points.emplace_back(result.rank(), result.ssim);
  }
  if (line.points.empty()) return {};
  std::ranges::sort(line.points);
  const double min = line.points.front().second;
  const PlotSeries points{.label = "ranks of the table",
                          .css_class = "c2",
                          .style = PlotSeries::Style::points,
                          .points = line.points};
  Plot plot{.title = "SSIM", .x = rank_axis(inspection), .y = {.label = "SSIM"}, .series = {}};
  plot.y.min = std::clamp(std::floor(10 * min) / 10, 0.0, 0.9);
  plot.series = {line, points};
  return to_svg(plot);
}

/// Keeps a number and its % on one line.
std::string cell_html(Cell cell) {
  if (const std::size_t at = cell.text.find(" %"); at != cell.text.npos)
    cell.text.replace(at, 1, "\u00a0");
  return std::isfinite(cell.value) ? html::data_element(cell.value, cell.text) : escape(cell.text);
}

std::string table(const std::string& title, const std::string& first_head,
                  const std::vector<Reconstruction>& results, const ImageShape& matrices) {
  if (results.empty()) return {};
  std::vector<std::string> heads = kReconstructionHeads;
  heads.front() = first_head;
  std::string rows;
  for (const Reconstruction& result : results) {
    std::vector<std::string> cells;
    for (const Cell& cell : reconstruction_cells(result, matrices))
      cells.push_back(cell_html(cell));
    rows += html::row(cells, heads);
  }
  return html::table(title, heads, rows, html::OnPhone::table);
}

std::string image(const std::string& uri, const std::string& description) {
  return fmt::format("<img src='{}' alt='{}' loading='lazy'>\n", uri, escape(description));
}

std::string pictures_html(const std::vector<PagePicture>& pictures) {
  std::string html = "<h3>Pictures</h3>\n<div class='pictures'>\n";
  for (const PagePicture& picture : pictures) {
    html += fmt::format("<figure>\n{}<figcaption><strong>{}</strong> {}</figcaption>\n",
                        image(picture.uri, picture.heading), escape(picture.heading),
                        escape(picture.detail));
    if (!picture.residual_uri.empty())
      html += fmt::format("{}<figcaption>residual x {}</figcaption>\n",
                          image(picture.residual_uri, "residual of " + picture.heading),
                          picture.residual_gain);
    html += "</figure>\n";
  }
  return html + "</div>\n";
}

}  // namespace

std::string to_html(const InspectedFile& of, const std::vector<PagePicture>& pictures) {
  const Inspection& inspection = of.inspection;
  std::string html = fmt::format("<h2>{}</h2>\n", escape(image_line(of)));
  html += fmt::format("<p class='answer'>{}</p>\n", escape(break_even_sentence(inspection)));
  for (const std::string& note : of.notes)
    html += fmt::format("<p class='warning'>{}</p>\n", escape(note));
  html += "<div class='plots'>\n" + spectrum_plot(inspection) + energy_plot(inspection) +
          rate_distortion_plot(inspection) + ssim_plot(inspection) + "</div>\n";
  html += table("Ranks", "rank by", inspection.ranks, inspection.matrices);
  html +=
      table("Ranks that common targets come to", "target", inspection.targets, inspection.matrices);
  html += pictures_html(pictures);
  html += fmt::format(
      "<p>PSNR, SSIM and RMSE are those of the pixels, with peak {:.6g} ({}); unrounded: PSNR "
      "before "
      "rounding. Factors are U, s and V in float32. Pictures are reduced, and compressed as JPEG; "
      "a residual is the difference to the original, times its factor, zero as gray.</p>\n",
      inspection.peak.value, to_string(inspection.peak.source));
  return html::page(text::printable(of.file.filename().native()), html);
}

}  // namespace eckart::inspection
