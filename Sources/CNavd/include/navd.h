/*
 * libnavd: a client of navd, which holds the navigation stacks of a device.
 *
 * Link with `pkg-config --cflags --libs navd`. docs/c.md is the guide, docs/protocol.md has the JSON
 * of navs, operations and events.
 *
 * Threads. The library runs no thread of the program's code and calls nothing back. Every function
 * may be called from any thread. Calls with the same client wait for each other, and those with
 * different clients do not. navd_connect, navd_perform, navd_get and navd_client_free can block. Other
 * functions wait for such a call of another thread with the same client, and for nothing else. A
 * client belongs to the process that made it: after fork(2), the child gets NAVD_MISUSE with the code
 * "forked" at once, and from navd_next one NAVD_EVENT_CLOSED. It can free the client, which does
 * nothing to the parent, and make its own.
 *
 * Texts. All texts are UTF-8 and end with a zero. A parameter `const char *` stays the caller's. The
 * library copies it. A result `const char *` belongs to the object that returned it, and is valid
 * until that object is freed. A result `char *` belongs to the caller: free it with
 * navd_string_free.
 *
 * Errors. A function with a navd_status returns NAVD_OK, or another status and, if `error` is not
 * NULL, an error that the caller frees with navd_error_free. `error` may be NULL everywhere. Output
 * parameters are NULL or 0 after an error.
 *
 * Misuse. NULL for a required argument, text that is not UTF-8, and a handle that was freed or is of
 * another type are NAVD_MISUSE, or NULL, 0 or -1 from functions without a status. The free functions
 * accept NULL and ignore handles that are unknown. A string that was freed cannot be detected.
 */
#ifndef NAVD_H
#define NAVD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A session with a daemon. It connects again by itself after every loss. */
typedef struct navd_client navd_client;
/* What navd_next returned. */
typedef struct navd_event navd_event;
/* Why a function failed, or why something ended. */
typedef struct navd_error navd_error;

typedef enum navd_status {
  NAVD_OK = 0,
  /* The daemon refused the request. */
  NAVD_REFUSED = 1,
  /* No daemon answers at the address, or it refuses the connection. */
  NAVD_UNREACHABLE = 2,
  /* The answer did not come in time. */
  NAVD_TIMEOUT = 3,
  /* The client has ended for good: see its NAVD_EVENT_CLOSED. */
  NAVD_CLOSED = 4,
  /* The arguments are wrong; nothing was sent. */
  NAVD_MISUSE = 5,
  /* The system or libzmq failed. */
  NAVD_SYSTEM = 6
} navd_status;

/* Whether and when to repeat a failed request. */
typedef enum navd_retry {
  /* Never: the request itself is refused. */
  NAVD_RETRY_NEVER = 0,
  /* The same, once the cause is removed. */
  NAVD_RETRY_UNCHANGED = 1,
  /* After showing the newest state, if the user decides so again. */
  NAVD_RETRY_RESYNCHRONISED = 2,
  /* The same, navd_error_retry_after milliseconds later. */
  NAVD_RETRY_LATER = 3
} navd_retry;

/* The version of the library, such as "0.1.0". It needs no free. */
const char *navd_version(void);

/* ---- Clients ------------------------------------------------------------------------------- */

/* Set `size` to sizeof(navd_options) and all other members to 0 or a value. */
typedef struct navd_options {
  size_t size;
  /* The address of the daemon, such as "ipc:///run/navd/navd.sock". NULL: $NAVD_ENDPOINT, else the
     first socket in the runtime directories. */
  const char *endpoint;
  /* The name of this client in logs and lists, at most 128 octets. NULL: none. */
  const char *name;
  /* For tcp://, the daemon's public key or a file with it. NULL: $NAVD_SERVER_KEY. */
  const char *server_key;
  /* For tcp://, the file of this client's secret key. NULL: $NAVD_KEY. */
  const char *key_file;
  /* The silence after which the daemon sends a heartbeat, 1000 … 60000 ms. 0: 5000. */
  int heartbeat_ms;
} navd_options;

/* Makes a client, and waits until its session is open.
   options: NULL for all defaults. timeout_ms: how long to wait, -1 for 10 s. 0 does not wait: the
   client connects while navd_next is called, and reports NAVD_EVENT_CONNECTED.
   Errors: NAVD_UNREACHABLE, NAVD_REFUSED, NAVD_SYSTEM. */
navd_status navd_connect(const navd_options *options, int timeout_ms, navd_client **client,
                         navd_error **error);

/* Ends the session and frees the client. It waits for calls of other threads to return, and up to
   1 s for the daemon's farewell. Events and errors of the client stay valid. */
void navd_client_free(navd_client *client);

/* A descriptor that is readable while navd_next has something to do: for poll(2), epoll(7) and event
   loops, with POLLIN. It stays the same for the life of the client. Do not read or close it.
   -1 after a misuse. */
int navd_fd(navd_client *client);

