import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readBuildStamp } from './build-stamp.js';

const folder = mkdtempSync(join(tmpdir(), 'stamp-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function stamp(text: string): ReturnType<typeof readBuildStamp> {
  const file = join(folder, 'build.json');
  writeFileSync(file, text);
  return readBuildStamp(file);
}

describe('readBuildStamp', () => {
  it('reads commit and time', () => {
    expect(stamp('{"commit":"0123456789abcdef","build_time":"2026-11-21T01:00:00+01:00"}')).toEqual({
      commit: '0123456789abcdef',
      buildTime: '2026-11-21T00:00:00.000Z',
    });
  });

  it.each(['', 'null', '[]', '{"commit":"<b>","build_time":"soon"}', '{"commit":7}'])(
    'knows nothing from %j',
    (text) => {
      expect(stamp(text)).toEqual({ commit: null, buildTime: null });
    },
  );

  it('gives nulls without the file', () => {
    expect(readBuildStamp(join(folder, 'missing.json'))).toEqual({ commit: null, buildTime: null });
  });
});
