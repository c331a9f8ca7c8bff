import { readFileSync } from 'node:fs';

/** What the one who built the program wrote beside it; nulls where nobody did. */
export interface BuildStamp {
  commit: string | null;
  /** RFC 3339, UTC. */
  buildTime: string | null;
}

/** `build.json` at the root of the workspace: `{"commit": "...", "build_time": "..."}`. Images have it. */
const FILE = new URL('../../../../build.json', import.meta.url);

/** A stamp that cannot be read must not keep anybody from seeing the rest of the status. */
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
