/* One revision, one content: docs/protocol.md, "The core", "The digest", 6 and 15; decision 025.
 *
 *   "(epoch, rev) names one state for ever. A nav that [...] a crash may have set back, has a new epoch."
 *   "if an older copy of the journal is put back, a mirror from the lost future gets a snapshot"
 *   "with `mode` `resume` the mirror is right, and the diffs after it follow"
 *   "In mode `sync` (the default), no message about a revision leaves the daemon before it is on stable storage. [...] In
 *    mode `relaxed` a crash of the machine may lose the last revisions; the navs then begin new epochs."
 *
 * One nav, one watch. Each revision has one of two contents with the same ids and versions, so the checksums are equal.
 * The bits of the contents since the epoch began, behind a leading 1, are the chain (RunningDigest, NavEntry.digest).
 * What stands for what: `synced` what a crash of the machine leaves; `isDirty` SyncState; `start` JournalReplay.replay
 * with Journal.rowLoss; `watch` NavEntry.reasonForSnapshot; `serve` Watches.next; `ring` DiffRing.base; the mirror Replica
 * and Mirror. `run` defines the names in capitals: planted faults as 0 or 1, the modes RELAXED and WITNESS, REVS
 * (revisions decided, lost ones included) and FAULTS (ends of process or machine, and copies put back).
 */
typedef Journal { byte epoch; byte rev; byte chain; byte rows; bool isDirty };
typedef Epoch { byte chain[REVS + 1] };
Journal file, synced, copy, memory;       /* stored; on stable storage; a backup; the hub's state */
bool hasCopy, isBatchOpen;                /* the hub has decided a revision that is not stored */
byte ring, epochs = 1, decided, faults;   /* ring: the oldest revision from which a watch can resume */
byte i, witness;                           /* JournalWitness.acknowledgedSequence */
bool isWitnessWeak, mayDiffer;                         /* an older copy is there that nobody could notice */
Epoch seen[FAULTS + 2];                   /* what a client was shown of each epoch and revision */
bool hasMirror, isWatching;
byte epoch, rev, chain, cursor;           /* the mirror; the cursor of its watch */

#define durable (DIFF_BEFORE_COMMIT -> memory.rev : file.rev)
#define at(to) (memory.chain >> (memory.rev - (to)))        /* the chain of a revision */

inline assign(to, from) {
  to.epoch = from.epoch; to.rev = from.rev; to.chain = from.chain; to.rows = from.rows; to.isDirty = from.isDirty
}
inline see(shown) {             /* (epoch, rev) names one state, which a digest can tell from others */
  i = memory.epoch;
  assert(seen[i].chain[shown] == 0 || seen[i].chain[shown] == at(shown) || mayDiffer);
  seen[i].chain[shown] = at(shown); i = 0
}
inline snapshot() {
  see(memory.rev);
  hasMirror = true; epoch = memory.epoch; rev = memory.rev; chain = memory.chain; cursor = rev
}
inline acknowledge() { witness = (WITNESS -> file.rows : 0) }
inline start(isLost) {          /* of the next process; `isLost` is Journal.rowLoss */
  isWatching = false; isBatchOpen = false;
  if
  :: (isLost || (WITNESS && witness > file.rows)) && !CLEAN_BEFORE_EPOCHS ->     /* else killed between the two */
     epochs++; file.epoch = epochs; file.chain = 1; file.rows++; acknowledge()   /* Hub.renewEpochs */
  :: else
  fi;
  file.isDirty = false; assign(synced, file); assign(memory, file); ring = memory.rev
}
inline watch() {
  isWatching = true;
  if
  :: !hasMirror || epoch != memory.epoch || rev > memory.rev || rev < ring -> snapshot()
  :: hasMirror && epoch == memory.epoch && rev <= memory.rev && rev >= ring && chain != at(rev) && !CHAIN_NOT_COMPARED ->
     snapshot()
  :: else -> assert(chain == at(rev));                     /* mode `resume`: the mirror is right */
     cursor = (RESUME_OFF_BY_ONE && rev < memory.rev -> rev + 1 : rev)
  fi
}
active proctype history() { BEGIN
  d_step { file.epoch = 1; file.chain = 1; file.rows = 1; assign(synced, file); assign(memory, file); acknowledge() }
end:
  do
  :: atomic { !isBatchOpen && decided < REVS -> decided++; isBatchOpen = true; memory.rev++;
       if :: memory.chain = memory.chain * 2 :: memory.chain = memory.chain * 2 + 1 fi }
  :: d_step { isBatchOpen -> isBatchOpen = false;          /* JournalWriter.commit, behind prepareRelaxedCommit */
       if
       :: RELAXED && !file.isDirty -> file.isDirty = true; if :: DIRTY_NOT_SYNCED :: else -> assign(synced, file) fi
       :: else
       fi;
       file.epoch = memory.epoch; file.rev = memory.rev; file.chain = memory.chain; file.rows++;
       if :: RELAXED :: else -> assign(synced, file) fi;
       if :: WITNESS_BEHIND_ANSWERS :: else -> acknowledge() fi }
  :: d_step { WITNESS && witness < file.rows -> acknowledge() }
  :: d_step { isBatchOpen -> isBatchOpen = false; assign(memory, file) }         /* Hub.rollBack */
  :: d_step { file.isDirty -> assign(synced, file) }       /* the kernel writes its pages */
  :: d_step { file.isDirty && !isBatchOpen -> file.isDirty = false; assign(synced, file) }   /* syncNow */
  :: d_step { ring < file.rev && !isBatchOpen -> ring++ }  /* DiffRing.trim */
  :: d_step { isWatching -> isWatching = false }           /* the connection is lost */
  :: d_step { !isWatching && !isBatchOpen -> watch() }
  :: d_step { isWatching && cursor < durable && cursor >= ring ->                /* serve: a diff */
       assert(cursor == rev && epoch == memory.epoch);     /* none is missed, none comes twice */
       cursor++; see(cursor); rev = cursor; chain = at(rev) }
  :: d_step { isWatching && cursor < ring && !isBatchOpen -> snapshot() }        /* serve: `lag` */
  :: d_step { !hasCopy -> hasCopy = true; assign(copy, file) }
  :: d_step { faults < FAULTS -> faults++; start(false) }  /* the process is killed */
  :: d_step { faults < FAULTS -> faults++;                 /* the machine crashes */
       if :: witness > 1 -> witness = 1; isWitnessWeak = true :: else fi;   /* "an earlier row" */
       assign(file, synced); start((file.isDirty && !KEEP_EPOCH_AFTER_LOSS)) }   /* dirty, of another boot */
  :: d_step { faults < FAULTS && hasCopy -> faults++;      /* somebody puts the copy back */
       assign(file, copy); mayDiffer = mayDiffer || !WITNESS || isWitnessWeak; start(false) }
  :: d_step { faults < FAULTS && hasCopy -> faults++; assign(file, copy); start(true) }   /* --restore */
  od
}
