import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface LineAnswer {
  readonly result?: unknown;
  /** `error` of an answer of OAuth. */
  readonly refused?: string;
  readonly failed?: string;
}

/** A program that answers each line of JSON with one, and ends with its standard input. */
export class LineProgram implements Disposable {
  readonly #child;
  readonly #answers: AsyncIterator<string>;
  readonly #name: string;
  #errors = '';

  constructor(program: string, args: readonly string[], env: Record<string, string> = {}) {
    this.#name = program;
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#errors = (this.#errors + chunk.toString()).slice(-4000)));
    this.#child.on('error', (error) => (this.#errors += error.message));
    this.#child.stdin.on('error', () => undefined); // an early end shows in the missing answer
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** @throws if the program has ended */
  async ask(name: string, ...values: string[]): Promise<LineAnswer> {
    this.#child.stdin.write(`${JSON.stringify([name, ...values])}\n`);
    const { value, done } = await this.#answers.next();
    if (done === true) throw new Error(`${this.#name} ended: ${this.#errors}`);
    return JSON.parse(value) as LineAnswer;
  }

  [Symbol.dispose](): void {
    this.#child.stdin.end();
  }
}
