#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"

namespace eckart::test {

struct CaughtError {
  FailureReason reason = FailureReason::none;
  std::string detail;
};

/// Returns the ItemError that `action` throws, or reason none if it throws nothing.
template <class Action>
CaughtError failure_of(Action&& action) {
  try {
    action();
    return {};
  } catch (const ItemError& error) {
    EXPECT_STRNE(error.what(), "");
    return {error.reason(), error.what()};
  }
}

}  // namespace eckart::test
