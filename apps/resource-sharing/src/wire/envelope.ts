/** A success on the wire; the filter of the platform writes failures. */
export interface Envelope {
  success: true;
  /** The status as text. */
  code: string;
  message: string;
  data: unknown;
  meta?: EnvelopeMeta;
}

/** For a list: the total, and for a page its number and size. */
export interface EnvelopeMeta {
  total: number;
  page?: number;
  page_size?: number;
}

export interface EnvelopeOptions {
  message?: string;
  total?: number;
  page?: number;
  pageSize?: number;
}

/** Returned by a handler that sets more than `data`. */
export class Enveloped {
  constructor(
    readonly data: unknown,
    readonly options: EnvelopeOptions = {},
  ) {}
}

/** Wraps a handler's result in the service's envelope. */
export function toEnvelope(result: unknown, status: number): Envelope {
  if (!(result instanceof Enveloped)) {
    return { success: true, code: String(status), message: 'success', data: result ?? null };
  }
  const { message = 'success' } = result.options;
  const envelope: Envelope = { success: true, code: String(status), message, data: result.data ?? null };
  const meta = metaOf(result.options);
  return meta === undefined ? envelope : { ...envelope, meta };
}

function metaOf({ total, page, pageSize }: EnvelopeOptions): EnvelopeMeta | undefined {
  if (total === undefined) return undefined;
  return page === undefined || pageSize === undefined ? { total } : { total, page, page_size: pageSize };
}
