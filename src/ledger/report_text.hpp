#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eckart::ledger {

/// A report as the ledger stores it. Nearly all reports have the same keys, which are most of their
/// text.
struct SplitReport {
  std::string keys;    ///< `"a","b"` of `{"a":1,"b":[2,3]}`
  std::string values;  ///< `1,[2,3]`
};
struct SplitReportView {
  std::string_view keys, values;
};

/// Splits a JSON object without white space between its tokens, so that join_report() returns the
/// same bytes. Returns nothing for any other text.
std::optional<SplitReport> split_report(std::string_view report);
/// The report that was split. Returns nothing if the numbers of keys and values differ.
std::optional<std::string> join_report(std::string_view keys, std::string_view values);

}  // namespace eckart::ledger
