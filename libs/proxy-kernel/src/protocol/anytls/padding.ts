/** AnyTLS pads the first packets of a session, so that their lengths reveal nothing. */
import { createHash, randomInt } from 'node:crypto';

/** The protocol's default, until a server sends another scheme. */
const DEFAULT_SCHEME = `stop=8
0=30-30
1=100-400
2=400-500,c,500-1000,c,500-1000,c,500-1000,c,500-1000
3=9-9,500-1000
4=500-1000
5=500-1000
6=500-1000
7=500-1000`;
/** Bounds for a server's scheme: padded packets, records of one packet, and the length of a record. */
const MAX_STOP = 64;
const MAX_RECORDS = 16;
const MAX_RECORD_BYTES = 16_384;

/** A record with a length between two bounds, or the place where a packet without further data ends. */
type Step = { least: number; most: number } | 'check';

export class PaddingScheme {
  /** By this hash a server knows whether we have its scheme. */
  readonly md5: string;
  /** Packets from this number on are not padded. */
  readonly stop: number;
  private readonly steps: ReadonlyMap<number, readonly Step[]>;

  private constructor(text: string, stop: number, steps: ReadonlyMap<number, readonly Step[]>) {
    this.md5 = createHash('md5').update(text).digest('hex');
    this.stop = stop;
    this.steps = steps;
  }

  static readonly default: PaddingScheme = PaddingScheme.#known(DEFAULT_SCHEME);

  /** Null for an invalid scheme, or one that would cost too much. */
  static parse(text: string): PaddingScheme | null {
    const lines = new Map(text.split('\n').map((line): [string, string] => splitLine(line)));
    const stop = Number(lines.get('stop') ?? Number.NaN);
    if (!Number.isInteger(stop) || stop < 0 || stop > MAX_STOP) return null;
    const steps = new Map<number, Step[]>();
    for (let packet = 0; packet < stop; packet += 1) {
      const parsed = (lines.get(String(packet)) ?? '').split(',').map(parseStep);
      const known = parsed.filter((step) => step !== null);
      if (known.length > MAX_RECORDS) return null;
      steps.set(packet, known);
    }
    return new PaddingScheme(text, stop, steps);
  }

  static #known(text: string): PaddingScheme {
    const scheme = PaddingScheme.parse(text);
    if (!scheme) throw new RangeError('no padding scheme');
    return scheme;
  }

  /** The lengths of a packet's records, drawn at random each time. */
  records(packet: number): (number | 'check')[] {
    return (this.steps.get(packet) ?? []).map((step) =>
      step === 'check' ? step : step.least + (step.most > step.least ? randomInt(step.most - step.least) : 0),
    );
  }
}

function splitLine(line: string): [string, string] {
  const at = line.indexOf('=');
  return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

function parseStep(text: string): Step | null {
  if (text === 'c') return 'check';
  const [, first, second] = /^(\d{1,5})-(\d{1,5})$/.exec(text) ?? [];
  const bounds = [Number(first ?? 0), Number(second ?? 0)].sort((a, b) => a - b);
  const [least = 0, most = 0] = bounds;
  return least > 0 && most <= MAX_RECORD_BYTES ? { least, most } : null;
}
