#pragma once

#include <string_view>

namespace eckart::pipeline {

/// The progress of an item. See advance() for the transitions.
enum class ItemState {
  found,      ///< outputs have names, or the item has failed already
  loaded,     ///< decoded into its task
  computed,   ///< outputs have pixels
  written,    ///< outputs are complete, but not published
  published,  ///< outputs have their final names, as durable as configured
  recorded,   ///< recorded in the ledger, if there is a ledger
  finished,   ///< counted and reported
};
std::string_view to_string(ItemState state);

/// Changes `state` to `next`. An item that is `ok` passes all states in order, with these
/// exceptions:
/// - A full-rank output is not computed: loaded -> written.
/// - If publishing fails, outputs are written again: written -> written.
/// - A run may end because its ledger cannot be written: published -> finished.
/// An item that failed, was skipped or will be tried again may move to any later state. Throws
/// std::logic_error for any other transition.
void advance(ItemState& state, ItemState next, bool ok);

}  // namespace eckart::pipeline
