#pragma once

#include <exception>
#include <new>

#include "core/error.hpp"
#include "core/outcome.hpp"

namespace eckart::pipeline {

/// Runs `work` for one item and stores a thrown exception in `outcome`. FatalError and
/// EnvironmentError are rethrown. `default_reason` is used for exceptions without a FailureReason.
template <class Work>
void attempt(Outcome& outcome, Stage stage, FailureReason default_reason, Work&& work) {
  try {
    work();
  } catch (const FatalError&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const ItemError& error) {
    outcome = Outcome::failed(stage, error.reason(), error.what());
  } catch (const std::bad_alloc&) {
    outcome = Outcome::failed(stage, FailureReason::out_of_memory, "out of memory");
  } catch (const std::exception& error) {
    outcome = Outcome::failed(stage, default_reason, error.what());
  }
}

}  // namespace eckart::pipeline
