import { FRAME, SESSION_BYTES } from './frames.js';
import { BASE_PACKET_BYTES, LARGE_PACKET_BYTES, type PacketTransport } from './packet-transport.js';

/** Without an answer for this long, the path is lost. */
const LOST_MS = 2500;
/** Rounds in a row in which only the short packet was answered. */
const MAX_LARGE_MISSES = 3;
/** One slow answer among so many says nothing of the path: somebody was busy. */
const TIMED_ROUNDS = 8;
const GOOD = 1;
/** Greater tokens are those of challenges to another address of the agent. */
const MAX_TOKEN = 2 ** 31;

interface Round {
  token: number;
  baseAnswered: boolean;
  largeAnswered: boolean;
}

/**
 * Finds out whether packets of a lane get through and come back, and how long they may be: each round sends one of the
 * least length and one of the greatest, under tokens that follow each other.
 */
export class PathWatch {
  private readonly transport: PacketTransport;
  private readonly now: () => number;
  /** Rounds that follow each other at once when the first answer comes: the first is slow on any path. */
  private readonly quickRounds: number;
  private round: Round | null = null;
  private token = 0;
  private askedAt = Number.NEGATIVE_INFINITY;
  private unansweredSince: number | null = null;
  private largeMisses = 0;
  private readonly times: number[] = [];
  /** The shortest round trip of the last rounds, milliseconds. */
  roundTripMs = Number.POSITIVE_INFINITY;
  /** Said to the other end: whether it is to send packets where they get through. */
  wanted = true;
  /** An answer came, and none is missing for long. */
  good = false;
  /** What the other end said last of the path. */
  peerGood = false;

  constructor(transport: PacketTransport, now: () => number, quickRounds = 0) {
    this.transport = transport;
    this.now = now;
    this.quickRounds = quickRounds;
  }

  /** Whether an answer is still to come. */
  get asking(): boolean {
    return this.unansweredSince !== null && this.now() - this.askedAt < LOST_MS;
  }

  /** To be called often: asks when `intervalMs` have passed, and gives the path up when answers stay away. */
  tick(intervalMs: number): void {
    const now = this.now();
    if (this.unansweredSince !== null && now - this.unansweredSince >= LOST_MS) this.good = false;
    if (now - this.askedAt >= intervalMs) this.ask();
  }

  ask(): void {
    this.judgeRound();
    this.askedAt = this.now();
    this.unansweredSince ??= this.askedAt;
    this.token = (this.token + 2) % MAX_TOKEN;
    this.round = { token: this.token, baseAnswered: false, largeAnswered: false };
    this.transport.putAlone(FRAME.probe, this.token, this.flags(), BASE_PACKET_BYTES);
    this.transport.putAlone(FRAME.probe, this.token + 1, this.flags(), LARGE_PACKET_BYTES);
  }

  /** A `probe` of the other end: is answered. */
  probe(token: number, body: Buffer): void {
    this.readFlags(body);
    this.transport.putAlone(FRAME.probed, token, this.flags());
  }

  /** The answer to a probe; one to an old round says nothing. Whether it was one to the last round. */
  probed(token: number, body: Buffer): boolean {
    const { round } = this;
    if (!round || (token !== round.token && token !== round.token + 1)) return false;
    this.readFlags(body);
    this.good = true;
    this.unansweredSince = null;
    if (token === round.token) {
      if (!round.baseAnswered) this.timed(this.now() - this.askedAt);
      round.baseAnswered = true;
    } else {
      round.largeAnswered = true;
      this.transport.packetBytes = LARGE_PACKET_BYTES;
    }
    if (round.baseAnswered && round.largeAnswered && this.times.length <= this.quickRounds) this.ask();
    return true;
  }

  private judgeRound(): void {
    if (!this.round?.baseAnswered) return;
    this.largeMisses = this.round.largeAnswered ? 0 : this.largeMisses + 1;
    if (this.largeMisses >= MAX_LARGE_MISSES) this.transport.packetBytes = BASE_PACKET_BYTES;
  }

  private timed(milliseconds: number): void {
    this.times.push(milliseconds);
    if (this.times.length > TIMED_ROUNDS) this.times.shift();
    this.roundTripMs = Math.min(...this.times);
  }

  /** What probes and answers say of the path. */
  flags(): Buffer {
    return Buffer.of(this.good && this.wanted ? GOOD : 0);
  }

  private readFlags(body: Buffer): void {
    this.peerGood = ((body[SESSION_BYTES] ?? 0) & GOOD) !== 0;
  }
}
