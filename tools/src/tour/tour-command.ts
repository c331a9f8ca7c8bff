import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Command } from '../command.js';
import { localized } from '../../bootstrap/language.mjs';
import { platformHome } from '../supervisor/platform-settings.js';
import { addressOf, findPassword } from '../supervisor/running-platform.js';
import { runningState } from '../supervisor/state-file.js';
import { ApiClient } from './api-client.js';
import { tourProxyGateway, type ProxyPlace } from './proxy-gateway-tour.js';
import { tourResourceSharing } from './resource-sharing-tour.js';
import { Script, TourFailure } from './script.js';
import { tourTunnelGateway, type TunnelPlaces } from './tunnel-gateway-tour.js';

export interface TourPlaces {
  /** Base address of proxy-gateway, without a path. */
  proxyGateway: string;
  /** Address of the proxy itself, where the tour cannot know it. */
  proxy?: ProxyPlace;
  /** The same of resource-sharing. */
  resourceSharing: string;
  /** Addresses of tunnel-gateway, which has to be on this machine. Null: the chapter is left out. */
  tunnelGateway: ({ url: string } & Omit<TunnelPlaces, 'api' | 'password'>) | null;
  password: string;
}

/**
 * `npm run tour [-- --proxy-gateway URL --resource-sharing URL]`: the main path against a running platform, step by step, with real traffic.
 * Resolves with 0, or 1 after the first step that was not as it should be.
 */
export const tourCommand: Command = async (args) => {
  const options = { 'proxy-gateway': { type: 'string' }, 'resource-sharing': { type: 'string' } } as const;
  const { values } = parseArgs({ args, options });
  return await runTour(findPlaces(values), (line) => process.stdout.write(`${line}\n`));
};

const NO_TUNNELS = 'tunnel-gateway is left out: its visitors and its agent would have to be on the other machine.';

/** Runs every chapter; what went wrong is printed. */
export async function runTour(places: TourPlaces, print: (line: string) => void): Promise<number> {
  const started = performance.now();
  try {
    const script = new Script(print);
    await tourProxyGateway(new ApiClient(`${places.proxyGateway}/api/v1`), places.password, script, places.proxy);
    await tourResourceSharing(places.resourceSharing, places.password, script);
    if (places.tunnelGateway) {
      const { url, ...tunnels } = places.tunnelGateway;
      await tourTunnelGateway({ api: new ApiClient(`${url}/api/v1`), password: places.password, ...tunnels }, script);
    } else print(`\n${localized(NO_TUNNELS, '未演示 tunnel-gateway：访客和客户端程序必须在另一台机器上运行。')}`);
  } catch (error) {
    if (!(error instanceof TourFailure)) throw error;
    print(localized(`\nThe tour stopped at ${error.message}`, `\n演示在此中止：${error.message}`));
    return 1;
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  print(localized(`\nEverything was as it should be, in ${seconds} s.`, `\n一切正常，用时 ${seconds} 秒。`));
  return 0;
}

const NAME_ONE = ['Or name one: npm run tour -- --proxy-gateway http://host:port --resource-sharing http://host:port'];

function findPlaces(given: Record<string, string | undefined>): TourPlaces {
  const home = platformHome(process.env);
  const place = (name: string): string => given[name] ?? addressOf(home, name, NAME_ONE);
  const [proxyGateway, resourceSharing] = [place('proxy-gateway'), place('resource-sharing')];
  return {
    proxyGateway,
    resourceSharing,
    tunnelGateway: tunnelPlaces(home),
    password: findPassword(process.env, home),
  };
}

/** The ports of tunnel-gateway, where its platform runs in this home. */
function tunnelPlaces(home: string): TourPlaces['tunnelGateway'] {
  const state = runningState(home);
  const url = state?.services.find(({ name }) => name === 'tunnel-gateway')?.url;
  const [http, https] = [state?.ports?.['TUNNEL_HTTP_PORT'], state?.ports?.['TUNNEL_HTTPS_PORT']];
  if (!url || http === undefined || https === undefined) return null;
  const certificateFolder = process.env['CERT_DIR'] || join(home, 'tunnel-gateway', 'certificates');
  return { url, ports: { http, https }, certificateFolder };
}
