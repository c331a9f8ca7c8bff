import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import type { Command } from '../commands.js';
import { platformHome } from '../supervisor/platform-settings.js';
import { runningState } from '../supervisor/state-file.js';
import { ApiClient } from './api-client.js';
import { tourProxyGateway } from './proxy-gateway-tour.js';
import { Script, TourFailure } from './script.js';

export interface TourPlaces {
  /** Base address of proxy-gateway, without a path. */
  proxyGateway: string;
  password: string;
}

/**
 * `npm run tour [-- --proxy-gateway URL]`: the main path against a running platform, step by step, with real traffic.
 * Resolves with 0, or 1 after the first step that was not as it should be.
 */
export const tourCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { 'proxy-gateway': { type: 'string' } } });
  return await runTour(findPlaces(values['proxy-gateway']), (line) => process.stdout.write(`${line}\n`));
};

/** Runs every chapter; what went wrong is printed. */
export async function runTour(places: TourPlaces, print: (line: string) => void): Promise<number> {
  const started = performance.now();
  try {
    await tourProxyGateway(new ApiClient(`${places.proxyGateway}/api/v1`), places.password, new Script(print));
  } catch (error) {
    if (!(error instanceof TourFailure)) throw error;
    print(`\nThe tour stopped at ${error.message}`);
    return 1;
  }
  print(`\nEverything was as it should be, in ${((performance.now() - started) / 1000).toFixed(1)} s.`);
  return 0;
}

function findPlaces(given: string | undefined): TourPlaces {
  const home = platformHome(process.env);
  const proxyGateway = given ?? serviceUrl(home, 'proxy-gateway');
  return { proxyGateway, password: process.env['GATEHOUSE_ADMIN_PASSWORD'] || firstLoginPassword(home) };
}

function serviceUrl(home: string, name: string): string {
  const url = runningState(home)?.services.find((service) => service.name === name)?.url;
  if (url) return url;
  throw new PlainFailure('no platform runs in this home.', {
    advice: [
      `home: ${home}`,
      'Start one with: npm start',
      'Or name one: npm run tour -- --proxy-gateway http://host:port',
    ],
  });
}

function firstLoginPassword(home: string): string {
  const file = join(home, 'first-login.txt');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new PlainFailure('the tour does not know the administrator’s password.', {
      advice: [`There is no ${file}. Say it: GATEHOUSE_ADMIN_PASSWORD=… npm run tour`],
      cause,
    });
  }
}
