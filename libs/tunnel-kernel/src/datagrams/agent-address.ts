import { randomInt } from 'node:crypto';
import type { RemoteInfo } from 'node:dgram';

/** Bytes that may be sent to an unvalidated address for each byte received from it (RFC 9000 section 8.1). */
const AMPLIFICATION = 3;
/** Tokens of challenges start here; those of other probes are small numbers. */
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
  /**
   * A packet that the agent answers with `token`, less than three times as long as any packet of the agent; null: none
   * can be sent.
   */
  challenge(token: number): Buffer[] | null;
}

/**
 * The address that an agent's packets are sent to. An attacker on the path can hold back a packet of the agent and send
 * it from another address. A new address is therefore challenged first, and packets go to the old one until the agent
 * has answered from the new one (RFC 9000 sections 8.2 and 9.3).
 */
export class AgentAddress {
  private readonly options: AgentAddressOptions;
  private current: RemoteInfo | null = null;
  private validated = false;
  /** Bytes that may still be sent to the unvalidated address. */
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

  /** A packet of the agent arrived from `place`, newer than all before it. */
  seen(place: RemoteInfo, bytes: number): void {
    this.current ??= place;
    if (isSame(place, this.current)) {
      if (!this.validated) this.credit += AMPLIFICATION * bytes;
      // The agent is still at its known address.
      this.candidate = null;
    } else this.challenge(place);
  }

  /** The agent answered a normal probe, from `place`. */
  answered(place: RemoteInfo): void {
    if (this.current && isSame(place, this.current)) this.validated = true;
  }

  /** The agent answered `token`, from `place`. Returns whether that was a challenge. */
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
