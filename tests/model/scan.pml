/* SPDX-License-Identifier: BSD-3-Clause */
/* The scan form for small blocks (src/redistribution/strategies/token): all maps of SLOTS slots on three ranks, all
 * orders of appending and taking, channels of CAPACITY blocks.
 *
 * Places are numbered through: rank r owns the slots from FIRST(r) on and, after all slots, its spare places. Each
 * slot is a process that appends its block to the channel of the receiver when the channel has room; the slots of a
 * rank act in any order, which contains every scan that skips full channels and comes back. Each rank has a process
 * that takes from any channel while it has a vacant place. K0=K1=K2=0 is the mistake of having no spare slot: all
 * blocks move, but a full rank cannot permute.
 *
 * The model shows that no process waits for ever, that no block is lost or overwritten, that the existing vacancies
 * suffice for the local permutation at the end, and that all contents are right. */
#ifndef M0 /* all six must be given, or none */
#define M0 2
#define M1 2
#define M2 1
#define K0 1
#define K1 1
#define K2 1
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#define SLOTS (M0 + M1 + M2)
#define PLACES (SLOTS + K0 + K1 + K2)
#define NONE 255
#define OWNER(slot) ((slot) < M0 -> 0 : ((slot) < M0 + M1 -> 1 : 2))
#define PLACE_OWNER(p) ((p) < SLOTS -> OWNER(p) : ((p) < SLOTS + K0 -> 0 : ((p) < SLOTS + K0 + K1 -> 1 : 2)))

byte content[PLACES];     /* the block, named after its first slot */
byte destination[SLOTS];  /* of each block */
byte source[SLOTS];       /* the inverse map */
byte vacancies[3];
byte to_leave; /* blocks that have yet to leave their rank */
byte to_take;  /* blocks that have yet to be taken */
chan channel[9] = [CAPACITY] of { byte }; /* from sender s to receiver r: 3 r + s */

#define CHANNEL_OF(slot) channel[3 * OWNER(destination[slot]) + OWNER(slot)]

proctype Slot(byte me) {
    if
    :: destination[me] != NONE && OWNER(destination[me]) != OWNER(me) ->
        atomic {
            nfull(CHANNEL_OF(me)) ->
            assert(content[me] == me);
            CHANNEL_OF(me)!me;
            content[me] = NONE;
            vacancies[OWNER(me)]++;
            to_leave--
        }
    :: else
    fi
}

/* The block lands in its final slot if that is vacant, otherwise in the first vacant place of the rank. */
inline land(block) {
    place = destination[block];
    if
    :: content[place] == NONE
    :: else ->
        place = 0;
        do
        :: PLACE_OWNER(place) == me && content[place] == NONE -> break
        :: else -> place++
        od
    fi;
    assert(place < PLACES && content[place] == NONE);
    content[place] = block;
    vacancies[me]--;
    to_take--;
    place = 0;
    block = 0
}

proctype Receiver(byte me) {
    byte block;
    byte place;
end:
    do
    :: atomic { vacancies[me] > 0 && nempty(channel[3 * me]) -> channel[3 * me]?block; land(block) }
    :: atomic { vacancies[me] > 0 && nempty(channel[3 * me + 1]) -> channel[3 * me + 1]?block; land(block) }
    :: atomic { vacancies[me] > 0 && nempty(channel[3 * me + 2]) -> channel[3 * me + 2]?block; land(block) }
    od
}

/* Moves every block to its slot if the slot is vacant; a block in the way moves to a vacant place. */
inline settle() {
    place = 0;
    moves = 0;
    do
    :: place < PLACES ->
        if
        :: content[place] != NONE && destination[content[place]] != place ->
            home = destination[content[place]];
            if
            :: content[home] == NONE -> content[home] = content[place]; content[place] = NONE; place = 0
            :: else ->
                vacancy = 0;
                do
                :: PLACE_OWNER(vacancy) == PLACE_OWNER(home) && content[vacancy] == NONE -> break
                :: else -> vacancy++; assert(vacancy < PLACES)
                od;
                content[vacancy] = content[home];
                content[home] = NONE
            fi;
            moves++;
            assert(moves < 3 * PLACES)
        :: else -> place++
        fi
    :: else -> break
    od
}

init {
    byte place = 0;
    byte from;
    byte home;
    byte vacancy;
    byte moves;
    atomic {
        vacancies[0] = K0; vacancies[1] = K1; vacancies[2] = K2;
        do
        :: place < PLACES ->
            content[place] = NONE;
            if
            :: place < SLOTS -> destination[place] = NONE
            :: else
            fi;
            place++
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
            :: destination[place] == NONE -> vacancies[OWNER(place)]++
            :: else ->
                content[place] = place;
                if
                :: OWNER(destination[place]) != OWNER(place) -> to_leave++; to_take++
                :: else
                fi
            fi;
            place++
        :: else -> break
        od;
        run Receiver(0); run Receiver(1); run Receiver(2);
        place = 0;
        do
        :: place < SLOTS -> run Slot(place); place++
        :: else -> place = 0; from = 0; break
        od
    }
    to_leave == 0 && to_take == 0;
    d_step {
        settle();
        place = 0;
        do
        :: place < SLOTS -> assert(content[place] == source[place]); place++
        :: else -> break
        od
    }
}
