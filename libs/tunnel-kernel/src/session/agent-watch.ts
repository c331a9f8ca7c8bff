import { setFlowInterval } from '@gatehouse/net';

const BEAT_MS = 500;
/** Beats without a word after which an agent counts as silent: its answer to a ping is late by 1.5 s. */
const SILENT_BEATS = 4;
/** Beats after which visitors who came meanwhile are not left waiting. */
const LOST_BEATS = 9;
/** Beats for which an agent is watched after a visitor. */
const WATCHED_BEATS = 10;

export interface AgentWatchHandlers {
  /** Asks the agent for a word. */
  ping(): void;
  /** The agent has fallen silent (false), or speaks again (true). */
  answers(value: boolean): void;
  /** It is silent for so long that visitors should not wait for it. */
  lost(): void;
}

/**
 * Notices within two seconds that an agent does not answer while it has visitors. The heartbeat of the control connection
 * is slower, because it also runs for agents without visitors. Beats are counted instead of time: a process that stood still
 * must not blame its agents.
 */
export class AgentWatch {
  private readonly flow: Parameters<typeof setFlowInterval>[0];
  private readonly handlers: AgentWatchHandlers;
  private timer: NodeJS.Timeout | null = null;
  private isHeard = false;
  private missed = 0;
  private beatsLeft = 0;
  private ended = false;

  constructor(flow: Parameters<typeof setFlowInterval>[0], handlers: AgentWatchHandlers) {
    this.flow = flow;
    this.handlers = handlers;
  }

  /** A visitor has come. */
  visited(): void {
    this.beatsLeft = WATCHED_BEATS;
    if (this.timer || this.ended) return;
    this.isHeard = false;
    this.timer = setFlowInterval(this.flow, () => this.beat(), BEAT_MS);
    this.handlers.ping();
  }

  /** The agent has said something, on any of its connections. */
  heard(): void {
    this.isHeard = true;
    if (this.missed === 0) return;
    const wasSilent = this.missed >= SILENT_BEATS;
    this.missed = 0;
    if (wasSilent) this.handlers.answers(true);
  }

  end(): void {
    this.ended = true;
    this.stop();
  }

  private beat(): void {
    this.beatsLeft -= 1;
    if (this.isHeard) {
      this.isHeard = false;
      if (this.beatsLeft <= 0) this.stop();
      return;
    }
    this.missed += 1;
    if (this.missed === 1) this.handlers.ping();
    if (this.missed === SILENT_BEATS) this.handlers.answers(false);
    if (this.missed === LOST_BEATS) this.handlers.lost();
  }

  private stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }
}
