import { FRAME, SESSION_BYTES } from './frames.js';
import { BASE_PACKET_BYTES, LARGE_PACKET_BYTES, type PacketTransport } from './packet-transport.js';

/** Time without an answer after which the path is lost. */
const LOST_MS = 2500;
/** Consecutive rounds in which only the short packet was answered. */
const MAX_LARGE_MISSES = 3;
/**
 * Number of rounds over which the minimum is taken: a single slow answer says more about a busy process than about the
 * path.
 */
const TIMED_ROUNDS = 8;
const GOOD = 1;
/** Greater tokens belong to challenges of another address. */
const MAX_TOKEN = 2 ** 31;

interface Round {
  token: number;
  baseAnswered: boolean;
  largeAnswered: boolean;
}

/**
 * Finds out whether packets get through in both directions, and how long they may be: each round sends one packet of
 * the minimum and one of the maximum length, with consecutive tokens.
 */
export class PathWatch {
  private readonly transport: PacketTransport;
  private readonly now: () => number;
  /** Rounds that follow each other immediately once the first answer came: the first answer is slow on any path. */
  private readonly quickRounds: number;
  private round: Round | null = null;
  private token = 0;
  private askedAt = Number.NEGATIVE_INFINITY;
  private unansweredSince: number | null = null;
  private largeMisses = 0;
  private readonly times: number[] = [];
  /** The shortest round trip of the last rounds, in milliseconds. */
  roundTripMs = Number.POSITIVE_INFINITY;
  /** Sent to the other end: whether it should use packets where they get through. */
  wanted = true;
  /** Answers arrive, and none has been missing for long. */
  good = false;
  /** The path as the other end last reported it. */
  peerGood = false;

  constructor(transport: PacketTransport, now: () => number, quickRounds = 0) {
    this.transport = transport;
    this.now = now;
    this.quickRounds = quickRounds;
  }

  /** Whether an answer is still expected. */
  get asking(): boolean {
    return this.unansweredSince !== null && this.now() - this.askedAt < LOST_MS;
  }

  /** Must be called regularly: probes after `intervalMs`, and gives the path up when answers stay away. */
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

  /** Answers a `probe` of the other end. */
  probe(token: number, body: Buffer): void {
    this.readFlags(body);
    this.transport.putAlone(FRAME.probed, token, this.flags());
  }

  /** Handles the answer to a probe. Returns whether it belongs to the last round; older ones are ignored. */
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

  /** The state of the path as it is sent in probes and answers. */
  flags(): Buffer {
    return Buffer.of(this.good && this.wanted ? GOOD : 0);
  }

  private readFlags(body: Buffer): void {
    this.peerGood = ((body[SESSION_BYTES] ?? 0) & GOOD) !== 0;
  }
}
