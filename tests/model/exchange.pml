/* SPDX-License-Identifier: BSD-3-Clause */
/* The streamed exchange (src/exchanges, on src/fetch): all ways to give the parts of three ranks to receivers, all
 * orders of steps and messages.
 *
 * Rank i sends M0, M1 or M2 parts, each to any rank, and has K0, K1 or K2 tokens for parts that come. Announcements are
 * over: every rank knows what it wants, but may publish later than another rank asks. The first half of the tokens is
 * for any part, the second half for parts of ranks that have published. If nothing is under way, a part is granted
 * beyond the tokens. A rank packs a part only if it has room for it (SERVED parts); it may refuse any part (its producer
 * throws). Whoever takes a part frees it at once, or keeps it until all has ended.
 *
 * With -DCALLS=2 the ranks make two calls of a plan whose parts stay. A rank begins the second one as soon as all have the
 * parts of the first, and asks owners that are still in the first. Requests and parts carry the number of their call.
 *
 * The model shows that every end is an end of all processes, that each part comes once or is refused once, that no rank
 * takes a part of another call, or is two calls ahead, and that no more parts are under way than there are tokens.
 * Mistakes: -DWITHOUT_NUMBERS lets owners answer requests of any call by parts of their own; -DNOTHING_BEYOND grants nothing beyond the tokens, although
 * kept parts hold them; -DLEAVES_EARLY lets a rank end when it has its own parts, and serve no longer; -DALL_TENTATIVE
 * asks for everything at once, so that more is under way than there are tokens. */
#ifndef M0 /* all six must be given, or none */
#define M0 2
#define M1 2
#define M2 1
#define K0 1
#define K1 1
#define K2 1
#endif
#ifndef SERVED
#define SERVED 1
#endif
#ifndef CALLS /* 1 or 2 */
#define CALLS 1
#endif
#define RANKS 3
#define AT(reader, owner) (9 * call[me] + (reader) * RANKS + (owner)) /* of the call that this rank is in */
#define IN_OTHER_CALL(reader, owner) (9 * (1 - call[me]) + (reader) * RANKS + (owner))
#define UNDER_WAY(reader) (asked[AT(reader, 0)] + asked[AT(reader, 1)] + asked[AT(reader, 2)] \
    + coming[AT(reader, 0)] + coming[AT(reader, 1)] + coming[AT(reader, 2)] \
    + refusals[AT(reader, 0)] + refusals[AT(reader, 1)] + refusals[AT(reader, 2)])
#define WANTED(reader) (wanted[AT(reader, 0)] + wanted[AT(reader, 1)] + wanted[AT(reader, 2)])

/* Nine entries for each call: of each reader and owner. */
byte wanted[9 * CALLS];   /* announced, and no token yet */
byte asked[9 * CALLS];    /* with a token; the owner has not answered */
byte coming[9 * CALLS];   /* packed, on the way */
byte refusals[9 * CALLS]; /* on the way */
byte call[RANKS];         /* which one the rank is in */
bool published[RANKS];    /* its parts of that call */
byte tokens[RANKS];
byte used[RANKS]; /* tokens of parts that are under way or kept */
byte kept[RANKS];
byte packed[RANKS]; /* of the owner's memory */
byte got[RANKS];
byte refused[RANKS];
byte finished[CALLS]; /* ranks that have all parts of a call */

inline ask(owner) {
    wanted[AT(me, owner)]--;
    asked[AT(me, owner)]++;
    used[me]++;
    assert(UNDER_WAY(me) <= (tokens[me] > 0 -> tokens[me] : 1))
}

#ifdef NOTHING_BEYOND
#define BEYOND false
#else
#define BEYOND (UNDER_WAY(me) == 0)
#endif
#ifdef ALL_TENTATIVE
#define MAY_ASK(owner) true
#else
#define MAY_ASK(owner) (2 * used[me] < tokens[me] || (used[me] < tokens[me] && published[owner] && call[owner] == call[me]) || BEYOND)
#endif

inline served(reader) {
    asked[AT(reader, me)]--;
    if
    :: coming[AT(reader, me)]++; packed[me]++
    :: refusals[AT(reader, me)]++
    fi
}

inline taken(owner) {
    coming[AT(me, owner)]--;
    packed[owner]--;
    got[me]++;
    if
    :: used[me]--
    :: kept[me]++
    fi
}

