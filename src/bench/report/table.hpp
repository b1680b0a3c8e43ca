#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "bench/report/estimate.hpp"
#include "html/plot.hpp"
#include "text/json.hpp"

namespace eckart::bench {

struct Column {
  std::string key;   ///< in JSON; it ends with the unit, such as kernel_us
  std::string head;  ///< for people
  /// Empty: none. Microseconds, "us", are text with the unit that suits each number.
  std::string unit;
  /// Whether people see the error of measured numbers even if it is small. JSON always has it.
  bool shows_error = false;
};

/// In the place of a number.
struct NotMeasured {
  std::string reason;
};

/// Empty, text, a count, a number, a measured number, or why there is none.
using Cell = std::variant<std::monostate, std::string, int, double, Estimate, NotMeasured>;

/// The result of an experiment.
struct Table {
  std::string name;   ///< in JSON
  std::string title;  ///< for people
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  ///< a cell for each column
  std::vector<std::string> notes = {};  ///< how it was measured, and what was not: one line each
  std::string lesson = {};              ///< two sentences about what the table shows
  std::vector<html::Plot> plots = {};

  /// Appends a row. Throws std::invalid_argument if it does not have a cell for each column.
  void add_row(std::vector<Cell> cells);
  /// Removes columns in which no row has a value.
  void remove_empty_columns();
};

/// A GPU, and its clock during the measurements.
struct MeasuredGpu {
  std::string name, driver;                            ///< driver: empty if unknown
  int min_mhz = 0, max_mhz = 0;                        ///< of its multiprocessors; 0: unknown
  std::map<std::string, std::int64_t> throttled = {};  ///< number of samples, by reason
};

/// The tables of an experiment, and what identifies the machine and the program.
struct Report {
  std::string experiment;
  std::string time, version, build_id;  ///< time: when it ended, UTC
  std::string cpu;
  int cores = 1;
  std::optional<MeasuredGpu> gpu = {};
  std::string no_gpu_reason = {};                 ///< why there is no GPU
  std::map<std::string, std::string> peers = {};  ///< names and versions of compared libraries
  std::vector<std::string> warnings = {};  ///< what makes the figures less exact: one line each
  std::vector<Table> tables = {};
};

/// Says how many of the numbers whose error people always see are not known within 10 %; empty if
/// few are.
std::string noise_warning(const Report& report);

/// Aligned tables for a terminal. Measured numbers have the larger distance from the ends of their
/// interval in percent, or these ends if it is above 100 %. Rows with different values in the first
/// column are separated.
std::string to_text(const Report& report);
/// An object of kind `bench`; docs/reference/bench.md describes its keys.
text::Json to_json(const Report& report);
/// A page that needs no other file.
std::string to_html(const Report& report);

/// Notes that several tables have, in their order.
std::vector<std::string> common_notes(const Report& report);
/// The other ones of a table.
std::vector<std::string> own_notes(const Table& table, const std::vector<std::string>& common);

/// Names and values of what identifies the machine and the program, for people.
std::vector<std::pair<std::string, std::string>> machine_lines(const Report& report);

/// A cell for people: three digits, and the error of a measured number if the column shows it or it
/// is above 10 %.
std::string to_text(const Cell& cell, const Column& column);
/// The head and the unit of a column; the unit is empty if the cells have their own.
std::pair<std::string, std::string> head_and_unit(const Column& column);

}  // namespace eckart::bench
