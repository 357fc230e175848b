/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PMI-1 client: for our vmpirun, mpiexec.hydra, and others that speak it.
 *
 * Requests go out one at a time and block.  Reports of deaths may come between
 * a request and its answer, and without a request; so the thread that reads the
 * socket, which waits for an answer or for reports, sorts the lines and wakes
 * the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "boot/backend.h"
#include "boot/boot.h"
#include "boot/peer_events.h"
#include "boot/pmi_wire.h"

/* MPICH's programs send no longer lines, so others accept at least these. */
#define LINE_BYTES 1000
#define WORDS_BYTES 40 /* "cmd=put kvsname= key= value=" and the newline */
#define PIECES_MAX 10000
#define PIECE_HEAD 8 /* "65536:" at the beginning of the first piece */

struct pmi {
	int fd;
	int process, processes;
	bool vmpi; /* the server is ours */
	char kvsname[256];
	size_t piece_max; /* characters of a value */
	struct vm_peer_events *events;

	/* One request at a time; its answer is parsed here. */
	pthread_mutex_t call;
	char taken[2 * VM_PMI_LINE_MAX];

	/* Under this lock. */
	pthread_mutex_t read;
	struct vm_pmi_reader reader;
	bool answered, gone;
	int event; /* eventfd: answered or gone has become true */
	char answer[2 * VM_PMI_LINE_MAX];
};

static const char digits_hex[] = "0123456789abcdef";

/* A number from 0 of the environment, or -1. */
static int env_number(const char *name)
{
	const char *text = getenv(name);
	size_t digits = text ? strspn(text, "0123456789") : 0;

	if (digits < 1 || digits > 9 || text[digits])
		return -1;
	return (int)strtol(text, NULL, 10);
}

static bool pmi_present(void)
{
	return getenv("PMI_FD") != NULL;
}

static int pmi_process(void)
{
	int process = env_number("PMI_RANK");

	if (process >= 0)
		return process;
	vm_log(VM_ERROR,
	       "PMI_FD is set, but PMI_RANK=%s: a number from 0 is "
	       "needed; the launcher sets both",
	       getenv("PMI_RANK") ? getenv("PMI_RANK") : "");
	return -VMPI_EINVAL;
}

/* Under the lock `read`. */
static void lose(struct pmi *pmi)
{
	if (pmi->gone)
		return;
	pmi->gone = true;
	eventfd_write(pmi->event, 1);
	vm_peer_events_add(pmi->events, -1, -1);
}

/* Sorts one line.  Under the lock `read`. */
static void line_take(struct pmi *pmi, char *line)
{
	struct vm_pmi_message message;

	if (!strncmp(line, "cmd=vmpi_left ", 14)) {
		if (vm_pmi_parse(&message, line))
			return;
		vm_peer_events_add(pmi->events,
				   vm_pmi_number(&message, "process", -2),
				   vm_pmi_number(&message, "status", -1));
		return;
	}
	if (pmi->answered) {
		vm_log(VM_ERROR, "the launcher answers more than it is asked "
				 "on its PMI socket");
		lose(pmi);
		return;
	}
	memcpy(pmi->answer, line, strlen(line) + 1);
	pmi->answered = true;
	eventfd_write(pmi->event, 1);
}

/* Takes in all available lines; does not wait. */
static void pump(void *arg)
{
	struct pmi *pmi = arg;
	char *line;
	int got;

	pthread_mutex_lock(&pmi->read);
	while (!pmi->gone) {
		got = vm_pmi_reader_fill(&pmi->reader, pmi->fd);
		if (got == -VMPI_EAGAIN)
			break;
		if (got == -VMPI_ELIMIT)
			vm_log(VM_ERROR, "the launcher sends a line without an "
					 "end on its PMI socket");
		if (got <= 0)
			lose(pmi);
		else
			while ((line = vm_pmi_reader_line(&pmi->reader)))
				line_take(pmi, line);
	}
	pthread_mutex_unlock(&pmi->read);
}

