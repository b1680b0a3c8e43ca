#pragma once

namespace eckart::cli {

/// Files are open until they are on the disk, many at a time; the soft limit is often 1024.
void raise_descriptor_limit();

}  // namespace eckart::cli
