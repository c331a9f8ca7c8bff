import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Programs } from './processes.js';

/** Starts a mihomo with one listener, which leads its clients wherever they want; the listener's port. */
export async function startMihomo(
  programs: Programs,
  binary: string,
  listener: Record<string, unknown>,
): Promise<number> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gatehouse-mihomo-'));
  const file = path.join(folder, 'config.json');
  const port = await programs.start(binary, (candidate) => {
    const config = {
      mode: 'rule',
      'log-level': 'silent',
      'geo-auto-update': false,
      listeners: [{ name: 'in', listen: '127.0.0.1', port: candidate, ...listener }],
      rules: ['MATCH,DIRECT'],
    };
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(config));
    return ['-d', folder, '-f', file];
  });
  rmSync(folder, { recursive: true, force: true });
  return port;
}
