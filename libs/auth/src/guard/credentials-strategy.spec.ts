import { AppError } from '@gatehouse/platform';
import type { ExecutionContext } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { SYSTEM_ACTOR, type Actor } from './actor.js';
import { AuthGuard } from './auth.guard.js';
import type { Authenticator } from './authenticator.js';
import { CredentialsStrategy } from './credentials-strategy.js';
import { actorOf } from './request-actor.js';

class Notes {}

/** The guard reads its metadata alone. */
const handler = (): void => undefined;

function contextOf(request: object): ExecutionContext {
  const http = { getRequest: () => request, getResponse: () => ({}) };
  return { getClass: () => Notes, getHandler: () => handler, switchToHttp: () => http } as never;
}

/** An application's strategy, and whom its guard lets in under a name. */
function application(find: (name: string) => Promise<Actor | null | undefined>): {
  strategy: CredentialsStrategy;
  enter: (name: string) => Promise<string | undefined>;
} {
  const authenticate = (request: { name: string }): Promise<Actor | null | undefined> => find(request.name);
  const strategy = new CredentialsStrategy({ authenticate } as unknown as Authenticator);
  const guard = new AuthGuard(strategy, 'notes');
  const enter = async (name: string): Promise<string | undefined> => {
    const request = { name, method: 'GET', headers: {} };
    await guard.canActivate(contextOf(request));
    return actorOf(request)?.name;
  };
  return { strategy, enter };
}

describe('credentials through Passport', () => {
  it('stay with their application and their request', async () => {
    const [one, other] = ['one', 'other'].map((own) =>
      application(async (name) => {
        await new Promise((resolve) => setImmediate(resolve));
        return { ...SYSTEM_ACTOR, name: `${name} of ${own}` };
      }),
    ) as [ReturnType<typeof application>, ReturnType<typeof application>];
    const names = ['ada', 'eve', 'bob'];
    const entered = await Promise.all(names.flatMap((name) => [one.enter(name), other.enter(name)]));
    expect(entered).toEqual(names.flatMap((name) => [`${name} of one`, `${name} of other`]));
    other.strategy.onApplicationShutdown();
    expect(await one.enter('ada')).toBe('ada of one');
    await expect(other.enter('ada')).rejects.toThrow(/Unknown authentication strategy/);
  });

  it.each([
    [null, 'Credentials are needed'],
    [undefined, 'The credentials are not valid'],
  ])('that are %s are refused: %s', async (actor, message) => {
    await expect(application(() => Promise.resolve(actor)).enter('ada')).rejects.toThrow(message);
  });

  it('that cannot be checked cause an error instead of a refusal', async () => {
    const failure = new AppError('INTERNAL', 'no database');
    await expect(application(() => Promise.reject(failure)).enter('ada')).rejects.toBe(failure);
  });
});
