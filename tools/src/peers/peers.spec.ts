import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { hasSystemLists, parseUris } from './debian.js';
import { writeFontConfiguration } from './fonts.js';
import { findInPath, findInTree, libraryFolders } from './programs.js';
import { verifyProgram } from './verify.js';
import { writeWrapper } from './wrapper.js';

describe('peers', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "peers' place "));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('reads what apt-get would download, epochs included', () => {
    const answer = [
      "'http://deb.debian.org/pool/r/redis/redis-server_7.0.15-1_amd64.deb' redis-server_5%3a7.0.15-1_amd64.deb 72384 SHA256:aa",
      "'http://deb.debian.org/n/nginx_1.22.1-9%2bdeb12u10_amd64.deb' nginx_1.22.1-9+deb12u10_amd64.deb 531468 ",
      'Reading package lists...',
    ].join('\n');
    expect(parseUris(answer)).toEqual([
      { request: 'redis-server=5:7.0.15-1', file: 'redis-server_5%3a7.0.15-1_amd64.deb' },
      { request: 'nginx=1.22.1-9+deb12u10', file: 'nginx_1.22.1-9+deb12u10_amd64.deb' },
    ]);
  });

  it('sees whether the system has package lists', () => {
    expect(hasSystemLists(join(folder, 'none'))).toBe(false);
    expect(hasSystemLists(folder)).toBe(false);
    writeFileSync(join(folder, 'deb.debian.org_main_binary-amd64_Packages.lz4'), '');
    expect(hasSystemLists(folder)).toBe(true);
  });

  it('wraps a program with its libraries, in folders with spaces and quotes', () => {
    const target = join(folder, 'print it');
    writeFileSync(target, '#!/bin/sh\nprintf "%s|" "$LD_LIBRARY_PATH" "$@"\n');
    chmodSync(target, 0o755);
    const libraries = join(folder, 'root/usr/lib/x86_64-linux-gnu');
    for (const name of ['own', 'data']) mkdirSync(join(libraries, name), { recursive: true });
    writeFileSync(join(libraries, 'own', 'libown-1.so'), '');
    writeFileSync(join(libraries, 'data', 'plugin.so'), '');
    const folders = libraryFolders(join(folder, 'root'));
    expect(folders).toContain(libraries);
    expect(folders).toContain(join(libraries, 'own'));
    expect(folders).not.toContain(join(libraries, 'data'));
    const wrapper = writeWrapper(join(folder, 'bin'), 'print', target, { libraries: folders });
    expect(execFileSync(wrapper, ['a b', "c'd"], { encoding: 'utf8', env: {} })).toBe(`${folders.join(':')}|a b|c'd|`);
    expect(findInPath('print', { path: join(folder, 'bin'), except: '' })).toBe(wrapper);
    expect(findInPath('print', { path: join(folder, 'bin'), except: join(folder, 'bin') })).toBeUndefined();
  });

  it('leads programs to fonts that were unpacked, and only then', () => {
    expect(writeFontConfiguration(folder, join(folder, 'root'))).toBeUndefined();
    mkdirSync(join(folder, 'root/usr/share/fonts'), { recursive: true });
    const fonts = writeFontConfiguration(folder, join(folder, 'root'))!;
    const configuration = readFileSync(fonts, 'utf8');
    expect(configuration).toContain(`<dir>${join(folder, 'root/usr/share/fonts')}</dir>`);
    // Without the system's own, pages of tests and documentation are in whatever font is found first.
    expect(configuration).toContain('<include ignore_missing="yes">/etc/fonts/fonts.conf</include>');
    const target = join(folder, 'print');
    writeFileSync(target, '#!/bin/sh\nprintf "%s" "$FONTCONFIG_FILE"\n');
    chmodSync(target, 0o755);
    const wrapper = writeWrapper(join(folder, 'bin'), 'print', target, { libraries: [], fonts });
    expect(execFileSync(wrapper, { encoding: 'utf8', env: {} })).toBe(fonts);
  });

  it('finds a program where its package puts it', () => {
    mkdirSync(join(folder, 'usr/lib/app'), { recursive: true });
    mkdirSync(join(folder, 'usr/bin'), { recursive: true });
    writeFileSync(join(folder, 'usr/lib/app/app'), '');
    expect(findInTree('app', folder)).toBeUndefined();
    expect(findInTree('app', folder, 'usr/lib/app/app')).toBe(join(folder, 'usr/lib/app/app'));
    writeFileSync(join(folder, 'usr/bin/app'), '');
    expect(findInTree('app', folder)).toBe(join(folder, 'usr/bin/app'));
  });

  it('is not misled by a browser that only says its own name', async () => {
    const broken = join(folder, 'chromium');
    writeFileSync(broken, '#!/bin/sh\necho "chromium: libnss3.so: cannot open" >&2\nexit 127\n');
    chmodSync(broken, 0o755);
    expect(await verifyProgram('chromium', broken)).toContain('Command failed');
  });

  it.each(['lighthouse', 'oidc-provider', 'runtimes'])('pins every package of %s by its digest', (name) => {
    const locked = join(ROOT, 'tools/peers', name);
    const read = (file: string) => JSON.parse(readFileSync(join(locked, file), 'utf8')) as Record<string, unknown>;
    const { '': root, ...packages } = read('package-lock.json')['packages'] as Record<string, Record<string, unknown>>;
    for (const kind of ['dependencies', 'optionalDependencies']) {
      expect(root![kind]).toEqual(read('package.json')[kind]);
      for (const alias of Object.keys(read('package.json')[kind] ?? {})) {
        expect(packages[`node_modules/${alias}`]).toBeDefined();
      }
    }
    for (const { integrity } of Object.values(packages)) expect(integrity).toMatch(/^sha512-/);
  });

  it('says why a program does not work', async () => {
    const broken = join(folder, 'microsocks');
    writeFileSync(broken, '#!/bin/sh\necho "libmissing.so.1: cannot open" >&2\nexit 127\n');
    chmodSync(broken, 0o755);
    expect(await verifyProgram('microsocks', broken)).toBe('libmissing.so.1: cannot open');
    expect(await verifyProgram('microsocks', join(folder, 'absent'))).toContain('ENOENT');
  });
});
