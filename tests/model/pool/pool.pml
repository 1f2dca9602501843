/* SPDX-License-Identifier: BSD-3-Clause */
/* Pool (src/engine/transports/place.hpp): chain pull through places that the ranks of a node share; all maps of SLOTS
 * slots on three ranks, all orders of steps.
 *
 * Slots are numbered through: rank 0 owns the first M0, rank 1 the next M1, rank 2 the last M2. Each slot is a process
 * that brings its own final content in. A receiver takes a place and asks; the owner copies the block into the place at
 * any later time, and its slot is vacant then; the receiver lands it at any time after that. The places of a rank are
 * divided: K0, K1, K2 are those of blocks that are fetched ahead, L0, L1, L2 those of blocks for vacant slots.
 *
 * The model shows that every end is an end of all processes (none waits for ever), that no content is read after it is
 * gone or overwritten while it is needed, that all contents are right, and that all places are given back. With -DNP
 * pan also shows that there is no infinite run. -DSHARED is the mistake of one store of places (K0 + L0) for both
 * kinds: blocks that are fetched ahead take them all. */
#ifndef M0 /* all six must be given, or none */
#define M0 2
#define M1 2
#define M2 1
#define K0 1
#define K1 1
#define K2 1
#endif
#ifndef L0
#define L0 1
#define L1 1
#define L2 1
#endif
#define SLOTS (M0 + M1 + M2)
#define NONE 255
#define OWNER(slot) ((slot) < M0 -> 0 : ((slot) < M0 + M1 -> 1 : 2))

byte content[SLOTS]; /* the block, named after its first slot */
byte source[SLOTS];  /* where the final content comes from */
bool used[SLOTS];    /* is the source of a slot */
bool vacant[SLOTS];  /* its first block has been copied away */
byte ahead[3];       /* free places of each kind */
byte landing[3];

#ifdef SHARED
#define FOR_AHEAD landing
#else
#define FOR_AHEAD ahead
#endif

/* The owner of the source copies the final content of `slot` out of it. */
inline copy_out(slot) {
    assert(content[source[slot]] == source[slot] && !vacant[source[slot]]);
    vacant[source[slot]] = true
}

inline land(slot) {
    assert(!used[slot] || vacant[slot]);
    content[slot] = source[slot]
}

proctype Slot(byte me) {
    bool settled = (source[me] == NONE || source[me] == me);
    bool asked = false; /* has a place, named to the owner */
    bool is_ahead = false;
    bool answered = false;
    do
    :: atomic { !settled && !asked && vacant[me] && OWNER(source[me]) == OWNER(me) ->
           copy_out(me); land(me); settled = true }
    :: atomic { !settled && !asked && vacant[me] && OWNER(source[me]) != OWNER(me) && landing[OWNER(me)] > 0 ->
           landing[OWNER(me)]--; asked = true }
    :: atomic { !settled && !asked && !vacant[me] && FOR_AHEAD[OWNER(me)] > 0 ->
           FOR_AHEAD[OWNER(me)]--; asked = true; is_ahead = true }
    :: atomic { asked && !answered -> copy_out(me); answered = true }
    :: atomic { answered && !settled && vacant[me] ->
           land(me); settled = true;
           if
           :: is_ahead -> FOR_AHEAD[OWNER(me)]++
           :: else -> landing[OWNER(me)]++
           fi }
    :: atomic { settled && (!used[me] || vacant[me] || source[me] == me) -> break }
    od
}

init {
    byte slot = 0;
    byte from;
    atomic {
        ahead[0] = K0; ahead[1] = K1; ahead[2] = K2;
        landing[0] = L0; landing[1] = L1; landing[2] = L2;
#ifdef SHARED
        landing[0] = K0 + L0; landing[1] = K1 + L1; landing[2] = K2 + L2;
#endif
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
#ifdef SHARED
        assert(landing[0] == K0 + L0 && landing[1] == K1 + L1 && landing[2] == K2 + L2)
#else
        assert(ahead[0] == K0 && ahead[1] == K1 && ahead[2] == K2);
        assert(landing[0] == L0 && landing[1] == L1 && landing[2] == L2)
#endif
    }
}
