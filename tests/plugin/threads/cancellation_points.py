#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cancellation_points.py PLUGIN SOURCE: each cancellation point of the C library that the plugin calls is one of those that
SOURCE (never_cancelled.cpp) calls with cancellation disabled. Which of these the plugin needs depends on the compiler.
"""
import re
import subprocess
import sys

plugin, source = sys.argv[1:]

# pthreads(7): those that POSIX requires, those that it allows (of files, streams, names and terminals), and GNU's own that
# sleep, wait or transfer. `fcntl` is one only where it waits for a lock, and the plugin never does.
POINTS = """
accept accept4 aio_suspend clock_nanosleep close connect creat epoll_pwait epoll_pwait2 epoll_wait fdatasync fsync getmsg getpmsg getrandom lockf
mq_receive mq_send mq_timedreceive mq_timedsend msgrcv msgsnd msync nanosleep open openat pause poll ppoll pread preadv preadv2 pselect
pthread_cond_clockwait pthread_cond_timedwait pthread_cond_wait pthread_join pthread_clockjoin_np pthread_timedjoin_np
pthread_testcancel putmsg putpmsg pwrite pwritev pwritev2 read readv recv recvfrom recvmmsg recvmsg select sem_clockwait sem_timedwait
sem_wait send sendmmsg sendmsg sendto sigpause sigsuspend sigtimedwait sigwait sigwaitinfo sleep system tcdrain tee usleep vmsplice
splice wait wait3 wait4 waitid waitpid write writev copy_file_range fallocate sync_file_range open_by_handle_at
asprintf vasprintf catclose catgets catopen chmod chown closedir closelog ctermid dbm_open dprintf endgrent endhostent endpwent
fchmodat fchownat fclose fflush fgetc fgetpos fgets fgetwc fgetws fmtmsg fopen fpathconf fprintf fputc fputs fputwc fputws fread
freopen fscanf fseek fseeko fsetpos ftell ftello ftw fwprintf fwrite fwscanf getaddrinfo getc getc_unlocked getchar getdate
getdelim __getdelim getgrent getgrgid getgrgid_r getgrnam getgrnam_r gethostbyaddr gethostbyname gethostent gethostid getline getlogin
getlogin_r getnameinfo getpwent getpwnam getpwnam_r getpwuid getpwuid_r gets getservbyname glob iconv_open initgroups link
linkat mkdtemp mkostemp mkstemp nftw opendir openlog pclose perror popen posix_fadvise posix_fallocate posix_madvise
posix_openpt printf psiginfo psignal pthread_rwlock_rdlock pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock
pthread_rwlock_wrlock putc puts putwc readdir readdir_r remove rewind rewinddir scandir scanf seekdir syslog tmpfile tmpnam
ttyname vdprintf vfprintf vprintf vsyslog
""".split()
# Those of the second paragraph that glibc allows itself and has not made cancellation points, as the plugin uses them.
NOT_IN_GLIBC = {"iconv_open", "posix_fadvise"}

undefined = {line.split()[-1].split("@")[0]
             for line in subprocess.run(["nm", "-D", "--undefined-only", plugin], capture_output=True, text=True, check=True)
             .stdout.splitlines() if line.strip()}
covered = set(re.findall(r"^NEVER_CANCELLED(?:_VARIADIC)?\((\w+)", open(source).read(), re.M))
points = {form for name in set(POINTS) - NOT_IN_GLIBC
          for form in (name, name + "64", f"__{name}_chk", f"__{name}64_chk", f"__{name}_2", f"__{name}64_2")}
missing = sorted(undefined & points - covered)
unused = sorted(covered - undefined)
print(f"{len(undefined & points)} cancellation points, {len(covered)} never cancelled")
print("not covered:", " ".join(missing))
print("not used:", " ".join(unused))
sys.exit(1 if missing or len(undefined & points) < 10 else 0)
