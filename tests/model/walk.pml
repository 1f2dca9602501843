/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk form for arrays that all ranks map (src/redistribution/strategies/shared): all maps of SLOTS slots on three
 * ranks, all orders of the steps of all hands.
 *
 * Rank r has K<r> hands and the slots from FIRST(r) on. A hand takes the next start of its rank, free slots first, and
 * walks upstream: it claims the block that belongs into the vacant slot, and copies it there in a later step. At a block
 * that another hand has saved it tells the vacant slot and ends; a hand with a saved block then waits until it is told.
 * LIVE_FIRST is the mistake of starting at blocks before all free slots are started at: all hands of a rank may then
 * wait for the walk that would begin at one of its free slots.
 *
 * The model shows that no hand waits for ever, that no block is lost or overwritten, and that all contents are right. */
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
#ifdef LIVE_FIRST
#define IS_TURN_OF_LIVE(turn) ((turn) < SLOTS)
#else
#define IS_TURN_OF_LIVE(turn) ((turn) >= SLOTS)
#endif

byte content[SLOTS];     /* the block, named after its first slot */
byte destination[SLOTS]; /* of each block */
byte source[SLOTS];      /* the inverse map */
bool claimed[SLOTS];
byte told[SLOTS];        /* the vacant slot for the block that was saved from this slot */
byte looked[3];
byte finished;

proctype Hand(byte me) {
    byte start;
    byte vacant;
    byte from;
    byte saved;
    bool was_claimed;
again:
    atomic {
        saved = NONE;
        do
        :: looked[me] == 2 * SLOTS -> goto done
        :: else ->
            start = looked[me] % SLOTS;
            looked[me]++;
            if
            :: OWNER(start) == me && source[start] != NONE && source[start] != start && !claimed[start] &&
               (destination[start] != NONE) == IS_TURN_OF_LIVE(looked[me] - 1) -> break
            :: else
            fi
        od;
        if
        :: destination[start] != NONE -> claimed[start] = true; saved = start
        :: else
        fi
    }
    atomic {
        if
        :: saved != NONE -> assert(content[start] == start); content[start] = NONE
        :: else
        fi;
        vacant = start;
        from = source[start]
    }
    do
    :: from == NONE -> break
    :: else ->
        atomic { was_claimed = claimed[from]; claimed[from] = true }
        if
        :: !was_claimed ->
            atomic {
                assert(content[from] == from && content[vacant] == NONE);
                content[vacant] = from;
                content[from] = NONE;
                vacant = from;
                from = source[from]
            }
        :: was_claimed && saved != NONE && from == start ->
            atomic { assert(content[vacant] == NONE); content[vacant] = saved; saved = NONE; break }
        :: else -> assert(told[from] == NONE); told[from] = vacant; break
        fi
    od;
    if
    :: saved != NONE ->
        atomic {
            told[start] != NONE ->
            assert(content[told[start]] == NONE);
            content[told[start]] = saved
        }
    :: else
    fi;
    goto again;
done:
    finished++
}

init {
    byte place = 0;
    byte from;
    atomic {
        do
        :: place < SLOTS -> destination[place] = NONE; content[place] = NONE; told[place] = NONE; place++
        :: else -> break
        od;
        /* Any injective map: each slot's source is none, or a block that is not used yet. */
        place = 0;
        do
        :: place < SLOTS ->
            from = 0;
            do
            :: from < SLOTS && destination[from] == NONE -> destination[from] = place; source[place] = from; break
            :: from < SLOTS -> from++
            :: from == SLOTS -> source[place] = NONE; break
            od;
            place++
        :: else -> break
        od;
        place = 0;
        do
        :: place < SLOTS ->
            if
            :: destination[place] != NONE -> content[place] = place
            :: else
            fi;
            place++
        :: else -> break
        od;
        from = 0;
        do
        :: from < K0 -> run Hand(0); from++
        :: else -> break
        od;
        from = 0;
        do
        :: from < K1 -> run Hand(1); from++
        :: else -> break
        od;
        from = 0;
        do
        :: from < K2 -> run Hand(2); from++
        :: else -> break
        od;
        place = 0;
        from = 0
    }
    finished == K0 + K1 + K2;
    d_step {
        do
        :: place < SLOTS -> assert(content[place] == source[place]); place++
        :: else -> break
        od
    }
}