static int line_send(struct pmi *pmi, const char *line, size_t length)
{
	while (length) {
		ssize_t sent = send(pmi->fd, line, length, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return -VMPI_EIO;
		line += sent;
		length -= (size_t)sent;
	}
	return 0;
}

static int answer_wait(struct pmi *pmi)
{
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = pmi->fd, .events = POLLIN },
			{ .fd = pmi->event, .events = POLLIN },
		};
		bool answered, gone;
		eventfd_t ignored;

		pump(pmi);
		pthread_mutex_lock(&pmi->read);
		answered = pmi->answered;
		gone = pmi->gone;
		pmi->answered = false;
		if (answered)
			memcpy(pmi->taken, pmi->answer,
			       strlen(pmi->answer) + 1);
		if (answered || gone)
			eventfd_read(pmi->event, &ignored);
		pthread_mutex_unlock(&pmi->read);
		if (answered)
			return 0;
		if (gone)
			return -VMPI_EIO;
		poll(fds, 2, -1);
	}
}

/*
 * Sends a request and parses the answer, whose command has to be `want`; it is
 * valid until the next one.  Under the lock `call`.  Logs.
 */
static int request(struct pmi *pmi, struct vm_pmi_message *message,
		   const char *want, const char *format, ...) VM_PRINTF(4, 5);

static int request(struct pmi *pmi, struct vm_pmi_message *message,
		   const char *want, const char *format, ...)
{
	char line[VM_PMI_LINE_MAX];
	va_list args;
	int length, rc;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	VM_ASSERT(length > 0 && (size_t)length < sizeof(line));
	rc = line_send(pmi, line, (size_t)length);
	if (!rc)
		rc = answer_wait(pmi);
	if (rc) {
		vm_log(VM_ERROR, "the launcher is gone: its PMI socket is "
				 "closed");
		return rc;
	}
	rc = vm_pmi_parse(message, pmi->taken);
	if (!rc && !strcmp(message->command, want))
		return 0;
	vm_log(VM_ERROR, "the launcher's PMI answers cmd=%s, not cmd=%s",
	       rc ? "(malformed)" : message->command, want);
	return -VMPI_EIO;
}

static int refused(const struct vm_pmi_message *message, const char *what)
{
	const char *text = vm_pmi_text(message, "msg");
	char why[256];

	if (vm_pmi_number(message, "rc", 0) == 0)
		return 0;
	snprintf(why, sizeof(why), "%s", text ? text : "it does not say why");
	/* On the wire a text has no blanks. */
	for (char *at = why; (at = strchr(at, '_'));)
		*at = ' ';
	vm_log(VM_ERROR, "the launcher's PMI refuses %s: %s", what, why);
	return -VMPI_EIO;
}

/* Determines the length of a blob's pieces from the limits of the server. */
static int limits_ask(struct pmi *pmi)
{
	const size_t key_max = sizeof("vmpi.1000000..9999") + VM_BOOT_NAME_MAX;
	struct vm_pmi_message message;
	int keys, values;
	size_t line;
	const char *name;
	int rc = request(pmi, &message, "maxes", "cmd=get_maxes\n");

	if (rc)
		return rc;
	keys = vm_pmi_number(&message, "keylen_max", 0);
	values = vm_pmi_number(&message, "vallen_max", 0);
	rc = request(pmi, &message, "my_kvsname", "cmd=get_my_kvsname\n");
	if (rc)
		return rc;
	name = vm_pmi_text(&message, "kvsname");
	if (!name || strlen(name) >= sizeof(pmi->kvsname) ||
	    keys < (int)key_max || values < 64) {
		vm_log(VM_ERROR,
		       "the launcher's PMI has keys of %d and values "
		       "of %d bytes: %zu and 64 are needed",
		       keys, values, key_max);
		return -VMPI_ENOTSUP;
	}
	snprintf(pmi->kvsname, sizeof(pmi->kvsname), "%s", name);
	line = LINE_BYTES - WORDS_BYTES - key_max - strlen(name);
	pmi->piece_max = (size_t)values - 1 < line ? (size_t)values - 1 : line;
	return 0;
}

static int join(struct pmi *pmi)
{
	struct vm_pmi_message message;
	int rc = request(pmi, &message, "response_to_init",
			 "cmd=init pmi_version=1 pmi_subversion=1\n");

	if (!rc)
		rc = refused(&message, "PMI-1");
	if (rc)
		return rc;
	pmi->vmpi = vm_pmi_number(&message, "vmpi", 0) == 1;
	/* From the start: fences report a missing process only to those who ask
	 * for it. Reports are kept until they are wanted. */
	if (pmi->vmpi)
		rc = request(pmi, &message, "vmpi_events_on",
			     "cmd=vmpi_events\n");
	return rc ? rc : limits_ask(pmi);
}

