#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "ledger/ledger.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::ledger {

/// A ledger in an output folder.
class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / ".eckart" / "ledger.db"; }
  /// Opens the ledger and collects all its warnings in warnings_.
  Ledger open_with_warnings() {
    return Ledger(file(), {.warn = [this](const std::string& text) { warnings_ += text + '\n'; }});
  }
  std::string warnings_;

 private:
  const test::TempFolder folder_;
};

inline const OutputEntry kDone{.output = "deep/a\n\xff.png",
                               .input = "/in/a\n\xff.png",
                               .settings = 0xfedcba9876543210,
                               .state = {123, 1700000000123456789, 42},
                               .bytes = 456};
inline const FailureEntry kFailed{.input = "/in/b.png",
                                  .state = {1, 2, 3},
                                  .reason = FailureReason::corrupt,
                                  .detail = "ends early"};

}  // namespace eckart::ledger
