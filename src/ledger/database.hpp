#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace eckart::ledger {

/// What SQLite said; `code` is its extended result code.
struct DatabaseError {
  int code;
  std::string message;
  int system_errno = 0;     ///< errno, where the system has refused something
  bool is_corrupt() const;  ///< the file is no database, or damaged: statements that are right fail
};

/// A prepared statement; reset when it goes out of a Execution.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  /// One execution: parameters from 1 on, columns from 0 on. Throws DatabaseError.
  class Execution {
   public:
    explicit Execution(const Statement& statement) : statement_(statement.get()) {}
    ~Execution();
    Execution(const Execution&) = delete;
    Execution& operator=(const Execution&) = delete;
    Execution& bind(int parameter, std::int64_t value);
    Execution& bind(int parameter,
                    std::string_view bytes);  ///< must live until step() has returned
    Execution& bind_text(int parameter, std::string_view text);  ///< likewise
    /// Whether there is a row.
    bool step();
    std::int64_t integer(int column) const;
    std::string bytes(int column) const;

   private:
    sqlite3_stmt* statement_;
  };

 private:
  sqlite3_stmt* get() const { return statement_.get(); }
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// How a file is opened.
enum class OpenMode {
  read_write,  ///< made if it is missing
  read_write_existing,
  read_only,  ///< nothing is changed where this process may not
  immutable,  ///< nothing is changed or made; may see a state that another process is changing
};

/// An open SQLite file. One thread at a time.
class Database {
 public:
  /// Where others keep it locked it is waited for as long as `timeout`. Throws DatabaseError.
  Database(const std::filesystem::path& file, OpenMode access, std::chrono::milliseconds timeout);
  /// Copies what `source` has to memory: changes stay there.
  explicit Database(const Database& source);
  void execute(const char* sql);
  /// All that `work` does, or nothing.
  template <class Work>
  void transaction(const Work& work) {
    run_transaction("BEGIN IMMEDIATE", work);
  }
  /// `work` sees the file in one state, whatever others write meanwhile.
  template <class Work>
  void read(const Work& work) {
    run_transaction("BEGIN", work);
  }
  /// Whether another file, or none, is at the path of the file that is open.
  bool has_moved() const;
  sqlite3* get() const { return database_.get(); }

 private:
  template <class Work>
  void run_transaction(const char* begin, const Work& work) {
    execute(begin);
    try {
      work();
      execute("COMMIT");
    } catch (...) {
      roll_back();
      throw;
    }
  }
  /// Ends the transaction that has failed, if that has not ended it.
  void roll_back() noexcept;
  struct CloseDatabase {
    void operator()(sqlite3* database) const;
  };
  std::unique_ptr<sqlite3, CloseDatabase> database_;
};

}  // namespace eckart::ledger
