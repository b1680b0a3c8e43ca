#include "bench/report/table.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "text/format_count.hpp"
#include "text/format_duration.hpp"
#include "text/format_number.hpp"
#include "text/group_digits.hpp"

namespace eckart::bench {
namespace {

constexpr double kInexact = 0.1;  // the relative error above which people always see it

}  // namespace

void Table::add_row(std::vector<Cell> cells) {
  if (cells.size() != columns.size())
    throw std::invalid_argument(
        fmt::format("table {}: {} cells for {} columns", name, cells.size(), columns.size()));
  rows.push_back(std::move(cells));
}

void Table::remove_empty_columns() {
  for (std::size_t i = columns.size(); i-- > 0;) {
    const auto is_empty = [i](const std::vector<Cell>& row) {
      return std::holds_alternative<std::monostate>(row[i]);
    };
    if (!std::all_of(rows.begin(), rows.end(), is_empty)) continue;
    columns.erase(columns.begin() + std::ptrdiff_t(i));
    for (std::vector<Cell>& row : rows) row.erase(row.begin() + std::ptrdiff_t(i));
  }
}

std::string noise_warning(const Report& report) {
  constexpr double kMaxShare = 0.1;
  std::int64_t measured = 0, noisy = 0;
  for (const Table& table : report.tables) {
    for (const std::vector<Cell>& row : table.rows) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto* estimate = std::get_if<Estimate>(&row[i]);
        if (!estimate || !table.columns[i].shows_error) continue;
        ++measured;
        noisy += estimate->relative_noise() > kInexact ? 1 : 0;
      }
    }
  }
  if (double(noisy) <= kMaxShare * double(measured)) return {};
  return fmt::format("{} of {} are not known within 10 %: other work disturbs the measurement",
                     noisy, text::format_count(measured, "measured number"));
}

std::vector<std::string> common_notes(const Report& report) {
  const auto has = [](const std::vector<std::string>& notes, const std::string& note) {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  };
  std::vector<std::string> common;
  for (std::size_t i = 0; i < report.tables.size(); ++i) {
    for (const std::string& note : report.tables[i].notes) {
      const bool is_in_another =
          std::any_of(report.tables.begin() + std::ptrdiff_t(i) + 1, report.tables.end(),
                      [&](const Table& table) { return has(table.notes, note); });
      if (is_in_another && !has(common, note)) common.push_back(note);
    }
  }
  return common;
}

std::vector<std::string> own_notes(const Table& table, const std::vector<std::string>& common) {
  std::vector<std::string> notes;
  std::copy_if(table.notes.begin(), table.notes.end(), std::back_inserter(notes),
               [&](const std::string& note) {
                 return std::find(common.begin(), common.end(), note) == common.end();
               });
  return notes;
}

/// The libraries with their versions, then those that are missing.
std::string peers_text(const std::map<std::string, std::string>& versions) {
  std::string found, missing;
  for (const auto& [name, version] : versions)
    found += (found.empty() ? "" : ", ") + name + " " + version;
  for (const char* name : {"CuPy", "JAX", "Numba", "NumPy", "PyTorch"}) {
    if (!versions.contains(name))
      missing += (missing.empty() ? "; python3 has no " : ", ") + std::string(name);
  }
  return found + missing;
}

std::vector<std::pair<std::string, std::string>> machine_lines(const Report& report) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"time", report.time},
      {"eckart", report.version + ", build " + report.build_id},
      {"CPU", report.cpu + ", " + text::format_count(report.cores, "core")}};
  if (!report.peers.empty()) lines.emplace_back("peers", peers_text(report.peers));
  if (!report.gpu) {
    lines.emplace_back("GPU", "none: " + report.no_gpu_reason);
    return lines;
  }
  std::string gpu = report.gpu->name;
  if (!report.gpu->driver.empty()) gpu += ", driver " + report.gpu->driver;
  lines.emplace_back("GPU", gpu);
  if (report.gpu->max_mhz > 0)
    lines.emplace_back("GPU clock", fmt::format("{} to {} MHz during the measurements",
                                                report.gpu->min_mhz, report.gpu->max_mhz));
  for (const auto& [reason, samples] : report.gpu->throttled)
    lines.emplace_back("throttled",
                       fmt::format("{} in {}", reason, text::format_count(samples, "reading")));
  return lines;
}

namespace {

bool is_time(const Column& column) { return column.unit == "us"; }

std::string number_text(double number, const Column& column) {
  if (is_time(column)) return text::format_duration(1e-6 * number);
  return number != 0 && std::abs(number) < 1e-3 ? fmt::format("{:.1e}", number)
                                                : text::format_number(number);
}

}  // namespace

std::string to_text(const Cell& cell, const Column& column) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<int>(&cell)) return text::group_digits(*count);
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, column);
  if (const auto* measured = std::get_if<Estimate>(&cell)) {
    constexpr double kMaxPercent = 1;
    std::string text = number_text(measured->median, column);
    const double error = measured->relative_error();
    if (!column.shows_error && error <= kInexact) return text;
    if (error <= kMaxPercent) return fmt::format("{} ±{:.0f} %", text, 100 * error);
    return fmt::format("{} ({} to {})", text, number_text(measured->low, column),
                       number_text(measured->high, column));
  }
  if (const auto* not_measured = std::get_if<NotMeasured>(&cell)) return not_measured->reason;
  return "-";
}

std::pair<std::string, std::string> head_and_unit(const Column& column) {
  return {column.head, is_time(column) ? "" : column.unit};
}

}  // namespace eckart::bench
