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

/** Says of what grew by how many bytes. */
export type RecordKeeper = (record: RequestRecord, bytes: number) => void;

/**
 * One request while it is recorded, and after that. Records of requests that are over are used again, and times that are
 * not known are NaN: what every request leaves behind would cost the collector more than all the rest.
 */
export class RequestRecord {
  /** Distinguishes records of the same millisecond. */
  number = 0;
  startedAt = 0;
  hostId = 0;
  /** Approximate size in memory. */
  bytes = 0;
  /** Whether nothing more will come. */
  isOver = false;
  /** Null: it is no longer kept. */
  keeper: RecordKeeper | null = null;
  private level: RecordLevel = 'requests';
  private method = '';
  private scheme: RecordStart['scheme'] = 'http';
  private authority = '';
  private target = '';
  private version = '';
  private visitor = '';
  private replayOf: string | null = null;
  private asked: Message | null = null;
  private answered: Message | null = null;
  /** 0: none was begun. */
  private status = 0;
  private error: string | null = null;
  private failure: string | null = null;
  private began = Number.NaN;
  private verifiedAt = Number.NaN;
  private sentAt = Number.NaN;
  private answeredAt = Number.NaN;
  private endedAt = Number.NaN;
  private requestHead = 0;
  private requestBody = 0;
  private answerHead = 0;
  private answerBody = 0;

  begin(start: RecordStart, number: number, startedAt: number, keeper: RecordKeeper): void {
    this.number = number;
    this.startedAt = startedAt;
    this.hostId = start.hostId;
    this.isOver = false;
    this.keeper = keeper;
    this.level = start.level;
    this.method = start.method;
    this.scheme = start.scheme;
    this.authority = start.authority;
    this.target = maskAddress(start.target);
    this.version = start.version;
    this.visitor = start.visitor;
    this.replayOf = start.replayOf;
    this.asked = start.level === 'full' ? new Message(start.fields) : null;
    this.answered = null;
    this.status = 0;
    this.error = null;
    this.failure = null;
    this.began = performance.now();
    this.verifiedAt = this.sentAt = this.answeredAt = this.endedAt = Number.NaN;
    this.requestHead = start.headBytes;
    this.requestBody = this.answerHead = this.answerBody = 0;
    this.bytes = OWN_BYTES + this.target.length + this.authority.length + (this.asked?.bytes ?? 0);
  }

  /** The visitor may pass. */
  verified(): void {
    this.verifiedAt = performance.now();
  }

  /** The request goes to a connection with the target. */
  sent(): void {
    this.sentAt = performance.now();
  }

  /** A part of the request's body. */
  requestPart(part: Buffer): void {
    if (this.asked && this.keeper) this.grow(this.asked.body.take(part));
  }

  /** The head of the answer, as the visitor gets it. `error`: why the gateway answers in place of the target; null: it does not. */
  answers(status: number, fields: readonly string[], headBytes: number, error: string | null): void {
    this.status = status;
    this.error = error;
    this.answeredAt = performance.now();
    this.answerHead = headBytes;
    if (!this.asked || !this.keeper) return;
    this.answered = new Message(fields);
    this.grow(this.answered.bytes);
  }

  /** A part of the answer's body. */
  answerPart(part: Buffer): void {
    if (this.answered && this.keeper) this.grow(this.answered.body.take(part));
  }

  /** `upload` and `download`: all bytes of the flow. `failure`: why the answer is incomplete; null: it is complete. */
  end({ upload, download }: { upload: number; download: number }, failure: string | null): void {
    this.isOver = true;
    this.endedAt = performance.now();
    this.failure = failure;
    this.requestBody = Math.max(0, upload - this.requestHead);
    this.answerBody = Math.max(0, download - this.answerHead);
    if (!this.keeper || !this.asked) return;
    this.grow(this.asked.end());
    if (this.answered) this.grow(this.answered.end());
  }

  /** It is no longer kept. */
  leave(): void {
    this.keeper = null;
    this.asked = null;
    this.answered = null;
  }

  fits({ method, status, text, visitor }: RecordFilter): boolean {
    if (method !== undefined && this.method !== method) return false;
    if (visitor !== undefined && this.visitor !== visitor) return false;
    if (text !== undefined && !this.target.toLowerCase().includes(text.toLowerCase())) return false;
    return status === undefined || this.hasStatus(status);
  }

  summary(id: string): RecordedDetail {
    const { level, startedAt, method, scheme, authority, target, version, visitor, error, failure, replayOf } = this;
    return {
      id,
      level,
      startedAt,
      method,
      scheme,
      authority,
      target,
      version: version === 'h2' ? '2' : version,
      visitor,
      status: this.status === 0 ? null : this.status,
      error,
      failure,
      verifiedMs: this.since(this.verifiedAt),
      sentMs: this.since(this.sentAt),
      answeredMs: this.since(this.answeredAt),
      endedMs: this.since(this.endedAt),
      request: { head: this.requestHead, body: this.requestBody },
      answer: { head: this.answerHead, body: this.answerBody },
      replayOf,
      asked: null,
      answered: null,
    };
  }

  detail(id: string): RecordedDetail {
    return { ...this.summary(id), asked: this.asked?.view() ?? null, answered: this.answered?.view() ?? null };
  }

  private hasStatus(wanted: string): boolean {
    if (wanted === 'failed') return this.error !== null || this.failure !== null;
    const status = String(this.status);
    return wanted.endsWith('xx') ? status.startsWith(wanted.slice(0, 1)) : status === wanted;
  }

  /** Milliseconds from the start, to the microsecond; null: not known. */
  private since(moment: number): number | null {
    return Number.isNaN(moment) ? null : Math.round((moment - this.began) * 1000) / 1000;
  }

  private grow(bytes: number): void {
    this.bytes += bytes;
    if (bytes !== 0) this.keeper?.(this, bytes);
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