#if CALLS > 1
inline begin_next_call() {
    call[me]++;
    published[me] = false;
    ended = false;
    assert(call[me] <= call[0] + 1 && call[me] <= call[1] + 1 && call[me] <= call[2] + 1)
}

inline served_by_mistake(reader) {
    asked[IN_OTHER_CALL(reader, me)]--;
    coming[AT(reader, me)]++;
    packed[me]++
}
#endif

proctype Rank(byte me) {
    bool ended = false;
    do
    :: atomic { !published[me] -> published[me] = true }
    :: atomic { published[me] && wanted[AT(me, 0)] > 0 && MAY_ASK(0) -> ask(0) }
    :: atomic { published[me] && wanted[AT(me, 1)] > 0 && MAY_ASK(1) -> ask(1) }
    :: atomic { published[me] && wanted[AT(me, 2)] > 0 && MAY_ASK(2) -> ask(2) }
    :: atomic { published[me] && packed[me] < SERVED && asked[AT(0, me)] > 0 -> served(0) }
    :: atomic { published[me] && packed[me] < SERVED && asked[AT(1, me)] > 0 -> served(1) }
    :: atomic { published[me] && packed[me] < SERVED && asked[AT(2, me)] > 0 -> served(2) }
    :: atomic { coming[AT(me, 0)] > 0 -> taken(0) }
    :: atomic { coming[AT(me, 1)] > 0 -> taken(1) }
    :: atomic { coming[AT(me, 2)] > 0 -> taken(2) }
    :: atomic { refusals[AT(me, 0)] > 0 -> refusals[AT(me, 0)]--; used[me]--; refused[me]++ }
    :: atomic { refusals[AT(me, 1)] > 0 -> refusals[AT(me, 1)]--; used[me]--; refused[me]++ }
    :: atomic { refusals[AT(me, 2)] > 0 -> refusals[AT(me, 2)]--; used[me]--; refused[me]++ }
    :: atomic { !ended && published[me] && WANTED(me) == 0 && UNDER_WAY(me) == 0 -> ended = true; finished[call[me]]++ }
#ifdef LEAVES_EARLY
    :: atomic { ended -> break }
#else
    :: atomic { ended && call[me] == CALLS - 1 && finished[CALLS - 1] == RANKS -> break }
#endif
#if CALLS > 1
    :: atomic { ended && call[me] == 0 && finished[0] == RANKS -> begin_next_call() }
    :: atomic { (coming[IN_OTHER_CALL(me, 0)] + coming[IN_OTHER_CALL(me, 1)] + coming[IN_OTHER_CALL(me, 2)]
            + refusals[IN_OTHER_CALL(me, 0)] + refusals[IN_OTHER_CALL(me, 1)] + refusals[IN_OTHER_CALL(me, 2)] > 0) ->
        assert(false) /* it would be taken for one of this call */ }
#ifdef WITHOUT_NUMBERS
    :: atomic { published[me] && packed[me] < SERVED && asked[IN_OTHER_CALL(0, me)] > 0 -> served_by_mistake(0) }
    :: atomic { published[me] && packed[me] < SERVED && asked[IN_OTHER_CALL(1, me)] > 0 -> served_by_mistake(1) }
    :: atomic { published[me] && packed[me] < SERVED && asked[IN_OTHER_CALL(2, me)] > 0 -> served_by_mistake(2) }
#endif
#endif
    od
}

inline want(reader) {
    wanted[(reader) * RANKS + owner]++;
#if CALLS > 1
    wanted[9 + (reader) * RANKS + owner]++
#endif
}

init {
    byte part = 0;
    byte owner = 0;
    byte parts[RANKS];
    atomic {
        parts[0] = M0; parts[1] = M1; parts[2] = M2;
        tokens[0] = K0; tokens[1] = K1; tokens[2] = K2;
        do
        :: owner < RANKS && part < parts[owner] ->
            if
            :: want(0)
            :: want(1)
            :: want(2)
            fi;
            part++
        :: owner < RANKS && part == parts[owner] -> owner++; part = 0
        :: owner == RANKS -> break
        od;
        run Rank(0); run Rank(1); run Rank(2)
    }
    _nr_pr == 1;
    assert(got[0] + got[1] + got[2] + refused[0] + refused[1] + refused[2] == CALLS * (M0 + M1 + M2));
    assert(used[0] == kept[0] && used[1] == kept[1] && used[2] == kept[2]);
    assert(packed[0] + packed[1] + packed[2] == 0)
}
