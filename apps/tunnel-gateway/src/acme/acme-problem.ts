const PREFIX = 'urn:ietf:params:acme:error:';
const MAX_TEXT = 400;

interface ProblemDocument {
  type?: unknown;
  detail?: unknown;
  subproblems?: unknown;
}

export interface AcmeProblemOptions {
  /** Without ACME's prefix; `connection` and `answer` are our own. */
  type: string;
  detail: string;
  /** Milliseconds since the epoch before which the authority wants no further request. */
  retryAt?: number | null;
  cause?: unknown;
}

/** An authority refused, or could not be reached. The message may be shown to the owner of the host. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem';
  readonly type: string;
  readonly retryAt: number | null;

  constructor({ type, detail, retryAt = null, cause }: AcmeProblemOptions) {
    super(`${type}: ${oneLine(detail)}`, cause === undefined ? undefined : { cause });
    this.type = type;
    this.retryAt = retryAt;
  }
}

/** From a problem document (RFC 9457) of an answer or a challenge, including the problems of each name. */
export function problemOf(document: unknown, status: number | null, retryAt: number | null = null): AcmeProblem {
  const { type, detail, subproblems } = isObject(document) ? (document as ProblemDocument) : {};
  const kind = typeof type === 'string' ? type.replace(PREFIX, '') : `answer ${status ?? ''}`.trim();
  const parts = [detail, ...(Array.isArray(subproblems) ? subproblems.slice(0, 3).map(detailOf) : [])];
  const texts = parts.filter((part): part is string => typeof part === 'string' && part !== '');
  return new AcmeProblem({ type: oneLine(kind), detail: texts.join('; ') || 'no reason was given', retryAt });
}

/** `Retry-After` (RFC 9110 10.2.3) in milliseconds since the epoch; null if absent or unreadable. */
export function retryTime(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return now + Number(text) * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(time, now);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function detailOf(problem: unknown): unknown {
  return isObject(problem) ? problem['detail'] : null;
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')
    .trim()
    .slice(0, MAX_TEXT);
}
