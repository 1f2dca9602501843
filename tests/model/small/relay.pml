/* SPDX-License-Identifier: BSD-3-Clause */
/* The relay form for small blocks (src/redistribution/strategies/relay): all maps of SLOTS slots on three ranks, all orders
 * of starts, landings and forwarding, channels of one block.
 *
 * Rank r has K<r> credits and the slots from FIRST(r) on. A block that starts takes a credit of its rank. A block that
 * lands in a slot whose block has not left changes places with it, and the credit goes on with that one; a block that
 * lands in a vacant slot comes to rest, and the credit goes back to the rank that gave it. A block whose channel is full,
 * or which stays on the rank, is put into the store of the rank. Mistakes:
 *   WAITS          a block is taken only if the one in its slot can go on at once
 *   KEEPS_CREDITS  a rank keeps the credit of a block that comes to rest there
 *
 * The model shows that no process waits for ever, that no block is lost or overwritten, that a store of as many blocks as
 * there are credits suffices, and that all contents are right. */
#ifndef M0 /* all six must be given, or none */
#define M0 2
#define M1 2
#define M2 1
#define K0 1
#define K1 1
#define K2 1
#endif
#define SLOTS (M0 + M1 + M2)
#define CREDITS (K0 + K1 + K2)
#define NONE 255
#define OWNER(slot) ((slot) < M0 -> 0 : ((slot) < M0 + M1 -> 1 : 2))

byte content[SLOTS];     /* the block, named after its first slot */
byte destination[SLOTS]; /* of each block */
byte source[SLOTS];      /* the inverse map */
bool left[SLOTS];        /* vacant, or the final content has landed */
byte credits[3];
byte to_rest;            /* blocks that have yet to reach their slots */
byte channel[9];         /* the block on its way from sender s to receiver r: 3 r + s */
byte credit_in_channel[9];
chan store[9] = [CREDITS] of { byte, byte }; /* blocks, and ranks of their credits, of rank r to rank q: 3 r + q */

#define CHANNEL_FROM(rank, block) (3 * OWNER(destination[block]) + (rank))
#define CAN_GO(rank, block) (OWNER(destination[block]) != (rank) && channel[CHANNEL_FROM(rank, block)] == NONE)
#define IN_SLOT(block) content[destination[block]]
#ifdef WAITS
#define MAY_LAND(block) (left[destination[block]] || CAN_GO(OWNER(destination[block]), IN_SLOT(block)))
#else
#define MAY_LAND(block) (true)
#endif

inline go(rank, block, credit) {
    if
    :: CAN_GO(rank, block) ->
        channel[CHANNEL_FROM(rank, block)] = block;
        credit_in_channel[CHANNEL_FROM(rank, block)] = credit
    :: else ->
        assert(nfull(store[3 * (rank) + OWNER(destination[block])]));
        store[3 * (rank) + OWNER(destination[block])]!block, credit
    fi
}

inline land() {
    place = destination[block];
    to_rest--;
    if
    :: !left[place] ->
        assert(content[place] == place);
        content[place] = block;
        left[place] = true;
        go(me, place, credit)
    :: else ->
        assert(content[place] == NONE);
        content[place] = block;
#ifdef KEEPS_CREDITS
        credits[me]++
#else
        credits[credit]++
#endif
    fi;
    block = 0;
    credit = 0;
    place = 0
}

inline take(at) {
    atomic {
        channel[at] != NONE && MAY_LAND(channel[at]) ->
        block = channel[at];
        credit = credit_in_channel[at];
        channel[at] = NONE;
        credit_in_channel[at] = 0;
        land()
    }
}

inline forward(to) {
    atomic {
        nempty(store[3 * me + to]) && (to == me || channel[3 * to + me] == NONE) ->
        store[3 * me + to]?block, credit;
        if
        :: to == me -> land()
        :: else -> go(me, block, credit); block = 0; credit = 0
        fi
    }
}

proctype Slot(byte me) {
    atomic {
        if
        :: left[me]
        :: !left[me] && credits[OWNER(me)] > 0 ->
            credits[OWNER(me)]--;
            content[me] = NONE;
            left[me] = true;
            go(OWNER(me), me, OWNER(me))
        fi
    }
}

proctype Rank(byte me) {
    byte block;
    byte credit;
    byte place;
end:
    do
    :: take(3 * me)
    :: take(3 * me + 1)
    :: take(3 * me + 2)
    :: forward(0)
    :: forward(1)
    :: forward(2)
    od
}

init {
    byte place = 0;
    byte from;
    atomic {
        credits[0] = K0; credits[1] = K1; credits[2] = K2;
        do
        :: place < 9 -> channel[place] = NONE; place++
        :: else -> break
        od;
        place = 0;
        do
        :: place < SLOTS -> content[place] = NONE; destination[place] = NONE; place++
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
            left[place] = true;
            if
            :: destination[place] == NONE
            :: destination[place] == place -> content[place] = place
            :: else -> content[place] = place; left[place] = false; to_rest++
            fi;
            place++
        :: else -> break
        od;
        run Rank(0); run Rank(1); run Rank(2);
        place = 0;
        do
        :: place < SLOTS -> run Slot(place); place++
        :: else -> place = 0; from = 0; break
        od
    }
    to_rest == 0;
    d_step {
        do
        :: place < SLOTS -> assert(content[place] == source[place]); place++
        :: else -> break
        od
    }
}
