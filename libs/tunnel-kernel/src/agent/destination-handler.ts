import { resetStream, type ByteStream } from '@gatehouse/net';
import { TargetError } from '../errors.js';
import { parseDestination } from '../modes/proxy/destination.js';
import { relayFlow } from '../relay-flow.js';
import { encodeAnswer, type Start } from '../wire/prelude.js';
import type { ChannelHandler, HandlerContext, StartedChannel } from './channel-handler.js';
import { dialFailure } from '../base/dial-failure.js';

/** The proxy modes: connects to the visitor's destination if the tunnel's destinations and this agent allow it. */
export class DestinationHandler implements ChannelHandler {
  private readonly context: HandlerContext;

  constructor(context: HandlerContext) {
    this.context = context;
  }

  async serve({ start, stream, reader, owner, id }: StartedChannel): Promise<void> {
    const { ledger } = this.context;
    const resource = { kind: 'tunnel' as const, id: start.id };
    try {
      const target = await this.reach(start);
      if (stream.destroyed) return resetStream(target);
      if (start.wantsAnswer) stream.write(encodeAnswer(null));
      const { clientId } = owner;
      relayFlow(ledger, { resource, clientId, visitor: start.visitor }, [stream, target], { head: reader?.detach() });
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
      // Reported in the answer: an unreachable destination of a visitor is not a failure of the tunnel.
      if (start.wantsAnswer) stream.write(encodeAnswer(error.reason));
      else owner.refuse(resource, id, error.reason);
      stream.end();
    }
  }

  /** @throws TargetError */
  private async reach({ id, destination: text }: Start): Promise<ByteStream> {
    const { resources, dialer, dialMs, allows } = this.context;
    const known = resources.tunnel(id);
    const destination = parseDestination(text);
    if (!known || !destination) throw new TargetError('unknown_tunnel');
    const { destinations } = known;
    const permits = (address: string): boolean =>
      (destinations.empty || destinations.match(destination, address)) && allows(destination, address);
    try {
      return await dialer.target(destination, dialMs, permits);
    } catch (error) {
      throw new TargetError(dialFailure(error));
    }
  }
}
