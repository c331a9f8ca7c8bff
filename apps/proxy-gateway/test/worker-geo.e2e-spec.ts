import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JsonLogger, rootModule } from '@gatehouse/platform';
import { NestFactory } from '@nestjs/core';
import { expect, it } from 'vitest';
import { WorkerModule } from '../src/app.module.js';
import { GeoLibrary } from '../src/geo/geo-library.js';
import { ProxyGatewaySettings } from '../src/settings.js';
import { countryFile } from '@gatehouse/testing';
import { startGateway } from './support/gateway.js';

it('updates geo databases in a worker with its own disk, and shows the worker’s report', async () => {
  const content = countryFile({ '192.0.2.0/24': 'AQ' });
  const mirror = createServer((request, response) =>
    request.url === '/f' ? response.end(content) : response.writeHead(404).end(),
  ).listen(0, '127.0.0.1');
  await once(mirror, 'listening');
  const homes = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'worker-geo-')));
  await using gateway = await startGateway({ WORKERS: 'separate', GATEHOUSE_HOME: homes[0]! });
  await gateway.call('PUT', '/settings', {
    'geo.allow_private': 'true',
    'geo.country_url': `http://127.0.0.1:${(mirror.address() as AddressInfo).port}/f`,
    'geo.asn_url': '',
    'geo.geosite_url': '',
  });
  const settings = Object.assign(
    new ProxyGatewaySettings(),
    gateway.app.app.get(ProxyGatewaySettings, { strict: false }),
    {
      home: homes[1]!,
    },
  );
  const logger = new JsonLogger({ service: 'worker test', level: 'silent' });
  logger.setContextLevel('Geo', 'info');
  const root = rootModule({ module: WorkerModule.forRoot(settings) }, logger);
  const worker = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  try {
    const updated = await gateway.call('POST', '/system/geo/update');
    expect(updated).toMatchObject({ status: 200, body: { updated: ['country'], failed: [] } });
    expect(gateway.app.app.get(GeoLibrary, { strict: false }).country('192.0.2.1')).toBe('AQ');
    expect(readFileSync(join(homes[0]!, 'geo', 'country.mmdb')).equals(content)).toBe(true);
  } finally {
    await worker.close();
    mirror.closeAllConnections();
    mirror.close();
  }
  const { body } = await gateway.call('GET', '/logs?source=worker&search=country%20database');
  expect(body.items[0]).toMatchObject({ source: 'worker', level: 'info', context: 'Geo' });
  expect(readdirSync(join(homes[1]!, 'geo'))).toEqual(['country.mmdb']);
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});
