// Preloaded into `eckart`: makes system calls on temporary files fail. ECKART_FAULT is
// CALL:ERRNO:FIRST:COUNT. The calls number FIRST to FIRST + COUNT - 1 (from 1) fail with ERRNO. The
// number of such calls is written to the file ECKART_FAULT_CALLS at the end. CALL is one of:
// - mkdir (of .eckart), open, write (also writev), fsync, close, rename. A temporary file without
//   a name counts, too; rename is then the call that gives it a name.
// - published: as rename, but after the call, and only if the new name is that of a PNG (only
//   with ERRNO 0)
// - unlink (only with ERRNO 0)
// - noreplace: renameat2; of a temporary file it also counts as rename
//   With close and noreplace, no file can be made without a name, as on a network file system.
// - folder: fsync of a folder
// - ledger: any call that changes the ledger
// - any: all of the above
// - input: reading a file called stuck...
// - list: reading a folder that has "stuck" in its path
// - writeback: as folder; and an fsync of a temporary file sets a later mtime, as a network file
//   system may do, unless the mtime was set
// - compute: a matrix product
// - lstat: of an output in a folder called "unstable"
// Special values of ERRNO:
// - 0: the process dies before the call.
// - -1: an fsync reports success without syncing.
// - -2: the call never returns.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

struct Fault {
  char call[16] = "";
  int error = 0;
  long first = 0, count = 0;
  Fault() {
    const char* text = std::getenv("ECKART_FAULT");
    if (text) std::sscanf(text, "%15[a-z]:%d:%ld:%ld", call, &error, &first, &count);
  }
};

bool is_temporary(const char* path) { return std::strstr(path, ".eckart-") != nullptr; }

bool ends_with(std::string_view path, std::string_view end) {
  return path.size() > end.size() && path.substr(path.size() - end.size()) == end;
}

bool is_publication(const char* path) { return is_temporary(path) && ends_with(path, ".tmp"); }

bool has_in_path(int descriptor, const char* part) {
  char link[64], path[4096] = "";
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  return readlink(link, path, sizeof path - 1) > 0 && std::strstr(path, part) != nullptr;
}
/// Whether it was created with O_TMPFILE.
bool is_unnamed(int descriptor) {
  return has_in_path(descriptor, "/#") && has_in_path(descriptor, " (deleted)");
}
bool is_temporary(int descriptor) {
  return has_in_path(descriptor, ".eckart-") || is_unnamed(descriptor);
}
bool is_ledger(int descriptor) { return has_in_path(descriptor, "ledger.db"); }

std::atomic<long> calls{0};

struct CallCountWriter {
  ~CallCountWriter() {
    const char* name = std::getenv("ECKART_FAULT_CALLS");
    std::FILE* file = name ? std::fopen(name, "w") : nullptr;
    if (!file) return;
    std::fprintf(file, "%ld\n", calls.load());
    std::fclose(file);
  }
} report;

const Fault& fault_from_environment() {
  static const Fault fault;
  return fault;
}

/// Never returns. Creates the file ECKART_FAULT_REACHED first.
[[noreturn]] void hang() {
  const char* name = std::getenv("ECKART_FAULT_REACHED");
  if (std::FILE* file = name ? std::fopen(name, "w") : nullptr) std::fclose(file);
  for (;;) pause();
}

/// Whether this call on a temporary file fails; sets errno if it does.
bool inject_fault(const char* call) {
  const Fault& fault = fault_from_environment();
  if (std::strcmp(call, fault.call) != 0 && std::strcmp("any", fault.call) != 0) return false;
  const long number = ++calls;
  if (number < fault.first || number >= fault.first + fault.count) return false;
  if (fault.error == 0) kill(getpid(), SIGKILL);
  if (fault.error == -2) hang();
  errno = fault.error;
  return true;
}

/// Whether ECKART_FAULT names exactly this call; not if it is `any`.
bool is_fault_of(const char* call) { return std::strcmp(call, fault_from_environment().call) == 0; }

