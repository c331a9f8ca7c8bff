import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../../bootstrap/layout.mjs';

export interface CompilerWatchOptions {
  /** Folder with the tsconfig.json to build. */
  folder: string;
  /** Everything has been compiled, the first time too. */
  onCompiled: () => void;
  /** Errors, as the compiler words them, and its own end. */
  notify: (line: string) => void;
}

const DONE = /Found ((\d+) errors?)\. Watching for file changes\.$/;
/** Its other lines say when it began. */
const PROGRESS = /^(?:\d{1,2}:\d\d:\d\d [AP]M - .*)?$/;

/** `tsc -b --watch` as a process of its own. */
export class CompilerWatch {
  private readonly options: CompilerWatchOptions;
  private child: ChildProcess | undefined;
  private stopping = false;

  constructor(options: CompilerWatchOptions) {
    this.options = options;
  }

  start(): void {
    const { folder, notify } = this.options;
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const args = [compiler, '-b', '--watch', '--preserveWatchOutput', '--pretty', 'false', folder];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    child.on('error', (error) => notify(`[compiler] ${error.message}`));
    child.on('exit', (code) => {
      if (!this.stopping) notify(`[compiler] ended with ${code}: changes are no longer compiled`);
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.read(line));
  }

  stop(): void {
    this.stopping = true;
    this.child?.kill();
  }

  private read(line: string): void {
    const [, errors, count] = DONE.exec(line) ?? [];
    if (count === '0') this.options.onCompiled();
    else if (errors !== undefined) this.options.notify(`[compiler] ${errors}; the services go on as they are`);
    else if (!PROGRESS.test(line)) this.options.notify(line);
  }
}
