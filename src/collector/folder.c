/* SPDX-License-Identifier: MIT */
/* The session folder: see folder.h. All access goes through the folder's descriptor, so that
 * renaming or a changed root cannot lead elsewhere. Files are created with O_EXCL and O_NOFOLLOW,
 * mode 0600. */
#include "collector/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "collector/guard.h"
#include "util/error.h"
#include "util/grow.h"

/* Room needed in addition to one pool: the journal, slots, and further processes with few
 * records. */
#define SPARE_BYTES      (UINT64_C(8) << 20)
/* the session's own files, and a segment for each process that is not drained yet */
#define SPARE_FILES      64
/* enough to start with, if space is scarce as in a container's /dev/shm */
#define SMALL_POOL_BYTES (UINT64_C(16) << 20)

/* Return the free bytes in @directory, or 0 if the directory is unusable. */
static uint64_t room_in(const char *directory)
{
	struct statvfs fs;

	if (statvfs(directory, &fs) || access(directory, W_OK | X_OK))
		return 0;
	/* some file systems report no number of files, and hold as many files as fit */
	if (fs.f_files && fs.f_favail < SPARE_FILES)
		return 0;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* Return the candidate directories for session folders; NULL-terminated. */
static void places(const char *out[4])
{
	const char *tmpdir = getenv("TMPDIR");
	int n = 0;

	out[n++] = "/dev/shm";
	if (tmpdir && tmpdir[0] == '/')
		out[n++] = tmpdir;
	out[n++] = "/tmp";
	out[n] = NULL;
}

/* Create the folder. @pool_bytes: wanted size, which is reduced if there is less room. Even little
 * room in memory is preferred to a disk. */
static int make_directory(uint64_t *pool_bytes, const struct gt_folder_owner *owner, char *path,
			  size_t size)
{
	uint64_t least = *pool_bytes < SMALL_POOL_BYTES ? *pool_bytes : SMALL_POOL_BYTES;
	const char *place[4];
	int error = ENOENT;

	places(place);
	for (int i = 0; place[i]; i++) {
		uint64_t room;

		snprintf(path, size, "%s%s", owner->root, place[i]);
		if (!access(path, F_OK))
			error = ENOSPC;
		room = room_in(path);
		if (room < least + SPARE_BYTES)
			continue;
		if (snprintf(path, size, "%s%s/" GT_FOLDER_PREFIX "%u-XXXXXX", owner->root,
			     place[i], owner->uid) >= (int)size)
			continue;
		if (mkdtemp(path)) {
			room -= SPARE_BYTES;
			*pool_bytes = *pool_bytes < room ? *pool_bytes : room;
			return 0;
		}
		error = errno;
	}
	if (owner->root[0])
		return gt_error(-error,
				"no room for the session folder where the process can see it (%llu "
				"MiB needed): mount a tmpfs on %s/dev/shm, or create %s/tmp",
				(unsigned long long)((least + SPARE_BYTES) >> 20), owner->root,
				owner->root);
	return gt_error(
		-error,
		"no room for the session folder (%llu MiB needed in /dev/shm, TMPDIR or /tmp)",
		(unsigned long long)((least + SPARE_BYTES) >> 20));
}

/* Open the folder that this process has just created. Its parent folder may belong to another user,
 * who could replace it by a link or another folder, to be given write access there. */
static int open_own_folder(const char *path)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || (!fstat(fd, &st) && st.st_uid == geteuid()))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

static int write_file(int dir, const char *name, const void *data, size_t bytes)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	int error = 0;

	if (fd < 0)
		return gt_error(-errno, "cannot create %s in the session folder", name);
	if (write(fd, data, bytes) != (ssize_t)bytes)
		error = gt_error(errno ? -errno : -ENOSPC, "cannot write %s in the session folder",
				 name);
	if (error) {
		close(fd);
		return error;
	}
	return fd;
}

static int map_session(struct gt_folder *f)
{
	f->session = mmap(NULL, sizeof *f->session, PROT_READ | PROT_WRITE, MAP_SHARED,
			  f->session_fd, 0);
	if (f->session != MAP_FAILED)
		return 0;
	f->session = NULL;
	return gt_error(-errno, "cannot map %s/session", f->path);
}

