/** What the log wants of an answer. */
export interface Answer {
  body: unknown;
  id: number | string | undefined;
  /** Code and text of an error. */
  error: string | null;
}

/** Longer answers are lists or downloads: nothing in them is for the log. */
const MAX_READ = 256 * 1_024;

/** Null for what is no JSON object. */
export function readAnswer(chunk: unknown): Answer | null {
  const text = typeof chunk === 'string' ? chunk : Buffer.isBuffer(chunk) ? chunk.toString() : '';
  if (!text.startsWith('{') || text.length > MAX_READ) return null;
  let body: Record<string, unknown>;
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // An export that only begins like JSON.
    return null;
  }
  const { id, code, error } = body;
  return {
    body,
    id: typeof id === 'number' || typeof id === 'string' ? id : undefined,
    error: typeof error === 'string' ? `${typeof code === 'string' ? `${code}: ` : ''}${error}` : null,
  };
}
