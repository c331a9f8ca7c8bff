import { Injectable, Logger } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { refusesPrivateTargets } from './kernel-options.js';
import { ProxyGatewaySettings } from '../settings.js';

export type KernelProgramName = 'embedded' | 'mihomo';

/** Which program carries the traffic. The setting is read once and holds until the service restarts. */
@Injectable()
export class KernelMode {
  private readonly logger = new Logger('Kernel');
  private chosen: KernelProgramName | null = null;

  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  get(): KernelProgramName {
    this.chosen ??= this.choose();
    return this.chosen;
  }

  /** The program to start; empty for the embedded kernel. */
  get executable(): string {
    return this.get() === 'mihomo' ? this.settings.mihomo : '';
  }

  /** If mihomo cannot run, the embedded kernel does: some traffic is better than none. */
  private choose(): KernelProgramName {
    if (this.preferences.get('kernel.mode') === 'embedded') return 'embedded';
    const obstacle = this.obstacle();
    if (obstacle === null) return 'mihomo';
    this.logger.error(`kernel.mode is mihomo, ${obstacle}: the embedded kernel runs`);
    return 'embedded';
  }

  private obstacle(): string | null {
    if (this.settings.kernel === 'separate') return 'which a separate kernel is not';
    if (this.settings.mihomo === '') return 'and PROXY_GATEWAY_MIHOMO names no program';
    const wanted = this.preferences.get('kernel.allow_private_targets');
    return refusesPrivateTargets(wanted, this.settings) ? 'which cannot refuse private targets as configured' : null;
  }
}