/* Handles what has arrived, and returns the next event, or NULL if there is none. It does not wait.
   Call it up to 8 times whenever navd_fd is readable. The descriptor stays readable while events wait.
   It also keeps the session alive, which can end if navd_next is not called for 30 s. */
navd_event *navd_next(navd_client *client);

/* ---- Watches ------------------------------------------------------------------------------- */

/* Watches a nav: NAVD_EVENT_STATE follows with the present state, and after each change of any
   client. The watch goes on after losses of the connection. Watching a watched nav changes
   nothing.
   wait: not 0 to wait for a nav that does not exist yet. After NAVD_EVENT_ENDED with "closed", such
   a watch goes on with the next nav of that name. */
navd_status navd_watch(navd_client *client, const char *nav, int wait, navd_error **error);

/* Ends the watch of a nav. Events that navd_next has not returned yet can still follow. */
navd_status navd_unwatch(navd_client *client, const char *nav, navd_error **error);

/* Writes the newest state of a watched nav as JSON, or NULL if none has arrived yet. It can be newer
   than the last NAVD_EVENT_STATE. */
navd_status navd_state(navd_client *client, const char *nav, char **state, navd_error **error);

/* 1 if the newest state of a watched nav is known to be right, 0 if not (no connection, being
   repaired, no watch), -1 after a misuse. */
int navd_is_synced(navd_client *client, const char *nav);

/* ---- Changes ------------------------------------------------------------------------------- */

/* Makes a guard: operations with it succeed only if the nav is still as in `state`.
   state: the JSON that the user saw. what: "top", "stack", "rev", "visible" or "epoch" (the nav was
   not made anew). The guard of "top" has the visible screen too.
   Errors: NAVD_UNREACHABLE without a connection; NAVD_REFUSED with "desync", reason "mirror", until
   the watch of the nav is in sync. */
navd_status navd_guard(navd_client *client, const char *state, const char *what, char **guard,
                       navd_error **error);

enum {
  /* Displays animate the change. */
  NAVD_ANIMATED = 1,
  /* Displays do not animate it, even if the operation is animated by default. */
  NAVD_STILL = 2,
  /* The change waits while a transition is open, instead of failing. */
  NAVD_QUEUE = 4,
  /* The change ends an open transition where it stands, and begins from there. */
  NAVD_INTERRUPT = 8
};

/* Changes a nav and waits for the answer: all operations in one revision, or none.
   operations: a JSON array of 1 … 16 operations, such as [{"push":{"screen":{"title":"Wi-Fi"}}}].
   guard: a JSON object of guards such as {"top":"wifi"}, from navd_guard or written; NULL for none.
   Operations that remove screens by position need one.
   flags: 0 or a sum of NAVD_ANIMATED or NAVD_STILL, and NAVD_QUEUE or NAVD_INTERRUPT.
   timeout_ms: 1 …, or -1 for 10 s. Over ipc the daemon does not begin the operations later.
   reply: NULL, or gets the JSON of the answer, with rev, top, depth and out.
   Errors: NAVD_REFUSED, NAVD_TIMEOUT, NAVD_CLOSED. */
navd_status navd_perform(navd_client *client, const char *nav, const char *operations,
                         const char *guard, unsigned flags, int timeout_ms, char **reply,
                         navd_error **error);

/* Does the same without waiting: NAVD_EVENT_ANSWER with the id follows. The client sends it until it
   has an answer, also after losses of the connection, and the daemon performs it once.
   within_ms: as timeout_ms of navd_perform, or -1 for no limit. id: gets the id, from 1 on. */
navd_status navd_submit(navd_client *client, const char *nav, const char *operations,
                        const char *guard, unsigned flags, int within_ms, uint64_t *id,
                        navd_error **error);

/* Reads a value as JSON and waits for it.
   nav: the nav, or NULL for a value of the daemon. what: such as "state", "log" or "stats";
   protocol.md, section 12, has all. timeout_ms: 1 …, or -1 for 10 s. */
navd_status navd_get(navd_client *client, const char *nav, const char *what, int timeout_ms,
                     char **value, navd_error **error);

/* Asks for the result of a screen: NAVD_EVENT_RESULT follows once it has left the stack or the
   presentations. Call it before the screen comes or while it is there. The nav must be watched. */
navd_status navd_await_result(navd_client *client, const char *nav, const char *screen,
                              navd_error **error);

/* ---- Decisions ----------------------------------------------------------------------------- */

/* Becomes a delegate of a nav, in this session and all later ones; NAVD_EVENT_ROLES follows, then
   NAVD_EVENT_QUESTION for each question.
   roles: JSON as in the message `delegate`: {"roles":["veto"]}; {"roles":[]} ends the roles. */
navd_status navd_delegate(navd_client *client, const char *nav, const char *roles,
                          navd_error **error);

/* Answers a question. question: navd_event_id of it. value: JSON, for a veto true or false. An
   answer after the end of the question is dropped. */
navd_status navd_answer(navd_client *client, uint64_t question, const char *value,
                        navd_error **error);

