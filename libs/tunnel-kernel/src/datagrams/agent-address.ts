import { randomInt } from 'node:crypto';
import type { RemoteInfo } from 'node:dgram';

/** Bytes that may be sent to an address for each that came from there, until it answered (RFC 9000 section 8.1). */
const AMPLIFICATION = 3;
/** Challenges have tokens of their own: the other probes' are small numbers. */
const CHALLENGES = 0x8000_0000;
const CHALLENGE_PAUSE_MS = 20;

interface Candidate {
  place: RemoteInfo;
  token: number;
  challengedAt: number;
}

export interface AgentAddressOptions {
  now: () => number;
  send(parts: Buffer[], to: RemoteInfo): void;
  /** A packet that the agent answers with `token`, shorter than any packet of the agent's three times over; null: there can be none. */
  challenge(token: number): Buffer[] | null;
}

/**
 * Where an agent's packets are sent to. Whoever lies between can hold a packet of the agent back and send it from any other
 * address. So another address is asked first, and everything goes on to the old one until the agent answered from the new
 * one (RFC 9000 sections 8.2 and 9.3).
 */
export class AgentAddress {
  private readonly options: AgentAddressOptions;
  private current: RemoteInfo | null = null;
  private validated = false;
  /** Bytes that may still be sent to an address that has not answered. */
  private credit = 0;
  private candidate: Candidate | null = null;

  constructor(options: AgentAddressOptions) {
    this.options = options;
  }

  send(parts: Buffer[]): void {
    if (!this.current) return;
    if (!this.validated) {
      const bytes = parts.reduce((total, part) => total + part.length, 0);
      if (bytes > this.credit) return;
      this.credit -= bytes;
    }
    this.options.send(parts, this.current);
  }

  /** A packet of the agent's came from `place`, newer than all before it. */
  seen(place: RemoteInfo, bytes: number): void {
    this.current ??= place;
    if (isSame(place, this.current)) {
      if (!this.validated) this.credit += AMPLIFICATION * bytes;
      // It is back, or was never gone.
      this.candidate = null;
    } else this.challenge(place);
  }

  /** The agent answered one of the other probes, from `place`. */
  answered(place: RemoteInfo): void {
    if (this.current && isSame(place, this.current)) this.validated = true;
  }

  /** The agent answered `token`, from `place`. Whether that was a challenge. */
  took(token: number, place: RemoteInfo): boolean {
    if (token < CHALLENGES) return false;
    const { candidate } = this;
    if (candidate?.token === token && isSame(place, candidate.place)) {
      this.current = candidate.place;
      this.validated = true;
      this.candidate = null;
    }
    return true;
  }

  private challenge(place: RemoteInfo): void {
    const now = this.options.now();
    const isKnown = this.candidate !== null && isSame(this.candidate.place, place);
    if (isKnown && this.candidate && now - this.candidate.challengedAt < CHALLENGE_PAUSE_MS) return;
    const token = isKnown && this.candidate ? this.candidate.token : CHALLENGES + randomInt(CHALLENGES);
    this.candidate = { place, token, challengedAt: now };
    const parts = this.options.challenge(token);
    if (parts) this.options.send(parts, place);
  }
}

function isSame(left: RemoteInfo, right: RemoteInfo): boolean {
  return left.port === right.port && left.address === right.address;
}