/* Give the folder and the files that the processes use to their user. The folder comes last,
 * because its owner can replace the files by links. */
static int give_away(const struct gt_folder *f, const struct gt_folder_owner *owner)
{
	static const char *const names[] = {"session", GT_UNTRACED_FILE};
	bool is_given = true;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		is_given &=
			fchownat(f->fd, names[i], owner->uid, owner->gid, AT_SYMLINK_NOFOLLOW) == 0;
	is_given = is_given && fchown(f->fd, owner->uid, owner->gid) == 0;
	return is_given ? 0
			: gt_error(-errno, "cannot give the session folder to user %u", owner->uid);
}

int gt_folder_create_door(const struct gt_folder *f, struct gt_folder *out)
{
	const struct gt_folder_owner self = {.root = "", .uid = getuid()};
	char target[PATH_MAX + 16];
	uint64_t no_pool = 0;
	int status;

	memset(out, 0, sizeof *out);
	out->fd = out->session_fd = out->parent_fd = -1;
	status = make_directory(&no_pool, &self, out->path, sizeof out->path);
	if (status)
		return status;
	snprintf(target, sizeof target, "%s/session", f->path);
	out->fd = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->fd >= 0 && !symlinkat(target, out->fd, "session"))
		return 0;
	status = gt_error(-errno, "cannot create a link in %s", out->path);
	gt_folder_remove(out);
	return status;
}

const char *gt_folder_inner_path(const struct gt_folder *f)
{
	return f->path + f->root_bytes;
}

