import { BodyRecorder, type BodyType } from './recorded-body.js';
import type { RecordedDetail, RecordedMessage, RecordFilter, RecordLevel } from './recorded-request.js';
import { maskAddress, maskField } from './secrets.js';

/** A request that begins to be recorded. */
export interface RecordStart {
  hostId: number;
  level: RecordLevel;
  /** Milliseconds since the epoch. */
  startedAt: number;
  method: string;
  scheme: 'http' | 'https';
  authority: string;
  target: string;
  /** `1.0`, `1.1` or `h2`. */
  version: string;
  visitor: string;
  /** As received: name, value, name, value … */
  fields: readonly string[];
  headBytes: number;
  replayOf: string | null;
}

/** Bytes that a record takes without its texts; a guess. */
const OWN_BYTES = 400;

/** One request while it is recorded, and after that. */
export class RequestRecord {
  readonly startedAt: number;
  /** Approximate size in memory. */
  bytes: number;
  /** Called with the bytes by which it grew; null: it is no longer kept. */
  onGrown: ((bytes: number) => void) | null = null;
  private readonly seed: Omit<RecordStart, 'fields'>;
  private readonly began = performance.now();
  private readonly asked: Message | null;
  private answered: Message | null = null;
  private status: number | null = null;
  private error: string | null = null;
  private failure: string | null = null;
  private verifiedMs: number | null = null;
  private sentMs: number | null = null;
  private answeredMs: number | null = null;
  private endedMs: number | null = null;
  private requestBody = 0;
  private readonly answer = { head: 0, body: 0 };
  /** Distinguishes records of the same millisecond. */
  readonly number: number;

  constructor({ fields, ...seed }: RecordStart, number: number) {
    const target = maskAddress(seed.target);
    this.number = number;
    this.startedAt = seed.startedAt;
    this.seed = { ...seed, target };
    this.asked = seed.level === 'full' ? new Message(fields) : null;
    this.bytes = OWN_BYTES + target.length + seed.authority.length + (this.asked?.bytes ?? 0);
  }

  /** The visitor may pass. */
  verified(): void {
    this.verifiedMs = this.elapsed();
  }

  /** The request goes to a connection with the target. */
  sent(): void {
    this.sentMs = this.elapsed();
  }

  /** A part of the request's body. */
  requestPart(part: Buffer): void {
    if (this.asked && this.onGrown) this.grow(this.asked.body.take(part));
  }

  /** The head of the answer, as the visitor gets it. `error`: why the gateway answers in place of the target; null: it does not. */
  answers(status: number, fields: readonly string[], headBytes: number, error: string | null): void {
    this.status = status;
    this.error = error;
    this.answeredMs = this.elapsed();
    this.answer.head = headBytes;
    if (!this.asked || !this.onGrown) return;
    this.answered = new Message(fields);
    this.grow(this.answered.bytes);
  }

  /** A part of the answer's body. */
  answerPart(part: Buffer): void {
    if (this.answered && this.onGrown) this.grow(this.answered.body.take(part));
  }

  /** `upload` and `download`: all bytes of the flow. `failure`: why the answer is incomplete; null: it is complete. */
  end({ upload, download }: { upload: number; download: number }, failure: string | null): void {
    this.endedMs = this.elapsed();
    this.failure = failure;
    this.requestBody = Math.max(0, upload - this.seed.headBytes);
    this.answer.body = Math.max(0, download - this.answer.head);
    if (!this.onGrown) return;
    if (this.asked) this.grow(this.asked.end());
    if (this.answered) this.grow(this.answered.end());
  }

  fits({ method, status, text, visitor }: RecordFilter): boolean {
    const { seed } = this;
    if (method !== undefined && seed.method !== method) return false;
    if (visitor !== undefined && seed.visitor !== visitor) return false;
    if (text !== undefined && !seed.target.toLowerCase().includes(text.toLowerCase())) return false;
    return status === undefined || this.hasStatus(status);
  }

  summary(id: string): RecordedDetail {
    const { hostId: _, headBytes, version, ...seed } = this.seed;
    const { status, error, failure, verifiedMs, sentMs, answeredMs, endedMs, requestBody } = this;
    return {
      id,
      ...seed,
      version: version === 'h2' ? '2' : version,
      status,
      error,
      failure,
      verifiedMs,
      sentMs,
      answeredMs,
      endedMs,
      request: { head: headBytes, body: requestBody },
      answer: { ...this.answer },
      asked: null,
      answered: null,
    };
  }

  detail(id: string): RecordedDetail {
    return { ...this.summary(id), asked: this.asked?.view() ?? null, answered: this.answered?.view() ?? null };
  }

  private hasStatus(wanted: string): boolean {
    if (wanted === 'failed') return this.error !== null || this.failure !== null;
    const status = String(this.status ?? '');
    return wanted.endsWith('xx') ? status.startsWith(wanted.slice(0, 1)) : status === wanted;
  }

  private elapsed(): number {
    return Math.round((performance.now() - this.began) * 1000) / 1000;
  }

  private grow(bytes: number): void {
    this.bytes += bytes;
    if (bytes !== 0) this.onGrown?.(bytes);
  }
}

/** Head and body of one direction. */
class Message {
  readonly body = new BodyRecorder();
  readonly bytes: number;
  private readonly fields: [string, string][] = [];
  private readonly type: BodyType = { type: '', coding: '' };

  /** `fields`: name, value, name, value …; pseudo fields of HTTP/2 are left out. */
  constructor(fields: readonly string[]) {
    let bytes = 0;
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const name = fields[at] ?? '';
      if (name.startsWith(':')) continue;
      const value = maskField(name, fields[at + 1] ?? '');
      const lower = name.toLowerCase();
      if (lower === 'content-type') this.type.type = value;
      if (lower === 'content-encoding') this.type.coding = value;
      this.fields.push([name, value]);
      bytes += name.length + value.length + 32;
    }
    this.bytes = bytes;
  }

  end(): number {
    return this.body.end(this.type);
  }

  view(): RecordedMessage {
    return { fields: this.fields, body: this.body.view(this.type) };
  }
}
