import { AuthPolicy, SCOPES } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import { isLoopback } from '@gatehouse/net';
import { StartError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import type { PreferenceSnapshot } from '../preferences/preference-snapshot.js';
import { Preferences } from '../preferences/preferences.service.js';
import { ProxyGatewaySettings } from '../settings.js';

const ANYBODY: Actor = Object.freeze({
  credential: 'none',
  credentialId: null,
  userId: null,
  name: 'anybody',
  role: null,
  scopes: SCOPES,
});

/** Settings with the addresses that the proxy and its name server listen on. */
const LISTENERS = [
  'kernel.listen.mixed',
  'kernel.listen.http',
  'kernel.listen.socks',
  'kernel.listen.groups',
  'dns.listen',
] as const;
export type ListenerSetting = (typeof LISTENERS)[number] | 'kernel.allow_lan';

/** Why others than this machine can reach the service, so that login has to stay on. */
export type Reachability =
  { by: 'BIND_ADDRESS' | 'PROXY_KERNEL_ADDRESS'; address: string } | { by: ListenerSetting; address: string };

type Values = Pick<PreferenceSnapshot, 'get'>;

/**
 * Whether the API works without login: login is switched off, and nobody outside this machine can reach it, unless the
 * operator allows that.
 */
@Injectable()
export class OpenAccess implements AuthPolicy, OnApplicationBootstrap {
  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /** @throws StartError when login is off and the service listens on an address that others can reach. */
  onApplicationBootstrap(): void {
    const reachable = this.reachability();
    if (this.preferences.get('auth.enabled') || reachable === null) return;
    const { by, address } = reachable;
    throw new StartError(
      `auth.enabled is false while ${by} is ${address}: anybody who reaches it could change everything. ` +
        'Use 127.0.0.1, or set PROXY_GATEWAY_ALLOW_OPEN=true if that is meant',
      `auth.enabled 为 false，而 ${by} 为 ${address}：任何能访问它的人都可以更改一切。` +
        '请使用 127.0.0.1；如果确实需要，请设置 PROXY_GATEWAY_ALLOW_OPEN=true',
    );
  }

  /** True when requests need credentials. They also do if login was switched off while others can reach the service. */
  loginNeeded(): boolean {
    return this.preferences.get('auth.enabled') || this.reachability() !== null;
  }

  openActor(): Actor | undefined {
    return this.loginNeeded() ? undefined : ANYBODY;
  }

  /**
   * Why these values do not allow switching login off; null if they do. Listeners of the proxy count as well: a rule
   * may lead their clients to addresses that only this machine should reach.
   */
  reachability(values: Values = this.preferences): Reachability | null {
    if (this.settings.allowOpen) return null;
    const { bindAddress } = this.settings;
    if (!isLocal(bindAddress)) return { by: 'BIND_ADDRESS', address: bindAddress };
    return this.reachableListener(values);
  }

  private reachableListener(values: Values): Reachability | null {
    const { kernelAddress } = this.settings;
    const everywhere = values.get('kernel.allow_lan');
    const chosen = LISTENERS.flatMap((setting) => placesOf(values, setting).map((listen) => ({ setting, listen })));
    for (const { setting, listen } of chosen) {
      if (listen === null && setting !== 'kernel.listen.mixed') continue;
      if (listen?.address) {
        if (!isLocal(listen.address)) return { by: setting, address: listen.address };
      } else if (everywhere) return { by: 'kernel.allow_lan', address: '0.0.0.0' };
      else if (!isLocal(kernelAddress)) return { by: 'PROXY_KERNEL_ADDRESS', address: kernelAddress };
    }
    return null;
  }
}

function placesOf(values: Values, setting: (typeof LISTENERS)[number]): ({ address: string | null } | null)[] {
  return setting === 'kernel.listen.groups' ? values.get(setting) : [values.get(setting)];
}

/** Settings may use the name of the loopback instead of its address. */
function isLocal(address: string): boolean {
  return isLoopback(address) || /^localhost\.?$/i.test(address);
}
