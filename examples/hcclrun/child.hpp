// SPDX-License-Identifier: Apache-2.0
#pragma once

// Starts a program with its own environment, process group and pipes. Linux.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace hcclrun {

/// How a process ended.
struct Outcome {
  bool signalled;
  int value;  ///< the exit status, or the signal

  bool failed() const { return signalled || value != 0; }
  int exit_code() const { return signalled ? 128 + value : value; }
};

/// A running process, the leader of a process group, and the reading ends of its output and error streams.
struct Child {
  pid_t pid;
  int output, error;

  /// Passes a signal on to the process and to all that it started.
  void signal(int number) const { ::kill(-pid, number); }
};

namespace detail {

[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A pipe whose ends are closed on exec; first is for reading.
inline std::pair<int, int> make_pipe() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe");
  return {ends[0], ends[1]};
}

inline std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (auto& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// This process's environment with `changes` applied, as "NAME=value" strings.
inline std::vector<std::string> environment_with(std::map<std::string, std::string> changes) {
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) changes.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::vector<std::string> result;
  for (const auto& [name, value] : changes) result.push_back(name + '=' + value);
  return result;
}

}  // namespace detail

/// Runs `command` with `variables` added to the environment; it reads this process's standard input or
/// nothing. The process is killed when the calling thread ends. Throws std::system_error when the program
/// cannot be started.
inline Child start(std::vector<std::string> command, const std::map<std::string, std::string>& variables,
                   bool reads_input) {
  auto environment = detail::environment_with(variables);
  const auto arguments = detail::pointers(command), variable_pointers = detail::pointers(environment);
  const auto [output, output_end] = detail::make_pipe();
  const auto [error, error_end] = detail::make_pipe();
  const auto [failure, failure_end] = detail::make_pipe();  // carries errno when exec fails

  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) detail::fail("fork");
  if (pid == 0) {  // only calls that are safe after fork in a process with threads
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setpgid(0, 0);
    if (!reads_input) ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(output_end, STDOUT_FILENO);
    ::dup2(error_end, STDERR_FILENO);
    if (::getppid() == parent) ::execvpe(arguments[0], arguments.data(), variable_pointers.data());
    const int reason = errno;
    [[maybe_unused]] auto written = ::write(failure_end, &reason, sizeof reason);
    ::_exit(127);
  }
  ::setpgid(pid, pid);  // both sides do it, so that it is done whoever runs first
  for (int end : {output_end, error_end, failure_end}) ::close(end);

  int reason = 0;
  ssize_t length = 0;
  while ((length = ::read(failure, &reason, sizeof reason)) < 0 && errno == EINTR) continue;
  ::close(failure);
  if (length > 0) {
    ::waitpid(pid, nullptr, 0);
    throw std::system_error(reason, std::generic_category(), "cannot run " + command[0]);
  }
  return {pid, output, error};
}

/// Collects a process that has ended, and kills what it left running. Nothing while it still runs.
inline std::optional<Outcome> collect(const Child& child) {
  siginfo_t info{};
  const int status = ::waitid(P_PID, static_cast<id_t>(child.pid), &info, WEXITED | WNOHANG | WNOWAIT);
  if (status != 0 || info.si_pid == 0) return std::nullopt;
  child.signal(SIGKILL);  // while the process is not reaped, nobody else can have the number of its group
  ::waitpid(child.pid, nullptr, 0);
  return Outcome{info.si_code != CLD_EXITED, info.si_status};
}

}  // namespace hcclrun
