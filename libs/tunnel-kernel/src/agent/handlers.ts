import { TunnelError } from '../errors.js';
import type { AgentDatagrams } from '../datagrams/agent-datagrams.js';
import type { ChannelHandler, HandlerContext, StartedChannel } from './channel-handler.js';
import { DestinationHandler } from './destination-handler.js';
import { FileHandler } from './files/file-handler.js';
import { TargetHandler } from './target-handler.js';

/** Passes each channel to the agent's side of its mode. */
export class ChannelHandlers implements ChannelHandler {
  private readonly context: HandlerContext;
  private readonly targets: TargetHandler;
  private readonly datagrams: AgentDatagrams;
  private readonly byMode: Readonly<Record<string, ChannelHandler>>;

  constructor(context: HandlerContext, datagrams: AgentDatagrams) {
    this.context = context;
    this.datagrams = datagrams;
    this.targets = new TargetHandler(context);
    const destinations = new DestinationHandler(context);
    this.byMode = {
      tcp: this.targets,
      tcp_range: this.targets,
      secret: this.targets,
      p2p: this.targets,
      file: new FileHandler(context),
      http_proxy: destinations,
      socks5: destinations,
      mix_proxy: destinations,
    };
  }

  /** @throws TunnelError `protocol`, at once, for a mode that this agent does not carry. */
  serve(channel: StartedChannel): Promise<void> {
    return this.handlerOf(channel).serve(channel);
  }

  private handlerOf({ start, owner, id }: StartedChannel): ChannelHandler {
    if (start.kind === 'host') return this.targets;
    if (start.kind === 'datagrams') return this.datagrams;
    const known = start.kind === 'tunnel' ? this.context.resources.tunnel(start.id) : undefined;
    const handler = known && this.byMode[known.tunnel.mode];
    if (handler) return handler;
    if (start.kind === 'tunnel') owner.refuse({ kind: 'tunnel', id: start.id }, id, 'unknown_tunnel');
    throw new TunnelError('protocol', `a channel of kind ${start.kind} that this agent does not carry`);
  }
}