static int env_read(struct pmi *pmi)
{
	pmi->fd = env_number("PMI_FD");
	pmi->process = env_number("PMI_RANK");
	pmi->processes = env_number("PMI_SIZE");
	if (pmi->fd < 0 || pmi->processes < 1 || pmi->process < 0 ||
	    pmi->process >= pmi->processes) {
		vm_log(VM_ERROR,
		       "PMI_FD=%s PMI_RANK=%s PMI_SIZE=%s: three "
		       "numbers are needed, the second below the "
		       "third; the launcher sets them",
		       getenv("PMI_FD"),
		       getenv("PMI_RANK") ? getenv("PMI_RANK") : "",
		       getenv("PMI_SIZE") ? getenv("PMI_SIZE") : "");
		return -VMPI_EINVAL;
	}
	/* Programs that ranks start must not keep the job alive. */
	if (fcntl(pmi->fd, F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	vm_log(VM_ERROR,
	       "PMI_FD=%d is not an open descriptor: whatever started "
	       "this program did not pass it on",
	       pmi->fd);
	return -VMPI_EINVAL;
}

static void pmi_free(struct pmi *pmi)
{
	if (pmi->event >= 0)
		close(pmi->event);
	pthread_mutex_destroy(&pmi->call);
	pthread_mutex_destroy(&pmi->read);
	free(pmi);
}

static int pmi_open(void **state, struct vm_boot *boot,
		    struct vm_peer_events *events)
{
	struct pmi *pmi = calloc(1, sizeof(*pmi));
	int rc;

	if (!pmi) {
		vm_log(VM_ERROR, "out of memory for PMI");
		return -VMPI_ENOMEM;
	}
	pthread_mutex_init(&pmi->call, NULL);
	pthread_mutex_init(&pmi->read, NULL);
	vm_pmi_reader_init(&pmi->reader);
	pmi->events = events;
	pmi->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = pmi->event < 0 ? -VMPI_ELIMIT : env_read(pmi);
	if (!rc)
		rc = vm_peer_events_count(events, pmi->processes);
	if (!rc)
		rc = join(pmi);
	if (rc) {
		pmi_free(pmi);
		return rc;
	}
	vm_peer_events_pump(events, pmi->fd, pump, pmi);
	*state = pmi;
	boot->process = pmi->process;
	if (!pmi->vmpi && !boot->id[0])
		snprintf(boot->id, sizeof(boot->id), "%.*s",
			 (int)sizeof(boot->id) - 1, pmi->kvsname);
	boot->processes = pmi->processes;
	boot->launcher_kills = !pmi->vmpi;
	return 0;
}

static int piece_put(struct pmi *pmi, const char *name, int piece,
		     const char *text)
{
	struct vm_pmi_message message;
	int rc = request(pmi, &message, "put_result",
			 "cmd=put kvsname=%s key=vmpi.%d.%s.%d value=%s\n",
			 pmi->kvsname, pmi->process, name, piece, text);

	return rc ? rc : refused(&message, name);
}

/* Encoded as hexadecimal digits, after their number. */
static int pmi_put(void *state, const char *name, const void *bytes,
		   size_t length)
{
	const unsigned char *from = bytes;
	struct pmi *pmi = state;
	char text[VM_PMI_VALUE_MAX];
	size_t done = 0;
	int rc = 0;

	pthread_mutex_lock(&pmi->call);
	for (int piece = 0; !rc && (done < length || !piece); piece++) {
		size_t used = 0;

		if (!piece)
			used = (size_t)snprintf(text, PIECE_HEAD,
						"%zu:", length);
		for (; done < length && used + 2 <= pmi->piece_max &&
		       used + 2 < sizeof(text);
		     done++) {
			text[used++] = digits_hex[from[done] >> 4];
			text[used++] = digits_hex[from[done] & 15];
		}
		text[used] = '\0';
		rc = piece_put(pmi, name, piece, text);
	}
	pthread_mutex_unlock(&pmi->call);
	return rc;
}

static int hex_of(char c)
{
	const char *at = c ? strchr(digits_hex, c) : NULL;

	return at ? (int)(at - digits_hex) : -1;
}

/* Decodes the bytes of one piece; returns their number, or -VMPI_EIO.  The value
 * has no blanks, and Hydra from 4.2 on says more behind it (" found=TRUE"). */
static int piece_read(unsigned char *bytes, size_t room, const char *text)
{
	size_t count = 0;

	for (; *text && *text != ' '; text += 2) {
		int high = hex_of(text[0]);
		int low = high < 0 ? -1 : hex_of(text[1]);

		if (low < 0 || count == room)
			return -VMPI_EIO;
		bytes[count++] = (unsigned char)(high << 4 | low);
	}
	return (int)count;
}

/* Asks for a piece; *text is its value, or NULL where there is none. */
static int piece_ask(struct pmi *pmi, const char **text, int process,
		     const char *name, int piece)
{
	struct vm_pmi_message message;
	int rc = request(pmi, &message, "get_result",
			 "cmd=get kvsname=%s key=vmpi.%d.%s.%d\n", pmi->kvsname,
			 process, name, piece);

	if (rc)
		return rc;
	*text = vm_pmi_number(&message, "rc", 0) ?
			NULL :
			vm_pmi_text(&message, "value");
	return 0;
}

static int pieces_get(struct pmi *pmi, unsigned char *bytes, size_t *length,
		      size_t room, int process, const char *name)
{
	size_t total = 0, done = 0;
	int piece = 0;

	do {
		const char *text;
		char *end;
		int rc = piece_ask(pmi, &text, process, name, piece);

		if (rc || (!text && !piece))
			return rc ? rc : -VMPI_ENOENT;
		if (text && !piece) {
			total = strtoul(text, &end, 10);
			text = *end == ':' ? end + 1 : NULL;
			*length = total;
			if (text && total <= VM_BOOT_BLOB_MAX && total > room)
				return -VMPI_ELIMIT;
		}
		rc = text && total <= VM_BOOT_BLOB_MAX ?
			     piece_read(bytes + done, total - done, text) :
			     -VMPI_EIO;
		if (rc < 0 || (!rc && done < total)) {
			vm_log(VM_ERROR, "process %d has put no valid %s",
			       process, name);
			return -VMPI_EIO;
		}
		done += (size_t)rc;
	} while (done < total && ++piece < PIECES_MAX);
	return 0;
}

static int pmi_get(void *state, void *bytes, size_t *length, size_t room,
		   int process, const char *name)
{
	struct pmi *pmi = state;
	size_t found = 0;
	int rc;

	pthread_mutex_lock(&pmi->call);
	rc = pieces_get(pmi, bytes, &found, room, process, name);
	pthread_mutex_unlock(&pmi->call);
	if (!rc || rc == -VMPI_ELIMIT)
		*length = found;
	return rc;
}

static int pmi_fence(void *state)
{
	struct pmi *pmi = state;
	struct vm_pmi_message message;
	int rc;

	pthread_mutex_lock(&pmi->call);
	rc = request(pmi, &message, "barrier_out", "cmd=barrier_in\n");
	/* Our vmpirun has reported who is missing. */
	if (!rc && vm_pmi_number(&message, "rc", 0))
		rc = -VMPI_EIO;
	pthread_mutex_unlock(&pmi->call);
	return rc;
}

/* One send(), which a signal handler may do too and which never splits another
 * line: requests are sent at once as well. */
static void pmi_abort(void *state, int code, const char *text, bool in_handler)
{
	struct pmi *pmi = state;
	char line[] = "cmd=abort exitcode=000\n";
	char *digits = strchr(line, '0');

	digits[0] = (char)('0' + code / 100);
	digits[1] = (char)('0' + code / 10 % 10);
	digits[2] = (char)('0' + code % 10);
	/* Without a launcher the exit code of this process must suffice. */
	(void)line_send(pmi, line, sizeof(line) - 1);
}

/* They come from the moment we join, if at all. */
static int pmi_watch(void *state)
{
	struct pmi *pmi = state;
	bool gone;

	pthread_mutex_lock(&pmi->read);
	gone = pmi->gone;
	pthread_mutex_unlock(&pmi->read);
	return gone ? -VMPI_EIO : 0;
}

static void pmi_close(void *state)
{
	struct pmi *pmi = state;
	struct vm_pmi_message message;
	bool gone;

	pthread_mutex_lock(&pmi->read);
	gone = pmi->gone;
	pthread_mutex_unlock(&pmi->read);
	/* A launcher that is gone has been logged, or reported. */
	if (!gone)
		request(pmi, &message, "finalize_ack", "cmd=finalize\n");
	close(pmi->fd);
	pmi_free(pmi);
}

const struct vm_boot_backend vm_boot_pmi = {
	.name = "pmi",
	.present = pmi_present,
	.process = pmi_process,
	.open = pmi_open,
	.put = pmi_put,
	.fence = pmi_fence,
	.get = pmi_get,
	.abort = pmi_abort,
	.watch = pmi_watch,
	.close = pmi_close,
};
