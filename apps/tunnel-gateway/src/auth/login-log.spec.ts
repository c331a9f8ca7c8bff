import type { JsonLogger } from '@gatehouse/platform';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { EventLog, NewEvent } from '../events/event-log.js';
import type { Users } from '../users/users.service.js';
import { LoginLog } from './login-log.js';

const recorded: NewEvent[] = [];
let log: LoginLog;
beforeEach(() => {
  vi.useFakeTimers();
  recorded.length = 0;
  const users = { findByName: (username: string) => Promise.resolve(username === 'ann' ? { id: 7, username } : null) };
  const events = { recordAll: (all: readonly NewEvent[]) => Promise.resolve(void recorded.push(...all)) };
  log = new LoginLog(users as unknown as Users, events as unknown as EventLog, {} as JsonLogger);
  log.onApplicationBootstrap();
});
afterEach(() => {
  log.beforeApplicationShutdown();
  vi.useRealTimers();
});

it('a failed login is logged at once, and a flood of them once a minute for each user', async () => {
  for (let i = 0; i < 1_000; i++) {
    await log.failed('ann', `2001:db8::${i}`);
    await log.failed(`nobody ${i}`, `2001:db8::${i}`);
  }
  expect(recorded.map(({ message }) => message)).toEqual([
    'a login of ann from 2001:db8::0 failed',
    'a login with an unknown name from 2001:db8::0 failed',
  ]);
  await vi.advanceTimersByTimeAsync(65_000);
  expect(recorded.slice(2)).toMatchObject([
    { message: '999 logins of ann failed, the last from 2001:db8::999', ownerUserId: 7, data: { count: 999 } },
    { message: '999 logins with an unknown name failed, the last from 2001:db8::999', resource: null },
  ]);
  await vi.advanceTimersByTimeAsync(300_000);
  expect(recorded).toHaveLength(4);
});
