import { AuthPolicy, SCOPES } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import { StartError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
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

/** Whether the API may stand open: login is switched off, and nobody from outside can reach it unless that is wanted. */
@Injectable()
export class OpenAccess implements AuthPolicy, OnApplicationBootstrap {
  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /** @throws StartError when login is off on an address that others can reach. */
  onApplicationBootstrap(): void {
    if (this.preferences.get('auth.enabled') || this.mayStandOpen()) return;
    throw new StartError(
      `auth.enabled is false while BIND_ADDRESS is ${this.settings.bindAddress}: anybody who reaches it could change everything. ` +
        'Bind to 127.0.0.1, or set PROXY_GATEWAY_ALLOW_OPEN=true if that is meant',
    );
  }

  /** True when requests need credentials. Switched off while the service runs on a reachable address, they still do. */
  loginNeeded(): boolean {
    return this.preferences.get('auth.enabled') || !this.mayStandOpen();
  }

  openActor(): Actor | undefined {
    return this.loginNeeded() ? undefined : ANYBODY;
  }

  /** Whether switching login off would be honoured. */
  mayStandOpen(): boolean {
    return this.settings.allowOpen || isLoopback(this.settings.bindAddress);
  }
}

export function isLoopback(address: string): boolean {
  return /^(::ffff:)?127\.\d+\.\d+\.\d+$/i.test(address) || /^(0*:)*:?0*1$/.test(address);
}
