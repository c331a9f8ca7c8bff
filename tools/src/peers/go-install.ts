import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** A first build fetches and compiles everything. */
const BUILD_TIMEOUT_MS = 900_000;

/** Builds one program (`module/path@version`) into `file`, by `go install`. @throws Error with Go's last line. */
export async function buildWithGo(go: string, goPackage: string, file: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-go-'));
  try {
    await run(go, ['install', '-trimpath', '-ldflags=-s -w', goPackage], {
      timeout: BUILD_TIMEOUT_MS,
      maxBuffer: 16 * 1024 * 1024,
      env: { ...process.env, GOBIN: folder, GOFLAGS: '', CGO_ENABLED: '0' },
    });
    const [built] = readdirSync(folder);
    if (built === undefined) throw new Error(`go install ${goPackage} made no program`);
    mkdirSync(dirname(file), { recursive: true });
    const draft = `${file}.${process.pid}`;
    copyFileSync(join(folder, built), draft);
    renameSync(draft, file);
  } catch (cause) {
    throw new Error(`go install ${goPackage}: ${lastLine(cause)}`, { cause });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function lastLine(error: unknown): string {
  const text = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
  return text.trim().split('\n').at(-1) || (error instanceof Error ? error.message : String(error));
}