/// Gives a file the name `to` with this call, and returns its result.
template <class Call>
int publish(const char* to, Call call) {
  if (inject_fault("rename")) return -1;
  const int result = call();
  if (result == 0 && is_fault_of("published") && ends_with(to, ".png")) inject_fault("published");
  return result;
}

template <class Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  static const auto real = next(&open, "open");
  return is_temporary(path) && inject_fault("open") ? -1 : real(path, flags, mode);
}

// The same function on systems with 64-bit offsets.
int open64(const char* path, int flags, ...) __attribute__((alias("open")));

int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  static const auto real = next(&openat, "openat");
  const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  if (is_unnamed && (is_fault_of("close") || is_fault_of("noreplace"))) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return (is_unnamed || is_temporary(path)) && inject_fault("open")
             ? -1
             : real(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) __attribute__((alias("openat")));

int mkdir(const char* path, mode_t mode) {
  static const auto real = next(&mkdir, "mkdir");
  const char* const name = std::strrchr(path, '/');
  const bool ours = name && std::strcmp(name, "/.eckart") == 0;
  return ours && inject_fault("mkdir") ? -1 : real(path, mode);
}

ssize_t read(int descriptor, void* data, size_t size) {
  static const auto real = next(&read, "read");
  if (is_fault_of("input") && has_in_path(descriptor, "/stuck")) inject_fault("input");
  return real(descriptor, data, size);
}

ssize_t pread(int descriptor, void* data, size_t size, off_t offset) {
  static const auto real = next(&pread, "pread");
  if (is_fault_of("input") && has_in_path(descriptor, "/stuck")) inject_fault("input");
  return real(descriptor, data, size, offset);
}
ssize_t pread64(int descriptor, void* data, size_t size, off_t offset)
    __attribute__((alias("pread")));

dirent* readdir(DIR* folder) {
  static const auto real = next(&readdir, "readdir");
  if (is_fault_of("list") && has_in_path(dirfd(folder), "stuck")) inject_fault("list");
  return real(folder);
}
dirent64* readdir64(DIR* folder) {
  static const auto real = next(&readdir64, "readdir64");
  if (is_fault_of("list") && has_in_path(dirfd(folder), "stuck")) inject_fault("list");
  return real(folder);
}

int lstat(const char* path, struct stat* status) noexcept {
  static const auto real = next(&lstat, "lstat");
  const bool fails =
      is_fault_of("lstat") && std::strstr(path, "out/unstable/") && inject_fault("lstat");
  return fails ? -1 : real(path, status);
}

int lstat64(const char* path, struct stat64* status) noexcept {
  static const auto real = next(&lstat64, "lstat64");
  const bool fails =
      is_fault_of("lstat") && std::strstr(path, "out/unstable/") && inject_fault("lstat");
  return fails ? -1 : real(path, status);
}

