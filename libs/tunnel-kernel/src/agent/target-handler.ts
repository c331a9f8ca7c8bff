import { resetStream, type ByteStream } from '@gatehouse/net';
import { TargetError } from '../errors.js';
import { relayFlow } from '../relay-flow.js';
import type { ResourceRef } from '../resource.js';
import type { TargetAddress } from '../wire/messages.js';
import { encodeAnswer, type Start } from '../wire/prelude.js';
import { proxyHeader } from '../wire/proxy-header.js';
import type { KnownTunnel } from './agent-resources.js';
import type { ChannelHandler, HandlerContext, StartedChannel } from './channel-handler.js';
import { dialFailure } from '../base/dial-failure.js';

/** Connects a channel to one of the resource's own targets: hosts, and modes `tcp`, `secret` and `p2p`. */
export class TargetHandler implements ChannelHandler {
  private readonly context: HandlerContext;

  constructor(context: HandlerContext) {
    this.context = context;
  }

  async serve(channel: StartedChannel): Promise<void> {
    const { start, stream, owner } = channel;
    const resource: ResourceRef = { kind: start.kind === 'host' ? 'host' : 'tunnel', id: start.id };
    try {
      const target = await this.reach(start);
      if (stream.destroyed) return resetStream(target);
      if (start.wantsAnswer) stream.write(encodeAnswer(null));
      this.join(channel, resource, target);
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      owner.refuse(resource, channel.id, error.reason);
      if (start.wantsAnswer) stream.write(encodeAnswer(error.reason));
      if (start.wantsAnswer) stream.end();
      else resetStream(stream);
    }
  }

  private join({ start, stream, reader, owner }: StartedChannel, resource: ResourceRef, target: ByteStream): void {
    const { ledger, resources } = this.context;
    const version = resource.kind === 'tunnel' ? resources.tunnel(resource.id)?.tunnel.proxyProtocol : 0;
    // Written before the relay starts to count, because these are not the visitor's bytes.
    if (version === 1 || version === 2) target.write(proxyHeader(version, start.visitor, start.entrance));
    const { clientId } = owner;
    relayFlow(ledger, { resource, clientId, visitor: start.visitor }, [stream, target], { head: reader?.detach() });
  }

  /** @throws TargetError */
  private reach(start: Start): Promise<ByteStream> {
    const { resources } = this.context;
    if (start.kind === 'host') {
      const target = resources.host(start.id)?.targets[start.target ?? 0];
      if (!target) throw new TargetError('unknown_tunnel');
      return this.dial(target, this.context.dialMs).catch((error: unknown) => {
        throw new TargetError(dialFailure(error));
      });
    }
    const known = resources.tunnel(start.id);
    if (!known) throw new TargetError('unknown_tunnel');
    return this.first(known, start.destination);
  }

  /** The first reachable target. `port`: the public port, where it decides. */
  private async first({ tunnel, targets }: KnownTunnel, port: string): Promise<ByteStream> {
    const picker = targets.at(port);
    if (!picker) throw new TargetError('unknown_tunnel');
    const { dialMs, now, logger } = this.context;
    const deadline = now() + dialMs;
    let failure: TargetError | null = null;
    for (const target of picker.order()) {
      const left = deadline - now();
      if (left <= 0) break;
      try {
        return await this.dial(target, Math.min(left, dialMs));
      } catch (error) {
        failure = new TargetError(dialFailure(error));
        const { reason } = failure;
        if (reason === 'forbidden') continue;
        picker.failed(target);
        const { host, port } = target;
        logger.warn('a target could not be reached', { tunnel: tunnel.id, host, port, reason });
      }
    }
    throw failure ?? new TargetError('forbidden');
  }

  private dial(target: TargetAddress, timeoutMs: number): Promise<ByteStream> {
    const { dialer, allows } = this.context;
    return dialer.target(target, timeoutMs, (address) => allows(target, address));
  }
}
