import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PlainFailure } from '../../../bootstrap/failure.mjs';

export interface ContainerCommand {
  /** Gets everything that the command prints. */
  logFile: string;
  environment?: Readonly<Record<string, string>>;
  cwd?: string;
  input?: string;
}

/** Runs `docker …` without a shell; resolves with its standard output. @throws PlainFailure with its last lines. */
export async function docker(args: readonly string[], options: ContainerCommand): Promise<string> {
  return await run('docker', args, options);
}

/** The same for any program. */
export async function run(program: string, args: readonly string[], options: ContainerCommand): Promise<string> {
  const { logFile, environment, cwd, input = '' } = options;
  const log = createWriteStream(logFile, { flags: 'a' });
  const child = spawn(program, args, { cwd, env: { ...process.env, ...environment }, stdio: 'pipe' });
  const parts: Buffer[] = [];
  let words = '';
  child.stdout.on('data', (part: Buffer) => void parts.push(part)).pipe(log, { end: false });
  child.stderr
    .on('data', (part: Buffer) => void (words = (words + part.toString()).slice(-4_000)))
    .pipe(log, { end: false });
  child.stdin.on('error', () => undefined); // it need not read what it is given
  child.stdin.end(input);
  const [code] = (await once(child, 'close').catch((error: unknown) => {
    throw new PlainFailure(`${program} could not be started.`, { cause: error });
  })) as [number | null];
  log.end();
  if (code === 0) return Buffer.concat(parts).toString();
  throw new PlainFailure(`${program} ${args[0]} ${args[1] ?? ''} ended with ${code}.`, {
    advice: words.trimEnd().split('\n').slice(-12),
  });
}

/** @throws PlainFailure when there is no engine that answers, or no compose plugin. */
export async function requireEngine(logFile: string): Promise<void> {
  for (const args of [
    ['version', '--format', '{{.Server.Version}}'],
    ['compose', 'version'],
  ]) {
    await docker(args, { logFile }).catch((cause: unknown) => {
      throw new PlainFailure('the rehearsal in containers needs Docker with its compose plugin, running.', {
        advice: [`docker ${args.join(' ')} failed. Without --docker the same file is rehearsed with processes.`],
        cause,
      });
    });
  }
}