// Declared as in cblas.h; replaces the function of OpenBLAS in the CPU backend.
void cblas_sgemm(int order, int a_is, int b_is, int m, int n, int k, float alpha, const float* a,
                 int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  static const auto real = next(&cblas_sgemm, "cblas_sgemm");
  if (is_fault_of("compute")) inject_fault("compute");
  real(order, a_is, b_is, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void cblas_dgemm(int order, int a_is, int b_is, int m, int n, int k, double alpha, const double* a,
                 int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  static const auto real = next(&cblas_dgemm, "cblas_dgemm");
  if (is_fault_of("compute")) inject_fault("compute");
  real(order, a_is, b_is, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

constexpr int kMaxDescriptors = 4096;
std::atomic<bool> has_set_time[kMaxDescriptors];

int futimens(int descriptor, const timespec times[2]) noexcept {
  static const auto real = next(&futimens, "futimens");
  if (descriptor >= 0 && descriptor < kMaxDescriptors) has_set_time[descriptor] = true;
  return real(descriptor, times);
}

void write_back(int descriptor) {
  static const auto real = next(&futimens, "futimens");
  struct stat status {};
  if (descriptor >= kMaxDescriptors || has_set_time[descriptor] || fstat(descriptor, &status) != 0)
    return;
  status.st_mtim.tv_sec += 60;
  const timespec times[] = {status.st_atim, status.st_mtim};
  real(descriptor, times);
}

bool fails_to_write(int descriptor) {
  if (descriptor >= 0 && descriptor < kMaxDescriptors) has_set_time[descriptor] = false;
  return is_temporary(descriptor) && inject_fault("write");
}

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto real = next(&write, "write");
  return fails_to_write(descriptor) ? -1 : real(descriptor, data, size);
}

ssize_t writev(int descriptor, const iovec* parts, int count) {
  static const auto real = next(&writev, "writev");
  return fails_to_write(descriptor) ? -1 : real(descriptor, parts, count);
}

int fsync(int descriptor) {
  static const auto real = next(&fsync, "fsync");
  const char* const call = is_temporary(descriptor) ? "fsync"
                           : is_ledger(descriptor)  ? "ledger"
                                                    : "folder";
  if (is_fault_of("writeback")) {
    if (is_temporary(descriptor)) write_back(descriptor);
    if (std::strcmp(call, "folder") == 0) inject_fault("writeback");
    return real(descriptor);
  }
  if (inject_fault(call)) return fault_from_environment().error < 0 ? 0 : -1;
  return real(descriptor);
}

/// The first part of an fsync; skipped if the fsync is skipped.
int sync_file_range(int descriptor, off64_t offset, off64_t size, unsigned flags) {
  static const auto real = next(&sync_file_range, "sync_file_range");
  return fault_from_environment().error < 0 ? 0 : real(descriptor, offset, size, flags);
}

int fdatasync(int descriptor) {
  static const auto real = next(&fdatasync, "fdatasync");
  return is_ledger(descriptor) && inject_fault("ledger") ? -1 : real(descriptor);
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  static const auto real = next(&pwrite, "pwrite");
  return is_ledger(descriptor) && inject_fault("ledger") ? -1
                                                         : real(descriptor, data, size, offset);
}
ssize_t pwrite64(int descriptor, const void* data, size_t size, off64_t offset)
    __attribute__((alias("pwrite")));

int ftruncate(int descriptor, off_t size) {
  static const auto real = next(&ftruncate, "ftruncate");
  return is_ledger(descriptor) && inject_fault("ledger") ? -1 : real(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) __attribute__((alias("ftruncate")));

int close(int descriptor) {
  static const auto real = next(&close, "close");
  const bool failed = is_temporary(descriptor) && inject_fault("close");
  const int error = errno, result = real(descriptor);
  if (failed) errno = error;
  return failed ? -1 : result;
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static const auto real = next(&linkat, "linkat");
  const bool publishes = (flags & (AT_EMPTY_PATH | AT_SYMLINK_FOLLOW)) != 0;
  const auto call = [&] { return real(from_folder, from, to_folder, to, flags); };
  return publishes ? publish(to, call) : call();
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  static const auto real = next(&renameat, "renameat");
  const auto call = [&] { return real(from_folder, from, to_folder, to); };
  return is_temporary(from) ? publish(to, call) : call();
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  static const auto real = next(&renameat2, "renameat2");
  const bool publishes =
      is_publication(from) && std::strcmp(fault_from_environment().call, "noreplace") != 0;
  const auto call = [&] { return real(from_folder, from, to_folder, to, flags); };
  if (publishes) return publish(to, call);
  return inject_fault("noreplace") ? -1 : call();
}

/// Never fails, because a temporary file that cannot be removed is left to the next run.
int unlinkat(int folder, const char* path, int flags) {
  static const auto real = next(&unlinkat, "unlinkat");
  if (fault_from_environment().error == 0 && is_temporary(path)) inject_fault("unlink");
  return real(folder, path, flags);
}

}  // extern "C"
