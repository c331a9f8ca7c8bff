import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestApp, createTestDatabase } from '@gatehouse/testing';
import { Controller, Get, Module } from '@nestjs/common';
import { AppModule } from '../../src/app.module.js';
import { SERVICE } from '../../src/service.js';
import { HTTP_OPTIONS } from '../../src/http-options.js';
import { CurrentCaller, OpenOperation, type Caller, type OpenOperationOptions } from '../../src/credentials/caller.js';
import { readSettings } from '../../src/settings.js';
import type { SiteApp } from '../site-app.js';

/** Operations of every kind that answer with who called. */
class Probe {
  meta(caller: Caller): Caller {
    return caller;
  }
  unlock(caller: Caller): Caller {
    return caller;
  }
  vip(caller: Caller): Caller {
    return caller;
  }
  query(caller: Caller): Caller {
    return caller;
  }
}

const OPERATIONS: Record<'meta' | 'query' | 'unlock' | 'vip', OpenOperationOptions> = {
  meta: { scope: 'meta' },
  query: { scope: 'query' },
  unlock: { scope: 'unlock', user: 'required' },
  vip: { scope: 'vip', user: 'premium' },
};

for (const [name, options] of Object.entries(OPERATIONS)) {
  const method = Object.getOwnPropertyDescriptor(Probe.prototype, name) as PropertyDescriptor;
  CurrentCaller()(Probe.prototype, name, 0);
  OpenOperation(options)(Probe.prototype, name, method);
  Get(name)(Probe.prototype, name, method);
}
Controller('api/open/probe')(Probe);

class ProbeModule {}
Module({ controllers: [Probe] })(ProbeModule);

/** The service with probe operations; `replica()` starts another one on the same database. */
export async function startOpenSite(
  env: Record<string, string> = {},
): Promise<SiteApp & { databaseUrl: string; replica: () => Promise<SiteApp> }> {
  const home = mkdtempSync(join(tmpdir(), 'resource-sharing-'));
  const database = await createTestDatabase({ template: { key: 'resource_sharing', prepare: migrate } });
  const settings = readSettings({ GATEHOUSE_HOME: home, DATABASE_URL: database.url, ...env });
  const start = async (): Promise<SiteApp> => {
    const running = await createTestApp({
      name: SERVICE.name,
      module: { module: class {}, imports: [AppModule.forRoot(settings), ProbeModule] },
      settings,
      http: HTTP_OPTIONS,
    });
    return { ...running, home };
  };
  const first = await start();
  const close = async (): Promise<void> => {
    await first.close();
    await database.drop();
    rmSync(home, { recursive: true });
  };
  return { ...first, databaseUrl: database.url, close, replica: start, [Symbol.asyncDispose]: close };
}

async function migrate(url: string): Promise<void> {
  await SERVICE.migrate({ databaseUrl: url });
}
