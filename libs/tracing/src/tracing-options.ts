export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof SAMPLERS)[number];

export interface TracingOptions {
  /** Name of the program, such as `proxy-gateway`. */
  readonly serviceName: string;
  /** More about the program; these win over what we say ourselves. */
  readonly resource: Readonly<Record<string, string>>;
  /** Where spans go: OTLP over HTTP, with the path. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampler: SamplerName;
  /** Part of the traces that is recorded, for the samplers with a ratio. */
  readonly ratio: number;
}

/** `key=value` pairs with percent-encoded values, as OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_HEADERS have them. */
export function readPairs(pairs: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** Whether `readPairs` can read it. */
export function isPair(text: unknown): boolean {
  if (typeof text !== 'string' || !/^\s*[\w.!#$%&'*+^`|~-]+\s*=[\x20-\x7e]*$/.test(text)) return false;
  try {
    return !/[\r\n\0]/.test(decodeURIComponent(text));
  } catch {
    return false;
  }
}

/** The address for traces below a base address that serves several signals. */
export function tracesUrl(base: string): string {
  return `${base.replace(/\/+$/, '')}/v1/traces`;
}
