/* Leases, fences and promotion: docs/protocol.md 17, docs/cluster.md "What it promises".
 *
 *   17: "At most one daemon owns a shard at a time."
 *   "One daemon answers about a nav. It answers while it has its lease."
 *   "Nothing confirmed is lost." (SYNC: with a synchronous standby)
 *   "An epoch has one history. If no daemon can prove that the database has all that clients have seen, the navs get new
 *    epochs"
 *
 * The members A and B, a shard with one nav, a server and its standby; a promotion ends the first server. `Server` has
 * the rows of navd.member and navd.shard, `Member` a PostgresCluster. What stands for what: `execute` fenceCommand and
 * refusalReason; `rejoin` PostgresHistory.Reconnection; `take` PostgresKeeper.take and PostgresHistory.loss; `adopt`
 * ServerLoop.serve; `read` LeaseWatch.noteLease and delayTakeOvers; `answer` a read behind awaitLease. The number of
 * commits stands for the revision. Between awaitLease and the socket no time passes, and the server's clock only ticks.
 * `run` defines the names in capitals: planted faults and SYNC as 0 or 1, WRITES (changes that members try to store),
 * STAMPS (renewals of A's lease; a stamp is a `leased_until`), LEASE (ticks).
 */
#define A 0
#define B 1
#define EPOCHS 4
mtype = { none, loading, serving, sent, stored, unknown };
typedef Server { bool isGone, isMarked; bit owner; byte term, commits, epoch, stamp, left, proven };
typedef Member { mtype state = none; mtype phase = none; bool isLinked, isLost;
  byte term, commits, epoch, left, sentLeft, stamp, identity, content };
typedef Epoch { byte content[WRITES + EPOCHS] };
Server server[2];
Member member[2];
Epoch seen[EPOCHS];                       /* what a client was told of each epoch and revision */
byte newest[EPOCHS], confirmed;           /* the newest revision told of each epoch, and of all */
bit primary, owner;                       /* owner: the member that began to serve last */
bool isBehind, hasEnded, hasStepped;      /* the standby lacks something; B was started again */
byte identity = 1, epochs, stamps, writes, i;              /* identity: PostgresIdentity */
byte watchLeft = LEASE, watchStamp, delay, keeperIdentity = 1;
byte ownDelay;                            /* of A's keeper, which finds the server at once */
#define s server[primary]
#define me member[m]
#define isSafe (!SYNC || !isBehind || ANSWER_BEFORE_STANDBY)
#define hasEndedLease (watchLeft == 0 && delay == 0 && watchStamp == s.stamp)
#define isFenced (m == A && s.isGone)
#define isOther (s.owner != m || s.term != me.term || s.commits != me.commits)
#define unconfirmed (me.phase == unknown && me.content != 0 -> 1 : 0)
#define areCountsRight (s.term == me.term && s.commits >= me.commits && s.commits <= me.commits + unconfirmed)
#define isContinuous (me.left > 0 || me.identity == identity || (identity == 2 && s.stamp >= me.stamp))

inline copy(to, from) {
  server[to].isGone = server[from].isGone; server[to].isMarked = server[from].isMarked;
  server[to].owner = server[from].owner; server[to].term = server[from].term; server[to].commits = server[from].commits;
  server[to].epoch = server[from].epoch; server[to].stamp = server[from].stamp; server[to].left = server[from].left;
  server[to].proven = server[from].proven; isBehind = false
}
inline write() { if :: primary == 0 -> isBehind = true :: else -> copy(0, 1) fi }   /* a lost server counts no more */
inline replicate() { copy(1, 0) }
inline await() { if :: SYNC && primary == 0 -> replicate() :: else fi }
inline renew() { me.left = LEASE; if :: m == A -> stamps++; s.stamp = stamps; s.left = LEASE; me.stamp = stamps :: else fi }
inline tell() {                 /* an epoch has one history */
  me.commits++; i = me.epoch;
  assert(seen[i].content[me.commits] == 0 || seen[i].content[me.commits] == me.content);
  seen[i].content[me.commits] = me.content;
  if :: newest[i] < me.commits -> newest[i] = me.commits :: else fi;
  if :: confirmed < me.commits -> confirmed = me.commits :: else fi;
  i = 0
}
inline rest() { me.phase = none; me.content = 0; me.sentLeft = 0 }
inline stop() { rest(); me.state = none; me.isLinked = false; me.isLost = false; me.term = 0; me.commits = 0; me.epoch = 0;
  me.left = 0; me.stamp = 0; me.identity = 0 }
