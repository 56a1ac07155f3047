/* An op happens once: docs/protocol.md, "After a lost connection", 9.3 and 15.
 *
 *   "The daemon performs each once: what it has decided, it answers as before. If it has forgotten an op above N, it
 *    answers `op-too-old`."
 *   "In mode `sync`, no message about a revision leaves the daemon before it is on stable storage."
 *
 * One daemon, one client, and rows of other clients. What stands for what: `remembered` and `forgottenThrough`
 * RememberedOps; `operate` Hub.operate and answersRepetition; `decide` Hub.decide with CommitLoop.commit or
 * Hub.rollBack; `start` Hub.index; `greet` Hub.welcome and SessionReplica.sendWaiting. There is no limit of ops in
 * flight: the promise must not need one. `run` defines the names in capitals: planted faults as 0 or 1, and OPS of the
 * client, RING (HubConfiguration.rememberedOps), ROWS of the journal, LOSSES of connections (and one by the daemon).
 */
#define FIRST 255               /* `again` of a first sending, which has none */
mtype = { ok, tooOld, storage };
chan up = [OPS] of { byte, byte };        /* id, again: the newest connection, which has the session */
chan old = [OPS] of { byte, byte };       /* what was unread in the connection before */

bool isDeaf;                    /* an answer is lost, and so all later ones of this connection */
byte sent, open, losses;        /* highest id sent; number of ops sent and not answered */
byte seen[OPS + 1];             /* PendingRequest.seenRow */
bool done[OPS + 1], remembered[OPS + 1], waits[OPS + 1], isGone[OPS + 1];
byte count, forgottenThrough, lastRow;    /* entries of the ring; horizon; rowAtLastOp */
byte row, rowOf[OPS + 1];       /* the journal: its newest row, and the row of each op */
bool hasStarted, hasShed;
byte i, j, evicted, floor;      /* all 0 between two steps */

#define canBeLost (losses < LOSSES || !hasStarted)
#define isForgotten(again) (again < forgottenThrough || forgottenThrough > 0 && again > row && again != FIRST)
#define isBusy (open > 0 || sent < OPS || nempty(old))

inline clear(queue) { do :: nempty(queue) -> queue?_,_ :: empty(queue) -> break od }
inline oldest(id) { id = 1; do :: id <= OPS && !remembered[id] -> id++ :: else -> break od }