typedef enum navd_lease_wish {
  NAVD_LEASE_TAKE = 0,
  /* Takes the display even if another client holds it; needs the right `admin`. */
  NAVD_LEASE_FORCE = 1,
  NAVD_LEASE_RELEASE = 2
} navd_lease_wish;

/* Takes or releases the display of a nav; NAVD_EVENT_DISPLAY follows.
   is_kept: not 0 to take it again after each loss of the connection. */
navd_status navd_lease(navd_client *client, const char *nav, navd_lease_wish wish, int is_kept,
                       navd_error **error);

/* ---- Events -------------------------------------------------------------------------------- */

typedef enum navd_kind {
  /* Not an event: NULL, or a freed one. */
  NAVD_EVENT_NONE = 0,
  /* The session is open. json: server, features, role. */
  NAVD_EVENT_CONNECTED = 1,
  /* The session is lost; the client connects again by itself. */
  NAVD_EVENT_DISCONNECTED = 2,
  /* The client has ended for good. error: the reason. It is the last event. */
  NAVD_EVENT_CLOSED = 3,
  /* A nav has a new state. json: the state; change: how it came about. */
  NAVD_EVENT_STATE = 4,
  /* The state of a nav may be wrong until the next NAVD_EVENT_STATE. */
  NAVD_EVENT_SUSPECT = 5,
  /* Events without a new state, such as buttonActivated. json: epoch, rev, ev. */
  NAVD_EVENT_ACTIVITY = 6,
  /* A watch is over. error: the reason; its code is "closed" if the nav was closed. */
  NAVD_EVENT_ENDED = 7,
  /* The answer to navd_submit. id; json: the answer, or error. */
  NAVD_EVENT_ANSWER = 8,
  /* A submitted change waits for a transition. id; json: pos. */
  NAVD_EVENT_QUEUED = 9,
  /* A screen has gone. json: screen, and result if the operation gave one. error: nobody knows how
     it went, because it went while this client had no connection. */
  NAVD_EVENT_RESULT = 10,
  /* Delegate roles are registered, interrupted or over. json: status "active", "interrupted" or
     "ended"; error if the daemon refused or ended them. */
  NAVD_EVENT_ROLES = 11,
  /* A question to the delegate. id; json: kind, such as "shouldPop", screen, cause, within (ms). */
  NAVD_EVENT_QUESTION = 12,
  /* A question is over, answered or not. id; json: outcome. */
  NAVD_EVENT_SETTLED = 13,
  /* The display is held, interrupted or released. json: status "active", "interrupted" or "ended",
     owner; error if the daemon refused or ended it. */
  NAVD_EVENT_DISPLAY = 14
} navd_kind;

navd_kind navd_event_kind(const navd_event *event);
/* The nav of the event; NULL if it is about none. */
const char *navd_event_nav(const navd_event *event);
/* The number of a submitted change or of a question; 0 for other events. */
uint64_t navd_event_id(const navd_event *event);
/* The JSON of the event, an object. */
const char *navd_event_json(const navd_event *event);
/* For NAVD_EVENT_STATE, JSON: after changes base (the revision before the first), cause, by and animated
   (of the last), ev (the events of all, such as didPop), and after one change its relation; after a
   snapshot why; {"resumed":true} if the state before was right. NULL for other events. */
const char *navd_event_change(const navd_event *event);
/* The error of the event, NULL without one. It is freed with the event. */
const navd_error *navd_event_error(const navd_event *event);
void navd_event_free(navd_event *event);

/* ---- Errors -------------------------------------------------------------------------------- */

navd_status navd_error_status(const navd_error *error);
/* The code, for programs, such as "desync"; protocol.md, section 13, has those of the daemon. */
const char *navd_error_code(const navd_error *error);
/* What happened, in one sentence, for logs. */
const char *navd_error_message(const navd_error *error);
/* What to do next, in one sentence, for the developer of the program. */
const char *navd_error_advice(const navd_error *error);
navd_retry navd_error_retry(const navd_error *error);
/* The least wait before a repetition, in milliseconds; 0 if the daemon named none. */
int64_t navd_error_retry_after(const navd_error *error);
/* 1 if the daemon may have performed the operations although this is an error, else 0. */
int navd_error_may_have_happened(const navd_error *error);
/* The whole message of the daemon as JSON, with top, rev and since; "{}" if the library made the
   error. */
const char *navd_error_json(const navd_error *error);
void navd_error_free(navd_error *error);

/* ---- JSON, for programs without a library for it ------------------------------------------- */

/* A value inside JSON by its JSON pointer (RFC 6901), such as "/screens/0/title". A negative index
   counts from the end: "/screens/-1". The contents of a string, or the JSON of any other value. NULL
   if there is no such value, or the text is not JSON. */
char *navd_json_get(const char *json, const char *pointer);
/* The number of elements or members of such a value; -1 if it is not there or has none. */
int navd_json_count(const char *json, const char *pointer);
/* A text as a JSON string, with its quotes; NULL if it is not UTF-8. */
char *navd_json_string(const char *text);
void navd_string_free(char *string);

#ifdef __cplusplus
}
#endif

#endif
