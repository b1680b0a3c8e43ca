#pragma once

#include <cstddef>

namespace eckart::test {

/// Makes the `number`-th allocation of this thread with operator new fail, counted from this call.
/// Link failing_new.cpp, which replaces operator new, to use it.
void fail_allocation(long number);

/// Lets all later allocations succeed. Returns whether the allocation has failed.
bool stop_failing_allocations();

/// Begins to count the bytes that this thread allocates with operator new and has not freed.
void count_allocated_bytes();

/// Returns the largest count so far. What another thread frees still counts.
std::size_t max_allocated_bytes();

}  // namespace eckart::test