/* An answer arrives, or is lost with all later ones; one under way counts as one not sent yet. */
inline answer(code, id) {
  if
  :: isDeaf || done[id]
  :: !isDeaf && !done[id] && canBeLost -> isDeaf = true
  :: !isDeaf && !done[id] -> done[id] = true; open--; seen[id] = 0;
     assert(code != ok || rowOf[id] != 0 || isGone[id]);        /* acknowledged, so stored */
     assert(code != storage || rowOf[id] == 0 || isGone[id])    /* effect none */
  fi
}
inline remember(id) {           /* RememberedOps.Client.add */
  oldest(j);
  if
  :: count == RING && id < j && !EVICT_LOWEST              /* it counts as too old, like all ids below the ring */
  :: count == RING && (id > j || EVICT_LOWEST) -> evicted = j; remembered[j] = false; remembered[id] = true
  :: count < RING -> remembered[id] = true; count++
  fi;
  j = 0
}
inline greet() {                /* hello, welcome, and each op without an answer again */
  do                            /* Hub.fencedError refuses what comes behind the hello of a newer connection */
  :: FORGET_FENCE && nempty(up) && nfull(old) -> up?i,j; old!i,j
  :: !FORGET_FENCE || empty(up) || full(old) -> break
  od;
  clear(up); isDeaf = false; i = 0; j = 1;
  do
  :: j <= sent && !done[j] -> if :: SEEN_AT_RESEND -> seen[j] = row :: else fi; up!j,seen[j]; j++
  :: j <= sent && done[j] -> j++
  :: j > sent -> break
  od;
  j = 0
}
inline index() {                /* the rows in order; those up to `floor` are old or pruned */
  select(floor : 0 .. row); skip;
  d_step {
    lastRow = 0; count = 0; forgottenThrough = (START_WITHOUT_HORIZON -> 0 : floor);
    for (i : 1 .. OPS) { remembered[i] = false; waits[i] = false }
    do
    :: floor < row -> floor++; i = 1;
       do
       :: i <= OPS && rowOf[i] != floor -> i++
       :: i <= OPS && rowOf[i] == floor -> remember(i); lastRow = floor; break
       :: i > OPS -> break
       od
    :: floor == row -> break
    od;
    evicted = 0; floor = 0; i = 0
  }
}
inline loseRows() {             /* 15: "a crash of the machine may lose the last revisions" */
  select(floor : 0 .. row - 1); skip;
  d_step {
    for (i : 1 .. OPS) { if :: rowOf[i] > floor -> rowOf[i] = 0; isGone[i] = true :: else fi }
    row = (SAME_NUMBERS_AFTER_LOSS -> floor : row) + 1;    /* Hub.renewEpochs: a row for the nav */
    floor = 0; i = 0
  }
}
inline start() {                /* of the next process; what is unread in sockets is gone */
  d_step { hasStarted = true; clear(up); clear(old); skip }
  if :: row > 0 && RELAXED -> loseRows() :: true fi;
  index(); d_step { greet() }
}
inline decide(id) {             /* the answer leaves with the commit */
  d_step { waits[id] = false; remember(id); lastRow = row + 1 }
  if :: ACK_BEFORE_COMMIT -> answer(ok, id) :: else fi;
  if
  :: d_step { assert(rowOf[id] == 0); row++; rowOf[id] = row; evicted = 0 }      /* never twice */
     answer(ok, id)
  :: d_step { if :: STORAGE_AFTER_FAILED_SYNC -> row++; rowOf[id] = row :: else fi;    /* it may be stored */
       if :: remembered[id] -> remembered[id] = false; count-- :: else fi;
       if :: evicted != 0 && !ROLLBACK_LOSES_EVICTED -> remembered[evicted] = true; count++ :: else fi; evicted = 0 }
     answer(storage, id)
  :: !hasStarted -> evicted = 0; start()                   /* killed before the commit */
  fi
}
inline operate(id, again) {
  d_step { oldest(j); skip }
  if
  :: remembered[id] -> j = 0; answer(ok, id)
  :: !remembered[id] && count == RING && id < j -> j = 0; answer(tooOld, id)
  :: !remembered[id] && (count < RING || id > j) -> j = 0;
     if
     :: waits[id]               /* Hub.joinsWaitingOp */
     :: !waits[id] && isForgotten(again) -> answer(tooOld, id)
     :: !waits[id] && !isForgotten(again) && row < ROWS -> decide(id)
     :: !waits[id] && !isForgotten(again) -> waits[id] = true          /* 9.3: "One may wait" */
     fi
  fi
}
active proctype once() {
  byte id, again; BEGIN
end:
  do
  :: d_step { sent < OPS && empty(up) -> sent++; open++; seen[sent] = row; up!sent,FIRST }   /* the greatest N is the worst */
  :: atomic { losses < LOSSES && open > 0 -> losses++;     /* what waits ends, but for questions to delegates */
       if :: d_step { for (i : 1 .. OPS) { waits[i] = false } i = 0 } :: true fi;
       d_step { greet() } }
  :: atomic { nempty(up) -> up?id,again; operate(id, again); id = 0; again = 0 }
  :: atomic { nempty(old) -> old?id,again; operate(id, again); id = 0; again = 0 }
  :: atomic { row < ROWS && isBusy -> select(id : 1 .. OPS);         /* a turn in the queue, or delegates answer */
       if :: waits[id] -> decide(id) :: else fi; id = 0 }
  :: d_step { row < ROWS && isBusy -> row++ }              /* a row of another client */
  :: d_step { !hasShed && open > 0 -> hasShed = true;      /* RememberedOps.drop: idle, or too many */
       if :: lastRow > forgottenThrough && !DROP_HORIZON -> forgottenThrough = lastRow :: else fi;
       for (i : 1 .. OPS) { remembered[i] = false }
       count = 0; lastRow = 0; i = 0 }
  :: atomic { !hasStarted && open > 0 -> start() }
  :: atomic { !hasStarted && row > 0 -> hasStarted = true;     /* Hub.adopt of a shard that lost rows */
       loseRows(); index() }
  od
}