inline execute() {
  if
  :: (isFenced || (me.content != 0 && isOther)) && !FORGET_FENCE ->
     if :: s.term <= me.term && !isFenced -> s.isMarked = true :: else fi;
     stop()
  :: else ->
     if :: me.content != 0 -> s.commits++; s.epoch = me.epoch :: else fi;
     if :: m == A -> stamps++; s.stamp = stamps; s.left = LEASE :: else fi;
     me.phase = stored
  fi;
  write()
}
inline rejoin() {               /* raises the generation first: no old transaction runs any more */
  if
  :: isFenced || s.term > me.term || s.owner != m -> stop()          /* .taken */
  :: !(isFenced || s.term > me.term || s.owner != m) && !areCountsRight && !(COUNTS_NOT_COMPARED && me.left > 0) ->
     s.isMarked = true; stop()                             /* .lost */
  :: else ->
     if
     :: isContinuous ->                                    /* .complete */
        if :: s.commits > me.commits -> tell() :: else fi;
        if :: me.state == serving -> s.proven = identity :: else fi;
        me.isLinked = true; me.identity = identity; renew(); rest()
     :: else -> s.isMarked = (s.isMarked || identity == 2); stop()   /* .lost or .doubtful */
     fi
  fi;
  write(); await()
}
inline take() {
  if :: s.owner != m -> s.isGone = true :: else fi;        /* s.owner is A, and its lease has ended */
  s.owner = m; s.term++; me.term = s.term; me.commits = s.commits; me.epoch = s.epoch;
  me.isLost = (s.isMarked || (s.proven != identity && !KEEP_EPOCH_AFTER_PROMOTION));
  if :: PROVEN_AT_TAKE -> s.proven = identity :: else fi;
  me.state = loading; me.isLinked = true; me.identity = identity; renew(); write(); await()
}
inline adopt() {
  if
  :: isFenced || isOther -> stop()
  :: else ->
     if
     :: me.isLost -> epochs++; me.epoch = epochs; s.epoch = epochs; s.commits++; me.commits++;
        s.proven = identity; s.isMarked = false; me.isLost = false; write(); await()
     :: else
     fi;
     me.state = serving; owner = m
  fi
}
inline answer() {
  assert(owner == m);                     /* nobody else has begun to answer */
  assert(me.commits >= newest[me.epoch]); /* (epoch, rev) was not set back */
  assert(!SYNC || me.commits >= confirmed)                 /* nothing confirmed is lost */
}
inline leaveServer() {          /* what was under way runs no more, or has an unknown outcome */
  for (i : 0 .. 1) {
    member[i].isLinked = false;
    if :: member[i].phase != none -> member[i].phase = unknown :: else fi
  }
  i = 0
}
inline down(x) { x = (x > 0 -> x - 1 : 0) }

active proctype lease() {
  bit m; BEGIN
  d_step { server[0].proven = 1; server[0].left = LEASE; replicate(); member[A].identity = 1; member[A].isLinked = true;
    member[A].state = serving; member[A].left = LEASE }
end:
  do
  :: d_step { true -> down(member[0].left); down(member[1].left); down(member[0].sentLeft); down(member[1].sentLeft);
       down(server[0].left); down(server[1].left); down(watchLeft); down(delay); down(ownDelay) }
  :: m = 1 - m
  :: d_step { primary == 0 && isBehind -> replicate() }
  :: d_step { identity == 1 -> identity = 2; ownDelay = LEASE; leaveServer() }                     /* the server starts again */
  :: d_step { primary == 0 && (!SYNC || server[0].term == server[1].term) -> primary = 1; identity = 3; ownDelay = LEASE; leaveServer(); copy(0, 1) }
  :: atomic { me.state == serving && me.phase == none && me.isLinked && stamps < STAMPS ->
       if :: writes < WRITES -> writes++; me.content = writes :: true fi;
       me.phase = sent; me.sentLeft = LEASE }
  :: d_step { me.phase == sent && me.isLinked && stamps < STAMPS -> execute() }
  :: d_step { me.phase == stored && me.isLinked && isSafe ->
       if :: m == A -> me.stamp = s.stamp :: else fi; me.left = (LEASE_FROM_ANSWER -> LEASE : me.sentLeft);
       if :: me.content != 0 -> tell() :: else fi; rest() }
  :: d_step { me.state != none && !me.isLinked && stamps < STAMPS -> rejoin() }
  :: d_step { m == A && me.state == none && s.owner == A && !s.isGone && stamps < STAMPS &&
       (s.proven == identity || ownDelay == 0 || TAKE_OWN_WITHOUT_DELAY) -> take() }
  :: d_step { m == B && me.state == none && keeperIdentity == identity && (s.owner == B || hasEndedLease) -> take() }
  :: d_step { me.state == loading && me.isLinked && (epochs < EPOCHS - 1 || !me.isLost) -> adopt() }
  :: d_step { m == B && me.state != none && !hasEnded -> hasEnded = true; stop() }
  :: d_step { keeperIdentity != identity || watchStamp != s.stamp ->             /* read */
       if :: keeperIdentity != identity && !TAKE_WITHOUT_DELAY -> delay = LEASE :: else fi;
       keeperIdentity = identity;
       if :: s.stamp == watchStamp :: else -> watchLeft = (s.left > 0 || s.stamp < watchStamp -> s.left : LEASE) fi;
       watchStamp = s.stamp }
  :: d_step { SERVER_CLOCK_STEPS && !hasStepped && s.left > 0 -> hasStepped = true; down(s.left) }   /* forward */
  :: d_step { me.state == serving && (me.left > 0 || ANSWER_AFTER_LEASE) -> answer() }
  od
}
