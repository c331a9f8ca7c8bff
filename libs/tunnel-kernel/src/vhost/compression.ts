import { firstField, without } from './request-fields.js';
import type { RequestHead } from './request-rules.js';

export const CODINGS = ['zstd', 'br', 'gzip'] as const;
/** In the order in which they are chosen where the visitor has no preference. */
export type Coding = (typeof CODINGS)[number];

/** Shorter answers fit into one packet anyway. */
const MIN_BYTES = 1024;
const TYPES =
  /^(?:text\/.+|application\/(?:json|javascript|ecmascript|x-javascript|xml|wasm|x-ndjson|vnd\.ms-fontobject|graphql|.+\+(?:json|xml))|image\/(?:svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|font\/(?:ttf|otf|collection))$/i;
/** What these say would be wrong about a compressed answer (RFC 9530). */
const OF_CONTENT = ['content-encoding', 'content-range', 'content-digest', 'repr-digest', 'digest', 'content-md5'];

export interface CompressibleAnswer {
  status: number;
  /** Name, value, name, value … */
  fields: string[];
  /** Null: the answer does not announce its length. */
  contentLength: string | null;
}

export interface ChosenCompression {
  /** As they are sent. */
  fields: string[];
  /** Null: the body stays as it is. */
  coding: Coding | null;
  /** What comes must not wait for more. */
  flushes: boolean;
}

/** How an answer of a target is sent to this visitor, by a host that compresses. `hasRoom`: it may be compressed now. */
export function chooseCompression(
  { fields: asked }: RequestHead,
  answer: CompressibleAnswer,
  hasRoom: boolean,
): ChosenCompression {
  const { fields, contentLength } = answer;
  if (!isCompressible(answer)) return { fields, coding: null, flushes: false };
  const varied = withVary(fields);
  const coding = hasRoom ? negotiate(firstField(asked, 'accept-encoding') ?? '') : null;
  if (coding === null) return { fields: varied, coding, flushes: false };
  // Parts of a compressed answer are not those that the target means.
  const kept = without(varied, (name) => name === 'content-length' || name === 'accept-ranges').map((text, at, all) =>
    at % 2 === 1 && all[at - 1]?.toLowerCase() === 'etag' && !text.startsWith('W/') ? `W/${text}` : text,
  );
  return { fields: [...kept, 'Content-Encoding', coding], coding, flushes: contentLength === null };
}

function isCompressible({ status, fields, contentLength }: CompressibleAnswer): boolean {
  if (status < 200 || status === 204 || status === 206 || status === 304) return false;
  if (contentLength !== null && Number(contentLength) < MIN_BYTES) return false;
  const type = valueOf(fields, 'content-type')?.split(';')[0]?.trim() ?? '';
  if (!TYPES.test(type)) return false;
  if (OF_CONTENT.some((name) => valueOf(fields, name) !== undefined)) return false;
  return !/(?:^|[\s,])no-transform(?:$|[\s,;])/i.test(valueOf(fields, 'cache-control') ?? '');
}

/** The visitor's choice (RFC 9110 12.5.3), and ours where it has several; null: none. */
export function negotiate(accepted: string): Coding | null {
  if (accepted === '') return null;
  const weights = new Map<string, number>();
  for (const part of accepted.split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const q = parameters.find((text) => text.startsWith('q='))?.slice(2);
    const weight = q === undefined ? 1 : Number(q);
    if (name !== '') weights.set(name === 'x-gzip' ? 'gzip' : name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0;
  let best: Coding | null = null;
  for (const coding of CODINGS) if (weightOf(coding) > (best === null ? 0 : weightOf(best))) best = coding;
  // `identity` is acceptable unless it is named otherwise; preferred only if it is named.
  return best !== null && (weights.get('identity') ?? 0) > weightOf(best) ? null : best;
}

function withVary(fields: readonly string[]): string[] {
  const vary = valueOf(fields, 'vary');
  if (vary !== undefined && /(?:^|[\s,])(?:\*|accept-encoding)(?:$|[\s,])/i.test(vary)) return [...fields];
  return [...without(fields, (name) => name === 'vary'), 'Vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding'];
}

/** All lines of a field, as one list. */
function valueOf(fields: readonly string[], wanted: string): string | undefined {
  const values = fields.filter((_, at) => at % 2 === 1 && fields[at - 1]?.toLowerCase() === wanted);
  return values.length === 0 ? undefined : values.join(', ');
}
