import { parseControlEndpoint, type ControlKey } from '@gatehouse/net';
import { loadSecretKeys } from '@gatehouse/persistence';
import { MetricsRegistry, StartError } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import { kernelChannelKey } from '../common/kernel-channel.js';
import { showKernel } from '../common/show-kernel.js';
import { CountryGroups } from '../kernel-config/country-groups.js';
import { GroupSwitches } from '../data/group-switches.js';
import { KernelConfigModule } from '../kernel-config/kernel-config.module.js';
import { KernelClients } from './kernel-clients.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelService } from './kernel.service.js';
import { LostSelections } from '../kernel-config/lost-selections.js';
import { OwnSpools } from './own-spools.js';
import { RemoteKernelLauncher } from './remote-kernel.js';
import { ProxyGatewaySettings } from '../settings.js';

/** The key of the newest secret key; the kernel knows the older ones as well. */
function channelKeyOf({ home, secretKey: envValue }: ProxyGatewaySettings): ControlKey {
  const [newest] = loadSecretKeys({ home, envValue });
  return kernelChannelKey(newest);
}

/** @throws StartError if a separate kernel is configured without its address. */
function launcherFor(settings: ProxyGatewaySettings): KernelLauncher {
  if (settings.kernel === 'own') return new KernelLauncher(undefined, undefined, new OwnSpools(settings));
  const endpoints = (settings.kernelChannel ?? []).flatMap((text) => parseControlEndpoint(text) ?? []);
  if (endpoints.length > 0) return new RemoteKernelLauncher(endpoints, channelKeyOf(settings));
  throw new StartError(
    'PROXY_KERNEL is separate, and PROXY_KERNEL_CHANNEL does not say where it is',
    'PROXY_KERNEL 为 separate，但 PROXY_KERNEL_CHANNEL 没有给出内核的地址',
  );
}

@Module({
  imports: [KernelConfigModule],
  providers: [
    KernelService,
    KernelClients,
    LostSelections,
    CountryGroups,
    GroupSwitches,
    { provide: KernelLauncher, inject: [ProxyGatewaySettings], useFactory: launcherFor },
  ],
  exports: [KernelService, KernelClients, KernelConfigModule, GroupSwitches],
})
export class KernelModule {
  constructor(kernel: KernelService, metrics: MetricsRegistry) {
    metrics.countFlowFailures('kernel', () => kernel.flowFailures());
    // A separate kernel shows its figures itself.
    if (!kernel.runsElsewhere) showKernel(metrics, () => kernel.liveStatus());
  }
}
