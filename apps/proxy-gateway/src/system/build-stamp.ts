import { readFileSync } from 'node:fs';

/** Written next to the program when it was built; nulls if it was not. */
export interface BuildStamp {
  commit: string | null;
  /** RFC 3339, in UTC. */
  buildTime: string | null;
}

/** `build.json` at the root of the workspace: `{"commit": "...", "build_time": "..."}`. Images contain it. */
const FILE = new URL('../../../../build.json', import.meta.url);

/** Never throws: a broken stamp must not hide the rest of the status. */
export function readBuildStamp(file: URL | string = FILE): BuildStamp {
  try {
    const stamp = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown> | null;
    return { commit: commitOf(stamp?.['commit']), buildTime: timeOf(stamp?.['build_time']) };
  } catch {
    return { commit: null, buildTime: null };
  }
}

function commitOf(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{7,64}$/.test(value) ? value : null;
}

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? new Date(value) : null;
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
