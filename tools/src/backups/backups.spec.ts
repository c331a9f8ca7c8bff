import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BackupFolder } from './backup-folder.js';
import { BackupSchedule } from './backup-schedule.js';
import { readBackupSettings } from './backup-settings.js';

const HOUR = 3_600_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-backups-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe('BACKUP_DIR, BACKUP_EVERY and BACKUP_KEEP', () => {
  const read = (env: Record<string, string>) => {
    const problems: string[] = [];
    return { settings: readBackupSettings(env, problems), problems };
  };

  it('say where, how often and how many; nothing set means none', () => {
    expect(read({})).toEqual({ settings: undefined, problems: [] });
    expect(read({ BACKUP_DIR: '/b' }).settings).toEqual({ folder: '/b', everyMs: 24 * HOUR, keep: 7 });
    const all = { BACKUP_DIR: '/b', BACKUP_EVERY: '30m', BACKUP_KEEP: '3' };
    expect(read(all).settings).toEqual({ folder: '/b', everyMs: HOUR / 2, keep: 3 });
    expect(read({ BACKUP_DIR: '/b', BACKUP_EVERY: '7d' }).settings?.everyMs).toBe(7 * 24 * HOUR);
  });

  it('are refused with what would be right', () => {
    expect(read({ BACKUP_DIR: '/b', BACKUP_EVERY: 'daily', BACKUP_KEEP: '0' }).problems).toEqual([
      'BACKUP_EVERY=daily is not a time between 1m and 31d, such as 24h.',
      'BACKUP_KEEP=0 is not a number from 1 to 10000.',
    ]);
    expect(read({ BACKUP_DIR: '/b', BACKUP_EVERY: '99d' }).problems).toHaveLength(1);
    expect(read({ BACKUP_EVERY: '24h' }).problems).toEqual([
      'BACKUP_EVERY is set and BACKUP_DIR, the folder for the backups, is not.',
    ]);
  });
});

describe('a folder of backups', () => {
  it('knows whether its newest one is as recent as it should be', async () => {
    const backups = new BackupFolder(folder);
    const made = new Date(Date.UTC(2026, 0, 1, 3));
    const after = (hours: number): Date => new Date(made.getTime() + hours * HOUR);
    expect(await backups.isRecent(24 * HOUR, made)).toBe(false);
    writeFileSync(await backups.fileFor(made), '');
    expect(await backups.isRecent(24 * HOUR, after(36))).toBe(true);
    expect(await backups.isRecent(24 * HOUR, after(37))).toBe(false);
  });

  it('keeps the newest ones and other people’s files, and clears away old drafts', async () => {
    const backups = new BackupFolder(folder);
    const days = [1, 2, 3, 4].map((day) => new Date(Date.UTC(2026, 0, day, 3)));
    for (const day of days) writeFileSync(await backups.fileFor(day), '');
    for (const name of ['notes.txt', 'gatehouse-by-hand.gz', 'gatehouse-20260101T030000Z.backup.gz.0a1b2c3d.body']) {
      writeFileSync(join(folder, name), '');
    }
    const draft = 'gatehouse-20260104T030000Z.backup.gz.0a1b2c3d';
    writeFileSync(join(folder, draft), '');
    const now = new Date();
    utimesSync(join(folder, 'gatehouse-20260101T030000Z.backup.gz.0a1b2c3d.body'), 0, 0);
    await backups.tidy(2, now);
    expect(readdirSync(folder).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'gatehouse-20260103T030000Z.backup.gz',
      'gatehouse-20260104T030000Z.backup.gz',
      draft,
      'gatehouse-by-hand.gz',
      'notes.txt',
    ]);
    expect((await backups.list()).map(({ at }) => at)).toEqual([days[3], days[2]]);
  });

  it('is empty when it is not there yet', async () => {
    expect(await new BackupFolder(join(folder, 'later')).list()).toEqual([]);
  });
});

describe('a schedule of backups', () => {
  const settings = () => ({ folder, everyMs: 24 * HOUR, keep: 2 });
  const names = () => readdirSync(folder).toSorted((a, b) => a.localeCompare(b));

  it('writes one when none is there, then each day, and keeps the last ones', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const written: string[] = [];
    const schedule = new BackupSchedule({
      settings: settings(),
      write: async (file) => {
        writeFileSync(file, '');
        written.push(basename(file));
        await Promise.resolve();
      },
      notify: () => undefined,
    });
    await schedule.start();
    expect(written).toEqual([]);
    while (written.length < 3) {
      await vi.advanceTimersByTimeAsync(HOUR);
      // The folder is read by the real file system, which no clock of a test moves: it has looked once it waits again. Turns of
      // the event loop alone would keep a processor busy for as long as the file system is.
      while (vi.getTimerCount() === 0) await readdir(folder);
    }
    await schedule.stop();
    expect(written[0]).toMatch(/^gatehouse-20260101T/);
    expect(names()).toEqual(written.slice(1));
  });

  it('is not due before its time after a restart, and is after a night that was slept through', async () => {
    writeFileSync(await new BackupFolder(folder).fileFor(new Date(Date.UTC(2026, 0, 1, 12))), '');
    const due = async (now: number): Promise<boolean> => {
      vi.useFakeTimers({ now, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
      let isDue = false;
      const schedule = new BackupSchedule({
        settings: settings(),
        write: () => {
          isDue = true;
          return Promise.resolve();
        },
        notify: () => undefined,
      });
      await schedule.start();
      await vi.advanceTimersByTimeAsync(60_000);
      await schedule.stop();
      vi.useRealTimers();
      return isDue;
    };
    expect(await due(Date.UTC(2026, 0, 1, 20))).toBe(false);
    expect(await due(Date.UTC(2026, 0, 2, 12))).toBe(true);
    // A clock that was set back does not wait for the time it once showed.
    expect(await due(Date.UTC(2025, 0, 1))).toBe(false);
  });

  it('says that one failed, and keeps the former ones', async () => {
    writeFileSync(await new BackupFolder(folder).fileFor(new Date(0)), '');
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const said = Promise.withResolvers<string>();
    const schedule = new BackupSchedule({
      settings: settings(),
      write: () => Promise.reject(new Error('the disk is full')),
      notify: said.resolve,
    });
    await schedule.start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await said.promise).toContain('failed, next try in 10 min: Error: the disk is full');
    await schedule.stop();
    expect(names()).toHaveLength(1);
  });

  it('ends one that is under way when it is stopped', async () => {
    const started = Promise.withResolvers<undefined>();
    const schedule = new BackupSchedule({
      settings: settings(),
      write: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('ended')));
          started.resolve(undefined);
        }),
      notify: () => undefined,
    });
    const ended = expect(schedule.writeOne()).rejects.toThrow('ended');
    await started.promise;
    await schedule.stop();
    await ended;
    expect(names()).toEqual([]);
  });
});
