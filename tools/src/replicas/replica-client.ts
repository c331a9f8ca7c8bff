import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chance } from '../trials/chance.js';
import type { Entrance } from './replica-set.js';

const ATTEMPT_MS = 45_000;
const PATIENCE_MS = 150_000;
const PAUSE_MS = 50;

/** What a replica said. Status 0: nothing, until the caller gave up. */
export interface ReplicaAnswer {
  status: number;
  body: Record<string, unknown>;
  retryAfter: string | null;
}

export interface ReplicaRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: object | undefined;
  /** Sent as Idempotency-Key. */
  key?: string;
}

/** Everything that was asked of the replicas, and what may not be among the answers. */
export class AnswerLog {
  asked = 0;
  /** 503 with Retry-After: come again. */
  putOff = 0;
  unanswered = 0;
  slowestMs = 0;
  /** Answers that are wrong whatever was asked: a 5xx that is no 503 with Retry-After. */
  readonly wrong: string[] = [];

  note(request: ReplicaRequest, replica: Entrance, answer: ReplicaAnswer, tookMs: number): void {
    this.asked += 1;
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (answer.status === 0) this.unanswered += 1;
    else if (answer.status === 503 && answer.retryAfter !== null) this.putOff += 1;
    else if (answer.status >= 500) {
      const code = codeOf(answer);
      const lacks = answer.status === 503 ? ' without Retry-After' : '';
      this.wrong.push(
        `${request.method} ${pathOf(request)} at ${replica.service} answered ${answer.status} ${code}${lacks}`,
      );
    }
  }

  /** What was noted since the last call. */
  drain(): Pick<AnswerLog, 'asked' | 'putOff' | 'unanswered' | 'slowestMs' | 'wrong'> {
    const { asked, putOff, unanswered, slowestMs } = this;
    const taken = { asked, putOff, unanswered, slowestMs, wrong: this.wrong.splice(0) };
    this.asked = this.putOff = this.unanswered = this.slowestMs = 0;
    return taken;
  }
}

function codeOf({ body: { code } }: ReplicaAnswer): string {
  return typeof code === 'string' ? code : '';
}

/** Without what differs from call to call, so that equal faults count as one. */
function pathOf({ path }: ReplicaRequest): string {
  return path
    .replace(/\?.*/, '')
    .replaceAll(/\/\d+/g, '/:id')
    .replaceAll(/\/[0-9a-f-]{30,36}/g, '/:id');
}

/** Asks replicas of one service, as a program behind a load balancer does. */
export class ReplicaClient {
  constructor(
    readonly replicas: readonly Entrance[],
    private readonly answerLog: AnswerLog,
    private readonly headers: Record<string, string> = {},
  ) {}

  as(headers: Record<string, string>): ReplicaClient {
    return new ReplicaClient(this.replicas, this.answerLog, { ...this.headers, ...headers });
  }

  /** Asks one replica once. */
  async ask(at: number, request: ReplicaRequest): Promise<ReplicaAnswer> {
    const replica = this.replicas[at % this.replicas.length];
    if (replica === undefined) throw new Error('there is no replica');
    const startedAt = performance.now();
    const answer = await this.send(replica, request);
    this.answerLog.note(request, replica, answer, performance.now() - startedAt);
    return answer;
  }

  /**
   * Asks until there is an answer that is final, each time another replica, as clients with a key do.
   * @throws Error when no replica gives one in time.
   */
  async insist(at: number, request: ReplicaRequest): Promise<ReplicaAnswer> {
    const end = performance.now() + PATIENCE_MS;
    for (let turn = at; ; turn += 1) {
      const answer = await this.ask(turn, request);
      if (isFinal(answer)) return answer;
      if (performance.now() > end) throw new Error(`no final answer to ${request.method} ${request.path}`);
      await delay(PAUSE_MS);
    }
  }

  /** Now and then to both replicas at once, as after a timeout of the client; else to one. */
  insistTwice(at: number, chance: Chance, request: ReplicaRequest): Promise<ReplicaAnswer[]> {
    const times = chance.below(3) === 0 ? 2 : 1;
    return Promise.all(Array.from({ length: times }, (_, more) => this.insist(at + more, request)));
  }

  /** The body of a success. @throws Error on any other final answer. */
  async call<T>(request: ReplicaRequest, at = 0): Promise<T> {
    const { status, body } = await this.insist(at, request);
    if (status < 200 || status > 299) {
      throw new Error(`${request.method} ${request.path} answered ${status}: ${JSON.stringify(body).slice(0, 300)}`);
    }
    return body as T;
  }

  private async send(replica: Entrance, { method, path, headers, body, key }: ReplicaRequest): Promise<ReplicaAnswer> {
    try {
      const response = await fetch(replica.url + path, {
        method,
        headers: {
          accept: 'application/json',
          'x-request-id': randomUUID(),
          ...this.headers,
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      return await read(response);
    } catch {
      return { status: 0, body: {}, retryAfter: null };
    }
  }
}

async function read(response: Response): Promise<ReplicaAnswer> {
  const text = await response.text();
  let body: Record<string, unknown> = {};
  if (text !== '') body = JSON.parse(text) as Record<string, unknown>;
  const cookie = response.headers.getSetCookie()[0];
  if (cookie !== undefined) body['set-cookie'] = cookie.split(';')[0];
  return {
    status: response.status,
    body,
    retryAfter: response.headers.get('retry-after'),
  };
}

/** Not final: no answer, one of a server in trouble, and that of a first request which is still running. */
export function isFinal({ status, retryAfter }: ReplicaAnswer): boolean {
  return status !== 0 && status < 500 && !(status === 409 && retryAfter !== null) && status !== 429;
}

/** The request was carried out, and nobody has its answer: the client has to look. */
export function isLost({ status, body }: ReplicaAnswer): boolean {
  return status === 409 && JSON.stringify(body).includes('its answer is lost');
}
