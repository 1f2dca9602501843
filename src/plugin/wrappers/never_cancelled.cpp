// SPDX-License-Identifier: BSD-3-Clause
// No call of Sluice cancels a thread of the program. Many functions of the C library are cancellation points: a thread
// that the program has cancelled would end within Sluice, in the middle of what it keeps, in a call of MPI which is no
// cancellation point without Sluice. The linker sends the plugin's calls of them, also those of the C++ library within
// it, here (--wrap, src/plugin/CMakeLists.txt, which reads the names from this file). What MPI itself calls stays as it
// is. tests/plugin/threads/cancellation_points.py compares the plugin with the cancellation points of the C library.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <ctime>

namespace {

class NeverCancelled {
  public:
    NeverCancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    NeverCancelled(NeverCancelled const&) = delete;
    NeverCancelled& operator=(NeverCancelled const&) = delete;
    ~NeverCancelled() { pthread_setcancelstate(before_, nullptr); }

  private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

mode_t mode_of(int flags, va_list arguments) noexcept {
    bool const makes_file = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
    return makes_file ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming)

// One function a line: CMake reads its name.
#define NEVER_CANCELLED(name, result, parameters, arguments) \
    result __real_##name parameters;                         \
    result __wrap_##name parameters {                        \
        NeverCancelled const here;                           \
        return __real_##name arguments;                      \
    }
#define NEVER_CANCELLED_VARIADIC(name)

extern "C" {

// clang-format off
NEVER_CANCELLED(close, int, (int file), (file))
NEVER_CANCELLED(closedir, int, (DIR* folder), (folder))
NEVER_CANCELLED(epoll_wait, int, (int file, epoll_event* events, int most, int timeout), (file, events, most, timeout))
NEVER_CANCELLED(fclose, int, (FILE* file), (file))
NEVER_CANCELLED(fflush, int, (FILE* file), (file))
NEVER_CANCELLED(fopen64, FILE*, (char const* path, char const* mode), (path, mode))
NEVER_CANCELLED(fputc, int, (int character, FILE* file), (character, file))
NEVER_CANCELLED(fputs, int, (char const* text, FILE* file), (text, file))
NEVER_CANCELLED(fsync, int, (int file), (file))
NEVER_CANCELLED(fwrite, size_t, (void const* from, size_t bytes, size_t count, FILE* file), (from, bytes, count, file))
NEVER_CANCELLED(getpwuid_r, int, (uid_t user, passwd* entry, char* room, size_t bytes, passwd** found), (user, entry, room, bytes, found))
NEVER_CANCELLED(getrandom, ssize_t, (void* room, size_t bytes, unsigned flags), (room, bytes, flags))
NEVER_CANCELLED(nanosleep, int, (timespec const* time, timespec* left), (time, left))
NEVER_CANCELLED(opendir, DIR*, (char const* path), (path))
NEVER_CANCELLED(poll, int, (pollfd* files, nfds_t count, int timeout), (files, count, timeout))
NEVER_CANCELLED(posix_fallocate, int, (int file, off_t at, off_t bytes), (file, at, bytes))
NEVER_CANCELLED(ppoll, int, (pollfd* files, nfds_t count, timespec const* timeout, sigset_t const* mask), (files, count, timeout, mask))
NEVER_CANCELLED(pread, ssize_t, (int file, void* room, size_t bytes, off_t at), (file, room, bytes, at))
NEVER_CANCELLED(pthread_cond_clockwait, int, (pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, timespec const* until), (condition, mutex, clock, until))
NEVER_CANCELLED(pthread_cond_wait, int, (pthread_cond_t* condition, pthread_mutex_t* mutex), (condition, mutex))
NEVER_CANCELLED(pthread_join, int, (pthread_t thread, void** result), (thread, result))
NEVER_CANCELLED(read, ssize_t, (int file, void* room, size_t bytes), (file, room, bytes))
NEVER_CANCELLED(readdir, dirent*, (DIR* folder), (folder))
NEVER_CANCELLED(send, ssize_t, (int file, void const* from, size_t bytes, int flags), (file, from, bytes, flags))
NEVER_CANCELLED(sigtimedwait, int, (sigset_t const* signals, siginfo_t* which, timespec const* timeout), (signals, which, timeout))
NEVER_CANCELLED(waitpid, pid_t, (pid_t process, int* status, int options), (process, status, options))
NEVER_CANCELLED(write, ssize_t, (int file, void const* from, size_t bytes), (file, from, bytes))
NEVER_CANCELLED(writev, ssize_t, (int file, iovec const* parts, int count), (file, parts, count))
NEVER_CANCELLED_VARIADIC(open)
NEVER_CANCELLED_VARIADIC(openat)
// With _FORTIFY_SOURCE the headers of glibc call these.
NEVER_CANCELLED(__open_2, int, (char const* path, int flags), (path, flags))
NEVER_CANCELLED(__openat_2, int, (int folder, char const* path, int flags), (folder, path, flags))
NEVER_CANCELLED(__poll_chk, int, (pollfd* files, nfds_t count, int timeout, size_t room), (files, count, timeout, room))
NEVER_CANCELLED(__ppoll_chk, int, (pollfd* files, nfds_t count, timespec const* timeout, sigset_t const* mask, size_t room), (files, count, timeout, mask, room))
NEVER_CANCELLED(__pread_chk, ssize_t, (int file, void* room, size_t bytes, off_t at, size_t whole), (file, room, bytes, at, whole))
NEVER_CANCELLED(__read_chk, ssize_t, (int file, void* room, size_t bytes, size_t whole), (file, room, bytes, whole))
// clang-format on

int __real_open(char const* path, int flags, ...);
int __wrap_open(char const* path, int flags, ...) {
    NeverCancelled const here;
    va_list arguments;
    va_start(arguments, flags);
    mode_t const mode = mode_of(flags, arguments);
    va_end(arguments);
    return __real_open(path, flags, mode);
}

int __real_openat(int folder, char const* path, int flags, ...);
int __wrap_openat(int folder, char const* path, int flags, ...) {
    NeverCancelled const here;
    va_list arguments;
    va_start(arguments, flags);
    mode_t const mode = mode_of(flags, arguments);
    va_end(arguments);
    return __real_openat(folder, path, flags, mode);
}

}  // extern "C"

#undef NEVER_CANCELLED
#undef NEVER_CANCELLED_VARIADIC

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,cert-dcl50-cpp,readability-identifier-naming)
