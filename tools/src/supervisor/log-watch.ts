const SERIOUS = [Buffer.from('"level":"warn"'), Buffer.from('"level":"error"'), Buffer.from('"level":"fatal"')];
const MAX_LINE = 64 * 1024;
const MAX_SHOWN = 10;
const WINDOW_MS = 10_000;
const MAX_TEXT = 400;

interface Entry {
  level?: unknown;
  message?: unknown;
  error?: unknown;
}

/** What a person should see of a line of a service's output, or undefined where that is nothing. */
export function seriousText(line: string): string | undefined {
  if (line.trim() === '') return undefined;
  let entry: Entry;
  try {
    entry = JSON.parse(line) as Entry;
  } catch {
    return line; // not from the logger: a warning of Node or the last words of a crash
  }
  if (typeof entry !== 'object' || entry === null || typeof entry.message !== 'string') return line;
  if (entry.level !== 'warn' && entry.level !== 'error' && entry.level !== 'fatal') return undefined;
  const detail = typeof entry.error === 'string' ? `: ${entry.error}` : '';
  return `${entry.level}: ${entry.message}${detail}`;
}

/**
 * Picks from a service's output what a person at the terminal should see: warnings, errors and everything that is not
 * a log line. A chunk without any is passed over by three searches; a flood is cut short.
 */
export class LogWatch {
  private rest = Buffer.alloc(0);
  private shown = 0;
  private windowStart = 0;

  constructor(private readonly show: (text: string) => void) {}

  /** Standard output: JSON lines, of which only the serious ones matter. */
  addOutput(chunk: Buffer): void {
    const data = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    const end = data.lastIndexOf(10) + 1;
    this.rest = data.length - end > MAX_LINE ? Buffer.alloc(0) : Buffer.from(data.subarray(end));
    const complete = data.subarray(0, end);
    if (!SERIOUS.some((mark) => complete.includes(mark))) return;
    for (const line of complete.toString().split('\n')) {
      if (SERIOUS.some((mark) => line.includes(mark.toString()))) this.addLine(line);
    }
  }

  /** Standard error: every line matters. */
  addErrorOutput(chunk: Buffer): void {
    for (const line of chunk.toString().split('\n')) this.addLine(line);
  }

  private addLine(line: string): void {
    const text = seriousText(line.trimEnd());
    if (text === undefined) return;
    const now = Date.now();
    if (now - this.windowStart > WINDOW_MS) {
      this.windowStart = now;
      this.shown = 0;
    }
    this.shown++;
    if (this.shown < MAX_SHOWN) this.show(text.slice(0, MAX_TEXT));
    else if (this.shown === MAX_SHOWN) this.show('more of this is only in the log file');
  }
}
