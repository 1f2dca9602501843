/* SPDX-License-Identifier: BSD-3-Clause */
/* Chain pull (src/redistribution/strategies/token): all maps of SLOTS slots on three ranks, all orders of steps and
 * notices.
 *
 * Slots are numbered through: rank 0 owns the first M0, rank 1 the next M1, rank 2 the last M2. Each slot is a
 * process that brings its own final content in; the steps of one rank's slots interleave in every way, which contains
 * every order in which a rank could do them one after another. A notice "your slot is vacant" is a flag that its
 * owner may see at any later time, so notices are late and overtake each other.
 *
 * The model shows that every end is an end of all processes (none waits for ever), that no content is read after it
 * is gone or overwritten while it is needed, and that all contents are right. With -DNP (there are no progress
 * labels, so every cycle counts) pan also shows that there is no infinite run. K0=K1=K2=0 is the mistake of having no
 * spare slots. */
#ifndef M0 /* all six must be given, or none */
#define M0 2
#define M1 2
#define M2 1
#define K0 1
#define K1 1
#define K2 1
#endif
#define SLOTS (M0 + M1 + M2)
#define NONE 255
#define OWNER(slot) ((slot) < M0 -> 0 : ((slot) < M0 + M1 -> 1 : 2))

byte content[SLOTS]; /* the block, named after its first slot */
byte source[SLOTS];  /* where the final content comes from */
bool used[SLOTS];    /* is the source of a slot */
bool fetched[SLOTS]; /* the first block of the slot was copied away */
bool vacant[SLOTS];  /* and its owner knows that */
byte spares[3];

/* Copies the final content of `slot` from where it is. */
inline fetch(slot) {
    assert(content[source[slot]] == source[slot] && !fetched[source[slot]]);
    fetched[source[slot]] = true;
    if
    :: OWNER(source[slot]) == OWNER(slot) -> vacant[source[slot]] = true
    :: else /* a notice is on its way: fetched is set, vacant not yet */
    fi
}

inline land(slot) {
    assert(!used[slot] || fetched[slot]);
    content[slot] = source[slot]
}

proctype Slot(byte me) {
    bool settled = (source[me] == NONE || source[me] == me);
    bool in_spare = false;
    do
    :: atomic { fetched[me] && !vacant[me] -> vacant[me] = true } /* the notice arrives */
    :: atomic { !settled && !in_spare && vacant[me] -> fetch(me); land(me); settled = true }
    :: atomic { !settled && !in_spare && !vacant[me] && spares[OWNER(me)] > 0 ->
           spares[OWNER(me)]--; fetch(me); in_spare = true }
    :: atomic { in_spare && vacant[me] -> land(me); in_spare = false; settled = true; spares[OWNER(me)]++ }
    :: atomic { settled && (!used[me] || vacant[me] || source[me] == me) -> break }
    od
}

init {
    byte slot = 0;
    byte from;
    atomic {
        spares[0] = K0; spares[1] = K1; spares[2] = K2;
        /* Any injective map: each slot's source is none, or a block that is not used yet. */
        do
        :: slot < SLOTS ->
            from = 0;
            do
            :: from < SLOTS && !used[from] -> used[from] = true; source[slot] = from; break
            :: from < SLOTS -> from++
            :: from == SLOTS -> source[slot] = NONE; break
            od;
            slot++
        :: else -> break
        od;
        slot = 0;
        do
        :: slot < SLOTS ->
            content[slot] = (used[slot] -> slot : NONE);
            vacant[slot] = !used[slot];
            slot++
        :: else -> break
        od;
        slot = 0;
        do
        :: slot < SLOTS -> run Slot(slot); slot++
        :: else -> slot = 0; from = 0; break
        od
    }
    _nr_pr == 1;
    d_step {
        do
        :: slot < SLOTS ->
            assert(source[slot] == NONE || content[slot] == source[slot]);
            slot++
        :: else -> break
        od;
        assert(spares[0] == K0 && spares[1] == K1 && spares[2] == K2)
    }
}
