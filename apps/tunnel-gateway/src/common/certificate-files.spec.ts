import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServerIdentity } from '@gatehouse/tunnel-kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CertificateFiles, readCertificatePair } from './certificate-files.js';

let folder: string;
let problems: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  problems = [];
  const { certificate, key } = createServerIdentity('right');
  writeFileSync(join(folder, 'right.pem'), certificate);
  writeFileSync(join(folder, 'right.key'), key);
});
afterEach(() => rmSync(folder, { recursive: true }));

const PATHS = { certPath: 'right.pem', keyPath: 'right.key' };

describe('certificate files', () => {
  it('affect only their own host when they cannot be read', () => {
    // A renewal that went wrong: stat fails with ELOOP, as it does with EACCES below a folder of another user.
    symlinkSync('loop.pem', join(folder, 'loop.pem'));
    const files = new CertificateFiles(folder, (message) => problems.push(message));
    expect(files.pair({ certPath: 'loop.pem', keyPath: 'right.key' })).toBeNull();
    expect(files.changed()).toBe(false);
    expect(problems).toHaveLength(1);
    expect(files.pair(PATHS)).not.toBeNull();
  });

  it('keep their last valid content while they are broken', () => {
    const files = new CertificateFiles(folder, (message) => problems.push(message));
    const before = files.pair(PATHS);
    rmSync(join(folder, 'right.key'));
    symlinkSync('right.key', join(folder, 'right.key'));
    expect(files.changed()).toBe(true);
    expect(files.pair(PATHS)).toBe(before);
    expect(problems).toHaveLength(1);
  });

  it('cause no event once no host uses them', () => {
    const files = new CertificateFiles(folder, (message) => problems.push(message));
    files.pair(PATHS);
    files.settle();
    files.settle();
    rmSync(join(folder, 'right.key'));
    expect(files.changed()).toBe(false);
    // A host uses them again: their earlier state was forgotten as well.
    expect(files.pair(PATHS)).toBeNull();
    files.settle();
    expect(files.changed()).toBe(false);
  });

  it('of unchanged hosts are kept when the configuration changes', () => {
    const files = new CertificateFiles(folder, (message) => problems.push(message));
    const first = files.pair(PATHS);
    files.settle();
    rmSync(join(folder, 'right.key'));
    expect(files.changed()).toBe(true);
    expect(files.pair(PATHS)).toBe(first);
  });

  it('must be regular files', () => {
    mkdirSync(join(folder, 'live'));
    expect(() => readCertificatePair(folder, { certPath: 'live', keyPath: 'right.key' })).toThrow(RangeError);
  });
});