int gt_folder_create(struct gt_session *session, const char *output,
		     const struct gt_folder_owner *owner, struct gt_folder *out)
{
	const struct gt_folder_owner self = {.root = "", .uid = getuid()};
	int status, fd;

	memset(out, 0, sizeof *out);
	out->fd = out->session_fd = out->parent_fd = -1;
	out->host_clock = session->host_clock;
	out->root_bytes = owner ? strlen(owner->root) : 0;
	status = make_directory(&session->pool_bytes, owner ? owner : &self, out->path,
				sizeof out->path);
	if (status)
		return status;
	out->fd = open_own_folder(out->path);
	if (out->fd < 0) {
		status = gt_error(-errno, "cannot open %s", out->path);
		rmdir(out->path);
		return status;
	}
	if (out->root_bytes)
		out->parent_fd = openat(out->fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = write_file(out->fd, "output", output, strlen(output));
	if (fd >= 0) {
		close(fd);
		fd = write_file(out->fd, GT_UNTRACED_FILE, "", 0);
	}
	if (fd >= 0) {
		close(fd);
		fd = write_file(out->fd, "session", session, sizeof *session);
	}
	if (fd < 0) {
		gt_folder_remove(out);
		return fd;
	}
	out->session_fd = fd;
	out->copy = malloc(sizeof *out->copy);
	status = out->copy ? map_session(out) : gt_error(-ENOMEM, "no memory for a session");
	if (!status && owner && owner->uid != geteuid())
		status = give_away(out, owner);
	if (status) {
		gt_folder_remove(out);
		return status;
	}
	memcpy(out->copy, session, sizeof *session);
	return 0;
}

void gt_folder_repair(struct gt_folder *f)
{
	struct stat st;

	if (f->copy && !fstat(f->session_fd, &st) && st.st_size < (off_t)sizeof *f->copy &&
	    pwrite(f->session_fd, f->copy, sizeof *f->copy, 0) < 0)
		return; /* tried again after a second */
}

void gt_folder_store(struct gt_folder *f, _Atomic uint32_t *word, uint32_t value)
{
	const size_t at = (size_t)((const char *)word - (const char *)f->session);

	if (!f->session)
		return;
	if (f->copy)
		atomic_store_explicit((_Atomic uint32_t *)(void *)((char *)f->copy + at), value,
				      memory_order_relaxed);
	if (!GT_GUARD()) {
		gt_folder_repair(f);
		return;
	}
	atomic_store_explicit(word, value, memory_order_release);
	gt_guard_end();
}

int gt_folder_write(const struct gt_folder *f, const char *name, const void *data, size_t bytes,
		    const struct gt_folder_owner *owner)
{
	int fd = write_file(f->fd, name, data, bytes), status = 0;

	if (fd < 0)
		return fd;
	if (owner && owner->uid != geteuid() && fchown(fd, owner->uid, owner->gid))
		status = gt_error(-errno, "cannot give %s in the session folder to user %u", name,
				  owner->uid);
	close(fd);
	return status;
}

/* Check the session before it is mapped, because sessions of other versions have other lengths.
 * *is_cut: set if another program has truncated the file. */
static int check_session(struct gt_folder *f, bool *is_cut)
{
	struct {
		uint64_t magic;
		uint32_t version, bytes, host_clock;
	} head;
	struct stat st;

	*is_cut = pread(f->session_fd, &head, sizeof head, 0) != sizeof head;
	if (*is_cut)
		return 0;
	f->host_clock = head.host_clock;
	if (head.magic != GT_SESSION_MAGIC)
		return gt_error(-EBADMSG, "%s/session is not a gputap session", f->path);
	if (head.version != GT_SESSION_VERSION || head.bytes != sizeof *f->session)
		return gt_error(
			-ENOTSUP,
			"%s was created by another version of gputap (session version %u, not %u)",
			f->path, head.version, GT_SESSION_VERSION);
	*is_cut = fstat(f->session_fd, &st) || st.st_size < (off_t)sizeof *f->session;
	return 0;
}

/* Check that the file belongs to the current user. Otherwise another user's folder could make
 * gputap use any file of the current user. */
static int check_owner(int fd, mode_t type, const char *folder, const char *name)
{
	struct stat st;

	if (fstat(fd, &st))
		return gt_error(-errno, "%s%s", folder, name);
	if ((st.st_mode & S_IFMT) != type || (type == S_IFREG && st.st_nlink > 1))
		return gt_error(-EBADMSG, "%s%s was not created by gputap", folder, name);
	if (st.st_uid != geteuid())
		return gt_error(-EPERM,
				"%s%s belongs to user %u; only that user can finish the capture",
				folder, name, (unsigned)st.st_uid);
	return 0;
}

int gt_folder_open(const char *path, struct gt_folder *out)
{
	bool is_cut;
	int status;

	memset(out, 0, sizeof *out);
	out->session_fd = out->parent_fd = -1;
	if (!realpath(path, out->path))
		snprintf(out->path, sizeof out->path, "%s", path);
	out->fd = open(out->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (out->fd < 0)
		return gt_error(-errno, "cannot open the session folder %s", out->path);
	status = check_owner(out->fd, S_IFDIR, out->path, "");
	if (status)
		goto fail;
	out->session_fd = openat(out->fd, "session", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (out->session_fd < 0) {
		status = gt_error(-errno, "%s is not a session folder: it has no file 'session'",
				  out->path);
		goto fail;
	}
	status = check_owner(out->session_fd, S_IFREG, out->path, "/session");
	if (status)
		goto fail;
	status = check_session(out, &is_cut);
	if (!status && !is_cut)
		status = map_session(out);
	if (status)
		goto fail;
	return 0;
fail:
	gt_folder_close(out);
	return status;
}

int gt_folder_output(const struct gt_folder *f, char *path, size_t bytes)
{
	int fd = openat(f->fd, "output", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), status;
	ssize_t n;

	if (fd < 0)
		return gt_error(-errno, "%s does not name its capture", f->path);
	status = check_owner(fd, S_IFREG, f->path, "/output");
	n = status ? 0 : read(fd, path, bytes - 1);
	close(fd);
	if (status)
		return status;
	if (n <= 0 || path[0] != '/' || memchr(path, '\0', (size_t)n))
		return gt_error(-EBADMSG, "%s/output does not contain a path", f->path);
	path[n] = '\0';
	return 0;
}

bool gt_ring_name_parse(const char *name, uint32_t *pid, uint64_t *ticks)
{
	unsigned long long t;
	unsigned p;
	int n = 0;

	if (name[0] < '0' || name[0] > '9' || sscanf(name, "%u-%llu%n", &p, &t, &n) != 2 ||
	    strcmp(name + n, GT_SEGMENT_SUFFIX))
		return false;
	*pid = p;
	*ticks = t;
	return true;
}

struct ring_name {
	uint64_t ticks;
	char name[56];
};

static int by_age(const void *a, const void *b)
{
	const struct ring_name *x = a, *y = b;

	return x->ticks < y->ticks ? -1 : x->ticks > y->ticks;
}

/* Return an allocated list of the names of segments, or NULL if there are none. */
static struct ring_name *read_names(int fd, size_t *count)
{
	DIR *dir = fdopendir(fd);
	struct ring_name *names = NULL, *more;
	size_t room = 0;
	struct dirent *e;
	uint64_t ticks;
	uint32_t pid;

	*count = 0;
	while (dir && (e = readdir(dir))) {
		if (strlen(e->d_name) >= sizeof names->name ||
		    !gt_ring_name_parse(e->d_name, &pid, &ticks))
			continue;
		more = gt_grow(names, *count, &room, sizeof *names);
		if (!more)
			break; /* the next scan finds the remaining files */
		names = more;
		names[*count].ticks = ticks;
		strcpy(names[(*count)++].name, e->d_name);
	}
	if (dir)
		closedir(dir);
	else
		close(fd);
	return names;
}

void gt_folder_rings(const struct gt_folder *f, void (*each)(const char *name, void *data),
		     void *data)
{
	int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct ring_name *names;
	size_t count;

	if (fd < 0)
		return;
	names = read_names(fd, &count);
	if (names)
		qsort(names, count, sizeof *names, by_age);
	for (size_t i = 0; i < count; i++)
		each(names[i].name, data);
	free(names);
}

void gt_folder_stop(struct gt_folder *f)
{
	if (f->session)
		gt_folder_store(f, &f->session->stop, 1);
}

void gt_folder_close(struct gt_folder *f)
{
	if (f->session)
		munmap(f->session, sizeof *f->session);
	free(f->copy);
	if (f->session_fd >= 0)
		close(f->session_fd);
	if (f->fd >= 0)
		close(f->fd);
	if (f->parent_fd >= 0)
		close(f->parent_fd);
	f->session = f->copy = NULL;
	f->fd = f->session_fd = f->parent_fd = -1;
}

void gt_folder_remove(struct gt_folder *f)
{
	/* use this descriptor, because no other descriptor may be available */
	DIR *dir = f->fd >= 0 ? fdopendir(f->fd) : NULL;
	struct dirent *e;

	/* The order matters if gputap is killed during the removal. `journal` goes first, because
	 * without a journal nothing needs recovery. `session` goes last, because it identifies the
	 * folder. */
	unlinkat(f->fd, "journal", 0);
	while (dir && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, "session"))
			unlinkat(f->fd, e->d_name, 0);
	unlinkat(f->fd, "session", 0);
	if (f->parent_fd >= 0)
		unlinkat(f->parent_fd, strrchr(f->path, '/') + 1, AT_REMOVEDIR);
	else
		rmdir(f->path);
	if (dir) {
		closedir(dir);
		f->fd = -1;
	}
	gt_folder_close(f);
}

int gt_file_in_use(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_WRLCK) == 0) {
		fcntl(fd, F_SETLEASE, F_UNLCK);
		return 0;
	}
	return errno == EAGAIN || errno == EBUSY ? 1 : -1;
}

void gt_folder_find(void (*each)(const char *path, void *data), void *data)
{
	const char *place[4];
	char path[PATH_MAX];

	places(place);
	for (int i = 0; place[i]; i++) {
		DIR *dir = opendir(place[i]);
		struct dirent *e;

		for (int k = 0; k < i && dir; k++)
			if (!strcmp(place[k], place[i])) { /* TMPDIR=/tmp */
				closedir(dir);
				dir = NULL;
			}
		while (dir && (e = readdir(dir))) {
			if (strncmp(e->d_name, GT_FOLDER_PREFIX, strlen(GT_FOLDER_PREFIX)))
				continue;
			snprintf(path, sizeof path, "%s/%.255s/session", place[i], e->d_name);
			if (access(path, R_OK | W_OK))
				continue;
			*strrchr(path, '/') = '\0';
			each(path, data);
		}
		if (dir)
			closedir(dir);
	}
}
